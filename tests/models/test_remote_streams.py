"""Speech and embeddings from a server of OpenAI's kind on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from videmus.config import ModelSettings
from videmus.errors import ModelError
from videmus.models.connect import what_leaves
from videmus.models.remote_streams import RemoteEmbedder, RemoteRecogniser, is_remote

KEY = "own-secret-key-0123456789"
Reply = tuple[int, Any]


class Server:
    """Answers every POST by `answer(path, body)`, and keeps what it was sent."""

    def __init__(self, answer: Callable[[str, bytes], Reply]) -> None:
        self.sent: list[tuple[str, bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.sent.append((self.path, body))
                status, document = answer(self.path, body)
                data = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *arguments: Any) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def settings(self) -> ModelSettings:
        return ModelSettings(base_url=f"http://127.0.0.1:{self.http.server_address[1]}/v1", timeout_s=5.0)

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def served() -> Iterator[Callable[[Callable[[str, bytes], Reply]], Server]]:
    servers: list[Server] = []

    def make(answer: Callable[[str, bytes], Reply]) -> Server:
        servers.append(Server(answer))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


def embedding(path: str, body: bytes) -> Reply:
    texts = json.loads(body)["input"]
    data = [{"object": "embedding", "index": n, "embedding": [3.0 * len(t), 4.0 * len(t)]} for n, t in enumerate(texts)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return 200, {"object": "list", "data": data[::-1], "model": "m", "usage": usage}


TRANSCRIPT = {
    "text": " Hello there. ", "language": "english", "duration": 2.0, "task": "transcribe",
    "words": [{"word": "Hello", "start": 0.1, "end": 0.5}, {"word": "there.", "start": 0.6, "end": 0.9}],
    "segments": [{
        "id": 0, "seek": 0, "start": 0.0, "end": 1.0, "text": "Hello there.", "tokens": [], "temperature": 0.0,
        "avg_logprob": -0.25, "compression_ratio": 1.1, "no_speech_prob": 0.02,
    }],
}  # fmt: skip


def test_vectors_come_in_the_order_of_the_texts_with_unit_length(served):
    server = served(embedding)
    embedder = RemoteEmbedder("vllm:embed", server.settings)
    vectors = embedder.embed(["a", "bbb", ""])
    assert vectors.shape == (3, 2) and vectors.dtype == np.float32
    assert np.allclose(vectors, [[0.6, 0.8]] * 3)
    assert embedder.dimension == 2 and embedder.embed_query("x").shape == (2,) and embedder.name == "vllm:embed"
    assert embedder.embed([]).shape[0] == 0 and embedder.languages is None


def test_many_texts_go_in_batches(served):
    server = served(embedding)
    assert RemoteEmbedder("vllm:embed", server.settings).embed(["x"] * 300).shape == (300, 2)
    assert [len(json.loads(body)["input"]) for _, body in server.sent] == [128, 128, 44]


def test_a_chunk_is_sent_as_a_wave_file_and_comes_back_with_word_times(served):
    server = served(lambda path, body: (200, TRANSCRIPT))
    recogniser = RemoteRecogniser("vllm:whisper", server.settings)
    (heard,) = recogniser.recognise([np.zeros(16_000, np.float32)], "en")
    assert heard.text == "Hello there." and heard.log_probability == -0.25 and heard.no_speech == 0.02
    assert [(w.start, w.text) for w in heard.words] == [(0.1, " Hello"), (0.6, " there.")]
    path, body = server.sent[0]
    assert path.endswith("/audio/transcriptions") and b"RIFF" in body and b"WAVEfmt" in body
    assert recogniser.languages(np.zeros(16_000, np.float32)) == {"en": 1.0}


def test_a_busy_server_is_asked_again_and_a_refusal_is_not(served, monkeypatch):
    monkeypatch.setenv("VIDEMUS_API_KEY", KEY)
    waits: list[float] = []
    busy = served(lambda path, body: (503, {}) if len(busy.sent) < 3 else embedding(path, body))
    assert RemoteEmbedder("vllm:e", busy.settings, waits.append).embed(["x"]).shape == (1, 2)
    assert waits == [1.0, 2.0]
    refusing = served(lambda path, body: (401, {"error": {"message": f"bad key {KEY}"}}))
    with pytest.raises(ModelError, match="refused") as caught:
        RemoteEmbedder("vllm:e", refusing.settings, waits.append).embed(["x"])
    assert len(refusing.sent) == 1 and KEY not in str(caught.value) and caught.value.where == "vllm:e"


def test_a_server_that_stays_down_is_an_error_with_the_next_step(served):
    server = served(lambda path, body: (500, {}))
    with pytest.raises(ModelError, match="server failed") as caught:
        RemoteRecogniser("vllm:w", server.settings, lambda s: None).recognise([np.zeros(800, np.float32)], "en")
    assert len(server.sent) == 4 and "then the same command again" in caught.value.next


def test_too_few_vectors_are_an_error(served):
    server = served(lambda path, body: (200, {**embedding(path, body)[1], "data": []}))
    with pytest.raises(ModelError, match=r"0 vectors for 1 texts|No embedding data"):
        RemoteEmbedder("vllm:e", server.settings, lambda s: None).embed(["x"])


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="key is missing"):
        RemoteEmbedder("openai:text-embedding-3-small", ModelSettings()).embed(["x"])


@pytest.mark.parametrize(
    ("name", "remote"),
    [
        ("openai:whisper-1", True),
        ("ollama:nomic-embed-text", True),
        ("small", False),
        ("BAAI/bge-small", False),
        ("", False),
        ("C:\\models", False),
    ],
)
def test_which_names_mean_a_server(name, remote):
    assert is_remote(name) is remote


def test_what_leaves_is_said_of_sound_and_texts_too():
    sentence = what_leaves(ModelSettings(speech="openai:whisper-1", embedding="openai:text-embedding-3-small"))
    assert (
        sentence is not None
        and "ound goes to openai (whisper-1)" in sentence
        and "exts and questions go to openai" in sentence
    )
    assert what_leaves(ModelSettings(speech="small", embedding="ollama:nomic-embed-text")) is None
