"""Slides of lectures with known truth, beside PySceneDetect: the table of docs/slides.md.

    python bench/segments.py LECTURES... [--footage FOLDER] [--peer PYTHON]

LECTURES are mp4 files with their truth beside them (NAME.json, as `evaluate.segmentation.read_made` reads it), or folders
of such; the footage folder's videos show no slide. PYTHON is an interpreter that has scenedetect 0.7.2; without it the peer is
left out. Times are the processor's, of change detection and slides without text recognition; recognition is told apart.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from videmus.config import Settings
from videmus.evaluate.segmentation import (
    PeerResult,
    Segmentation,
    Span,
    Truth,
    pyscenedetect,
    read_made,
    scored,
    spans_of,
    utterances_right,
)
from videmus.model import Evidence, Frame, Origin, Segment, Video
from videmus.models.text_recognition import RapidRecogniser
from videmus.perceive.changes import looks
from videmus.perceive.screen import read_screen
from videmus.segment.assign import assigned
from videmus.segment.slides import Asked, slides

VIDEO = {".mp4", ".avi", ".mkv", ".webm", ".mov"}


@dataclass(frozen=True)
class Found:
    """One video's slides and what they cost in seconds of the processor."""

    segments: list[Segment]
    looks: int
    read: int
    calls: int
    change_cpu: float
    change_wall: float
    slide_cpu: float
    reading_cpu: float


def found_in(file: Path) -> Found:
    settings = Settings()
    recogniser = RapidRecogniser(settings.reading, threads=1)
    pictures: dict[str, bytes] = {}
    frames: list[Frame] = []
    spent = [0.0, 0.0]

    def seen() -> Iterator[tuple[Frame, NDArray[np.uint8]]]:
        source = looks(file, file.stem, settings.screen)
        while True:
            cpu, wall = time.process_time(), time.perf_counter()
            look = next(source, None)
            spent[0] += time.process_time() - cpu
            spent[1] += time.perf_counter() - wall
            if look is None:
                return
            held = io.BytesIO()
            Image.fromarray(look.image).save(held, "JPEG", quality=90)
            pictures[look.frame.id] = held.getvalue()
            frames.append(look.frame)
            yield look.frame, look.image

    begin = time.process_time()
    rows = list(read_screen(file.stem, seen(), recogniser, settings.reading))
    reading = time.process_time() - begin - spent[0]
    begin = time.process_time()
    asked = Asked()
    video = Video(file.stem, "", file.stem, frames[-1].look.end_ms if frames[-1].look else 0, str(file))
    segments = list(
        slides(
            video,
            frames,
            lambda f: np.asarray(Image.open(io.BytesIO(pictures[f.id]))),
            rows,
            settings.slides,
            asked=asked,
        )
    )
    return Found(
        segments,
        len(frames),
        recogniser.counts.pages + recogniser.counts.parts,
        asked.calls,
        spent[0],
        spent[1],
        time.process_time() - begin,
        reading,
    )


