"""Speech recognisers and voice detection, behind two small protocols.

Enters: mono samples at 16 kHz. Leaves: words with their times in those samples, and how likely each is. The bundled
recognisers are Whisper base (multilingual) and Whisper tiny.en, run by faster-whisper in int8; any other
faster-whisper model is a folder, one that was installed, or a name that is fetched from its hub once. A scripted one is
here for tests. Knows nothing of files, videos or evidence.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from videmus.config import ModelSettings
from videmus.errors import ModelError, UsageError
from videmus.models import bundled, weights

Samples = NDArray[np.float32]

RATE = 16_000

VOICE_HOP = 512
"""Samples of one voice probability: 32 ms, what Silero looks at."""

LONGEST = 30 * RATE
"""What Whisper takes in at once."""

LOOP = 2.4
"""Text that compresses better than this is a loop (Whisper's own limit); it is heard again with repetition forbidden."""


@dataclass(frozen=True, slots=True)
class HeardWord:
    """`start` and `end` in seconds of the chunk; `text` with the space before it, where the language has spaces."""

    start: float
    end: float
    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class Heard:
    """What one chunk of at most 30 s said. `no_speech` is the model's own probability that nobody spoke;
    `compression` the ratio by which the text compresses."""

    text: str
    words: tuple[HeardWord, ...] = ()
    log_probability: float = 0.0
    no_speech: float = 0.0
    compression: float = 1.0


class SpeechRecogniser(Protocol):
    name: str
    multilingual: bool

    def recognise(self, chunks: Sequence[Samples], language: str) -> list[Heard]:
        """One result for each chunk of at most 30 s. Raises UsageError for a language that the model does not know."""

    def languages(self, chunk: Samples) -> Mapping[str, float]:
        """The probability of each language of a chunk of at most 30 s; {} from a model of one language."""


VoiceDetector = Callable[[Samples], NDArray[np.float32]]
"""Samples, a multiple of 512 → the probability of a voice in each 32 ms."""


class SpeechMinds:
    """The recognisers that hearing works with, each loaded when first asked for; `load` is for tests."""

    def __init__(
        self,
        settings: ModelSettings,
        load: Callable[[str, int], SpeechRecogniser] | None = None,
        voice: VoiceDetector | None = None,
    ) -> None:
        self.settings = settings
        self._load = load or load_recogniser
        self._voice = voice
        self._loaded: dict[str, SpeechRecogniser] = {}
        self._lock = threading.RLock()

    def named(self, name: str) -> SpeechRecogniser:
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._made(name)
            return self._loaded[name]

    def _made(self, name: str) -> SpeechRecogniser:
        from videmus.models.remote_streams import RemoteRecogniser, is_remote

        return RemoteRecogniser(name, self.settings) if is_remote(name) else self._load(name, self.settings.threads)

    def detector(self, name: str = "") -> SpeechRecogniser:
        """What tells languages apart: the named model where it is multilingual, else the bundled one."""
        name = name or self.settings.speech
        if name and not english_only(name) and (chosen := self.named(name)).multilingual:
            return chosen
        return self.named(bundled.BASE)

    def recogniser(self, language: str, name: str = "") -> SpeechRecogniser:
        """What hears `language`: the named model, else the bundled one that is best at it.

        Raises UsageError where the named model hears English only and the language is another.
        """
        name = name or self.settings.speech
        if not name:
            return self.named(bundled.TINY_EN if language == "en" else bundled.BASE)
        if english_only(name) and language != "en":
            raise _wrong_language(name, language)
        chosen = self.named(name)
        if not chosen.multilingual and language != "en":
            raise _wrong_language(name, language)
        return chosen

    def check(self, language: str | None, name: str = "") -> None:
        """Raises what hearing would: UsageError for a language that is none or that the named model does not hear,
        ModelError for a model that is not there.
        """
        from faster_whisper.tokenizer import _LANGUAGE_CODES

        code = language.lower().split("-")[0] if language else "en"
        if code not in _LANGUAGE_CODES:
            raise UsageError(
                f"there is no language {language!r}", where="language", next="write its code: en, de, fr, es, zh, ja, …"
            )
        self.recogniser(code, name)

    @property
    def voice(self) -> VoiceDetector:
        with self._lock:
            if self._voice is None:
                self._voice = silero()
            return self._voice


def english_only(name: str) -> bool:
    """Whether a model's name says that it hears English alone."""
    return Path(name).name.endswith(".en")


def _wrong_language(name: str, language: str) -> UsageError:
    return UsageError(
        f"the speech model {name!r} hears English only; the language is {language!r}",
        where="speech model",
        next="leave --speech-model out, name a multilingual one such as small, or say --language en",
    )


# ---------------------------------------------------------------- faster-whisper


def load_recogniser(name: str, threads: int) -> SpeechRecogniser:
    """A recogniser by name: bundled, installed, a folder, or any faster-whisper model of its hub (fetched once).

    Raises ModelError where it is not on this machine and cannot be fetched.
    """
    return FasterWhisper(name, _folder_of(name), threads)


def _folder_of(name: str) -> Path:
    if name in bundled.BUNDLED or weights.installed(name) is not None:
        return weights.folder(name)
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "model.bin").is_file():
            raise ModelError(
                "that folder holds no faster-whisper model",
                where=name,
                next="it needs model.bin, config.json, tokenizer.json and vocabulary.txt",
            )
        return path
    if name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise ModelError("there is no such folder", where=name, next="name the folder that holds the speech model")
    return _from_hub(name)


