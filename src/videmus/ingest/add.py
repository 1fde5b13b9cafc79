"""Adding: a source becomes a video in the library, and the video is brought up to date by its stages.

A file is known by its content: one that moved is linked to its new place, a copy is noticed and not computed again, two
files of one name stay two videos. What goes wrong with one video ends as its state and reason; the others go on.
"""

from __future__ import annotations

import threading
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from videmus import clock
from videmus.config import Settings
from videmus.errors import LibraryError, MediaError, VidemusError
from videmus.ingest import recordings
from videmus.ingest.pipeline import Events, Outcome, outcome, run
from videmus.ingest.sources import Source, kind_of, source_at
from videmus.ingest.stage import Changed, Job, Options, Stage, Stopped
from videmus.media.fingerprint import Content, content, unread
from videmus.model import Frame, Row, Video, content_id
from videmus.models.minds import Minds
from videmus.segment.timeline import is_recording
from videmus.store.protocol import Store, Work

ATTEMPTS = 3
"""So often a file is begun anew that is written to while it is read; then it is a failed video."""


@dataclass(frozen=True, slots=True)
class About:
    """What the user says of the videos: kept with them, and changed by `videmus edit`."""

    collection: str | None = None
    title: str | None = None
    recorded_at: int | None = None
    recording: str | None = None

    def over(self, video: Video) -> About:
        """What the user says now, and where that is nothing, what the video has."""
        told = self.recorded_at
        return About(
            self.collection or video.collection,
            self.title or video.title,
            video.recorded_at if told is None else told,
            self.recording or video.recording,
        )


