"""`Library`: the one public face of Videmus.

Everything that the terminal, a server or a program does goes through here. A method resolves names and times, calls one
room, and returns the nouns of `model`. It keeps no state beyond the open store and the loaded models.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from videmus import clock, config
from videmus.config import Settings
from videmus.errors import ModelError, NotFoundError, UsageError
from videmus.model import (
    EVIDENCE_KINDS,
    FACETS,
    SEGMENT_KINDS,
    Answer,
    Correction,
    Evidence,
    EvidenceKind,
    Facet,
    Frame,
    Moment,
    NarrationDetail,
    Scope,
    Segment,
    SegmentKind,
    Sentence,
    Step,
    Video,
)
from videmus.typed import Clock, Times, milliseconds, named, one_of, wall_clock, worded

if TYPE_CHECKING:
    from videmus.answer.asking import Mode
    from videmus.answer.chat import Exchange
    from videmus.ingest.estimate import Estimate
    from videmus.ingest.pipeline import Events
    from videmus.models.minds import Minds
    from videmus.people import People
    from videmus.search.frames import FoundFrame
    from videmus.segment.timeline import Timeline
    from videmus.store.protocol import Store, Work
    from videmus.understand.summary import Chapter


class Library:
    """A library of videos in a folder, made when absent (default: the user's data folder).

    `record` is a file that every call of a language or vision model is written to (a recording that is there goes on);
    `budget_usd` what they may cost. Raises LibraryError when the folder is damaged, foreign, locked or of a newer version,
    UsageError for settings that cannot be meant (an unknown section, name or provider), and ReplayError for a file that
    cannot be recorded to.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        settings: Settings | None = None,
        minds: Minds | None = None,
        record: str | Path | None = None,
        budget_usd: float | None = None,
    ) -> None:
        from videmus.models.minds import Minds
        from videmus.store.sqlite import SqliteStore

        self.path = Path(path) if path is not None else config.default_library()
        self.settings = settings or config.load()
        recording = Path(record) if record else None
        if minds is None:
            Minds(self.settings, record=recording).check()
        self.store: Store = SqliteStore(self.path, self.settings.store, self.settings.vectors)
        self.minds = minds or Minds(self.settings, calls=self.store, record=recording, budget_usd=budget_usd)
        self.stop = threading.Event()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def people(self) -> People:
        """Who did what to whom, who speaks, and what a person knows better about their names."""
        from videmus.people import People

        return People(self)

    def close(self) -> None:
        self.minds.close()
        self.store.close()

    # ------------------------------------------------------------ what is in it

    def videos(self, *, collection: str | None = None, recording: str | None = None) -> list[Video]:
        """All videos, in the order they were added; also those that failed, with the reason."""
        from videmus.segment.timeline import is_recording

        found = self.store.videos(Scope(collection=collection, recording=recording))
        return [video for video in found if not is_recording(video)]

    def timeline(self, recording: str) -> Timeline:
        """A recording's files by the clock, with the gaps and overlaps between them."""
        from videmus.segment.timeline import timeline

        return timeline(recording, self.store.videos(Scope(recording=recording)))

    def video(self, name: str) -> Video:
        """The video of this id, title, file name, unique prefix of an id, or part of a title (3 letters or more).

        Raises NotFoundError, or AmbiguousError when several fit (`where` lists them).
        """
        if exact := self.store.video(name):
            return exact
        return named(self.videos(), name)

    def work(self, video: str) -> list[Work]:
        """What each stage did for the video: state, reason, seconds, calls, cost."""
        return self.store.work(self.video(video).id)

    def segments(self, video: str, kind: SegmentKind | None = None) -> list[Segment]:
        """The video's segments in order of time; raises UsageError for an unknown kind."""
        return self.store.segments(Scope(video=self.video(video).id), one_of(kind, SEGMENT_KINDS, "kind"))

    def evidence(
        self, video: str, kind: EvidenceKind | None = None, *, start_ms: int | None = None, end_ms: int | None = None
    ) -> list[Evidence]:
        """The video's evidence in order of time, of one kind or all, overlapping [start_ms, end_ms).

        A row of speech names the slide that it explains as its segment, and its speaker as a person calls them.
        """
        from videmus.segment.assign import placed

        kind = one_of(kind, EVIDENCE_KINDS, "kind")
        scope = Scope(video=self.video(video).id, start=start_ms, end=end_ms)
        rows = self.store.speakers.named(self.store.evidence(scope, [kind] if kind else None))
        return placed(rows, self.store.segments(Scope(video=scope.video), "slide"))

    def frames(self, video: str) -> list[Frame]:
        return self.store.frames(Scope(video=self.video(video).id))

    # ------------------------------------------------------------ adding

    def add(self, what: str | Path, **options: Any) -> Video | list[Video]:
        """Add one file or address, which gives its Video, or a folder, which gives a list. Options as in `add_all`."""
        added = self.add_all([what], **options)
        is_folder = not str(what).startswith(("http://", "https://")) and Path(what).expanduser().is_dir()
        return added if is_folder else added[0]

    def add_all(
        self,
        what: Sequence[str | Path],
        *,
        collection: str | None = None,
        title: str | None = None,
        recorded_at: Clock = None,
        recording: str | None = None,
        language: str | None = None,
        speech_model: str | None = None,
        transcribe: bool | None = None,
        subtitles: str | Path | None = None,
        captions: str | Path | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        events: Events | None = None,
    ) -> list[Video]:
        """Add files, folders and addresses, and bring each video up to date.

        A video that is already here is not computed again. `language`, `speech_model`, `subtitles` and `captions` (files; see
        `exports.captions_file`) and `transcribe` (recognise speech even where subtitles are) stay with it, through every
        retry, until another is given: `transcribe=False` goes back to the subtitles. What goes wrong with one video is its
        `state` and `reason`, never an exception that loses the others; an exception means that the call itself was wrong
        (UsageError) or that the library cannot be written (LibraryError).
        """
        from videmus.ingest import add as adding
        from videmus.ingest.pipeline import Silent
        from videmus.ingest.sources import sources
        from videmus.ingest.stage import Options

        found = sources(what, include, exclude)
        of_one = {"title": title, "subtitles": subtitles, "captions": captions}
        if len(found) > 1 and (option := next((name for name, value in of_one.items() if value), None)):
            raise UsageError(f"--{option} names one video, and {len(found)} were given", next="add that one alone")
        about = adding.About(collection, title, wall_clock(recorded_at, (), self._first_day(recording)), recording)
        files = [Path(file) if file else None for file in (subtitles, captions)]
        options = Options(transcribe, language, speech_model, *files)
        adder = adding.Adder(self.store, self.minds, self.settings, options, events or Silent(), self.stop)
        return adder.add_all(found, about)

    def estimate(self, what: Sequence[str | Path], *, recording: str | None = None, **patterns: Any) -> Estimate:
        """What adding these would ask of the configured models, by stage: calls, tokens, price; and what that rests on.

        Nothing is sent or kept. `patterns` are `include` and `exclude`, as in `add_all`.
        """
        from videmus.ingest.estimate import estimated

        return estimated(what, self.store, self.settings, recording, **patterns)

    def retry(self, video: str | None = None, *, events: Events | None = None) -> list[Video]:
        """Run again what failed, was interrupted or is out of date, for one video or all."""
        from videmus.ingest import add as adding
        from videmus.ingest.pipeline import Silent
        from videmus.ingest.stage import Options

        chosen = [self.video(video)] if video else self.videos()
        adder = adding.Adder(self.store, self.minds, self.settings, Options(), events or Silent(), self.stop)
        return adder.update_all(chosen)

    def rebuild(self, *, events: Events | None = None) -> list[Video]:
        """Make the vectors, full text and derived rows anew where a model or a version changed."""
        for model in self.store.vector_models().keys() - {self.minds.embedder.name}:
            self.store.remove_vectors(model)
        self.store.rebuild_indexes()
        return self.retry(events=events)

    def edit(
        self,
        video: str,
        *,
        title: str | None = None,
        collection: str | None = None,
        recorded_at: Clock = None,
        recording: str | None = None,
    ) -> Video:
        """Change what a person knows better. An empty collection or recording takes the video out of it.

        Raises UsageError for an empty title and for a clock time that is none.
        """
        old = self.video(video)
        if title is not None and not title.strip():
            raise UsageError("a title needs a letter", where=old.title, next="give a title, or leave it as it is")
        new = replace(
            old,
            title=title.strip() if title else old.title,
            collection=old.collection if collection is None else collection or None,
            recording=old.recording if recording is None else recording or None,
            recorded_at=old.recorded_at
            if recorded_at is None
            else wall_clock(recorded_at, (), self._first_day(old.recording)),
        )
        self.store.put_video(new)
        if (new.recording, new.recorded_at) != (old.recording, old.recorded_at):
            self._recordings_changed([old, new])
        return new

    def _recordings_changed(self, videos: Sequence[Video]) -> None:
        from videmus.ingest import recordings
        from videmus.ingest.pipeline import Silent

        recordings.update(self.store, self.minds, self.settings, Silent(), self.stop, videos)

    def remove(self, video: str) -> Video:
        """Remove a video and everything derived from it. The file itself is not touched."""
        found = self.video(video)
        self.store.remove_video(found.id)
        if found.recording:
            self._recordings_changed([found])
        self.store.entities.forget_empty()
        return found

    def watch(self, folders: Sequence[str], *, events: Events | None = None, **options: Any) -> list[Video]:
        """Add what is in the folders, then what appears there, until `stop` is set or Ctrl-C; returns what was added.

        `options` as in `add_all`. Raises UsageError for what is no folder.
        """
        from videmus.ingest.pipeline import Silent
        from videmus.ingest.watching import watch

        patterns = {name: options.pop(name, ()) for name in ("include", "exclude")}
        add = partial(self.add_all, events=events, **options)
        return watch(folders, add, events or Silent(), self.stop, **patterns)

    # ------------------------------------------------------------ taking out

    def shown_kind(self, video: str, kind: str | None = None) -> SegmentKind | None:
        """The kind of segment a person wants to see first: the one asked for, else slides, clips or windows."""
        if kind is not None:
            return cast("SegmentKind | None", one_of(kind, SEGMENT_KINDS, "kind"))
        scope = Scope(video=self.video(video).id)
        kinds: tuple[SegmentKind, ...] = ("slide", "clip", "window")
        return next((k for k in kinds if self.store.segments(scope, k)), None)

    def chapters(self, video: str) -> list[Chapter]:
        """The video's chapters, which cover it: a model's, else its slides, else those made of its own sentences."""
        from videmus import exporting

        return exporting.chapters_of(self.store, self.video(video))

    def corrections(self, video: str) -> list[tuple[Evidence, Correction]]:
        """Every correction of misheard speech, with the narration row it stands in; also those a person has undone."""
        rows = self.evidence(video, "narration")
        return [(r, c) for r in rows if isinstance(r.detail, NarrationDetail) for c in r.detail.corrections]

    def link(self, video: str, time: Times = 0) -> tuple[str, Path | None, int]:
        """The address that opens a moment, the file (None: not on this machine) and the time in ms.

        A moment of a transcript opens the clip of its recording that ran then. Raises UsageError for a time outside the video.
        """
        from videmus.answer.citations import moment_url
        from videmus.answer.footage import footage
        from videmus.ingest.add import media_path

        found = self.video(video)
        at_ms = self._inside(found, time)
        if seen := footage(found, at_ms, at_ms, self.store):
            found, at_ms = self.video(seen.video), seen.start_ms
        return moment_url(found, at_ms), media_path(self.store, found), at_ms

    def export_text(self, video: str, format: str) -> str:
        """The video as srt, vtt, md (without pictures), json or chapters."""
        from videmus import exporting

        return exporting.text(self.store, self.video(video), format)

    def export(
        self,
        video: str,
        format: str,
        output: str | Path | None = None,
        *,
        force: bool = False,
        notice: Callable[[str], None] | None = None,
    ) -> list[Path]:
        """Write the video as srt, vtt, md (with pictures in a folder beside it), json, pdf or chapters.

        Returns the files written, the main one first (default: `<title>.<format>` here). `notice` is told what could not
        be written as it is (letters that no font has, pictures that are gone). Raises UsageError for an unknown format
        and for a file that is there, unless `force`; MissingExtraError for pdf without fpdf2.
        """
        from videmus import exporting

        found, path = self.video(video), Path(output) if output else None
        return exporting.write(self.store, found, format, path, force=force, notice=notice)

    def contact_sheet(self, video: str, output: str | Path, *, force: bool = False) -> Path:
        """Write a picture of all slides (clips) with their times. Raises UsageError as `export` does."""
        from videmus import exporting

        return exporting.sheet(self.store, self.video(video), Path(output), force=force)

    def clip(
        self, video: str, start: Times, end: Times, output: str | Path | None = None, *, force: bool = False
    ) -> Path:
        """Cut [start, end) out of the video's file; exact to the frame. Raises MediaError, UsageError."""
        from videmus import exporting

        found = self.video(video)
        span = self._inside(found, start), self._inside(found, end)
        return exporting.clip(self.store, found, span, Path(output) if output else None, force=force)

    def frame(self, video: str, time: Times, output: str | Path | None = None, *, force: bool = False) -> Path:
        """Save the picture on screen at a time. Raises MediaError, UsageError."""
        from videmus import exporting

        found = self.video(video)
        at_ms = self._inside(found, time)
        return exporting.frame(self.store, found, at_ms, Path(output) if output else None, force=force)

    def frames_like(self, of: str, time: Times, *, limit: int = 20, **scope: Any) -> tuple[Frame, list[FoundFrame]]:
        """The kept picture that was on screen at a time `of` a video, and others that look like it, most alike first.

        Without a model, by perceptual hashes. Scope: see `scope` (default: the whole library). Raises UsageError for a time
        outside the video and for a video without kept pictures.
        """
        from videmus.search.frames import frames_like

        found = self.video(of)
        at_ms = self._inside(found, time)
        shown = self.store.frames(Scope(video=found.id, end=at_ms + 1)) or self.frames(found.id)[:1]
        if not shown:
            raise UsageError("no picture of it is kept", where=found.title, next="`videmus show` says what was not run")
        gap_ms = self.settings.agent.frame_gap_ms
        alike = frames_like(self.store.frame_vectors, shown[-1], self.scope(**scope), limit, gap_ms=gap_ms)
        return shown[-1], list(alike.frames)

    def _inside(self, video: Video, time: Times) -> int:
        at_ms = milliseconds(time) or 0
        if not 0 <= at_ms <= video.duration_ms:
            length = clock.format_time(video.duration_ms)
            raise UsageError(f"{time} is outside the video", where=video.title, next=f"it is {length} long")
        return at_ms

    # ------------------------------------------------------------ asking

    def search(self, text: str, *, limit: int = 10, **scope: Any) -> list[Moment]:
        """The moments that fit `text`, best first; words in "quotes" must stand there so. See `scope`. Raises UsageError."""
        from videmus.search.hybrid import search

        worded(text, "search", 'videmus search "learning rate"')
        return search(self.store, self.minds.embedder, text, self.scope(**scope), limit, self.settings)

    def ask(
        self,
        question: str,
        *,
        limit: int | None = None,
        mode: Mode | None = None,
        options: Sequence[str] = (),
        history: Sequence[Exchange] = (),
        on_sentence: Callable[[Sentence], None] = lambda sentence: None,
        on_step: Callable[[Step], None] = lambda step: None,
        **scope: Any,
    ) -> Answer:
        """An answer out of the library, every sentence with checked citations; see `model.Answer.grounding`.

        With a language model it reads the moments found (`limit` of them), or plans ("agent"; `mode` None chooses by
        the question); without one the best sentences are given verbatim. `options` make it multiple choice, `history` is
        the conversation so far, `on_sentence` is told each sentence as soon as it has passed its check. Raises UsageError,
        and ModelError where a configured model cannot be asked.
        """
        from videmus.answer.asking import Asked, answer
        from videmus.answer.footage import shown

        worded(question, "question", 'videmus ask "Why does it diverge?"')
        asked = Asked(question, self.scope(**scope), mode, limit, options, history, on_sentence, on_step)
        return shown(answer(self.store, self.minds, self.settings, asked), self.store)

    def unused(self, answer: Answer) -> list[Evidence]:
        """The rows that were retrieved for an answer and that it does not cite, in the order found."""
        cited = {citation.evidence for citation in answer.citations}
        ids = dict.fromkeys(id for step in answer.steps for id in step.evidence if id not in cited)
        return self.store.evidence_by_id(list(ids))

    def what_leaves(self) -> str | None:
        """What leaves this machine, and to whom, when videos are added or questions asked; None: nothing does."""
        from videmus.models.connect import what_leaves

        return what_leaves(self.settings.models)

    def undo_correction(self, correction: str) -> Evidence:
        """Take back the correction of this id (or a unique prefix): the original words hold, and are found, again.

        Raises NotFoundError, and ModelError where the slide cannot be understood anew now: then a retry does it.
        """
        fitting = [
            (row, c) for v in self.store.videos() for row, c in self.corrections(v.id) if c.id.startswith(correction)
        ]
        if len(fitting) != 1:
            what = "no correction of that id" if not fitting else f"{len(fitting)} corrections fit"
            raise NotFoundError(what, where=correction, next="`videmus corrections VIDEO` lists them")
        row, found = fitting[0]
        self.store.set_mark(row.video, "slide-texts", found.id, "undone")
        (video,) = self.retry(row.video)
        if any(c.id == found.id and not c.undone for _, c in self.corrections(row.video)):
            why = video.reason or "it came in an evidence file, whose rows stay as they are"
            raise ModelError(
                f"it is marked as undone, and holds until then: {why}", where=found.id, next="videmus retry"
            )
        return row

    def scope(
        self,
        *,
        video: str | None = None,
        collection: str | None = None,
        recording: str | None = None,
        start: Times = None,
        end: Times = None,
        after: Clock = None,
        before: Clock = None,
        at: Clock = None,
        stream: str | None = None,
        facet: str | None = None,
        speaker: str | None = None,
    ) -> Scope:
        """A `Scope` from what people type: names of videos, times, clock times. Raises UsageError for what is neither."""
        found = self.video(video) if video else None
        times: dict[str, int | None] = {"after": None, "before": None, "at": None}
        if given := {k: v for k, v in (("after", after), ("before", before), ("at", at)) if v is not None}:
            inside = [found] if found else self.store.videos(Scope(collection=collection, recording=recording))
            first_day = self._first_day(recording or (found.recording if found else None))
            times |= {name: wall_clock(value, inside, first_day) for name, value in given.items()}
        return Scope(
            video=found.id if found else None,
            collection=collection,
            recording=recording,
            start=milliseconds(start),
            end=milliseconds(end),
            **times,
            stream=cast("EvidenceKind | None", one_of(stream, EVIDENCE_KINDS, "stream")),
            facet=cast("Facet | None", one_of(facet, FACETS, "facet")),
            speaker=speaker,
        )

    def _first_day(self, recording: str | None) -> int | None:
        """A wall-clock time on the recording's first day (without a recording: the library's); None where days are only
        counted, so that a clip of DAY2 alone stays on DAY2."""
        starts = [v.recorded_at for v in self.store.videos(Scope(recording=recording)) if v.recorded_at is not None]
        first = min(starts, default=None)
        return None if first is None or clock.counts_days(first) else first
