from __future__ import annotations

from pathlib import Path

import pytest

from material import grey, make_video
from videmus.errors import SubtitleError
from videmus.media.probe import Probe, SubtitleStream
from videmus.media.subtitles import embedded, find_sidecar, language_of, read, same_language, unreadable_streams

FRAMES = [(100 * n, grey(50)) for n in range(40)]
SRT = "1\n00:00:01,000 --> 00:00:04,000\n{}\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe, Übung, déjà vu — “naïve”", "utf-8"),
        ("Größe und Straße", "utf-8-sig"),
        ("Größe und Straße", "utf-16"),
        ("Größe und Straße", "utf-16-le"),
        ("Größe und Straße", "utf-16-be"),
        ("Größe und Straße", "utf-32"),
        ("Bonjour à tous, nous étudierons l'élévation là où la forêt s'arrête, déjà.", "cp1252"),
        ("It’s “quoted” — and that’s all.", "cp1252"),
        ("Сегодня мы поговорим о том, как устроены нейронные сети. Ещё раз.", "cp1251"),
        ("今日は機械学習について話します。データを使ってモデルを訓練します。", "cp932"),
        ("今日は機械学習について話します。データを使ってモデルを訓練します。", "euc_jp"),
        ("大家好，今天我们来讲机器学习的基本概念。首先，我们需要了解数据和模型。", "gb18030"),
        ("大家好，今天我們來講機器學習的基本概念。首先，我們需要了解數據和模型。", "big5"),
        ("안녕하세요. 오늘은 기계 학습에 대해 이야기하겠습니다.", "cp949"),
    ],
)
def test_any_encoding_is_read(tmp_path: Path, text: str, encoding: str):
    path = tmp_path / "talk.srt"
    path.write_bytes(SRT.format(text).encode(encoding))
    assert [cue.text for cue in read(path)] == [text]


def test_one_damaged_byte_does_not_change_the_encoding(tmp_path: Path):
    path = tmp_path / "talk.srt"
    path.write_bytes(SRT.format("Größe und Übung und Straße. " * 20).encode() + b"\xff")
    assert read(path).encoding == "utf-8" and "Größe" in read(path).cues[0].text


def test_a_file_says_its_format_language_and_cues(tmp_path: Path):
    path = tmp_path / "talk.pt-BR.vtt"
    path.write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>Olá\n", "utf-8")
    found = read(path)
    assert (found.format, found.language, len(found)) == ("vtt", "pt-BR", 1)
    assert next(iter(found)).speaker == "Ana"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (b"  \n\n ", "empty"),
        (b"Only prose, without a clock.", "no text with times"),
        (b"\x00\x01\x02\x03" * 100, "not a text file"),
    ],
)
def test_what_is_no_subtitle_file_is_told_kindly(tmp_path: Path, content: bytes, what: str):
    path = tmp_path / "talk.srt"
    path.write_bytes(content)
    with pytest.raises(SubtitleError, match=what) as caught:
        read(path)
    assert caught.value.where == str(path) and caught.value.next


def test_a_missing_file_and_a_folder_are_told_kindly(tmp_path: Path):
    for path in (tmp_path / "none.srt", tmp_path):
        with pytest.raises(SubtitleError, match="cannot be read"):
            read(path)


# ---------------------------------------------------------------- beside a video


@pytest.mark.parametrize(
    ("files", "language", "expected"),
    [
        (["lecture.srt"], None, "lecture.srt"),
        (["lecture.en.vtt", "lecture.de.vtt"], None, "lecture.en.vtt"),
        (["lecture.en.vtt", "lecture.de.vtt"], "de", "lecture.de.vtt"),
        (["lecture.en.vtt", "lecture.ger.srt"], "de", "lecture.ger.srt"),
        (["lecture.fr.srt", "lecture.srt"], None, "lecture.srt"),
        (["lecture.fr.srt", "lecture.srt"], "de", "lecture.srt"),
        (["lecture.fr.srt"], "de", None),
        (["lecture.fr.srt"], None, "lecture.fr.srt"),
        (["lecture.en.sdh.srt"], None, "lecture.en.sdh.srt"),
        (["lecture.en.forced.srt"], None, None),
        (["lecture.words.txt"], None, "lecture.words.txt"),
        (["lecture.srt", "lecture.vtt"], None, "lecture.vtt"),
        (["Lecture.SRT"], None, "Lecture.SRT"),
        (["lecture.2.srt"], None, None),
        (["lecture 2.srt", "lecture2.srt", "mylecture.srt", "lecture.txt", "lecture.json"], None, None),
        (["lecture.en.srt", "lecture.en.mp4"], None, None),
        ([], None, None),
    ],
)
def test_the_subtitles_beside_a_video_are_its_own(
    tmp_path: Path, files: list[str], language: str | None, expected: str | None
):
    for name in ["lecture.mp4", *files]:
        (tmp_path / name).touch()
    found = find_sidecar(tmp_path / "lecture.mp4", language)
    assert (found.name if found else None) == expected


