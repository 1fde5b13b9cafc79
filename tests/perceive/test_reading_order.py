"""Reading order and paragraphs, on pages laid out as slides are."""

from hypothesis import given
from hypothesis import strategies as st

from videmus.model import TextLine
from videmus.perceive.reading_order import ordered, page_text

HEIGHT = 0.05
LETTER = 0.012


def line(left: float, top: float, text: str, height: float = HEIGHT) -> TextLine:
    """A line of type: its box is as wide as its letters."""
    return TextLine(text, (left, top, left + LETTER * len(text) * height / HEIGHT, top + height), 0.99)


def order(*lines: TextLine) -> list[str]:
    return [x.text for x in ordered(lines[::-1])]


def test_a_title_and_its_points_go_from_top_to_bottom() -> None:
    assert order(line(0.1, 0.05, "Title", 0.08), line(0.12, 0.2, "• one"), line(0.12, 0.3, "• two")) == [
        "Title",
        "• one",
        "• two",
    ]


def test_columns_are_read_one_after_the_other() -> None:
    page = [line(0.2, 0.05, "Two ways to sort a very long list", 0.08)]
    for i in range(3):
        page.append(line(0.05, 0.3 + 0.1 * i, f"the left column says thing {i}"))
        page.append(line(0.55, 0.32 + 0.1 * i, f"the right column says thing {i}"))
    texts = order(*page)
    assert texts[0].startswith("Two ways")
    assert [t.split()[1] for t in texts[1:]] == ["left"] * 3 + ["right"] * 3


def test_columns_beside_each_other_under_points_over_the_whole_width() -> None:
    page = [
        line(0.05, 0.05, "Results"),
        line(0.05, 0.2, "• We measured forty people over nine weeks in two different places"),
        *[line(0.05, 0.4 + 0.1 * i, f"• a point of the left list {i}") for i in range(3)],
        *[line(0.7, 0.42 + 0.1 * i, f"label {i}") for i in range(3)],
        line(0.05, 0.8, "• A last point that goes on over most of the page's whole width too"),
    ]
    texts = order(*page)
    assert texts.index("• a point of the left list 2") < texts.index("label 0") < texts.index("label 2")
    assert texts[-1].startswith("• A last point")


def test_a_strip_of_navigation_is_no_head_of_columns() -> None:
    page = [line(0.02, 0.02, "Motivation"), line(0.45, 0.02, "Method"), line(0.85, 0.02, "User study")]
    page += [line(0.05, 0.2 + 0.1 * i, f"left {i}") for i in range(3)]
    page += [line(0.7, 0.2 + 0.1 * i, f"and some words to the right {i}") for i in range(3)]
    assert order(*page)[:3] == ["Motivation", "Method", "User study"]
    assert page_text(page).splitlines()[0] == "Motivation | Method | User study"


def test_rows_of_a_table_stay_together() -> None:
    cells = [("Method", "F1", "Seconds"), ("ours", "0.98", "1.2"), ("theirs", "0.91", "3.5")]
    page = [line(0.1, 0.05, "What we measured on all four lectures", 0.08)]
    page += [line(0.1 + 0.3 * c, 0.3 + 0.1 * r, text) for r, row in enumerate(cells) for c, text in enumerate(row)]
    assert page_text(page).splitlines() == [
        "What we measured on all four lectures",
        "Method | F1 | Seconds",
        "ours | 0.98 | 1.2",
        "theirs | 0.91 | 3.5",
    ]


def test_a_wrapped_point_is_one_line_of_text() -> None:
    page = [
        line(0.1, 0.3, "• If you are not able to explain the problem,"),
        line(0.12, 0.36, "how can you motivate the listener?"),
        line(0.1, 0.45, "• Short point"),
        line(0.1, 0.53, "• Another one"),
    ]
    assert page_text(page).splitlines() == [
        "• If you are not able to explain the problem, how can you motivate the listener?",
        "• Short point",
        "• Another one",
    ]


def test_short_lines_below_each_other_are_not_one_sentence() -> None:
    page = [line(0.1, 0.2 + 0.08 * i, t) for i, t in enumerate(["today", "payment channels", "recap", "hash trees"])]
    assert page_text(page).splitlines() == ["today", "payment channels", "recap", "hash trees"]


def test_a_split_word_is_joined_without_a_space() -> None:
    page = [line(0.1, 0.3, "everything that we know about self-"), line(0.1, 0.36, "attention in two slides")]
    assert page_text(page) == "everything that we know about self-attention in two slides"


def test_a_bullet_recognised_alone_belongs_to_its_line() -> None:
    page = [line(0.1, 0.3, "•"), line(0.16, 0.3, "first"), line(0.1, 0.4, "•"), line(0.16, 0.4, "second")]
    assert page_text(page).splitlines() == ["• first", "• second"]


def test_a_heading_is_not_joined_to_the_line_below() -> None:
    page = [line(0.1, 0.1, "deep learning for videos", 0.09), line(0.1, 0.22, "in one hour and a half of talk")]
    assert len(page_text(page).splitlines()) == 2


def test_an_empty_page_has_no_text() -> None:
    assert ordered([]) == []
    assert page_text([]) == ""


unit = st.floats(0, 1, width=32)
lines = st.lists(
    st.builds(
        lambda x, y, w, h, text: TextLine(text, (min(x, w), min(y, h), max(x, w), max(y, h)), 0.9),
        unit, unit, unit, unit, st.text("ab •1.-", max_size=12),
    ),
    max_size=14,
)  # fmt: skip


@given(lines, st.floats(0.3, 4))
def test_no_line_is_lost_or_doubled_whatever_the_layout(page: list[TextLine], aspect: float) -> None:
    assert sorted(map(repr, ordered(page, aspect))) == sorted(map(repr, page))
    letters = sorted("".join(x.text for x in page).replace(" ", "").replace("|", ""))
    assert sorted(page_text(page, aspect).replace(" ", "").replace("|", "").replace("\n", "")) == letters


@given(lines)
def test_the_order_does_not_depend_on_the_recognisers(page: list[TextLine]) -> None:
    distinct = list({x.box: x for x in page}.values())
    assert ordered(distinct) == ordered(ordered(distinct)[::-1])


def test_labels_scattered_over_a_figure_are_one_line() -> None:
    page = [line(0.1, 0.05, "How a payment goes", 0.08)]
    page += [line(0.1, 0.3, "Alice"), line(0.4, 0.45, "Bob"), line(0.7, 0.6, "Carol"), line(0.25, 0.75, "14 coins")]
    assert page_text(page).splitlines() == ["How a payment goes", "Alice | Bob | Carol | 14 coins"]


def test_short_points_of_a_list_are_lines_of_their_own() -> None:
    page = [line(0.1, 0.05, "What we need", 0.08)]
    page += [line(0.1, 0.25 + 0.15 * i, text) for i, text in enumerate(["time", "a network", "paper", "an idea"])]
    assert page_text(page).splitlines()[1:] == ["time", "a network", "paper", "an idea"]


def test_a_line_wrapped_by_hand_goes_on_where_points_are_spaced() -> None:
    page = [
        line(0.1, 0.2, "The picture is projected upside down"),
        line(0.1, 0.255, "onto the plane behind"),
        line(0.1, 0.4, "In the model we assume that the plane is in front of the lens"),
        line(0.1, 0.55, "Both are equal"),
    ]
    assert page_text(page).splitlines()[0] == "The picture is projected upside down onto the plane behind"
    assert len(page_text(page).splitlines()) == 3
