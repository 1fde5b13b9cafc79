"""Names as people write, shorten and mishear them: folding, pet forms, likeness.

Enters: a name as it was extracted. Leaves: what can be compared. Knows nothing of times, rows or entities.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass
from importlib import resources

from videmus.model import EntityKind

_TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "madam", "mister"))
_DETERMINERS = frozenset(
    ("the", "a", "an", "this", "that", "these", "those", "some", "any", "another", "other")
) | frozenset(("his", "her", "hers", "its", "their", "our", "my", "your", "one's"))
_EDGE = re.compile(r"^[\W_]+|[\W_]+$")
_POSSESSIVE = re.compile(r"['’]s?$")
_UNINFLECTED = frozenset(
    (
        "glasses",
        "scissors",
        "trousers",
        "jeans",
        "shorts",
        "pants",
        "headphones",
        "gas",
        "bus",
        "lens",
        "news",
        "stairs",
    )
)

_ALIKE_THINGS = (
    "mug cup",
    "sofa couch settee",
    "fridge refrigerator",
    "phone smartphone cellphone mobile",
    "television tv telly",
    "bike bicycle",
    "car automobile",
    "rubbish trash garbage",
    "bag sack",
    "lamp light",
    "rug carpet",
    "pan skillet",
    "stove cooker hob",
    "tap faucet",
    "picture photo photograph",
    "jacket coat",
    "trousers pants",
    "sneaker trainer",
    "lounge livingroom",
    "restroom washroom bathroom toilet",
    "yard backyard garden",
    "supermarket grocery",
    "shop store",
    "hallway corridor",
    "basement cellar",
    "notebook notepad",
    "parcel package",
    "umbrella brolly",
    "flashlight torch",
    "vacuum hoover",
    "spectacles glasses",
    "earphones earbuds headphones",
    "notice note",
    "cab taxi",
    "cabinet cupboard",
    "pot saucepan",
    "film movie",
)
"""Everyday nouns of one meaning in British and American use."""

_SAME_THING = {word: group.split()[0] for group in _ALIKE_THINGS for word in group.split()}
_OPEN_COMPOUNDS = {"living room": "livingroom", "cell phone": "cellphone", "grocery store": "grocery"}


@functools.lru_cache(maxsize=50_000)
def folded(name: str) -> str:
    """A name for comparison: without case, accents, titles, articles and outer punctuation; one space between words."""
    text = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    words = [w for w in (_EDGE.sub("", part) for part in re.split(r"[\s_]+", text)) if w]
    while len(words) > 1 and words[0] in (_TITLES | _DETERMINERS):
        words.pop(0)
    return " ".join(words)


@functools.lru_cache(maxsize=50_000)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a folded name by which it can be looked up, possessive endings taken off."""
    return tuple(w for w in (_POSSESSIVE.sub("", part) for part in folded(name).split()) if w)


