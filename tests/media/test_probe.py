from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import av
import pytest

from material import TIME_BASE, grey, make_video, tone
from videmus.errors import MediaError
from videmus.media.probe import milliseconds, probe

TEN = [(100 * n, grey(20 + 20 * n)) for n in range(10)]


def test_a_video_with_sound_is_described(steps_video: Path):
    found = probe(steps_video)
    assert (found.duration_ms, found.start_ms) == (4_000, 0)
    assert found.video is not None
    assert (found.video.codec, found.video.width, found.video.height, found.video.rotation) == ("h264", 64, 48, 0)
    assert [(a.codec, a.channels, a.rate) for a in found.audio] == [("aac", 1, 16_000)]
    assert found.has_video and found.has_audio and found.subtitles == ()


def test_several_tracks_are_listed_with_their_languages(tmp_path: Path):
    path = make_video(
        tmp_path / "two.mkv",
        TEN,
        audio=[tone(1), tone(1, 600)],
        languages=["eng", "deu"],
        subtitles=[("srt", "eng", [(0, 500, "Hello")]), ("ass", "fra", [(0, 500, "Bonjour")])],
    )
    found = probe(path)
    assert [a.language for a in found.audio] == ["eng", "deu"]
    assert [(s.language) for s in found.subtitles] == ["eng", "fra"]


@pytest.mark.parametrize("name", ["late.ts", "late.mkv", "late.mp4"])
def test_the_length_of_a_container_that_starts_late_is_that_of_its_content(tmp_path: Path, name: str):
    found = probe(make_video(tmp_path / name, TEN, end_ms=1_000, start_ms=10_000))
    assert found.start_ms == pytest.approx(10_000, abs=2)
    assert found.duration_ms == pytest.approx(1_000, abs=110)


def test_sound_that_an_encoder_starts_early_does_not_shift_the_pictures(tmp_path: Path):
    found = probe(make_video(tmp_path / "early.mp4", TEN, end_ms=1_000, audio=[tone(1)], start_ms=5_000))
    assert found.start_ms == 5_000


def test_a_live_stream_without_a_length_is_measured(tmp_path: Path):
    path = make_video(tmp_path / "live.webm", TEN, codec="libvpx-vp9", options={"live": "1"})
    with av.open(str(path)) as container:
        assert container.duration is None
    assert probe(path).duration_ms == pytest.approx(1_000, abs=110)


def test_a_slide_show_is_as_long_as_its_last_picture(tmp_path: Path):
    """With B-frames and long gaps the header's length is that of decoding order, 4 s short here."""
    pictures = [(at, grey(level)) for at, level in ((0, 30), (40, 60), (1_500, 90), (1_533, 120), (7_000, 200))]
    assert probe(make_video(tmp_path / "slides.mp4", pictures, end_ms=8_000)).duration_ms >= 7_000


def test_rotation_and_pixel_aspect_give_the_size_that_is_shown(tmp_path: Path):
    turned = probe(make_video(tmp_path / "turned.mp4", TEN, rotation=90)).video
    wide = probe(make_video(tmp_path / "wide.mp4", TEN, pixel_aspect=Fraction(4, 3))).video
    assert turned is not None and (turned.rotation, turned.shown) == (90, (48, 64))
    assert wide is not None and wide.shown == (85, 48)


def test_sound_alone_has_no_video(tmp_path: Path):
    found = probe(make_video(tmp_path / "sound.wav", audio=[tone(1)], audio_codec="pcm_s16le"))
    assert (found.has_video, found.has_audio, found.duration_ms) == (False, True, 1_000)


