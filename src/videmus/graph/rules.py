"""Relations without a language model, by rules over speaker-labelled speech and scene descriptions.

Enters: speech and scene rows. Leaves: `Relation` rows whose origin says "rules". The rules:

- who speaks within the turn gap after somebody else answers: both TALKS_TO each other; turns close together are one
  interval;
- a known name called at the start or end of an utterance ("Jonas, come here") is TALKS_TO, elsewhere in it MENTIONS;
- a thing that descriptions name, spoken of, is MENTIONS;
- "call me Jo", "Jo is short for Johanna", "Johanna, whom we call Jo" state a name;
- in a description, a known name as subject, a verb and a thing: USES for verbs of use, else INTERACTS_WITH; "in the
  kitchen" and the like place the subject; between people, verbs of speaking are TALKS_TO.

Known names are speakers' labels and their words, names told by the caller, and words that are never written small and
act as a subject in descriptions. English only: other languages give turn-taking and names, no verbs.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise

from videmus.config import GraphSettings
from videmus.graph import naming
from videmus.graph.entities import ALSO_CALLED
from videmus.graph.extract import intervals, row_of
from videmus.model import EntityKind, Evidence, Origin, Relation

VERSION = 1
ORIGIN = Origin("graph", VERSION, None, {"extractor": "rules"})


@functools.cache
def _lexicon() -> dict[str, frozenset[str]]:
    """The lists of data/words.txt by their names."""
    lists: dict[str, set[str]] = {}
    for line in resources.files("videmus.graph").joinpath("data/words.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            current = lists.setdefault(line.strip("[]"), set())
        elif line and not line.startswith("#"):
            current.update(line.split())
    return {name: frozenset(words) for name, words in lists.items()}


_DETERMINER = r"(?:the|a|an|his|her|their|its|my|our|some|another|this|that|[A-Z][\w-]+(?: [A-Z][\w-]+)?['’]s)"
_THING = re.compile(rf"\b(?P<det>{_DETERMINER}) (?=(?P<words>(?:[\w'’-]+ ?){{1,5}}))")
_IN_PLACE = re.compile(r"\b(?:in|into|at|inside|to|from|through|on|onto|across|around|outside|enters|leaves)\s*$", re.I)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_CAMERA_WEARER = re.compile(r"#[CO] ([A-Z])\b")

_NAME = r"([^\W\d_][\w'’-]+(?: [^\W\d_a-z][\w'’-]+)?)"
_STATED = (
    re.compile(rf"\b(?:[Cc]all|[Cc]alls|[Cc]alled|[Cc]alling) me {_NAME}"),
    re.compile(rf"\b(?:[Gg]o|[Gg]oes) by {_NAME}"),
)
_STATED_BETWEEN = (
    re.compile(rf"\b{_NAME} is (?:just )?short for {_NAME}"),
    re.compile(rf"\b{_NAME}, (?:whom |who )?(?:we|they|everyone|everybody|you) (?:all )?calls? (?:him |her )?{_NAME}"),
    re.compile(rf"\b{_NAME}, (?:or|also (?:called|known as)|a\.k\.a\.|aka) {_NAME}"),
)


@dataclass(frozen=True, slots=True)
class Roster:
    """The known names: each word sequence (folded) and the name it is written as in rows."""

    names: dict[str, str]

    def pattern(self) -> re.Pattern[str] | None:
        if not self.names:
            return None
        longest_first = sorted(self.names.values(), key=len, reverse=True)
        joined = "|".join(re.escape(name) for name in longest_first)
        return re.compile(rf"(?<![\w'’])(?:{joined})(?![\w-])")


def roster(speech: Sequence[Evidence], scenes: Sequence[Evidence], told: Iterable[str] = ()) -> Roster:
    """The names known in these rows, with the words of full names ("Anna" of "Anna Keller")."""
    names: dict[str, str] = {}
    labels = {row.speaker for row in speech if row.speaker and not naming.is_label(row.speaker)}
    for label in sorted({*labels, *told}):
        for name in (label, *label.split()):
            if len(name) > 1 and name[0].isalpha():
                names.setdefault(naming.folded(name), name)
    for name in _subjects([row.text for row in scenes], [row.text for row in speech]):
        names.setdefault(naming.folded(name), name)
    return Roster({key: name for key, name in names.items() if key and key not in _lexicon()["no name"]})


def _subjects(scenes: Sequence[str], speech: Sequence[str]) -> list[str]:
    """Words that begin a clause of a description, are followed by a small word, and are never written small."""
    small: set[str] = set()
    subjects: Counter[str] = Counter()
    for text in (*scenes, *speech):
        small.update(w for w in _WORD.findall(text) if w[0].islower())
    for text in scenes:
        for match in re.finditer(
            r"(?:^|[.!?;,] |\band |\bwith |\bto )([^\W\d_a-z][\w'’-]+(?: [^\W\d_a-z][\w'’-]+)?)(?= [a-z])", text
        ):
            name = re.sub(r"['’]s$", "", match[1])
            subjects[name] += 1
    return [
        name
        for name, count in subjects.items()
        if count >= 2 and not any(w.casefold() in small or w.casefold() in _lexicon()["no name"] for w in name.split())
    ]


def relations(
    speech: Sequence[Evidence],
    scenes: Sequence[Evidence],
    settings: GraphSettings,
    *,
    told: Iterable[str] = (),
    wearer: str | None = None,
) -> Iterator[Relation]:
    """All rules over one video's rows. `told` are names known from elsewhere in the recording; `wearer` is who "I" is."""
    speech = sorted((r for r in speech if r.text.strip()), key=lambda r: (r.start_ms, r.end_ms, r.id))
    known = roster(speech, scenes, (*told, *([wearer] if wearer else ())))
    pattern = known.pattern()
    shown = {_described(name) for scene in scenes for name, _, _ in _noun_phrases(scene.text)}
    seen: set[str] = set()
    for row in (
        *_turns(speech, settings),
        *(r for line in speech for r in _in_speech(line, pattern, settings)),
        *(r for line in speech for r in _stated(line, settings)),
        *(r for line in speech for r in _of_things(line, shown, settings)),
        *(r for scene in scenes for r in _in_scene(scene, pattern, wearer, settings)),
    ):
        if row.id not in seen:
            seen.add(row.id)
            yield row


