"""Kill -9 during understanding, twenty times: what was answered is not asked again, and the rows come out the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from videmus.model import Evidence
from videmus.store.sqlite import SqliteStore

CONCURRENCY = 3
KILLS = 20

CHILD = '''
import os, signal, sys, threading
from pathlib import Path
from videmus.config import PremindSettings
from videmus.model import Evidence, Origin, Segment, Video, evidence_id, segment_id
from videmus.models.cache import Cached
from videmus.models.language import Data
from videmus.models.scripted import ScriptedModel
from videmus.store.sqlite import SqliteStore
from videmus.understand.slides import Means, understand_slides

folder, deadly = Path(sys.argv[1]), int(sys.argv[2])
asked = os.open(folder / "asked", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
lock, events = threading.Lock(), 0

def event():
    """The process kills itself at its n-th event: a call in flight, a reply, a commit."""
    global events
    with lock:
        events += 1
        if events == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

def answer(prompt, result):
    with lock:
        os.write(asked, f"{prompt.stage}\\n".encode())
    event()
    text = " ".join(p.text for p in prompt.parts if isinstance(p, Data))
    if prompt.stage == "keywords":
        return {"keywords": ["alpha"], "misheard": []}
    return {"description": text, "concepts": [{"name": text[:20], "explanation": "x"}]}

class Named:
    languages = None
    def embed(self, texts):
        import numpy as np
        return np.array([[hash(t) % 97 + 1.0, 1.0] for t in texts], np.float32)

V, O = "v0123456789abcdef", Origin("test")
store = SqliteStore(folder / "library")
if store.video(V) is None:
    store.put_video(Video(V, "fp", "Talk", 80_000, "talk.mp4"))
spans = [(n * 10_000, (n + 1) * 10_000) for n in range(8)]
slides, speech = [], []
for n, (a, b) in enumerate(spans, 1):
    shown, said = f"Title {n}\\nalpha {n}", f"Said {n}"
    slides.append(Segment(segment_id(V, "slide", a, b), V, a, b, "slide", O, n, f"Title {n}", shown))
    speech.append(Evidence(evidence_id(V, "speech", a, b, said), V, a, b, "speech", said, O))
model = Cached(ScriptedModel(answer, sees=False, concurrency=3), store)
store.begin(V, "slide-texts", "key")
done = store.stage_rows(V, "slide-texts")
means = Means(lambda frame: b"", model, None, Named())
for row in understand_slides(slides, speech, [], means, PremindSettings(), done=done):
    event()
    store.add("slide-texts", [row])
    event()
store.close()
'''


def run(folder: Path, deadly: int) -> int:
    """The child's return code: 0 when it came to the end, -9 when it was killed."""
    environment = {"PYTHONHASHSEED": "0", "PATH": ""}
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), str(deadly)], env=environment, check=False
    ).returncode


def rows(folder: Path) -> list[Evidence]:
    store = SqliteStore(folder / "library")
    found = [row for row in store.stage_rows("v0123456789abcdef", "slide-texts") if isinstance(row, Evidence)]
    store.close()
    return sorted(found, key=lambda r: r.id)


def test_after_twenty_kills_at_most_the_calls_in_flight_were_repeated(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    assert run(whole, 0) == 0
    needed = len((whole / "asked").read_text().splitlines())
    assert needed == 16

    kills = 0
    for n in range(KILLS):
        code = run(killed, 1 + n % 3)
        kills += code == -9
        assert code in (0, -9)
    assert kills == KILLS, "every one of them died amid the work"
    assert run(killed, 0) == 0
    asked = len((killed / "asked").read_text().splitlines())
    assert asked <= needed + kills * CONCURRENCY
    assert rows(killed) == rows(whole) and len(rows(whole)) == 24
