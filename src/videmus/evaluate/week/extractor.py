"""A scripted model that extracts from a made week's captions what a good language model would.

It knows for every line which relations it states and under which names, nothing else: it unites no names. It answers the
prompts of `graph.extract` through the same protocol as a real model, so what is measured with it is the resolution of
names and all that follows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from videmus.evaluate.week.files import HourFile
from videmus.evaluate.week.render import Line, TrueRelation
from videmus.evaluate.week.simulate import SLOT_MS
from videmus.evaluate.week.vocabulary import Vocabulary
from videmus.graph import naming
from videmus.graph.entities import ALSO_CALLED
from videmus.graph.extract import Extraction, FoundName, FoundRelation, Intervals, Support
from videmus.graph.nouns import NounGroups
from videmus.model import Evidence, Relation, Video
from videmus.models.language import Data, Prompt
from videmus.models.scripted import ScriptedModel
from videmus.understand import captions

_NUMBERED = re.compile(r"^\[(\d+)\] (.*)$", re.M)


def scripted_extractor(files: Iterable[HourFile], words: Vocabulary) -> ScriptedModel:
    """The model for these hours. Its captions must be joined ones (made without a model)."""
    things = [(naming.thing(t[0]).head, naming.thing(t[1]).head) for t in words.things]
    by_caption: dict[str, list[Line]] = {}
    by_line: dict[str, list[TrueRelation]] = defaultdict(list)
    for file in files:
        for lines, text in _captions(file):
            by_caption[text] = lines
            for line in lines:
                if line.speaker:
                    by_line[f"{line.speaker}: {_clean(line.text)}"] += line.relations

    def answer(prompt: Prompt, result: type[BaseModel]) -> BaseModel:
        data = {part.label: part.text for part in prompt.parts if isinstance(part, Data)}
        if result is NounGroups:
            return _noun_groups(data["nouns"], things)
        if result is Extraction:
            return _extraction(data["captions"], by_caption)
        assert result is Intervals, result
        return _intervals(data["relations"], data["lines"], by_line)

    return ScriptedModel(answer, name="scripted:week")


def _captions(file: HourFile) -> list[tuple[list[Line], str]]:
    slots: dict[int, list[Line]] = defaultdict(list)
    for line in file.lines:
        slots[(line.start - file.start) // SLOT_MS].append(line)
    video = file.video("week").id
    texts = []
    for slot in sorted(slots):
        rows = sorted(
            (file.row(video, line) for line in slots[slot]), key=lambda r: (r.start_ms, r.end_ms, r.kind, r.id)
        )
        texts.append((slots[slot], _clean(captions.joined(rows))))
    return texts


def _noun_groups(numbered: str, things: Sequence[tuple[str, str]]) -> NounGroups:
    number_of = {noun: int(number) for number, noun in _NUMBERED.findall(numbered)}
    return NounGroups(
        groups=[[number_of[a], number_of[b]] for a, b in things if a != b and a in number_of and b in number_of]
    )


def _extraction(numbered: str, by_caption: dict[str, list[Line]]) -> Extraction:
    relations, names = [], []
    for number, text in _NUMBERED.findall(numbered):
        lines = by_caption.get(text, [])
        for relation in named(lines):
            if relation.relation == ALSO_CALLED:
                names.append(FoundName(caption=int(number), name=relation.source_name, other=relation.target_name))
            else:
                relations.append(
                    FoundRelation(
                        caption=int(number), source=relation.source_name, source_kind=relation.source_kind,
                        relation=relation.relation, target=relation.target_name, target_kind=relation.target_kind,
                    )
                )  # fmt: skip
    return Extraction(relations=relations, also_called=names)


def named(lines: Iterable[Line]) -> list[TrueRelation]:
    """The relations of a caption's lines, each once, with pronouns resolved to the name that the caption gives."""
    names: dict[str, str] = {}
    found: dict[tuple[str, str, str], TrueRelation] = {}
    for line in sorted(lines, key=lambda x: (x.stream, x.start)):
        for relation in line.relations:
            if not relation.source_name:
                if relation.source not in names:
                    continue
                relation = TrueRelation(
                    relation.source, relation.source_kind, names[relation.source], relation.relation, relation.target,
                    relation.target_kind, relation.target_name,
                )  # fmt: skip
            names.setdefault(relation.source, relation.source_name)
            if relation.source_name != relation.target_name:
                found.setdefault((relation.source_name, relation.relation, relation.target_name), relation)
    return list(found.values())


def _intervals(relations: str, lines: str, by_line: dict[str, list[TrueRelation]]) -> Intervals:
    spoken: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, text in _NUMBERED.findall(lines):
        for relation in by_line.get(text, []):
            spoken[relation.source_name, relation.relation, relation.target_name].append(int(number))
    supports = []
    for number, text in _NUMBERED.findall(relations):
        match = re.fullmatch(r"(.+) ([A-Z_]{4,}) (.+)", text)
        assert match is not None, text
        supports.append(
            Support(relation=int(number), lines=spoken.get((match[1], match[2], match[3]), []), confidence=0.9)
        )
    return Intervals(supports=supports)


def truth_of(
    rows: Iterable[Relation], file: HourFile, video: Video, made: Iterable[Evidence]
) -> dict[str, tuple[str, str]]:
    """The true entities of extracted rows, by row id: (source, target). Rows whose names leave it open are left out.

    `made` are the captions of the video.
    """
    lines_of: dict[str, list[Line]] = {file.row(video.id, line).id: [line] for line in file.lines}
    for caption in made:
        lines_of[caption.id] = [lines_of[id][0] for id in caption.sources]
    found = {}
    for row in rows:
        meant = {
            (r.source, r.target)
            for r in named(lines_of.get(row.evidence, []))
            if (r.source_name, r.relation, r.target_name) == (row.source, row.relation, row.target)
        }
        if len(meant) == 1:
            found[row.id] = meant.pop()
    return found


def _clean(text: str) -> str:
    return " ".join(text.split())
