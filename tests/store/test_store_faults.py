"""kill -9, a full disk, a damaged file, many processes: nothing committed is lost, nothing is half there."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from threading import Thread

import pytest
from store_material import JPEG, one_of_each, picture_row, piece, related, said, video, words

from videmus.errors import LibraryError
from videmus.model import Scope
from videmus.store.sqlite import SqliteStore

BATCH = 7

WRITER = """
import resource, sys; from pathlib import Path; from store_material import JPEG, picture_row, said, video, words
from videmus.errors import LibraryError; from videmus.store.sqlite import SqliteStore
folder, id, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = SqliteStore(folder)
if store.video(id) is None:
    store.put_video(video(id, state="processing"))
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
batch = len(store.stage_rows(id, "hear")) // 7
print(batch, flush=True)
while batch < int(sys.argv[4]):
    at = batch * 7000
    frame = picture_row(at, of=id)
    rows = [said(f"word {n} of {batch}", at + n * 1000, of=id, detail=words("some words " * 20)) for n in range(6)]
    try:
        store.add("hear", [*rows, frame], {frame.id: bytes(JPEG) * 100})
        batch += 1
        print(batch, flush=True)
    except LibraryError as error:
        print("refused", error, flush=True)
        break
store.edit_video(id, state="ready") if batch == int(sys.argv[4]) else None
store.close()
"""


def writer(
    folder: Path, id: str = "v1", limit: int = 0, batches: int = 10**6, script: str = WRITER
) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder), id, str(limit), str(batches)],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


FORKING_WRITER = (
    """
import os, sys
def write():
"""
    + textwrap.indent(
        WRITER.replace("folder, id, limit =", "print(os.getpid(), flush=True)\nfolder, id, limit ="), "    "
    )
    + """
import videmus.store.sqlite, store_material  # once, for all writers
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        write()
        os._exit(0)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""
)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_what_a_killed_writer_committed_is_there_and_whole(tmp_path):
    chance = random.Random(9)
    folder = tmp_path / "library"
    committed = 0
    parent = writer(folder, script=FORKING_WRITER)
    for _ in range(20):
        parent.stdin.write("go\n")
        parent.stdin.flush()
        pid = int(parent.stdout.readline())
        for _ in range(chance.randrange(1, 12)):
            committed = int(parent.stdout.readline())
        os.kill(pid, signal.SIGKILL)
        while (line := parent.stdout.readline()) != "ended\n":
            committed = int(line)
        store = SqliteStore(folder)
        # It may have committed one batch more than it came to say.
        assert len(store.stage_rows("v1", "hear")) in (BATCH * committed, BATCH * (committed + 1))
        assert all(len(store.picture(frame)) == 100 * len(JPEG) for frame in store.frames(Scope(video="v1")))
        assert store.check()[0].ok
        assert len(store.keyword_hits([["word"]], Scope(video="v1"), 10**6)) == len(store.evidence(Scope(video="v1")))
        store.close()
    parent.communicate(timeout=30)
    assert committed > 20


def test_orphaned_and_half_written_pictures_are_swept_and_others_stay(tmp_path):
    store = SqliteStore(tmp_path)
    store.put_video(video())
    frame = picture_row(5)
    store.add("see", [frame], {frame.id: JPEG})
    for name in ("v1/000000009.jpg", "v1/.000000005.jpg.77.part", "v9/deep/000000001.jpg"):
        (tmp_path / "frames" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "frames" / name).write_bytes(JPEG)
    assert "3 files without a row" in store.check()[1].detail
    store.rebuild_indexes()
    assert [f.relative_to(tmp_path / "frames").as_posix() for f in (tmp_path / "frames").rglob("*")] == [
        "v1",
        "v1/000000005.jpg",
    ]
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size there")
def test_a_full_disk_is_said_and_everything_before_it_is_kept(tmp_path):
    process = writer(tmp_path / "library", limit=1_000_000)
    output, errors = process.communicate(timeout=60)
    assert not errors, errors
    *counts, refusal = output.splitlines()
    assert refusal.startswith("refused") and "everything committed so far is kept" in refusal
    store = SqliteStore(tmp_path / "library")
    assert len(store.stage_rows("v1", "hear")) == BATCH * int(counts[-1]) > 0
    assert [check.ok for check in store.check()] == [True, True, False]  # the run was interrupted
    store.close()


def test_a_full_database_is_a_full_disk(tmp_path):
    store = SqliteStore(tmp_path)
    store.put_video(video())
    with store._db.writing() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    store._db._writer.execute(f"PRAGMA max_page_count = {pages + 5}")
    with pytest.raises(LibraryError, match="disk is full") as caught:
        for n in range(100):
            store.add("hear", [said(f"{n} {i} " + "x" * 500, n * 1000) for i in range(10)])
    assert "space" in caught.value.next
    kept = len(store.evidence())
    assert kept % 10 == 0
    store._db._writer.execute("PRAGMA max_page_count = 100000")
    store.add("hear", [said("after", 10**6)])
    assert len(store.evidence()) == kept + 1
    store.close()


