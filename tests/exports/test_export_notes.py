import pytest

from videmus.exports.notes import escaped, notes, paragraphs, shares
from videmus.model import Evidence, Origin, Segment, SummaryDetail, Video

VIDEO = Video("v", "f", "Tides & *currents*", 125_000, "tides.mp4", recorded_at=1_772_719_200_000)


def said(start, text, speaker=None):
    times = (start * 1000, start * 1000 + 2000)
    return Evidence(f"e{start}", "v", *times, "speech", text, Origin("speech"), speaker=speaker)


def slide(number, start, end, title=None, text="", **more):
    times = (start * 1000, end * 1000)
    return Segment(f"s{start}", "v", *times, "slide", Origin("slides"), slide=number, title=title, text=text, **more)


def summary(level, start, text, terms=()):
    times = (start * 1000, 125_000)
    return Evidence(
        f"u{start}", "v", *times, "summary", text, Origin("summary"), detail=SummaryDetail(level, terms=terms)
    )


def test_a_slide_has_its_moment_picture_text_and_what_was_said():
    pieces = [slide(1, 0, 60, "Why?", "Why?\n\nthe Moon", keyframe="f1"), slide(2, 60, 125)]
    speech = [
        said(1, "Good morning.", "Ann"),
        said(4, "Let us begin.", "Ann"),
        said(7, "Yes.", "Bob"),
        said(70, "End."),
    ]
    text = notes(VIDEO, pieces, speech, pictures={"f1": "a 50%/1.jpg"}, links={0: "https://talks.example/<t>#t=0"})
    assert text == (
        "# Tides \\& \\*currents\\*\n\n2:05 · 2026-03-05T14:00:00 · tides.mp4\n\n"
        "## Slide 1: Why?\n\n[0:00–1:00](<https://talks.example/<t%3E#t=0>)\n\n![Slide 1](<a 50%25/1.jpg>)\n\n"
        "> Why?  \n> the Moon  \n\n**Ann:** Good morning. Let us begin.\n\n**Bob:** Yes.\n\n"
        "## Slide 2\n\n1:00–2:05\n\nEnd.\n"
    )


def test_summary_and_terms_come_first_then_the_chapters():
    rows = [summary("chapter", 0, "Why\nIt is said why."), summary("video", 0, "All of it.", ("tide",))]
    text = notes(VIDEO, [], [said(1, "Hello.")], [*rows, summary("chapter", 60, "How"), summary("chapter", 90, "")])
    assert (
        "## Summary\n\nAll of it.\n\n**Key terms:** tide\n\n## Chapters\n\n- 0:00 Why\n- 1:00 How\n- 1:30 Part 3\n"
        in text
    )
    assert text.endswith("## What was said\n\nHello.\n")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[a](http://x) <b> `c` # ![d]", r"\[a\](http://x) \<b\> \`c\` \# \!\[d\]"),
        ("1. first", r"1\. first"),
        ("- point", r"\- point"),
        ("12)", r"12\)"),
        ("===", r"\==="),
        ("3.5 V - 2", "3.5 V - 2"),
        ("one\n\n## two", r"one \#\# two"),
        ("&lt; costs $5", r"\&lt; costs \$5"),
    ],
)
def test_no_text_is_markup(text, written):
    assert escaped(text) == written


def test_speech_belongs_to_the_slide_that_names_it_else_to_the_one_on_screen_in_its_middle():
    rows = [said(0, "a"), said(59, "b"), said(61, "c"), said(62, "d")]
    pieces = [slide(1, 10, 60, sources=("e62",)), slide(2, 60, 125)]
    assert [[r.text for r in share] for share in shares(pieces, rows)] == [["a", "d"], ["b", "c"]]


def test_sentences_of_one_speaker_run_on_and_empty_rows_are_nothing():
    rows = [said(0, "One.", "Ann"), said(1, "  Two.\n", "Ann"), said(2, " "), said(3, "Three.")]
    assert paragraphs(rows) == [("Ann", "One. Two."), (None, "Three.")]
