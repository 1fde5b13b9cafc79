"""What sounds alike, which numbers a text states, and what a description lacks of its slide."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.config import PremindSettings
from videmus.understand.check import lacking
from videmus.understand.numbers import clocks, names, numbers, values
from videmus.understand.sound import likeness, refined_soundex, turned_round

OURS = PremindSettings()
PREMIND = replace(OURS, gate="premind")


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("testing", "T6036084"), ("The", "T60"), ("quick", "Q503"), ("brown", "B1908"), ("fox", "F205"),
        ("jumped", "J408106"), ("over", "O0209"), ("lazy", "L7050"), ("dogs", "D6043"), ("Braz", "B1905"),
        ("Caren", "C30908"), ("", ""), ("学习", ""), ("Müller", "M80709"),
    ],
)  # fmt: skip
def test_the_code_of_a_word(word, code):
    assert refined_soundex(word) == code


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("soft max", "softmax"), ("cooper netties", "Kubernetes"), ("rello", "ReLU"), ("pie torch", "PyTorch"),
        ("gradient dissent", "gradient descent"), ("three point five", "3.5"), ("are e sixteen", "RE16"),
        ("resnet fifty", "ResNet-50"), ("colonel", "kernel"), ("x or", "XOR"), ("nave bays", "naive Bayes"),
    ],
)  # fmt: skip
def test_what_sounds_alike_passes_both_gates(heard, meant):
    assert likeness(heard, meant, OURS).alike and likeness(heard, meant, PREMIND).alike


@pytest.mark.parametrize(
    ("heard", "meant"), [("cat", "dog"), ("increase", "decrease"), ("one point five", "3.5"), ("Amanda", "lambda")]
)
def test_what_premind_s_distance_alone_passes_ours_refuses(heard, meant):
    assert likeness(heard, meant, PREMIND).alike
    refused = likeness(heard, meant, OURS)
    assert not refused.alike and refused.reason


@pytest.mark.parametrize(("heard", "meant"), [("photosynthesis", "cat"), ("学习", "学校"), ("", "softmax")])
def test_what_sounds_unlike_passes_neither(heard, meant):
    assert not likeness(heard, meant, OURS).alike and not likeness(heard, meant, PREMIND).alike


def test_prefixes_that_turn_a_meaning_round():
    assert turned_round("overfitting", "underfitting") and turned_round("Supervised", "unsupervised")
    assert not turned_round("inlet", "outlet") and not turned_round("in", "de")


@given(st.text(max_size=40), st.text(max_size=40))
def test_likeness_is_symmetric_and_never_fails(first, second):
    there, back = likeness(first, second, OURS), likeness(second, first, OURS)
    assert (there.distance, there.alike) == (back.distance, back.alike)


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("3.5", ["3.5"]), ("1,000", ["1000", "1"]), ("1 000 000", ["1000000"]), ("3,5", ["3.5"]), ("1.234,5", ["1234.5"]),
        ("-2", ["-2"]), ("1-2", ["1", "2"]), ("\u22124", ["-4"]), ("1e-4", ["0.0001"]), ("3 million", ["3000000"]),
        ("10k", ["10000"]), ("the 3rd", ["3"]), ("twenty-five", ["25"]), ("two hundred and five", ["205"]),
        ("three point five", ["3.5"]), ("two three", ["2", "3"]), ("\uff11\uff12", ["12"]), ("50 %", ["50"]),
        ("one of them", []), ("RE16", []), ("at 12:34", []), ("GPT-4", ["4"]), ("v1.2.3", []),
    ],
)  # fmt: skip
def test_the_numbers_of_a_text(text, stated):
    found = {reading for number in numbers(text) for reading in number.readings}
    assert found == {Decimal(s).normalize() for s in stated}


def test_evidence_is_read_generously():
    assert Decimal(25) in values("twenty five of them") and Decimal(-3) in values("minus 3")
    assert Decimal(4) in values("GPT-4o") and Decimal(1) in values("one of them")
    assert Decimal("3.5") in values("v3.5") and Decimal(35) not in values("v3.5")


def test_names_with_digits_and_clock_times_are_their_own_kind():
    assert names("RE16 and H2O, the 3rd, 10k") == {"re16", "h2o"}
    assert clocks("from 12:34 to 1:02:03, ratio 16:9") == ["12:34", "1:02:03"]


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_a_number_is_found_as_it_is_written(value):
    assert value.normalize() in {r for n in numbers(f"It is {value} now") for r in n.readings}
    grouped = f"{value:,}"
    assert value.normalize() in {r for n in numbers(f"It is {grouped} now") for r in n.readings}


@given(st.text(max_size=80))
def test_no_text_makes_it_fail(text):
    assert isinstance(values(text), set) and lacking([text], text).numbers == ()


# ---------------------------------------------------------------- the deterministic check


def test_missing_numbers_and_names_are_found():
    found = lacking(["Accuracy 78.6 %", "Model RE16, 1,000 steps"], "The accuracy of the model after 1000 steps.")
    assert found.numbers == ("78.6", "re16") and found.flawed(1.0)


def test_rephrasing_is_no_flaw_but_leaving_out_half_is():
    slide = ["Gradient descent converges slowly", "Momentum accelerates convergence"]
    assert not lacking(slide, "Gradients descending converge slowly; momentum accelerates the convergence.").flawed(
        0.25
    )
    assert lacking(slide, "The slide is about optimisation.").flawed(0.25)


def test_scripts_without_spaces_are_compared_too():
    assert not lacking(["学习率决定步长"], "这里学习率决定步长。").flawed(0.25)
    assert lacking(["学习率决定步长"], "一张幻灯片").flawed(0.25)


def test_an_empty_slide_lacks_nothing():
    assert not lacking([], "Anything").flawed(0.0)


@pytest.mark.parametrize("piece", ["1", "1.", "1,", "1 000 ", "a1", "one ", "1e", "1:", "a", "学", " ", "-"])
def test_long_hostile_texts_are_read_in_linear_time(piece):
    text = piece * (100_000 // len(piece)) + "x"
    values(text), names(text), refined_soundex(text)  # in quadratic time it would hang
    assert not lacking([text], text).flawed(0.0)
