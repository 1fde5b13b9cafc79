"""The entity graph for other programs: GraphML for graph viewers, CSV for tables.

Enters: entities and relations as a scope sees them. Leaves: text. Every relation is an edge or line of its own, with its
times, its evidence id and what made it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from videmus import clock
from videmus.store.graph import Fact, Known

_NODE = (("name", "string"), ("kind", "string"), ("aliases", "string"), ("relations", "int"))
_EDGE = (
    ("relation", "string"), ("start", "string"), ("end", "string"), ("start_ms", "long"), ("end_ms", "long"),
    ("video", "string"), ("evidence", "string"), ("confidence", "double"), ("by_rules", "boolean"),
)  # fmt: skip


def graphml(entities: Sequence[Known], facts: Sequence[Fact], first_day: int | None = None) -> str:
    """A directed multigraph. Nodes are entities under their fullest names; edges are relations with their intervals."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for domain, columns in (("node", _NODE), ("edge", _EDGE)):
        for name, kind in columns:
            lines.append(f'  <key id="{domain}_{name}" for="{domain}" attr.name="{name}" attr.type="{kind}"/>')
    lines.append('  <graph edgedefault="directed">')
    known = {entity.id for entity in entities}
    for entity in entities:
        values = (entity.name, entity.kind, "; ".join(entity.aliases), entity.relations)
        lines.append(f"    <node id={quoteattr(entity.id)}>")
        lines += [_datum("node", name, value) for (name, _), value in zip(_NODE, values, strict=True)]
        lines.append("    </node>")
    for fact in facts:
        if fact.source_entity not in known or fact.target_entity not in known:
            continue
        ends = f"source={quoteattr(fact.source_entity)} target={quoteattr(fact.target_entity)}"
        lines.append(f"    <edge id={quoteattr(fact.id)} {ends}>")
        edge_values: tuple[object, ...] = (
            fact.relation, clock.format_clock(fact.start, first_day=first_day),
            clock.format_clock(fact.end, first_day=first_day), fact.start_ms, fact.end_ms, fact.video, fact.evidence,
            fact.confidence, str(fact.by_rules).lower(),
        )  # fmt: skip
        lines += [_datum("edge", name, value) for (name, _), value in zip(_EDGE, edge_values, strict=True)]
        lines.append("    </edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def relations_csv(facts: Sequence[Fact], first_day: int | None = None) -> str:
    """One line for each relation, in order of time. A cell that a spreadsheet would run as a formula is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["start", "end", "source", "source_kind", "relation", "target", "target_kind", "said_source", "said_target",
         "video", "start_ms", "end_ms", "evidence", "confidence", "by_rules"]
    )  # fmt: skip
    for fact in sorted(facts, key=lambda f: (f.start, f.end, f.id)):
        start, end = (clock.format_clock(t, first_day=first_day) for t in (fact.start, fact.end))
        writer.writerow(
            [start, end, *map(_cell, (fact.source, fact.source_kind, fact.relation, fact.target, fact.target_kind,
             fact.said_source, fact.said_target)), fact.video, fact.start_ms, fact.end_ms, fact.evidence, fact.confidence,
             str(fact.by_rules).lower()]
        )  # fmt: skip
    return out.getvalue()


def _datum(domain: str, name: str, value: object) -> str:
    text = "".join(c for c in str(value) if c in "\t\n\r" or ord(c) >= 32)  # XML 1.0 has no other control characters
    return f'      <data key="{domain}_{name}">{escape(text)}</data>'


def _cell(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
