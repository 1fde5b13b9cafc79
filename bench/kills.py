"""kill -9 in the middle of a real ingest, many times: the same rows as an uninterrupted run, no finished stage run twice.

    python bench/kills.py [VIDEO] [--kills 25] [--seed 0]

Each run of `videmus add` is killed at a random moment within what a whole run takes, and the next one goes on. At the end the
rows are compared with those of an uninterrupted run, and the ledger is asked whether a stage that was done was done again.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from videmus import Library
from videmus.model import Scope

SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "sample_lecture.mp4"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder) / "whole", Path(folder) / "killed"
        began = time.monotonic()
        if adding(whole, given.video).wait() or not rows_of(whole):
            raise SystemExit("an uninterrupted run does not end well")
        seconds = time.monotonic() - began
        done: dict[str, float] = {}
        repeated = kills = 0
        while kills < given.kills:
            run = adding(killed, given.video)
            try:
                run.wait(chance.uniform(0.2, 0.5 * seconds))
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.wait()
                kills += 1
            if (killed / "library.db").exists():
                now = finished(killed)
                repeated += sum(now.get(stage) != spent for stage, spent in done.items())
                done = now
            if kills < given.kills and run.returncode == 0:  # it came to its end: begin another library
                assert rows_of(killed) == rows_of(whole)
                killed, done = killed.with_name(f"killed{kills}"), {}
        adding(killed, given.video).wait()
        same = rows_of(killed) == rows_of(whole)
    print(f"{kills} kills; whole run {seconds:.1f} s; rows the same: {same}; finished stages run again: {repeated}")
    return 0 if same and not repeated else 1


def adding(library: Path, video: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "videmus", "--library", str(library), "--quiet", "add", str(video)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finished(folder: Path) -> dict[str, float]:
    """The seconds of each stage that is done: they change when it is done again."""
    with Library(folder) as library:
        return {
            w.stage: w.seconds for v in library.store.videos() for w in library.store.work(v.id) if w.state == "done"
        }


def rows_of(folder: Path) -> set[tuple[str, str]]:
    with Library(folder) as library:
        scopes = [Scope(video=video.id) for video in library.store.videos()]
        return {
            (type(row).__name__, row.id)  # ids follow from content
            for scope in scopes
            for row in (*library.store.evidence(scope), *library.store.segments(scope), *library.store.frames(scope))
        }


if __name__ == "__main__":
    sys.exit(main())