def _from_hub(name: str) -> Path:
    from faster_whisper.utils import available_models, download_model

    if "/" not in name and name not in available_models():
        raise UsageError(
            f"there is no speech model {name!r}",
            where="speech model",
            next=f"known: {', '.join(available_models())}; a folder, or owner/name on the hub",
        )
    with suppress(FileNotFoundError):  # the hub's client says so where the model is not in its cache yet
        return Path(download_model(name, local_files_only=True))
    weights.notices.info("fetching the speech model %s from its hub; once", name)
    try:
        return Path(download_model(name))
    except Exception as error:
        raise ModelError(
            f"the speech model {name!r} is not on this machine and could not be fetched: {type(error).__name__}",
            where="huggingface.co",
            next="connect to the network once, bring its folder with `videmus models install --from DIR`, "
            "or leave --speech-model out: the bundled models need no network",
        ) from error


class FasterWhisper:
    """Whisper in CTranslate2, int8, beam 1, nothing conditioned on earlier text."""

    def __init__(self, name: str, folder: Path, threads: int) -> None:
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        from faster_whisper import BatchedInferencePipeline, WhisperModel

        self.name = name
        try:
            self._model = WhisperModel(
                str(folder),
                device="cpu",
                compute_type="int8",
                cpu_threads=threads,
                num_workers=1,
                local_files_only=True,
            )
        except Exception as error:
            raise ModelError(
                f"the speech model {name!r} cannot be loaded: {error}",
                where=str(folder),
                next="install it again, or leave --speech-model out",
            ) from error
        self._batched = BatchedInferencePipeline(self._model)
        self.multilingual = bool(self._model.model.is_multilingual)

    def languages(self, chunk: Samples) -> Mapping[str, float]:
        if not self.multilingual:
            return {}
        _, _, found = self._model.detect_language(chunk[:LONGEST])
        return dict(found)

    def recognise(self, chunks: Sequence[Samples], language: str) -> list[Heard]:
        if not self.multilingual and language != "en":
            raise _wrong_language(self.name, language)
        if language not in self._model.supported_languages:
            raise UsageError(
                f"the speech model {self.name!r} does not know the language {language!r}",
                where="language",
                next=f"known: {', '.join(sorted(self._model.supported_languages))}",
            )
        heard = self._heard(chunks, language)
        for index, result in enumerate(heard):
            if result.compression > LOOP:
                again = self._heard([chunks[index]], language, no_repeat_ngram_size=4)[0]
                if again.compression < result.compression:
                    heard[index] = again
        return heard

    def _heard(self, chunks: Sequence[Samples], language: str, **options: Any) -> list[Heard]:
        """The chunks laid end to end, each a clip of its own for the batched pipeline."""
        ends = np.cumsum([len(chunk) for chunk in chunks])
        starts = ends - [len(chunk) for chunk in chunks]
        clips = [{"start": s / RATE, "end": e / RATE} for s, e in zip(starts.tolist(), ends.tolist(), strict=True)]
        segments, _ = self._batched.transcribe(
            np.concatenate(list(chunks)),
            language=language,
            beam_size=1,
            word_timestamps=True,
            vad_filter=False,
            clip_timestamps=clips,
            batch_size=len(chunks),
            **options,
        )
        frames = [int(clip["start"] * 100) for clip in clips]
        found: list[list[Any]] = [[] for _ in chunks]
        for segment in segments:
            found[_nearest(frames, segment.seek)].append(segment)
        return [_result(pieces, clip["start"]) for pieces, clip in zip(found, clips, strict=True)]


def _nearest(frames: Sequence[int], seek: int) -> int:
    return min(range(len(frames)), key=lambda i: abs(frames[i] - seek))


def _result(segments: Sequence[Any], offset: float) -> Heard:
    if not segments:
        return Heard("", no_speech=1.0)
    words = tuple(
        HeardWord(max(0.0, word.start - offset), max(0.0, word.end - offset), word.word, float(word.probability))
        for segment in segments
        for word in segment.words or ()
    )
    return Heard(
        "".join(segment.text for segment in segments),
        words,
        float(np.mean([segment.avg_logprob for segment in segments])),
        float(max(segment.no_speech_prob for segment in segments)),
        float(max(segment.compression_ratio for segment in segments)),
    )


def silero() -> VoiceDetector:
    """The Silero voice detector that faster-whisper brings; it runs on one thread."""
    from faster_whisper.vad import get_vad_model

    model = get_vad_model()

    def probabilities(samples: Samples) -> NDArray[np.float32]:
        return np.asarray(model(samples), np.float32).reshape(-1)

    return probabilities


# ---------------------------------------------------------------- for tests, ours and users'


class ScriptedRecogniser:
    """Says what it is told to: `script` is a result for each chunk in turn, or a function of (samples, language).

    `asked` notes the length in samples and the language of every chunk.
    """

    def __init__(
        self,
        script: Sequence[Heard] | Callable[[Samples, str], Heard],
        *,
        name: str = "scripted",
        multilingual: bool = True,
        languages: Mapping[str, float] | None = None,
    ) -> None:
        self.name = name
        self.multilingual = multilingual
        self.asked: list[tuple[int, str]] = []
        self._script = script
        self._languages = dict(languages or {"en": 1.0})

    def languages(self, chunk: Samples) -> Mapping[str, float]:
        return self._languages if self.multilingual else {}

    def recognise(self, chunks: Sequence[Samples], language: str) -> list[Heard]:
        if not self.multilingual and language != "en":
            raise _wrong_language(self.name, language)
        results = []
        for chunk in chunks:
            if callable(self._script):
                results.append(self._script(chunk, language))
            elif len(self.asked) < len(self._script):
                results.append(self._script[len(self.asked)])
            else:
                raise ModelError("the script has no further result", where=self.name, next="script one for each chunk")
            self.asked.append((len(chunk), language))
        return results
