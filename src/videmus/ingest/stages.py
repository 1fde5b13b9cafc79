"""Every stage, in the order of the data: the whole ingest, top down.

Each takes the rows of the stages that it `reads` and gives new ones; what a stage needs is imported when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from videmus.ingest.stage import Job, Kept, Produced, Stage
from videmus.ingest.transcript import subtitles_of, transcript_key
from videmus.ingest.turns import turns_key, turns_of
from videmus.model import Evidence, Frame, Scope, evidence_id


def hear(job: Job) -> Iterator[Produced]:
    """Subtitles where they are, else recognised speech; with speakers where turns are known and subtitles name none."""
    from videmus.perceive import speech
    from videmus.perceive.speakers import with_speakers

    cues = subtitles_of(job)
    if cues:
        turns = [] if all(cue.speaker for cue in cues) else turns_of(job)
        said = speech.from_cues(job.video.id, cues, language=job.video.language)
    else:
        turns = turns_of(job)
        said = speech.hear(
            job.media,
            job.video.id,
            job.minds,
            job.settings,
            language=job.options.language,
            speech_model=job.options.speech_model,
            done=job.done,
            progress=job.progress,
            notice=job.notices.append,
        )
    beyond = 0
    for row in with_speakers(said, turns) if turns else said:
        if (inside := within(row, job.video.duration_ms)) is not None:
            yield inside
        else:
            beyond += 1
    if beyond and cues:
        job.notices.append(f"{beyond} lines lie after its end and are left out: are these its subtitles?")
    elif beyond:
        job.notices.append(
            f"{beyond} lines were heard after its end and are left out: its sound is longer than it tells"
        )


def within(row: Evidence, duration_ms: int) -> Evidence | None:
    """The row as far as the video goes: sound and subtitles may run some milliseconds past its last picture."""
    if row.end_ms <= duration_ms or duration_ms <= 0:
        return row
    if row.start_ms >= duration_ms:
        return None
    id = evidence_id(row.video, row.kind, row.start_ms, duration_ms, row.text, row.speaker)
    return replace(row, id=id, end_ms=duration_ms)


def watch(job: Job) -> Iterator[Produced]:
    """What was on screen from when to when: one kept picture for each look."""
    from videmus.media.pictures import encode
    from videmus.perceive.changes import looks

    kept = {row.id for row in job.done}
    seen = looks(
        job.media, job.video.id, job.settings.screen, progress=lambda ms: job.progress(ms, job.video.duration_ms)
    )
    for look in seen:
        if look.frame.id not in kept:
            path = f"{job.video.id}/{look.frame.at_ms:09}.jpg"
            yield Kept(replace(look.frame, picture=path), encode(look.image))


def read(job: Job) -> Iterator[Produced]:
    """The text on screen, each row from its appearing to its going."""
    from videmus.perceive.screen import read_screen

    frames = job.frames()
    pictures = ((frame, _picture(job, frame)) for frame in job.steps(frames))
    yield from read_screen(
        job.video.id, pictures, job.minds.text_recogniser, job.settings.reading, done=job.done_evidence()
    )


def describe(job: Job) -> Iterator[Produced]:
    """The scene stream: captions where somebody wrote them, else a vision model's description of each look."""
    from videmus.ingest.described import captions_of, described
    from videmus.perceive.scene import describe_scenes

    if captions := captions_of(job):
        rows = [inside for row in described(job, captions) if (inside := within(row, job.video.duration_ms))]
        if lost := len(captions) - len(rows):
            job.notices.append(f"{lost} captions lie after its end and are left out: are these its own?")
        yield from rows
        return
    assert job.minds.vision is not None
    yield from describe_scenes(
        job.frames(), job.pictures(), job.metered(job.minds.vision), done=job.done, on_problem=job.problem
    )


def slides(job: Job) -> Iterator[Produced]:
    """The showings of slides, each with its builds and the sentences that explain it; none in footage."""
    from videmus.segment.assign import assigned
    from videmus.segment.same_slide import same_slide
    from videmus.segment.slides import slides

    vision = job.minds.vision
    asks = same_slide(job.metered(vision), job.video.id, job.settings.models.image_side) if vision else None
    found = list(
        slides(
            job.video,
            job.frames(),
            lambda frame: _picture(job, frame),
            job.evidence("screen"),
            job.settings.slides,
            same_slide=asks,
        )
    )
    said: dict[str, list[str]] = {}
    for row, slide in assigned(job.evidence("speech"), found).items():
        said.setdefault(slide, []).append(row)
    for segment in found:
        yield replace(segment, sources=(*segment.sources, *said.get(segment.id, ())))


