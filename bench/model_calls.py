"""Calls, tokens and price of understanding the sample lecture, by stage, and the overhead of our own code a call.

    python bench/model_calls.py [VIDEO]

From a recorded run against the scripted server on this machine: its replies describe what was recognised, leave the numbers of
every third slide out at first (so that the critic has work), and call a slide of few words a figure. Tokens are counted by
its own rule (4 characters, 750 pixels); prices are those of openai:gpt-4.1.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

from videmus import Library
from videmus.config import ModelSettings, Settings
from videmus.model import Cost
from videmus.models.connect import connect
from videmus.models.language import Data, Prompt, added, total
from videmus.models.minds import Minds
from videmus.models.prices import price_of
from videmus.models.scripted_server import ScriptedServer, Seen
from videmus.understand.agents import CriticReply

SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "sample_lecture.mp4"
PRICED_AS = "openai:gpt-4.1"


def main() -> None:
    video = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    price = price_of(PRICED_AS)
    assert price is not None
    with ScriptedServer(Describer(), delay_s=0.05) as server, tempfile.TemporaryDirectory() as folder:
        models = ModelSettings(
            language="vllm:scripted", vision="vllm:scripted", base_url=server.url,
            price_in=price.tokens_in, price_out=price.tokens_out,
        )  # fmt: skip
        settings = replace(Settings(), models=models)
        record = Path(folder) / "calls.jsonl"
        with Library(Path(folder) / "library", settings=settings, minds=Minds(settings, record=record)) as library:
            added_video = library.add(str(video))
            assert not isinstance(added_video, list)
            print(f"{added_video.title}: {added_video.duration_ms / 1000:.0f} s, {added_video.state}")
            slides = len(library.segments(added_video.id, "slide"))
        print(table(record, slides))
        print(
            f"faults found by the server: {server.faults_found or 'none'}; most calls in flight: {server.most_in_flight}"
        )
        print(overhead(settings))


class Describer:
    """Answers by the schema that is asked for."""

    def __init__(self) -> None:
        self.slides = 0

    def __call__(self, seen: Seen) -> dict[str, Any]:
        wanted = set(seen.schema["properties"])
        pieces = dict(re.findall(r'<data-\w+ label="([^"]*)">\n(.*?)\n</data-\w+>', seen.user, re.S))
        text = pieces.get("recognised text of the slide", "")
        if "misheard" in wanted:
            return {"keywords": text.splitlines()[:8], "misheard": []}
        if "figure" in wanted:
            self.slides += "earlier description" not in pieces
            flawed = self.slides % 3 == 0 and "earlier description" not in pieces
            told = re.sub(r"\d", "", text) if flawed else text
            few = len(text.split()) < 12
            return {"slide": True, "figure": few, "description": f"The slide shows: {told or 'a picture.'}"}
        if "complete" in wanted:
            lacks = pieces.get("recognised on the slide, not in the description", "")
            return {"complete": not lacks, "faults": [f"It lacks {lacks}."] if lacks else []}
        if "concepts" in wanted:
            whole = " ".join(pieces.values())
            return {
                "description": whole,
                "concepts": [{"name": pieces.get("title of the slide", "it"), "explanation": whole[:150]}],
            }
        if "paragraph" in wanted:
            return {"paragraph": " ".join(text for text in pieces.values())[:400]}
        if "relations" in wanted:
            return {"relations": [], "also_called": []}
        if "statements" in wanted:
            labels = re.findall(r"^\[(P\d+)\] \S+ (.{0,120})", pieces["pieces"], re.M)
            return {"statements": [{"text": t, "pieces": [n]} for n, t in labels], "terms": []}
        if "chapters" in wanted:
            labels = re.findall(r"^\[(S\d+)\] \S+ (.{0,60})", pieces["statements"], re.M)
            chapters = [{"title": t, "begins": n} for n, t in labels[::3]]
            return {
                "chapters": chapters,
                "summary": [{"text": t, "statements": [n]} for n, t in labels[:5]],
                "terms": [],
            }
        return {"description": "A picture from a lecture."}


def table(record: Path, slides: int) -> str:
    """A Markdown table of the recorded calls by stage."""
    by_stage: dict[str, Cost] = defaultdict(Cost)
    for line in record.read_text("utf-8").splitlines():
        entry = json.loads(line)
        if "stage" in entry:
            by_stage[entry["stage"]] = added(by_stage[entry["stage"]], Cost(**entry["cost"]))
    lines = ["| stage | calls | tokens in | tokens out | US$ |", "|---|---:|---:|---:|---:|"]
    for stage, cost in [*by_stage.items(), ("**all**", total(by_stage.values()))]:
        lines.append(f"| {stage} | {cost.calls} | {cost.tokens_in:,} | {cost.tokens_out:,} | {cost.usd or 0:.4f} |")
    agents = sum(by_stage[s].calls for s in ("keywords", "vision", "critic", "consolidation"))
    return "\n".join(
        [*lines, "", f"{slides} showings of slides, {agents / max(1, slides):.2f} calls of the slide agents each"]
    )


def overhead(settings: Settings) -> str:
    """Milliseconds from `ask` to reply against a server that answers at once, its own time included."""
    with ScriptedServer(lambda seen: {"complete": True, "faults": []}) as server:
        connected = connect(replace(settings.models, base_url=server.url))
        assert connected.vision is not None
        times = []
        for n in range(60):
            began = time.perf_counter()
            connected.vision.ask(Prompt("bench", "Check.", (Data("text", f"{n}" * 2_000),)), CriticReply)
            times.append(1000 * (time.perf_counter() - began))
        connected.close()
    times = sorted(times[5:])
    middle, most = times[len(times) // 2], times[int(0.95 * len(times))]
    return f"a call against a server that answers at once: median {middle:.1f} ms, 95 % under {most:.1f} ms"


if __name__ == "__main__":
    main()
