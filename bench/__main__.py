"""All measurements, one after the other, side by side with what each is measured against.

    python -m bench [NAME ...] --data DATA [--tools TOOLS] [--video VIDEO] [--peer PYTHON]

DATA is a folder of test material (lectures/, footage/, audio/, qa/), TOOLS one with score_text.py, VIDEO a long lecture for the
whole ingest, PYTHON an interpreter that has scenedetect 0.7.2. Without NAMEs everything is run for which the material is given.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--tools", type=Path)
    parser.add_argument("--video", type=Path)
    parser.add_argument("--peer", type=Path)
    given = parser.parse_args()
    commands = measurements(given.data, given.tools, given.video, given.peer)
    if unknown := set(given.names) - set(commands):
        parser.error(f"no such measurement, or its material is not given: {', '.join(sorted(unknown))}")
    failed = 0
    for name in given.names or commands:
        print(f"\n== {name}: python bench/{' '.join(commands[name])}", flush=True)
        failed += subprocess.run([sys.executable, str(HERE / commands[name][0]), *commands[name][1:]]).returncode != 0
    return failed


def measurements(data: Path | None, tools: Path | None, video: Path | None, peer: Path | None) -> dict[str, list[str]]:
    """Each measurement's command, of those for which the material is there."""
    found = {
        "startup": ["startup.py"],
        "kills": ["kills.py"],
        "vectors": ["vectors.py"],
        "week": ["week.py"],
        "model_calls": ["model_calls.py"],
    }
    if data:
        sets = [str(data / "qa" / name) for name in ("docvideoqa_dev", "pstuts_dev")]
        found["speech"] = ["speech.py", str(data)]
        found["retrieval"] = ["retrieval.py", *sets, "--baselines", "--refusal"]
        beside = ["--peer", str(peer)] if peer else []
        found["segments"] = ["segments.py", str(data / "lectures"), "--footage", str(data / "footage"), *beside]
        if tools:
            found["screen"] = ["screen.py", str(data / "lectures"), "--score", str(tools / "score_text.py")]
    if video:
        found["ingest"] = ["ingest.py", str(video)]
    return found


if __name__ == "__main__":
    sys.exit(main())
