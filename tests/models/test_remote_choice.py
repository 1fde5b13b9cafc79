"""A provider's name in the settings gives its speech or embedding model; any other name stays on this machine."""

from typing import get_args

import pytest
from pydantic_ai.models import KnownModelName

from videmus.config import ModelSettings, Settings
from videmus.errors import UsageError
from videmus.library import Library
from videmus.models import text_embedding
from videmus.models.remote import OWN_SERVERS, PROVIDERS, address
from videmus.models.remote_streams import RemoteEmbedder, RemoteRecogniser
from videmus.models.speech import SpeechMinds


def test_an_embedder_of_a_provider_is_remote():
    settings = Settings(models=ModelSettings(embedding="openai:text-embedding-3-small"))
    embedder = text_embedding.load(settings)
    assert isinstance(embedder, RemoteEmbedder)
    assert "text-embedding-3-small" in embedder.name


def test_a_recogniser_of_a_provider_is_remote_and_a_local_name_is_loaded():
    asked = []
    minds = SpeechMinds(ModelSettings(), load=lambda name, threads: asked.append(name))
    assert isinstance(minds.named("openai:whisper-1"), RemoteRecogniser)
    minds.named("small")
    assert asked == ["small"]


@pytest.mark.parametrize("role", ["language", "vision"])
def test_an_unknown_provider_is_said_when_the_settings_are_read(tmp_path, role):
    settings = Settings(models=ModelSettings(**{role: "opnai:gpt-4.1"}))
    with pytest.raises(UsageError, match="no provider 'opnai'") as caught:
        Library(tmp_path / "library", settings=settings)
    assert caught.value.where == "opnai:gpt-4.1"
    assert caught.value.next.startswith("write openai:gpt-4.1, or one of ollama, ")
    assert not (tmp_path / "library").exists()


def test_a_name_that_is_near_no_provider_is_told_all_of_them():
    with pytest.raises(UsageError) as caught:
        address("qwerty:m")
    assert caught.value.next.startswith("known: ollama")
    assert address("qwerty:m", "http://127.0.0.1:9/v1").model == "qwerty:m"


def test_every_provider_whose_models_pydantic_ai_lists_is_known():
    listed = {name.partition(":")[0] for name in get_args(KnownModelName.__value__)}
    unsuited = {"test", "bedrock-mantle", "google-decisions", "openai-decisions"}  # for its own tests, for other uses
    assert {n for n in listed if not n.startswith("gateway/")} - unsuited <= {*PROVIDERS, *OWN_SERVERS}


def test_every_provider_that_we_name_is_one_of_pydantic_ai():
    from pydantic_ai.providers import infer_provider_class

    for name in PROVIDERS:
        try:
            infer_provider_class(name)
        except ImportError:
            continue  # known, and its package is not installed
