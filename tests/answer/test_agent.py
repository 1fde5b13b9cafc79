"""The agent with a scripted model, on a made week: order of tools, stops, budgets, failures, contradictions, choices."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from PIL import Image
from pydantic import BaseModel

from videmus.answer import agent
from videmus.answer.agent import Judgement, Plan, wants_agent
from videmus.answer.agent_tools import Parts, Sight
from videmus.answer.choose import ChoiceReply
from videmus.answer.read import MendReply, ReadReply
from videmus.config import AgentSettings, Settings
from videmus.evaluate.week.questions import KINDS, questions
from videmus.ingest.embedding import embed_frames
from videmus.model import Cost, Evidence, Frame, Origin, Video, evidence_id, frame_id
from videmus.models.image_embedding import ScriptedImageEmbedder
from videmus.models.language import malformed
from videmus.models.scripted import ScriptedModel
from videmus.store.sqlite import SqliteStore
from week_library import RECORDING, at, two_days

ROW = re.compile(r"^\[(R\d+)\] \S+ \S+ · \w+ · (.*)$", re.M)
PIECE = re.compile(r"\[(E\d+)\][^\n]*\n([^\n]+)")


def part(prompt, label):
    return next((p.text for p in prompt.parts if getattr(p, "label", "") == label), "")


class Mind:
    """Scripted by kind of reply. It judges the first rows as relevant and quotes a row that holds `quoting`."""

    def __init__(self, steps, *, enough_after=99, conflict_at=0, quoting="", option="A", **overrides):
        self.steps, self.enough_after, self.conflict_at = steps, enough_after, conflict_at
        self.quoting, self.option, self.overrides = quoting, option, overrides
        self.judged = 0
        self.model = ScriptedModel(self.reply, sees=False, cost=Cost(1, 1000, 50, 0.01))

    def reply(self, prompt, result: type[BaseModel]):
        if result.__name__ in self.overrides:
            return self.overrides[result.__name__]
        if issubclass(result, Plan):
            return {"steps": self.steps}
        if result is Judgement:
            self.judged += 1
            rows = [label for label, text in ROW.findall(part(prompt, "rows")) if self.quoting in text]
            conflict = "one says the loft, another the quarry" if self.judged == self.conflict_at else ""
            enough = self.judged >= self.enough_after
            return {
                "relevant": rows[:6] or ["R1"],
                "note": f"note {self.judged}",
                "conflict": conflict,
                "enough": enough,
            }
        if result in (ReadReply, ChoiceReply):
            pieces = [(label, text) for label, text in PIECE.findall(part(prompt, "evidence")) if self.quoting in text]
            if not pieces:
                return {"sentences": [], "grounding": "unsupported", **self._chosen(result)}
            label, text = pieces[0]
            sentence = {"text": text, "citations": [{"evidence": label, "quote": text}]}
            return {"sentences": [sentence], "grounding": "supported", **self._chosen(result)}
        if result is MendReply:
            return {"sentences": []}
        raise AssertionError(result)

    def _chosen(self, result):
        return {"option": self.option} if result is ChoiceReply else {}

    def asked(self, stage):
        return len(self.model.asked(stage))


def ask(mind, question="Who had the lantern?", *, scope=RECORDING, settings=None, options=(), **parts):
    given = two_days().parts(settings=settings or Settings(), **parts)
    return agent.answer(given, mind.model, question, scope, options=options)


def tools_of(answer):
    return [s.tool for s in answer.steps]


GRAPH = {"tool": "graph", "task": "who used it", "target": "paper lantern", "relation": "USES"}
TRANSCRIPT = {"tool": "transcript", "task": "what was said of it", "queries": ["have you seen the lantern"]}
CAPTIONS = {"tool": "captions", "task": "what was done with it", "queries": ["lantern"]}


PLANS = {
    "EntityLog": [GRAPH, CAPTIONS],
    "EventRecall": [{**TRANSCRIPT, "queries": ["could you buy", "would you"]}, GRAPH],
    "HabitInsight": [GRAPH],
    "RelationMap": [{"tool": "graph", "task": "visits", "target": "scullery", "relation": "INTERACTS_WITH"}, CAPTIONS],
    "TaskMaster": [
        {**TRANSCRIPT, "queries": ["I promise"]},
        {**TRANSCRIPT, "queries": ["Done"]},
        {"tool": "summaries", "task": "overview", "queries": ["promise"]},
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_question_runs_its_plan_in_order_and_answers_with_checked_citations(kind):
    question = next(q for q in questions(two_days().telling, each=1) if q.kind == kind)
    mind = Mind(PLANS[kind], option=question.answer)
    scope = replace(RECORDING, at=question.asked_at)
    answer = ask(mind, question.text, scope=scope, options=question.options)
    assert tools_of(answer) == ["plan", *(s["tool"] for s in PLANS[kind]), "choose"]
    assert answer.text.startswith(f"{question.answer}. {question.answer_text}")
    assert answer.steps[-1].detail["option"] == question.answer
    rows = two_days().store.evidence_by_id([c.evidence for c in answer.citations], scope)
    assert rows and all(c.quote in row.text for c, row in zip(answer.citations, rows, strict=True))


def test_when_the_memory_answers_the_rest_of_the_plan_is_left_out():
    mind = Mind([GRAPH, CAPTIONS, TRANSCRIPT], enough_after=1)
    answer = ask(mind)
    assert tools_of(answer) == ["plan", "graph", "read"]
    assert answer.cost.calls == 3 and answer.grounding == "supported"


def test_at_most_five_steps_run_however_long_the_plan_is():
    mind = Mind([CAPTIONS] * 9)
    answer = ask(mind)
    assert tools_of(answer).count("captions") == 5
    assert answer.steps[0].detail["left_out"] == 4


def test_a_call_budget_ends_the_plan_and_leaves_room_for_the_answer():
    settings = replace(Settings(), agent=AgentSettings(calls=5))
    answer = ask(Mind([CAPTIONS] * 5), settings=settings)
    assert tools_of(answer) == ["plan", "captions", "captions", "budget", "read"]
    assert answer.cost.calls <= 5 and "calls" in answer.steps[3].result


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (AgentSettings(tokens=1500), "tokens"),
        (AgentSettings(usd=0.015), "USD"),
        (AgentSettings(seconds=1e-9), "seconds"),
    ],
)
def test_budgets_of_tokens_money_and_seconds_end_the_plan(limits, said):
    answer = ask(Mind([CAPTIONS] * 5), settings=replace(Settings(), agent=limits))
    stop = next(s for s in answer.steps if s.tool == "budget")
    assert said in stop.result and answer.cost.calls <= 3


def test_a_tool_that_fails_is_told_to_the_memory_and_the_plan_goes_on():
    bad = {"tool": "sql", "task": "count", "sql": "DELETE FROM v_relations"}
    mind = Mind([bad, GRAPH])
    answer = ask(mind)
    assert tools_of(answer) == ["plan", "sql", "graph", "read"]
    assert answer.steps[1].error and "SELECT" in answer.steps[1].error
    (judge,) = mind.model.asked("judge")
    assert "The tool failed" in part(judge, "working memory")
    assert answer.grounding == "supported"


def test_a_tool_of_no_such_name_is_an_error_in_the_trace_and_no_crash():
    answer = ask(Mind([{"tool": "telepathy", "task": "guess"}, GRAPH]))
    assert "telepathy" in answer.steps[1].error and "graph" in tools_of(answer)


def test_empty_results_cost_no_call_and_the_library_does_not_say():
    nothing = {"tool": "transcript", "task": "words nobody said", "queries": ["qwxzyq vbnmkl"]}
    mind = Mind([nothing, {**GRAPH, "target": "zeppelin", "source": "Qwxzy"}])
    answer = ask(mind)
    assert mind.asked("judge") == 0 and answer.cost.calls == 1
    assert answer.grounding == "unsupported" and answer.citations == ()
    assert all("nothing found" in s.result for s in answer.steps[1:3])


def test_tools_that_contradict_each_other_do_not_end_the_plan_and_lower_the_answer():
    mind = Mind([GRAPH, CAPTIONS], enough_after=1, conflict_at=1)
    answer = ask(mind)
    assert tools_of(answer) == ["plan", "graph", "captions", "read"]
    assert answer.grounding == "partial"
    (read,) = mind.model.asked("read")
    assert "CONFLICT" in part(read, "working memory")


def test_the_plans_schema_names_only_the_tools_that_there_are():
    seen = []

    class Spy(Mind):
        def reply(self, prompt, result):
            seen.append(result)
            return super().reply(prompt, result)

    ask(Spy([GRAPH]), settings=replace(Settings(), agent=AgentSettings(sql=False)))
    tools = seen[0].model_json_schema()["$defs"]["PlannedStep"]["properties"]["tool"]["enum"]
    assert "graph" in tools and "sql" not in tools and "look" not in tools


def test_a_plan_of_no_tool_that_there_is_becomes_one_search():
    answer = ask(Mind([{"tool": "telepathy", "task": "guess"}] * 3), "Have you seen the lantern?")
    assert tools_of(answer)[:3] == ["plan", "transcript", "captions"] and "no tool" in answer.steps[0].result


def test_an_empty_plan_becomes_one_search_and_says_so():
    answer = ask(Mind([]), "Have you seen the lantern?")
    assert "empty" in answer.steps[0].result and tools_of(answer)[1:3] == ["transcript", "captions"]


def test_rows_that_were_not_judged_are_kept_and_the_error_stands_in_the_trace():
    answer = ask(Mind([GRAPH], Judgement=malformed("rubbish")))
    assert answer.steps[1].error and answer.steps[1].evidence
    assert answer.grounding == "supported"


def test_a_quote_that_no_evidence_holds_never_reaches_the_user():
    invented = {
        "sentences": [
            {"text": "The lantern was sold.", "citations": [{"evidence": "E1", "quote": "sold the lantern"}]}
        ],
        "grounding": "supported",
    }
    answer = ask(Mind([GRAPH], ReadReply=invented))
    assert answer.grounding == "unsupported" and "sold" not in answer.text


def test_a_count_that_code_made_is_derivable_and_an_invented_one_falls():
    people = two_days().telling.week.vocabulary.people
    name = " ".join(people[0][:2])
    step = {"tool": "graph", "task": "how often", "source": name, "relation": "USES"}
    total = two_days().parts()
    from videmus.search.aggregates import aggregate
    from videmus.search.ladder import Slots

    count = aggregate(total.graph, Slots(source=name, relation="USES"), RECORDING).total

    class Counter(Mind):
        def reply(self, prompt, result):
            if result is ReadReply:
                label, text = PIECE.findall(part(prompt, "evidence"))[0]
                quotes = [{"evidence": label, "quote": text}]
                said = [{"text": f"{name} used things {n} times.", "citations": quotes} for n in (count, 987_654)]
                return {"sentences": said, "grounding": "supported"}
            return super().reply(prompt, result)

    answer = ask(Counter([step]), f"How often did {name} use things?")
    assert f" {count} times" in answer.text and "987" not in answer.text
    assert answer.grounding in ("derivable", "partial")


def test_an_option_that_does_not_exist_is_no_answer():
    answer = ask(Mind([GRAPH], option="Z"), options=("a", "b"))
    assert answer.grounding == "unsupported" and answer.steps[-1].error


def test_the_planner_is_told_days_times_and_only_the_tools_that_work():
    mind = Mind([GRAPH])
    ask(mind, scope=replace(RECORDING, at=at("DAY2 08:00:00")))
    (plan,) = mind.model.asked("plan")
    recorded, tools = part(plan, "recorded"), part(plan, "tools")
    assert "DAY1 07:30:00" in recorded and "asked at DAY2 08:00:00" in recorded
    assert "graph:" in tools
    assert "look:" not in tools and "screen:" not in tools, "nobody sees, and nothing was on screen"


def test_a_tool_that_is_switched_off_is_not_offered_and_not_run():
    settings = replace(Settings(), agent=AgentSettings(graph=False))
    mind = Mind([GRAPH, CAPTIONS])
    answer = ask(mind, settings=settings)
    assert "graph:" not in part(mind.model.asked("plan")[0], "tools")
    assert answer.steps[1].error and answer.steps[2].error is None


def test_a_second_look_needs_kept_pictures_and_says_when_there_are_none():
    seeing = ScriptedModel([Sight(description="A lantern on a hook.")], sees=True)
    step = {"tool": "look", "task": "is it lit", "day": 1, "from_time": "08:00:00", "to_time": "08:01:00"}
    answer = ask(Mind([step]), vision=seeing)
    assert "no picture" in answer.steps[1].result and seeing.prompts == []


def test_text_of_the_footage_stands_in_data_parts_alone():
    mind = Mind([GRAPH, TRANSCRIPT])
    ask(mind)
    words = "lantern"
    assert all(words not in prompt.instructions for prompt in mind.model.prompts)


@pytest.mark.parametrize(
    "question",
    [
        "Who was with us the last time we took the van?",
        "How often does Sam ride the scooter?",
        "What did I promise her yesterday?",
        "What did she buy after we left the ferry?",
    ],
)
def test_questions_of_several_steps_take_the_agent_in_footage_and_never_in_a_lecture(question):
    assert wants_agent(question, footage=True) and not wants_agent(question, footage=False)


@pytest.mark.parametrize(
    "question",
    ["Where is the amber beaker?", "What is said about varnish?", "Why does it squeak?", "When is the fridge closed?"],
)
def test_a_question_for_one_search_takes_none(question):
    assert not wants_agent(question, footage=True)


@pytest.fixture
def filmed(tmp_path):
    """One video with a picture every ten seconds, red, then blue, and what was seen."""
    store = SqliteStore(tmp_path / "library")
    store.put_video(Video("v", "f", "DAY1", 60_000, "x.mp4", "ready", recorded_at=0, recording="week"))
    rows, pictures = [], {}
    for second in range(0, 60, 10):
        frame = Frame(
            frame_id("v", second * 1000), "v", second * 1000, f"v/{second}.jpg", f"{second:016x}", 8, 8, Origin("f")
        )
        out = io.BytesIO()
        Image.new("RGB", (8, 8), "red" if second < 30 else "blue").save(out, "JPEG")
        rows.append(frame)
        pictures[frame.id] = out.getvalue()
        text = f"A wall in {'red' if second < 30 else 'blue'} light."
        start = second * 1000
        id = evidence_id("v", "scene", start, start + 10_000, text)
        rows.append(Evidence(id, "v", start, start + 10_000, "scene", text, Origin("t")))
    store.add("see", rows, pictures)
    embed_frames(store, ScriptedImageEmbedder(), RECORDING)
    yield store
    store.close()


def test_frames_are_shown_to_a_judge_that_sees_and_their_scenes_are_cited(filmed):
    mind = Mind([{"tool": "frames", "task": "find blue", "queries": ["blue"]}], quoting="blue")
    mind.model = ScriptedModel(mind.reply, sees=True)
    parts = Parts(filmed, filmed.graph, filmed.frame_vectors, Settings(), image_embedder=ScriptedImageEmbedder())
    answer = agent.answer(parts, mind.model, "When was the light blue?", RECORDING)
    (judge,) = mind.model.asked("judge")
    assert len(judge.pictures) == 6 and judge.pictures[0].label == "DAY1 00:00:00"
    assert "blue light" in answer.text and answer.citations[0].start_ms >= 30_000


def test_a_second_look_shows_the_pictures_of_the_span_alone(filmed):
    step = {"tool": "look", "task": "which colour", "day": 1, "from_time": "00:00:25", "to_time": "00:00:45"}
    mind = Mind([step], quoting="light", Sight={"description": "It is blue."})
    mind.model = ScriptedModel(mind.reply, sees=True)
    answer = agent.answer(
        Parts(filmed, filmed.graph, filmed.frame_vectors, Settings()), mind.model, "Which?", RECORDING
    )
    (look,) = mind.model.asked("look")
    assert [p.label for p in look.pictures] == ["DAY1 00:00:30", "DAY1 00:00:40"]
    assert "It is blue." in part(mind.model.asked("judge")[0], "also found")
    assert answer.cost.calls == 4


# ---------------------------------------------------------------- each kind of question meets each difficulty


def asked_as(kind, mind, **given):
    question = next(q for q in questions(two_days().telling, each=1) if q.kind == kind)
    return ask(mind, question.text, scope=replace(RECORDING, at=question.asked_at), options=question.options, **given)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_stops_early_when_the_memory_answers(kind):
    answer = asked_as(kind, Mind([*PLANS[kind], CAPTIONS, CAPTIONS], enough_after=1))
    assert tools_of(answer) == ["plan", PLANS[kind][0]["tool"], "choose"] and answer.cost.calls == 3


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_stops_at_its_budget_with_an_answer(kind):
    settings = replace(Settings(), agent=AgentSettings(calls=4))
    answer = asked_as(kind, Mind([*PLANS[kind], CAPTIONS, CAPTIONS]), settings=settings)
    assert tools_of(answer) == ["plan", PLANS[kind][0]["tool"], "budget", "choose"]
    assert answer.cost.calls <= 4 and answer.text.startswith("A.")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_survives_a_tool_that_fails(kind):
    broken = {"tool": "sql", "task": "count", "sql": "PRAGMA table_info(video)"}
    answer = asked_as(kind, Mind([broken, *PLANS[kind]]))
    assert answer.steps[1].error and tools_of(answer)[2:] == [*(s["tool"] for s in PLANS[kind]), "choose"]
    assert answer.citations


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_with_nothing_found_is_answered_as_unsupported(kind):
    empty = [
        {**step, "queries": ["qwxzyq"], "source": "Qwxzy", "target": "Vbnmk"}
        for step in PLANS[kind]
        if step["tool"] != "summaries"
    ]
    answer = asked_as(kind, Mind(empty))
    assert answer.grounding == "unsupported" and answer.citations == () and answer.cost.calls == 2


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_with_a_contradiction_goes_on_and_is_partial_at_best(kind):
    answer = asked_as(kind, Mind([PLANS[kind][0], CAPTIONS], enough_after=1, conflict_at=1))
    assert tools_of(answer) == ["plan", PLANS[kind][0]["tool"], "captions", "choose"]
    assert answer.grounding == "partial"
