"""No citation reaches a person that does not hold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus.answer.citations import checked, holds, moment_url, printed
from videmus.model import Citation, Evidence, NarrationDetail, Origin, Video

VIDEO = Video("v1", "f1", "Lecture 1", 60_000, "/films/lecture 1.mp4", state="ready")
ROW = Evidence("e1", "v1", 12_000, 15_500, "speech", "The learning  rate was\n3.5 in Café № 5.", Origin("test"))


def check(quote="learning rate", evidence="e1", row=ROW, retrieved=None, videos=None):
    retrieved = {"e1": row} if retrieved is None else retrieved
    return checked(1, evidence, quote, retrieved, {"v1": VIDEO} if videos is None else videos)


def test_a_citation_that_holds_points_at_its_moment():
    found = check()
    assert isinstance(found, Citation)
    assert (found.n, found.evidence, found.title, found.quote) == (1, "e1", "Lecture 1", "learning rate")
    assert found.url == "file:///films/lecture%201.mp4#t=12"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"evidence": "e2"}, "not among the evidence"),
        ({"retrieved": {}}, "not among the evidence"),
        ({"videos": {}}, "not in the library"),
        ({"row": replace(ROW, end_ms=60_001)}, "outside its video"),
        ({"row": replace(ROW, start_ms=-1)}, "outside its video"),
        ({"row": replace(ROW, start_ms=20_000)}, "outside its video"),
        ({"quote": "learning rates"}, "do not stand"),
        ({"quote": "rate learning"}, "do not stand"),
        ({"quote": ""}, "do not stand"),
        ({"quote": " \n "}, "do not stand"),
    ],
)
def test_every_fault_is_a_reason(changes, reason):
    found = check(**changes)
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize("quote", ["LEARNING RATE", "learning\trate  was 3.5", "ｌｅａｒｎｉｎｇ", "cafe\u0301 no 5"])
def test_case_width_and_spaces_are_folded(quote):
    assert holds(ROW, quote)


@pytest.mark.parametrize("quote", ["earning rate", "learning rat", ".5", "3"])
def test_a_piece_of_a_word_is_not_the_word(quote):
    assert holds(ROW, quote) == (quote in (".5", "3"))  # marks are borders: "3" and ".5" stand beside one


def test_scripts_without_spaces_have_no_word_borders():
    assert holds(replace(ROW, text="机器学习很有趣"), "学习")


def test_original_and_corrected_speech_may_be_quoted():
    row = replace(ROW, kind="narration", text="gradient descent", detail=NarrationDetail("radiant descent"))
    assert holds(row, "gradient descent")
    assert holds(row, "radiant descent")
    assert not holds(row, "radiant gradient")


@given(st.text(min_size=1, max_size=60), st.data())
def test_every_run_of_whole_words_of_a_text_stands_in_it(text, data):
    words = text.split()
    if words:
        first = data.draw(st.integers(0, len(words) - 1))
        last = data.draw(st.integers(first + 1, len(words)))
        assert holds(replace(ROW, text=text), " ".join(words[first:last]))


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("https://example.org/a.mp4", "https://example.org/a.mp4#t=12.5"),
        ("https://example.org/a.mp4?x=1#old", "https://example.org/a.mp4?x=1#t=12.5"),
        ("https://www.youtube.com/watch?v=abc&t=3s", "https://www.youtube.com/watch?v=abc&t=12s"),
        ("https://youtu.be/abc", "https://youtu.be/abc?t=12s"),
        ("/a b/ü.mp4", "file:///a%20b/%C3%BC.mp4#t=12.5"),
        ("talk #1.json", "talk%20%231.json#t=12.5"),
    ],
)
def test_a_link_opens_the_moment(source, url):
    assert moment_url(replace(VIDEO, source=source), 12_500) == url


def test_a_moment_of_an_evidence_file_is_a_link_only_where_it_names_a_video_that_is_there(tmp_path):
    def url(source):
        return moment_url(replace(VIDEO, source=source, options={"evidence": "digest"}), 12_500)

    assert url("https://example.org/a.mp4") == "https://example.org/a.mp4#t=12.5"
    film = tmp_path / "a.mp4"
    assert url(str(film)) == f"videmus:{VIDEO.id}#t=12.5"
    film.touch()
    assert url(str(film)) == f"{film.as_uri()}#t=12.5"
    (tmp_path / "a.json").touch()
    for source in (str(tmp_path / "a.json"), "https://example.org/a.json?x=1"):
        assert url(source) == f"videmus:{VIDEO.id}#t=12.5"


def test_a_citation_prints_as_title_time_and_kind():
    found = check(row=replace(ROW, kind="screen", start_ms=12_000, end_ms=59_000))
    assert isinstance(found, Citation)
    assert printed(found) == "[1] Lecture 1 · 0:12–0:59 · slide"
