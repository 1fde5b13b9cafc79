"""Which sentences of the moments that were found answer a question: scored, told apart, joined with what they lean on.

Enters: a ranking, the rows that were retrieved. Leaves: quotes, the best first, each a whole sentence, neighbours that belong
together, or lines of a slide. Decides neither whether to answer nor whether a quote stands: that is checked later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from videmus.answer.lines import Proof
from videmus.config import AnswerSettings
from videmus.model import Evidence
from videmus.models.text_embedding import TextEmbedder
from videmus.search.hybrid import Ranking
from videmus.segment.passages import sentence_spans, spans, word_count
from videmus.segment.sentences import ENDED, Whole, joined, whole_sentences
from videmus.store.words import stem, words
from videmus.understand.terms import content_words

ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|often|old|far|large|big|high|fast)\b|\bwhen\b|\bwhat (?:year|time|date)"
    r"|\bwie ?(?:viele?|lange|oft|alt|weit|gro(?:ß|ss)|hoch|schnell)\b|\bwann\b|\bcombien\b|\bquand\b|\bcu[aá]nt[oa]s?\b"
    r"|\bcu[aá]ndo\b|多少|几[个次年天]|什么时候",
    re.I,
)
NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|hundred|thousand|million|billion|once|twice|half|monday|tuesday|wednesday|thursday|friday|saturday"
    r"|sunday|(?:to|yester)day|tomorrow|daily|weekly|monthly|yearly"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|drei(?:ß|ss)ig|hundert|tausend"
    r"|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|vingt|trente|cent|mille"
    r"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|veinte|treinta|cien|mil)\b|[二三四五六七八九十百千万]",
    re.I,
)
_COUNTED = re.compile(r"\bhow many (?:of the |other |different |more )?([^\W\d_]+)", re.I)
_FORM = re.compile(r"\bhow (long|old|far|often|much|many|large|big|high|fast|deep|late|heavy|wide|strong)\b", re.I)
_WORKS = re.compile(r"\bhow (?:do|does|did)\b.*\b(works?)\W*$", re.I)
_ASKS_QUESTION = re.compile(
    r"\b(?:ask|asks|asked|question|questions|frage|fragte?|gefragt|preguntas?|demandé?)\b", re.I
)
_ASKS_REASON = re.compile(
    r"\bwhy\b|\bhow come\b|\breason\b|\bwarum\b|\bwieso\b|\bweshalb\b|\bpourquoi\b|\bpor qu[eé]\b|为什么|为何", re.I
)
REASON = re.compile(
    r"\b(?:because|so that|therefore|due to|reasons?|in order to|that(?:'s| is) why|since|caused? by)\b"
    r"|\b(?:weil|denn|deshalb|wegen|damit|car|donc|afin|porque|debido)\b|\bparce qu|因为|所以|由于",
    re.I,
)
_ASKS_MEANING = re.compile(
    r"^\W*what(?:'s| is| are)\s+(?:an?\s+|the\s+)?[\w-]+(?:\s+[\w-]+){0,2}\W*$|\bmean(?:s|ing)?\b|\bdefin", re.I
)
_MEANING = re.compile(r"^\W*what(?:'s| is| are)\b(?!.*\b(?:of|for|on|at)\b)|\bmean(?:s|ing)?\b|\bdefin", re.I)
_MEANING = re.compile(
    r"\b(?:is|are)\s+(?:called\s+)?(?:an?|the)\b|\bmeans?\b|\bcalled\b|\bdefin|\brefers to\b|\bthat is\b", re.I
)
_FILLING = """
good great excellent question point okay ok right alright so well yes no yeah sure thank thanks please hello hi hey welcome
morning afternoon evening everyone everybody bye goodbye nice fine sorry excuse back start started begin let move next moving
see show problem now today gut gute frage danke also bonjour merci bien hola gracias buena pregunta
"""
_FILLERS = frozenset(stem(w) for w in _FILLING.split())
"""Words that fill a sentence which says nothing."""

_COURSE = re.compile(
    r"\b(?:come|coming|get|go|going|now) back to\b|\bkeep .{0,20}in mind\b|\b(?:next|last) slide\b|\bany questions\b"
    r"|\blook at (?:this|the|that)\b",
    re.I,
)
"""Of the talk's own course: such a sentence leads to an answer, and is none."""

