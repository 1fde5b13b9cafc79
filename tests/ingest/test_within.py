"""What is said lies inside the video."""

from videmus.ingest.stages import within
from videmus.model import Evidence, Origin, evidence_id


def said(start_ms, end_ms):
    return Evidence(
        evidence_id("v", "speech", start_ms, end_ms, "x"), "v", start_ms, end_ms, "speech", "x", Origin("speech")
    )


def test_a_row_inside_the_video_stays_as_it_is():
    assert within(said(0, 100), 100) == said(0, 100)


def test_a_row_that_runs_past_the_end_ends_there_under_the_id_of_what_it_is_now():
    assert within(said(50, 114), 100) == said(50, 100)


def test_a_row_after_the_end_is_none():
    assert within(said(100, 120), 100) is None


def test_where_the_length_is_not_known_nothing_is_cut():
    assert within(said(5, 120), 0) == said(5, 120)
