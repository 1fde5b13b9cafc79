from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from videmus.media.captions import Cue, parse, write_srt, write_vtt


def cues(text: str) -> list[tuple[int, int, str]]:
    return [(cue.start_ms, cue.end_ms, cue.text) for cue in parse(text)[0]]


def texts(text: str) -> list[str]:
    return [cue.text for cue in parse(text)[0]]


def srt(*lines: str) -> str:
    """Cues of 2 s each, one after the other."""

    def clock(n: int) -> str:
        return f"00:{2 * n // 60:02}:{2 * n % 60:02},000"

    return "\n".join(f"{n + 1}\n{clock(n)} --> {clock(n + 1)}\n{line}\n" for n, line in enumerate(lines))


# ---------------------------------------------------------------- formats


def test_srt_with_its_usual_flaws():
    text = (
        "\ufeff1\r\n00:00:01,000 --> 00:00:02,500 X1:100 X2:200\r\n<i>Hello</i>\r\n<font color='red'>there</font>\r\n\r\n"
        "2\r\n0:0:3.5 -> 0:0:4\r\n{\\an8}Short times &amp; dots\r\n"
        "3\r\n00:00:05,000 --> 00:00:06,000\r\nno blank line before\r\n\r\nand a blank line inside\r\n"
    )
    assert cues(text) == [
        (1_000, 2_500, "Hello there"),
        (3_500, 4_000, "Short times & dots"),
        (5_000, 6_000, "no blank line before and a blank line inside"),
    ]
    assert parse(text)[1] == "srt"


def test_numbers_that_are_text_stay():
    assert texts("1\n00:00:01,000 --> 00:00:02,000\n42\n\n2\n00:00:03,000 --> 00:00:04,000\n1984\n") == ["42", "1984"]


def test_comparisons_are_no_tags():
    assert texts("1\n00:00:01,000 --> 00:00:02,000\nif a < b and c > d\n") == ["if a < b and c > d"]


def test_vtt_with_voices_settings_and_blocks_that_are_no_cues():
    text = (
        "WEBVTT - a title\nKind: captions\nLanguage: en\n\nNOTE\n00:00 is no cue here\n\nSTYLE\n::cue { color: red }\n\n"
        "REGION\nid:fred\n\nintro\n00:01.000 --> 00:02.000 align:start position:0%\n<v.loud Ann Lee>Hello, <b>you</b></v>\n\n"
        "00:03.000 --> 00:04.000\nbefore <v Ann Lee>first <v Bob>second &lt;3\n\n100:00:00.000 --> 100:00:01.000\nlate\n"
    )
    found, format_ = parse(text)
    assert format_ == "vtt"
    assert [(c.start_ms, c.text, c.speaker) for c in found] == [
        (1_000, "Hello, you", "Ann Lee"),
        (3_000, "before", None),
        (3_000, "first", "Ann Lee"),
        (3_000, "second <3", "Bob"),
        (360_000_000, "late", None),
    ]


def test_sbv():
    text = "0:00:00.030,0:00:01.170\nOK, so first of all\n\n0:00:01.170,0:00:06.029\nI have a\nconfession\n"
    assert cues(text) == [(30, 1_170, "OK, so first of all"), (1_170, 6_029, "I have a confession")]
    assert parse(text)[1] == "sbv"


def test_a_break_in_a_line_of_sbv_is_a_line_break():
    text = "0:00:00.030,0:00:01.170\nOK, so[br]first[BR] of all\n"
    assert cues(text) == [(30, 1_170, "OK, so first of all")]


def test_ass_takes_dialogue_alone():
    text = (
        "[Script Info]\nTitle: x\n\n[V4+ Styles]\nFormat: Name\nStyle: Default\n\n[Events]\n"
        "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
        "Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,not spoken\n"
        "Dialogue: 0,0:00:01.50,0:00:03.00,Default,Ann,0,0,0,,{\\i1}Hello,{\\i0} you\\Nthere\\hfriend\n"
        "Dialogue: 0,0:00:04.00,0:00:05.00,Default,,0,0,0,,{\\p1}m 0 0 l 100 0{\\p0}\n"
    )
    found, format_ = parse(text)
    assert format_ == "ass"
    assert found == [Cue(1_500, 3_000, "Hello, you there friend", "Ann")]


