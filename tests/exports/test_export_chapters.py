import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from videmus.clock import parse_time
from videmus.exports.chapters import MOST_CHARACTERS, MOST_LINES, chapter_lines, chapters, titled
from videmus.exports.notes import notes
from videmus.model import Evidence, Origin, Segment, SummaryDetail, Video


def lecture(minutes=10, title="Tides"):
    return Video("v", "f", title, int(minutes * 60_000), "tides.mp4")


def slide(number, start, end, title=None, kind="slide"):
    """Times in seconds."""
    at = (start * 1000, end * 1000)
    return Segment(f"s{start}", "v", *map(int, at), kind, Origin("slides"), slide=number, title=title)


def chapter(start, end, title, model=None):
    text = f"{title}\nWhat it says."
    detail = SummaryDetail("chapter")
    origin = Origin("summary", 1, model)
    return Evidence(f"e{start}", "v", start * 1000, end * 1000, "summary", text, origin, detail=detail)


def lines(video, pieces=(), summaries=()):
    return chapter_lines(video, pieces, summaries).splitlines()


SLIDES = [slide(1, 0, 60, "Why"), slide(2, 60, 3700, "How"), slide(3, 3700, 4000, "When")]


def test_each_slide_is_a_line_and_hours_are_written():
    assert lines(lecture(70), SLIDES) == ["0:00 Why", "1:00 How", "1:01:40 When"]


def test_chapters_of_a_model_come_before_slides_and_slides_before_extractive_ones():
    extractive = [chapter(0, 30, "First words"), chapter(30, 90, "Then"), chapter(90, 600, "Last")]
    by_model = [chapter(0, 100, "Causes", "m"), chapter(100, 200, "Effects", "m"), chapter(200, 600, "Uses", "m")]
    assert lines(lecture(), SLIDES, [*extractive, *by_model]) == ["0:00 Causes", "1:40 Effects", "3:20 Uses"]
    assert lines(lecture(70), SLIDES, extractive) == ["0:00 Why", "1:00 How", "1:01:40 When"]
    assert lines(lecture(), [], extractive) == ["0:00 First words", "0:30 Then", "1:30 Last"]


def test_the_lines_the_notes_and_the_chapters_are_one_list_that_covers_the_video():
    extractive = [chapter(0, 30, "First words"), chapter(30, 600, "Then")]
    found = chapters(lecture(70), SLIDES, extractive)
    assert [(c.start_ms, c.end_ms, c.title) for c in found] == [
        (0, 60_000, "Why"),
        (60_000, 3_700_000, "How"),
        (3_700_000, 4_200_000, "When"),
    ]
    written = notes(lecture(70), SLIDES, [], extractive)
    assert "## Chapters\n\n- 0:00 Why\n- 1:00 How\n- 1:01:40 When\n\n" in written
    assert [c.text for c in chapters(lecture(), [], extractive)] == ["What it says."] * 2


def test_less_than_three_are_filled_up_from_the_next_source_and_no_further():
    by_model = [chapter(0, 600, "All of it", "m")]
    pieces = [slide(1, 0, 200, "Why"), slide(2, 200, 280, "How"), slide(3, 280, 500, "When"), slide(4, 500, 600, "Who")]
    assert lines(lecture(), pieces, by_model) == ["0:00 All of it", "4:40 When", "8:20 Who"]


def test_the_first_line_is_the_beginning_even_where_the_first_slide_comes_late():
    assert (
        lines(lecture(), [slide(1, 4, 60, "Why"), slide(2, 60, 90, "How"), slide(3, 90, 600, "When")])[0] == "0:00 Why"
    )
    late = [slide(1, 44, 60, "Why"), slide(2, 60, 90, "How"), slide(3, 90, 600, "When")]
    assert lines(lecture(), late)[:2] == ["0:00 Tides", "0:44 Why"]


def test_of_two_slides_closer_than_ten_seconds_the_longer_one_stays():
    pieces = [slide(1, 0, 5, "Card"), slide(2, 5, 100, "Why"), slide(3, 100, 104, "Flash"), slide(4, 104, 300, "How")]
    assert lines(lecture(), [*pieces, slide(5, 300, 600, "When")]) == ["0:00 Why", "1:44 How", "5:00 When"]