WHISPER = "[00:00:00.500 --> 00:00:02.000]   Good morning.\n[00:00:02.000 --> 00:00:04.000]   Sit down.\n"


@pytest.mark.parametrize("name", ["lecture.txt", "lecture.mp4.txt", "Lecture.TXT", "lecture.en.txt"])
@pytest.mark.parametrize(
    ("content", "taken"),
    [
        (WHISPER, True),
        ("\ufeff" + WHISPER, True),
        ("Detected language: English\n" + WHISPER, True),
        ("12:30 Good morning.\n13:00 Sit down.\n", False),
        ("Notes: at [00:00:00.500 --> 00:00:02.000] he coughs.\n" + WHISPER[:50] + "\nProse.\n" * 3, False),
        ("", False),
        ("\x00\x01", False),
    ],
)
def test_text_beside_a_video_is_its_subtitles_where_it_is_as_whisper_prints_it(
    tmp_path: Path, name: str, content: str, taken: bool
):
    (tmp_path / "lecture.mp4").touch()
    (tmp_path / name).write_text(content, "utf-8")
    assert find_sidecar(tmp_path / "lecture.mp4") == (tmp_path / name if taken else None)


def test_subtitles_named_after_the_whole_file_are_of_that_file(tmp_path: Path):
    for name in ("talk.mp4", "talk.wav", "talk.wav.srt"):
        (tmp_path / name).touch()
    assert find_sidecar(tmp_path / "talk.wav", "de") == tmp_path / "talk.wav.srt"
    assert find_sidecar(tmp_path / "talk.mp4") is None
    (tmp_path / "talk.mp4.srt").touch()
    assert find_sidecar(tmp_path / "talk.mp4") == tmp_path / "talk.mp4.srt"
    for name in ("old.aiff", "old.aiff.en.srt"):
        (tmp_path / name).touch()
    assert find_sidecar(tmp_path / "old.aiff") == tmp_path / "old.aiff.en.srt"
    assert language_of(Path("talk.mp4.srt")) is None and language_of(Path("talk.en.wav.srt")) == "en"


def test_numbered_lectures_do_not_take_each_others_subtitles(tmp_path: Path):
    for name in ("Lecture 1.mp4", "Lecture 1.2.mp4", "Lecture 1.2.srt"):
        (tmp_path / name).touch()
    assert find_sidecar(tmp_path / "Lecture 1.mp4") is None
    assert find_sidecar(tmp_path / "Lecture 1.2.mp4") == tmp_path / "Lecture 1.2.srt"


def test_a_missing_folder_has_no_subtitles(tmp_path: Path):
    assert find_sidecar(tmp_path / "none" / "lecture.mp4") is None


def test_languages_are_one_by_any_of_their_tags():
    assert same_language("en", "eng") and same_language("en-US", "en") and same_language("deu", "ger")
    assert not same_language("en", "de")
    assert language_of(Path("a.b.en.srt")) == "en" and language_of(Path("Dr. Who.srt")) is None


# ---------------------------------------------------------------- inside a video


@pytest.fixture(scope="module")
def two_languages(media_folder: Path) -> Path:
    return make_video(
        media_folder / "subtitled.mkv",
        FRAMES,
        end_ms=4_000,
        start_ms=10_000,
        subtitles=[
            ("srt", "eng", [(500, 1_500, "Hello\\Nthere"), (2_000, 3_000, "Second")]),
            ("ass", "deu", [(500, 1_500, "{\\i1}Hallo{\\i0}")]),
        ],
    )


def test_embedded_subtitles_are_chosen_by_language_and_timed_from_the_first_moment(two_languages: Path):
    english, german = embedded(two_languages), embedded(two_languages, "de")
    assert english is not None and german is not None
    assert [(c.start_ms, c.end_ms, c.text) for c in english] == [(500, 1_500, "Hello there"), (2_000, 3_000, "Second")]
    assert (german.language, [c.text for c in german]) == ("deu", ["Hallo"])
    assert embedded(two_languages, "fr") is None


def test_subtitles_of_an_mp4_are_read(tmp_path: Path):
    path = make_video(
        tmp_path / "a.mp4", FRAMES, subtitles=[("mov_text", "eng", [(500, 1_500, "Hello"), (2_000, 2_500, "you")])]
    )
    found = embedded(path)
    assert found is not None and [(c.start_ms, c.text) for c in found] == [(500, "Hello"), (2_000, "you")]


def test_a_video_without_subtitles_has_none(steps_video: Path):
    assert embedded(steps_video) is None


def test_pictures_of_text_are_named_as_unreadable():
    streams = tuple(SubtitleStream(n, codec, None, False) for n, codec in enumerate(("hdmv_pgs_subtitle", "subrip")))
    probe = Probe(Path("x.mkv"), "matroska", 1, 0, None, (), streams)
    assert unreadable_streams(probe) == ("hdmv_pgs_subtitle",)