def test_lines_as_whisper_prints_them():
    text = "[00:00:00.000 --> 00:00:02.000]   And so my fellow\n[00:00:02.000 --> 00:00:04.500]   Americans\n"
    assert cues(text) == [(0, 2_000, "And so my fellow"), (2_000, 4_500, "Americans")]


def test_one_word_a_line_becomes_sentences_with_words():
    said = "The tide comes twice a day. It goes twice , too. Self -driving is no help against the sea , sadly enough ."
    words = said.split(" ")
    text = "\n".join(f"[00:00:{n:02}.000 --> 00:00:{n:02}.500] {word}" for n, word in enumerate(words))
    found = parse(text)[0]
    assert [cue.text for cue in found] == [
        "The tide comes twice a day.",
        "It goes twice, too.",
        "Self-driving is no help against the sea, sadly enough.",
    ]
    assert (found[1].start_ms, found[1].end_ms) == (6_000, 10_500)
    assert [(w.start_ms, w.end_ms, w.text) for w in found[1].words][:2] == [
        (6_000, 6_500, "It"),
        (7_000, 7_500, "goes"),
    ]


def test_a_pause_ends_a_sentence_of_single_words():
    times = [*range(20), *range(30, 50)]
    text = "\n".join(f"[00:00:{t:02}.000 --> 00:00:{t:02}.900] word" for t in times)
    assert 30_000 in [cue.start_ms for cue in parse(text)[0]]


@pytest.mark.parametrize(
    "text",
    [
        "[00:05] Hello there\n[00:12] Second\nwent on\n[01:00:00] Last one here\n",
        "00:05 Hello there\n00:12 Second\nwent on\n1:00:00 Last one here\n",
        "(0:05) - Hello there\n\n(0:12) - Second\nwent on\n\n(1:00:00) - Last one here\n",
        "**00:05** Hello there\n**00:12** Second\nwent on\n**1:00:00** Last one here",
        "0:05\nHello there\n0:12\nSecond\nwent on\n1:00:00\nLast one here",
    ],
)
def test_a_transcript_with_a_clock_before_each_passage(text: str):
    assert cues(text) == [
        (5_000, 12_000, "Hello there"),
        (12_000, 612_000, "Second went on"),
        (3_600_000, 3_601_200, "Last one here"),
    ]


def test_a_transcript_with_names_and_clocks_above_each_passage():
    text = "Ann Lee  0:03\nHello there.\n\nBob  0:10\nHello, Ann.\n\nAnn Lee  1:02:03\nGoodbye."
    assert [(c.start_ms, c.speaker, c.text) for c in parse(text)[0]] == [
        (3_000, "Ann Lee", "Hello there."),
        (10_000, "Bob", "Hello, Ann."),
        (3_723_000, "Ann Lee", "Goodbye."),
    ]


@pytest.mark.parametrize(
    "text", ["", "No times at all.\nOnly prose.", "We met at 12:30 and left.\nThen home.", "WEBVTT\n\n"]
)
def test_text_without_times_gives_no_cues(text: str):
    assert parse(text)[0] == []


# ---------------------------------------------------------------- times


def test_cues_out_of_order_are_sorted_and_overlaps_stay():
    text = "00:00:05,000 --> 00:00:09,000\nb\n\n00:00:01,000 --> 00:00:06,000\na\n"
    assert cues(text) == [(1_000, 6_000, "a"), (5_000, 9_000, "b")]


def test_the_same_cue_twice_is_one():
    assert cues("00:00:01,000 --> 00:00:02,000\na\n\n00:00:01,000 --> 00:00:02,000\na\n") == [(1_000, 2_000, "a")]


