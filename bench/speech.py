"""Hearing, measured: word error and time against the plain recogniser, side by side in one process.

    python bench/speech.py DATA [NAME ...] [--plain]

DATA is a folder of test material (audio/*.wav|flac with a .txt beside each, lectures/*.mp4 with .json truth). Times are
processor seconds of this process, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from videmus.config import Settings
from videmus.media.audio import AudioReader
from videmus.models import weights
from videmus.models.speech import SpeechMinds
from videmus.perceive.speech import hear


def words(text: str) -> list[str]:
    """Lower-case words without punctuation but for marks inside numbers."""
    return re.findall(r"\d+(?:[.,:]\d+)+|\w+", text.lower().replace("’", "'").replace("'", ""))


def word_error(said: str, heard: str) -> float:
    """Edits from one text to the other, by words, for each word that was said."""
    truth, found = words(said), words(heard)
    row = list(range(len(found) + 1))
    for i, x in enumerate(truth, 1):
        left, row[0] = row[0], i
        for j, y in enumerate(found, 1):
            left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, left + (x != y))
    return row[-1] / len(truth)


def material(data: Path) -> dict[str, tuple[Path, str]]:
    """Files by name, each with what is said in it."""
    found = {}
    for text in sorted((data / "audio").glob("*.txt")):
        sound = next((p for s in (".wav", ".flac") if (p := text.with_suffix(s)).is_file()), None)
        if sound is not None:
            found[text.stem] = (sound, text.read_text("utf-8"))
    for truth in sorted((data / "lectures").glob("*.json")):
        utterances = json.loads(truth.read_text("utf-8")).get("utterances")
        if utterances and truth.with_suffix(".mp4").is_file():
            found[truth.stem] = (truth.with_suffix(".mp4"), " ".join(u["text"] for u in utterances))
    return found


def plain(path: Path) -> str:
    """The recogniser alone, as its own documentation calls it, on the whole sound, unlevelled."""
    from faster_whisper import WhisperModel

    model = WhisperModel(
        str(weights.folder(weights.TINY_EN)), device="cpu", compute_type="int8", cpu_threads=Settings().models.threads
    )
    sound = np.concatenate(list(AudioReader(path)))
    segments, _ = model.transcribe(
        sound, language="en", beam_size=1, condition_on_previous_text=False, vad_filter=True, word_timestamps=True
    )
    return " ".join(segment.text for segment in segments)


def ours(path: Path) -> str:
    settings = Settings()
    return " ".join(row.text for row in hear(path, "bench", SpeechMinds(settings.models), settings))


def timed(hearing: Callable[[Path], str], path: Path) -> tuple[str, float]:
    begun = time.process_time()
    return hearing(path), time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*", help="only these files")
    parser.add_argument("--plain", action="store_true", help="also the recogniser alone")
    arguments = parser.parse_intermixed_args()
    print(f"{'file':28} {'error':>7} {'CPU s':>7}" + ("   plain error   CPU s   ratio" if arguments.plain else ""))
    for name, (path, said) in material(arguments.data).items():
        if arguments.names and name not in arguments.names:
            continue
        text, seconds = timed(ours, path)
        line = f"{name:28} {word_error(said, text):7.3f} {seconds:7.1f}"
        if arguments.plain:
            alone, alone_seconds = timed(plain, path)
            line += f"   {word_error(said, alone):11.3f} {alone_seconds:7.1f} {seconds / alone_seconds:7.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
