"""Titles and page numbers out of a page's lines."""

from __future__ import annotations

from slides_material import drawn
from videmus.model import TextLine
from videmus.segment.titles import printed_number, title


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
