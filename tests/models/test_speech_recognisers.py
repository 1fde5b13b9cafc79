"""Recognisers of every kind keep one contract; names, languages and failures are told kindly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from videmus.config import ModelSettings
from videmus.errors import ModelError, UsageError
from videmus.media.audio import AudioReader
from videmus.models import speech, weights
from videmus.models.speech import RATE, VOICE_HOP, FasterWhisper, Heard, HeardWord, ScriptedRecogniser, SpeechMinds

SAMPLE = Path(__file__).parents[2] / "examples" / "sample_lecture.mp4"


@pytest.fixture(scope="session")
def talk() -> np.ndarray:
    """Twelve seconds of the sample lecture."""
    return next(iter(AudioReader(SAMPLE, start_ms=0, block=12 * RATE)))


@pytest.fixture(scope="session")
def tiny_en() -> FasterWhisper:
    return FasterWhisper("whisper-tiny.en", weights.folder("whisper-tiny.en"), 1)


@pytest.fixture(params=["scripted", "tiny.en"])
def recogniser(request):
    if request.param == "tiny.en":
        return request.getfixturevalue("tiny_en")
    words = (HeardWord(0.0, 0.5, " Good", 0.9), HeardWord(0.5, 1.0, " morning.", 0.9))
    return ScriptedRecogniser(lambda samples, language: Heard(" Good morning.", words), multilingual=False)


def test_each_chunk_gives_one_result_whose_words_lie_in_it_in_order(recogniser, talk):
    chunks = [talk, talk[: 5 * RATE]]
    results = recogniser.recognise(chunks, "en")
    assert len(results) == 2
    for chunk, result in zip(chunks, results, strict=True):
        assert result.text.strip() == "".join(w.text for w in result.words).strip()
        starts = [w.start for w in result.words]
        assert starts == sorted(starts)
        assert all(0 <= w.start <= w.end <= len(chunk) / RATE + 0.5 for w in result.words)
        assert all(0 <= w.probability <= 1 for w in result.words)
        assert result.log_probability <= 0


def test_an_english_only_recogniser_refuses_another_language(recogniser, talk):
    with pytest.raises(UsageError, match="hears English only"):
        recogniser.recognise([talk], "de")
    assert recogniser.languages(talk) == {}


def test_the_same_sound_is_heard_the_same_way(tiny_en, talk):
    assert tiny_en.recognise([talk], "en") == tiny_en.recognise([talk], "en")


def test_a_text_that_loops_is_heard_again_without_repetition(tiny_en, talk, monkeypatch):
    asked: list[dict] = []

    def looping(chunks, language, **options):
        asked.append(options)
        return [Heard("no no no", compression=2.0 if options else 9.0, log_probability=-0.1) for _ in chunks]

    monkeypatch.setattr(tiny_en, "_heard", looping)
    [result] = tiny_en.recognise([talk], "en")
    assert result.compression == 2.0
    assert asked == [{}, {"no_repeat_ngram_size": 4}]


def test_the_voice_detector_tells_speech_from_silence_and_noise(talk):
    detect = speech.silero()
    whole = talk[: len(talk) // VOICE_HOP * VOICE_HOP]
    noise = np.random.default_rng(0).normal(0, 0.05, len(whole)).astype(np.float32)
    assert len(detect(whole)) == len(whole) // VOICE_HOP
    assert detect(whole).mean() > 0.5
    assert detect(noise).mean() < 0.1
    assert detect(np.zeros_like(whole)).mean() < 0.1


# ---------------------------------------------------------------- which recogniser


def minds(**settings) -> tuple[SpeechMinds, list[str]]:
    loaded: list[str] = []

    def load(name: str, threads: int) -> ScriptedRecogniser:
        loaded.append(name)
        return ScriptedRecogniser([], name=name, multilingual=name != "english-finetune")

    return SpeechMinds(ModelSettings(**settings), load), loaded


def test_a_recogniser_is_loaded_once_and_only_when_asked_for():
    held, loaded = minds()
    assert loaded == []
    assert held.recogniser("en") is held.recogniser("en")
    assert loaded == ["whisper-tiny.en"]
    assert held.recogniser("de").name == "whisper-base"
    assert held.detector() is held.recogniser("fr")


def test_a_named_model_comes_before_the_settings_and_the_settings_before_the_bundled():
    held, _ = minds(speech="small")
    assert held.recogniser("de").name == "small"
    assert held.recogniser("de", "medium").name == "medium"
    assert held.detector().name == "small"
    assert held.detector("medium.en").name == "whisper-base"


@pytest.mark.parametrize("name", ["small.en", "/models/base.en", "english-finetune"])
def test_an_english_only_model_is_refused_for_other_languages(name):
    held, _ = minds()
    with pytest.raises(UsageError, match="English only"):
        held.recogniser("de", name)
    assert held.recogniser("en", name).name == name


def test_a_name_that_is_no_model_is_refused_with_the_names_that_are():
    with pytest.raises(UsageError, match="no speech model 'smal'") as caught:
        speech.load_recogniser("smal", 1)
    assert "small" in caught.value.next


def test_a_model_that_cannot_be_fetched_says_what_to_do(monkeypatch):
    import faster_whisper.utils

    def offline(name, local_files_only=False):
        raise FileNotFoundError(name) if local_files_only else ConnectionError("no network")

    monkeypatch.setattr(faster_whisper.utils, "download_model", offline)
    with pytest.raises(ModelError, match="'small' is not on this machine") as caught:
        speech.load_recogniser("small", 1)
    assert "models install --from" in caught.value.next


def test_a_folder_without_a_model_and_a_damaged_model_are_named(tmp_path):
    with pytest.raises(ModelError, match="no faster-whisper model"):
        speech.load_recogniser(str(tmp_path), 1)
    (tmp_path / "model.bin").write_bytes(b"rubbish")
    with pytest.raises(ModelError, match="cannot be loaded"):
        speech.load_recogniser(str(tmp_path), 1)


def test_the_script_that_ends_says_so(talk):
    scripted = ScriptedRecogniser([Heard("one")])
    assert scripted.recognise([talk], "en") == [Heard("one")]
    with pytest.raises(ModelError, match="no further result"):
        scripted.recognise([talk], "en")


def test_the_room_is_entered_without_loading_a_model_runtime():
    code = (
        "import sys, videmus.models.speech; print({'faster_whisper', 'ctranslate2', 'onnxruntime'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