# ---------------------------------------------------------------- speech


def _turns(speech: Sequence[Evidence], settings: GraphSettings) -> Iterator[Relation]:
    """Turn-taking, each ordered pair of speakers with the utterances in which the first speaks to the second."""
    spoken: dict[tuple[str, str], dict[str, Evidence]] = {}
    for before, after in pairwise(speech):
        if not before.speaker or not after.speaker or before.speaker == after.speaker:
            continue
        if after.start_ms - before.end_ms <= settings.turn_gap_ms:
            spoken.setdefault((before.speaker, after.speaker), {})[before.id] = before
            spoken.setdefault((after.speaker, before.speaker), {})[after.id] = after
    for (source, target), lines in spoken.items():
        for start, end, evidence in intervals(list(lines.values()), settings.interval_gap_ms):
            yield _row(lines[evidence], start, end, source, "person", "TALKS_TO", target, "person", settings)


def _in_speech(line: Evidence, pattern: re.Pattern[str] | None, settings: GraphSettings) -> Iterator[Relation]:
    if pattern is None or not line.speaker:
        return
    own = set(naming.folded(line.speaker).split())
    for match in pattern.finditer(line.text):
        name = match[0]
        if set(naming.folded(name).split()) <= own:
            continue
        before, after = line.text[: match.start()].strip(), line.text[match.end() :].strip()
        greeting = before.casefold().rstrip(",") in (
            "",
            "hey",
            "hi",
            "hello",
            "morning",
            "thanks",
            "thank you",
            "sorry",
            "oh",
        )
        called = (greeting and after[:1] in (",", "!", "?", ".", "")) or (
            before.endswith(",") and after[:1] in (".", "!", "?", "")
        )
        relation = "TALKS_TO" if called else "MENTIONS"
        yield _row(line, line.start_ms, line.end_ms, line.speaker, "person", relation, name, "person", settings)


def _stated(line: Evidence, settings: GraphSettings) -> Iterator[Relation]:
    pairs = [(match[1], line.speaker) for rule in _STATED for match in rule.finditer(line.text) if line.speaker]
    pairs += [(match[1], match[2]) for rule in _STATED_BETWEEN for match in rule.finditer(line.text)]
    for short, full in pairs:
        if full and short[0].isupper() and full[0].isupper() and naming.folded(short) != naming.folded(full):
            yield _row(line, line.start_ms, line.end_ms, short, "person", ALSO_CALLED, full, "person", settings)


def _of_things(line: Evidence, shown: set[str], settings: GraphSettings) -> Iterator[Relation]:
    """A thing that descriptions name, spoken of: by its noun and what is said of it, whoever owns it."""
    if line.speaker:
        for name, _, _ in _noun_phrases(line.text):
            if _described(name) in shown:
                yield _row(
                    line, line.start_ms, line.end_ms, line.speaker, "person", "MENTIONS", name, "object", settings
                )


def _described(name: str) -> str:
    thing = naming.thing(name)
    return " ".join((*sorted(thing.marks), thing.head))