def test_impossible_times_are_mended_or_left_out():
    text = (
        "-00:00:05,000 --> -00:00:03,000\nbefore the start\n\n-00:00:01,000 --> 00:00:01,000\nat the start\n\n"
        "00:00:10,000 --> 00:00:05,000\nends early\n\n00:00:20,000 --> 00:00:20,000\nno length\n\n"
        "00:00:30,000 --> 09:00:00,000\nnine hours long\n\n00:00:40,000 --> 00:00:41,000\n\n\n"
        "99999:00:00,000 --> 99999:00:01,000\nnever\n\n00:00:50,000 --> 00:00:51,000\nlast\n"
    )
    assert cues(text) == [
        (0, 1_000, "at the start"),
        (10_000, 11_000, "ends early"),
        (20_000, 30_000, "no length"),
        (30_000, 50_000, "nine hours long"),
        (50_000, 51_000, "last"),
    ]


# ---------------------------------------------------------------- rolling captions

ROLLING = """WEBVTT
Kind: captions
Language: en

00:00:00.000 --> 00:00:02.000 align:start position:0%
 \nthe<00:00:00.500><c> sea</c><00:00:01.000><c> rises</c>

00:00:02.000 --> 00:00:02.010 align:start position:0%
the sea rises
 \n
00:00:02.010 --> 00:00:04.000 align:start position:0%
the sea rises
twice<00:00:02.500><c> a</c><00:00:03.000><c> day</c>

00:00:04.000 --> 00:00:04.010 align:start position:0%
twice a day
 \n
00:00:04.010 --> 00:00:06.000 align:start position:0%
twice a day
and<00:00:04.500><c> falls</c>

00:00:06.000 --> 00:00:06.010 align:start position:0%
and falls
 \n
"""


def test_rolling_captions_say_everything_once_and_keep_the_words():
    found = parse(ROLLING)[0]
    assert [cue.text for cue in found] == ["the sea rises", "twice a day", "and falls"]
    assert [(w.text, w.start_ms) for w in found[1].words] == [("twice", 2_010), ("a", 2_500), ("day", 3_000)]


def test_what_was_said_twice_stays_twice():
    assert texts(srt("No.", "No.", "Well, I said no.", "And again.", "Then yes.", "Good.")) == [
        "No.", "No.", "Well, I said no.", "And again.", "Then yes.", "Good.",
    ]  # fmt: skip


# ---------------------------------------------------------------- speakers