_TRAILING_NUMBER = re.compile(r"\s*\|?\s*\n?\s*\d{1,3}\s*$")


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence, or lines of a slide, and how well it fits. `whole` where it was said; `asked` the question it replies to."""

    row: Evidence
    text: str
    fit: float
    whole: Whole | None = None
    asked: str = ""

    @property
    def end_ms(self) -> int:
        return self.whole.end_ms if self.whole else self.row.end_ms

    @property
    def proof(self) -> Proof:
        return tuple((p.row, p.text) for p in self.whole.places) if self.whole else ((self.row, self.text),)


def quotes(
    found: Ranking,
    retrieved: Mapping[str, Evidence],
    around: Sequence[Evidence],
    embedder: TextEmbedder | None,
    settings: AnswerSettings,
) -> list[Quote]:
    """The quotes that answer, the best first; none where no sentence says anything.

    `retrieved` are the moments' rows by id, `around` what is said in the moments and next to them.
    """
    near = _nearness(found, embedder)
    said = whole_sentences([*{r.id: r for r in (*retrieved.values(), *around) if r.kind == "speech"}.values()])
    fitting = _fitting(found, retrieved, said, near, settings)
    chosen = [_matching_lines(quote, found, near, settings) for quote in _chosen(fitting, settings)]
    chosen = _explained(chosen, fitting, found, settings)
    reasons = bool(_ASKS_REASON.search(found.question.text))
    return _apart([_with_neighbours(quote, said, reasons and k == 0, settings) for k, quote in enumerate(chosen)])


Near = Callable[[Sequence[str]], NDArray[np.floating]]


def _nearness(found: Ranking, embedder: TextEmbedder | None) -> Near:
    """The cosine of texts to the question; 0 where nothing has vectors."""

    def near(texts: Sequence[str]) -> NDArray[np.floating]:
        if embedder is None or found.vector is None or not texts:
            return np.zeros(len(texts))
        cosines: NDArray[np.floating] = embedder.embed(list(texts)) @ found.vector
        return cosines

    return near


# ---------------------------------------------------------------- how well a sentence fits


def _fitting(
    found: Ranking, retrieved: Mapping[str, Evidence], said: Sequence[Whole], near: Near, settings: AnswerSettings
) -> list[Quote]:
    """The sentences of the moments' rows, each with its fit: its words, its nearness, its form, its moment's rank."""
    of_row: dict[str, list[Whole]] = {}
    for sentence in said:
        for place in sentence.places:
            of_row.setdefault(place.row.id, []).append(sentence)
    pieces: dict[tuple[str, int | str], tuple[Quote, float]] = {}
    best = max(r.moment.score for r in found.results)
    for one in found.results:
        standing = one.moment.score / best if best > 0 else 0.0
        for id in (row.id for row in one.rows):  # a moment's rows that did not match may hold the reply
            row = retrieved.get(id)
            if row is None:
                continue
            if row.kind == "speech":
                for sentence in of_row.get(id, ()):
                    quote = Quote(sentence.row, sentence.text, 0.0, sentence)
                    pieces.setdefault(sentence.key, (quote, standing))
            else:
                for text in _shown(row, settings.quote_words):
                    pieces.setdefault((row.id, text), (Quote(row, text, 0.0), standing))
    read = list(pieces.values())[: settings.sentences_read]
    total = sum(found.idf.values()) or 1e-9
    asked = found.question.text
    counting, reasons, meaning = (bool(p.search(asked)) for p in (ASKS_NUMBER, _ASKS_REASON, _ASKS_MEANING))
    known = _asked(found)
    scored = []
    for (quote, standing), cosine in zip(read, near([q.text for q, _ in read]), strict=True):
        row = quote.row
        there = {stem(w) for w in words(f"{row.speaker} {quote.text}" if row.speaker else quote.text)}
        held = sum(found.idf[t.word] for t in found.question.terms if there.intersection(t.counts_as)) / total
        fit = held + settings.sentence_cosine * float(cosine) + settings.standing * standing
        fit += settings.number_asked * (counting and bool(NUMBER.search(quote.text)))
        fit += settings.form_asked * (reasons and bool(REASON.search(quote.text)))
        fit += settings.form_asked * (meaning and bool(_MEANING.search(quote.text)))
        if quote.whole and _COURSE.search(quote.text):
            fit -= settings.is_heading
        if quote.whole is None and len(_meant(quote.text) - known) <= (settings.label_words if reasons else 0):
            fit -= settings.is_heading
        scored.append(replace(quote, fit=fit))
    if _ASKS_QUESTION.search(asked):
        return [q for q in scored if says_something(q.text)]
    return _answered(scored, said, settings)


def told(found: Ranking, quoted: Sequence[Quote]) -> float:
    """The share of the question's words, by their rarity, that stand in the quotes; 1 where it has none that count.

    "long" in "how long" asks for a form and is no such word: that something is "as long as" another tells nothing. A reply
    tells what the question before it names.
    """
    forms = {word.lower() for pattern in (_FORM, _WORKS) for word in pattern.findall(found.question.text)}
    there = {stem(w) for q in quoted for w in words(f"{q.row.speaker or ''} {q.text} {q.asked}")}
    counted = [t for t in found.question.terms if t.word not in forms]
    total = sum(found.idf[t.word] for t in counted)
    return sum(found.idf[t.word] for t in counted if there.intersection(t.counts_as)) / total if total else 1.0


def nearest(found: Ranking, quoted: Sequence[Quote], embedder: TextEmbedder | None) -> float:
    """The best cosine of a quote to the question; 0 where nothing has vectors."""
    return float(max(_nearness(found, embedder)([q.text for q in quoted]), default=0.0))


def tells_number(question: str, sentences: Iterable[str]) -> bool:
    """Whether a number that a question asks for may stand in the sentences: beside what is counted, where that is named."""
    counted = _COUNTED.search(question)
    noun = stem(words(counted.group(1))[0]) if counted and words(counted.group(1)) else None
    return any(NUMBER.search(s) and (noun is None or noun in map(stem, words(s))) for s in sentences)


def _asked(found: Ranking) -> set[str]:
    """The terms that count as the question's words."""
    return set().union(*(t.counts_as for t in found.question.terms))


