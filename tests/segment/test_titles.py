"""Titles and page numbers out of a page's lines."""

from __future__ import annotations

from slides_material import drawn
from videmus.model import TextLine
from videmus.segment.titles import printed_number, running, title


def test_the_title_is_the_topmost_large_line():
    assert title(drawn("Why it works", ["A small line under it"], number="3").lines) == "Why it works"


def test_a_title_over_two_lines_is_read_whole():
    lines = [
        TextLine("Targeted Therapies for", (0.1, 0.05, 0.8, 0.13), 0.9),
        TextLine("Alopecia Areata", (0.1, 0.14, 0.6, 0.22), 0.9),
        TextLine("An outline of the talk", (0.1, 0.4, 0.6, 0.45), 0.9),
    ]
    assert title(lines) == "Targeted Therapies for Alopecia Areata"


def test_a_strip_of_navigation_above_is_not_the_title():
    lines = [
        TextLine("Motivation | Method", (0.1, 0.01, 0.4, 0.03), 0.9),
        TextLine("Results", (0.1, 0.08, 0.5, 0.16), 0.9),
    ]
    assert title(lines) == "Results"


def test_a_page_without_words_has_no_title():
    assert title([]) is None and title([TextLine("17", (0.9, 0.9, 0.95, 0.95), 0.9)]) is None


def test_the_printed_number_stands_alone_at_an_edge():
    assert printed_number(drawn("Why", ["It took 14 days"], number="31").lines) == "31"
    assert printed_number([TextLine("8 / 21", (0.9, 0.95, 0.98, 0.99), 0.9)]) == "8"
    assert printed_number(drawn("Why", ["14"]).lines) is None


def test_the_label_along_an_axis_is_not_the_title():
    lines = [
        TextLine("Emissions per person", (0.1, 0.1, 0.13, 0.6), 0.9),
        TextLine("World", (0.3, 0.05, 0.5, 0.11), 0.9),
    ]
    assert title(lines) == "World"


def line(text: str, left: float, top: float, right: float, bottom: float, confidence: float = 0.95) -> TextLine:
    return TextLine(text, (left, top, right, bottom), confidence)


def test_a_high_label_in_a_picture_is_not_the_title():
    heading = line("Research goals", 0.08, 0.14, 0.30, 0.20)
    assert title([heading, line("10 TIPS", 0.20, 0.27, 0.34, 0.43), line("FAST", 0.3, 0.4, 0.45, 0.44)]) == heading.text


def test_a_scrap_of_ink_is_not_the_title():
    written = line("kes", 0.2, 0.02, 0.27, 0.12, 0.86)
    assert (
        title([written, line("Proof: let A be an adversary", 0.05, 0.03, 0.6, 0.12)]) == "Proof: let A be an adversary"
    )
    assert title([line("RSA", 0.05, 0.03, 0.2, 0.12), line("An old idea of three men", 0.05, 0.3, 0.6, 0.38)]) == "RSA"


def test_a_point_under_a_title_that_had_room_for_it_is_not_part_of_it():
    lines = [line("reveal to revoke", 0.04, 0.06, 0.53, 0.16), line("Either party has to wait", 0.02, 0.17, 0.96, 0.27)]
    assert title(lines) == "reveal to revoke"


def test_a_centred_title_over_two_lines_is_read_whole():
    lines = [line("lightning network", 0.24, 0.1, 0.76, 0.2), line("and cross chain swaps", 0.18, 0.21, 0.82, 0.31)]
    assert title(lines) == "lightning network and cross chain swaps"


def strip(shift: float = 0.0) -> list[TextLine]:
    return [line("Motivation", 0.01, 0.02, 0.17, 0.09), line("Method", 0.43 + shift, 0.021, 0.55, 0.09)]


def test_a_strip_of_navigation_as_large_as_the_title_runs_along():
    pages = [[*strip(0.004 * k), line(f"Result {k}", 0.08, 0.14, 0.3, 0.20)] for k in range(3)]
    along = running(pages)
    assert [title(page, along) for page in pages] == ["Result 0", "Result 1", "Result 2"]


def test_a_title_on_several_slides_does_not_run_along():
    pages = [
        [line("Gradient descent", 0.05, 0.05, 0.5, 0.12), line(f"Step {k}", 0.08, 0.3, 0.3, 0.36)] for k in range(4)
    ]
    assert running([*pages, [line("Adam", 0.05, 0.05, 0.2, 0.12)], []]) == []


def test_the_name_of_the_deck_on_every_page_runs_along():
    pages = [[line("Course 7", 0.05, 0.02, 0.3, 0.09), line(f"Topic {k}", 0.05, 0.12, 0.5, 0.19)] for k in range(6)]
    assert title(pages[3], running(pages)) == "Topic 3"
