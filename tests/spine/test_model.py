import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.model import (
    DETAIL_OF_KIND,
    EVIDENCE_KINDS,
    Correction,
    Evidence,
    NarrationDetail,
    Origin,
    SceneDetail,
    ScreenDetail,
    SlideTextDetail,
    SpeechDetail,
    SummaryDetail,
    TextLine,
    Word,
    content_id,
    detail_from_plain,
    evidence_id,
    to_plain,
)

DETAILS = {
    "speech": SpeechDetail((Word(0, 900, "naïve", 0.5), Word(900, 1200, "学习")), "en", -0.3, True),
    "screen": ScreenDetail((TextLine("3.5 V", (0.1, 0.2, 0.5, 0.25), 0.98),), "f1"),
    "scene": SceneDetail(("f1", "f2")),
    "vision": SlideTextDetail(("entropy",), {"entropy": "a measure"}, 3),
    "narration": NarrationDetail("the cat", (Correction("c1", "cat", "CAT", 0),)),
    "consolidated": SlideTextDetail(("entropy",), {}, 0),
    "clip": SceneDetail(()),
    "caption": SceneDetail(("f9",)),
    "summary": SummaryDetail("video", (("It ends.", ("e1", "e2")),), ("end",)),
}


@pytest.mark.parametrize("kind", EVIDENCE_KINDS)
def test_a_detail_comes_back_from_plain_data_as_it_was(kind):
    detail = DETAILS[kind]
    assert isinstance(detail, DETAIL_OF_KIND[kind])
    assert detail_from_plain(kind, to_plain(detail)) == detail


def test_no_detail_stays_none():
    assert detail_from_plain("speech", None) is None


@pytest.mark.parametrize("plain", [{"words": [{"start": 1}]}, {"lines": 3}, {"unknown": 1}])
def test_plain_data_of_another_shape_is_refused(plain):
    with pytest.raises((KeyError, TypeError, ValueError)):
        detail_from_plain("speech", plain)


def test_ids_follow_from_content_alone():
    assert evidence_id("v1", "speech", 0, 10, "a") == evidence_id("v1", "speech", 0, 10, "a")
    assert evidence_id("v1", "speech", 0, 10, "a") != evidence_id("v1", "speech", 0, 11, "a")
    assert evidence_id("v1", "speech", 0, 10, "a", "Ann") != evidence_id("v1", "speech", 0, 10, "a", "Bob")


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_parts_give_different_ids(one, other):
    assert (content_id("x", *one) == content_id("x", *other)) == (one == other)


def test_rows_cannot_be_changed():
    row = Evidence("e1", "v1", 0, 10, "speech", "hello", Origin("speech"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        row.text = "bye"
