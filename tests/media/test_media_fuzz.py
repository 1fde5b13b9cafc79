"""Damaged files: whatever their bytes, they end in pictures, cues or one kind error; one that hangs
ends the run (`faulthandler_timeout` in pyproject.toml)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from material import grey, make_video, tone
from videmus.errors import MediaError
from videmus.media.captions import parse
from videmus.media.cut import cut
from videmus.media.decode import Damage, every_frame, frames_at
from videmus.media.probe import probe
from videmus.media.subtitles import embedded
from videmus.media.text_encoding import decoded

FRAMES = [(100 * n, grey(20 + 5 * n)) for n in range(20)]
CASES = 30


@pytest.fixture(scope="module")
def sources(media_folder: Path) -> dict[str, bytes]:
    text = [("srt", "eng", [(0, 500, "Hello"), (600, 900, "you")])]
    paths = [
        make_video(media_folder / "fuzz.mp4", FRAMES, audio=[tone(2)]),
        make_video(media_folder / "fuzz.mkv", FRAMES, audio=[tone(2)], subtitles=text),
        make_video(media_folder / "fuzz.avi", FRAMES, codec="mpeg4", audio=[tone(2)], audio_codec="libmp3lame"),
        make_video(media_folder / "fuzz.ts", FRAMES, audio=[tone(2)]),
    ]
    return {path.name: path.read_bytes() for path in paths}


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Some bytes changed (the header among them), a piece lost, doubled or cut off."""
    hurt = bytearray(data)
    for _ in range(rng.choice((1, 5, 50))):
        hurt[rng.randrange(min(len(hurt), rng.choice((200, len(hurt)))))] = rng.randrange(256)
    begin = rng.randrange(len(hurt))
    end = min(len(hurt), begin + rng.randrange(1, 2_000))
    match rng.randrange(5):
        case 0:
            del hurt[begin:end]
        case 1:
            hurt[begin:begin] = hurt[begin:end]
        case 2:
            del hurt[begin:]
        case 3:
            hurt[begin:end] = bytes(end - begin)
    return bytes(hurt)


@pytest.mark.parametrize("name", ["fuzz.mp4", "fuzz.mkv", "fuzz.avi", "fuzz.ts"])
def test_damaged_videos_end_kindly(sources: dict[str, bytes], tmp_path: Path, name: str):
    rng = random.Random(name)
    readable = 0
    for case in range(CASES):
        path = tmp_path / f"{case}_{name}"
        path.write_bytes(damaged(sources[name], rng))
        try:
            assert probe(path).duration_ms > 0
            found = list(frames_at(path, range(0, 2_000, 300), damage=Damage()))
            assert len(found) == 7
            times = [picture.at_ms for picture in every_frame(path)]
            assert times == sorted(times)
            embedded(path)
            cut(path, 300, 1_200, tmp_path / f"{case}.mp4")
            readable += 1
        except MediaError as error:
            assert error.where
    assert readable > 0


def test_damaged_subtitles_end_in_cues():
    rng = random.Random(7)
    texts = [
        "WEBVTT\n\nNOTE x\n\n" + "00:01.000 --> 00:02.000\n<v Ann>Größe &amp; <b>mehr</b>\n\n" * 10,
        "1\n00:00:01,000 --> 00:00:02,000\nAnn: Hello\n\n" * 10,
        "[Script Info]\n[Events]\n" + "Dialogue: 0,0:00:01.00,0:00:02.00,D,Ann,0,0,0,,{\\i1}a\\Nb\n" * 10,
        "0:00:01.000,0:00:02.000\nHello\n\n" * 10,
        "[00:00:01.000 --> 00:00:02.000] Hello\n" * 30,
    ]
    for _ in range(100):
        text, _ = decoded(damaged(rng.choice(texts).encode(), rng))
        cues, _ = parse(text)
        assert all(0 <= cue.start_ms < cue.end_ms and cue.text for cue in cues)
