"""What went wrong with one piece of a video is told at that piece."""

from __future__ import annotations

from videmus.model import Origin, Segment
from videmus.understand.places import place, reasons


def slide(number: int, start_ms: int) -> Segment:
    return Segment(f"s{start_ms}", "v", start_ms, start_ms + 9_000, "slide", Origin("slides"), number)


def test_each_slide_has_what_was_told_of_it_and_no_more():
    slides = [slide(1, 0), slide(2, 62_000), slide(1, 3_723_000), slide(11, 3_800_000)]
    told = "slide 1 at 0:00: cut off at 10 tokens; it must be shorter; slide 1 at 1:02:03: refused"
    assert reasons(slides, [told, None]) == {
        "s0": "cut off at 10 tokens; it must be shorter",
        "s3723000": "refused",
    }
    assert reasons(slides, ["the budget ends here"]) == {}


def test_what_several_stages_told_of_a_piece_stands_together():
    clip = Segment("c", "v", 80_000, 90_000, "clip", Origin("clips"))
    assert place(clip) == "clip at 1:20"
    assert reasons([clip], ["clip at 1:20: refused", "clip at 0:00: x; clip at 1:20: lost"])["c"] == "refused; lost"
