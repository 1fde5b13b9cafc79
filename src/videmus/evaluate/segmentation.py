"""How well slides are found: segments, boundaries, identity, utterances; readers for human labels; PySceneDetect beside us.

Enters: true and found segments, in milliseconds. Leaves: figures. The measures are those by which the project's bars are
set: a found segment detects a true one when they share at least half of their union, one to one, most alike first.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from videmus.errors import UsageError, VidemusError
from videmus.model import Segment

NEAR_MS = 750
"""Edges closer together are one; nor are those an edge so near to the video's start or end; shorter blanks are none."""


@dataclass(frozen=True, slots=True)
class Span:
    """One showing of a slide. `slide` is equal for showings of one slide; None is a slide of which nothing is known."""

    start_ms: int
    end_ms: int
    slide: str | int | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """A video's true showings and, where known, the slide that was on screen for each utterance (None: no slide)."""

    duration_ms: int
    spans: tuple[Span, ...]
    utterances: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Segmentation:
    """`iou` is the mean over all true segments, 0 for one that nobody found; `invented` counts found segments that lie
    mostly where no slide is shown, which enter neither precision nor recall; `boundary_error_ms` is None where no boundary
    was found. `identity_f1` is over pairs of detected segments: are those of one slide said to be one?"""

    true: int
    found: int
    invented: int
    precision: float
    recall: float
    f1: float
    iou: float
    boundary_f1: float
    boundary_error_ms: float | None
    identity_f1: float


def spans_of(segments: Iterable[Segment]) -> list[Span]:
    return [Span(s.start_ms, s.end_ms, s.slide) for s in segments if s.kind == "slide"]


def scored(truth: Truth, found: Sequence[Span], tolerance_ms: int = 1_000) -> Segmentation:
    """The figures of one video. A boundary is found at most `tolerance_ms` away, one to one, nearest first."""
    true = sorted(truth.spans, key=lambda s: (s.start_ms, s.end_ms))
    found = sorted(found, key=lambda s: (s.start_ms, s.end_ms))
    pairs = _matched(
        (-_union_share(t, f), i, j)
        for i, t in enumerate(true)
        for j, f in enumerate(found)
        if _union_share(t, f) >= 0.5
    )
    detected = {j for _, _, j in pairs}
    blanks = _blanks(true, truth.duration_ms)
    invented = [
        j
        for j, f in enumerate(found)
        if j not in detected and sum(_shared(f, b) for b in blanks) > 0.5 * (f.end_ms - f.start_ms)
    ]
    precision, recall, f1 = _precision_recall(len(pairs), len(found) - len(invented), len(true))
    true_edges, found_edges = _edges(true, truth.duration_ms), _edges(found, truth.duration_ms)
    hits = _matched(
        (abs(t - f), i, j)
        for i, t in enumerate(true_edges)
        for j, f in enumerate(found_edges)
        if abs(t - f) <= tolerance_ms
    )
    return Segmentation(
        true=len(true),
        found=len(found),
        invented=len(invented),
        precision=precision,
        recall=recall,
        f1=f1,
        iou=sum(-c for c, _, _ in pairs) / len(true) if true else 1.0,
        boundary_f1=_precision_recall(len(hits), len(found_edges), len(true_edges))[2],
        boundary_error_ms=sum(c for c, _, _ in hits) / len(hits) if hits else None,
        identity_f1=_identity(true, found, pairs),
    )


def utterances_right(truth: Truth, found: Sequence[Span], assigned: Sequence[Span | None]) -> float:
    """The share of the truth's utterances on a slide that were assigned to a showing of that slide. `assigned` names the found
    segment of each utterance; a found segment stands for the true one that it shares most time with."""
    stands_for: dict[Span, str | int | None] = {}
    for span in found:
        best = max(truth.spans, key=lambda t: _shared(t, span), default=None)
        stands_for[span] = best.slide if best is not None and _shared(best, span) > 0 else None
    asked = [(u, a) for u, a in zip(truth.utterances, assigned, strict=True) if u.slide is not None]
    right = sum(a is not None and stands_for.get(a) == u.slide for u, a in asked)
    return right / len(asked) if asked else 1.0


