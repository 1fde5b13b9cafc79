"""What is said in a file becomes rows of speech: in its language, in its time, once, and after a break from there on."""

from __future__ import annotations

import wave
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from videmus.config import ModelSettings, Settings
from videmus.errors import MediaError, UsageError
from videmus.media.captions import Cue
from videmus.model import SpeechDetail, Word
from videmus.models.speech import RATE, VOICE_HOP, Heard, HeardWord, ScriptedRecogniser, SpeechMinds
from videmus.perceive.speech import detected_language, from_cues, hear

HEARING = Settings().speech
SETTINGS = Settings(speech=replace(HEARING, hole_ms=60_000))  # scripts are shorter than the sounds they stand for


def voice(samples: np.ndarray) -> np.ndarray:
    """A voice wherever there is sound."""
    return (np.abs(samples.reshape(-1, VOICE_HOP)).max(1) > 0.01).astype(np.float32)


def write(path: Path, seconds: float, *spans: tuple[float, float]) -> Path:
    """A file with a tone in each span and silence elsewhere."""
    samples = np.zeros(round(seconds * RATE), np.int16)
    for start, end in spans:
        t = np.arange(round((end - start) * RATE)) / RATE
        samples[round(start * RATE) :][: len(t)] = 8000 * np.sin(2 * np.pi * 300 * t)
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(samples.tobytes())
    return path


def heard(text: str, *, start: float = 0.3, word: float = 0.4, probability: float = 0.9, **measures) -> Heard:
    words = [
        HeardWord(start + i * word, start + (i + 1) * word, f" {w}", probability) for i, w in enumerate(text.split())
    ]
    return Heard(f" {text}", tuple(words), **{"log_probability": -0.2, **measures})


def minds(script, *, languages=None, multilingual=True, speech="") -> tuple[SpeechMinds, dict[str, ScriptedRecogniser]]:
    """Scripted recognisers by name, each made when it is first asked for."""
    made: dict[str, ScriptedRecogniser] = {}

    def load(name: str, threads: int) -> ScriptedRecogniser:
        english = name.endswith(".en") or not multilingual
        made[name] = ScriptedRecogniser(script, name=name, multilingual=not english, languages=languages)
        return made[name]

    return SpeechMinds(ModelSettings(speech=speech), load, voice), made


def test_rows_are_sentences_at_their_times_in_the_video(tmp_path):
    path = write(tmp_path / "a.wav", 60, (10, 13), (20, 23))
    speech, _ = minds([heard("One two three. Four five six."), heard("unused")])
    first, second = hear(path, "v1", speech, SETTINGS, language="en")
    assert (first.text, second.text) == ("One two three.", "Four five six.")
    assert first.kind == "speech"
    assert first.video == "v1"
    assert abs(first.start_ms - 10_100) < 40  # the utterance is cut out 200 ms before its voice begins
    assert second.start_ms == first.end_ms
    assert isinstance(first.detail, SpeechDetail)
    assert [w.text for w in first.detail.words] == ["One", "two", "three."]
    assert first.detail.words[0].start_ms == first.start_ms


def test_times_are_true_across_silence_that_was_cut_out(tmp_path):
    path = write(tmp_path / "a.wav", 60, (10, 13), (20, 23))
    words = (HeardWord(0.5, 1.0, " before", 0.9), HeardWord(1.0, 1.4, " it.", 0.9), HeardWord(4.0, 4.5, " After", 0.9))
    speech, _ = minds([Heard(" before it. After", words)])
    first, second = hear(path, "v1", speech, SETTINGS, language="en")
    assert abs(first.start_ms - 10_300) < 40
    assert 20_000 < second.start_ms < 21_000


def test_only_speech_is_recognised(tmp_path):
    path = write(tmp_path / "a.wav", 60, (50, 53))
    speech, made = minds([heard("It is here now.")])
    list(hear(path, "v1", speech, SETTINGS, language="en"))
    [(length, _)] = made["whisper-tiny.en"].asked
    assert 3 * RATE <= length <= 3.6 * RATE


def test_a_file_in_which_nobody_speaks_has_no_rows_and_says_so(tmp_path):
    path = write(tmp_path / "a.wav", 30)
    speech, made = minds([])
    notices: list[str] = []
    assert list(hear(path, "v1", speech, SETTINGS, notice=notices.append)) == []
    assert notices == ["nobody speaks in it"]
    assert not made


# ---------------------------------------------------------------- language and model


def test_english_is_heard_by_the_english_model_and_german_by_the_multilingual_one(tmp_path):
    path = write(tmp_path / "a.wav", 20, (2, 8))
    for language, model in (("en", "whisper-tiny.en"), ("de", "whisper-base")):
        speech, made = minds([heard("Drei vier fünf sechs.")], languages={language: 0.9, "fr": 0.1})
        [row] = hear(path, "v1", speech, SETTINGS)
        assert row.origin.model == model
        assert row.detail.language == language
        assert made[model].asked[-1][1] == language


