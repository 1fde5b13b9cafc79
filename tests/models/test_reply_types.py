"""A document of another kind is no reply of any type that a model is asked for; an empty finding is one."""

from __future__ import annotations

import json

import pytest

from videmus.answer.agent import Judgement, Plan, _plan_type
from videmus.answer.agent_tools import Sight
from videmus.answer.chat import StandaloneReply
from videmus.answer.read import MendReply, ReadReply
from videmus.answer.whole import GatherReply
from videmus.evaluate import judge, lecture_rag
from videmus.evaluate.goldfish import Choice
from videmus.evaluate.questions import MadeQuestions
from videmus.graph.extract import Extraction, Intervals
from videmus.graph.nouns import NounGroups
from videmus.models.cache import Cached, MemoryCache
from videmus.models.language import MalformedError, Prompt, parsed
from videmus.models.retry import Retrying
from videmus.models.scripted import ScriptedModel
from videmus.perceive.scene import SceneReply
from videmus.segment.hierarchy import SummaryReply
from videmus.segment.same_slide import SameSlideReply
from videmus.understand.agents import ConsolidationReply, CriticReply, KeywordsReply, VisionReply
from videmus.understand.captions import FusedCaption
from videmus.understand.clips import ClipReply
from videmus.understand.summary import MapReply, ReduceReply

NOTHING_FOUND = {
    KeywordsReply: {"keywords": []},
    Plan: {"steps": []},
    _plan_type(("transcript",)): {"steps": []},
    Judgement: {"relevant": [], "enough": False},
    MendReply: {"sentences": []},
    ReadReply: {"sentences": [], "grounding": "unsupported"},
    GatherReply: {"pieces": []},
    MadeQuestions: {"questions": []},
    Extraction: {"relations": []},
    Intervals: {"supports": []},
    NounGroups: {"groups": []},
    SummaryReply: {"sentences": []},
    MapReply: {"statements": []},
    ReduceReply: {"chapters": [], "summary": []},
}
SOMETHING_SAID = (
    Choice, Sight, StandaloneReply, SceneReply, SameSlideReply, VisionReply, CriticReply, FusedCaption,
    ConsolidationReply, ClipReply, judge.Judgement, lecture_rag.PlainReply,
)  # fmt: skip
STRANGE = ['{"error": "overloaded"}', "{}", '{"error": {"message": "overloaded", "code": 529}}']


@pytest.mark.parametrize("document", STRANGE)
@pytest.mark.parametrize("result", [*NOTHING_FOUND, *SOMETHING_SAID], ids=lambda t: t.__qualname__)
def test_a_document_of_another_kind_is_no_reply(result, document):
    with pytest.raises(MalformedError):
        parsed(document, result)


@pytest.mark.parametrize("result", NOTHING_FOUND, ids=lambda t: t.__qualname__)
def test_nothing_found_is_a_reply(result):
    assert parsed(json.dumps(NOTHING_FOUND[result]), result)


def test_an_error_in_place_of_a_reply_is_asked_again_and_not_kept():
    kept = MemoryCache()
    server = ScriptedModel(['{"error": "overloaded"}', {"keywords": ["heap"]}])
    model = Cached(Retrying(server, sleep=lambda s: None), kept)
    reply = model.ask(Prompt("keywords", "Find keywords."), KeywordsReply)
    assert reply.value.keywords == ["heap"] and len(server.prompts) == 2
    assert [json.loads(r)["keywords"] for r in kept.replies.values()] == [["heap"]]
