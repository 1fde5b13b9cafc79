from __future__ import annotations

import contextlib
import itertools
import wave

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.errors import MissingExtraError, SubtitleError
from videmus.model import Evidence, Origin, SpeechDetail, Word
from videmus.perceive import speakers
from videmus.perceive.speakers import Turn, diarized, parse_rttm, stitched, with_speakers

RTTM = """SPEAKER call 1 6.690 0.430 <NA> <NA> ann <NA> <NA>
SPEAKER call 1 7.550 0.800 <NA> <NA> bob <NA> <NA>
"""


def said(text, start, end, words=(), speaker=None):
    return Evidence("e", "v", start, end, "speech", text, Origin("t"), speaker, detail=SpeechDetail(words))


def test_an_rttm_files_turns_are_read_in_milliseconds():
    assert parse_rttm(RTTM) == [Turn(6_690, 7_120, "ann"), Turn(7_550, 8_350, "bob")]


def test_of_several_recordings_the_named_one_is_read():
    both = RTTM + "SPEAKER other 1 1 2 <NA> <NA> eve <NA> <NA>\n"
    assert [t.speaker for t in parse_rttm(both, "other")] == ["eve"]
    with pytest.raises(SubtitleError, match="several recordings"):
        parse_rttm(both, "third")


@pytest.mark.parametrize(
    "line",
    [
        "SPEAKER call 1 x 0.4 <NA> <NA> ann",
        "SPEAKER call 1",
        "SPEAKER c 1 nan 1 <NA> <NA> a",
        "SPEAKER c 1 -5 1 <NA> <NA> a",
    ],
)
def test_a_line_that_is_none_is_named(line):
    with pytest.raises(SubtitleError) as caught:
        parse_rttm(RTTM + line)
    assert caught.value.where == "line 3"


@given(st.text(max_size=200))
def test_any_text_is_turns_or_a_subtitle_error(text):
    with contextlib.suppress(SubtitleError):
        assert all(t.end_ms > t.start_ms >= 0 for t in parse_rttm(text))


def test_an_utterance_has_the_speaker_who_covers_most_of_it():
    turns = [Turn(0, 1_500, "ann"), Turn(1_500, 5_000, "bob")]
    (row,) = with_speakers([said("Good morning to you.", 1_000, 4_000)], turns)
    assert row.speaker == "bob" and row.text == "Good morning to you."


def test_an_utterance_is_cut_where_the_speaker_changes_between_its_words():
    words = tuple(Word(k * 500, k * 500 + 400, w) for k, w in enumerate(["Where", "is", "it?", "In", "the", "hall."]))
    turns = [Turn(0, 1_450, "ann"), Turn(1_450, 3_000, "bob")]
    first, second = with_speakers([said("Where is it? In the hall.", 0, 2_900, words)], turns)
    assert (first.speaker, first.text) == ("ann", "Where is it?")
    assert (second.speaker, second.text, second.start_ms, second.end_ms) == ("bob", "In the hall.", 1_500, 2_900)
    assert len(second.detail.words) == 3 and first.id != second.id


def test_a_border_inside_a_sentence_moves_to_its_nearer_end():
    text = "Neither did I. I thought so."
    words = tuple(Word(k * 500, k * 500 + 400, w) for k, w in enumerate(text.split()))
    turns = [Turn(0, 950, "ann"), Turn(950, 3_000, "bob")]
    parts = with_speakers([said(text, 0, 2_900, words)], turns)
    assert [(r.speaker, r.text) for r in parts] == [("ann", "Neither did I."), ("bob", "I thought so.")]


def test_what_no_turn_covers_has_no_speaker_and_who_had_one_keeps_it():
    quiet, known = with_speakers(
        [said("Hm.", 90_000, 91_000), said("Yes.", 0, 500, speaker="Eve")], [Turn(0, 1_000, "ann")]
    )
    assert quiet.speaker is None and known.speaker == "Eve"


def test_parts_are_stitched_by_who_speaks_in_the_minute_they_share():
    first = [Turn(0, 5_000, "A"), Turn(9_000, 10_500, "B"), Turn(10_500, 11_500, "A")]
    second = [
        Turn(10_000, 10_500, "X"),
        Turn(10_500, 11_500, "Y"),
        Turn(12_000, 13_000, "X"),
        Turn(14_000, 15_000, "Z"),
    ]
    whole = stitched([first, second], 10_000)
    by_time = {t.start_ms: t.speaker for t in whole}
    assert by_time[12_000] == by_time[9_000] and by_time[10_500] == by_time[0]
    assert by_time[14_000] not in (by_time[0], by_time[9_000])
    assert all(b.start_ms >= a.start_ms for a, b in itertools.pairwise(whole))
    assert sum(t.end_ms - t.start_ms for t in whole) == 5_000 + 1_500 + 1_000 + 1_000 + 1_000


def test_hours_are_diarized_with_one_part_in_memory_at_a_time():
    asked = []

    class Fake:
        name = "fake"

        def turns(self, samples):
            return [Turn(0, len(samples) * 1000 // speakers.RATE, "S")]

    def read(start, end):
        asked.append(end - start)
        return np.zeros((end - start) * speakers.RATE // 1000, np.float32)

    turns = diarized(read, 95_000, Fake(), part_ms=30_000, overlap_ms=5_000)
    assert max(asked) == 35_000 and len(asked) == 4
    assert {t.speaker for t in turns} == {"SPEAKER_01"} and turns[-1].end_ms == 95_000
    assert sum(t.end_ms - t.start_ms for t in turns) == 95_000


def test_a_diarizer_that_is_not_installed_says_how_to_get_it():
    with pytest.raises(MissingExtraError) as caught:
        speakers.load("senko")
    assert 'pip install "videmus[diarization]"' in caught.value.next
    with pytest.raises(MissingExtraError, match="no diarizer"):
        speakers.load("nobody")


def test_samples_are_written_as_sixteen_bit_sound(tmp_path):
    speakers.write_wav(tmp_path / "a.wav", np.array([0, 1, -1, 2], np.float32))
    with wave.open(str(tmp_path / "a.wav")) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getnframes()) == (16_000, 1, 4)
        assert np.frombuffer(sound.readframes(4), "<i2").tolist() == [0, 32_767, -32_767, 32_767]
