"""The library in one folder: library.db, frames/, vectors/.

How other parts of the store join in:

- Tables: a function `create_…(connection)` and one line in `migrations.MIGRATIONS`.
- Following the rows: an object with the methods of `rows.Follower`, put into `self._followers` below. Its
  `added(connection, table, [(n, row), …])` and `removing(connection, table, [n, …])` are called inside the transaction
  that inserts or deletes the rows, so full text, vectors and names never disagree with them; `rebuild(connection)`
  makes their tables anew from the rows. `n` is the row's number: never given twice, good as an FTS5 rowid or a FAISS id.
- Reading: `with self._db.reading() as connection` (one snapshot; many at a time), and `scope.visible(table, scope)` in
  the WHERE clause, always. Writing: `with self._db.writing() as connection`, which joins a transaction already open in
  this thread. Both turn SQLite's errors into LibraryError.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

from videmus.config import StoreSettings, VectorSettings
from videmus.errors import LibraryError, NotFoundError, UsageError
from videmus.model import Evidence, EvidenceKind, Frame, Origin, Relation, Row, Scope, Segment, SegmentKind, Video
from videmus.store import calls, checks, drafts, ledger, videos
from videmus.store import rows as row_tables
from videmus.store.checks import Check
from videmus.store.database import Database
from videmus.store.entities import EntityStore
from videmus.store.frame_vectors import FrameVectors
from videmus.store.graph import GraphStore
from videmus.store.leases import Leases
from videmus.store.pictures import Pictures
from videmus.store.protocol import EVERYTHING, Work
from videmus.store.rows import SELECT, SELECT_BY_VIDEO, TABLES, Follower
from videmus.store.scope import Table, visible
from videmus.store.searching import Searching
from videmus.store.speakers import SpeakerStore
from videmus.store.views import ReadonlySql

# Rows of one span stand in the order of their kinds: which of two stages that run side by side was first tells nothing.
_ORDER: Mapping[Table, str] = {
    "evidence": " ORDER BY video.n, evidence.start_ms, evidence.end_ms, evidence.kind, evidence.n",
    "segment": " ORDER BY video.n, segment.start_ms, segment.end_ms, segment.kind, segment.n",
    "frame": " ORDER BY video.n, frame.at_ms, frame.n",
    "relation": " ORDER BY video.n, relation.start_ms, relation.end_ms, relation.n",
}
_OF_STAGE: Mapping[Table, str] = {
    "evidence": " WHERE video.id = ? AND evidence.stage = ?",
    "segment": " WHERE video.id = ? AND segment.stage = ?",
    "frame": " WHERE video.id = ? AND frame.stage = ?",
    "relation": " WHERE video.id = ? AND relation.stage = ?",
}

IMPORTED = "imported"
"""The ledger's key for rows that came in an evidence file: they are that stage's truth and no run replaces them."""


class SqliteStore(Searching):
    """The embedded store; see `protocol.Store`. Safe for use from several threads and several processes.

    Raises LibraryError when the folder is foreign, damaged, of a newer Videmus, or cannot be made.
    """

    def __init__(
        self, folder: Path, settings: StoreSettings | None = None, vectors: VectorSettings | None = None
    ) -> None:
        self.folder = folder
        _make_folder(folder)
        self._db = Database(folder / "library.db", settings or StoreSettings())
        self._pictures = Pictures(folder / "frames")
        self._leases = Leases(folder / "locks")
        self._origins: dict[int, Origin] = {}
        self._followers: tuple[Follower, ...] = self._follow(folder, vectors)
        self.graph = GraphStore(self._db)
        self.entities = EntityStore(self._db)
        self.frame_vectors = FrameVectors(self._db, folder / "vectors")
        self.speakers = SpeakerStore(self._db)

    @property
    def read_only(self) -> bool:
        """Whether the library can be read but not changed (its folder or file is read-only)."""
        return self._db.read_only

    def close(self) -> None:
        self._db.close()

    # ------------------------------------------------------------ videos

    def put_video(self, video: Video) -> None:
        """Insert, or replace what is known of the video with this id."""
        with self._db.writing() as connection:
            videos.put(connection, video)

    def edit_video(self, id: str, **changes: Any) -> Video:
        """Change single fields and leave the others as they are now, whoever wrote them. Raises NotFoundError."""
        with self._db.writing() as connection:
            return videos.edit(connection, id, changes)

    def video(self, id: str) -> Video | None:
        with self._db.reading() as connection:
            return videos.by_id(connection, id)

    def video_by_fingerprint(self, fingerprint: str) -> Video | None:
        with self._db.reading() as connection:
            return videos.by_fingerprint(connection, fingerprint)

    def videos(self, scope: Scope = EVERYTHING) -> list[Video]:
        """In the order added, in every state. Under `at` a video in progress is as long as it was then."""
        with self._db.reading() as connection:
            return videos.all_in(connection, scope)

    def videos_at(self, sources: Sequence[str]) -> list[Video]:
        """See `protocol.Store.videos_at`."""
        with self._db.reading() as connection:
            return videos.at(connection, sources)

    def note_place(self, video: str, source: str) -> None:
        """Remember another path or address where this content lies (a copy)."""
        with self._db.writing() as connection:
            videos.note_place(connection, self._number(connection, video), source)

    def places(self, video: str) -> list[str]:
        """Every path or address where the video's content was seen; its `source` is among them."""
        with self._db.reading() as connection:
            return videos.places(connection, video)

    def remove_video(self, id: str) -> None:
        """Remove the video and all that was derived from it. Raises LibraryError while another process works on it."""
        with self.lease(id, wait=False):
            with self._db.writing() as connection:
                found = videos.number(connection, id)
                if found is None:
                    return
                row_tables.removed(connection, found, None, self._followers)
                drafts.drop(connection, found)
                videos.remove(connection, found, id)
            self._sweep(id)

    # ------------------------------------------------------------ the ledger

    def lease(self, video: str, wait: bool = True) -> AbstractContextManager[None]:
        """This process alone works on the video until the block ends; see `leases`."""
        self._db.require_writable()
        return self._leases.lease(video, wait)

    def busy(self, video: str) -> bool:
        """Whether some process holds the video's lease: "processing" without one is an interrupted run."""
        return self._leases.busy(video)

    def begin(self, video: str, stage: str, key: str) -> bool:
        """See `protocol.Store.begin`. False also for rows that were imported. Raises NotFoundError for no such video."""
        with self._db.writing() as connection:
            number = self._number(connection, video)
            before = ledger.state_of(connection, number, stage)
            if before is not None and (before[0] == IMPORTED or before == (key, "done")):
                return False
            pictures_go = False
            if (drafted := drafts.key_of(connection, number, stage)) != key:
                pictures_go = drafts.drop(connection, number, stage)
                goes_on = drafted is None and before is not None and before[0] == key
                if not goes_on and row_tables.any_of(connection, number, stage):
                    drafts.open_draft(connection, number, stage, key)
            ledger.start(connection, number, stage, key)
        if pictures_go:
            self._sweep(video)
        return True

    def unfinished(self, video: str, stage: str) -> list[Row]:
        """See `protocol.Store.unfinished`."""
        with self._db.reading() as connection:
            number = self._number(connection, video)
            if drafts.key_of(connection, number, stage) is not None:
                return drafts.held(connection, number, stage, self._origins)
        return self.stage_rows(video, stage)

    def finish(self, work: Work, *, whole: bool | None = None) -> None:
        """See `protocol.Store.finish`."""
        with self._db.writing() as connection:
            number = self._number(connection, work.video)
            before = ledger.state_of(connection, number, work.stage)
            if before is not None and before[0] == IMPORTED:
                return
            whole = work.state == "done" if whole is None else whole
            pictures_go = False
            if whole and drafts.key_of(connection, number, work.stage) == work.key:
                pictures_go = drafts.publish(connection, number, work.stage, self._followers, self._origins)
            ledger.record(connection, number, work)
        if pictures_go:
            self._sweep(work.video)

    def work(self, video: str) -> list[Work]:
        with self._db.reading() as connection:
            return ledger.all_work(connection, video)

    def digest(self, video: str, stages: Sequence[str], marks_of: Sequence[str] = ()) -> str:
        """A digest of the rows that these stages made of the video and of a person's marks on them.

        Of the stages in `marks_of` only the marks count: a stage whose own rows a person corrected names itself there.
        """
        with self._db.reading() as connection:
            return ledger.digest(connection, self._number(connection, video), stages, marks_of)

    def set_mark(self, video: str, stage: str, subject: str, value: Any) -> None:
        """What a person says of a derived row (`subject`: an id within the stage's rows); None takes it back."""
        with self._db.writing() as connection:
            ledger.set_mark(connection, self._number(connection, video), stage, subject, value)

    def marks(self, video: str, stage: str) -> dict[str, Any]:
        """{subject: value} of a stage, as set by `set_mark`."""
        with self._db.reading() as connection:
            return ledger.marks(connection, self._number(connection, video), stage)

    # ------------------------------------------------------------ rows

    def add(self, stage: str, rows: Iterable[Row], pictures: Mapping[str, bytes] = {}) -> int:
        """See `protocol.Store.add`. Raises NotFoundError when a row's video is not in the library (any more)."""
        given = list(rows)
        if not given:
            return 0
        with self._db.writing() as connection:
            self._write_pictures(given, pictures)
            drafted = drafts.videos(connection, stage)
            seen = [row for row in given if row.video not in drafted]
            unseen = [row for row in given if row.video in drafted]
            return row_tables.added(connection, stage, seen, self._followers) + drafts.added(connection, stage, unseen)

    def import_rows(self, video: str, stage: str, rows: Iterable[Row], pictures: Mapping[str, bytes] = {}) -> int:
        """Rows of an evidence file become the stage's rows, in place of those that are there. Returns their number."""
        given = list(rows)
        with self._db.writing() as connection:
            number = self._number(connection, video)
            row_tables.removed(connection, number, stage, self._followers)
            drafts.drop(connection, number, stage)
            self._write_pictures(given, pictures)
            count = row_tables.added(connection, stage, given, self._followers)
            ledger.record(connection, number, Work(video, stage, IMPORTED, "done", rows=count))
        return count

    def stage_rows(self, video: str, stage: str) -> list[Row]:
        """What a stage made of a video, whatever the video's state: evidence, segments, frames, relations, by time."""
        found: list[Row] = []
        with self._db.reading() as connection:
            for table in TABLES:
                records = connection.execute(SELECT[table] + _OF_STAGE[table] + _ORDER[table], (video, stage))
                found += row_tables.all_decoded(connection, table, records, self._origins)
        return found

    def evidence(
        self,
        scope: Scope = EVERYTHING,
        kinds: Sequence[EvidenceKind] | None = None,
        limit: int | None = None,
    ) -> list[Evidence]:
        """By video and time. A video that is still being processed shows its rows only where the scope names it."""
        condition = ""
        values: dict[str, Any] = {}
        if kinds is not None:
            condition = " AND evidence.kind IN (SELECT value FROM json_each(:kinds))"
            values["kinds"] = json.dumps(list(kinds))
        return cast(list[Evidence], self._in_scope("evidence", scope, condition, values, limit))

    def evidence_by_id(self, ids: Sequence[str], scope: Scope = EVERYTHING) -> list[Evidence]:
        """In the order asked; unknown ids, and those that the scope does not see, are left out."""
        condition = " AND evidence.id IN (SELECT value FROM json_each(:ids))"
        found = self._in_scope("evidence", scope, condition, {"ids": json.dumps(list(ids))}, by_video=False)
        by_id = {row.id: cast(Evidence, row) for row in found}
        return [by_id[id] for id in ids if id in by_id]

    def segments(self, scope: Scope = EVERYTHING, kind: SegmentKind | None = None) -> list[Segment]:
        condition = "" if kind is None else " AND segment.kind = :kind"
        values = {} if kind is None else {"kind": kind}
        return cast(list[Segment], self._in_scope("segment", scope, condition, values))

    def frames(self, scope: Scope = EVERYTHING) -> list[Frame]:
        """By video and time. Under `at` a look that was still on then ends there."""
        return cast(list[Frame], self._in_scope("frame", scope))

    def relations(self, scope: Scope = EVERYTHING) -> list[Relation]:
        """By video and time, with names as extracted."""
        return cast(list[Relation], self._in_scope("relation", scope))

    def picture(self, frame: Frame) -> bytes:
        """The frame's JPEG. Raises LibraryError when the file is gone."""
        return self._pictures.read(frame.picture)

    def picture_path(self, frame: Frame) -> Path:
        """Where the frame's JPEG lies."""
        return self._pictures.path(frame.picture)

    def open_readonly_sql(self, scope: Scope = EVERYTHING) -> ReadonlySql:
        """SELECT over the named views of `views.VIEWS`, clamped by the scope, on a connection of its own. Close it."""
        return ReadonlySql(self._db.uri(), scope, self._db.settings)

    # ------------------------------------------------------------ model calls

    def cached_call(self, key: str) -> bytes | None:
        with self._db.reading() as connection:
            return calls.reply(connection, key)

    def cache_call(self, key: str, reply: bytes, about: Mapping[str, Any]) -> None:
        """Commit a model's reply. `about` may hold video, stage, provider, model, tokens_in, tokens_out, usd."""
        with self._db.writing() as connection:
            calls.keep(connection, key, reply, about)

    def export_calls(self, file: Path) -> int:
        """Write every kept reply to a file, one a line; returns how many."""
        count = 0
        temporary = file.with_name(f".{file.name}.part")
        with self._db.reading() as connection, temporary.open("w", encoding="utf-8") as out:
            for line in calls.lines(connection):
                out.write(line)
                count += 1
        temporary.replace(file)
        return count

    def import_calls(self, file: Path) -> int:
        """Keep the replies of such a file; returns how many are new. All of it or, with a UsageError, nothing."""
        with self._db.writing() as connection, file.open(encoding="utf-8", errors="replace") as given:
            return calls.take(connection, given)

    # ------------------------------------------------------------ upkeep

    def rebuild_indexes(self) -> None:
        """Make full text and vectors anew from the rows, and delete pictures that no row names."""
        with self._db.writing() as connection:
            for follower in self._followers:
                follower.rebuild(connection)
        self._sweep()

    def check(self) -> list[Check]:
        """Is the library sound: its file, its pictures, its runs. Changes nothing."""
        with self._db.reading() as connection:
            sound = checks.file_is_sound(connection)
            if not sound.ok:
                return [sound]
            return [
                sound,
                checks.pictures_are_there(connection, self._pictures, drafts.pictures(connection)),
                checks.nothing_is_interrupted(connection, self.busy),
            ]

    def sizes(self) -> dict[str, int]:
        """Bytes by folder and by table of library.db."""
        with self._db.reading() as connection:
            return checks.sizes(connection, self.folder)

    # ------------------------------------------------------------ parts

    def _in_scope(
        self,
        table: Table,
        scope: Scope,
        condition: str = "",
        values: Mapping[str, Any] = {},
        limit: int | None = None,
        by_video: bool = True,
    ) -> list[Row]:
        clause = visible(table, scope)
        select = SELECT_BY_VIDEO if by_video else SELECT
        sql = select[table] + " WHERE " + clause.sql + condition + _ORDER[table] + " LIMIT :limit"
        with self._db.reading() as connection:
            records = connection.execute(sql, {**clause.parameters, **values, "limit": -1 if limit is None else limit})
            found = row_tables.all_decoded(connection, table, records, self._origins)
            if table == "frame" and scope.at is not None:
                return list(videos.as_seen_at(connection, cast(list[Frame], found), scope.at))
        return found

    def _number(self, connection: sqlite3.Connection, video: str) -> int:
        found = videos.number(connection, video)
        if found is None:
            raise NotFoundError(
                "the library has no such video (was it removed?)", where=video, next="see `videmus list`"
            )
        return found

    def _write_pictures(self, given: Sequence[Row], pictures: Mapping[str, bytes]) -> None:
        frames = {row.id: row for row in given if isinstance(row, Frame)}
        if strange := pictures.keys() - frames.keys():
            raise UsageError(f"pictures without a frame among the rows: {', '.join(sorted(strange))}")
        for id, jpeg in pictures.items():
            frame = frames[id]
            if not frame.picture.startswith(f"{frame.video}/"):
                raise LibraryError(
                    f"a picture must stay inside its video's folder, {frame.video}/", where=repr(frame.picture)
                )
            self._pictures.write(frame.picture, jpeg)

    def _sweep(self, below: str = "") -> int:
        """Delete pictures that no row names. Pictures are written under the write lock, so none is on its way here."""
        with self._db.writing() as connection:
            kept = {name for (name,) in connection.execute("SELECT picture FROM frame")} | drafts.pictures(connection)
            orphans = [name for name in self._pictures.names(below) if name not in kept]
            for name in orphans:
                self._pictures.delete(name)
        return len(orphans)