def test_names_before_the_words_are_speakers_where_they_come_again_and_again():
    found = parse(
        srt("Ann Lee: Hello.", "BOB: Hello, Ann.", "It is late.", "Ann Lee: Yes.", ">> BOB: Go: now.", "Ann Lee: Bye.")
    )[0]
    assert [(c.speaker, c.text) for c in found] == [
        ("Ann Lee", "Hello."), ("BOB", "Hello, Ann."), (None, "It is late."),
        ("Ann Lee", "Yes."), ("BOB", "Go: now."), ("Ann Lee", "Bye."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "lines",
    [
        ("Note: bring a coat.", "Note: and a hat.", "Note: it rains.", "The end."),
        ("12:30: we meet.", "12:45: we eat.", "13:00: we go.", "The end."),
        ("Remember: one.", "First: two.", "Second: three.", "Gravity: four.", "The end."),
        ("There are two kinds: good and bad.", "I mean this: nothing.", "And then: silence.", "Yes."),
        ("https://example.org is the page.", "see https://example.org", "again https://example.org", "x"),
        ("Gravity: it pulls.", "Mass: it weighs.", "Light: it bends.", "Time: it flows.", "Space: it is."),
    ],
)
def test_what_only_looks_like_a_name_is_none(lines: tuple[str, ...]):
    assert {cue.speaker for cue in parse(srt(*lines))[0]} == {None}
    assert texts(srt(*lines)) == list(lines)


def test_a_change_of_speaker_without_a_name_is_left_out():
    assert texts(srt(">> One thing.", "&gt;&gt; Another thing.", "A last.")) == [
        "One thing.",
        "Another thing.",
        "A last.",
    ]


# ---------------------------------------------------------------- writing

PLAIN = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp", "Zs", "Cf")), min_size=1, max_size=12)
SENTENCE = st.lists(PLAIN, min_size=1, max_size=6).map(" ".join)


@st.composite
def timelines(draw, speakers) -> list[Cue]:
    found, at = [], 0
    for text in draw(st.lists(SENTENCE, min_size=1, max_size=6)):
        at += draw(st.integers(1, 400_000))
        found.append(Cue(at, at + draw(st.integers(1, 500_000)), text, draw(speakers)))
    return found


@settings(max_examples=150, deadline=None)
@given(timelines(st.one_of(st.none(), st.lists(PLAIN, min_size=1, max_size=3).map(" ".join))))
def test_vtt_reads_back_as_it_was_written(written: list[Cue]):
    assume(not any(cue.text.startswith(">>") for cue in written))
    if any(cue.speaker is None for cue in written):
        assume(not any(":" in cue.text for cue in written))
    assert parse(write_vtt(written))[0] == written


@settings(max_examples=150, deadline=None)
@given(timelines(st.none()))
def test_srt_reads_back_as_it_was_written(written: list[Cue]):
    assume(not any(mark in cue.text for cue in written for mark in (">>", "{\\", "-->", ":", "&")))
    assert parse(write_srt(written))[0] == written


def test_srt_escapes_what_would_be_read_as_something_else():
    written = [Cue(0, 1_000, "use <b> for bold &amp; 1 < 2"), Cue(2_000, 3_000, "a --> b")]
    assert texts(write_srt(written)) == ["use <b> for bold &amp; 1 < 2", "a -> b"]


def test_srt_writes_speakers_as_names_before_the_words():
    written = [Cue(1_000 * n, 1_000 * n + 1_000, "Hello.", ("Ann", "Bob")[n % 2]) for n in range(6)]
    assert "\nAnn: Hello.\n" in write_srt(written)
    assert {c.speaker for c in parse(write_srt(written))[0]} == {"Ann", "Bob"}


# ---------------------------------------------------------------- hostile texts


@pytest.mark.parametrize(
    "text",
    [
        "WEBVTT\n\n00:00.000 --> 00:01.000\n" + "<v " * 700_000,
        "1\n00:00:00,000 --> 00:00:01,000\n" + "<" * 2_000_000,
        "1\n00:00:00,000 --> 00:00:01,000\n" + "{\\" * 1_000_000,
        "[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,,,0,0,0,," + "{" * 2_000_000,
        "1:" * 1_000_000,
        "00:00:00,000 --> " * 120_000,
        "[00:00:00.000 --> 00:00:01.000]" * 60_000,
        "\n" * 2_000_000 + "00:00:00,000 --> 00:00:01,000\nx",
        " " * 2_000_000 + "00:01 x\n" + "00:02 y " * 100_000,
        "1\n00:00:00,000 --> 00:00:01,000\n" + "A" * 2_000_000 + ": x",
        "a b" * 700_000 + " 0:01",
    ],
    ids=range(11),
)
def test_two_megabytes_of_malice_are_read_in_linear_time(text: str):
    cues, _ = parse(text)  # in quadratic time it would hang
    assert all(0 <= cue.start_ms < cue.end_ms and cue.text for cue in cues)


PIECES = [
    "WEBVTT",
    "\n",
    "\n\n",
    "00:00:01,000 --> 00:00:02,000",
    "-->",
    "<v A>",
    "<",
    "x: y",
    "1",
    "[00:01]",
    "{\\p1}",
]
PIECES += ["Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,t", "0:00:01.0,0:00:02.0", "[00:00:01.000 --> 00:00:02.000] w"]
PIECES += ["\u2028", "99:99:99,999 --> 0:0:0", "[Script Info]", "[Events]"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_mixture_gives_cues_that_hold_together(pieces: list[str]):
    found = parse("".join(pieces))[0]
    assert all(0 <= cue.start_ms < cue.end_ms and cue.text == " ".join(cue.text.split()) for cue in found)
    assert found == sorted(found, key=lambda cue: cue.start_ms)
