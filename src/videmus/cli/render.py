"""What people read on a terminal: videos, segments, moments, answers. Knows nothing of commands."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from videmus import clock, documents
from videmus.answer.citations import NAMED
from videmus.cli.session import plain, printable
from videmus.model import Answer, Citation, Correction, Evidence, Moment, Segment, Sentence, Video
from videmus.segment.timeline import Timeline
from videmus.store.protocol import Work
from videmus.understand.summary import Chapter, summary_of, terms_of

if TYPE_CHECKING:
    from videmus.search.frames import FoundFrame

NARROW = 64
"""Columns of a terminal in which the table's id, length and state leave no room for titles."""

STATE_STYLE = {"ready": "green", "partial": "yellow", "failed": "red", "processing": "cyan"}


def videos(console: Console, items: Sequence[Video]) -> None:
    if not items:
        console.print("the library is empty; [bold]videmus add FILE[/bold] adds a video")
        return
    if console.width < NARROW:
        for item in items:
            about = [item.state, plain(item.collection or "")]
            line = f"{item.id}  {plain(item.title)} · {clock.format_time(item.duration_ms)} · {' · '.join(filter(None, about))}"
            console.print(line, soft_wrap=True)
    else:
        console.print(_table(items))
    for item in items:
        if reason := documents.reason(item):
            console.print(f"{item.id}  [yellow]{plain(reason)}[/yellow]", soft_wrap=True)