def test_cover_art_is_no_video(tmp_path: Path):
    path = tmp_path / "song.mp3"
    with av.open(str(path), "w") as out:
        track = out.add_stream("libmp3lame", rate=16_000)
        track.layout = "mono"
        cover = out.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 64, 48, "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        frame = av.VideoFrame.from_ndarray(grey(200), format="rgb24").reformat(format="yuvj420p")
        frame.pts, frame.time_base = 0, TIME_BASE
        packets = [*cover.encode(frame), *cover.encode(None)]
        sound = av.AudioFrame.from_ndarray(tone(1)[None, :], format="s16", layout="mono")
        sound.sample_rate = 16_000
        for packet in (*packets, *track.encode(sound), *track.encode(None)):
            out.mux(packet)
    with av.open(str(path)) as container:
        assert len(container.streams.video) == 1
    assert not probe(path).has_video


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"creation_time": "2024-05-06T07:08:09.000000Z"}, 1_714_979_289_000),
        ({"creation_time": "1970-01-01T00:00:00.000000Z"}, None),
        ({}, None),
    ],
)
def test_the_recorders_clock_is_read_unless_it_was_never_set(
    tmp_path: Path, metadata: dict[str, str], expected: int | None
):
    assert probe(make_video(tmp_path / "clock.mp4", TEN, metadata=metadata)).recorded_at == expected


def test_a_phones_local_time_is_the_recorders_clock(tmp_path: Path):
    metadata = {"com.apple.quicktime.creationdate": "2024-05-06T09:08:09+0200"}
    path = make_video(tmp_path / "phone.mov", TEN, metadata=metadata, options={"movflags": "use_metadata_tags"})
    assert probe(path).recorded_at == 1_714_986_489_000  # 09:08:09, whatever the zone


def test_odd_names_are_opened_as_they_are(tmp_path: Path, steps_video: Path):
    for name in ("a 'quoted' name.mp4", "50%d.mp4", "http:x.mp4", "été 学习.mp4", "-i.mp4"):
        path = tmp_path / name
        path.write_bytes(steps_video.read_bytes())
        assert probe(path).duration_ms == 4_000


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("empty.mp4", b"", "empty"),
        ("short.mp4", b"\x00\x00\x00\x14ftypmp42\x00\x00\x00\x00mp42", "20 bytes and is cut off"),
        ("notes.mp4", b"These are only notes.\n" * 50, "it is text"),
        ("picture.png", None, "a single picture"),
        ("list.m3u8", b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n", "a playlist"),
        ("list.mp4", b"ffconcat version 1.0\nfile steps.mp4\n", "not a video"),
        ("talk.srt", b"1\n00:00:01,000 --> 00:00:02,000\nHello\n", "a subtitle file"),
    ],
)
def test_what_is_no_video_is_told_kindly(tmp_path: Path, name: str, content: bytes | None, what: str):
    path = tmp_path / name
    if content is None:
        from PIL import Image

        Image.new("RGB", (64, 48)).save(path)
    else:
        path.write_bytes(content)
    with pytest.raises(MediaError, match=what) as caught:
        probe(path)
    assert caught.value.where == str(path) and caught.value.next


def test_folders_missing_files_and_strange_paths_are_told_kindly(tmp_path: Path):
    for path, what in ((tmp_path, "folder"), (tmp_path / "none.mp4", "no such file"), (Path("a\x00b"), "no such file")):
        with pytest.raises(MediaError, match=what):
            probe(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_told_kindly(tmp_path: Path, steps_video: Path):
    path = tmp_path / "locked.mp4"
    path.write_bytes(steps_video.read_bytes())
    path.chmod(0)
    with pytest.raises(MediaError, match="not allowed"):
        probe(path)


def test_a_pipe_is_no_file(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.mp4")
    with pytest.raises(MediaError, match="no regular file"):
        probe(tmp_path / "pipe.mp4")


def test_a_file_cut_off_after_its_header_is_still_a_video(tmp_path: Path):
    whole = make_video(tmp_path / "whole.mkv", [(100 * n, grey(20 + 5 * n)) for n in range(40)])
    cut_off = tmp_path / "cut.mkv"
    cut_off.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert probe(cut_off).has_video


def test_milliseconds_are_exact_and_never_negative():
    assert milliseconds(1001, Fraction(1, 30_000), Fraction(0)) == 33
    assert (
        milliseconds(90_000 * 36_000 + 45, Fraction(1, 90_000), Fraction(10)) == 35_990_000
    )  # 0.5 ms: to the even one
    assert milliseconds(-64, Fraction(1, 1000), Fraction(0)) == 0
