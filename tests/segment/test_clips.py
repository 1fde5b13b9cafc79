"""Clips cover footage once; their frames lie inside."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from videmus.segment.clips import clips, frame_times


def test_up_to_three_minutes_is_one_clip_and_longer_is_cut_into_80_seconds():
    assert [(c.start_ms, c.end_ms) for c in clips("v", 180_000)] == [(0, 180_000)]
    assert [(c.start_ms, c.end_ms) for c in clips("v", 200_000)] == [(0, 80_000), (80_000, 160_000), (160_000, 200_000)]
    assert list(clips("v", 0)) == []


@given(st.integers(1, 10_000_000))
def test_clips_cover_the_video_without_overlap(duration):
    found = list(clips("v", duration))
    assert found[0].start_ms == 0
    assert found[-1].end_ms == duration
    assert all(a.end_ms == b.start_ms for a, b in pairwise(found))
    assert len({c.id for c in found}) == len(found)


@given(st.integers(0, 10**6), st.integers(1, 400_000))
def test_frames_are_at_most_45_in_order_and_inside(start, length):
    times = frame_times(start, start + length)
    assert 1 <= len(times) <= 45
    assert times == sorted(set(times))
    assert all(start <= t < start + length for t in times)
