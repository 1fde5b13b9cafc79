"""The keyword index: an FTS5 table over the words of every evidence row.

Enters: rows as they are inserted and deleted, and words of a question. Leaves: hits with BM25 scores, frequencies of
words, which words of the library hold a piece of one. Knows nothing of vectors, of fusion or of answers.

The index is contentless: it holds what `words.terms` makes of a row's speaker and text, and is made anew from the rows when that
changes. A question's words reach FTS5 only as quoted terms, so that no text is ever read as query syntax.

Common words: a row that holds only "learning" is one of thousands, and ranking them all takes most of a search's time.
So the rarest words of a question are looked up first, and words are left out once the rows they would bring exceed a
budget (they still count when the candidates are scored); when even the rarest exceeds it, its rows are narrowed to
those that hold the next words too.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from videmus.model import Evidence, Row, Scope
from videmus.store.protocol import Hit, Span, Text
from videmus.store.scope import Table, sought
from videmus.store.words import terms

WORDS_VERSION = 1
"""Raise it when `words.terms` gives other words for the same text: the index is then made anew."""

POSTINGS = 3_000
"""Rows that FTS5 ranks for one search. Ranking takes about 1.5 µs a row (measured: 155 ms for all words of a question
over 100,000 passages), so this is some 5 ms."""

_CREATE = (
    "CREATE VIRTUAL TABLE fulltext USING fts5"
    "(terms, content='', tokenize=\"ascii tokenchars '.,:+#'\")",  # every sign that `words` keeps; spaces separate
    "CREATE VIRTUAL TABLE fulltext_word USING fts5vocab(fulltext, 'row')",
    "CREATE TABLE fulltext_version (version INTEGER NOT NULL, rows INTEGER NOT NULL DEFAULT 0)",
)
_COUNTED = "INSERT INTO fulltext_frequency SELECT term, doc FROM fulltext_word"
_ROW = "evidence.id, video.id, evidence.start_ms, evidence.end_ms, evidence.kind"
_OF_ROW = " FROM evidence JOIN video ON video.n = evidence.video"


def create_fulltext(connection: sqlite3.Connection) -> None:
    """The migration "fulltext": the index, filled with the rows that are there."""
    for statement in _CREATE:
        connection.execute(statement)
    connection.execute("INSERT INTO fulltext_version (version) VALUES (?)", (WORDS_VERSION,))
    _fill(connection)


def create_frequencies(connection: sqlite3.Connection) -> None:
    """The migration "fulltext frequencies": in how many rows each term stands. FTS5 would count a term's rows each time."""
    connection.execute("CREATE TABLE fulltext_frequency (term TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID")
    connection.execute(_COUNTED)


