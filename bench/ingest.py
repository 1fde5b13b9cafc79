"""The whole ingest of a lecture beside its speech recogniser alone and beside a naive pipeline, in one run.

    python bench/ingest.py VIDEO [--naive] [--threads 2]

Prints seconds and ratios: `ingest` is `videmus add` into a new library in a process of its own, with its peak memory; `speech` is
faster-whisper's `transcribe` with its own voice detection over the same file, the same model and threads; `naive` (estimated
from a tenth of the pages unless --naive) recognises speech without levelling and reads a page every 2 s, with the same
embeddings. `bound` is what no ingest can beat here: the recogniser and one page for each slide shown.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from videmus.config import Settings
from videmus.media.decode import frames_at
from videmus.media.probe import probe
from videmus.models import text_embedding, text_recognition, weights
from videmus.segment.passages import spans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video", type=Path)
    parser.add_argument("--naive", action="store_true", help="read every page of the naive pipeline, not a tenth")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    ours = ingest(arguments.video)
    recogniser, text = speech_alone(arguments.video, arguments.threads)
    page, pages = naive_pages(arguments.video, arguments.threads, 1 if arguments.naive else 10)
    embedding = embedded(text)
    naive = recogniser + page * pages + embedding
    bound = recogniser + page * ours["slides"]
    print(json.dumps({**ours, "speech_alone_s": round(recogniser, 1), "page_s": round(page, 2), "naive_pages": pages}))
    print(f"ingest / speech recogniser alone   {ours['ingest_s'] / recogniser:.2f}")
    print(f"naive / ingest                     {naive / ours['ingest_s']:.2f}")
    print(f"naive / bound (speech + a page a slide)  {naive / bound:.2f}")


def ingest(video: Path) -> dict[str, Any]:
    """`videmus add` as a user runs it: seconds, seconds by stage, slides, and its peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "videmus", "--library", f"{folder}/library", "--json", "--quiet"]
        began = time.monotonic()
        added = subprocess.run(
            [*command, "add", "--transcribe", str(video)], capture_output=True, check=True, text=True
        )
        seconds = time.monotonic() - began
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        (document,) = json.loads(added.stdout)["videos"]
        shown = subprocess.run([*command, "show", document["id"]], capture_output=True, check=True, text=True)
        slides = [s for s in json.loads(shown.stdout)["segments"] if s["kind"] == "slide"]
    stages = {s["name"]: round(s["seconds"], 1) for s in document["stages"] if s["seconds"] >= 0.1}
    return {
        "minutes": round(document["duration_ms"] / 60_000, 1), "state": document["state"], "ingest_s": round(seconds, 1),
        "peak_mb": round(peak), "slides": len({s["slide"] for s in slides}), "stages": stages,
    }  # fmt: skip


def speech_alone(video: Path, threads: int) -> tuple[float, str]:
    """Seconds of faster-whisper over the file as it is, and what it heard."""
    from faster_whisper import WhisperModel

    model = WhisperModel(str(weights.folder("whisper-tiny.en")), compute_type="int8", cpu_threads=threads)
    began = time.monotonic()
    found, _ = model.transcribe(
        str(video), language="en", beam_size=1, vad_filter=True, condition_on_previous_text=False, word_timestamps=True
    )
    text = " ".join(segment.text for segment in found)
    return time.monotonic() - began, text


def naive_pages(video: Path, threads: int, every: int) -> tuple[float, int]:
    """Seconds of one page of one frame every 2 s, decoding included, and how many of them the file has."""
    times = list(range(0, probe(video).duration_ms, 2000))
    recogniser = text_recognition.RapidRecogniser(Settings().reading, threads=threads)
    began = time.monotonic()
    for picture in frames_at(video, times[::every]):
        recogniser.read(picture.rgb)
    return (time.monotonic() - began) / len(times[::every]), len(times)


def embedded(text: str) -> float:
    embedder = text_embedding.load(Settings())
    began = time.monotonic()
    embedder.embed([text[first:last] for first, last in spans(text)])
    return time.monotonic() - began


if __name__ == "__main__":
    main()
