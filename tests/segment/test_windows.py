"""Windows of 45 s every 30 s: what is in each, what is carried in, nothing twice."""

from hypothesis import given
from hypothesis import strategies as st

from videmus.config import WindowSettings
from videmus.model import Evidence, Origin, evidence_id
from videmus.segment.windows import windows


def row(kind, start, end, text, speaker=None):
    return Evidence(
        evidence_id("v", kind, start, end, text, speaker), "v", start, end, kind, text, Origin("t"), speaker
    )


def by_start(duration, *rows):
    return {w.start_ms: w for w in windows("v", duration, rows)}


def test_a_window_holds_its_streams_in_tagged_blocks_and_names_its_rows():
    speech, screen = row("speech", 1000, 4000, "Hello there.", "Ann"), row("screen", 0, 40_000, "A title")
    window = by_start(40_000, speech, screen)[0]
    assert window.text == "[speech]\nAnn: Hello there.\n[screen]\nA title"
    assert window.sources == (speech.id, screen.id)
    assert (window.start_ms, window.end_ms, window.kind) == (0, 40_000, "window")


def test_one_starts_every_30_seconds_and_none_repeats_the_end():
    rows = [row("speech", 1000 * k, 1000 * k + 900, f"s{k}") for k in range(100)]
    assert [(w.start_ms, w.end_ms) for w in windows("v", 100_000, rows)] == [
        (0, 45_000), (30_000, 75_000), (60_000, 100_000),
    ]  # fmt: skip


def test_what_was_shown_before_and_is_no_longer_is_carried_in_and_marked():
    rows = [row("screen", 0, 20_000, "An old slide"), row("speech", 70_000, 72_000, "as you saw here")]
    window = by_start(120_000, *rows)[60_000]
    assert window.text == "[speech]\nas you saw here\n[screen]\n(carried) An old slide"
    assert window.sources == (rows[1].id, rows[0].id)


def test_only_the_latest_is_carried_and_only_where_nothing_is_on_at_the_start():
    rows = [
        row("screen", 0, 5000, "first"),
        row("screen", 6000, 20_000, "second"),
        row("screen", 25_000, 70_000, "third"),
    ]
    found = by_start(140_000, *rows)
    assert "(carried)" not in found[30_000].text  # the third is on at 30 s
    assert found[90_000].text == "[screen]\n(carried) third"


def test_what_is_older_than_two_minutes_is_not_carried():
    rows = [row("screen", 0, 10_000, "old"), row("speech", 0, 300_000, "talk")]
    found = by_start(300_000, *rows)
    assert "(carried) old" in found[120_000].text
    assert "old" not in found[150_000].text


def test_nothing_is_in_a_window_twice():
    shown = [(0, 10_000, "The  Same"), (12_000, 20_000, "the same"), (35_000, 40_000, "THE SAME")]
    rows = [row("screen", *one) for one in shown]
    found = by_start(60_000, *rows)
    assert found[0].text.casefold().count("same") == 1
    assert found[30_000].text == "[screen]\nTHE SAME"  # on screen in the window itself: not carried as well


def test_a_silent_empty_stretch_has_no_window():
    assert list(by_start(600_000, row("speech", 0, 1000, "hi"))) == [0]


spans = st.tuples(st.integers(0, 200_000), st.integers(0, 60_000), st.sampled_from("abcd"))


@given(st.lists(spans, max_size=12), st.integers(1, 260_000))
def test_every_row_is_in_every_window_that_it_overlaps_and_none_twice(drawn, duration):
    rows = [row("speech", a, a + n, t) for a, n, t in drawn]
    texts = {r.id: r.text for r in rows}
    for window in windows("v", duration, rows, WindowSettings()):
        shown = [texts[id] for id in window.sources]
        assert len(shown) == len(set(shown))
        for r in rows:
            if r.start_ms < window.end_ms and r.end_ms > window.start_ms:
                assert r.text in shown
