"""Relations as files that other tools read: a table (CSV), and a graph for Gephi, yEd or networkx (GraphML)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from videmus import clock


@dataclass(frozen=True, slots=True)
class Edge:
    """One interval of one relation between two entities, by the clock where there is one (else the video's time)."""

    source: str
    source_kind: str
    relation: str
    target: str
    target_kind: str
    start: int
    end: int
    video: str
    evidence: str
    confidence: float


COLUMNS = (
    "source",
    "source_kind",
    "relation",
    "target",
    "target_kind",
    "start",
    "end",
    "video",
    "evidence",
    "confidence",
)


def as_csv(edges: Iterable[Edge]) -> str:
    """One line an edge. A cell that a spreadsheet would take for a formula begins with a quote."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for edge in edges:
        cells = [getattr(edge, name) for name in COLUMNS]
        cells[5:7] = [clock.format_clock(edge.start), clock.format_clock(edge.end)]
        writer.writerow([f"'{c}" if isinstance(c, str) and c[:1] in "=+-@\t" else c for c in cells])
    return out.getvalue()


def as_graphml(edges: Iterable[Edge]) -> str:
    edges = list(edges)
    nodes = {name: kind for e in edges for name, kind in ((e.source, e.source_kind), (e.target, e.target_kind))}
    attributes = {
        "relation": "string",
        "start": "string",
        "end": "string",
        "evidence": "string",
        "confidence": "double",
    }
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines.append('<key id="kind" for="node" attr.name="kind" attr.type="string"/>')
    lines += [f'<key id="{a}" for="edge" attr.name="{a}" attr.type="{t}"/>' for a, t in attributes.items()]
    lines.append('<graph edgedefault="directed">')
    lines += [f'<node id={_quoted(n)}><data key="kind">{_text(k)}</data></node>' for n, k in nodes.items()]
    for edge in edges:
        values = {
            "relation": edge.relation,
            "start": clock.format_clock(edge.start),
            "end": clock.format_clock(edge.end),
            "evidence": edge.evidence,
            "confidence": f"{edge.confidence:.3f}",
        }
        data = "".join(f'<data key="{name}">{_text(value)}</data>' for name, value in values.items())
        lines.append(f"<edge source={_quoted(edge.source)} target={_quoted(edge.target)}>{data}</edge>")
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def _text(value: str) -> str:
    return escape(_storable(value))


def _quoted(value: str) -> str:
    return quoteattr(_storable(value))


def _storable(value: str) -> str:
    """Without the control characters that XML cannot hold."""
    return "".join(c for c in value if c in "\t\n\r" or ord(c) >= 32)
