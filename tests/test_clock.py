from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videmus import clock
from videmus.errors import UsageError

VIDEO_TIMES = st.integers(0, 200 * clock.HOUR_MS)
CLOCK_TIMES = st.integers(-60 * 365 * clock.DAY_MS, 200 * 365 * clock.DAY_MS)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("754", 754_000),
        ("754.5", 754_500),
        ("12:34", 754_000),
        ("1:02:03", 3_723_000),
        ("12m34s", 754_000),
        ("90:00", 5_400_000),
        ("1:02:03.25", 3_723_250),
        ("0:07,125", 7_125),
        ("1h2m", 3_720_000),
        ("34s", 34_000),
        ("250ms", 250),
        (" 12 : 34 ", 754_000),
        ("0", 0),
    ],
)
def test_video_times_are_read(text, ms):
    assert clock.parse_time(text) == ms


@pytest.mark.parametrize(
    "text",
    ["", "abc", "1:60", "1:60:00", "-5", "12:3:4:5", "12m61s", "1h60m", "m", ":", "9" * 50, "٣", "1:2:3x", "nan"],
)
def test_what_is_no_video_time_is_refused_with_examples(text):
    with pytest.raises(UsageError) as caught:
        clock.parse_time(text)
    assert "12:34" in caught.value.next


@given(VIDEO_TIMES)
def test_a_written_video_time_reads_back(ms):
    assert clock.parse_time(clock.format_time(ms, milliseconds=True)) == ms
    assert clock.parse_time(clock.format_time(ms)) == ms - ms % 1000


def test_hours_are_shown_only_from_an_hour_on():
    assert clock.format_time(754_000) == "12:34"
    assert clock.format_time(3_599_999) == "59:59"
    assert clock.format_time(3_600_000) == "1:00:00"
    assert clock.format_time(0) == "0:00"


@given(st.text(max_size=30))
def test_any_text_is_a_time_or_a_usage_error(text):
    for read in (clock.parse_time, clock.parse_clock):
        with contextlib.suppress(UsageError):
            assert isinstance(read(text), int)
    clock.format_clock(clock.clock_from_name("x" + text) or 0)


@given(CLOCK_TIMES)
def test_iso_reads_back(ms):
    assert clock.parse_clock(clock.format_clock(ms, "iso")) == ms


@given(CLOCK_TIMES, st.integers(0, 300), st.sampled_from(["day", "centiseconds", "egolife"]))
def test_day_counts_read_back_on_the_recordings_own_days(first_day, days_later, style):
    ms = clock.midnight_of(first_day) + days_later * clock.DAY_MS + first_day % clock.DAY_MS
    grain = {"day": 1, "centiseconds": 10, "egolife": 50}[style]
    text = clock.format_clock(ms, style, first_day=first_day)
    assert text.startswith(f"DAY{days_later + 1} ")
    read = clock.parse_clock(text, first_day=first_day, digits="centiseconds" if style == "centiseconds" else "frames")
    assert read == ms - ms % grain


@given(CLOCK_TIMES)
def test_auto_style_reads_back(ms):
    assert clock.parse_clock(clock.format_clock(ms)) == ms


def test_day_one_is_the_epoch_day_when_no_date_is_known():
    assert clock.parse_clock("DAY1 00:00:00") == 0
    assert clock.parse_clock("DAY3 14:05:09") == 2 * clock.DAY_MS + (14 * 3600 + 5 * 60 + 9) * 1000
    assert clock.format_clock(2 * clock.DAY_MS + 1000) == "DAY3 00:00:01"


def test_day_one_is_the_recordings_first_calendar_day_when_it_has_a_date():
    first = clock.parse_clock("2026-05-01T22:10:00")
    assert clock.parse_clock("DAY2 01:00:00", first_day=first) == clock.parse_clock("2026-05-02T01:00:00")
    assert clock.day_number(clock.parse_clock("2026-05-02T00:00:00"), first) == 2


