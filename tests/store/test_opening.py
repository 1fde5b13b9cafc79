"""Opening a library: new, old, foreign, newer, cut off, read-only, by several processes at once."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from store_material import JPEG, one_of_each, said, video

from videmus.errors import LibraryError
from videmus.store import migrations
from videmus.store.sqlite import SqliteStore


def filled(folder: Path) -> Path:
    """A library with one video and a row of every kind, closed."""
    store = SqliteStore(folder)
    store.put_video(video())
    rows = one_of_each()
    store.add("all", rows, {rows[3].id: JPEG})
    store.close()
    return folder


def refused(folder: Path, match: str) -> LibraryError:
    with pytest.raises(LibraryError, match=match) as caught:
        SqliteStore(folder)
    assert caught.value.where and caught.value.next
    return caught.value


def test_an_absent_folder_is_made_and_opened_again(tmp_path):
    filled(tmp_path / "a" / "b")
    store = SqliteStore(tmp_path / "a" / "b")
    assert store.stage_rows("v1", "all") == one_of_each()
    assert not store.read_only
    store.close()
    assert sorted(f.name for f in (tmp_path / "a" / "b").iterdir()) == ["frames", "library.db", "vectors"]


def test_an_empty_folder_and_an_empty_file_are_a_new_library(tmp_path):
    (tmp_path / "library.db").touch()
    store = SqliteStore(tmp_path)
    assert store.videos() == []
    store.close()


def test_a_closed_store_says_so(tmp_path):
    store = SqliteStore(tmp_path / "x")
    store.close()
    store.close()
    for call in (store.videos, lambda: store.put_video(video())):
        with pytest.raises(LibraryError, match="closed"):
            call()


def test_a_file_is_not_a_library(tmp_path):
    (tmp_path / "film.mp4").write_bytes(b"film")
    refused(tmp_path / "film.mp4", "is a file")
    refused(tmp_path / "film.mp4" / "below", "Not a directory")


def test_a_folder_of_other_things_is_not_turned_into_a_library(tmp_path):
    (tmp_path / "holiday.jpg").write_bytes(b"x")
    refused(tmp_path, "holiday.jpg")
    assert [f.name for f in tmp_path.iterdir()] == ["holiday.jpg"]


def test_a_file_of_another_kind_is_not_a_library(tmp_path):
    (tmp_path / "library.db").write_bytes(b"PK\x03\x04 not a database at all" * 50)
    refused(tmp_path, "not a Videmus library")
    (tmp_path / "library.db").write_bytes(b"short")
    refused(tmp_path, "not a Videmus library")


def test_another_programs_database_is_not_touched(tmp_path):
    other = sqlite3.connect(tmp_path / "library.db")
    other.execute("CREATE TABLE video (id)")
    other.close()
    before = (tmp_path / "library.db").read_bytes()
    refused(tmp_path, "another program")
    assert (tmp_path / "library.db").read_bytes() == before


def test_a_newer_library_is_not_touched(tmp_path):
    filled(tmp_path)
    newer = sqlite3.connect(tmp_path / "library.db")
    newer.execute("INSERT INTO migration VALUES ('telepathy')")
    newer.commit()
    newer.close()
    assert "upgrade" in refused(tmp_path, "newer Videmus.*telepathy").next


@pytest.mark.parametrize("kept", [0.0005, 0.3, 0.6, 0.99])
def test_a_library_that_is_cut_off_is_named_damaged(tmp_path, kept):
    file = filled(tmp_path) / "library.db"
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * kept)])
    refused(tmp_path, "cut off")


def test_an_older_library_gets_the_missing_steps_once_and_keeps_its_rows(tmp_path, monkeypatch):
    filled(tmp_path)
    ran = []

    def create_more(connection: sqlite3.Connection) -> None:
        ran.append(1)
        connection.execute("CREATE TABLE more (x)")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, ("more", create_more)))
    for _ in range(2):
        store = SqliteStore(tmp_path)
        assert store.stage_rows("v1", "all") == one_of_each()
        store.close()
    assert ran == [1]


def test_a_step_that_fails_leaves_the_library_as_it_was(tmp_path, monkeypatch):
    filled(tmp_path)

    def create_badly(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (x)")
        connection.execute("CREATE NONSENSE")

    released = migrations.MIGRATIONS
    monkeypatch.setattr(migrations, "MIGRATIONS", (*released, ("bad", create_badly)))
    refused(tmp_path, "syntax error")
    monkeypatch.setattr(migrations, "MIGRATIONS", (*released, ("good", lambda c: c.execute("CREATE TABLE half (x)"))))
    SqliteStore(tmp_path).close()


def test_names_of_steps_are_unique():
    names = [name for name, _ in migrations.MIGRATIONS]
    assert len(names) == len(set(names)) and names[0] == "rows"


def test_several_processes_make_one_library_at_once(tmp_path):
    script = (
        "import sys; from pathlib import Path; from store_material import said, video\n"
        "from videmus.store.sqlite import SqliteStore\n"
        "sys.stdin.read(1)\n"
        "store = SqliteStore(Path(sys.argv[1])); store.put_video(video(sys.argv[2]))\n"
        "store.add('hear', [said('hello', of=sys.argv[2])]); store.close()"
    )
    processes = [python(script, str(tmp_path / "library"), f"v{n}", stdin=subprocess.PIPE) for n in range(4)]
    for process in processes:
        process.stdin.write(b"g")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors.decode()
    store = SqliteStore(tmp_path / "library")
    assert sorted(e.video for e in store.evidence()) == ["v0", "v1", "v2", "v3"]
    store.close()


def python(script: str, *arguments: str, **options) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


# ---------------------------------------------------------------- read-only

READ = """
import os, sys; from pathlib import Path; from store_material import video
from videmus.errors import LibraryError; from videmus.store.sqlite import SqliteStore

