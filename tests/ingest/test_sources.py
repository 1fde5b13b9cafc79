import pytest

from videmus.errors import UsageError
from videmus.ingest.sources import sources


@pytest.fixture
def folder(tmp_path):
    for name in (
        "b.mp4", "a.MKV", "a.srt", "talk.en.vtt", "talk.webm", "alone.srt", "notes.txt", "half.mp4.part", ".hidden.mp4",
        "sub/c.wav", "sub/.git/d.mp4",
    ):  # fmt: skip
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")
    (tmp_path / "rows.json").write_text('{"videmus_evidence": 1, "title": "t"}')
    (tmp_path / "late.json").write_text('{"title": "%s", "videmus_evidence": 1}' % ("t" * 5000))
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "broken.json").write_text("{")
    return tmp_path


def names(found, folder):
    return [(s.path.relative_to(folder).as_posix(), s.kind) for s in found]


def test_a_folder_gives_its_media_transcripts_and_evidence_in_name_order(folder):
    assert names(sources([folder]), folder) == [
        ("a.MKV", "media"),
        ("alone.srt", "subtitles"),
        ("b.mp4", "media"),
        ("late.json", "evidence"),
        ("rows.json", "evidence"),
        ("sub/c.wav", "media"),
        ("talk.webm", "media"),
    ]


def test_text_as_whisper_prints_it_is_a_transcript_beside_its_video_or_alone(tmp_path):
    said = "[00:00:00.500 --> 00:00:02.000]   Good morning.\n"
    (tmp_path / "talk.wav").write_bytes(b"x")
    for name in ("talk.txt", "talk.wav.txt", "alone.txt", "notes.txt"):
        (tmp_path / name).write_text("Good morning." if name == "notes.txt" else said)
    assert names(sources([tmp_path]), tmp_path) == [("alone.txt", "subtitles"), ("talk.wav", "media")]


def test_include_and_exclude_choose_inside_a_folder(folder):
    assert names(sources([folder], include=["*.wav", "*.mp4"]), folder) == [("b.mp4", "media"), ("sub/c.wav", "media")]
    assert ("sub/c.wav", "media") not in names(sources([folder], exclude=["sub/*"]), folder)


def test_a_file_that_is_named_is_taken_whatever_it_is_called(folder):
    assert names(sources([folder / "half.mp4.part"]), folder) == [("half.mp4.part", "media")]
    assert names(sources([folder / "notes.txt"]), folder) == [("notes.txt", "subtitles")]


def test_a_thing_given_twice_is_added_once(folder):
    assert len(sources([folder / "b.mp4", folder, folder / "b.mp4"])) == len(sources([folder]))


def test_addresses_are_left_as_they_are():
    (only,) = sources(["https://example.org/a.mp4?x=1"])
    assert (only.kind, only.address, only.path) == ("address", "https://example.org/a.mp4?x=1", None)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.mp4"):
        sources([tmp_path / "none.mp4"])
    with pytest.raises(UsageError, match="nothing to add"):
        sources([tmp_path])