def test_no_chapter_begins_in_the_last_ten_seconds():
    pieces = [slide(1, 0, 60, "Why"), slide(2, 60, 90, "How"), slide(3, 90, 592, "When"), slide(4, 592, 600, "Thanks")]
    assert lines(lecture(), pieces) == ["0:00 Why", "1:00 How", "1:30 When"]


def test_a_slide_that_comes_back_is_a_line_again_only_when_it_stays():
    pieces = [slide(1, 0, 60, "Why"), slide(2, 60, 120, "How"), slide(1, 120, 140, "Why"), slide(3, 140, 200, "When")]
    assert lines(lecture(), [*pieces, slide(2, 200, 600, "How")]) == ["0:00 Why", "1:00 How", "2:20 When", "3:20 How"]


def test_neighbours_of_one_title_are_one_chapter():
    pieces = [
        slide(1, 0, 60, "Why"),
        slide(2, 60, 120, "Proof"),
        slide(3, 120, 180, "Proof"),
        slide(4, 180, 600, "End"),
    ]
    assert lines(lecture(), pieces) == ["0:00 Why", "1:00 Proof", "3:00 End"]


def test_a_slide_without_a_title_is_called_by_its_number():
    pieces = [slide(1, 0, 60, None), slide(2, 60, 120, " \n"), slide(7, 120, 600, "End")]
    assert lines(lecture(), pieces) == ["0:00 Slide 1", "1:00 Slide 2", "2:00 End"]


def test_a_title_is_one_line_of_bearable_length_without_what_sites_refuse():
    assert titled("Loss\nand <rate>\x00", "") == "Loss and ‹rate›"
    long = titled("gradient descent " * 20, "")
    assert len(long) <= 81
    assert re.fullmatch(r"(gradient descent )+gradient…|(gradient descent )*gradient descent…", long)
    assert len(titled("学" * 500, "")) == 81
    assert [titled(t, "") for t in ("Summarising.…. it", "Wait ...", "Done.")] == ["Summarising… it", "Wait …", "Done."]
    assert titled("word " * 15 + "end. more of it", "").endswith("word end…")


def test_a_video_of_which_nothing_is_known_has_its_title_at_the_beginning():
    assert lines(lecture(title="Holiday")) == ["0:00 Holiday"]


def test_clips_are_lines_by_their_titles_alone():
    clips = [slide(None, 0, 80, kind="clip"), slide(None, 80, 160, "At sea", kind="clip")]
    assert lines(lecture(), clips) == ["0:00 Tides", "1:20 At sea"]


def test_very_many_slides_are_thinned_out_to_what_a_description_takes():
    pieces = [
        slide(n + 1, 12 * n, 12 * n + 12, f"Slide about matter number {n} and its consequences") for n in range(600)
    ]
    text = chapter_lines(lecture(120), pieces, [])
    assert len(text) <= MOST_CHARACTERS
    assert 30 <= len(text.splitlines()) <= MOST_LINES


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 90_000), st.text(max_size=12)), max_size=30),
    st.integers(0, 700_000),
)
def test_the_rules_hold_for_any_slides(shown, duration):
    pieces, at = [], 0
    for number, length, title in shown:
        pieces.append(Segment(f"s{at}", "v", at, at + length, "slide", Origin("slides"), slide=number, title=title))
        at += length
    video = Video("v", "f", "Tides", duration, "tides.mp4")
    text = chapter_lines(video, pieces, [])
    found = [re.fullmatch(r"(\d+(?::\d\d){1,2}) (\S.*)", line) for line in text.removesuffix("\n").split("\n")]
    assert all(found), text
    times = [parse_time(match[1]) for match in found]
    assert times[0] == 0
    assert all(after - before >= 10_000 for before, after in pairwise(times))
    assert all(time <= max(duration - 10_000, 0) for time in times) or duration == 0
