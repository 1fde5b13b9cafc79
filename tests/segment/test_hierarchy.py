from __future__ import annotations

from videmus import clock
from videmus.model import Evidence, Origin, SummaryDetail, Video, evidence_id
from videmus.models.language import malformed
from videmus.models.scripted import ScriptedModel
from videmus.segment.hierarchy import Leaf, extract_sentences, grow, remainder

START = clock.parse_clock("DAY1 09:00:00")
RECORDING = Video("r", "recording:w", "w", 10 * clock.HOUR_MS, "recording:w", "ready", recorded_at=START, recording="w")
EVENTS = "Tom fixes the lathe. Anna paints a fence. Lina bakes plum cake. Rain begins at noon. Max finds an old coin."


def leaf(start, text, length=30_000):
    id = evidence_id("v", "caption", start, start + length, text)
    return Leaf(
        start, start + length, Evidence(id, "v", start - START, start - START + length, "caption", text, Origin("t"))
    )


def day(hours):
    sentences = EVENTS.split(". ")
    return [
        leaf(START + n * 10 * clock.MINUTE_MS, f"{sentences[n % 5].rstrip('.')} near gate {n}.")
        for n in range(hours * 6)
    ]


def test_ten_minutes_hours_and_days_point_down_to_what_they_are_made_of():
    nodes = list(grow(RECORDING, day(3)))
    by_level = {level: [n for n in nodes if n.level == level] for level in ("ten-minute", "hour", "day")}
    assert [len(by_level[level]) for level in ("ten-minute", "hour", "day")] == [18, 3, 1]
    hour = by_level["hour"][1]
    assert set(hour.summary.sources) == {n.summary.id for n in by_level["ten-minute"][6:12]}
    assert by_level["day"][0].summary.sources == tuple(n.summary.id for n in by_level["hour"])
    assert isinstance(hour.summary.detail, SummaryDetail)
    assert all(set(ids) <= set(hour.summary.sources) for _, ids in hour.summary.detail.sentences)
    assert hour.segment.kind == "hour" and hour.summary.segment == hour.segment.id


def test_a_node_ends_with_its_last_piece_and_not_at_the_full_hour():
    (last,) = [n for n in grow(RECORDING, day(1)) if n.level == "hour"]
    assert last.end == START + 50 * clock.MINUTE_MS + 30_000


def test_adding_an_hour_makes_that_hour_and_its_day_and_nothing_else():
    before = [n.summary for n in grow(RECORDING, day(2))]
    after = list(grow(RECORDING, day(3), before))
    made = [(n.level, n.start) for n in after if n.made]
    assert [level for level, _ in made] == ["ten-minute"] * 6 + ["hour", "day"]
    assert min(start for level, start in made if level != "day") == START + 2 * clock.HOUR_MS
    assert [n.summary for n in after if not n.made] == [s for s in before if s.detail.level != "day"]


def test_incremental_growth_gives_what_a_run_from_nothing_gives():
    step = [n.summary for n in grow(RECORDING, day(3), [n.summary for n in grow(RECORDING, day(2))])]
    assert step == [n.summary for n in grow(RECORDING, day(3))]


def test_an_extract_is_verbatim_and_within_its_length():
    rows = [x.row for x in day(4)]
    sentences = extract_sentences(rows, 20)
    texts = {r.id: r.text for r in rows}
    assert all(text in texts[ids[0]] for text, ids in sentences)
    assert 0 < sum(len(text.split()) for text, _ in sentences) <= 24
    assert len({text for text, _ in sentences}) == len(sentences)


def test_a_model_writes_sentences_with_pieces_and_those_without_are_dropped():
    model = ScriptedModel(
        lambda prompt, result: {
            "sentences": [{"text": "Tom works.", "pieces": [1]}, {"text": "Made up.", "pieces": [77]}]
        }
    )
    (ten, *_) = grow(RECORDING, day(1), model=model)
    assert ten.summary.text == "Tom works." and ten.summary.origin.model == "scripted"
    assert ten.summary.detail.sentences == (("Tom works.", ten.summary.sources),)


def test_where_the_model_fails_the_summary_is_an_extract_and_says_so():
    problems: list[str] = []
    model = ScriptedModel(lambda prompt, result: malformed("rubbish"))
    nodes = list(grow(RECORDING, day(1), model=model, on_problem=problems.append))
    assert len(problems) == len(nodes)
    assert all(n.summary.origin.settings["extractive"] for n in nodes)


def test_what_no_finished_summary_covers_is_told_on_the_fly_and_nothing_later():
    leaves = [leaf(START + n * 2 * clock.MINUTE_MS, f"Tom mends gate {n} with care.") for n in range(20)]
    summaries = [Leaf(n.start, n.end, n.summary) for n in grow(RECORDING, leaves)]
    at = START + 15 * clock.MINUTE_MS
    rest = remainder(leaves, summaries, at, 50)
    assert [x.start - START for x in rest] == [10 * clock.MINUTE_MS, 12 * clock.MINUTE_MS, 14 * clock.MINUTE_MS]
    assert all(x.end <= at for x in rest)
