from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.graph import naming


def test_titles_articles_case_and_accents_do_not_tell_names_apart():
    assert naming.folded("Dr.  José Peña") == naming.folded("jose pena")
    assert naming.folded("The Red Mug") == "red mug"
    assert naming.folded("the") == "the"


@pytest.mark.parametrize(
    ("form", "full"),
    [
        ("tom", "thomas"),
        ("maggie", "margaret"),
        ("sam", "samira"),
        ("kat", "katrin"),
        ("bob", "robert"),
        ("annie", "anna"),
    ],
)
def test_pet_forms_are_known_by_the_list_or_by_their_beginning(form, full):
    assert naming.is_short_for(form, full)


@pytest.mark.parametrize(
    ("form", "full"), [("tom", "tom"), ("lee", "marlene"), ("max", "anna"), ("jo", "bernard"), ("", "anna")]
)
def test_what_is_no_pet_form_is_none(form, full):
    assert not naming.is_short_for(form, full)


def test_two_pet_forms_of_one_name_belong_together():
    assert naming.same_pet_form("tom", "tommy")
    assert naming.same_pet_form("kate", "kathy")
    assert not naming.same_pet_form("tom", "tim")


@pytest.mark.parametrize(
    ("heard", "meant"), [("jonathen", "jonathan"), ("shawn", "sean"), ("lucai", "lucia"), ("tasya", "tasha")]
)
def test_slips_of_pen_and_ear_are_alike(heard, meant):
    assert naming.alike_spelling(heard, meant)


@pytest.mark.parametrize(("one", "other"), [("bob", "bib"), ("anna", "marta"), ("katrina", "shure"), ("al", "el")])
def test_other_names_are_not_alike(one, other):
    assert not naming.alike_spelling(one, other)


@given(st.text(max_size=40), st.text(max_size=40))
def test_likeness_of_spelling_is_mutual(one, other):
    assert naming.alike_spelling(one, other) == naming.alike_spelling(other, one)


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing_more(name):
    assert naming.folded(naming.folded(name)) == naming.folded(name)
    naming.thing(name)


def test_a_thing_is_its_last_noun_with_marks_and_owner():
    mug = naming.thing("Tom's red mugs")
    assert (mug.head, mug.marks, mug.owner) == (naming.thing("cup").head, frozenset({"red"}), "tom")
    assert naming.thing("a bottle of milk").head == "bottle"
    assert naming.thing("Anna Keller's bike").owner == "anna keller"


def test_a_description_fits_another_that_says_more_and_contradicts_nothing():
    assert naming.thing("the mug").fits(naming.thing("the red mug"))
    assert not naming.thing("blue mug").fits(naming.thing("red mug"))
    assert not naming.thing("Tom's mug").fits(naming.thing("Lina's mug"))


@pytest.mark.parametrize(
    ("plural", "one"),
    [("berries", "berry"), ("dishes", "dish"), ("knives", "knife"), ("glass", "glass"), ("scissors", "scissors")],
)
def test_plurals_lose_their_ending(plural, one):
    assert naming.singular(plural) == one
