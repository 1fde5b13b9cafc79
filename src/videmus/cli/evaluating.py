"""`evaluate`: questions made from a lecture, and the three evaluations that a model judges; each run is a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from videmus.cli.session import Session
from videmus.errors import ModelError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from videmus.config import Settings
    from videmus.evaluate.runs import Ask, Find, Outcome, Question
    from videmus.library import Library
    from videmus.model import Answer
    from videmus.models.language import LanguageModel

Questions = Annotated[Path, typer.Argument(metavar="QUESTIONS.jsonl", help="One question a line, with its answer.")]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the run, or the questions, go.")]
Record = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write, or add, every model call to a file, for replay.")
]
Budget = Annotated[float | None, typer.Option(min=0.0, metavar="USD", help="Stop before the models cost more.")]

app = typer.Typer(help="Measure answers, a model as judge.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="evaluate")


@app.command()
def questions(
    context: typer.Context,
    videos: Annotated[list[str], typer.Argument(metavar="VIDEO...", help="Ids, prefixes of ids, or titles.")],
    output: Output = Path("questions.jsonl"),
    record: Record = None,
    budget: Budget = None,
) -> None:
    """Make questions from the slides of lectures: two of each of PreMind's three kinds a slide."""
    from videmus.evaluate.questions import generated
    from videmus.evaluate.runs import write_questions

    session: Session = context.obj
    with session.library(record=record, budget_usd=budget, asks=True) as library:
        model = _model(library)
        made: list[Question] = []
        problems: list[str] = []
        for video in [library.video(name) for name in videos]:

            def told(problem: str, title: str = video.title) -> None:
                problems.append(f"{title}: {problem}")
                session.notice(problems[-1])

            made += generated(library.evidence(video.id), model, told)
        write_questions(output, made)
        document = {"questions": len(made), "file": str(output), "problems": problems}
        session.show(document, lambda console: console.print(f"{len(made)} questions in {output}"))


@app.command()
def premind(
    context: typer.Context,
    file: Questions,
    output: Output = Path("premind.json"),
    record: Record = None,
    budget: Budget = None,
) -> None:
    """Ask the questions of all indexes and of each alone, as PreMind does."""
    from videmus.evaluate.questions import evaluated

    def measured(asked: Sequence[Question], ask: Ask, find: Find, model: LanguageModel) -> list[Outcome]:
        return evaluated(asked, ask, model)

    _run(context, "premind", file, output, record, budget, measured)


@app.command("lecture-rag")
def lecture_rag(
    context: typer.Context,
    file: Questions,
    output: Output = Path("lecture-rag.json"),
    collection: Annotated[str | None, typer.Option(help="What is searched as a whole (default: the library).")] = None,
    record: Record = None,
    budget: Budget = None,
) -> None:
    """Without context, from the whole course, and from the lecture alone."""
    from videmus.evaluate.lecture_rag import evaluated

    def measured(asked: Sequence[Question], ask: Ask, find: Find, model: LanguageModel) -> list[Outcome]:
        return evaluated(asked, ask, find, model, model, collection=collection)

    _run(context, "lecture-rag", file, output, record, budget, measured, collection=collection)


@app.command()
def goldfish(
    context: typer.Context,
    file: Questions,
    output: Output = Path("goldfish.json"),
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="How many moments are read.")] = 3,
    record: Record = None,
    budget: Budget = None,
) -> None:
    """Whether the right moment is among the first k, and whether the answer is right."""
    from videmus.evaluate.goldfish import evaluated

    def measured(asked: Sequence[Question], ask: Ask, find: Find, model: LanguageModel) -> list[Outcome]:
        return evaluated(asked, ask, find, model, top)

    _run(context, "goldfish", file, output, record, budget, measured, top=top)


