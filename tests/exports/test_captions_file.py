"""Descriptions of what is seen, as other programs write them."""

from __future__ import annotations

import json

import pytest

from videmus.errors import SubtitleError
from videmus.exports.captions_file import Caption, beside, read

OPENS, POURS = Caption(0, 2_000, "C opens the tap"), Caption(2_000, 4_000, "C pours water")


@pytest.mark.parametrize(
    "document",
    [
        {"0_30": " C opens\nthe tap", "30_60": "C pours water"},
        [[2, 4, "C pours water"], [0.0, 2.0, "C opens the tap"]],
        [
            {"start": 0, "end": 2, "text": "C opens the tap", "score": 1},
            {"start": 2, "end": 4, "text": "C pours water"},
        ],
        {
            "videmus_evidence": 1,
            "title": "kitchen",
            "scene": [
                {"start_ms": 0, "end_ms": 2000, "text": "C opens the tap"},
                {"start_ms": 2000, "end_ms": 4000, "text": "C pours water"},
            ],
        },
    ],
    ids=["pictures", "seconds", "named seconds", "evidence"],
)
def test_every_form_gives_the_same_captions(tmp_path, document):
    file = tmp_path / "kitchen.captions.json"
    file.write_text(json.dumps(document))
    assert read(file, 15.0) == [OPENS, POURS]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("rubbish", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no captions in it"),
        ('{"0_30": "  "}', "no captions in it"),
        ('{"zero": "x"}', "no captions"),
        ('[[0, 1e300, "x"]]', "no captions"),
        ('[[-1, 1, "x"]]', "no captions"),
        ('[[0, NaN, "x"]]', "no captions"),
        ('[[3, 1, "x"]]', "ends before it begins"),
        ('[{"start": 0, "text": "x"}]', "no captions"),
        ('{"videmus_evidence": 1, "title": "t", "scene": [{"start_ms": -1, "end_ms": 5, "text": "x"}]}', "not a sound"),
    ],
)
def test_what_is_no_captions_file_is_refused_with_the_reason(tmp_path, text, what):
    file = tmp_path / "a.captions.json"
    file.write_text(text)
    with pytest.raises(SubtitleError, match=what) as caught:
        read(file, 15.0)
    assert str(file) in caught.value.where and caught.value.next


def test_numbers_of_pictures_need_the_videos_rate(tmp_path):
    (tmp_path / "a.captions.json").write_text('{"0_30": "x"}')
    with pytest.raises(SubtitleError, match="how many a second"):
        read(tmp_path / "a.captions.json", 0.0)


def test_they_stand_beside_the_video_under_its_name(tmp_path):
    assert beside(tmp_path / "kitchen.mp4") is None
    (tmp_path / "kitchen.captions.json").write_text("[]")
    assert beside(tmp_path / "kitchen.mp4") == tmp_path / "kitchen.captions.json"