# ---------------------------------------------------------------- descriptions


def _in_scene(
    scene: Evidence, pattern: re.Pattern[str] | None, wearer: str | None, settings: GraphSettings
) -> Iterator[Relation]:
    """Subject by subject: what stands between one known name (or "I") and the next is what it does."""
    text = scene.text
    if first_person := _CAMERA_WEARER.search(text):
        letter = first_person[1]
        wearer = wearer or letter
        text = re.sub(rf"#[CO] {letter}\b", wearer, text).replace(f"{wearer} {letter} ", f"{wearer} ")
        pattern = re.compile(rf"(?<![\w'’]){re.escape(wearer)}(?![\w-])" + (f"|{pattern.pattern}" if pattern else ""))
    for sentence in _SENTENCE.split(text):
        if wearer:
            sentence = re.sub(r"\bI\b", wearer, sentence)
        if pattern is None:
            continue
        names = [m for m in pattern.finditer(sentence) if not re.match(r"['’]s\b", sentence[m.end() :])]
        subjects: list[str] = []
        for index, match in enumerate(names):
            last = names[index + 1].start() if index + 1 < len(names) else len(sentence)
            clause = sentence[match.end() : last]
            between = sentence[names[index - 1].end() : match.start()] if index else ""
            if subjects and re.search(r"[a-z]{3}", between.replace(" and ", " ")):
                person = _person_relation(between)
                for subject in subjects:
                    if subject != match[0]:
                        yield _scene_row(scene, subject, person, match[0], "person", settings)
                if re.search(r"(?:\band|[,;]|\bwhile)\s*$", between):
                    subjects = [match[0]]
            else:
                subjects.append(match[0])
            for relation, name, kind in _things(clause):
                for subject in subjects:
                    yield _scene_row(scene, subject, relation, name, kind, settings)


def _person_relation(between: str) -> str:
    """A verb of speaking, or one verb with "to" or "with" that is none of moving or doing together."""
    words = [_verb(w) for w in _WORD.findall(between.lower())]
    if set(words) & _lexicon()["speak"]:
        return "TALKS_TO"
    alone = len(words) == 2 and words[1] in ("to", "with") and not set(words[0:1]) & _lexicon()["move"]
    return "TALKS_TO" if alone else "INTERACTS_WITH"


def _things(clause: str) -> Iterator[tuple[str, str, EntityKind]]:
    """(relation, name, kind) for each thing or place in what a subject does."""
    for name, head, before in _noun_phrases(clause):
        if (head in _lexicon()["place"] or head.endswith("room")) and _IN_PLACE.search(before):
            yield "INTERACTS_WITH", name, "location"
            continue
        verbs = {_verb(w) for w in _WORD.findall(before.lower())}
        yield ("USES" if verbs & _lexicon()["use"] else "INTERACTS_WITH"), name, "object"


def _noun_phrases(text: str) -> Iterator[tuple[str, str, str]]:
    """(name, head in the singular, what stands before it) of each determiner with its noun."""
    end = 0
    for match in _THING.finditer(text):
        words: list[str] = []
        for word in match["words"].split():
            if word.casefold() in _lexicon()["after noun"] or (
                words and re.search(r"(?:ing|ed)$", word) and len(word) > 4
            ):
                break
            words.append(word)
        if not words or len(words) > 4:
            continue
        owner = match["det"] if match["det"][0].isupper() and match["det"].endswith(("'s", "’s")) else ""
        head = naming.singular(words[-1].casefold())
        before = text[end : match.start()]
        end = match.start("words")
        if head not in _lexicon()["no thing"]:
            yield f"{owner} {' '.join(words)}".strip(), head, before


def _verb(word: str) -> str:
    """A verb's stem where it is one of the known ones, else the word."""
    known = _lexicon()["use"] | _lexicon()["speak"] | _lexicon()["move"]
    for ending in ("s", "es", "ing", "ed", "ies"):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            for verb in (stem, stem + "e", stem + "y", stem[:-1]):
                if verb in known:
                    return verb
    return word


def _scene_row(
    scene: Evidence, source: str, relation: str, target: str, kind: EntityKind, settings: GraphSettings
) -> Relation:
    return _row(scene, scene.start_ms, scene.end_ms, source, "person", relation, target, kind, settings)


def _row(
    evidence: Evidence,
    start: int,
    end: int,
    source: str,
    source_kind: EntityKind,
    relation: str,
    target: str,
    target_kind: EntityKind,
    settings: GraphSettings,
) -> Relation:
    return row_of(
        evidence.video, start, end, source, source_kind, relation, target, target_kind, evidence.id,
        settings.rules_confidence, ORIGIN,
    )  # fmt: skip