@app.command()
def footage(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="EgoLifeQA's or Video-MME's questions, as published.")],
    recording: Annotated[str | None, typer.Option(help="The recording that is asked about (EgoLifeQA).")] = None,
    data: Annotated[str, typer.Option("--data", help="egolife or video-mme.")] = "egolife",
    condition: Annotated[
        list[str] | None, typer.Option(help="Tools on: everything, captions, graph, … (several).")
    ] = None,
    centiseconds: Annotated[
        bool, typer.Option("--centiseconds", help="Clock digits are hundredths, not frames.")
    ] = False,
    output: Output = Path("footage.json"),
    record: Record = None,
    budget: Budget = None,
) -> None:
    """Multiple choice over long footage, by the agent, with tools on and off; recall at windows of 10 s to 1 h."""
    from videmus.answer.asking import Asked, answer
    from videmus.evaluate import egolife, video_mme
    from videmus.evaluate import footage as measure
    from videmus.evaluate.runs import figures, write_run
    from videmus.model import Scope, to_plain

    if data not in ("egolife", "video-mme"):
        raise UsageError(f"unknown data {data!r}", next="one of: egolife, video-mme")
    conditions = condition or ["everything"]
    if unknown := [c for c in conditions if c not in measure.CONDITIONS]:
        raise UsageError(f"unknown condition {unknown[0]!r}", next=f"one of: {', '.join(measure.CONDITIONS)}")
    questions = (
        egolife.read(file, "centiseconds" if centiseconds else "frames") if data == "egolife" else video_mme.read(file)
    )
    session: Session = context.obj
    with session.library(record=record, budget_usd=budget, asks=True) as library:
        _model(library)

        def ask(question: measure.FootageQuestion, settings: Settings) -> Answer:
            video = library.video(question.video).id if question.video else None
            scope = Scope(video=video, recording=recording, at=question.asked_at)
            return answer(
                library.store, library.minds, settings, Asked(question.text, scope, "agent", options=question.options)
            )

        asked = measure.evaluate(questions, ask, conditions, library.settings)
        ids = list(dict.fromkeys(id for a in asked for id in a.retrieved))
        rows = {row.id: row for row in library.store.evidence_by_id(ids)}
        recall = measure.recall_at_windows(questions, asked, rows, {v.id: v for v in library.videos()})
        outcomes = [a.outcome for a in asked]
        document = write_run(
            output, "footage", questions, outcomes, library.settings,
            data=data, recording=recording, recall=[to_plain(r) for r in recall],
        )  # fmt: skip

        def lines(console: Console) -> None:
            for name, row in figures(outcomes).items():
                for kind, interval in row.items():
                    console.print(f"{name:26} {kind:16} {interval}")
            for r in recall:
                console.print(
                    f"recall at {r.window_s:>4} s   {r.share:.3f}   {r.retrieved_s:.0f} s retrieved a question"
                )

        session.show(document, lines)


def _run(
    context: typer.Context,
    name: str,
    file: Path,
    output: Path,
    record: Path | None,
    budget: float | None,
    measured: Callable[[Sequence[Question], Ask, Find, LanguageModel], list[Outcome]],
    **more: Any,
) -> None:
    """Read the questions, measure, write the run's file and show its figures."""
    from videmus.evaluate.runs import figures, read_questions, write_run

    session: Session = context.obj
    with session.library(record=record, budget_usd=budget, asks=True) as library:
        model = _model(library)
        asked = [replace(q, video=library.video(q.video).id) if q.video else q for q in read_questions(file)]
        outcomes = measured(
            asked,
            lambda question, scope: library.ask(question, **scope),
            lambda question, scope: library.search(question, **scope),
            model,
        )
        document = write_run(output, name, asked, outcomes, library.settings, judge=model.name, **more)

        def lines(console: Console) -> None:
            for condition, row in figures(outcomes).items():
                for kind, interval in row.items():
                    console.print(f"{condition:14} {kind:16} {interval}")
            if document["failed"]:
                console.print(f"{document['failed']} failed and count as wrong; their reasons are in {output}")

        session.show(document, lines)


def _model(library: Library) -> LanguageModel:
    """The judge. Raises ModelError where no language model is configured."""
    if library.minds.language is None:
        raise ModelError(
            "an evaluation needs a language model as judge",
            where="[models] language",
            next='set it, for example VIDEMUS_MODELS_LANGUAGE="openai:gpt-4.1"',
        )
    return library.minds.language
