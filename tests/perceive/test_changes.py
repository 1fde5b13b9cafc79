"""Looks of small recordings whose changes are known to the frame."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from material import make_video, tone
from slides_material import CAMERA, SIZE, Show, drawn, in_camera_box, record, speaker
from videmus.config import ScreenSettings
from videmus.errors import MediaError
from videmus.media.packets import PacketReader
from videmus.model import Box
from videmus.perceive.changes import Seen, _Watch, looks
from videmus.perceive.still import Tracker

ONE = drawn("Energy in cities", ["Heat from below the ground", "Power from wind"], number="1")
GROWN = drawn("Energy in cities", ["Heat from below the ground", "Power from wind", "Light from the sun"], number="1")
OTHER = drawn("What it costs", ["Three numbers and a promise"], figure=3, number="2")


def seen(path: Path) -> list[Seen]:
    return list(looks(path, "v"))


def starts(found: list[Seen]) -> list[int]:
    return [s.frame.look.start_ms for s in found if s.frame.look]


def near(found: list[int], expected: list[int], within: int = 100) -> bool:
    return len(found) == len(expected) and all(abs(a - b) <= within for a, b in zip(found, expected, strict=True))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    path = tmp_path_factory.mktemp("changes") / "plain.mp4"
    shows = [Show(0, ONE.picture), Show(4_700, GROWN.picture), Show(8_300, OTHER.picture)]
    return seen(record(path, shows, 12_000))


def test_a_bullet_and_a_page_turn_begin_looks_to_a_tenth_of_a_second(plain):
    assert near(starts(plain), [0, 4_700, 8_300])


def test_the_spans_of_looks_abut_from_the_first_moment_to_the_last(plain):
    spans = [(s.frame.look.start_ms, s.frame.look.end_ms) for s in plain]
    assert spans[0][0] == 0 and abs(spans[-1][1] - 12_000) <= 150
    assert all(a[1] == b[0] for a, b in pairwise(spans))
    assert all(start <= s.frame.at_ms < end for s, (start, end) in zip(plain, spans, strict=True))


def test_the_picture_of_a_look_is_the_settled_page(plain):
    for found, page in zip(plain, (ONE, GROWN, OTHER), strict=True):
        assert found.image.shape == (SIZE[1], SIZE[0], 3)
        assert np.abs(found.image.astype(int) - page.picture).mean() < 4


def test_changed_boxes_hold_the_new_bullet_and_not_the_old_ones(plain):
    bullet, old = GROWN.lines[3].box, GROWN.lines[1].box
    changed = plain[1].frame.look.changed
    assert any(covers(box, GROWN.lines[-2].box) or covers(box, bullet) for box in changed)
    assert not any(covers(box, old) for box in changed)


def test_the_first_look_and_a_new_page_are_changed_as_a_whole(plain):
    assert plain[0].frame.look.changed == ()
    turned = plain[2].frame.look.changed
    assert turned == () or all(any(touches(b, line.box) for b in turned) for line in OTHER.lines)


def covers(outer: Box, inner: Box) -> bool:
    slack = 0.01
    return (
        outer[0] <= inner[0] + slack
        and outer[1] <= inner[1] + slack
        and outer[2] >= inner[2] - slack
        and outer[3] >= inner[3] - slack
    )


def touches(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def test_a_speaker_in_a_camera_box_is_no_change(tmp_path):
    shows = [Show(0, ONE.picture), Show(9_300, GROWN.picture)]
    found = seen(record(tmp_path / "box.mp4", shows, 16_000, overlay=in_camera_box))
    assert near(starts(found), [0, 9_300])
    head = (
        (CAMERA[0] + 30) / SIZE[0],
        (CAMERA[1] + 20) / SIZE[1],
        (CAMERA[2] - 30) / SIZE[0],
        (CAMERA[3] - 20) / SIZE[1],
    )
    for look in (s.frame.look for s in found):
        assert any(touches(box, head) for box in look.moving)
        assert not any(touches(box, line.box) for box in look.moving for line in ONE.lines[:2])
    assert not any(touches(box, head) for box in found[1].frame.look.changed)


def test_a_pointer_that_passes_is_no_change(tmp_path):
    def pointer(picture, at_ms):
        shown = picture.copy()
        x, y = int(320 + 200 * np.sin(at_ms / 700)), int(120 + 30 * np.cos(at_ms / 900))
        shown[y - 3 : y + 4, x - 3 : x + 4] = (230, 30, 30)
        return shown

    found = seen(
        record(tmp_path / "pointer.mp4", [Show(0, ONE.picture), Show(6_000, OTHER.picture)], 9_000, overlay=pointer)
    )
    assert near(starts(found), [0, 6_000])


@pytest.mark.parametrize("enter", ["fade", "push"])
def test_a_passage_is_dated_to_its_beginning(tmp_path, enter):
    shows = [Show(0, ONE.picture), Show(5_200, OTHER.picture, enter, 600)]
    found = seen(record(tmp_path / f"{enter}.mp4", shows, 10_000))
    assert near(starts(found), [0, 5_200], within=150)
    assert np.abs(found[1].image.astype(int) - OTHER.picture).mean() < 4


def test_a_page_shown_for_a_second_is_a_look(tmp_path):
    shows = [Show(0, ONE.picture), Show(5_000, OTHER.picture), Show(6_000, GROWN.picture)]
    assert near(starts(seen(record(tmp_path / "brief.mp4", shows, 10_000))), [0, 5_000, 6_000])


def test_a_full_screen_speaker_is_one_look_and_marked_as_moving(tmp_path):
    shows = [Show(0, ONE.picture), Show(5_000, lambda t: speaker(t, SIZE)), Show(11_000, OTHER.picture)]
    found = seen(record(tmp_path / "speaker.mp4", shows, 15_000))
    times = starts(found)
    assert near([times[0], min(times, key=lambda t: abs(t - 5_000)), times[-1]], [0, 5_000, 11_000], within=200)
    assert len(found) <= 4
    assert sum((b[2] - b[0]) * (b[3] - b[1]) for b in found[1].frame.look.moving) > 0.1


ENCODES = {
    "keyframes only": {"gop": 1},
    "one keyframe": {"gop": 9_999, "options": {"sc_threshold": "0"}},
    "no scene cuts": {"gop": 40, "options": {"sc_threshold": "0"}},
    "no B-frames": {"gop": 33, "options": {"bf": "0", "tune": "zerolatency"}},
    "constant bit rate": {"gop": 40, "options": {"nal-hrd": "cbr", "b": "300k", "maxrate": "300k", "bufsize": "300k"}},
    "low quality": {"gop": 50, "options": {"crf": "36"}},
    "25 a second": {"gop": 250, "fps": 25},
    "MPEG-4": {"codec": "mpeg4", "gop": 12},
    "MPEG-4, one keyframe": {"codec": "mpeg4", "gop": 600},
    "HEVC": {"codec": "libx265", "gop": 250, "options": {"x265-params": "scenecut=0:log-level=none"}},
    "VP9": {"codec": "libvpx-vp9", "gop": 250, "fps": 25, "options": {"deadline": "realtime", "cpu-used": "8"}},
}


@pytest.mark.parametrize("name", ENCODES)
def test_every_kind_of_encoding_gives_the_same_looks(tmp_path, name):
    shows = [Show(0, ONE.picture), Show(3_400, GROWN.picture), Show(6_200, OTHER.picture)]
    path = record(tmp_path / "encode.mp4", shows, 9_000, overlay=in_camera_box, **ENCODES[name])
    assert near(starts(seen(path)), [0, 3_400, 6_200], within=150)


TINY = drawn("Energy in cities", ["Heat from below the ground", "Power from wind", "so"], number="1")
LONG = {"fps": 25, "gop": 250, "options": {"sc_threshold": "0"}}
"""A keyframe every 10 s, none at a change."""


def slowly(end_ms: int, length_ms: int):
    """ONE, into which the third bullet of GROWN comes so slowly that no packet tells of it."""

    def shown(at_ms):
        share = min(1.0, max(0.0, (at_ms - end_ms + length_ms) / length_ms))
        return (ONE.picture * (1 - share) + GROWN.picture * share).astype(np.uint8)

    return shown


@pytest.mark.parametrize("at_ms", [3_480, 6_120, 9_760])
def test_a_word_that_comes_anywhere_in_a_long_group_is_seen_and_dated_to_the_picture(tmp_path, at_ms):
    shows = [Show(0, ONE.picture), Show(at_ms, TINY.picture)]
    found = seen(record(tmp_path / "tiny.mp4", shows, 14_000, overlay=in_camera_box, **LONG))
    assert near(starts(found), [0, at_ms], within=60)


def test_a_change_that_no_packet_tells_is_found_before_one_that_a_packet_does(tmp_path):
    shows = [Show(0, slowly(4_500, 1_200)), Show(8_000, OTHER.picture)]
    found = seen(record(tmp_path / "before.mp4", shows, 14_000, **LONG))
    assert near(starts(found), [0, 3_700, 8_000], within=500)
    assert near(starts(found)[2:], [8_000], within=60)
    assert np.abs(found[1].image.astype(int) - GROWN.picture).mean() < 4


def test_a_change_that_no_packet_tells_is_found_after_one_that_a_packet_does(tmp_path):
    shows = [Show(0, OTHER.picture), Show(3_600, slowly(8_200, 1_200))]
    found = seen(record(tmp_path / "after.mp4", shows, 14_000, **LONG))
    assert near(starts(found), [0, 3_600, 7_400], within=500)
    assert near(starts(found)[1:2], [3_600], within=60)
    assert np.abs(found[2].image.astype(int) - GROWN.picture).mean() < 4


def test_a_word_in_the_last_group_is_seen(tmp_path):
    shows = [Show(0, ONE.picture), Show(12_600, TINY.picture)]
    found = seen(record(tmp_path / "last.mp4", shows, 15_000, overlay=in_camera_box, **LONG))
    assert near(starts(found), [0, 12_600], within=60)


def test_two_bullets_a_second_apart_are_both_seen(tmp_path):
    shows = [Show(0, ONE.picture), Show(5_000, GROWN.picture), Show(8_000, OTHER.picture), Show(9_000, ONE.picture)]
    found = seen(record(tmp_path / "two.mp4", shows, 14_000, **LONG))
    assert near(starts(found), [0, 5_000, 8_000, 9_000], within=60)


def test_what_does_not_change_is_hardly_decoded(tmp_path):
    path = record(tmp_path / "still.mp4", [Show(0, ONE.picture), Show(25_000, OTHER.picture)], 40_000, gop=50)
    with PacketReader(path) as reader:
        tracker = Tracker(ScreenSettings())
        assert len(list(_Watch(reader, ScreenSettings(), tracker).periods(None))) == 2
    assert reader.decoded < 140  # of 400: the first three seconds, what lies about the change, half of the last group


def test_a_variable_frame_rate_keeps_the_times(tmp_path):
    times = [0, 2_000, 4_000, *range(5_130, 6_500, 33), 8_000, 10_000, 12_000]
    shows = [Show(0, ONE.picture), Show(5_130, GROWN.picture), Show(10_000, OTHER.picture)]
    found = seen(record(tmp_path / "vfr.mp4", shows, 12_000, times_ms=times))
    assert near(starts(found), [0, 5_130, 10_000], within=60)


def test_a_projection_filmed_in_a_hall_is_seen_to_change(tmp_path):
    def hall(page):
        def shown(at_ms):
            room = speaker(at_ms * 0 + 500, SIZE).copy() // 3
            screen = page.picture[::2, ::2]
            for row in range(screen.shape[0]):  # the screen leans: each row a little further to the right
                left = 60 + row // 6
                room[40 + row, left : left + screen.shape[1]] = (screen[row] * 0.8 + 20).astype(np.uint8)
            x = int(450 + 60 * np.sin(at_ms / 800))
            room[200:350, x : x + 60] = (60 + 40 * np.sin(np.arange(150) / 9 + at_ms / 300)[:, None, None]).astype(
                np.uint8
            )
            return room

        return shown

    found = seen(record(tmp_path / "hall.mp4", [Show(0, hall(ONE)), Show(7_000, hall(OTHER))], 13_000))
    assert near([min(starts(found)[1:], key=lambda t: abs(t - 7_000))], [7_000])
    assert len(found) <= 3


def test_memory_does_not_grow_with_length(tmp_path):
    def peak(seconds: int) -> int:
        shows = [Show(i * 4_000, (ONE if i % 2 else OTHER).picture) for i in range(seconds // 4)]
        path = record(tmp_path / f"{seconds}.mp4", shows, seconds * 1_000, fps=1, gop=8)
        tracemalloc.start()
        for _ in looks(path, "v"):
            pass
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return held

    peak(8)
    assert peak(96) < 1.3 * peak(32)


def test_progress_ends_at_the_last_moment(tmp_path):
    told: list[int] = []
    list(looks(record(tmp_path / "p.mp4", [Show(0, ONE.picture)], 5_000), "v", progress=told.append))
    assert told == sorted(told) and abs(told[-1] - 5_000) <= 150


def test_a_file_without_pictures_says_so(tmp_path):
    with pytest.raises(MediaError, match="no pictures"):
        list(looks(make_video(tmp_path / "sound.m4a", audio=[tone(1.0)]), "v"))
