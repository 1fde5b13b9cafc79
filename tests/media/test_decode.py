from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from material import grey, make_video, tone
from videmus.errors import MediaError
from videmus.media.decode import Damage, Picture, every_frame, frame_at, frames_at, frames_from

UNEVEN = (0, 40, 80, 1_500, 1_533, 1_567, 4_000, 9_000, 9_040)
"""Times of a variable frame rate: a burst, a still, a burst, a still."""


def level(picture: Picture) -> float:
    return float(picture.rgb.mean())


def shown(times: tuple[int, ...], at_ms: int) -> int:
    """The index of the frame on screen, by definition."""
    return max([n for n, time in enumerate(times) if time <= at_ms], default=0)


@pytest.fixture(scope="session")
def uneven(media_folder: Path) -> dict[str, Path]:
    pictures = [(at, grey(20 + 25 * n)) for n, at in enumerate(UNEVEN)]
    return {
        "mp4": make_video(media_folder / "uneven.mp4", pictures, end_ms=9_080, gop=4),
        "mkv": make_video(media_folder / "uneven.mkv", pictures, end_ms=9_080, gop=3, start_ms=10_000),
        "webm": make_video(media_folder / "uneven.webm", pictures, codec="libvpx-vp9", options={"live": "1"}),
        "ts": make_video(media_folder / "uneven.ts", pictures, gop=3, start_ms=3_600_000),
        "one keyframe": make_video(media_folder / "uneven_long.mp4", pictures, gop=1000),
    }


@pytest.mark.parametrize("kind", ["mp4", "mkv", "webm", "ts", "one keyframe"])
def test_the_frame_on_screen_is_found_at_any_time(uneven: dict[str, Path], kind: str):
    times = [0, 39, 40, 79, 80, 1_499, 1_500, 1_540, 3_999, 4_000, 8_999, 9_000, 9_039, 9_040, 60_000]
    for at_ms, picture in zip(times, frames_at(uneven[kind], times), strict=True):
        n = shown(UNEVEN, at_ms)
        assert picture.at_ms == UNEVEN[n]
        assert level(picture) == pytest.approx(20 + 25 * n, abs=4)


@settings(max_examples=25, deadline=None)
@given(times=st.lists(st.integers(-100, 12_000), max_size=8), kind=st.sampled_from(["mp4", "mkv", "webm", "ts"]))
def test_times_in_any_order_give_what_linear_decoding_gives(uneven: dict[str, Path], times: list[int], kind: str):
    found = [picture.at_ms for picture in frames_at(uneven[kind], times)]
    assert found == [UNEVEN[shown(UNEVEN, at)] for at in times]


def test_linear_decoding_gives_every_frame_at_its_own_time(uneven: dict[str, Path]):
    for path in uneven.values():
        assert tuple(picture.at_ms for picture in every_frame(path)) == UNEVEN


def test_consecutive_times_on_one_frame_give_the_same_picture(steps_video: Path):
    a, b, c = frames_at(steps_video, [1_010, 1_090, 1_110])
    assert a is b and b is not c


def test_time_past_the_end_gives_the_last_frame(steps_video: Path):
    assert frame_at(steps_video, 10**9).at_ms == 3_900


def test_time_before_the_first_picture_gives_the_first(tmp_path: Path):
    path = make_video(tmp_path / "late.mp4", [(2_000, grey(100)), (2_100, grey(200))], audio=[tone(3)])
    assert frame_at(path, 0).at_ms == 2_000


def test_keyframes_alone_are_a_part_of_all_frames(steps_video: Path):
    keys = [picture.at_ms for picture in every_frame(steps_video, keyframes_only=True)]
    assert keys == [0, 1_200, 2_400, 3_600]


def test_all_frames_of_a_span_begin_with_the_one_on_screen(steps_video: Path):
    assert [picture.at_ms for picture in frames_from(steps_video, 1_050, 1_300)] == [1_000, 1_100, 1_200]


@pytest.mark.parametrize(("degrees", "corner"), [(0, (0, 0)), (90, (1, 0)), (180, (1, 1)), (270, (0, 1))])
def test_pictures_stand_upright(tmp_path: Path, degrees: int, corner: tuple[int, int]):
    """The coded picture has a white corner, top left; a turn counterclockwise by 90° brings it to the bottom left."""
    coded = grey(20)
    coded[:16, :16] = 255
    picture = frame_at(make_video(tmp_path / "turned.mp4", [(0, coded), (100, coded)], rotation=degrees), 0)
    height, width = picture.rgb.shape[:2]
    assert (height, width) == ((64, 48) if degrees % 180 else (48, 64))
    corners = {
        (y, x): picture.rgb[y * (height - 8) : y * (height - 8) + 8, x * (width - 8) : x * (width - 8) + 8].mean()
        for y in (0, 1)
        for x in (0, 1)
    }
    assert max(corners, key=lambda key: corners[key]) == corner