class FullText:
    """A follower of the rows (`rows.Follower`) and the index's reader. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vocabulary: tuple[int, str] | None = None

    # ------------------------------------------------------------ following the rows

    def added(self, connection: sqlite3.Connection, table: Table, rows: Sequence[tuple[int, Row]]) -> None:
        if table == "evidence":
            indexed = [(n, _indexed(row.text, row.speaker)) for n, row in rows if isinstance(row, Evidence)]
            connection.executemany("INSERT INTO fulltext (rowid, terms) VALUES (?, ?)", indexed)
            connection.executemany(
                "INSERT INTO fulltext_frequency (term, rows) VALUES (?, ?)"
                " ON CONFLICT (term) DO UPDATE SET rows = rows + excluded.rows",
                sorted(_rows_of_terms(indexed).items()),
            )
            connection.execute("UPDATE fulltext_version SET rows = rows + ?", (len(rows),))

    def removing(self, connection: sqlite3.Connection, table: Table, numbers: Sequence[int]) -> None:
        if table != "evidence":
            return
        found = connection.execute(
            "SELECT n, text, speaker FROM evidence WHERE n IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        ).fetchall()
        indexed = [(n, _indexed(text, speaker)) for n, text, speaker in found]
        connection.executemany("INSERT INTO fulltext (fulltext, rowid, terms) VALUES ('delete', ?, ?)", indexed)
        gone = sorted(_rows_of_terms(indexed).items())
        connection.executemany(
            "UPDATE fulltext_frequency SET rows = rows - ? WHERE term = ?", [(count, term) for term, count in gone]
        )
        connection.executemany(
            "DELETE FROM fulltext_frequency WHERE term = ? AND rows < 1", [(term,) for term, _ in gone]
        )
        connection.execute("UPDATE fulltext_version SET rows = rows - ?", (len(found),))

    def rebuild(self, connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO fulltext (fulltext) VALUES ('delete-all')")
        connection.execute("UPDATE fulltext_version SET version = ?", (WORDS_VERSION,))
        _fill(connection)
        connection.execute("DELETE FROM fulltext_frequency")
        connection.execute(_COUNTED)

    def outdated(self, connection: sqlite3.Connection) -> bool:
        """Whether the index holds the words of another version of `words`: `rebuild` it before rows are removed."""
        (version,) = connection.execute("SELECT version FROM fulltext_version").fetchone()
        return bool(version != WORDS_VERSION)

    # ------------------------------------------------------------ reading

    def frequencies(self, connection: sqlite3.Connection, wanted: Sequence[str]) -> tuple[int, dict[str, int]]:
        """The number of rows in the library, and for each term that it holds the number of rows with it."""
        (total,) = connection.execute(
            "SELECT rows FROM fulltext_version"
        ).fetchone()  # counting takes as long as a search
        found = connection.execute(
            "SELECT term, rows FROM fulltext_frequency WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps(list(wanted)),),
        )
        return int(total), dict(found.fetchall())

    def containing(self, connection: sqlite3.Connection, piece: str, limit: int = 20) -> list[str]:
        """Terms of the library that hold `piece` inside ("re16" in "re16tgk"), the shortest first."""
        (last,) = connection.execute("SELECT coalesce(max(n), 0) FROM evidence").fetchone()
        with self._lock:
            if self._vocabulary is None or self._vocabulary[0] != last:
                every = [term for (term,) in connection.execute("SELECT term FROM fulltext_frequency")]
                self._vocabulary = (last, "\n" + "\n".join(every) + "\n")
            text = self._vocabulary[1]
        found: list[str] = []
        at = text.find(piece)
        while at >= 0 and len(found) < 1000:
            end = text.index("\n", at)
            found.append(text[text.rindex("\n", 0, at) + 1 : end])
            at = text.find(piece, end)
        return sorted(found, key=lambda term: (len(term), term))[:limit]

    def hits(
        self, connection: sqlite3.Connection, wanted: Sequence[Sequence[str]], scope: Scope, limit: int
    ) -> list[Hit]:
        """The rows that hold the words, by BM25, best first.

        `wanted` are the words of the question; each is a list of terms that count as the word (itself, or the words of
        the library that hold it inside).
        """
        groups = [list(dict.fromkeys(group)) for group in wanted if group]
        if not groups or limit < 1:
            return []
        _, counts = self.frequencies(connection, [term for group in groups for term in group])
        weighed = sorted((sum(counts.get(t, 0) for t in group), group) for group in groups)
        known = [(count, group) for count, group in weighed if count]
        if not known:
            return []
        return self._ranked(connection, _match(known, POSTINGS), scope, limit)

    def phrase(self, connection: sqlite3.Connection, phrase: Sequence[str], scope: Scope, limit: int) -> list[Hit]:
        """The rows that hold these terms one after the other."""
        return self._ranked(connection, '"' + " ".join(phrase) + '"', scope, limit) if phrase else []

    def _ranked(self, connection: sqlite3.Connection, match: str, scope: Scope, limit: int) -> list[Hit]:
        """FTS5 ranks row numbers alone; of the rows themselves only the best are read, until `limit` lie in the scope."""
        ranked = connection.execute(
            "SELECT rowid, -bm25(fulltext) FROM fulltext WHERE fulltext MATCH ?", (match,)
        ).fetchall()
        order = np.argsort([-score for _, score in ranked], kind="stable").tolist()  # of equal ones the earlier row
        clause = sought(scope, unfinished=scope.video is not None)
        sql = (
            f"SELECT evidence.n, {_ROW} FROM json_each(:numbers) AS wanted"  # noqa: S608 - names of our own; all values are parameters
            " CROSS JOIN evidence ON evidence.n = wanted.value JOIN video ON video.n = evidence.video"
            f" WHERE {clause.sql}"
        )
        hits: list[Hit] = []
        first, size = 0, limit
        while first < len(order) and len(hits) < limit:
            part = [ranked[k] for k in order[first : first + size]]
            numbers = json.dumps([n for n, _ in part])
            seen = {n: row for n, *row in connection.execute(sql, {**clause.parameters, "numbers": numbers})}
            for n, score in part:
                if n in seen:
                    id, video, start, end, kind = seen[n]
                    hits.append(Hit(id, video, start, end, kind, score))
            first, size = first + size, 4 * size
        return hits[:limit]


def texts(
    connection: sqlite3.Connection,
    scope: Scope,
    spans: Sequence[Span] | None = None,
    limit: int | None = None,
) -> list[Text]:
    """The texts of the rows that the scope sees (and that overlap one of `spans`), by video and time, without details."""
    clause = sought(scope, unfinished=scope.video is not None)
    values = {**clause.parameters, "limit": -1 if limit is None else limit}
    if spans is None:
        sql = f"SELECT {_ROW}, evidence.text, evidence.speaker{_OF_ROW} WHERE {clause.sql}"
    else:
        values["spans"] = json.dumps([[s.video, s.start_ms, s.end_ms] for s in _merged(spans)])
        sql = (
            f"SELECT {_ROW}, evidence.text, evidence.speaker"  # noqa: S608 - as above
            " FROM json_each(:spans) AS span CROSS JOIN video ON video.id = span.value ->> 0"
            " CROSS JOIN evidence INDEXED BY evidence_time ON evidence.video = video.n"
            " AND evidence.start_ms < span.value ->> 2 AND evidence.end_ms > span.value ->> 1"
            f" WHERE {clause.sql}"
        )
    sql += " ORDER BY evidence.video, evidence.start_ms, evidence.end_ms, evidence.n LIMIT :limit"
    found = {record[0]: Text(*record) for record in connection.execute(sql, values)}
    return list(found.values())


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Spans that overlap become one: no row is then read for each of them."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.video, s.start_ms)):
        last = merged[-1] if merged else None
        if last is not None and last.video == span.video and span.start_ms <= last.end_ms:
            merged[-1] = Span(last.video, last.start_ms, max(last.end_ms, span.end_ms))
        else:
            merged.append(span)
    return merged


def _match(known: Sequence[tuple[int, list[str]]], budget: int) -> str:
    """An FTS5 query that brings at most some `budget` rows: rare words first (`known` is ordered so)."""
    rarest, first = known[0]
    if rarest > budget:
        return " AND ".join(_any(group) for _, group in known[:3])
    chosen, brought = [first], rarest
    for count, group in known[1:]:
        if brought + count > budget:
            break
        chosen.append(group)
        brought += count
    return " OR ".join(_any(group) for group in chosen)


def _any(group: Sequence[str]) -> str:
    return "(" + " OR ".join('"' + term.replace('"', '""') + '"' for term in group) + ")"


def _fill(connection: sqlite3.Connection) -> None:
    connection.executemany("INSERT INTO fulltext (rowid, terms) VALUES (?, ?)", _all_terms(connection))
    connection.execute("UPDATE fulltext_version SET rows = (SELECT count(*) FROM evidence)")


def _rows_of_terms(indexed: Sequence[tuple[int, str]]) -> Counter[str]:
    return Counter(term for _, text in indexed for term in set(text.split()))


def _all_terms(connection: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    for n, text, speaker in connection.execute("SELECT n, text, speaker FROM evidence ORDER BY n"):
        yield n, _indexed(text, speaker)


def _indexed(text: str, speaker: str | None) -> str:
    """What the index holds of a row: who speaks is asked for as what is said ("What did the student ask?")."""
    return " ".join(terms(f"{speaker} {text}" if speaker else text))
