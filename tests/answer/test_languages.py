"""Questions in languages that the embedding model does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from videmus.answer.languages import by_words, language_of
from videmus.answer.unaided import answer
from videmus.config import Settings
from videmus.model import Evidence, Origin, Scope, Video, content_id, evidence_id
from videmus.models.text_embedding import load
from videmus.store.sqlite import SqliteStore

SAID = {
    "de": [
        "Guten Morgen, heute geht es um die Gezeiten.",
        "Das Meer steigt, weil der Mond das Wasser anzieht.",
        "Am Hafen von Emden liegt die Flut drei Meter über der Ebbe.",
        "Zum Schluss noch ein Wort zu den Deichen, sie schützen das Land.",
    ],
    "fr": [
        "Bonjour, aujourd'hui nous parlons des marées.",
        "La mer monte parce que la lune attire l'eau.",
        "Au port de Brest la marée haute dépasse la marée basse de six mètres.",
        "Enfin un mot sur les digues, elles protègent la côte.",
    ],
    "es": [
        "Buenos días, hoy hablamos de las mareas.",
        "El mar sube porque la luna atrae el agua.",
        "En el puerto de Vigo la marea alta supera a la baja en cuatro metros.",
        "Por último una palabra sobre los diques, protegen la costa.",
    ],
    "zh": [
        "大家好，今天讲潮汐。",
        "海水上升是因为月亮吸引海水。",
        "在青岛港，高潮比低潮高四米。",
        "最后说一下堤坝，它们保护海岸。",
    ],
}


def row(language: str, n: int, text: str) -> Evidence:
    video = content_id("v", language)
    kind: Any = "speech"
    id = evidence_id(video, kind, 10_000 * n, 10_000 * n + 8_000, text)
    return Evidence(id, video, 10_000 * n, 10_000 * n + 8_000, kind, text, Origin("t"))


@pytest.fixture(scope="module")
def embedder():
    return load(Settings())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, embedder) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path_factory.mktemp("languages") / "library")
    for language, sentences in SAID.items():
        opened.put_video(Video(content_id("v", language), language, language, 50_000, f"/{language}.mp4", "ready"))
        opened.add("t", [row(language, n, text) for n, text in enumerate(sentences)])
    waiting = list(opened.passages_without_vectors(embedder.name))
    opened.add_vectors(embedder.name, waiting, embedder.embed([p.text for p in waiting]))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ask(store, embedder):
    def asked(language: str, question: str):
        return answer(store, embedder, question, Scope(video=content_id("v", language)), None, Settings())

    return asked


@pytest.mark.parametrize(
    ("language", "question", "n"),
    [
        ("de", "Warum steigt das Meer?", 1),
        ("de", "Wie hoch liegt die Flut am Hafen von Emden?", 2),
        ("de", "Was schützt der Deich?", 3),
        ("fr", "Pourquoi la mer monte-t-elle ?", 1),
        ("fr", "De combien la marée haute dépasse-t-elle la marée basse à Brest ?", 2),
        ("fr", "Que protège une digue ?", 3),
        ("es", "¿Por qué sube el mar?", 1),
        ("es", "¿En cuánto supera la marea alta a la baja en Vigo?", 2),
        ("es", "¿Qué protege un dique?", 3),
        ("zh", "海水为什么上升？", 1),
        ("zh", "青岛港的高潮比低潮高多少？", 2),
        ("zh", "堤坝保护什么？", 3),
    ],
)
def test_a_question_in_another_language_is_answered_by_its_words(ask, language, question, n):
    given = ask(language, question)
    assert given.citations[0].quote == SAID[language][n], given.text
    assert "found by words alone" in given.steps[0].result


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("de", "Wie viel kostet ein Fahrrad in Berlin?"),
        ("de", "Wer gewann das Schachturnier?"),
        ("fr", "Combien coûte un vélo à Paris ?"),
        ("es", "¿Quién ganó el torneo de ajedrez?"),
        ("zh", "谁赢了象棋比赛？"),
    ],
)
def test_what_is_not_said_is_refused_and_it_is_told_how_it_was_looked_for(ask, language, question):
    given = ask(language, question)
    assert given.grounding == "unsupported" and not given.citations
    assert "does not say" in given.text and "found by words alone" in given.text


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is a tide?", "English"),
        ("Was ist eine Flut?", "German"),
        ("Warum Ebbe?", "German"),
        ("Qu'est-ce que la marée ?", "French"),
        ("¿Qué es la marea?", "Spanish"),
        ("Che cos'è la marea?", "Italian"),
        ("为什么有潮汐?", "Chinese"),
        ("How does the die cast?", "English"),
        ("die casting", None),
        ("Who is Anna Van Der Berg?", "English"),
        ("tides", None),
        ("", None),
    ],
)
def test_small_words_tell_the_language(question, language):
    assert language_of(question) == language


def test_a_word_that_no_row_holds_is_looked_up_by_its_beginning(store, embedder):
    asked = by_words("Was ist mit den Häfen und mit der Flutung?", embedder, store)
    assert asked is not None and asked.text.split() == ["hafen", "flut"]


def test_a_model_that_knows_the_language_is_used(store):
    class Known:
        name, languages = "many", frozenset({"de", "en"})

    assert by_words("Warum steigt das Meer?", Known(), store) is None