def test_the_language_is_what_most_of_several_windows_say(tmp_path):
    path = write(tmp_path / "a.wav", 100, *((t, t + 8) for t in range(0, 100, 10)))
    votes = iter([{"en": 0.6, "de": 0.4}, {"de": 0.7, "en": 0.3}, {"de": 0.8, "en": 0.2}])
    speech, _ = minds([])
    speech.detector().languages = lambda chunk: next(votes)
    assert detected_language(path, 100_000, speech, SETTINGS.speech) == "de"


def test_a_language_seldom_lectured_in_needs_near_certainty(tmp_path):
    path = write(tmp_path / "a.wav", 20, (2, 8))
    for probabilities, language in (({"la": 0.6, "en": 0.2}, "en"), ({"la": 0.95, "en": 0.05}, "la")):
        speech, _ = minds([], languages=probabilities)
        assert detected_language(path, 20_000, speech, SETTINGS.speech) == language


def test_no_voice_gives_no_language(tmp_path):
    speech, _ = minds([])
    assert detected_language(write(tmp_path / "a.wav", 20), 20_000, speech, SETTINGS.speech) is None


def test_a_language_is_found_where_it_was_not_looked_for(tmp_path):
    path = write(tmp_path / "a.wav", 120, (3, 9))  # before the first place that is looked at
    speech, _ = minds([heard("Nous parlons de cela.")], languages={"fr": 0.9})
    [row] = hear(path, "v1", speech, SETTINGS)
    assert row.detail.language == "fr"


def test_an_english_only_model_told_to_hear_german_is_refused_before_anything_is_read(tmp_path):
    speech, made = minds([])
    with pytest.raises(UsageError, match=r"'small\.en' hears English only") as caught:
        list(hear(tmp_path / "absent.mp4", "v1", speech, SETTINGS, language="de", speech_model="small.en"))
    assert "--speech-model" in caught.value.next
    assert not made


def test_an_english_only_model_that_meets_german_is_refused(tmp_path):
    path = write(tmp_path / "a.wav", 20, (2, 8))
    speech, _ = minds([heard("x")], languages={"de": 0.9})
    with pytest.raises(UsageError, match="hears English only"):
        list(hear(path, "v1", speech, SETTINGS, speech_model="small.en"))


def test_a_named_model_hears_everything(tmp_path):
    path = write(tmp_path / "a.wav", 20, (2, 8))
    speech, made = minds([heard("One two three.")], speech="small")
    [row] = hear(path, "v1", speech, replace(SETTINGS, models=ModelSettings(speech="small")))
    assert row.origin.model == "small"
    assert set(made) == {"small"}


# ---------------------------------------------------------------- what was not said


@pytest.mark.parametrize(
    "result",
    [
        heard("Thank you for watching.", no_speech=0.8, log_probability=-1.2),
        heard("Thanks.", start=30.0),  # outside of what was voiced: at the very end, where no voice is
        Heard("", no_speech=1.0),
    ],
)
def test_text_in_silence_is_dropped(tmp_path, result):
    path = write(tmp_path / "a.wav", 20, (2, 4))
    speech, _ = minds([result])
    assert list(hear(path, "v1", speech, SETTINGS, language="en")) == []


def test_a_doubtful_voice_makes_doubtful_text_silence(tmp_path):
    path = write(tmp_path / "a.wav", 20, (2, 8))
    result = heard("La la la.", no_speech=0.4, log_probability=-0.7)
    sure, _ = minds([result])
    doubtful, _ = minds([result])
    doubtful._voice = lambda samples: np.where(voice(samples) > 0, 0.55, 0.0).astype(np.float32)
    assert len(list(hear(path, "v1", sure, SETTINGS, language="en"))) == 1
    assert list(hear(path, "v1", doubtful, SETTINGS, language="en")) == []


def test_a_loop_is_said_once(tmp_path):
    path = write(tmp_path / "a.wav", 40, (2, 28))
    speech, _ = minds([heard("we go on and " * 12 + "stop.", compression=6.0)])
    rows = list(hear(path, "v1", speech, SETTINGS, language="en"))
    assert " ".join(row.text for row in rows) == "we go on and stop."


def test_text_of_low_probability_is_marked(tmp_path):
    path = write(tmp_path / "a.wav", 20, (2, 8))
    for probability, uncertain in ((0.9, False), (0.3, True)):
        speech, _ = minds([heard("One two three.", probability=probability)])
        [row] = hear(path, "v1", speech, SETTINGS, language="en")
        assert row.detail.uncertain is uncertain


def test_what_the_recogniser_left_out_of_a_chunk_is_asked_for_again(tmp_path):
    path = write(tmp_path / "a.wav", 30, (2, 5), (6, 10), (12, 15))
    speech, made = minds([heard("One two three."), heard("Four five six."), heard("Seven eight nine.")])
    rows = list(hear(path, "v1", speech, replace(SETTINGS, speech=HEARING), language="en"))
    lengths = [length / RATE for length, _ in made["whisper-tiny.en"].asked]
    assert [row.text for row in rows] == ["One two three.", "Four five six.", "Seven eight nine."]
    assert lengths == sorted(lengths, reverse=True)
    assert rows[0].end_ms <= rows[1].start_ms
    assert abs(lengths[0] - lengths[1] - 1.5) < 0.1  # the second time begins where the first words ended


