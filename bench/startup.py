"""How long `videmus --help` and `import videmus` take, beside Python's own start, the smallest of several runs.

python bench/startup.py
"""

from __future__ import annotations

import subprocess
import sys
import time

RUNS = 9


def main() -> None:
    cases = {
        "python": [sys.executable, "-c", "pass"],
        "import videmus": [sys.executable, "-c", "import videmus"],
        "videmus --help": [sys.executable, "-m", "videmus", "--help"],
    }
    for name, command in cases.items():
        seconds = []
        for _ in range(RUNS):
            began = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.monotonic() - began)
        print(f"{name:16s} {min(seconds):.3f} s (median {sorted(seconds)[RUNS // 2]:.3f})")


if __name__ == "__main__":
    main()