def _table(items: Sequence[Video]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("id", "title", "length", "state", "collection"):
        table.add_column(name, no_wrap=name in ("id", "length", "state"), overflow="fold")
    for item in items:
        state = Text(item.state, STATE_STYLE[item.state])
        table.add_row(
            item.id, plain(item.title), clock.format_time(item.duration_ms), state, plain(item.collection or "")
        )
    return table


def timeline(console: Console, line: Timeline) -> None:
    """From when to when a recording goes, how much of it was filmed, its gaps and overlaps, and its transcripts."""
    if not line.placed:
        console.print("no file has a clock time: give --recorded-at, or names that tell it")
        return
    if line.parts:
        span_text = f"{clock.format_clock(line.start)} – {clock.format_clock(line.end)}"
        kinds = [seam.kind for seam in line.seams]
        seams = [_counted(kinds.count("gap"), "gap"), _counted(kinds.count("overlap"), "overlap")]
        console.print(f"{span_text}, {clock.format_time(line.recorded_ms)} recorded, {', '.join(seams)}")
    for seam in line.seams[:20]:
        when = f"{clock.format_clock(seam.start)} – {clock.format_clock(seam.end)}"
        console.print(f"[dim]{seam.kind} {when} ({clock.format_time(seam.length_ms)})[/dim]")
    if len(line.seams) > 20:
        console.print(f"[dim]… and {len(line.seams) - 20} more[/dim]")
    if line.transcripts:
        first, last = line.transcripts[0].start, max(p.end for p in line.transcripts)
        written = _counted(len(line.transcripts), "transcript")
        console.print(f"{clock.format_clock(first)} – {clock.format_clock(last)}, {written}")
    for video in line.unplaced:
        console.print(
            f"{video.id}  [yellow]no clock time: videmus edit {video.id} --recorded-at …[/yellow]", soft_wrap=True
        )


def summary(
    console: Console,
    items: Sequence[Video],
    works: Mapping[str, Sequence[Work]],
    ran: Mapping[str, Sequence[Work]],
) -> None:
    """One line per video, the slowest of the stages that `ran` this time, and why anything is missing."""
    for item in items:
        work = ran.get(item.id, ())
        seconds = sum(w.seconds for w in work)
        slowest = sorted((w for w in work if w.seconds >= 0.5), key=lambda w: -w.seconds)[:4]
        parts = ", ".join(f"{w.stage} {w.seconds:.1f} s" for w in slowest)
        console.print(
            f"[{STATE_STYLE[item.state]}]{item.state}[/] [bold]{plain(item.title)}[/bold] "
            f"[dim]{item.id}[/dim] {clock.format_time(item.duration_ms)}"
            + (f" · {seconds:.1f} s of work ({parts})" if parts else "")
            + (" · nothing was left to do" if works[item.id] and not work and item.state == "ready" else ""),
            soft_wrap=True,
        )
        if item.reason:
            console.print(f"  {plain(item.reason)}", soft_wrap=True)
            console.print("  → mend it and type: [bold]videmus retry[/bold]")


def told(console: Console, summaries: Sequence[Evidence], chapters: Sequence[Chapter]) -> None:
    """A video's summary, key terms and chapters, as far as it has them."""
    summary, terms = summary_of(summaries), terms_of(summaries)
    if summary:
        console.print(f"[bold]summary[/bold]  {plain(' '.join(summary.text.split()))}")
    if terms:
        console.print(f"[bold]key terms[/bold]  {plain(', '.join(terms))}")
    if chapters:
        console.print("[bold]chapters[/bold]")
    for chapter in chapters:
        console.print(f"{clock.format_time(chapter.start_ms):>7}  {plain(_first(chapter.title))}", soft_wrap=True)
    if summary or terms or chapters:
        console.print()


def speech(console: Console, video: Video, rows: Sequence[Evidence]) -> None:
    """Where the video's speech is from, and the way back from what the user chose."""
    about = documents.speech(video, rows)
    if about["from"] is None:
        return
    by = f" by {plain(', '.join(about['models']))}" if about["models"] else ""
    back = " (--transcribe; subtitles again: `videmus add FILE --no-transcribe`)" if about["transcribe"] else ""
    source = "recognised" if about["from"] == "recognition" else f"out of the {about['from']}"
    console.print(f"[dim]speech: {source}{by}{back}[/dim]", soft_wrap=True)


def segments(
    console: Console,
    video: Video,
    items: Sequence[Segment],
    said: Sequence[Evidence],
    reasons: Mapping[str, str],
    *,
    full: bool,
) -> None:
    """One line a segment: its title, else its first line, else the first that is `said` in it; and what could not be made
    of it (`reasons`, by its id)."""
    showings: dict[int, int] = {}
    for item in items:
        if item.slide is not None:
            showings[item.slide] = showings.get(item.slide, 0) + 1
    for item in items:
        label = f"slide {item.slide}" if item.slide is not None else item.kind
        times = showings.get(item.slide, 0) if item.slide is not None else 0
        often = f" [dim]shown {times} ×[/dim]" if times > 1 else ""
        builds = f" [dim]{len(item.states)} builds[/dim]" if len(item.states) > 1 else ""
        title = plain(item.title or _first(item.text) or _first(_said_in(item, said)))
        console.print(
            f"{span(item.start_ms, item.end_ms)}  [cyan]{label:<9}[/cyan] {title}{often}{builds}", soft_wrap=True
        )
        if item.id in reasons:
            console.print(f"  [red]✗[/red] {plain(reasons[item.id])}", soft_wrap=True)
        if full and item.text:
            console.print(plain(item.text), style="dim", soft_wrap=True)


def stages(console: Console, work: Sequence[Work], *, verbose: bool) -> None:
    """What failed and why, and what was not run for want of a model; with `verbose` all that was or was not run."""
    skipped: dict[str, list[str]] = {}
    for item in work:
        if item.state == "failed":
            console.print(f"[red]✗ {item.stage}[/red] {plain(item.reason or '')}", soft_wrap=True)
        elif item.state == "skipped":
            skipped.setdefault(item.reason or "", []).append(item.stage)
        elif verbose:
            console.print(f"[dim]✓ {item.stage}: {item.rows} rows, {item.seconds:.1f} s[/dim]", soft_wrap=True)
    for reason, names in skipped.items():
        if verbose or "configured" in reason:
            console.print(f"[dim]– not run, {plain(reason)}: {', '.join(names)}[/dim]", soft_wrap=True)


def moments(console: Console, items: Sequence[Moment]) -> None:
    if not items:
        console.print("nothing found")
    for n, item in enumerate(items, 1):
        console.print(
            f"[bold]{n}.[/bold] {plain(item.title)} · [cyan]{span(item.start_ms, item.end_ms)}[/cyan] · {item.kind} "
            f"[dim]{item.score:.2f}[/dim]",
            soft_wrap=True,
        )
        console.print(plain(textwrap.indent(item.text, "   ")), soft_wrap=True)


def frames(console: Console, items: Sequence[tuple[FoundFrame, str]]) -> None:
    """Kept pictures with the titles of their videos, by how much they look alike."""
    if not items:
        console.print("no other kept picture")
    for n, (item, title) in enumerate(items, 1):
        at = clock.format_time(item.frame.at_ms)
        console.print(
            f"[bold]{n}.[/bold] {plain(title)} · [cyan]{at}[/cyan] [dim]{item.score:.2f} {item.frame.video}[/dim]",
            soft_wrap=True,
        )


class Sentences:
    """Shows an answer: its sentences as each has passed its check (`live`), at the end the citations."""

    def __init__(self, console: Console, *, live: bool) -> None:
        self.console = console
        self.live = live
        self.shown = 0

    def __call__(self, sentence: Sentence) -> None:
        if self.live:
            marks = "".join(f" [{n}]" for n in sentence.citations)
            self.console.print(Text(f"{printable(' '.join(sentence.text.split()))}{marks}"), soft_wrap=True)
            self.shown += 1

    def end(self, item: Answer, *, steps: bool) -> None:
        console = self.console
        if not self.shown:
            console.print(Text(printable(item.text)), soft_wrap=True)
        if item.citations:
            console.print()
        for citation in item.citations:
            console.print(citation_line(citation), soft_wrap=True)
        console.print(f"[dim]{item.grounding}{_spent(item)}[/dim]")
        if steps:
            for n, step in enumerate(item.steps, 1):
                error = f" [red]{plain(step.error)}[/red]" if step.error else ""
                line = f"{n}. {step.tool}: {step.task} → {step.result or 'nothing'}"
                console.print(f"[dim]{plain(line)} ({step.seconds:.1f} s)[/dim]{error}", soft_wrap=True)


def unused(console: Console, item: Answer, rows: Sequence[Evidence]) -> None:
    """How many moments were asked for, of which scope, and the `rows` that were retrieved and are not cited."""
    for detail in (step.detail for step in item.steps if "limit" in step.detail):
        scope = ", ".join(f"{name} {value}" for name, value in detail["scope"].items()) or "the whole library"
        console.print(f"[dim]asked for {detail['limit']} moments of: {plain(scope)}[/dim]", soft_wrap=True)
    if rows:
        console.print("[dim]retrieved and not used:[/dim]")
    for row in rows:
        text = plain(_first(" ".join(row.text.split())))
        console.print(
            f"[dim]  {row.video} · {span(row.start_ms, row.end_ms)} · {row.kind}  {text}[/dim]", soft_wrap=True
        )


def corrections(console: Console, items: Sequence[tuple[Video, Evidence, Correction]]) -> None:
    if not items:
        console.print("no corrections")
    for video, row, item in items:
        undone = " [yellow]undone[/yellow]" if item.undone else ""
        console.print(
            f"{item.id}  {plain(video.title)} · [cyan]{span(row.start_ms, row.end_ms)}[/cyan]  "
            f"{plain(item.original)} → [bold]{plain(item.corrected)}[/bold]{undone}",
            soft_wrap=True,
        )


def citation_line(item: Citation) -> Text:
    """`[1] Title · 12:45–13:02 · slide`, a link to the moment where the terminal shows links."""
    name = {"screen": "slide"}.get(item.kind, item.kind)
    line = Text(f"[{item.n}] {printable(item.title)} · {span(item.start_ms, item.end_ms)} · {name}", style="cyan")
    if seen := item.footage:
        line.append(f" · seen in {printable(seen.title)} · {span(seen.start_ms, seen.end_ms)}")
    if not item.url.startswith(NAMED):
        line.stylize(f"link {item.url}")
    quote = printable(" ".join(item.quote.split()))
    return line + Text(f"  “{quote if len(quote) <= 160 else quote[:159] + '…'}”", style="dim")


def span(start_ms: int, end_ms: int) -> str:
    return f"{clock.format_time(start_ms)}–{clock.format_time(end_ms)}"


def _counted(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"


def _spent(item: Answer) -> str:
    if not item.cost.calls:
        return f" · {item.cost.seconds:.1f} s"
    price = "price unknown" if item.cost.usd is None else f"${item.cost.usd:.4f}"
    tokens = item.cost.tokens_in + item.cost.tokens_out
    return f" · {item.cost.calls} calls, {tokens} tokens, {price}, {item.cost.seconds:.1f} s"


def _said_in(item: Segment, said: Sequence[Evidence]) -> str:
    return next((row.text for row in said if item.start_ms <= row.start_ms < item.end_ms), "")


def _first(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line if len(line) <= 90 else line[:89] + "…"