def understand(job: Job) -> Iterator[Produced]:
    """Each slide's narration, vision and consolidated text (PreMind's agents; without a model, from what is known)."""
    from videmus.understand.slides import Means, understand_slides

    language, vision = job.minds.language, job.minds.vision
    means = Means(
        job.pictures(),
        job.metered(language) if language else None,
        job.metered(vision) if vision else None,
        job.minds.embedder if language else None,
        job.settings.models.image_side,
    )
    undone = [subject for subject, value in job.store.marks(job.video.id, "slide-texts").items() if value == "undone"]
    yield from understand_slides(
        job.segments("slide"),
        job.evidence("speech"),
        job.evidence("screen"),
        means,
        job.settings.premind,
        done=job.done,
        undone=undone,
        on_problem=job.problem,
    )


def describe_clips(job: Job) -> Iterator[Produced]:
    """Each clip described from up to 45 frames with its subtitle (Goldfish)."""
    from videmus.media.decode import frames_at
    from videmus.media.pictures import encode
    from videmus.understand.clips import describe_clips

    def pictures(times: Sequence[int]) -> list[tuple[int, bytes]]:
        width = job.settings.clips.image_side
        return [(picture.at_ms, encode(picture.rgb)) for picture in frames_at(job.media, times, width=width)]

    assert job.minds.vision is not None
    yield from describe_clips(
        job.segments("clip"),
        job.evidence("speech"),
        pictures,
        job.metered(job.minds.vision),
        job.settings.clips,
        done=job.done,
        on_problem=job.problem,
    )


def fuse(job: Job) -> Iterator[Produced]:
    """Every 30 s, what was seen and said as one paragraph (EGAgent); without a model, joined and marked so."""
    from videmus.understand.captions import captions

    language = job.minds.language
    rows = job.evidence("speech", "scene")
    model = job.metered(language) if language else None
    yield from captions(job.video, rows, job.settings.graph.caption_ms, model, job.problem)


def relate(job: Job) -> Iterator[Produced]:
    """Who talked to whom, used, mentioned and met what, with its intervals; by rules where no model is configured."""
    from videmus.graph import extract, rules

    if language := job.minds.language:
        captions = job.evidence("caption")
        yield from extract.extract(
            captions, job.evidence("speech"), job.metered(language), job.settings.graph, job.problem
        )
        return
    yield from rules.relations(job.evidence("speech"), job.evidence("scene"), job.settings.graph, told=_names(job))


def summarise(job: Job) -> Iterator[Produced]:
    """Chapters, a summary and key terms, each sentence pointing at its evidence."""
    from videmus.understand.summary import summarised

    language = job.minds.language
    rows = job.evidence("speech", "screen", "scene", "consolidated", "clip")
    yield from summarised(job.video, rows, job.metered(language) if language else None, job.settings.summary)


def windows(job: Job) -> Iterator[Produced]:
    from videmus.segment.windows import windows

    rows = job.evidence("speech", "screen", "scene")
    yield from windows(job.video.id, job.video.duration_ms, rows, job.settings.windows)


def clips(job: Job) -> Iterator[Produced]:
    from videmus.segment.clips import clips

    yield from clips(job.video.id, job.video.duration_ms, job.settings.clips)


def index(job: Job) -> Iterator[Produced]:
    """Vectors of the passages that have none yet, and of the pictures where a model compares them with words.

    Full text follows the rows by itself. Texts in a language that the model was not trained for are found by words.
    """
    from videmus.ingest.embedding import embed_frames, embed_passages

    scope = Scope(video=job.video.id)
    embed_passages(job.store, job.minds.embedder, scope, job.video.language, job.progress)
    if pictures := job.minds.image_embedder:
        embed_frames(job.store, pictures, scope, job.progress)
    yield from ()


# ---------------------------------------------------------------- reasons why a stage does not run


def no_sound(job: Job) -> str | None:
    if job.path is not None and subtitles_of(job):
        return None
    return no_file(job) or (None if job.video.has_audio else "there is no sound in it, and no subtitles")


def no_file(job: Job) -> str | None:
    return None if job.path else "there is no media file, only what was known of it"


def no_pictures(job: Job) -> str | None:
    return no_file(job) or (None if job.video.has_video else "there are no pictures in it")


def no_vision(job: Job) -> str | None:
    return no_pictures(job) or (None if job.minds.vision else "no vision model is configured")


def nobody_sees(job: Job) -> str | None:
    from videmus.ingest.described import captions_file

    return no_pictures(job) or (None if captions_file(job) else no_vision(job))


def no_slides(job: Job) -> str | None:
    return None if job.segments("slide") else "it has no slides"


def no_clips(job: Job) -> str | None:
    return no_vision(job) or (None if job.segments("clip") else "it has slides, and no clips")


