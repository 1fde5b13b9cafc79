"""What was said: a file's sound, or its subtitles, as rows of speech with their times.

Enters: a path, the recognisers, settings. Leaves: evidence of kind speech, as it is recognised. Sound streams through: it
is levelled, searched for voices, cut at pauses into chunks, recognised a few chunks at a time, and split into sentences.
Memory does not grow with the length, and silence costs next to nothing.

Every step is a function of the sound alone, so that a run that goes on after an interruption cuts the same chunks and
need not recognise again what came before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import exp, log
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from videmus.config import Settings, SpeechSettings
from videmus.media.audio import AudioReader, same_language
from videmus.media.probe import probe
from videmus.model import Evidence, Origin, SpeechDetail, Word, evidence_id
from videmus.models.speech import RATE, Heard, SpeechMinds, SpeechRecogniser
from videmus.perceive.leveling import levelled
from videmus.perceive.sentences import Spoken, joined_cues, rows, without_loops
from videmus.perceive.voiced import Chunk, chunks

STAGE = "speech"
VERSION = 1
BLOCK = 30 * RATE
NOBODY = "nobody speaks in it"

_SELDOM = frozenset(
    {"ba", "bo", "br", "cy", "fo", "haw", "ht", "jw", "la", "ln", "mg", "mi", "nn", "oc", "sa", "sn", "su"}
)
"""Languages, of those that Whisper knows, in which lectures are rarest."""

Progress = Callable[[int, int], None]


class SpeechHolder(Protocol):
    """Whatever holds the speech models (`models.minds.Minds`)."""

    @property
    def speech(self) -> SpeechMinds: ...


class TimedText(Protocol):
    """A subtitle cue, as `media.captions.Cue` is one."""

    @property
    def start_ms(self) -> int: ...
    @property
    def end_ms(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def speaker(self) -> str | None: ...
    @property
    def words(self) -> tuple[Word, ...]: ...


def hear(
    path: str | Path,
    video: str,
    minds: SpeechHolder | SpeechMinds,
    settings: Settings,
    *,
    language: str | None = None,
    speech_model: str | None = None,
    done: Iterable[Any] = (),
    progress: Progress | None = None,
    notice: Callable[[str], None] | None = None,
) -> Iterator[Evidence]:
    """Rows of speech in the order of time, in the file's own time.

    `language` is told or detected; a track of that language is heard where there are several. `done` are the rows that an
    earlier run committed: chunks before the last of them are not recognised again. `progress` is told milliseconds done
    and in all; `notice` what a person should know (nobody speaks, damaged sound).

    Raises MediaError for sound that cannot be read, ModelError for a recogniser that is not there, UsageError for an
    English-only model that is told to hear another language.
    """
    speech = minds if isinstance(minds, SpeechMinds) else minds.speech
    name = speech_model or settings.models.speech
    earlier = [row for row in done if isinstance(row, Evidence)]
    resume = max((row.start_ms for row in earlier), default=-1)
    told = language.lower().split("-")[0] if language else None
    if told is not None:
        speech.recogniser(told, name)  # a wrong combination is said before anything is read
    held = probe(path)
    track = next((s.index for s in held.audio if told and same_language(told, s.language)), None)
    known = told or next((r.detail.language for r in earlier if isinstance(r.detail, SpeechDetail)), None)
    if known is None:
        known = detected_language(path, held.duration_ms, speech, settings.speech, name=name, track=track)

    reader = AudioReader(path, track=track, block=BLOCK)
    found = 0
    pieces = chunks(levelled(reader, settings.speech), speech.voice, settings.speech)
    # One chunk, then 2, 4, …: how fast it goes is known long before a whole batch; a language is told by all of one.
    together = 1 if known else settings.speech.batch
    while group := list(islice(pieces, min(together, settings.speech.batch))):
        together *= 2
        if group[-1].end_ms > resume:
            if known is None:  # nobody spoke where the language was looked for
                known = _language_of(group, speech, settings.speech, name)
            recogniser = speech.recogniser(known, name)
            for words in _words(group, recogniser, known, settings.speech):
                for row in rows(words, settings.speech):
                    found += 1
                    yield _evidence(video, row, recogniser, known, settings.speech)
        else:
            found += 1
        if progress is not None:
            progress(min(group[-1].end_ms, held.duration_ms), held.duration_ms)
    if notice is not None:
        if not found:
            notice(NOBODY)
        if reader.corrupt:
            notice(f"{reader.corrupt} damaged packets of sound were left out")


def from_cues(
    video: str,
    cues: Iterable[TimedText],
    *,
    language: str | None = None,
    settings: SpeechSettings | None = None,
) -> Iterator[Evidence]:
    """Rows of speech out of subtitle cues: pieces of one sentence joined, speakers and long cues kept."""
    settings = settings or SpeechSettings()
    pieces = (Spoken(c.start_ms, c.end_ms, c.text, c.words, c.speaker) for c in cues if c.text.strip())
    for row in joined_cues(pieces, settings):
        detail = SpeechDetail(words=row.words, language=language)
        yield _row(video, row, Origin(STAGE, VERSION, None, {"from": "subtitles"}), detail)


# ---------------------------------------------------------------- which language


def detected_language(
    path: str | Path,
    duration_ms: int,
    speech: SpeechMinds,
    settings: SpeechSettings,
    *,
    name: str = "",
    track: int | None = None,
) -> str | None:
    """The language by the sum of probabilities over a few voiced windows spread over the file; None where no voice is.

    At most twice `language_windows` places are looked at, from the middle outwards.
    """
    heard: list[Mapping[str, float]] = []
    for share in _places(2 * settings.language_windows if duration_ms > 90_000 else 1):
        start_ms = round(share * duration_ms) if duration_ms > 90_000 else 0
        window = _voiced_window(path, start_ms, speech, settings, track)
        if window is None:
            continue
        heard.append(speech.detector(name).languages(window))
        language, probability = _most_likely(heard, settings)
        if len(heard) == settings.language_windows or (len(heard) > 1 and probability >= settings.language_sure):
            return language
    return _most_likely(heard, settings)[0] if heard else None


def _language_of(group: Sequence[Chunk], speech: SpeechMinds, settings: SpeechSettings, name: str) -> str:
    heard = [speech.detector(name).languages(chunk.samples) for chunk in group]
    return _most_likely(heard, settings)[0]


def _places(count: int) -> list[float]:
    """Shares of the length: 1/2, 1/4, 3/4, 1/8, … (van der Corput's sequence in base 2)."""
    shares = []
    for number in range(1, count + 1):
        share, weight = 0.0, 0.5
        while number:
            share += weight * (number & 1)
            number >>= 1
            weight /= 2
        shares.append(share)
    return shares


def _voiced_window(
    path: str | Path, start_ms: int, speech: SpeechMinds, settings: SpeechSettings, track: int | None
) -> Any | None:
    """Up to 30 s of voiced sound out of the minute after `start_ms`; None for less than 2 s."""
    reader = AudioReader(path, track=track, start_ms=start_ms, block=BLOCK)
    minute = islice(reader, 2)
    found = next(chunks(levelled(minute, settings), speech.voice, settings), None)
    return found.samples if found is not None and len(found.samples) >= 2 * RATE else None


def _most_likely(heard: Sequence[Mapping[str, float]], settings: SpeechSettings) -> tuple[str, float]:
    """The language of the highest mean probability; English where the model knows no other.

    Whisper takes accents for languages that hardly anyone lectures in (Latin, Welsh, Nynorsk): those need certainty.
    """
    means: dict[str, float] = {}
    for probabilities in heard:
        for language, probability in probabilities.items():
            means[language] = means.get(language, 0.0) + probability / len(heard)
    likely = {k: v for k, v in means.items() if k not in _SELDOM or v >= settings.language_seldom}
    return max((likely or means).items(), key=lambda pair: pair[1], default=("en", 1.0))


# ---------------------------------------------------------------- from a chunk to rows


ATTEMPTS = 3
"""How often in all a recogniser is asked about the same sound: it may stop early at each change of speaker."""

LONGEST_WORD = 1.5
"""Seconds: a longer word was stretched over something that was left out."""


def _words(
    group: Sequence[Chunk], recogniser: SpeechRecogniser, language: str, settings: SpeechSettings
) -> list[list[Word]]:
    """The words of each chunk in the video's time, in order; what was left out of a chunk is asked for again."""
    found: list[list[Word]] = [[] for _ in group]
    asked = list(enumerate(group))
    for _ in range(ATTEMPTS):
        again: list[tuple[int, Chunk]] = []
        for (index, piece), heard in zip(
            asked, recogniser.recognise([piece.samples for _, piece in asked], language), strict=True
        ):
            if not _is_silence(piece, heard, settings):
                found[index] += _said(piece, heard, settings)
                again += [(index, hole) for hole in _holes(piece, heard, settings)]
        asked = again
        if not asked:
            break
    return [without_loops(sorted(words, key=lambda w: (w.start_ms, w.end_ms))) for words in found]


def _said(chunk: Chunk, heard: Heard, settings: SpeechSettings) -> list[Word]:
    """The words of a chunk without those of sentences that nobody spoke."""
    words = []
    for word in heard.words:
        start_ms = chunk.at_ms(word.start)
        end_ms = max(start_ms, chunk.at_ms(word.end, end=True))
        words.append(Word(start_ms, end_ms, word.text, round(word.probability, 3)))
    imagined = [row for row in rows(words, settings) if _is_imagined(chunk, row, heard, settings)]
    return [w for w in words if not any(row.start_ms <= w.start_ms and w.end_ms <= row.end_ms for row in imagined)]


def _holes(chunk: Chunk, heard: Heard, settings: SpeechSettings) -> list[Chunk]:
    """The parts of a chunk that hold a voice and of which the recogniser said nothing, though it did of the rest."""
    if not heard.words:
        return []
    length = len(chunk.samples) / RATE
    ends = [0.0, *(min(w.end, w.start + LONGEST_WORD) for w in heard.words)]
    starts = [*(w.start for w in heard.words), length]
    holes = [
        chunk.part(end, start)
        for end, start in zip(ends, starts, strict=True)
        if (start - end) * 1000 >= settings.hole_ms and end < length
    ]
    return [hole for hole in holes if hole.utterances and hole.voice >= settings.hole_voice]


def _is_silence(chunk: Chunk, heard: Heard, settings: SpeechSettings) -> bool:
    """Whisper's own rule; and what the voice detection doubts as well needs only half of that."""
    doubt = 1.0 if chunk.voice >= 0.7 else 0.5
    return (
        heard.no_speech > settings.no_speech * doubt and heard.log_probability < settings.silent_log_probability * doubt
    )


def _is_imagined(chunk: Chunk, row: Spoken, heard: Heard, settings: SpeechSettings) -> bool:
    """Text where no voice is, or a loop that is left after repetition was forbidden."""
    if chunk.voice_between(row.start_ms, row.end_ms) < settings.voiced:
        return True
    return heard.compression > settings.loop and _log_probability(row) < settings.silent_log_probability


def _log_probability(row: Spoken) -> float:
    """The mean log-probability of the row's words."""
    known = [w.probability for w in row.words if w.probability is not None]
    return float(np.mean([log(max(p, exp(-10))) for p in known])) if known else 0.0


def _evidence(
    video: str, row: Spoken, recogniser: SpeechRecogniser, language: str, settings: SpeechSettings
) -> Evidence:
    likely = round(_log_probability(row), 3)
    detail = SpeechDetail(row.words, language, likely, uncertain=likely < settings.uncertain)
    return _row(video, row, Origin(STAGE, VERSION, recogniser.name), detail)


def _row(video: str, row: Spoken, origin: Origin, detail: SpeechDetail) -> Evidence:
    end_ms = max(row.end_ms, row.start_ms + 1)
    identity = evidence_id(video, "speech", row.start_ms, end_ms, row.text, row.speaker)
    return Evidence(identity, video, row.start_ms, end_ms, "speech", row.text, origin, row.speaker, detail=detail)