def says_something(text: str) -> bool:
    """Whether a sentence holds a word that carries a subject, or a number: "Good question." and "Okay, so" do not."""
    return bool(NUMBER.search(text)) or any(stem(w) not in _FILLERS for w in content_words(text))


def _answered(scored: Sequence[Quote], said: Sequence[Whole], settings: AnswerSettings) -> list[Quote]:
    """A question is no answer: what fits it as well is the next sentence that says something."""
    at = {sentence.key: k for k, sentence in enumerate(said)}
    replies: dict[tuple[str, int], Quote] = {}
    for quote in scored:
        if quote.whole is None or not quote.whole.asks:
            continue
        k = at[quote.whole.key]
        for reply in said[k + 1 : k + 4]:
            if reply.row.video == quote.row.video and not reply.asks and says_something(reply.text):
                fit = settings.follows_question * quote.fit
                known = replies.get(reply.key)
                if known is None or fit > known.fit:
                    replies[reply.key] = Quote(reply.row, reply.text, fit, reply, quote.text)
                break
    answers = []
    for quote in scored:
        if not says_something(quote.text) or (quote.whole and quote.whole.asks):
            continue
        replying = replies.pop(quote.whole.key, None) if quote.whole else None
        better = replying is not None and replying.fit > quote.fit
        answers.append(replying if replying and better else quote)
    answers += replies.values()
    return answers or [q for q in scored if says_something(q.text)]


def _shown(row: Evidence, most_words: int) -> list[str]:
    """A row's sentences, wrapped lines joined and those too long cut at clauses; a short row (a slide's few lines) stays
    whole."""
    if word_count(row.text) <= most_words:
        return [row.text.strip()] if row.text.strip() else []
    found = []
    for first, last in _unwrapped(row.text) if row.kind == "screen" else sentence_spans(row.text):
        sentence = row.text[first:last]
        found += [sentence[a:b] for a, b in spans(sentence, most_words)]
    return found


def _unwrapped(text: str) -> list[tuple[int, int]]:
    """The lines of a page; one that goes on in small letters after a long one without an end belongs to it."""
    lines = sentence_spans(text)
    starts = [text[a:b].lstrip()[:1] for a, b in lines]
    capitals = sum(s.isupper() for s in starts) >= len(lines) / 2
    found: list[tuple[int, int]] = []
    for (first, last), start in zip(lines, starts, strict=True):
        before = text[found[-1][0] : found[-1][1]].rpartition("\n")[2] if found else ""
        if capitals and start.islower() and len(before.split()) >= 5 and not ENDED.search(before):
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


# ---------------------------------------------------------------- which are quoted


def _chosen(fitting: Sequence[Quote], settings: AnswerSettings) -> list[Quote]:
    """The best sentence, then others that fit nearly as well and say something else."""
    chosen: list[Quote] = []
    for quote in sorted(fitting, key=lambda q: (-q.fit, q.row.start_ms)):
        if len(chosen) == settings.sentences or (chosen and quote.fit < settings.nearly * chosen[0].fit):
            break
        if all(not _repeats(quote.text, c.text, settings.repeating) for c in chosen):
            chosen.append(quote)
    return chosen


def _repeats(text: str, earlier: str, share: float) -> bool:
    """Whether most of what a text says was said already: what is on the slide is often spoken too."""
    mine = _meant(text)
    return len(mine & _meant(earlier)) >= share * len(mine)


def _meant(text: str) -> set[str]:
    return {stem(w) for w in content_words(text)} or set(words(text))


