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


def filmed(page):
    """A projection in a hall, filmed by a camera that trembles by up to half a pixel."""
    room = np.full((SIZE[1], SIZE[0], 3), 60, np.uint8)
    room[60:240, 160:480] = page.picture[::2, ::2]

    def shown(at_ms):
        across, down = np.random.default_rng(at_ms).uniform(0, 0.5, 2)
        moved = room * (1 - across) + np.roll(room, 1, axis=1) * across
        return (moved * (1 - down) + np.roll(moved, 1, axis=0) * down).astype(np.uint8)

    return shown


def test_the_tremor_of_a_camera_that_films_a_projection_is_no_motion(tmp_path):
    bullets = ["A line of some length on it", "and a second one below that"]
    one, other = drawn("A title of one page", bullets), drawn("The title of another", bullets[::-1])
    shows = [Show(0, filmed(one)), Show(9_000, filmed(other))]
    found = [s.frame.look for s in looks(record(tmp_path / "hall.mp4", shows, 16_000), "v")]
    assert min(abs(look.start_ms - 9_000) for look in found) <= 200
    assert len(found) <= 4
    still = [look for look in found if sum((b[2] - b[0]) * (b[3] - b[1]) for b in look.moving) < 0.1]
    assert sum(look.end_ms - look.start_ms for look in still) > 10_000