def test_egolife_digits_count_frames_at_twenty_a_second():
    assert clock.parse_clock("DAY1 11094208") == (11 * 3600 + 9 * 60 + 42) * 1000 + 8 * 50
    assert clock.parse_clock("DAY1_9094208") == clock.parse_clock("DAY1 09094208")


def test_a_frame_past_nineteen_is_an_error_unless_centiseconds_are_asked_for():
    with pytest.raises(UsageError) as caught:
        clock.parse_clock("DAY1 11094220")
    assert "centiseconds" in caught.value.next
    assert clock.parse_clock("DAY1 11094220", digits="centiseconds") == (11 * 3600 + 9 * 60 + 42) * 1000 + 200


def test_the_same_digits_mean_other_times_in_the_two_formats():
    frames, hundredths = (clock.parse_clock("DAY1 11094210", digits=d) for d in ("frames", "centiseconds"))
    assert (frames % 1000, hundredths % 1000) == (500, 100)


@pytest.mark.parametrize(
    "text", ["DAY0 10:00:00", "DAY1 24:00:00", "DAY1 10:60:00", "2026-02-30", "14:05:09", "DAY1 x"]
)
def test_impossible_clock_times_are_refused(text):
    with pytest.raises(UsageError):
        clock.parse_clock(text)


def test_a_written_zone_keeps_the_recorders_own_reading():
    assert clock.parse_clock("2026-05-01T14:05:09+02:00") == clock.parse_clock("2026-05-01 14:05:09")


def test_a_day_or_date_alone_is_its_midnight():
    assert clock.parse_clock("DAY4") == 3 * clock.DAY_MS
    assert clock.parse_clock("2026-05-01") == clock.parse_clock("2026-05-01T00:00:00")


@pytest.mark.parametrize(
    ("name", "clock_time"),
    [
        ("DAY1_A1_JAKE_11094208.mp4", "DAY1 11:09:42.400"),
        ("A1_JAKE_DAY2_11000000.srt", "DAY2 11:00:00"),
        ("week/DAY6/day6_A1_JAKE_09000000.mp4", "DAY6 09:00:00"),
        ("2026-05-01T14-05-09.mp4", "2026-05-01T14:05:09"),
        ("2026-05-01 14.05.09.mov", "2026-05-01T14:05:09"),
        ("20260501_140509.mp4", "2026-05-01T14:05:09"),
        ("VID_20260501_140509.mp4", "2026-05-01T14:05:09"),
        ("PXL_20260501_140509123.TS.mp4", "2026-05-01T14:05:09.123"),
        ("VID-2026-05-01-14-05-09.mp4", "2026-05-01T14:05:09"),
        ("WhatsApp Video 2026-05-01 at 14.05.09.mp4", "2026-05-01T14:05:09"),
        ("Screen Recording 2026-05-01 at 2.05.09 PM.mov", "2026-05-01T14:05:09"),
        ("Screen Recording 2026-05-01 at 12.05.09 AM.mov", "2026-05-01T00:05:09"),
        ("GMT20260501-140509_Recording_1920x1080.mp4", "2026-05-01T14:05:09"),
        ("2026_0501_140509_001.MP4", None),
        ("GX010123.MP4", None),
        ("lecture 1.2.mp4", None),
        ("2026-05-01.mp4", None),
        ("20261301_140509.mp4", None),
        ("order 4711_2026.mp4", None),
    ],
)
def test_names_of_files_tell_their_start(name, clock_time):
    expected = None if clock_time is None else clock.parse_clock(clock_time)
    assert clock.clock_from_name(name) == expected


def test_a_name_whose_digits_are_no_frame_is_an_error_not_a_guess():
    with pytest.raises(UsageError):
        clock.clock_from_name("DAY1_A1_JAKE_11094299.mp4")
    assert clock.clock_from_name("DAY1_A1_JAKE_11094299.mp4", digits="centiseconds") is not None


def test_day_names_use_the_recordings_first_date():
    first = clock.parse_clock("2024-04-01")
    assert clock.clock_from_name("DAY2_A1_JAKE_11000000.mp4", first_day=first) == clock.parse_clock(
        "2024-04-02T11:00:00"
    )