class Adder:
    """Adds sources to one store. `stop` ends the work after the row at hand."""

    def __init__(
        self,
        store: Store,
        minds: Minds,
        settings: Settings,
        options: Options,
        events: Events,
        stop: threading.Event,
        stages: Sequence[Stage] | None = None,
    ) -> None:
        from videmus.ingest.stages import STAGES

        self.store = store
        self.minds = minds
        self.settings = settings
        self.options = options
        self.events = events
        self.stop = stop
        self.stages = stages or STAGES

    def add_all(self, found: Sequence[Source], about: About) -> list[Video]:
        """Every source, in order; a bad file is a failed video.

        Raises LibraryError, KeyboardInterrupt, and UsageError or ModelError where the speech model named cannot do it.
        """
        return self._together([self._add(source, about, number, len(found)) for number, source in enumerate(found, 1)])

    def update_all(self, videos: Sequence[Video]) -> list[Video]:
        """Bring videos that are in the library up to date."""
        files = [video for video in videos if not is_recording(video)]
        return self._together([self._updated(video, number, len(files)) for number, video in enumerate(files, 1)])

    def _together(self, videos: list[Video]) -> list[Video]:
        recordings.update(self.store, self.minds, self.settings, self.events, self.stop, videos)
        return videos

    def _add(self, source: Source, about: About, number: int, of: int, attempt: int = 1) -> Video:
        try:
            video, read = self._registered(source, about)
        except LibraryError:
            raise
        except VidemusError as error:
            return self._failed(source, about, error, number, of)
        told = _options(video)
        if told.language or told.speech_model:  # a model that cannot do it costs no video the speech that it has
            self.minds.speech.check(told.language, told.speech_model or "")
        self.store.put_video(video)
        self._take_the_place(video, _kept_text(str(source)), read)
        self.events.video(video, number, of)
        try:
            return self._run(video, read)
        except Changed:
            if video.state == "processing":  # nothing of it was ready before
                self.store.remove_video(video.id)
            about = about.over(video)
        if attempt == ATTEMPTS:
            written = MediaError(
                "it is written to again and again", where=str(source), next="add it when it is complete"
            )
            return self._failed(source, about, written, number, of)
        self.events.notice(f"{video.title} was written to while it was read: that is void, and begun anew")
        return self._add(source, about, number, of, attempt + 1)

    def _take_the_place(self, video: Video, given: str, read: Content | None = None) -> None:
        """What the library holds of another content at the same place.

        A failed attempt goes, and so does what was made of the file's beginning; a video of its own stays, and it is said.
        """
        on_disk = not video.source.startswith(("http://", "https://"))
        for other in self.store.videos_at([video.source, given]):
            if other.id == video.id or is_recording(other):
                continue
            if never_read(other):
                self.store.remove_video(other.id)
            elif read and _is_begun(other, read):
                if video.state == "failed":
                    continue  # still being written: its beginning stays until the rest can be read
                with self.store.lease(other.id):  # who works on it finds the file changed, and ends
                    pass
                self.store.remove_video(other.id)
                self.store.entities.forget_empty()
                self.events.notice(
                    f"{video.title} was written further: it takes the place of its beginning ({other.id})"
                )
            elif on_disk and other.source == video.source and not other.options.get("replaced"):
                self._without_place(other)

    def _without_place(self, video: Video) -> Video:
        """The video's place holds another content now: it stays, without a file."""
        self.events.notice(
            f"{video.source} was another file before: {video.title} ({video.id}) stays, without its file"
        )
        left = replace(video, options={**video.options, "replaced": True})
        self.store.put_video(left)
        return left

    def _updated(self, video: Video, number: int, of: int) -> Video:
        if never_read(video):  # nothing but the attempt is known: it is made again
            title = None if video.title == _one_line(_name(video.source)) else video.title
            about = About(video.collection, title, video.recorded_at, video.recording)
            again = Adder(self.store, self.minds, self.settings, _options(video), self.events, self.stop, self.stages)
            return again._add(source_at(video.source), about, number, of)
        path = media_path(self.store, video)
        read = unread(path, video.fingerprint) if path else None
        if read and read.size != video.options.get("bytes", read.size):
            if _is_begun(video, read):
                return self._add(source_at(video.source), About(), number, of)
            video, path, read = self._without_place(video), None, None
        self.events.video(video, number, of)
        if path is None and "evidence" not in video.options:
            self.events.notice(f"{video.title}: {video.source} is not there; what needs the file is not run")
        try:
            return self._run(video, read)
        except Changed:
            return self._add(source_at(video.source), About(), number, of)

    def _run(self, video: Video, read: Content | None) -> Video:
        path = read.path if read else None
        options = _options(video)
        if self.store.busy(video.id):
            self.events.notice(f"another process is working on {video.title}; waiting for it")
        with self.store.lease(video.id):
            self.store.edit_video(video.id, state="processing", reason=None)
            job = Job(video, path, self.settings, options, self.minds, self.store, self.stop)
            job.holds = read.holds if read else job.holds
            try:
                work = run(job, self.stages, self.events)
            except Stopped:
                raise KeyboardInterrupt from None
            ended = outcome(work)
            if path is None and "evidence" not in video.options and video.state != "ready":
                ended = _without_file(video, ended, work)
            language = video.language or _heard_language(job)
            return self.store.edit_video(video.id, state=ended.state, reason=ended.reason, language=language)

    # ------------------------------------------------------------ source → video

    def _registered(self, source: Source, about: About) -> tuple[Video, Content | None]:
        """The video's row, new or known, and the file as it was read (None: the knowledge came without one)."""
        path = source.path
        if source.kind == "address":
            assert source.address is not None
            path = self._fetched(source.address)
            source = replace(source, kind=kind_of(path))
        assert path is not None
        if source.kind != "evidence":
            return self._from_file(path, source, about)
        try:
            return self._from_evidence_file(path, source, about), None
        finally:
            if source.address:  # the library holds what was in it
                path.unlink()

    def _fetched(self, address: str) -> Path:
        from videmus.media.fetch import fetch

        for known in self.store.videos_at([address]):
            if path := media_path(self.store, known):
                return path
        self.events.notice(f"fetching {address}")
        return fetch(
            address,
            self.store.folder / "media",
            progress=lambda done, total: self.events.fetching(address, done, total),
        )

    def _from_file(self, path: Path, source: Source, about: About) -> tuple[Video, Content]:
        from videmus.media.announced import announced_bytes
        from videmus.media.fetch import title_of
        from videmus.media.fingerprint import wait_until_complete

        if _kept_text(str(path)) != str(path):
            raise MediaError("its name is no text in UTF-8", where=_kept_text(str(path)), next="rename the file")
        if not source.address:  # what was fetched is whole
            wait_until_complete(
                path, on_wait=lambda: self.events.notice(f"{path.name} is still being written; waiting for it")
            )
        read = content(path)
        if (announced := announced_bytes(path) or 0) > read.size:
            missing = f"it announces {announced:,} bytes, and {read.size:,} are there"
            self.events.notice(f"{path.name} is not whole: {missing}; add it again when the rest is")
        known = self.store.video_by_fingerprint(read.fingerprint)
        if known and known.state != "failed":
            return self._known(known, source, about, read.size), read
        begun = next((v for v in self.store.videos_at([str(source)]) if _is_begun(v, read)), None)
        about = about.over(begun) if begun else about
        video = Video(
            id=content_id("v", read.fingerprint),
            fingerprint=read.fingerprint,
            title=about.title or _one_line(title_of(path) if source.address else path.stem),
            duration_ms=0,
            source=str(source),
            collection=about.collection,
            recording=about.recording,
            language=self.options.language or (begun.options.get("language") if begun else None),
            added_at=int(time.time() * 1000),
            options={**(begun.options if begun else {}), **self._kept_options(), "bytes": read.size},
        )
        with_ = _with_subtitles if source.kind == "subtitles" else _with_media
        return with_(video, path, about), read

    def _kept_options(self) -> dict[str, Any]:
        chosen = {
            "transcribe": self.options.transcribe,
            "language": self.options.language,
            "speech_model": self.options.speech_model,
            "subtitles": str(self.options.subtitles.resolve()) if self.options.subtitles else None,
            "captions": str(self.options.captions.resolve()) if self.options.captions else None,
        }
        return {name: value for name, value in chosen.items() if value is not None}

    def _known(self, known: Video, source: Source, about: About, size: int) -> Video:
        """A video that is here already: moved (re-linked), a copy (noticed), or the same file again."""
        here = str(source)
        if known.source != here:
            if _stands(known):
                self.events.notice(f"{here} is a copy of {known.title} ({known.id}); it is not computed again")
                self.store.note_place(known.id, here)
                here = known.source
            else:
                self.events.notice(f"{known.title} moved from {known.source}; linked to its new place")
        return replace(
            known,
            source=here,
            title=about.title or known.title,
            collection=about.collection or known.collection,
            recording=about.recording or known.recording,
            recorded_at=about.recorded_at if about.recorded_at is not None else known.recorded_at,
            language=self.options.language or known.language,
            options={k: v for k, v in known.options.items() if k != "replaced"}
            | self._kept_options()
            | {"bytes": size},
        )

    def _from_evidence_file(self, path: Path, source: Source, about: About) -> Video:
        from videmus.exports import evidence_file
        from videmus.media.fingerprint import fingerprint

        read = evidence_file.read(path)
        digest = fingerprint(path)
        known = self.store.video(read.video.id)
        base = known or read.video
        video = replace(
            base,
            source=str(source) if base.source == str(path) else base.source,
            title=about.title or base.title,
            collection=about.collection or base.collection,
            recording=about.recording or base.recording,
            recorded_at=_clock_of(about, path, base.recorded_at),
            added_at=known.added_at if known else int(time.time() * 1000),
            options={**base.options, "evidence": digest},
        )
        if known and known.options.get("evidence") == digest:
            return video
        self.store.put_video(replace(video, state="processing", reason=None))
        made_by = {origin: stage.name for stage in self.stages for origin in stage.makes}
        rows: dict[str, list[Row]] = {}
        for origin, some in read.rows_by_stage().items():
            rows.setdefault(made_by.get(origin, origin), []).extend(some)
        for name, some in rows.items():
            ids = {row.id for row in some if isinstance(row, Frame)}
            self.store.import_rows(video.id, name, some, {id: read.pictures[id] for id in ids & read.pictures.keys()})
        for notice in read.notices:
            self.events.notice(f"{path.name}: {notice}")
        return video

    def _failed(self, source: Source, about: About, error: VidemusError, number: int, of: int) -> Video:
        failed = self._unreadable(source, about, error)
        self.events.video(failed, number, of)
        self.events.notice(str(error))
        return failed

    def _unreadable(self, source: Source, about: About, error: VidemusError) -> Video:
        """A source that is no video at all still ends somewhere: failed, with the reason, in the library's list."""
        read: Content | None = None
        try:
            read = content(source.path) if source.path else None
            print_ = read.fingerprint if read else str(source)
        except VidemusError:
            print_ = _kept_text(str(source))
        place = _kept_text(str(source))
        if (known := self.store.video_by_fingerprint(print_)) and not never_read(known):
            print_ = place  # the same content was read elsewhere: that video stays what it is
        video = Video(
            id=content_id("v", print_), fingerprint=print_, title=about.title or _one_line(_name(place)), duration_ms=0,
            source=place, state="failed", reason=str(error), collection=about.collection,
            recorded_at=about.recorded_at, recording=about.recording, has_video=False, has_audio=False,
            added_at=int(time.time() * 1000), options=self._kept_options(),
        )  # fmt: skip
        self._take_the_place(video, place, read)
        self.store.put_video(video)
        return video


