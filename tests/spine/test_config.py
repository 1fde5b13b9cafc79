import pytest

from videmus import config
from videmus.errors import UsageError


def test_later_sources_win(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text("[windows]\nlength_ms = 10\nstride_ms = 20\n")
    settings = config.load({"windows": {"carry_ms": 7}}, file=file, environment={"VIDEMUS_WINDOWS_STRIDE_MS": "30"})
    assert (settings.windows.length_ms, settings.windows.stride_ms, settings.windows.carry_ms) == (10, 30, 7)


def test_defaults_hold_without_a_file(tmp_path):
    settings = config.load(file=tmp_path / "none.toml", environment={})
    assert settings == config.Settings()
    assert (settings.windows.length_ms, settings.windows.stride_ms, settings.clips.length_ms) == (
        45_000,
        30_000,
        80_000,
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[windows]\nlenght_ms = 1", "lenght_ms"),
        ("[windwos]\nlength_ms = 1", "windwos"),
        ("[windows]\nlength_ms = 'long'", "length_ms"),
        ("[windows\n", "TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path, text, named):
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        config.load(file=file, environment={})
    assert named in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_the_environment_names_and_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UsageError, match="VIDEMUS_CONFIG names no file") as caught:
        config.load(environment={"VIDEMUS_CONFIG": str(tmp_path / "confg.toml")})
    assert caught.value.where == str(tmp_path / "confg.toml")
    assert "unset it" in caught.value.next


def test_a_file_that_is_no_text_is_named(tmp_path):
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(UsageError, match="TOML"):
        config.load(file=file, environment={})


def test_the_environment_says_where_things_are(tmp_path):
    assert config.user_file({"VIDEMUS_CONFIG": "/a/b.toml"}).as_posix() == "/a/b.toml"
    assert config.user_file({"XDG_CONFIG_HOME": "/c"}).as_posix() == "/c/videmus/config.toml"
    assert config.default_library({"VIDEMUS_LIBRARY": "/l"}).as_posix() == "/l"
    assert config.default_library({"XDG_DATA_HOME": "/d"}).as_posix() == "/d/videmus"


def test_settings_written_as_toml_are_read_back():
    import tomllib

    for value in ('a "quoted" text', 3, 0.7, True, ""):
        assert tomllib.loads(f"x = {config.as_toml(value)}")["x"] == value
