"""Which slide a sentence explains."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from videmus.model import Evidence, Origin, Segment, segment_id
from videmus.segment.assign import assigned


def slide(start_ms: int, end_ms: int, number: int = 1) -> Segment:
    return Segment(
        segment_id("v", "slide", start_ms, end_ms), "v", start_ms, end_ms, "slide", Origin("slides"), slide=number
    )


def said(start_ms: int, end_ms: int) -> Evidence:
    return Evidence(f"e{start_ms}-{end_ms}", "v", start_ms, end_ms, "speech", "", Origin("speech"))


def test_a_sentence_belongs_to_the_slide_on_screen_for_most_of_it():
    one, two = slide(0, 10_000), slide(10_000, 20_000, 2)
    chosen = assigned([said(2_000, 4_000), said(9_800, 14_000), said(8_000, 10_500)], [two, one])
    assert list(chosen.values()) == [one.id, two.id, one.id]


def test_a_sentence_spoken_while_no_slide_is_shown_belongs_to_none():
    assert assigned([said(5_000, 9_000)], [slide(0, 5_000), slide(9_000, 12_000, 2)]) == {}


def test_other_segments_are_not_looked_at():
    window = Segment("w", "v", 0, 45_000, "window", Origin("windows"))
    assert assigned([said(0, 1_000)], [window]) == {}


@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(1, 80)), max_size=12), st.integers(0, 500), st.integers(1, 60)
)
def test_no_slide_shares_more_time_than_the_chosen_one(gaps, start, length):
    at, slides = 0, []
    for gap, duration in gaps:
        slides.append(slide(at + gap, at + gap + duration, len(slides)))
        at += gap + duration
    row = said(start, start + length)
    share = {s.id: min(s.end_ms, row.end_ms) - max(s.start_ms, row.start_ms) for s in slides}
    chosen = assigned([row], slides)
    if chosen:
        assert share[chosen[row.id]] == max(share.values())
    else:
        assert all(v <= 0 for v in share.values())