def test_two_processes_write_while_a_third_reads_and_sees_only_what_is_whole(tmp_path):
    folder = tmp_path / "library"
    store = SqliteStore(folder)
    processes = [writer(folder, id, batches=25) for id in ("v1", "v2")]
    seen = set()
    while any(process.poll() is None for process in processes):
        for id in ("v1", "v2"):
            rows = store.evidence(Scope(video=id))
            assert len(rows) % (BATCH - 1) == 0
            seen.add(len(rows))
        visible = store.evidence()
        assert len(visible) in (0, 150, 300)  # a video in processing is not seen
    for process in processes:
        output, errors = process.communicate(timeout=60)
        assert not errors and output.splitlines()[-1] == "25"
    assert len(store.evidence()) == 300
    assert len(seen) > 1
    store.close()


def test_threads_of_one_process_share_a_store(tmp_path):
    store = SqliteStore(tmp_path)
    faults = []

    def work(id: str) -> None:
        store.put_video(video(id))
        for n in range(20):
            store.add("hear", [said(f"{n} {i}", n * 1000, of=id) for i in range(5)])
            if len(store.evidence(Scope(video=id))) != 5 * (n + 1):
                faults.append((id, n))

    threads = [Thread(target=work, args=(f"v{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    assert len(store.evidence()) == 400
    store.close()


def test_a_writer_that_never_ends_is_said_after_the_waiting_time(tmp_path):
    import sqlite3

    from videmus.config import StoreSettings

    store = SqliteStore(tmp_path, StoreSettings(busy_ms=20))
    store.put_video(video())
    other = sqlite3.connect(tmp_path / "library.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LibraryError, match="another process is writing"):
        store.put_video(video("v2"))
    assert [v.id for v in store.videos()] == ["v1"]  # readers do not wait
    other.execute("ROLLBACK")
    other.close()
    store.put_video(video("v2"))
    store.close()


def test_a_transaction_that_fails_leaves_nothing_behind(tmp_path):
    store = SqliteStore(tmp_path)

    class Follower:
        def added(self, connection, table, rows):
            raise RuntimeError("cannot follow")

        def removing(self, connection, table, numbers): ...

        def rebuild(self, connection): ...

    store.put_video(video())
    followers, store._followers = store._followers, (*store._followers, Follower())
    with pytest.raises(RuntimeError, match="cannot follow"):
        store.add("all", one_of_each())
    store._followers = followers
    assert store.stage_rows("v1", "all") == []
    store.add("all", one_of_each())
    assert store.stage_rows("v1", "all") == one_of_each()
    store.close()


# ---------------------------------------------------------------- damage


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    store = SqliteStore(folder)
    for id in ("v1", "v2"):
        store.put_video(video(id, recorded_at=0, options={"language": "de"}))
        store.begin(id, "all", "k")
        store.add("all", one_of_each(id))
        store.add(
            "all", [said(f"text {n} " + "word " * 30, n * 1000, of=id, detail=words("a b c " * 30)) for n in range(60)]
        )
        store.add("all", [piece(n, n + 5, of=id) for n in range(100, 160)])
        store.add("all", [related("Ann", "USES", f"mug {n}", n, of=id) for n in range(100, 160)])
        store.set_mark(id, "all", "c", {"undone": True})
    store.close()
    return (folder / "library.db").read_bytes()


def read_everything(folder: Path) -> None:
    store = SqliteStore(folder)
    try:
        scope = Scope(at=10**9)
        (
            store.videos(),
            store.evidence(),
            store.evidence(scope),
            store.segments(),
            store.frames(scope),
            store.relations(),
        )
        store.work("v1"), store.stage_rows("v2", "all"), store.digest("v1", ["all"]), store.marks("v1", "all")
        store.check()
        store.put_video(video("v3"))
        store.begin("v1", "all", "another key")
        store.add("all", one_of_each("v3"))
    finally:
        store.close()


def test_the_whole_library_reads_without_a_fault(tmp_path, whole):
    (tmp_path / "library.db").write_bytes(whole)
    read_everything(tmp_path)


def test_a_damaged_file_is_a_library_error_or_no_error_but_never_another(tmp_path, whole):
    chance = random.Random(4)
    damaged = 0
    for number in range(60):
        broken = bytearray(whole)
        if number % 3 == 0:  # a page of zeros or noise
            at = chance.randrange(0, len(broken) // 4096) * 4096
            broken[at : at + 4096] = bytes(4096) if number % 2 else chance.randbytes(4096)
        elif number % 3 == 1:  # single bytes
            for _ in range(20):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
        else:  # text and JSON overwritten: sound pages, wrong content
            at = broken.find(b'"words"' if number % 2 else b'["hear"', chance.randrange(len(broken) // 2))
            broken[at : at + 7] = b'\xff"w}{d"'
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "library.db").write_bytes(broken)
        try:
            read_everything(folder)
        except LibraryError as error:
            damaged += 1
            assert error.where and error.next
    assert damaged > 20