def never_read(video: Video) -> bool:
    """Whether nothing is known of it but that it was given: its file was no video, or its address did not answer."""
    anything = video.has_video or video.has_audio or video.duration_ms
    return video.state == "failed" and not anything and "evidence" not in video.options


def _is_begun(video: Video, read: Content) -> bool:
    """Whether the video was made of the beginning of what the file at its place holds now."""
    return video.source == str(read.path) and read.begins_with(video.fingerprint, video.options.get("bytes", 0))


def media_path(store: Store, video: Video) -> Path | None:
    """The video's file on this machine, or None: it is gone, holds another content now, or there never was one."""
    if video.options.get("replaced"):
        return None
    if video.source.startswith(("http://", "https://")):
        found = sorted((store.folder / "media").glob(f"{video.fingerprint[:16]}*")) if store.folder else []
        return found[0] if found else None
    path = Path(video.source)
    return path if path.is_file() and kind_of(path) != "evidence" else None


def _options(video: Video) -> Options:
    """What the user asked for when adding it."""
    told = {k: video.options[k] for k in ("transcribe", "language", "speech_model") if k in video.options}
    for name in ("subtitles", "captions"):
        told[name] = Path(video.options[name]) if video.options.get(name) else None
    return Options(**told)


def _kept_text(path: str) -> str:
    """The path as the library can keep it: a name in another encoding than the system's has bytes that are no letters."""
    return path.encode(errors="surrogateescape").decode(errors="replace")


