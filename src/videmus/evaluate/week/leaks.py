"""Looking for the future: facts are planted all over a made week, and every tool is asked about them at random times.

Enters: a library that holds the week, planted facts. Leaves: what was seen that had not happened yet. A planted fact is a
word that exists nowhere else, said, seen, summed up, and the name of somebody in the graph; each is known from its time on.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from videmus import clock
from videmus.answer.agent_tools import TOOLS, Found, Parts, PlannedStep, use
from videmus.errors import VidemusError
from videmus.evaluate.week.files import ORIGIN, HourFile
from videmus.graph.entities import ALSO_CALLED
from videmus.graph.extract import row_of
from videmus.model import Evidence, EvidenceKind, Origin, Relation, Scope, evidence_id
from videmus.store import views

_WORD = re.compile(r"zq[a-z]{5}", re.I)
_SQL = (
    *(f"SELECT * FROM {view} LIMIT 100" for view in views.VIEWS),  # noqa: S608 - names of our own
    "SELECT text FROM v_evidence WHERE text LIKE '%WORD%'",
    "SELECT source, target, evidence FROM v_relations WHERE source LIKE 'WORD' OR target LIKE 'WORD'",
    "SELECT source, target FROM v_relations WHERE said_source LIKE 'WORD' OR said_target LIKE 'WORD'",
    "SELECT name FROM v_entities WHERE name LIKE 'zq%'",
    "SELECT said, name FROM v_entities WHERE said LIKE 'Samuel%'",
    "SELECT * FROM known_name",
    "SELECT group_concat(text) FROM v_evidence WHERE text LIKE '%zq%'",
    "SELECT max(text), max(clock_end) FROM v_evidence",
    "SELECT speaker, count(*) FROM v_evidence GROUP BY speaker",
)
_KINDS: tuple[EvidenceKind, ...] = ("speech", "scene", "screen", "caption", "summary")


@dataclass(frozen=True, slots=True)
class Planted:
    """A word and the clock time at which it is first known: the end of its rows."""

    word: str
    known_from: int
    rows: tuple[Evidence | Relation, ...]


def plant(files: Sequence[HourFile], recording: str, count: int, seed: int = 0) -> list[Planted]:
    """`count` facts at random places of the recording."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        file = chance.choice(files)
        video = file.video(recording).id
        start = chance.randrange(0, file.duration_ms - 40_000)
        end = start + chance.randrange(1_000, 30_000)
        word = "zq" + "".join(chance.choice("abcdefghiklmnoprstuvw") for _ in range(5))
        name = word.capitalize()
        rows: list[Evidence | Relation] = []
        for kind in _KINDS:
            text = f"The lantern, the secret word {word}, and who was there."
            speaker = name if kind == "speech" else None
            rows.append(
                Evidence(
                    evidence_id(video, kind, start, end, text, speaker), video, start, end, kind, text, ORIGIN, speaker
                )
            )
        known = " ".join(("Samuel", "Ito"))
        for source, relation, target in (
            (name, "TALKS_TO", known),
            (known, "MENTIONS", name),
            (name, ALSO_CALLED, known),
        ):
            rows.append(
                row_of(
                    video, start, end, source, "person", relation, target, "person", rows[0].id, 0.9, Origin("graph")
                )
            )
        found.append(Planted(word, file.start + end, tuple(rows)))
    return found


def leaks(
    parts: Parts,
    planted: Sequence[Planted],
    scope: Scope,
    tries: int,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Iterator[str]:
    """Ask every tool at random times; each thing seen too early is told as a line."""
    chance = random.Random(seed)
    known = {p.word: p.known_from for p in planted}
    times = sorted(known.values())
    videos = {v.id: v.recorded_at or 0 for v in parts.store.videos(scope)}
    for n in range(tries):
        at = chance.randrange(times[0] - clock.HOUR_MS, times[-1] + clock.HOUR_MS)
        fact = chance.choice(planted)
        step = _step(fact, chance)
        asked = replace(scope, at=at)
        said = []
        try:
            found: Found | None = use(parts, step, asked, 0)
        except VidemusError as error:
            found = None
            said.append(str(error))
        if found is not None:
            said += [found.text, found.computed, found.notice, repr(found.detail)]
            for row in found.rows:
                said.append(f"{row.text} {row.speaker}")
                end = videos[row.video] + row.end_ms
                if end > at:
                    yield f"{step.tool} at {clock.format_clock(at)}: a row that ends at {clock.format_clock(end)}"
        for entity in parts.graph.entity(fact.word, asked) if n % 10 == 0 else []:
            said.append(" ".join((entity.name, *entity.aliases)))
            if entity.last > at or entity.first > at:
                yield f"an entity at {clock.format_clock(at)} knows of {clock.format_clock(entity.last)}"
        for word in {w.lower() for w in _WORD.findall("\n".join(said))}:
            asked_word = word in step.model_dump_json().lower()
            if known.get(word, at + 1) > at and not (asked_word and _only_asked(word, said, step)):
                yield f"{step.tool} at {clock.format_clock(at)}: {word}, known from {clock.format_clock(known[word])}"
        progress(n + 1)


def _only_asked(word: str, said: Sequence[str], step: PlannedStep) -> bool:
    """Whether the word stands only where a tool repeats its own question: the ladder's log, the SQL, an error about it."""
    text = "\n".join(said)
    asked = text.lower().count(word)
    log = sum(part.lower().count(word) for part in re.findall(r"'filters': '[^']*'|'sql': .*", text))
    return asked == log or (step.tool == "sql" and asked <= step.model_dump_json().lower().count(word))


def _step(fact: Planted, chance: random.Random) -> PlannedStep:
    tool = chance.choice(TOOLS)
    word = fact.word
    query = chance.choice((word, f"the secret word {word}", "the secret word and the lantern", "who was there"))
    day = clock.day_number(fact.known_from) if chance.random() < 0.5 else None
    if tool == "sql":
        sql = chance.choice(_SQL).replace("WORD", word)
        return PlannedStep(tool="sql", task=query, sql=sql)
    if tool == "graph":
        source = chance.choice((word.capitalize(), "Samuel Ito", None))
        target = chance.choice((word, "Samuel Ito", None)) if source is None or chance.random() < 0.5 else None
        return PlannedStep(
            tool="graph", task=query, source=source, target=target, day=day,
            relation=chance.choice((None, "TALKS_TO", "MENTIONS")),
        )  # fmt: skip
    return PlannedStep(tool=tool, task=query, queries=[query], day=day, from_time="07:00:00", to_time="23:00:00")
