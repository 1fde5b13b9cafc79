"""A correction of misheard speech is taken back through the library."""

import pytest

from videmus import Library
from videmus.config import Settings
from videmus.errors import ModelError, NotFoundError
from videmus.model import (
    Correction,
    Evidence,
    NarrationDetail,
    Origin,
    Segment,
    Video,
    content_id,
    evidence_id,
    segment_id,
)
from videmus.models.connect import Connected
from videmus.models.language import CallError
from videmus.models.minds import Minds
from videmus.models.scripted import ScriptedModel
from videmus.store.protocol import Work

SAID = "We call it a sprig tide."
SLIDE = segment_id("v1", "slide", 0, 9000)
FOUND = Correction(content_id("c", SLIDE, "sprig", "spring"), "sprig", "spring", 0)


class Down:
    """A language model that answers once `down` is False."""

    down = True

    def __call__(self, prompt, result):
        if self.down:
            raise CallError("the server is gone")
        if prompt.stage == "keywords":
            return {"keywords": ["spring"], "misheard": [{"heard": "sprig", "meant": "spring", "certain": True}]}
        return {"description": "Tides.", "concepts": []}


@pytest.fixture
def model():
    return Down()


@pytest.fixture
def library(tmp_path, model):
    settings = Settings()
    minds = Minds(settings, connected=Connected(ScriptedModel(model, sees=False), None))
    with Library(tmp_path / "library", settings=settings, minds=minds) as made:
        store, by = made.store, Origin("correction", 1, "scripted")
        store.put_video(Video("v1", "print", "Tides", 9000, "gone.mp4", state="ready"))
        spoken = evidence_id("v1", "speech", 0, 9000, SAID)
        store.add("speech", [Evidence(spoken, "v1", 0, 9000, "speech", SAID, Origin("speech"))])
        store.add(
            "slides", [Segment(SLIDE, "v1", 0, 9000, "slide", Origin("slides"), 1, "Spring tides", "Spring tides")]
        )
        store.begin("v1", "slide-texts", "k")
        text, detail = SAID.replace("sprig", "spring"), NarrationDetail(SAID, (FOUND,))
        store.add("slide-texts", [Evidence("n1", "v1", 0, 9000, "narration", text, by, None, SLIDE, (spoken,), detail)])
        store.finish(Work("v1", "slide-texts", "k", "done", rows=1))
        yield made


def narrated(library):
    return [row.text for row in library.evidence("v1", "narration")]


def test_a_correction_that_cannot_be_taken_back_now_holds_and_a_retry_takes_it_back(library, model):
    with pytest.raises(ModelError, match=r"marked as undone, and holds until then: .*the server is gone"):
        library.undo_correction(FOUND.id)
    assert narrated(library) == [SAID.replace("sprig", "spring")]
    model.down = False
    library.retry("v1")
    assert narrated(library) == [SAID]
    assert [c.undone for _, c in library.corrections("v1")] == [True]


def test_a_correction_is_taken_back_at_once_where_the_model_can_be_asked(library, model):
    model.down = False
    library.undo_correction(FOUND.id[:8])
    assert narrated(library) == [SAID]


def test_an_unknown_correction_is_said(library):
    with pytest.raises(NotFoundError, match="no correction"):
        library.undo_correction("c0000")
