"""Where two pictures of a page differ."""

import numpy as np

from videmus.config import ReadingSettings
from videmus.perceive.page_changes import changed_cells, changed_part, cover, flat_share, luma_of, merely_moved

SETTINGS = ReadingSettings()


def page() -> np.ndarray:
    return np.full((360, 640), 250, np.uint8)


def with_block(plane: np.ndarray, left: int, top: int, right: int, bottom: int, level: int = 20) -> np.ndarray:
    changed = plane.copy()
    changed[top:bottom, left:right] = level
    return changed


def test_luma_is_reduced_by_whole_steps_and_weighs_the_colours() -> None:
    image = np.zeros((720, 1280, 3), np.uint8)
    image[:, :640] = (255, 0, 0)
    image[:, 640:] = (0, 255, 0)
    plane = luma_of(image, 640)
    assert plane.shape == (360, 640)
    assert (plane[0, 0], plane[0, -1]) == (76, 149)


def test_a_picture_smaller_than_the_width_is_kept_as_it_is() -> None:
    assert luma_of(np.zeros((3, 2, 3), np.uint8), 640).shape == (3, 2)


def test_noise_is_no_change_and_a_comma_is() -> None:
    noise = np.random.default_rng(0).integers(-10, 10, (360, 640))
    noisy = (page().astype(int) - 10 + noise).clip(0, 255).astype(np.uint8)
    assert not changed_cells(page(), noisy, SETTINGS).any()
    assert changed_cells(page(), with_block(page(), 300, 200, 302, 203), SETTINGS).sum() == 1


def test_the_part_to_read_holds_all_that_changed() -> None:
    new = with_block(with_block(page(), 100, 80, 200, 100), 400, 200, 420, 216)
    part = changed_part(changed_cells(page(), new, SETTINGS), [], new, SETTINGS.change_level)
    assert part is not None
    left, top, right, bottom = part
    assert left * 640 <= 100 and top * 360 <= 80 and right * 640 >= 420 and bottom * 360 >= 216
    assert right * 640 < 450 and bottom * 360 < 240


def test_what_only_went_needs_no_reading() -> None:
    old = with_block(page(), 100, 80, 200, 100)
    cells = changed_cells(old, page(), SETTINGS)
    assert cells.any()
    assert changed_part(cells, [(100 / 640, 80 / 360, 200 / 640, 100 / 360)], page(), SETTINGS.change_level) is None


def test_overlapping_boxes_cover_once() -> None:
    assert cover([(0, 0, 0.5, 1), (0.25, 0, 0.5, 1)]) == 0.5
    assert cover([]) == 0


def test_a_slide_has_a_flat_ground_and_a_camera_picture_has_none() -> None:
    assert flat_share(with_block(page(), 0, 0, 320, 100)) > 0.8
    assert flat_share(np.random.default_rng(0).integers(0, 255, (90, 160), np.uint8).astype(np.uint8)) < 0.1


def camera(shift: int) -> np.ndarray:
    """Something that a camera sees, `shift` pixels further right."""
    y, x = np.mgrid[0:360, 0:640]
    seen = 120 + 50 * np.sin((x - shift) / 5) * np.sin(y / 7) + 60 * np.sin((x - shift) / 60 + y / 40)
    return np.asarray(seen.clip(0, 255), np.uint8)


def test_a_camera_picture_that_moved_brought_no_text_and_one_with_a_caption_did() -> None:
    part = (0.1, 0.1, 0.9, 0.9)
    before, moved = camera(0), camera(4)
    captioned = moved.copy()
    captioned[280:300, 200:440] = np.where(np.random.default_rng(0).integers(0, 2, (20, 240)), 255, 0)
    assert changed_cells(before, moved, SETTINGS).mean() > 0.1
    assert merely_moved(before, moved, changed_cells(before, moved, SETTINGS), part, SETTINGS)
    assert not merely_moved(before, captioned, changed_cells(before, captioned, SETTINGS), part, SETTINGS)
    assert not merely_moved(moved, captioned, changed_cells(moved, captioned, SETTINGS), part, SETTINGS)


def test_a_slide_that_only_got_sharper_may_have_become_readable() -> None:
    sharp = page()
    sharp[100:120, 100:400] = np.where(np.random.default_rng(0).integers(0, 2, (20, 300)), 250, 20)
    blurred = ((sharp.astype(int) + np.roll(sharp, 1, 1) + np.roll(sharp, 1, 0)) // 3).astype(np.uint8)
    changed = changed_cells(blurred, sharp, SETTINGS)
    assert changed.any()
    assert not merely_moved(blurred, sharp, changed, (0.1, 0.2, 0.7, 0.4), SETTINGS)


def test_another_picture_did_not_merely_move() -> None:
    before, other = camera(0), camera(0)[:, ::-1]
    assert not merely_moved(before, other, changed_cells(before, other, SETTINGS), (0.0, 0.0, 1.0, 1.0), SETTINGS)
    few = changed_cells(before, with_block(before, 300, 200, 306, 206), SETTINGS)
    assert not merely_moved(before, other, few, (0.47, 0.55, 0.48, 0.57), SETTINGS), "too small to tell"
