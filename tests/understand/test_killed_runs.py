"""Kill -9 during understanding, twenty times: what was answered is not asked again, and the rows come out the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from videmus.model import Evidence
from videmus.store.sqlite import SqliteStore

CONCURRENCY = 3
KILLS = 20

CHILD = '''
import json, os, signal, sys, threading
from pathlib import Path
import numpy as np
from videmus.config import PremindSettings
from videmus.model import Evidence, Origin, Segment, Video, evidence_id, segment_id
from videmus.models.cache import Cached
from videmus.models.language import Data
from videmus.models.scripted import ScriptedModel
from videmus.store.sqlite import SqliteStore
from videmus.understand.slides import Means, understand_slides

V, O = "v0123456789abcdef", Origin("test")
slides, speech = [], []
for n in range(8):
    a, b, shown, said = n * 10_000, (n + 1) * 10_000, f"Title {n}\\nalpha {n}", f"Said {n}"
    slides.append(Segment(segment_id(V, "slide", a, b), V, a, b, "slide", O, n + 1, f"Title {n}", shown))
    speech.append(Evidence(evidence_id(V, "speech", a, b, said), V, a, b, "speech", said, O))

class Named:
    languages = None
    def embed(self, texts):
        return np.array([[hash(t) % 97 + 1.0, 1.0] for t in texts], np.float32)

def run(folder, deadly):
    """Understand the lecture; the process kills itself at its n-th event: a call in flight, a reply, a commit."""
    asked = os.open(folder / "asked", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    lock, events = threading.Lock(), [0]

    def event():
        with lock:
            events[0] += 1
            if events[0] == deadly:
                os.kill(os.getpid(), signal.SIGKILL)

    def answer(prompt, result):
        os.write(asked, f"{prompt.stage}\\n".encode())
        event()
        text = " ".join(p.text for p in prompt.parts if isinstance(p, Data))
        if prompt.stage == "keywords":
            return {"keywords": ["alpha"], "misheard": []}
        return {"description": text, "concepts": [{"name": text[:20], "explanation": "x"}]}

    store = SqliteStore(folder / "library")
    if store.video(V) is None:
        store.put_video(Video(V, "fp", "Talk", 80_000, "talk.mp4"))
    model = Cached(ScriptedModel(answer, sees=False, concurrency=3), store)
    store.begin(V, "slide-texts", "key")
    done = store.stage_rows(V, "slide-texts")
    means = Means(lambda frame: b"", model, None, Named())
    for row in understand_slides(slides, speech, [], means, PremindSettings(), done=done):
        event()
        store.add("slide-texts", [row])
        event()
    store.close()

codes = []
for folder, deadly in json.loads(sys.argv[1]):
    Path(folder).mkdir(exist_ok=True)
    child = os.fork()
    if not child:
        try:
            run(Path(folder), deadly)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(codes))
'''


def run(*runs: tuple[Path, int]) -> list[int]:
    """One process a run, (folder, the event at which it is killed; 0 for none): 0 when it came to the end, -9 when killed."""
    plan = json.dumps([(str(folder), deadly) for folder, deadly in runs])
    environment = {"PYTHONHASHSEED": "0", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, plan], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    codes: list[int] = json.loads(done.stdout)
    return codes


def rows(folder: Path) -> list[Evidence]:
    store = SqliteStore(folder / "library")
    found = [row for row in store.stage_rows("v0123456789abcdef", "slide-texts") if isinstance(row, Evidence)]
    store.close()
    return sorted(found, key=lambda r: r.id)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, so that twenty of them start fast")
def test_after_twenty_kills_at_most_the_calls_in_flight_were_repeated(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    codes = run((whole, 0), *((killed, 1 + n % 3) for n in range(KILLS)), (killed, 0))
    assert codes == [0, *[-9] * KILLS, 0], "every one of them died amid the work, and the last came to the end"
    needed = len((whole / "asked").read_text().splitlines())
    assert needed == 16
    asked = len((killed / "asked").read_text().splitlines())
    assert asked <= needed + KILLS * CONCURRENCY
    assert rows(killed) == rows(whole) and len(rows(whole)) == 24