def test_a_recogniser_that_hears_nothing_more_is_not_asked_for_ever(tmp_path):
    path = write(tmp_path / "a.wav", 30, (2, 20))
    speech, made = minds(lambda samples, language: heard("One two three.", word=0.3))
    list(hear(path, "v1", speech, replace(SETTINGS, speech=HEARING), language="en"))
    assert len(made["whisper-tiny.en"].asked) == 3


# ---------------------------------------------------------------- long files


def long_talk(samples: np.ndarray, language: str) -> Heard:
    """Says how long the chunk is: the same chunk gives the same words."""
    return heard(f"This chunk has {len(samples)} samples. It is rather long, isn't it?")


def test_a_run_that_was_stopped_goes_on_without_recognising_again_what_came_before(tmp_path):
    settings = replace(SETTINGS, speech=replace(SETTINGS.speech, chunk_ms=9_000, batch=2))
    path = write(tmp_path / "a.wav", 90, *((t, t + 4.5 - t % 3) for t in range(0, 90, 5)))
    whole, made = minds(long_talk)
    rows = list(hear(path, "v1", whole, settings, language="en"))
    chunks = len(made["whisper-tiny.en"].asked)
    assert chunks > 4
    for stopped_after, left in ((1, chunks), (len(rows) // 2, chunks // 2 + 2), (len(rows), 2)):
        first, _ = minds(long_talk)
        done = list(islice(hear(path, "v1", first, settings, language="en"), stopped_after))
        second, made = minds(long_talk)
        rest = list(hear(path, "v1", second, settings, language="en", done=done))
        assert list({row.id: row for row in [*done, *rest]}.values()) == rows
        assert len(made["whisper-tiny.en"].asked) <= left


def test_the_language_of_a_stopped_run_is_kept(tmp_path):
    path = write(tmp_path / "a.wav", 60, (2, 8))
    speech, _ = minds(long_talk, languages={"de": 0.9})
    done = list(islice(hear(path, "v1", speech, SETTINGS), 1))
    again, _ = minds(long_talk, languages={"fr": 0.9})
    assert {row.detail.language for row in hear(path, "v1", again, SETTINGS, done=done)} == {"de"}


def test_how_far_it_is_is_told_after_one_chunk_then_after_two_and_so_on_to_a_whole_batch(tmp_path):
    path = write(tmp_path / "a.wav", 100, *((t, t + 4) for t in range(0, 100, 5)))
    settings = replace(SETTINGS, speech=replace(SETTINGS.speech, chunk_ms=5_000, batch=4))
    speech, made = minds([heard("Again.")] * 40)
    seen: list[int] = []
    told = lambda done, of: seen.append(len(made["whisper-tiny.en"].asked))  # noqa: E731
    list(hear(path, "v1", speech, settings, language="en", progress=told))
    assert seen[:4] == [1, 3, 7, 11]


def test_progress_grows_to_the_length(tmp_path):
    path = write(tmp_path / "a.wav", 150, *((t, t + 9) for t in range(0, 150, 10)))
    seen: list[tuple[int, int]] = []
    speech, _ = minds(long_talk)
    list(hear(path, "v1", speech, SETTINGS, language="en", progress=lambda done, of: seen.append((done, of))))
    assert seen == sorted(seen)
    assert {of for _, of in seen} == {150_000}
    assert seen[-1][0] > 145_000


def test_ids_follow_from_content(tmp_path):
    path = write(tmp_path / "a.wav", 20, (2, 8))
    ids = [
        [row.id for row in hear(path, video, minds(long_talk)[0], SETTINGS, language="en")]
        for video in ("v1", "v1", "v2")
    ]
    assert ids[0] == ids[1]
    assert not set(ids[0]) & set(ids[2])


def test_a_file_without_sound_is_an_error_that_says_so(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"no media at all")
    with pytest.raises(MediaError):
        list(hear(path, "v1", minds([])[0], SETTINGS, language="en"))


# ---------------------------------------------------------------- subtitles


def test_cues_become_rows_with_their_speakers_and_words():
    cues = [
        Cue(0, 2000, "The learning rate", "Ann", (Word(0, 2000, "The learning rate"),)),
        Cue(2000, 4000, "is too high.", "Ann"),
        Cue(4000, 5000, "Really?", "Ben"),
        Cue(5000, 6000, "  ", "Ben"),
    ]
    first, second = from_cues("v1", cues, language="en")
    assert (first.text, first.start_ms, first.end_ms, first.speaker) == (
        "The learning rate is too high.",
        0,
        4000,
        "Ann",
    )
    assert (second.text, second.speaker) == ("Really?", "Ben")
    assert first.origin.settings == {"from": "subtitles"}
    assert first.detail.language == "en"
    assert not first.detail.uncertain


def test_every_word_of_the_cues_is_in_the_rows():
    cues = [Cue(i * 1500, i * 1500 + 1400, f"piece {i} of it" + ("." if i % 5 == 4 else "")) for i in range(100)]
    text = " ".join(row.text for row in from_cues("v1", cues))
    assert text == " ".join(cue.text for cue in cues)