def _identity(true: Sequence[Span], found: Sequence[Span], pairs: Sequence[tuple[float, int, int]]) -> float:
    both = [
        (
            true[i].slide is not None and true[i].slide == true[k].slide,
            found[j].slide is not None and found[j].slide == found[m].slide,
        )
        for (_, i, j), (_, k, m) in combinations(pairs, 2)
    ]
    return _precision_recall(sum(t and f for t, f in both), sum(f for _, f in both), sum(t for t, _ in both))[2]


def _matched(candidates: Iterable[tuple[float, int, int]]) -> list[tuple[float, int, int]]:
    """One-to-one pairs of (cost, i, j), cheapest first."""
    left: set[int] = set()
    right: set[int] = set()
    chosen = []
    for cost, i, j in sorted(candidates):
        if i not in left and j not in right:
            left.add(i)
            right.add(j)
            chosen.append((cost, i, j))
    return chosen


def _shared(a: Span, b: Span) -> int:
    return max(0, min(a.end_ms, b.end_ms) - max(a.start_ms, b.start_ms))


def _union_share(a: Span, b: Span) -> float:
    whole = max(a.end_ms, b.end_ms) - min(a.start_ms, b.start_ms)
    return _shared(a, b) / whole if whole else 0.0


def _blanks(spans: Sequence[Span], duration_ms: int) -> list[Span]:
    found, at = [], 0
    for start, end in [*((s.start_ms, s.end_ms) for s in spans), (duration_ms, duration_ms)]:
        if start - at > NEAR_MS:
            found.append(Span(at, start))
        at = max(at, end)
    return found


def _edges(spans: Sequence[Span], duration_ms: int) -> list[int]:
    found: list[int] = []
    for edge in sorted({e for s in spans for e in (s.start_ms, s.end_ms)}):
        if NEAR_MS < edge < duration_ms - NEAR_MS and (not found or edge - found[-1] >= NEAR_MS):
            found.append(edge)
    return found


def _precision_recall(hits: int, found: int, true: int) -> tuple[float, float, float]:
    precision = hits / found if found else float(not true)
    recall = hits / true if true else float(not found)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# ---------------------------------------------------------------- human labels


def read_made(file: Path) -> Truth:
    """The truth of a made lecture: {"video": {"duration"}, "slide_runs": [{"start", "end", "slide_id"}], "utterances"?}, in
    seconds. Raises UsageError for another shape."""
    data = _json(file)
    try:
        runs = [Span(_ms(r["start"]), _ms(r["end"]), r["slide_id"]) for r in data["slide_runs"]]
        said = [Span(_ms(u["start"]), _ms(u["end"]), u.get("slide_id")) for u in data.get("utterances", ())]
        duration = _ms(data["video"]["duration"])
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(file, "a made lecture's truth", error) from error
    return Truth(duration, tuple(r for r in runs if r.slide is not None and r.end_ms > r.start_ms), tuple(said))


def read_mavils(file: Path) -> Mapping[str, Truth]:
    """{lecture: truth} of a MaViLS label file (Anderer et al. 2025): each utterance names the page on screen, -1 for none; pages
    of one group (`page_groups`: they only add to or recolour the one before) are one slide, named by its first page.
    Raises UsageError for another shape."""
    found = {}
    for name, lecture in _json(file).items():
        try:
            first = {page: group[0] for group in lecture.get("page_groups", ()) for page in group}
            said = []
            for u in lecture["utterances"]:
                slide = first.get(u["slide"], u["slide"]) if u["slide"] > 0 else None
                said.append(Span(_ms(u["start"]), _ms(u["end"]), slide))
            found[name] = Truth(_ms(lecture["duration"]), tuple(_runs(said)), tuple(said))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise _unreadable(file, "MaViLS labels", error) from error
    return found