def test_pixels_become_square(tmp_path: Path):
    path = make_video(tmp_path / "wide.mp4", [(0, grey(99)), (100, grey(99))], pixel_aspect=Fraction(4, 3))
    assert frame_at(path, 0).rgb.shape == (48, 85, 3)
    assert frame_at(path, 0, width=170).rgb.shape == (96, 170, 3)


def test_odd_sizes_and_given_widths(tmp_path: Path):
    path = make_video(tmp_path / "odd.mkv", [(0, grey(99, (63, 47))), (100, grey(99, (63, 47)))])
    assert frame_at(path, 0).rgb.shape == (47, 63, 3)
    assert frame_at(path, 0, width=21).rgb.shape == (16, 21, 3)


def test_colours_come_back(tmp_path: Path):
    red = np.zeros((48, 64, 3), np.uint8)
    red[:, :, 0] = 220
    picture = frame_at(make_video(tmp_path / "red.mp4", [(0, red), (100, red)]), 0).rgb
    assert picture[24, 32, 0] > 200 and picture[24, 32, 1:].max() < 30


def test_of_two_video_streams_the_default_one_is_shown(tmp_path: Path):
    path = tmp_path / "two.mkv"
    with av.open(str(path), "w") as out:
        for value, mark in ((50, 0), (200, av.stream.Disposition.default)):
            stream = out.add_stream("ffv1", rate=10)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            stream.disposition = mark
            stream.metadata["title"] = str(value)
        for stream in out.streams.video:
            frame = av.VideoFrame.from_ndarray(grey(int(stream.metadata["title"])), format="rgb24")
            frame.pts, frame.time_base = 0, Fraction(1, 10)
            for packet in (*stream.encode(frame), *stream.encode(None)):
                out.mux(packet)
    assert level(frame_at(path, 0)) == pytest.approx(200, abs=4)


def test_packed_b_frames_of_avi_are_in_order(tmp_path: Path):
    pictures = [(40 * n, grey(20 + 8 * n)) for n in range(25)]
    path = make_video(tmp_path / "old.avi", pictures, codec="mpeg4", b_frames=2)
    times = [picture.at_ms for picture in every_frame(path)]
    assert times == sorted(set(times))
    within = times[:-1]  # AVI stores no display times; FFmpeg's guess for the last one differs after a seek
    assert [frame_at(path, at).at_ms for at in within] == within


def test_damaged_packets_are_passed_over_and_counted(tmp_path: Path):
    path = make_video(tmp_path / "whole.mkv", [(100 * n, grey(20 + 5 * n, (128, 96))) for n in range(40)], gop=5)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 400] = bytes(400)
    hurt = tmp_path / "hurt.mkv"
    hurt.write_bytes(data)
    damage = Damage()
    found = list(frames_at(hurt, range(0, 4_000, 500), damage=damage))
    assert len(found) == 8
    assert found[0].at_ms == 0 and found[-1].at_ms >= 3_000


def test_a_file_cut_off_gives_what_is_there(tmp_path: Path):
    whole = make_video(tmp_path / "whole.mkv", [(100 * n, grey(20 + 5 * n)) for n in range(40)], gop=5)
    cut_off = tmp_path / "cut.mkv"
    cut_off.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    times = [picture.at_ms for picture in every_frame(cut_off)]
    assert 15 < len(times) < 40 and times[:15] == list(range(0, 1_500, 100)) and times == sorted(times)
    assert frame_at(cut_off, 60_000).at_ms == times[-1]


def test_a_file_without_pictures_is_told_kindly(tmp_path: Path):
    path = make_video(tmp_path / "sound.wav", audio=[tone(1)], audio_codec="pcm_s16le")
    with pytest.raises(MediaError, match="no pictures"):
        frame_at(path, 0)


def test_nothing_decodable_is_told_kindly(tmp_path: Path):
    path = make_video(
        tmp_path / "whole.mp4", [(100 * n, grey(20)) for n in range(10)], options={"movflags": "faststart"}
    )
    data = bytearray(path.read_bytes())
    start = data.index(b"mdat") + 4
    data[start:] = b"\xff" * (len(data) - start)
    path.write_bytes(data)
    with pytest.raises(MediaError):
        frame_at(path, 500)
    with pytest.raises(MediaError):
        list(every_frame(path))


def test_no_times_give_no_pictures(steps_video: Path):
    assert list(frames_at(steps_video, [])) == []


def test_frames_that_nobody_needs_are_not_decoded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """One time late in a group of pictures: of the 88 frames before it those that no other needs are not decoded."""
    pictures = [(40 * n, grey(20 + 2 * n)) for n in range(100)]
    path = make_video(tmp_path / "b.mp4", pictures, gop=100, b_frames=3)
    from videmus.media import decode

    came = []
    real = decode._Decoder._decoded

    def counted(self, after_seek):
        for pair in real(self, after_seek):
            came.append(pair[0])
            yield pair

    monkeypatch.setattr(decode._Decoder, "_decoded", counted)
    assert frame_at(path, 3_500).at_ms == 3_480
    assert len(came) < 60