def nothing_to_fuse(job: Job) -> str | None:
    if job.video.recording:
        return None
    if job.segments("slide"):
        return "it has slides, and is no part of a recording"
    return None if job.evidence("scene") else "it is no part of a recording, and nobody saw it"


def nobody_named(job: Job) -> str | None:
    if job.segments("slide") and not job.video.recording:
        return "it has slides, and is no part of a recording"
    if job.evidence("scene") or any(row.speaker for row in job.evidence("speech")):
        return None
    return "no speaker is named and nothing was seen: there is nobody to relate"


def _names(job: Job) -> list[str]:
    """Who is known to speak in the other files of the recording."""
    if not job.video.recording:
        return []
    voices = job.store.speakers.voices(Scope(recording=job.video.recording))
    return sorted({voice.name for voice in voices})


def has_slides(job: Job) -> str | None:
    return "it is a presentation: it has slides" if job.segments("slide") else None


# ---------------------------------------------------------------- what enters a stage's key


def _of(*sections: str) -> Callable[[Job], Mapping[str, Any]]:
    """The settings sections that change a stage's rows."""
    return lambda job: {name: asdict(getattr(job.settings, name)) for name in sections}


def _hearing(job: Job) -> Mapping[str, Any]:
    told = asdict(replace(job.options, subtitles=None, transcribe=bool(job.options.transcribe)))
    del told["captions"]  # what is seen changes nothing that is heard
    return {**_of("speech")(job), **told, "subtitles": transcript_key(job), "turns": turns_key(job)}


def _seeing(job: Job) -> Mapping[str, Any]:
    from videmus.ingest.described import captions_key

    key = captions_key(job)
    return {"captions": key} if key else {}


def _embedders(job: Job) -> str:
    pictures = job.minds.image_embedder
    return f"{job.minds.embedder.name} {pictures.name}" if pictures else job.minds.embedder.name


def _recogniser(job: Job) -> str:
    return job.options.speech_model or job.settings.models.speech or "bundled"


def _picture(job: Job, frame: Frame) -> Any:
    from videmus.media.pictures import decode

    return decode(job.store.picture(frame), where=frame.picture)


def _minds(*roles: str) -> Callable[[Job], str | None]:
    """The names of the configured models of these roles."""

    def names(job: Job) -> str | None:
        models = {role: getattr(job.minds, role) for role in roles}
        return " ".join(f"{role}={model.name}" for role, model in models.items() if model) or None

    return names


_TEXTS = ("speech", "screen", "scene")
_UNDERSTOOD = (*_TEXTS, "slide-texts", "clip", "captions")

STAGES: tuple[Stage, ...] = (
    Stage("speech", "hearing", 1, (), hear, skip=no_sound, model=_recogniser, settings=_hearing),
    Stage("changes", "watching", 1, (), watch, skip=no_pictures, settings=_of("screen")),
    Stage("screen", "reading", 1, ("changes",), read, skip=no_pictures, settings=_of("reading")),
    Stage("scene", "seeing", 1, ("changes",), describe, skip=nobody_sees, model=_minds("vision"),
        settings=_seeing),
    Stage(
        "slides", "finding slides", 1, ("changes", "screen", "speech"), slides, skip=no_pictures, model=_minds("vision"),
        settings=_of("slides"),
    ),
    Stage("clips", "cutting clips", 1, ("slides",), clips, skip=has_slides, settings=_of("clips")),
    Stage("windows", "cutting windows", 1, _TEXTS, windows, settings=_of("windows")),
    Stage(
        "slide-texts", "understanding slides", 1, (*_TEXTS, "slides"), understand, skip=no_slides,
        model=_minds("language", "vision"), settings=_of("premind"), marks=True,
        origins=("correction", "vision", "consolidation"),
    ),
    Stage(
        "clip", "describing clips", 1, ("clips", "speech"), describe_clips, skip=no_clips, model=_minds("vision"),
        settings=_of("clips"),
    ),
    Stage(
        "captions", "fusing captions", 1, ("speech", "scene", "slides"), fuse, skip=nothing_to_fuse, model=_minds("language"),
        settings=_of("graph"),
    ),
    Stage(
        "graph", "relating", 1, ("speech", "scene", "captions", "slides"), relate, skip=nobody_named, model=_minds("language"),
        settings=_of("graph"),
    ),
    Stage("summary", "summarising", 1, _UNDERSTOOD, summarise, model=_minds("language"), settings=_of("summary")),
    Stage("index", "indexing", 1, (*_UNDERSTOOD, "changes", "summary"), index, model=_embedders),
)  # fmt: skip
"""The order in which they stand is the order in which they start where nothing else decides."""
