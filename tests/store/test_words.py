"""What the keyword index holds of a text, and of a question."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.store.words import fold, is_number, stem, terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 3.5, not 35.", ["it", "is", "3.5", "not", "35"]),
        ("RE16 TGK", ["re16", "tgk"]),
        ("C++ and C# or F#", ["c++", "and", "c#", "or", "f#"]),
        ("a 3.5mm jack, v1.2.3 at 12:45", ["a", "3.5", "mm", "jack", "v1.2.3", "at", "12:45"]),
        ("user@example.com", ["user", "example", "com"]),
        ("Čapek's naïve Ｆｕｌｌ", ["capek", "naive", "full"]),
        ("don’t", ["dont"]),
        ("学习", ["学习", "习"]),
        ("用HTML5学习", ["用", "html5", "学习", "习"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("", []),
        ("… — !", []),
    ],
)
def test_words_keep_numbers_names_and_every_script(text, expected):
    assert words(text) == expected


@given(st.text(alphabet="abcXYZ 0123.,:+#'_-\n", max_size=80))
def test_plain_texts_are_read_as_all_others_are(text):
    assert words(text) == words(text + " é")[:-1]


def test_thai_is_cut_into_overlapping_pairs():
    found = words("เรียนรู้")
    assert found[0] == "เร"
    assert all(len(pair) <= 2 for pair in found)


def test_forms_of_a_word_share_one_term():
    assert len({stem(w) for w in ("diverge", "diverges", "diverged", "diverging")}) == 1
    assert stem("re16") == "re16"
    assert stem("größe") == "größe"


def test_stems_are_those_of_sqlites_porter_tokenizer():
    vocabulary = sorted(
        {"relational", "conditional", "hopping", "hoping", "falling", "filing", "agreed", "feed", "caresses", "ponies",
         "happy", "sky", "generalization", "oscillators", "technology", "possibly", "adoption", "controlling", "roll",
         "effective", "hopefulness", "triplicate", "activate", "probate", "rate", "cease", "motoring", "plastered",
         "irritant", "replacement", "bowdlerize", "electrical", "predication", "operator", "feudalism", "ties", "cats"}
    )  # fmt: skip
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter ascii')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    connection.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", list(enumerate(vocabulary)))
    theirs = dict(connection.execute("SELECT doc, term FROM v"))
    connection.close()
    assert [stem(w) for w in vocabulary] == [theirs[k] for k in range(len(vocabulary))]


def test_numbers_are_told_from_names():
    assert is_number("3.5")
    assert is_number("12:45")
    assert not is_number("re16")
    assert not is_number("v1.2")


@given(st.text(max_size=80))
def test_terms_hold_nothing_that_query_syntax_could_use(text):
    for term in terms(text):
        assert term
        assert not set(term) & set("\"'()*^ \x00\n\t-")


@given(st.text("abcxyzABC019.,:+#'_- ", max_size=40))
def test_plain_text_has_the_words_that_it_has_beside_other_letters(text):
    assert words(text) == words(text + " é")[:-1]


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)
