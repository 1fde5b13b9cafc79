"""Sound comes out as one even stream whose sample n is at n / 16,000 s of the video's time."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from videmus.errors import MediaError, UsageError
from videmus.media.audio import SAMPLE_RATE, AudioReader, same_language


def tone(seconds: float, rate: int = SAMPLE_RATE, hertz: float = 440.0, channels: int = 1) -> np.ndarray:
    wave = 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)
    return np.tile((wave * 32767).astype(np.int16), (channels, 1))


def silence(seconds: float, rate: int = SAMPLE_RATE) -> np.ndarray:
    return np.zeros((1, round(seconds * rate)), np.int16)


def write(path: Path, tracks: list[dict], *, pictures: float = 0.0) -> Path:
    """Mux tracks of {"pieces": [(start s, samples)], "rate", "codec", "language", "packet"}, and grey pictures."""
    with av.open(str(path), "w") as out:
        video = None
        if pictures:
            video = out.add_stream("mpeg4", rate=10)
            video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        streams = []
        for track in tracks:
            samples = track["pieces"][0][1]
            layout = "mono" if len(samples) == 1 else "stereo"
            stream = out.add_stream(track.get("codec", "pcm_s16le"), rate=track.get("rate", SAMPLE_RATE), layout=layout)
            if "language" in track:
                stream.metadata["language"] = track["language"]
            streams.append((stream, track, layout))
        if video is not None:
            for i in range(round(pictures * 10)):
                picture = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 128, np.uint8), "rgb24")
                picture.pts, picture.time_base = i, Fraction(1, 10)
                out.mux(video.encode(picture))
            out.mux(video.encode(None))
        for stream, track, layout in streams:
            rate, packet = track.get("rate", SAMPLE_RATE), track.get("packet", 1024)
            for start, samples in track["pieces"]:
                for first in range(0, samples.shape[1], packet):
                    piece = np.ascontiguousarray(samples[:, first : first + packet].T.reshape(1, -1))
                    frame = av.AudioFrame.from_ndarray(piece, format="s16", layout=layout)
                    frame.sample_rate = rate
                    frame.pts, frame.time_base = round(start * rate) + first, Fraction(1, rate)
                    out.mux(stream.encode(frame))
            out.mux(stream.encode(None))
    return path


def heard(path: Path, **options) -> np.ndarray:
    return np.concatenate(list(AudioReader(path, **options)))


def onsets(samples: np.ndarray) -> list[float]:
    """The times, in seconds, at which sound begins (10 ms steps)."""
    loud = np.abs(samples[: len(samples) // 160 * 160].reshape(-1, 160)).max(1) > 0.1
    return [round(i / 100, 2) for i in np.flatnonzero(loud & ~np.concatenate([[False], loud[:-1]]))]


def test_stereo_at_another_rate_becomes_mono_at_16_khz_of_the_same_length_and_pitch(tmp_path):
    path = write(tmp_path / "a.wav", [{"pieces": [(0, tone(2, 44_100, channels=2))], "rate": 44_100}])
    samples = heard(path)
    assert samples.dtype == np.float32
    assert abs(len(samples) - 2 * SAMPLE_RATE) < 16
    spectrum = np.abs(np.fft.rfft(samples))
    assert abs(int(spectrum.argmax()) / 2 - 440) <= 1
    assert abs(np.abs(samples).max() - 0.5 * 2**0.5) < 0.03  # two equal channels, added at equal power


def test_blocks_are_even_and_together_the_whole(tmp_path):
    path = write(tmp_path / "a.wav", [{"pieces": [(0, tone(2.5))]}])
    assert [len(b) for b in AudioReader(path, block=SAMPLE_RATE)] == [16_000, 16_000, 8_000]


def test_a_gap_in_the_timestamps_is_silence(tmp_path):
    path = write(tmp_path / "a.mkv", [{"pieces": [(0, tone(1)), (3, tone(1))]}])
    reader = AudioReader(path)
    samples = np.concatenate(list(reader))
    assert onsets(samples) == [0.0, 3.0]
    assert abs(len(samples) - 4 * SAMPLE_RATE) < 32
    assert abs(reader.filled - 2 * SAMPLE_RATE) < 32


def test_sound_that_begins_after_the_pictures_begins_later(tmp_path):
    path = write(tmp_path / "a.mkv", [{"pieces": [(1.5, tone(1))]}], pictures=3)
    assert onsets(heard(path)) == [1.5]


def test_a_file_whose_clock_starts_elsewhere_starts_at_zero(tmp_path):
    path = write(tmp_path / "a.ts", [{"pieces": [(100, tone(1, 48_000))], "rate": 48_000, "codec": "mp2"}], pictures=0)
    samples = heard(path)
    assert onsets(samples)[0] <= 0.05
    assert 0.95 <= len(samples) / SAMPLE_RATE <= 1.1


def test_samples_that_overlap_are_heard_once(tmp_path):
    path = write(tmp_path / "a.mkv", [{"pieces": [(0, tone(1)), (0.5, silence(1))], "packet": 16_000}])
    reader = AudioReader(path)
    samples = np.concatenate(list(reader))
    assert abs(len(samples) - 1.5 * SAMPLE_RATE) < 32
    assert abs(reader.dropped - 0.5 * SAMPLE_RATE) < 32


def test_timestamps_that_start_anew_go_on_without_loss(tmp_path):
    one = write(tmp_path / "1.ts", [{"pieces": [(0, tone(14, 48_000))], "rate": 48_000, "codec": "mp2"}])
    joined = tmp_path / "joined.ts"
    joined.write_bytes(one.read_bytes() * 2)
    assert abs(len(heard(joined)) / SAMPLE_RATE - 28) < 0.2


def test_a_timestamp_far_beyond_the_end_is_no_silence(tmp_path):
    path = write(tmp_path / "a.mkv", [{"pieces": [(0, tone(1))]}])
    data = path.read_bytes()
    assert len(heard(path)) < 2 * SAMPLE_RATE
    late = write(tmp_path / "b.mkv", [{"pieces": [(0, tone(1)), (400_000, tone(1))]}])
    patched = late.read_bytes().replace(*(_duration_of(d) for d in (late.read_bytes(), data)))
    late.write_bytes(patched)
    assert len(heard(late)) < 15 * SAMPLE_RATE


def _duration_of(matroska: bytes) -> bytes:
    at = matroska.index(b"\x44\x89")  # the Duration element
    return matroska[at : at + 11]


def test_reading_from_a_time_gives_the_samples_from_there(tmp_path):
    path = write(tmp_path / "a.mkv", [{"pieces": [(0, silence(4)), (4, tone(1)), (5, silence(2))]}])
    assert onsets(heard(path, start_ms=2500)) == [1.5]
    assert abs(len(heard(path, start_ms=2500)) - 4.5 * SAMPLE_RATE) < 32


def test_a_track_is_chosen_by_index_or_language(tmp_path):
    tracks = [
        {"pieces": [(0, tone(1, hertz=300))], "language": "eng"},
        {"pieces": [(0, tone(1, hertz=600))], "language": "ger"},
    ]
    path = write(tmp_path / "a.mkv", tracks)

    def pitch(track):
        return int(np.abs(np.fft.rfft(heard(path, track=track)[:SAMPLE_RATE])).argmax())

    assert [round(pitch(t), -1) for t in (None, 0, 1, "de", "deu")] == [300, 300, 600, 600, 600]
    with pytest.raises(UsageError, match=r"no audio track 'fr'.*0 \(eng\), 1 \(ger\)"):
        heard(path, track="fr")


@pytest.mark.parametrize(
    ("wanted", "tagged", "same"),
    [("de", "ger", True), ("deu", "de-AT", True), ("en", "eng", True), ("en", None, False), ("fr", "ger", False)],
)
def test_languages_are_the_same_in_two_letters_and_three(wanted, tagged, same):
    assert same_language(wanted, tagged) is same


def test_damaged_packets_are_counted_and_the_rest_keeps_its_time(tmp_path):
    path = write(
        tmp_path / "a.mka",
        [
            {
                "pieces": [(0, tone(6, 48_000)), (6, silence(2, 48_000)), (8, tone(1, 48_000))],
                "rate": 48_000,
                "codec": "aac",
            }
        ],
    )
    data = bytearray(path.read_bytes())
    damaged = np.random.default_rng(1)
    for at in range(len(data) // 4, len(data) // 2, 97):
        data[at] = int(damaged.integers(256))
    path.write_bytes(bytes(data))
    reader = AudioReader(path)
    samples = np.concatenate(list(reader))
    assert 8.5 < len(samples) / SAMPLE_RATE < 9.5
    assert any(abs(t - 8) < 0.1 for t in onsets(samples))


def test_a_file_that_is_cut_off_is_heard_up_to_there(tmp_path):
    path = write(tmp_path / "a.mka", [{"pieces": [(0, tone(6))]}])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert 2.5 < len(heard(path)) / SAMPLE_RATE < 3.5


def test_a_file_without_sound_says_so(tmp_path):
    path = write(tmp_path / "a.mkv", [], pictures=1)
    with pytest.raises(MediaError, match="no sound"):
        heard(path)


def test_a_file_of_another_kind_says_so(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"not a video at all..")
    with pytest.raises(MediaError, match=r"a\.mp4"):
        heard(path)