def utterances(truth: Truth, segments: list[Segment]) -> float:
    rows = [
        Evidence(str(i), "v", u.start_ms, u.end_ms, "speech", "", Origin("truth"))
        for i, u in enumerate(truth.utterances)
    ]
    by_id = {s.id: s for s in segments}
    chosen = assigned(rows, segments)
    spans: list[Span | None] = []
    for row in rows:
        segment = by_id.get(chosen.get(row.id, ""))
        spans.append(Span(segment.start_ms, segment.end_ms, segment.slide) if segment else None)
    return utterances_right(truth, spans_of(segments), spans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lectures", nargs="+", type=Path)
    parser.add_argument("--footage", type=Path)
    parser.add_argument("--peer", help="the interpreter of an environment with scenedetect")
    arguments = parser.parse_args()
    files = [f for path in arguments.lectures for f in _videos(path) if f.with_suffix(".json").is_file()]
    adaptive: list[PeerResult] = []
    content: list[PeerResult] = []
    print(
        "| lecture | true | F1 | IoU | invented | boundary s | identity | utterances | read per slide | "
        "change s | reading s | AdaptiveDetector s | ContentDetector F1 / IoU / invented |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    totals: list[tuple[Segmentation, Found, float]] = []
    missed = []
    for file in files:
        truth = _truth(file)
        found = found_in(file)
        peer = _peer(arguments.peer, file, adaptive, content)
        score = scored(truth, spans_of(found.segments))
        said = utterances(truth, found.segments) if truth.utterances else float("nan")
        totals.append((score, found, said))
        error = "–" if score.boundary_error_ms is None else f"{score.boundary_error_ms / 1000:.2f}"
        cells = [
            file.stem, str(score.true), f"{score.f1:.3f}", f"{score.iou:.3f}", str(score.invented), error,
            f"{score.identity_f1:.3f}", f"{said:.3f}", f"{found.read / max(1, score.true):.2f}",
            f"{found.change_cpu + found.slide_cpu:.1f}", f"{found.reading_cpu:.1f}", *_peer_cells(truth, peer),
        ]  # fmt: skip
        print("| " + " | ".join(cells) + " |", flush=True)
        missed += _missed(file.stem, truth, found.segments)
    _total(totals, adaptive)
    for line in missed:
        print(line)
    if arguments.footage:
        print()
        for file in _videos(arguments.footage):
            print(f"{file.name}: {len(found_in(file).segments)} slides", flush=True)


def _truth(file: Path) -> Truth:
    return read_made(file.with_suffix(".json"))


def _videos(path: Path) -> list[Path]:
    return sorted(f for f in path.iterdir() if f.suffix in VIDEO) if path.is_dir() else [path]


def _peer(python: str | None, file: Path, adaptive: list[PeerResult], content: list[PeerResult]) -> PeerResult | None:
    if python is None:
        return None
    adaptive += pyscenedetect(python, [file], "adaptive")
    content += pyscenedetect(python, [file], "content")
    return content[-1]


def _peer_cells(truth: Truth, peer: PeerResult | None) -> list[str]:
    if peer is None:
        return ["–", "–"]
    score = scored(truth, peer.spans)
    return [f"{peer.cpu_seconds:.1f}", f"{score.f1:.3f} / {score.iou:.3f} / {score.invented}"]


def _total(totals: list[tuple[Segmentation, Found, float]], adaptive: list[PeerResult]) -> None:
    scores = [s for s, _, _ in totals]
    ours = sum(f.change_cpu + f.slide_cpu for _, f, _ in totals)
    reading = sum(f.reading_cpu for _, f, _ in totals)
    errors = [s.boundary_error_ms for s in scores if s.boundary_error_ms is not None]
    said = [u for _, _, u in totals if u == u]
    print(
        f"\nmean F1 {np.mean([s.f1 for s in scores]):.3f}, IoU {np.mean([s.iou for s in scores]):.3f}, "
        f"identity {np.mean([s.identity_f1 for s in scores]):.3f}, boundary {np.mean(errors) / 1000:.2f} s, "
        f"invented {sum(s.invented for s in scores)}, utterances {np.mean(said):.3f}, "
        f"read per slide {sum(f.read for _, f, _ in totals) / max(1, sum(s.true for s in scores)):.2f}, "
        f"vision calls {sum(f.calls for _, f, _ in totals)}"
    )
    print(f"change detection and slides {ours:.1f} s, with reading {ours + reading:.1f} s", end="")
    if adaptive:
        peer = sum(p.cpu_seconds for p in adaptive)
        print(
            f"; AdaptiveDetector {peer:.1f} s: {peer / ours:.1f} and {peer / (ours + reading):.1f} times as long",
            end="",
        )
    print()


def _missed(name: str, truth: Truth, segments: list[Segment]) -> list[str]:
    """True showings that no segment detects, with what was found there."""
    lines = []
    for span in truth.spans:
        near = [s for s in segments if s.start_ms < span.end_ms and s.end_ms > span.start_ms]
        share = [
            (min(s.end_ms, span.end_ms) - max(s.start_ms, span.start_ms))
            / (max(s.end_ms, span.end_ms) - min(s.start_ms, span.start_ms))
            for s in near
        ]
        if max(share, default=0.0) < 0.5:
            there = ", ".join(f"{s.start_ms / 1000:.1f}–{s.end_ms / 1000:.1f} {s.title!r}" for s in near) or "nothing"
            lines.append(
                f"missed in {name}: {span.slide} at {span.start_ms / 1000:.1f}–{span.end_ms / 1000:.1f} s; found {there}"
            )
    return lines


if __name__ == "__main__":
    main()
