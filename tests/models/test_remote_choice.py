"""A provider's name in the settings gives its speech or embedding model; any other name stays on this machine."""

from videmus.config import ModelSettings, Settings
from videmus.models import text_embedding
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
