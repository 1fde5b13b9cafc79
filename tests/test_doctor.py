"""What `videmus doctor` says of settings and libraries that are not in order."""

import re

from videmus.config import Settings
from videmus.doctor import checks
from videmus.library import Library


def test_a_remedy_is_said_once(tmp_path, monkeypatch):
    monkeypatch.setenv("VIDEMUS_CONFIG", str(tmp_path / "none.toml"))
    foreign = tmp_path / "library"
    foreign.mkdir()
    (foreign / "library.db").write_text("not a database")
    failed = {check.name: check for check in checks(foreign) if check.name in ("settings", "library")}
    assert set(failed) == {"settings", "library"}
    for check in failed.values():
        assert not check.ok and check.next
        assert check.next not in check.detail
    assert str(foreign / "library.db") in failed["library"].detail
    assert "none.toml" in failed["settings"].detail


def test_an_unknown_provider_fails_the_check_of_the_settings(tmp_path, monkeypatch):
    settings = tmp_path / "config.toml"
    settings.write_text('[models]\nlanguage = "opnai:gpt-4.1"\n')
    monkeypatch.setenv("VIDEMUS_CONFIG", str(settings))
    (check,) = [check for check in checks(tmp_path / "library") if check.name == "settings"]
    assert not check.ok and "no provider 'opnai'" in check.detail and "openai:gpt-4.1" in check.next


def test_the_disk_that_the_library_uses_is_told_by_its_parts(tmp_path):
    Library(tmp_path / "library", settings=Settings()).close()
    (tmp_path / "library" / "frames" / "v1").mkdir(parents=True)
    (tmp_path / "library" / "frames" / "v1" / "1.jpg").write_bytes(bytes(2_000_000))
    (check,) = [check for check in checks(tmp_path / "library") if check.name == "disk"]
    told = re.match(r"([\d.]+) MB used \(library\.db ([\d.]+), frames 2\.0\); [\d.]+ GB free at ", check.detail)
    assert told and abs(float(told[1]) - float(told[2]) - 2) < 0.11
