"""Layouts in which much of the picture moves beside a slide."""

from __future__ import annotations

import numpy as np

from slides_material import SIZE, Show, drawn, record
from videmus.perceive.changes import looks

PAGES = [
    drawn(title, [line], size=(320, 360)).picture
    for title, line in (("One thing", "and what of it"), ("Another", "comes after"), ("The last", "is short"))
]


def beside_a_speaker(page):
    def shown(at_ms):
        picture = np.empty((SIZE[1], SIZE[0], 3), np.uint8)
        picture[:, :320] = page
        y, x = np.mgrid[0:360, 0:320]
        swaying = 128 + 90 * np.sin(x / 23 + 2 * np.sin(at_ms / 900)) * np.sin(y / 31 + 2 * np.cos(at_ms / 700))
        picture[:, 320:] = swaying[..., None]
        return picture

    return shown


def test_a_slide_beside_a_speaker_who_fills_half_of_the_picture_is_seen_to_change(tmp_path):
    shows = [Show(i * 6_000, beside_a_speaker(page)) for i, page in enumerate(PAGES)]
    found = [s.frame.look for s in looks(record(tmp_path / "halves.mp4", shows, 18_000, gop=100), "v")]
    moving = max(sum((b[2] - b[0]) * (b[3] - b[1]) for b in look.moving) for look in found)
    assert moving > 0.45
    begun = [look.start_ms for look in found]
    assert all(min(abs(at - turn) for at in begun) <= 200 for turn in (6_000, 12_000))
    assert len(found) <= 5
