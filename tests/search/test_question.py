"""What is looked up for what a person types."""

from hypothesis import given
from hypothesis import strategies as st

from videmus.search.question import MOST_WORDS, question

VOCABULARY = ["re16tgk", "gradient", "13.5", "学习", "学校"]


def read(text, known=("gradient", "rate")):
    def containing(piece: str) -> list[str]:
        return [t for t in VOCABULARY if piece in t]

    return question(text, lambda terms: {t: 1 for t in terms if t in known}, containing)


def words(text, **options):
    return {t.word: t for t in read(text, **options).terms}


def test_small_words_are_left_out_unless_there_are_no_others():
    assert list(words("What is the gradient of it?")) == ["gradient"]
    assert list(words("to be or not to be")) == ["to", "be", "or", "not"]


def test_words_about_the_video_weigh_less_and_named_ones_more():
    found = words("What does the speaker say about the 'Image (I)' and rate")
    assert found["speaker"].weight < found["rate"].weight < found["image"].weight
    assert "i" in found  # quoted: not left out


def test_quoted_words_are_phrases():
    assert read('find "exact Phrase" and “another one”').phrases == (("exact", "phrase"), ("another", "one"))
    assert read('an unclosed " quote').phrases == ()


def test_an_unknown_word_counts_as_the_words_that_hold_it():
    assert words("TGK")["tgk"].counts_as == ("re16tgk",)
    assert words("gradient")["gradient"].counts_as == ("gradient",)


def test_a_number_never_counts_as_a_longer_one():
    assert words("3.5")["3.5"].counts_as == ("3.5",)


def test_one_character_of_chinese_begins_its_words():
    assert words("学")["学"].counts_as == ("学习", "学校")


def test_a_pasted_text_costs_no_more_than_a_long_question():
    found = read(" ".join(f"word{k}" for k in range(200_000)))
    assert len(found.terms) == MOST_WORDS
    assert len(found.text) < 5_000


@given(st.text(max_size=200))
def test_any_text_is_a_question(text):
    found = read(text)
    assert all(t.word and t.counts_as for t in found.terms)
