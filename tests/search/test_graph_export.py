from __future__ import annotations

import csv
import io
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from videmus.search.graph_export import graphml, relations_csv
from videmus.store.graph import Wanted
from week_library import RECORDING, two_days

NS = {"g": "http://graphml.graphdrawing.org/xmlns"}


@pytest.fixture(scope="module")
def graph():
    store = two_days().store
    return store.graph.entities(RECORDING), store.graph.facts(Wanted(), RECORDING, limit=200)


def test_graphml_is_xml_whose_edges_join_its_nodes(graph):
    entities, facts = graph
    root = ElementTree.fromstring(graphml(entities, facts))
    nodes = {n.get("id") for n in root.iterfind(".//g:node", NS)}
    edges = root.findall(".//g:edge", NS)
    assert len(nodes) == len(entities) and len(edges) == len(facts)
    assert {e.get(end) for e in edges for end in ("source", "target")} <= nodes
    keys = {k.get("id") for k in root.iterfind("g:key", NS)}
    assert {d.get("key") for d in root.iterfind(".//g:data", NS)} <= keys


def test_csv_has_a_line_for_each_relation_with_clock_times_and_evidence(graph):
    _, facts = graph
    rows = list(csv.DictReader(io.StringIO(relations_csv(facts))))
    assert len(rows) == len(facts) and rows[0]["start"].startswith("DAY")
    assert {r["evidence"] for r in rows} == {f.evidence for f in facts}
    assert [int(r["start_ms"]) >= 0 for r in rows] and rows == sorted(rows, key=lambda r: r["start"])


def test_names_cannot_break_out_of_either_format(graph):
    entities, facts = graph
    evil = '=cmd|"/c calc"!A1</data><evil/>\x07'
    entity, fact = replace(entities[0], name=evil), replace(facts[0], source=evil)
    root = ElementTree.fromstring(graphml([entity, *entities[1:]], facts))
    assert root.find(".//evil") is None
    (row,) = csv.DictReader(io.StringIO(relations_csv([fact])))
    assert row["source"].startswith("'=")