def read(folder):
    store = SqliteStore(Path(folder))
    print(store.read_only, len(store.stage_rows("v1", "all")), [c.ok for c in store.check()])
    with store.open_readonly_sql() as sql:
        print(sql.query("SELECT count(*) FROM v_evidence").rows[0][0])
    for write in (
        lambda: store.edit_video("v1", title="x"),
        lambda: store.begin("v1", "s", "k"),
        lambda: store.remove_video("v1"),
    ):
        try:
            write()
            print("written")
        except LibraryError as error:
            print(error.what)
    store.close()

warm = SqliteStore(Path(sys.argv[2])); warm.put_video(video()); warm.close()
read(sys.argv[2])  # imports all that is needed while this user still may
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
print("----")
read(sys.argv[1])
"""


@pytest.fixture
def shelf():
    """A folder that another user may enter (pytest's own are closed to others)."""
    folder = Path(tempfile.mkdtemp(prefix="videmus-shelf-"))
    folder.chmod(0o755)
    yield folder
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=True)
    shutil.rmtree(folder)


def read_as_reader(folder: Path, warm: Path, mode: str = "a-w,a+rX") -> tuple[list[str], str]:
    """What `READ` prints, and its last error, for someone without the right to write (root becomes nobody)."""
    if folder.exists():
        subprocess.run(["chmod", "-R", mode, str(folder)], check=True)
    output, errors = python(READ, str(folder), str(warm), cwd="/").communicate(timeout=30)
    return output.decode().partition("----\n")[2].splitlines(), errors.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of another kind")
def test_a_read_only_library_is_read_and_says_why_it_cannot_be_written(shelf, tmp_path):
    filled(shelf / "library")
    (first, count, *refusals), errors = read_as_reader(shelf / "library", tmp_path)
    assert not errors
    assert first == "True 5 [True, True, True]"
    assert count == "2"
    assert len(refusals) == 3 and all("read-only" in line for line in refusals)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of another kind")
def test_a_library_left_by_a_killed_writer_is_read_with_its_last_commits_where_it_cannot_be_written(shelf, tmp_path):
    script = (
        "import os, signal, sys; from pathlib import Path; from store_material import one_of_each, video\n"
        "from videmus.store.sqlite import SqliteStore\n"
        "store = SqliteStore(Path(sys.argv[1])); store.put_video(video()); store.add('all', one_of_each())\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    process = python(script, str(shelf / "library"))
    process.communicate(timeout=30)
    assert process.returncode == -9
    assert (shelf / "library" / "library.db-wal").stat().st_size > 0
    (first, count, *_), errors = read_as_reader(shelf / "library", tmp_path)
    assert not errors
    assert first.startswith("True 5") and count == "2"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of another kind")
def test_a_library_that_cannot_be_made_says_where(shelf, tmp_path):
    shelf.chmod(0o555)
    _, errors = read_as_reader(shelf / "library", tmp_path)
    assert (
        "LibraryError" in errors and "cannot be made: Permission denied" in errors and str(shelf / "library") in errors
    )


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of another kind")
def test_a_library_that_may_not_be_read_says_so(shelf, tmp_path):
    filled(shelf / "library")
    _, errors = read_as_reader(shelf / "library", tmp_path, "a-rw,a+X")
    assert "LibraryError" in errors and "cannot be read: Permission denied" in errors


def test_opening_a_library_again_reads_no_rows(tmp_path):
    store = SqliteStore(tmp_path)
    store.put_video(video())
    store.add("hear", [said(f"text {n}", n * 1000) for n in range(2000)])
    store.close()
    steps = []
    store = SqliteStore(tmp_path)
    with store._db.reading() as connection:
        connection.set_progress_handler(lambda: steps.append(1), 1000)
    assert store.video("v1") is not None
    assert steps == []  # fewer than 1,000 instructions of SQLite
    store.close()


@pytest.mark.parametrize("name", ["with space", "50%20 off", "what?mode=memory", "a#b&c=d", "Übung 学习", "'quote\""])
def test_a_folder_of_any_name_is_the_librarys_folder(tmp_path, name):
    filled(tmp_path / name)
    assert (tmp_path / name / "library.db").stat().st_size > 10_000
    store = SqliteStore(tmp_path / name)
    with store.open_readonly_sql() as sql:
        assert sql.query("SELECT count(*) FROM v_evidence").rows == ((2,),)
    store.close()


@pytest.mark.parametrize("left", ["empty", "missing"])
def test_pictures_whose_library_file_is_gone_are_said_and_not_taken_for_a_new_library(tmp_path, left):
    filled(tmp_path / "library")
    pictures = sorted((tmp_path / "library" / "frames").rglob("*.jpg"))
    assert pictures
    for part in (tmp_path / "library").glob("library.db*"):
        part.unlink()
    if left == "empty":
        (tmp_path / "library" / "library.db").touch()
    with pytest.raises(LibraryError, match="missing or empty") as caught:
        SqliteStore(tmp_path / "library")
    assert "put a copy of library.db back" in caught.value.next
    assert sorted((tmp_path / "library" / "frames").rglob("*.jpg")) == pictures


def test_an_empty_file_without_pictures_is_a_new_library(tmp_path):
    (tmp_path / "frames").mkdir()
    (tmp_path / "library.db").touch()
    store = SqliteStore(tmp_path)
    assert store.videos() == []
    store.close()
