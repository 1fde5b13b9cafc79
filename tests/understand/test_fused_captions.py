from __future__ import annotations

from videmus.model import Evidence, Origin, Video, evidence_id
from videmus.models.language import malformed
from videmus.models.scripted import ScriptedModel
from videmus.understand.captions import captions

VIDEO = Video("v", "f", "t", 95_000, "x")


def row(kind, start, end, text, speaker=None):
    return Evidence(
        evidence_id("v", kind, start, end, text, speaker), "v", start, end, kind, text, Origin("t"), speaker
    )


SCENE = row("scene", 0, 60_000, "Anna stands in the hall.")
LINE = row("speech", 29_000, 33_000, "Where is Tom?", "Anna")
LATE = row("speech", 91_000, 94_000, "Bye.", None)


def test_without_a_model_descriptions_and_lines_are_joined_and_marked():
    first, second, last = captions(VIDEO, [SCENE, LINE, LATE], 30_000)
    assert first.text == "Anna stands in the hall.\nAnna: Where is Tom?"
    assert second.text == "Anna stands in the hall."
    assert (last.start_ms, last.end_ms, last.text) == (90_000, 95_000, "Bye.")
    assert first.origin.settings == {"fused": False} and first.origin.model is None
    assert first.sources == (SCENE.id, LINE.id)


def test_a_stretch_without_anything_has_no_caption():
    assert [c.start_ms for c in captions(VIDEO, [LATE], 30_000)] == [90_000]


def test_a_model_fuses_and_the_row_says_which():
    model = ScriptedModel([{"paragraph": "Anna, in the hall,\nasks for Tom."}])
    first, second = captions(VIDEO, [SCENE, LINE], 30_000, model)
    assert first.text == "Anna, in the hall, asks for Tom."
    assert first.origin.model == "scripted" and first.origin.settings == {"fused": True}
    assert second.text == SCENE.text and len(model.prompts) == 1, "a description alone needs no fusing"


def test_where_the_model_fails_the_text_is_joined_and_the_failure_told():
    problems: list[str] = []
    model = ScriptedModel([malformed("rubbish")])
    first, _ = captions(VIDEO, [SCENE, LINE], 30_000, model, problems.append)
    assert first.origin.settings == {"fused": False} and "0:00" in problems[0]


def test_the_same_rows_give_the_same_captions():
    rows = [SCENE, LINE, LATE]
    assert list(captions(VIDEO, rows, 30_000)) == list(captions(VIDEO, rows[::-1], 30_000))