@functools.cache
def _bearers() -> dict[str, frozenset[str]]:
    """Pet form → full forms."""
    found: dict[str, set[str]] = {}
    for line in resources.files("videmus.graph").joinpath("data/nicknames.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            full, _, short = line.partition(":")
            for form in short.split():
                found.setdefault(form, set()).add(full)
    return {form: frozenset(full) for form, full in found.items()}


def is_short_for(form: str, full: str) -> bool:
    """Whether one word may be a pet form of a given name: by the list, or cut from its beginning ("Sam", "Sammy").

    Both folded. "tom" is short for "thomas" and "tomas"; a name is not short for itself.
    """
    if form == full or len(form) < 2:
        return False
    known = _bearers()
    if full in known.get(form, ()):
        return True
    stem = _stem(form)
    if len(stem) >= 3 and full.startswith(stem) and len(full) - len(stem) >= 1:
        return True
    spelt = {form, stem} | {f for f in (form.replace("y", "ie"), re.sub("ie$", "y", form)) if f != form}
    return any(alike_spelling(full, bearer) for s in spelt for bearer in known.get(s, ()))


def same_pet_form(one: str, other: str) -> bool:
    """Two pet forms of one name, as "Tom" and "Tommy", "Kate" and "Kathy"."""
    if _stem(one) == _stem(other) and len(_stem(one)) >= 2 and one != other:
        return True
    known = _bearers()
    return bool(known.get(one, frozenset()) & known.get(other, frozenset()))


def _stem(form: str) -> str:
    cut = re.sub(r"(ie|ey|y|i|o|s|z)$", "", form)
    if len(cut) >= 4 and cut[-1] == cut[-2]:
        cut = cut[:-1]
    return cut if len(cut) >= 2 else form


def alike_spelling(one: str, other: str) -> bool:
    """Whether two single words may be one name misspelt or misheard.

    They sound alike (`sound`), or differ by one edit (two from seven letters on, a swap of neighbours is one), and
    begin alike or sound so; words under four letters must sound alike and be equally long.
    """
    from rapidfuzz.distance import OSA

    if one == other:
        return True
    shorter = min(len(one), len(other))
    if shorter < 3:
        return False
    if sound(one) == sound(other) and len(sound(one)) >= 2:
        return abs(len(one) - len(other)) <= 2 if shorter >= 4 else len(one) == len(other)
    if shorter < 4:
        return False
    allowed = 2 if shorter >= 7 else 1
    if OSA.distance(one, other, score_cutoff=allowed) > allowed:
        return False
    return one[0] == other[0] or sound(one)[:1] == sound(other)[:1] or one[1:] == other[1:]


_SOUNDS = (
    ("ough", "o"), ("augh", "a"), ("igh", "i"), ("sch", "s"), ("tch", "s"), ("ch", "s"), ("sh", "s"), ("ph", "f"),
    ("ck", "k"), ("gh", "g"), ("th", "t"), ("wr", "r"), ("kn", "n"), ("wh", "w"), ("qu", "kw"), ("x", "ks"),
    ("dg", "g"), ("ce", "se"), ("ci", "si"), ("cy", "si"), ("c", "k"), ("q", "k"), ("z", "s"), ("v", "f"), ("d", "t"),
    ("b", "p"), ("g", "k"), ("j", "k"),
)  # fmt: skip


@functools.lru_cache(maxsize=20_000)
def sound(word: str) -> str:
    """What an English speaker's recogniser keeps of a word: its first sound and its consonants, voiced as unvoiced."""
    text = re.sub(r"[^a-z]", "", word)
    for written, heard in _SOUNDS:
        text = text.replace(written, heard)
    if not text:
        return word
    first = "a" if text[0] in "aeiouyh" else text[0]
    kept = first + re.sub(r"[aeiouyhw]", "", text[1:])
    return re.sub(r"(.)\1+", r"\1", kept)


_LABEL = re.compile(r"(?i)^(?:speaker|spk|voice|unknown|person)[ _-]*\w{0,3}(?: \(\w+\))?$")


def is_label(name: str) -> bool:
    """Whether this is a label that a diarizer gives ("SPEAKER_01"): it means nothing outside its video."""
    return _LABEL.match(name) is not None


# ---------------------------------------------------------------- things and places


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing's or place's description: "Tom's red mugs" is head "mug", owner "tom", marks {"red"}."""

    head: str
    marks: frozenset[str]
    owner: str | None

    def fits(self, other: Thing) -> bool:
        """Whether both may describe one thing: one head, and neither says what the other contradicts."""
        if self.head != other.head or (self.owner and other.owner and self.owner != other.owner):
            return False
        return self.marks <= other.marks or other.marks <= self.marks


@functools.lru_cache(maxsize=20_000)
def thing(name: str) -> Thing:
    """The description in a name. The head is its last word in the singular, of words with one meaning the first."""
    text = folded(name)
    text = re.split(r"\b(?:of|with|on|in|at|from|under)\b", text)[0].strip() or text
    for written, joined in _OPEN_COMPOUNDS.items():
        text = text.replace(written, joined)
    owner = None
    marks: list[str] = []
    words = text.split()
    for index, word in enumerate(words[:-1]):
        if word.endswith(("'s", "s'")):
            owner = " ".join([*words[:index], _POSSESSIVE.sub("", word)]).strip()
            marks = []
        else:
            marks.append(word)
    head = singular(words[-1]) if words else text
    kept = [m for m in marks if owner is None or m not in owner.split()]
    return Thing(_SAME_THING.get(head, head), frozenset(kept), owner)


def singular(word: str) -> str:
    """An English noun in the singular, by its ending."""
    if word in _UNINFLECTED or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    if word.endswith("ves") and word not in ("gloves", "sleeves", "stoves", "olives", "waves"):
        return word[:-3] + ("fe" if word in ("knives", "wives", "lives") else "f")
    return word[:-1]


@functools.lru_cache(maxsize=50_000)
def surface(kind: EntityKind, name: str) -> str:
    """The key under which a name is one form: folded, things in the singular ("the red mugs" is "red mug")."""
    text = folded(name)
    if kind == "person" or not text:
        return text
    *first, last = text.split()
    return " ".join([*first, singular(last)])
