"""What a video's summary is made from: its pieces in order of time, each a text with the evidence that it stands for.

Slides' consolidated texts and described clips, and what was said outside of them; without either, the speech in stretches;
of a silent video, what was on screen or seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from videmus.model import Evidence, EvidenceKind

STRETCH_MS = 60_000
STRETCH_GAP_MS = 8_000
"""Speech is taken in stretches of about a minute, ended early by a pause: some five sentences, one thought."""


@dataclass(frozen=True, slots=True)
class Piece:
    start_ms: int
    end_ms: int
    text: str
    rows: tuple[Evidence, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(row.id for row in self.rows)


def pieces(rows: Iterable[Evidence]) -> list[Piece]:
    """The pieces of one video, none without text."""
    by_kind: dict[EvidenceKind, list[Evidence]] = {}
    for row in rows:
        if row.text.strip():
            by_kind.setdefault(row.kind, []).append(row)
    told = [*by_kind.get("consolidated", []), *by_kind.get("clip", [])]
    speech = [r for r in by_kind.get("speech", []) if not _within((r.start_ms + r.end_ms) // 2, told)]
    found = [Piece(row.start_ms, row.end_ms, row.text, (row,)) for row in told] + _stretches(speech)
    if not found:
        found = _stretches(by_kind.get("screen", []) or by_kind.get("scene", []))
    return sorted(found, key=lambda p: (p.start_ms, p.end_ms))


def _within(at_ms: int, spans: Sequence[Evidence]) -> bool:
    return any(span.start_ms <= at_ms < span.end_ms for span in spans)


def _stretches(rows: Sequence[Evidence]) -> list[Piece]:
    groups: list[list[Evidence]] = []
    for row in sorted(rows, key=lambda r: (r.start_ms, r.id)):
        last = groups[-1] if groups else None
        if last and row.end_ms - last[0].start_ms <= STRETCH_MS and row.start_ms - last[-1].end_ms <= STRETCH_GAP_MS:
            last.append(row)
        else:
            groups.append([row])
    return [Piece(g[0].start_ms, max(r.end_ms for r in g), " ".join(r.text for r in g), tuple(g)) for g in groups]