_OWN = ("library.db", "frames", "vectors", "media", "locks")


def _make_folder(folder: Path) -> None:
    """Make the library's folder, or see that it is one."""
    try:
        if folder.exists() and not folder.is_dir():
            raise LibraryError(
                "this is a file, not a library folder", where=str(folder), next="name a folder with --library"
            )
        if folder.exists() and not (folder / "library.db").exists():
            strange = [f.name for f in folder.iterdir() if not f.name.startswith((*_OWN, "."))]
            if strange:
                raise LibraryError(
                    f"this folder is not a library: it holds other things ({', '.join(sorted(strange)[:3])})",
                    where=str(folder),
                    next="name an empty or a new folder with --library",
                )
        if _lost(folder):
            raise LibraryError(
                "library.db is missing or empty, and frames/ beside it holds the pictures of videos: what was known of"
                " them is lost",
                where=str(folder),
                next="put a copy of library.db back; or remove frames/ and vectors/ there, and add the videos again",
            )
        if not (folder / "library.db").exists():
            (folder / "frames").mkdir(parents=True, exist_ok=True)
            (folder / "vectors").mkdir(exist_ok=True)
    except OSError as error:
        raise LibraryError(
            f"the library folder cannot be made: {error.strerror}",
            where=str(folder),
            next="name another with --library",
        ) from error


def _lost(folder: Path) -> bool:
    """Whether pictures are left of a library whose file is gone: a new one would take them for orphans."""
    file, log = folder / "library.db", folder / "library.db-wal"
    if any(part.exists() and part.stat().st_size for part in (file, log)):
        return False
    return any(path.is_file() for path in (folder / "frames").rglob("*"))
