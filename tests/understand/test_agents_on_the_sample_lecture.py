"""PreMind's mechanisms on the project's sample lecture, from its slides to what search finds; the model is scripted.

The rows are those of the lecture's own truth, with one term misheard, so that no video is decoded here.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from videmus.config import PremindSettings, SummarySettings
from videmus.model import Evidence, Origin, Scope, Segment, Video, content_id, evidence_id, segment_id
from videmus.models.language import Data, Prompt
from videmus.models.scripted import ScriptedModel
from videmus.search.hybrid import search
from videmus.store.protocol import Work
from videmus.store.sqlite import SqliteStore
from videmus.understand.slides import Means, understand_slides
from videmus.understand.summary import chapters_of, summarised, summary_of

TRUTH = json.loads((Path(__file__).parents[2] / "examples" / "sample_lecture.json").read_text("utf-8"))
V = content_id("v", "sample lecture")
VIDEO = Video(V, "fp", "Why the Sea Rises Twice a Day", 171_000, "/talks/sample_lecture.mp4", "ready")
ORIGIN = Origin("test")
MISHEARD = ("Spring tide", "sprinkled hide")
JPEG = io.BytesIO()
Image.new("RGB", (64, 36), (250, 250, 250)).save(JPEG, "JPEG")


def evidence(kind: Any, start: float, end: float, text: str) -> Evidence:
    first, last = round(start * 1000), round(end * 1000)
    return Evidence(evidence_id(V, kind, first, last, text), V, first, last, kind, text, ORIGIN)


def lecture() -> tuple[list[Segment], list[Evidence], list[Evidence]]:
    """Slides, speech and screen rows. Over "Spring tide" a listener heard "sprinkled hide"."""
    slides, screen = [], []
    numbers: dict[str, int] = {}
    for run in TRUTH["slide_runs"]:
        first, last = round(run["start"] * 1000), round(run["end"] * 1000)
        number = numbers.setdefault(run["slide_id"], len(numbers) + 1)
        title = run["text"].partition("\n")[0]
        slides.append(
            Segment(
                segment_id(V, "slide", first, last),
                V,
                first,
                last,
                "slide",
                ORIGIN,
                number,
                title,
                run["text"],
                keyframe="f",
            )
        )
        screen.append(evidence("screen", run["start"], run["end"], run["text"]))
    speech = [evidence("speech", u["start"], u["end"], u["text"]) for u in TRUTH["utterances"]]
    spring = next(k for k, row in enumerate(speech) if row.start_ms > 71_000)
    heard = f"We call it a {MISHEARD[1]}. {speech[spring].text}"
    row = speech[spring]
    speech[spring] = evidence("speech", row.start_ms / 1000, row.end_ms / 1000, heard)
    return slides, speech, screen


def given(prompt: Prompt, label: str) -> str:
    return "\n".join(p.text for p in prompt.parts if isinstance(p, Data) and p.label.startswith(label))


def understanding(prompt: Prompt, result: type) -> dict[str, Any]:
    """Describes what was recognised, forgets the numbers of the table at first, and teaches what a bulge is."""
    text = given(prompt, "recognised text")
    if prompt.stage == "keywords":
        found = MISHEARD[1] in given(prompt, "transcript")
        misheard = [{"heard": MISHEARD[1], "meant": MISHEARD[0], "certain": True}] if found else []
        return {"keywords": [*text.splitlines(), *(["near bulge"] if "bulge" in text else [])], "misheard": misheard}
    if prompt.stage == "vision":
        forgets = "Bay of Fundy" in text and not given(prompt, "what is wrong")
        known = given(prompt, "knowledge")
        told = re.sub(r"\d+(\.\d+)? m", "some", text) if forgets else text
        return {"slide": True, "figure": False, "description": f"{told}\n{f'Known before: {known}' if known else ''}"}
    if prompt.stage == "critic":
        lacks = given(prompt, "recognised on the slide")
        return {"complete": not lacks, "faults": [f"It lacks {lacks}."] if lacks else []}
    concepts = []
    if "What makes a tide" in given(prompt, "title"):
        concepts = [{"name": "near bulge", "explanation": "Water that the Moon pulls harder than the Earth."}]
    return {"description": f"{given(prompt, 'description of')}\n{given(prompt, 'what was said')}", "concepts": concepts}


class Names:
    """Equal names are near, others at right angles."""

    languages = None

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def embed(self, texts: Any) -> Any:
        return np.eye(512, dtype=np.float32)[[self.known.setdefault(t.casefold(), len(self.known)) for t in texts]]


def understood(settings: PremindSettings, **more: Any) -> tuple[ScriptedModel, list[Evidence]]:
    model = ScriptedModel(understanding)
    means = Means(lambda frame: JPEG.getvalue(), model, model, Names())
    return model, list(understand_slides(*lecture(), means, settings, **more))


SETTINGS = PremindSettings()


@pytest.fixture(scope="module")
def run() -> tuple[ScriptedModel, list[Evidence]]:
    return understood(SETTINGS)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "library")
    opened.put_video(VIDEO)
    yield opened
    opened.close()


def at(rows: list[Evidence], kind: str, second: int) -> Evidence:
    return next(r for r in rows if r.kind == kind and r.start_ms <= second * 1000 < r.end_ms)


def test_a_misheard_term_is_corrected_and_found_and_undone_it_is_not(run, store):
    _, rows = run
    narration = at(rows, "narration", 75)
    assert "We call it a Spring tide." in narration.text and MISHEARD[1] in narration.detail.original
    store.add("slide-texts", [r for r in rows if r.kind == "narration"])
    spoken = Scope(video=V, facet="speech")
    assert [m.start_ms for m in search(store, None, '"call it a spring tide"', spoken)] != []
    assert search(store, None, f'"{MISHEARD[1]}"', spoken) == []

    correction = narration.detail.corrections[0]
    store.begin(V, "slide-texts", "anew")
    _, undone = understood(SETTINGS, undone={correction.id})
    store.add("slide-texts", [r for r in undone if r.kind == "narration"])
    store.finish(Work(V, "slide-texts", "anew", "done"))  # another key: the old rows go
    assert search(store, None, '"call it a spring tide"', spoken) == []
    assert [m.start_ms for m in search(store, None, f'"{MISHEARD[1]}"', spoken)] != []


def test_knowledge_of_an_early_slide_reaches_a_later_one(run):
    _, rows = run
    assert "Water that the Moon pulls harder" in at(rows, "vision", 60).text
    _, without = understood(replace(SETTINGS, memory=False))
    assert "Known before" not in at(without, "vision", 60).text


def test_the_critic_brings_back_the_numbers_of_the_table(run):
    _, rows = run
    table = at(rows, "vision", 100)
    assert "16 m" in table.text and "0.4 m" in table.text and table.detail.turns == 3
    _, without = understood(replace(SETTINGS, critic=False))
    assert "16 m" not in at(without, "vision", 100).text


def test_the_picture_that_comes_back_is_described_once(run):
    model, rows = run
    first, again = at(rows, "vision", 60), at(rows, "vision", 125)
    assert again.text == first.text and again.origin.settings == {"shown_before": first.id}
    assert len(model.asked("keywords")) == len(model.asked("consolidation")) == 8


def test_a_slide_costs_fewer_than_four_calls(run):
    model, _ = run
    assert len(model.prompts) / 8 <= 4
    assert len(model.asked("critic")) == 1, "only the table's description lacked something"


def test_each_facet_is_searched_alone_and_all_together(run, store):
    _, rows = run
    slides, speech, screen = lecture()
    store.add("speech", speech)
    store.add("screen", screen)
    store.add("slide-texts", rows)
    fundy = {
        facet: search(store, None, "Fundy", Scope(video=V, facet=facet))
        for facet in ("vision", "speech", "consolidated", None)
    }
    assert fundy["vision"] and fundy["consolidated"] and fundy[None] and not fundy["speech"]
    bathtub = {
        facet: search(store, None, "bathtub", Scope(video=V, facet=facet))
        for facet in ("vision", "speech", "consolidated")
    }
    assert bathtub["speech"] and bathtub["consolidated"] and not bathtub["vision"]
    assert len(slides) == 8


def test_chapters_and_summary_without_a_model_point_at_what_was_said():
    slides, speech, screen = lecture()
    rows = list(understand_slides(slides, speech, screen, Means(lambda frame: b""), SETTINGS))
    made = list(summarised(VIDEO, [*speech, *screen, *rows], None, SummarySettings()))
    chapters, summary = chapters_of(made), summary_of(made)
    titles = {s.title for s in slides}
    assert len(chapters) >= 2 and all(c.title in titles for c in chapters)
    assert summary is not None and "tide" in " ".join(summary.detail.terms).casefold()
    by_id = {row.id: row for row in speech}
    assert all(text in by_id[id].text for text, (id,) in summary.detail.sentences)