def _matching_lines(quote: Quote, found: Ranking, near: Near, settings: AnswerSettings) -> Quote:
    """Of a slide, the line that fits best, as far as one that holds another rare word of the question.

    The first line, and one that says no more than the question does, are headings: the answer stands below, and all of it
    is quoted.
    """
    lines = quote.text.split("\n")
    if quote.whole is not None or len(lines) < 3:
        return quote
    total = sum(found.idf.values()) or 1e-9
    there = [{stem(w) for w in words(line)} for line in lines]
    shares = {
        t.word: (found.idf[t.word] / total, {k for k, stems in enumerate(there) if stems.intersection(t.counts_as)})
        for t in found.question.terms
    }
    fits = settings.sentence_cosine * near(lines)
    for share, holding in shares.values():
        fits[list(holding)] += share
    if ASKS_NUMBER.search(found.question.text):
        fits += settings.number_asked * np.array([bool(NUMBER.search(line)) for line in lines])
    best = int(fits.argmax())
    asked = _asked(found)
    if best == 0:
        return quote
    if there[best] <= asked or lines[best].rstrip().endswith((":", "：")):
        return replace(quote, text="\n".join(lines[best:]).strip())
    rare = [holding for share, holding in shares.values() if holding and share >= settings.line_word]
    below = [holding - {0} for holding in rare if best not in holding and holding != {0}]
    reached = [best, *(min(holding, key=lambda k: abs(k - best)) for holding in below)]
    first, last = min(reached), max(reached)
    if first == 1 and any(0 in holding and best not in holding for holding in rare):
        first = 0  # the title stands next to it
    return replace(quote, text="\n".join(lines[first : last + 1]).strip())


def _explained(chosen: list[Quote], fitting: Sequence[Quote], found: Ranking, settings: AnswerSettings) -> list[Quote]:
    """A label that says hardly more than the question was put up to be explained: what is said over it comes with it."""
    asked = _asked(found)
    label = chosen[0] if chosen else None
    if label is None or label.whole or any(q.whole for q in chosen):
        return chosen
    if len({stem(w) for w in words(label.text)} - asked) > settings.label_words:
        return chosen
    over = [
        q
        for q in fitting
        if q.whole and q.row.video == label.row.video
        and q.row.start_ms < label.row.end_ms and q.row.end_ms > label.row.start_ms
    ]  # fmt: skip
    telling = [q for q in over if not _COURSE.search(q.text)] or over
    best = sorted(telling, key=lambda q: -q.fit)[: settings.explaining]
    return [*chosen, *sorted(best, key=lambda q: q.row.start_ms)]


# ---------------------------------------------------------------- what belongs together


def _with_neighbours(quote: Quote, said: Sequence[Whole], reasons: bool, settings: AnswerSettings) -> Quote:
    """A sentence that leans on the one before is quoted with it; asked for a reason, one that the next gives comes too."""
    if quote.whole is None:
        shown = _TRAILING_NUMBER.sub("", quote.text) if quote.row.kind == "screen" else quote.text
        return replace(quote, text=shown) if says_something(shown) else quote
    at = next(k for k, sentence in enumerate(said) if sentence.key == quote.whole.key)
    group = [quote.whole]
    before = said[at - 1] if at else None
    after = said[at + 1] if at + 1 < len(said) else None
    if before and quote.whole.leans and _next_to(before, quote.whole, settings) and says_something(before.text):
        group.insert(0, before)
    if after and reasons and _next_to(quote.whole, after, settings) and not REASON.search(quote.text):
        gives = REASON.search(after.text) or after.leans
        if gives and not after.asks and says_something(after.text):
            group.append(after)
    whole = joined(group)
    return replace(quote, row=whole.row, text=whole.text, whole=whole)


def _next_to(first: Whole, second: Whole, settings: AnswerSettings) -> bool:
    """Two sentences of one breath, by one speaker, together short enough to quote."""
    last = first.places[-1].row
    return (
        last.video == second.row.video
        and last.speaker == second.row.speaker
        and second.row.start_ms - last.end_ms <= settings.pause_ms
        and word_count(first.text) + word_count(second.text) <= settings.joined_words
    )


def _apart(chosen: Iterable[Quote]) -> list[Quote]:
    """Without quotes that another one, the better, holds already since neighbours were joined."""
    kept: list[Quote] = []
    for quote in chosen:
        if any(quote.text in other.text or _overlap(quote, other) for other in kept):
            continue
        kept.append(quote)
    return kept


def _overlap(one: Quote, other: Quote) -> bool:
    mine, theirs = (q.whole.places if q.whole else () for q in (one, other))
    return any(a.row.id == b.row.id and a.first < b.last and b.first < a.last for a in mine for b in theirs)
