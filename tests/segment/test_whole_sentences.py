"""Whole sentences out of rows of speech."""

from __future__ import annotations

import pytest

from videmus.model import Evidence, Origin, evidence_id
from videmus.segment.sentences import joined, whole_sentences


def said(start_s: float, text: str, video: str = "v", speaker: str | None = None, kind="speech") -> Evidence:
    first, last = round(start_s * 1000), round(start_s * 1000) + 3_000
    return Evidence(evidence_id(video, kind, first, last, text), video, first, last, kind, text, Origin("t"), speaker)


def texts(*rows: Evidence) -> list[str]:
    return [s.text for s in whole_sentences(rows)]


def test_a_sentence_that_subtitles_cut_is_whole_again():
    rows = [said(0, "It was late. Each participant played"), said(3, "a match for 30 minutes. Then we stopped.")]
    found = whole_sentences(rows)
    assert [s.text for s in found] == [
        "It was late.", "Each participant played a match for 30 minutes.", "Then we stopped.",
    ]  # fmt: skip
    assert [p.row for p in found[1].places] == rows and found[1].end_ms == 6_000
    assert all(p.text in p.row.text for s in found for p in s.places)


@pytest.mark.parametrize(
    "following", [said(20, "on Friday."), said(3, "on Friday.", video="w"), said(3, "on Friday.", speaker="B")]
)
def test_nothing_goes_on_after_a_pause_in_another_video_or_by_another_speaker(following):
    assert texts(said(0, "We meet"), following, said(40, "All is said.", video="w")) == [
        "We meet", "on Friday.", "All is said.",
    ]  # fmt: skip


def test_a_transcript_without_marks_keeps_its_rows():
    assert texts(said(0, "AND THEN WE WENT"), said(3, "TO THE SEA"), said(6, "FOR A DAY")) == [
        "AND THEN WE WENT", "TO THE SEA", "FOR A DAY",
    ]  # fmt: skip


def test_other_kinds_are_passed_over():
    assert texts(said(0, "A title.", kind="screen")) == []


def test_a_sentence_knows_whether_it_asks_or_leans():
    asks, leans, neither = whole_sentences([said(0, "Why? It is because of the moon. The moon is far.")])
    assert asks.asks and leans.leans and not (neither.asks or neither.leans)


def test_neighbours_in_one_row_are_one_place():
    rows = [said(0, "The moon pulls. It is far."), said(3, "So the sea rises.")]
    one, two, three = whole_sentences(rows)
    assert [p.text for p in joined([one, two, three]).places] == [r.text for r in rows]


def test_a_long_sentence_with_an_end_is_whole_and_one_without_marks_is_cut():
    long = " ".join(["word"] * 50)
    assert texts(said(0, f"{long}.")) == [f"{long}."]
    assert max(len(t.split()) for t in texts(said(0, long))) <= 40