def _one_line(name: str) -> str:
    """A file's name as a title: it may hold line breaks and other controls."""
    return "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in name)


def _name(source: str) -> str:
    """The title of what was never read."""
    return source if source.startswith(("http://", "https://")) else Path(source).stem


def _stands(video: Video) -> bool:
    """Whether the video's own place still holds it."""
    from videmus.media.fingerprint import fingerprint

    if video.source.startswith(("http://", "https://")):
        return True
    path = Path(video.source)
    return path.is_file() and fingerprint(path) == video.fingerprint


def _without_file(video: Video, ended: Outcome, work: Sequence[Work]) -> Outcome:
    """How a video ends whose file went before everything was made of it."""
    missing = f"{video.source} is not there any more: what was not yet made of it needs the file"
    reason = "; ".join(filter(None, (ended.reason, missing)))
    return Outcome("partial" if any(w.rows for w in work) else "failed", reason)


def _with_media(video: Video, path: Path, about: About) -> Video:
    from videmus.media.probe import probe

    probed = probe(path)
    return replace(
        video,
        duration_ms=probed.duration_ms,
        has_video=probed.has_video,
        has_audio=probed.has_audio,
        recorded_at=_clock_of(about, path, probed.recorded_at),
    )


def _with_subtitles(video: Video, path: Path, about: About) -> Video:
    from videmus.media.subtitles import read

    cues = read(path)
    return replace(
        video,
        duration_ms=max((cue.end_ms for cue in cues), default=0),
        has_video=False,
        has_audio=False,
        recorded_at=_clock_of(about, path, None),
    )


def _clock_of(about: About, path: Path, told: int | None) -> int | None:
    """When it began: what the user says, else the file's name, else what is told inside it (often the time of a copy)."""
    if about.recorded_at is not None:
        return about.recorded_at
    named = clock.clock_from_name(path.name)
    return told if named is None else named


def _heard_language(job: Job) -> str | None:
    """The language that most speech rows carry."""
    from collections import Counter

    from videmus.model import SpeechDetail

    rows = job.evidence("speech")
    heard = Counter(r.detail.language for r in rows if isinstance(r.detail, SpeechDetail) and r.detail.language)
    return heard.most_common(1)[0][0] if heard else None
