"""Screen text of lectures with known truth: words found, words too many, changes noticed, pages recognised, time.

    python bench/screen.py LECTURES [NAME ...] --score SCORE_TEXT.py [--rows FOLDER]

LECTURES is a folder of NAME.mp4 and NAME.json (truth: "steps" with times and texts); SCORE_TEXT.py has functions
screen(truth, evidence) and changes(truth, evidence). Figures are printed as JSON lines, the last for all together.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from pathlib import Path
from typing import Any

from videmus.config import Settings
from videmus.models.text_recognition import RapidRecogniser
from videmus.perceive.changes import looks
from videmus.perceive.screen import read_screen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lectures", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--score", type=Path, required=True)
    parser.add_argument("--rows", type=Path, help="write the rows of each lecture as an evidence file here")
    arguments = parser.parse_args()
    score = _module(arguments.score)
    names = arguments.names or sorted(f.stem for f in arguments.lectures.glob("*.json") if _has_steps(f))
    noticed = changes = pages = 0
    for name in names:
        truth = json.loads((arguments.lectures / f"{name}.json").read_text("utf-8"))
        evidence, figures = measured(arguments.lectures / f"{name}.mp4", Settings())
        if arguments.rows:
            arguments.rows.mkdir(parents=True, exist_ok=True)
            (arguments.rows / f"{name}.json").write_text(json.dumps(evidence, ensure_ascii=False, indent=1), "utf-8")
        found = score.changes(truth, evidence)
        noticed += round(found["noticed"] * found["changes"])
        changes += found["changes"]
        pages += figures["pages"] + figures["parts"]
        print(json.dumps({"lecture": name, **score.screen(truth, evidence), **found, **figures}), flush=True)
    print(json.dumps({"noticed": noticed / max(1, changes), "pages and parts per change": pages / max(1, changes)}))


def measured(file: Path, settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    """The screen rows of a video as an evidence file, and what they cost. Time is the processor's, on all its cores."""
    recogniser = RapidRecogniser(settings.reading, threads=settings.models.threads)
    spent = 0.0
    count = 0

    def seen() -> Any:
        nonlocal spent, count
        iterator = looks(file, "v", settings.screen)
        while True:
            begin = time.process_time()
            look = next(iterator, None)
            spent += time.process_time() - begin
            if look is None:
                return
            count += 1
            yield look.frame, look.image

    begin = time.process_time()
    rows = list(read_screen("v", seen(), recogniser, settings.reading))
    counts = recogniser.counts
    figures = {
        "looks": count,
        "pages": counts.pages,
        "parts": counts.parts,
        "lines": counts.lines,
        "looking_cpu_s": round(spent, 2),
        "reading_cpu_s": round(time.process_time() - begin - spent, 2),
    }
    return {"screen": [{"start_ms": r.start_ms, "end_ms": r.end_ms, "text": r.text} for r in rows]}, figures


def _has_steps(file: Path) -> bool:
    return "steps" in json.loads(file.read_text("utf-8"))


def _module(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
