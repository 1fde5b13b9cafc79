from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from material import grey, make_video, tone
from videmus.errors import MediaError, UsageError
from videmus.media import cut as module
from videmus.media import pictures
from videmus.media.cut import cut, save_frame
from videmus.media.decode import every_frame
from videmus.media.probe import probe


def test_a_clip_begins_and_ends_where_asked_and_not_at_a_keyframe(steps_video: Path, tmp_path: Path):
    clip = cut(steps_video, 1_050, 2_350, tmp_path / "clip.mp4")
    found = [(p.at_ms, p.rgb.mean()) for p in every_frame(clip)]
    assert [at for at, _ in found] == [0, *range(50, 1_300, 100)]
    assert [level for _, level in found] == pytest.approx([70 + 5 * n for n in range(14)], abs=4)
    assert probe(clip).duration_ms == pytest.approx(1_300, abs=70)


def test_a_clips_sound_is_that_of_its_span(tmp_path: Path):
    """Silence for 2 s, a tone for 1 s, silence for 1 s: the clip from 1.5 s hears the tone half a second in."""
    sound = np.concatenate([0 * tone(2), tone(1), 0 * tone(1)])
    source = make_video(tmp_path / "s.mkv", [(100 * n, grey(50)) for n in range(40)], audio=[sound], start_ms=7_000)
    samples = _sound(cut(source, 1_500, 3_500, tmp_path / "clip.mp4"))
    loud = np.flatnonzero(np.abs(samples) > 4_000)
    assert loud[0] / 16_000 == pytest.approx(0.5, abs=0.08)
    assert loud[-1] / 16_000 == pytest.approx(1.5, abs=0.08)


@pytest.mark.parametrize("name", ["clip.wav", "clip.m4a", "clip.mp3", "clip.flac"])
def test_sound_alone_gives_a_sound_file(tmp_path: Path, name: str):
    source = make_video(tmp_path / "s.wav", audio=[tone(3)], audio_codec="pcm_s16le")
    found = probe(cut(source, 1_000, 2_500, tmp_path / name))
    assert not found.has_video
    assert found.duration_ms == pytest.approx(1_500, abs=120)


def test_an_end_past_the_end_is_the_end(steps_video: Path, tmp_path: Path):
    assert probe(cut(steps_video, 3_000, 99_000, tmp_path / "clip.mp4")).duration_ms == pytest.approx(1_000, abs=110)


def test_odd_sizes_and_turned_pictures_can_be_cut(tmp_path: Path):
    odd = make_video(tmp_path / "odd.mkv", [(100 * n, grey(50, (63, 47))) for n in range(10)])
    turned = make_video(tmp_path / "turned.mp4", [(100 * n, grey(50)) for n in range(10)], rotation=90)
    sizes = []
    for source in (odd, turned):
        video = probe(cut(source, 0, 500, tmp_path / f"{source.stem}_clip.mp4")).video
        assert video is not None
        sizes.append((video.width, video.height))
    assert sizes == [(62, 46), (48, 64)]


@pytest.mark.parametrize(
    ("start", "end", "name", "what"),
    [
        (2_000, 2_000, "c.mp4", "no span"),
        (-5, 2_000, "c.mp4", "no span"),
        (9_000, 9_500, "c.mp4", "over at 4000 ms"),
        (0, 1_000, "c.docx", "no format"),
        (0, 1_000, "c", "no format"),
    ],
)
def test_what_cannot_be_cut_is_told_kindly(
    steps_video: Path, tmp_path: Path, start: int, end: int, name: str, what: str
):
    with pytest.raises(MediaError, match=what) as caught:
        cut(steps_video, start, end, tmp_path / name)
    assert caught.value.where and caught.value.next
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unless_told(steps_video: Path, tmp_path: Path):
    for write, name in (
        (lambda o, **k: cut(steps_video, 0, 500, o, **k), "a.mp4"),
        (lambda o, **k: save_frame(steps_video, 0, o, **k), "a.png"),
    ):
        out = tmp_path / name
        out.write_bytes(b"precious")
        with pytest.raises(UsageError, match="there already"):
            write(out)
        assert out.read_bytes() == b"precious"
        write(out, overwrite=True)
        assert out.read_bytes() != b"precious"


def test_a_clip_never_replaces_its_own_video(tmp_path: Path):
    source = make_video(tmp_path / "only.mp4", [(100 * n, grey(50)) for n in range(10)])
    before = source.read_bytes()
    with pytest.raises(MediaError, match="its own video"):
        cut(source, 0, 500, source, overwrite=True)
    assert source.read_bytes() == before


def test_a_clip_that_fails_half_way_leaves_nothing(steps_video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def broken(*arguments):
        yield from list(every_frame(steps_video))[:3]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "frames_from", broken)
    with pytest.raises(MediaError, match="No space left"):
        cut(steps_video, 0, 2_000, tmp_path / "clip.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told_kindly(steps_video: Path, tmp_path: Path):
    for write in (lambda o: cut(steps_video, 0, 500, o / "a.mp4"), lambda o: save_frame(steps_video, 0, o / "a.png")):
        with pytest.raises(MediaError, match="cannot be written"):
            write(tmp_path / "none")


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.JPEG"])
def test_a_saved_frame_is_the_one_on_screen(steps_video: Path, tmp_path: Path, name: str):
    saved = pictures.decode(save_frame(steps_video, 1_550, tmp_path / name).read_bytes())
    assert saved.shape == (48, 64, 3) and saved.mean() == pytest.approx(95, abs=4)


def test_a_frame_of_another_format_is_refused(steps_video: Path, tmp_path: Path):
    with pytest.raises(MediaError, match="no format"):
        save_frame(steps_video, 0, tmp_path / "a.bmp")


def _sound(path: Path) -> np.ndarray:
    with av.open(str(path)) as container:
        return np.concatenate([f.to_ndarray().mean(axis=0) * 32_768 for f in container.decode(audio=0)])
