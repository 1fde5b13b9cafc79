"""The sample lecture is heard by the bundled recognisers, nearly without error and at the right times."""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from videmus.config import Settings
from videmus.models.speech import SpeechMinds
from videmus.perceive.speech import detected_language, hear

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def minds() -> SpeechMinds:
    return SpeechMinds(Settings().models)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_its_language_is_english(minds):
    assert detected_language(EXAMPLES / "sample_lecture.mp4", 180_000, minds, Settings().speech) == "en"


def test_its_first_minute_is_heard_at_its_times(minds):
    truth = json.loads((EXAMPLES / "sample_lecture.json").read_text())["utterances"]
    truth = [u for u in truth if u["end"] < 60]
    rows = []
    for row in hear(EXAMPLES / "sample_lecture.mp4", "v1", minds, Settings(), language="en"):
        if row.start_ms > 60_000:
            break
        rows.append(row)
    said = [w for u in truth for w in words(u["text"])]
    starts = {sum(len(words(v["text"])) for v in truth[:i]): u["start"] for i, u in enumerate(truth)}
    heard = [(bare, word.start_ms) for row in rows for word in row.detail.words for bare in words(word.text)[:1]]
    blocks = SequenceMatcher(None, said, [w for w, _ in heard], autojunk=False).get_matching_blocks()
    assert sum(b.size for b in blocks) > 0.9 * len(said)
    late = [abs(heard[b.b + k][1] / 1000 - starts[b.a + k]) for b in blocks for k in range(b.size) if b.a + k in starts]
    assert len(late) >= 0.7 * len(truth)
    assert sorted(late)[len(late) // 2] < 0.3
    assert all(row.end_ms - row.start_ms <= 15_500 for row in rows)
