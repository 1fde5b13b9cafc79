"""`make demo`: index the sample lecture and ask it four questions, by the commands that a user types.

The truth about the lecture stands in sample_lecture.json; an answer that does not point at it fails the demo.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WANTED = ("speech", "slide", "both", "none")
"""One question of each modality: said only, shown only, shown and explained later, and not in the lecture at all."""


def main() -> int:
    truth = json.loads((HERE / "sample_lecture.json").read_text("utf-8"))
    folder = Path(tempfile.mkdtemp(prefix="videmus-demo-"))
    try:
        run(folder, "add", HERE / "sample_lecture.mp4", "--collection", "demo")
        run(folder, "show", "sample_lecture")
        wrong = [question for question in chosen(truth) if not asked(folder, question)]
    finally:
        shutil.rmtree(folder)
    for question in wrong:
        print(f"not as it should be: {question['question']}", file=sys.stderr)
    return 1 if wrong else 0


def chosen(truth: dict[str, Any]) -> list[dict[str, Any]]:
    return [next(q for q in truth["questions"] if q["modality"] == modality) for modality in WANTED]


def asked(folder: Path, question: dict[str, Any]) -> bool:
    """Ask as a person does, then as a program does, and hold the citations against the truth."""
    run(folder, "ask", question["question"])
    document = json.loads(run(folder, "ask", question["question"], "--json", show=False))
    if question["modality"] == "none":
        return document["grounding"] == "unsupported" and not document["citations"]
    spans = [(int(s["start"] * 1000), int(s["end"] * 1000)) for s in question["evidence"]]
    return any(min(end, c["end_ms"]) > max(start, c["start_ms"]) for start, end in spans for c in document["citations"])


def run(folder: Path, *arguments: object, show: bool = True) -> str:
    words = [str(a) for a in arguments]
    if show:
        shown = [f'"{w}"' if " " in w else w.replace(f"{HERE}", "examples") for w in words]
        print(f"\n$ videmus {' '.join(shown)}", flush=True)
    command = [sys.executable, "-m", "videmus", "--library", str(folder), *words]
    done = subprocess.run(command, stdout=None if show else subprocess.PIPE, text=True, check=True)
    return done.stdout or ""


if __name__ == "__main__":
    sys.exit(main())