def _runs(said: Sequence[Span]) -> Iterable[Span]:
    """Utterances on one slide, with nothing else between, are one showing; it lasts until the next one's slide begins."""
    changes = [u for i, u in enumerate(said) if i == 0 or u.slide != said[i - 1].slide]
    for i, change in enumerate(changes):
        end = changes[i + 1].start_ms if i + 1 < len(changes) else said[-1].end_ms
        if change.slide is not None and end > change.start_ms:
            yield Span(change.start_ms, end, change.slide)


def read_m3av(folder: Path) -> Truth:
    """The truth of an M3AV lecture (Chen et al. 2024): `ocr/seg_speech_ocr.json` has a segment for each slide, in seconds,
    `speech/final+timestamps.json` utterances ("start_end" in milliseconds). Raises UsageError for another shape."""
    segments, speech = folder / "ocr" / "seg_speech_ocr.json", folder / "speech" / "final+timestamps.json"
    try:
        spans = tuple(Span(_ms(s["start"]), _ms(s["end"]), Path(s["name"]).stem) for s in _json(segments))
        times = [re.fullmatch(r"(\d+)_(\d+)", u["timestr"]) for u in _json(speech)] if speech.is_file() else []
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(segments, "an M3AV lecture", error) from error
    said = []
    for match in times:
        if match is None:
            raise UsageError("an utterance has no times", where=str(speech), next='they read "0005730_0013690"')
        start, end = int(match[1]), int(match[2])
        said.append(Span(start, end, next((s.slide for s in spans if s.start_ms <= start < s.end_ms), None)))
    return Truth(max((s.end_ms for s in spans), default=0), spans, tuple(said))


def _ms(seconds: float) -> int:
    return round(float(seconds) * 1000)


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(
            f"the file cannot be read: {error.strerror}", where=str(file), next="check the path"
        ) from error
    except ValueError as error:
        raise _unreadable(file, "a JSON document", error) from error


def _unreadable(file: Path, what: str, error: Exception) -> UsageError:
    return UsageError(f"this is not {what}: {error!r}", where=str(file), next="name a file of that kind")


# ---------------------------------------------------------------- the peer

PEER = """
import json, sys, time
from scenedetect import AdaptiveDetector, ContentDetector, SceneManager, open_video
content = sys.argv[1] == "content"
for path in sys.argv[2:]:
    begin, cpu = time.perf_counter(), time.process_time()
    manager = SceneManager()
    manager.add_detector(ContentDetector(threshold=12) if content else AdaptiveDetector(adaptive_threshold=1, min_content_val=10))
    video = open_video(path)
    manager.detect_scenes(video)
    scenes = [(a.seconds, b.seconds) for a, b in manager.get_scene_list(start_in_scene=True)]
    print(json.dumps([scenes, time.perf_counter() - begin, time.process_time() - cpu]))
"""


@dataclass(frozen=True, slots=True)
class PeerResult:
    """PySceneDetect's scenes of one video, and what they cost: seconds by the clock and of the processor."""

    spans: tuple[Span, ...]
    seconds: float
    cpu_seconds: float


def pyscenedetect(
    python: str, files: Sequence[Path], detector: str = "adaptive", run: Callable[..., Any] = subprocess.run
) -> list[PeerResult]:
    """PySceneDetect's scenes with the settings that PreMind reports: "adaptive" (1 / 10), its first cut, or "content" (12), its
    best alone. `python` is the interpreter of an environment of its own that has scenedetect, which brings an OpenCV that
    would break ours. Raises VidemusError where that fails."""
    result = run([python, "-c", PEER, detector, *map(str, files)], capture_output=True, text=True, check=False)
    if result.returncode:
        raise VidemusError(
            f"PySceneDetect failed: {result.stderr.strip().splitlines()[-1] if result.stderr.strip() else 'no message'}",
            where=python,
            next="make an environment for it: python -m venv PEER && PEER/bin/pip install scenedetect==0.7.2 opencv-python",
        )
    found = []
    for line in result.stdout.splitlines():
        if line.startswith("["):
            scenes, seconds, cpu = json.loads(line)
            found.append(PeerResult(tuple(Span(_ms(a), _ms(b)) for a, b in scenes), seconds, cpu))
    return found
