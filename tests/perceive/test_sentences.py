"""Rows are about a sentence long, whatever the recogniser's or the subtitle's own pieces were."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from videmus.config import SpeechSettings
from videmus.model import Word
from videmus.perceive.sentences import Spoken, joined_cues, rows, without_loops

SETTINGS = SpeechSettings()


def said(text: str, *, start_ms: int = 0, word_ms: int = 300, pauses: dict[int, int] | None = None) -> list[Word]:
    """Words of `word_ms` each; `pauses` are milliseconds of silence before a word by its number."""
    words, at = [], start_ms
    for number, word in enumerate(text.split()):
        at += (pauses or {}).get(number, 0)
        words.append(Word(at, at + word_ms, f" {word}", 0.9))
        at += word_ms
    return words


def texts(words: list[Word]) -> list[str]:
    return [row.text for row in rows(words, SETTINGS)]


def test_a_row_ends_at_a_full_stop_and_has_the_times_of_its_words():
    first, second = rows(said("The rate is 3.5 percent. Why does it diverge?"), SETTINGS)
    assert (first.text, first.start_ms, first.end_ms) == ("The rate is 3.5 percent.", 0, 1500)
    assert (second.text, second.start_ms, second.end_ms) == ("Why does it diverge?", 1500, 2700)
    assert [w.text for w in second.words] == ["Why", "does", "it", "diverge?"]


def test_a_title_or_an_initial_ends_no_sentence():
    assert texts(said("We thank Dr. Miller and J. Smith for this. Now we begin here.")) == [
        "We thank Dr. Miller and J. Smith for this.",
        "Now we begin here.",
    ]


def test_a_fragment_joins_the_sentence_after_it_in_the_same_breath_only():
    assert texts(said("Okay. Now we begin with the proof.")) == ["Okay. Now we begin with the proof."]
    assert texts(said("Okay. Now we begin with the proof.", pauses={1: 1000})) == [
        "Okay.",
        "Now we begin with the proof.",
    ]


def test_a_long_pause_ends_a_row_without_a_full_stop():
    assert texts(said("and so we see that the loss goes down", pauses={5: 2000})) == [
        "and so we see that",
        "the loss goes down",
    ]


def test_an_endless_sentence_is_cut_at_a_comma():
    text = " ".join(f"word{i}," if i % 10 == 9 else f"word{i}" for i in range(120))
    found = rows(said(text), SETTINGS)
    assert len(found) > 2
    assert all(row.end_ms - row.start_ms <= SETTINGS.row_ms for row in found)
    assert all(row.text.endswith(",") for row in found[:-1])


def test_sentences_end_in_scripts_without_spaces():
    words = [Word(i * 200, i * 200 + 200, c, 0.9) for i, c in enumerate("今天我们学习概率。明天我们学习统计。")]
    assert texts(words) == ["今天我们学习概率。", "明天我们学习统计。"]


@given(st.lists(st.sampled_from(["a", "b.", "c,", "Yes.", "3.5", "no"]), max_size=80), st.integers(0, 3000))
def test_no_word_is_lost_and_no_row_is_too_long(tokens, pause):
    words = said(" ".join(tokens), pauses={7: pause, 20: pause})
    found = rows(words, SETTINGS)
    assert " ".join(row.text for row in found).split() == tokens
    assert all(row.end_ms - row.start_ms <= SETTINGS.row_ms + 300 for row in found)
    assert all(a.end_ms <= b.start_ms for a, b in pairwise(found))


def test_a_loop_is_said_once_and_what_people_repeat_stays():
    loop = said("and then we go " + "thank you very much " * 9 + "home")
    assert "".join(w.text for w in without_loops(loop)) == " and then we go thank you very much home"
    for text in ("no no no it is not", "very very good", "step by step by step"):
        assert without_loops(said(text)) == said(text)


def cue(start: float, end: float, text: str, speaker: str | None = None) -> Spoken:
    return Spoken(round(start * 1000), round(end * 1000), text, (), speaker)


def joined(*cues: Spoken) -> list[tuple[int, int, str, str | None]]:
    return [(r.start_ms, r.end_ms, r.text, r.speaker) for r in joined_cues(cues, SETTINGS)]


def test_cues_that_cut_a_sentence_are_one_row():
    assert joined(cue(0, 2, "The learning rate"), cue(2, 4, "is too high."), cue(4, 6, "So it diverges.")) == [
        (0, 4000, "The learning rate is too high.", None),
        (4000, 6000, "So it diverges.", None),
    ]


def test_two_speakers_are_never_one_row():
    assert joined(cue(0, 2, "I think that", "Ann"), cue(2, 4, "you are right", "Ben")) == [
        (0, 2000, "I think that", "Ann"),
        (2000, 4000, "you are right", "Ben"),
    ]


def test_a_long_pause_parts_cues():
    assert len(joined(cue(0, 2, "and then"), cue(5, 6, "something else"))) == 2


def test_cues_without_full_stops_stay_within_the_longest_row():
    found = joined(*(cue(2 * i, 2 * i + 2, f"words number {i}") for i in range(30)))
    assert all(end - start <= SETTINGS.row_ms for start, end, *_ in found)
    assert " ".join(text for _, _, text, _ in found) == " ".join(f"words number {i}" for i in range(30))


def test_a_long_cue_is_kept_as_it_is():
    assert joined(cue(0, 40, "a whole slide of notes"), cue(40, 42, "and more")) == [
        (0, 40_000, "a whole slide of notes", None),
        (40_000, 42_000, "and more", None),
    ]


def test_overlapping_cues_keep_their_own_times():
    found = joined(cue(0, 5, "He said this.", "Ann"), cue(1, 3, "She said that.", "Ben"))
    assert found == [(0, 5000, "He said this.", "Ann"), (1000, 3000, "She said that.", "Ben")]
