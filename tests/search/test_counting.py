"""Words of a question counted in rows: as the keyword index would count them."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from videmus.search.counting import counted
from videmus.search.question import Term
from videmus.store.protocol import Text
from videmus.store.words import stem, terms

SAID = st.lists(
    st.sampled_from(
        ("learning", "learns", "rate", "Rates", "3.5", "C++", "ties", "tying", "said", "Äpfel", "学习", "it's")
    )
).map(" ".join)


def row(text: str, speaker: str | None = None) -> Text:
    return Text("id", "v", 0, 1, "speech", text, speaker)


@given(st.lists(st.tuples(SAID, st.sampled_from([None, "Rate Keeper"])), max_size=5), SAID)
def test_each_term_is_counted_as_the_index_holds_it(rows, question):
    asked = [Term(word, (word, "c++")) for word in terms(question)]
    counts, lengths = counted([row(text, speaker) for text, speaker in rows], asked)
    for k, (text, speaker) in enumerate(rows):
        there = Counter(terms(f"{speaker} {text}" if speaker else text))
        assert lengths[k] == sum(there.values())
        assert [int(n) for n in counts[k]] == [sum(there[one] for one in term.counts_as) for term in asked]


@given(
    st.text("abceginrstuyz", min_size=1, max_size=9),
    st.sampled_from(["", "s", "ed", "ing", "y", "ies", "eed", "ation"]),
)
def test_a_stem_begins_as_its_word(beginning, ending):
    assert stem(beginning + ending)[0] == beginning[0]
