"""Fixtures that tests of several rooms share. What they are made with is in `material`."""

from __future__ import annotations

from pathlib import Path

import pytest

from material import grey, make_video, tone


@pytest.fixture(scope="session")
def media_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for videos that several tests read and none changes."""
    return tmp_path_factory.mktemp("media")


@pytest.fixture(scope="session")
def steps_video(media_folder: Path) -> Path:
    """4 s at 10 frames a second with a tone: frame n, on screen from n × 100 ms, is grey level 20 + 5 n."""
    pictures = [(100 * n, grey(20 + 5 * n)) for n in range(40)]
    return make_video(media_folder / "steps.mp4", pictures, end_ms=4_000, audio=[tone(4.0)])
