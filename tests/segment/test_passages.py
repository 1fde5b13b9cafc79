"""Passages: short, in order, complete; they end where sentences do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.model import Evidence, Origin
from videmus.segment.passages import passages, sentence_spans, spans, word_count


def cut(text: str, maximum: float = 40) -> list[str]:
    return [text[a:b] for a, b in spans(text, maximum)]


def test_short_sentences_share_a_passage_and_long_ones_do_not():
    text = "One two three. Four five six! Seven eight nine ten eleven?"
    assert cut(text, 6) == ["One two three. Four five six!", "Seven eight nine ten eleven?"]


def test_a_long_sentence_is_cut_evenly_and_at_a_clause_where_one_is_near():
    words = " ".join(f"w{k}" for k in range(50))
    assert [len(p.split()) for p in cut(words)] == [25, 25]
    assert cut("a b c d e, f g h i j", 6) == ["a b c d e,", "f g h i j"]


def test_scripts_without_spaces_are_counted_by_characters():
    text = "学" * 200
    assert [len(p) for p in cut(text)] == [67, 67, 66]
    assert cut("我们学习。你们也学习。", 3) == ["我们学习。", "你们也学习。"]
    assert word_count("学习 two words") == 3


def test_lines_of_a_slide_are_sentences_and_keep_their_bullets():
    text = "Title (I)\n• first point\n• second point"
    assert [text[a:b] for a, b in sentence_spans(text)] == ["Title (I)", "• first point", "• second point"]


def test_numbers_and_abbreviations_inside_are_no_sentence_ends():
    assert cut("It is 3.5 metres. Next.", 4) == ["It is 3.5 metres.", "Next."]


def test_a_passage_names_its_row_and_place():
    row = Evidence("e1", "v1", 0, 1000, "speech", "  One two. Three four.  ", Origin("test"))
    (one, two) = passages([row], maximum=2)
    assert (one.evidence, one.index, two.index) == ("e1", 0, 1)
    assert row.text[two.first : two.last] == two.text == "Three four."


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "..."])
def test_what_holds_no_word_has_no_passage(text):
    assert cut(text) == []


ALPHABET = "ab .,!?;\n學習กา•—3"


@given(st.text(alphabet=ALPHABET, max_size=300), st.integers(2, 12))
def test_passages_are_ordered_disjoint_short_and_complete(text, maximum):
    found = spans(text, maximum)
    ends = [0] + [b for _, b in found]
    assert all(end <= a < b for end, (a, b) in zip(ends, found, strict=False))
    for a, b in found:
        assert text[a:b] == text[a:b].strip()
        assert word_count(text[a:b]) <= maximum + sum(not c.isalnum() for c in text[a:b])  # lone marks are no words
    if found:
        covered = {k for a, b in found for k in range(a, b)}
        assert all(k in covered for k, c in enumerate(text) if c.isalnum())


@given(st.text(max_size=200))
def test_any_text_is_cut_without_losing_a_letter(text):
    covered = {k for a, b in spans(text, 5) for k in range(a, b)}
    assert all(k in covered for k, c in enumerate(text) if c.isalnum())
