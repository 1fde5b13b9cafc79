from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.model import Video
from videmus.segment.timeline import filmed_at, is_recording, recording_video, timeline


def part(id, start, length, collection=None):
    return Video(id, f"f{id}", id, length, f"{id}.mp4", "ready", None, collection, start, "week")


def test_files_are_ordered_by_the_clock_with_gaps_and_overlaps_between():
    line = timeline("week", [part("c", 100_000, 30_000), part("a", 0, 30_000), part("b", 25_000, 30_000)])
    assert [p.video.id for p in line.parts] == ["a", "b", "c"]
    assert [(s.kind, s.start, s.end, s.before, s.after) for s in line.seams] == [
        ("overlap", 25_000, 30_000, "a", "b"),
        ("gap", 55_000, 100_000, "b", "c"),
    ]
    assert line.recorded_ms == 85_000


def test_files_cut_a_few_frames_long_or_short_have_no_seam():
    assert timeline("week", [part("a", 0, 30_400), part("b", 30_000, 29_500), part("c", 60_000, 1_000)]).seams == ()


def test_files_without_a_clock_time_are_named_apart():
    line = timeline("week", [part("a", None, 30_000), part("b", 0, 30_000)])
    assert [v.id for v in line.unplaced] == ["a"] and len(line.parts) == 1


def transcript(id, start, length):
    return Video(id, f"f{id}", id, length, f"/w/{id}.SRT", "ready", None, None, start, "week", None, False, False)


def test_a_transcript_is_no_footage_and_stands_apart():
    clips = [part("a", 1_000_000, 30_000), part("b", 1_090_000, 30_000)]
    line = timeline("week", [*clips, transcript("t", 900_000, 600_000)])
    assert [p.video.id for p in line.parts] == ["a", "b"] and [p.video.id for p in line.transcripts] == ["t"]
    assert (line.start, line.end, line.recorded_ms) == (1_000_000, 1_120_000, 60_000)
    assert [(s.kind, s.start, s.end) for s in line.seams] == [("gap", 1_030_000, 1_090_000)]
    assert [p.video.id for p in line.placed] == ["t", "a", "b"]
    whole = recording_video("week", [*clips, transcript("t", 900_000, 600_000)])
    assert (whole.recorded_at, whole.duration_ms) == (900_000, 600_000), "its rows are the transcript's too"


def test_a_recording_of_transcripts_alone_has_its_span_and_no_footage():
    line = timeline("week", [transcript("t", 900_000, 600_000), transcript("u", 1_400_000, 300_000)])
    assert (line.parts, line.seams, line.recorded_ms) == ((), (), 0) and (line.start, line.end) == (900_000, 1_700_000)


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [(105_000, 107_000, "a"), (129_000, 133_000, "b"), (160_500, 170_000, None), (95_000, 101_000, "a")],
)
def test_the_clip_that_ran_at_a_time_of_the_clock_is_found(start, end, found):
    line = timeline("week", [part("a", 100_000, 30_000), part("b", 130_000, 30_000), transcript("t", 0, 900_000)])
    clip = filmed_at(line, start, end)
    assert (clip and clip.video.id) == found


def test_a_recordings_own_video_spans_all_files_and_is_known_as_such():
    members = [part("a", 10_000, 30_000, "trip"), part("b", 100_000, 30_000, "trip")]
    whole = recording_video("week", members)
    assert (whole.recorded_at, whole.duration_ms, whole.recording, whole.collection) == (
        10_000,
        120_000,
        "week",
        "trip",
    )
    assert is_recording(whole) and not is_recording(members[0])
    assert timeline("week", [*members, whole]) == timeline("week", members)
    assert recording_video("week", members[:1]).id == whole.id
    with pytest.raises(ValueError, match="clock time"):
        recording_video("week", [part("a", None, 5)])


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 100)), min_size=1, max_size=12))
def test_recorded_time_is_the_length_of_the_union(spans):
    line = timeline("w", [part(str(n), s, length) for n, (s, length) in enumerate(spans)], tolerance_ms=0)
    union = {t for s, length in spans for t in range(s, s + length)}
    assert line.recorded_ms == len(union)
    gaps = sum(s.length_ms for s in line.seams if s.kind == "gap")
    assert gaps + len(union) == line.end - line.start
