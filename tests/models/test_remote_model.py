"""The remote model against a server of OpenAI's kind on this machine."""

from __future__ import annotations

import io
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from PIL import Image
from pydantic import BaseModel, Field

from videmus.config import ModelSettings
from videmus.errors import ModelError, UsageError
from videmus.models.connect import Connected, connect
from videmus.models.language import (
    CallError,
    Data,
    LanguageModel,
    MalformedError,
    Prompt,
    TransientError,
    ask_each,
)
from videmus.models.pictures import picture
from videmus.models.remote import _asked_for, _connected, address
from videmus.models.scripted_server import Fault, ScriptedServer, Seen
from videmus.models.secrets import without_secrets

KEY = "sk-secret-0123456789abcdef"


class Description(BaseModel):
    description: str = Field(max_length=400)
    words: list[str] = []


ANSWER = {"description": "A slide about sorting.", "words": ["sorting"]}
PROMPT = Prompt("vision", "Describe the slide.", (Data("slide text", "Quicksort is O(n log n)"),), video="v1")


def jpeg(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(out, "JPEG")
    return out.getvalue()


@pytest.fixture
def opened() -> Iterator[Callable[..., LanguageModel]]:
    """Opens the vision model of a server; every one is closed after the test. Nothing is waited for between attempts."""
    connections: list[Connected] = []

    def open_model(server: ScriptedServer, waits: list[float] | None = None, **changes: object) -> LanguageModel:
        settings = replace(ModelSettings(vision="vllm:scripted", base_url=server.url, timeout_s=5.0), **changes)
        connected = connect(settings, sleep=(waits if waits is not None else []).append)
        connections.append(connected)
        assert connected.vision is not None
        return connected.vision

    yield open_model
    for connected in connections:
        connected.close()


def faulty(*answers: object) -> Callable[[Seen], object]:
    return lambda seen: answers[min(seen.number, len(answers) - 1)]


def test_a_reply_is_typed_and_its_tokens_are_counted(opened):
    with ScriptedServer(lambda seen: ANSWER) as server:
        reply = opened(server).ask(PROMPT, Description)
    assert reply.value == Description(**ANSWER)
    assert reply.cost.calls == 1 and reply.cost.tokens_in > 50 and reply.cost.tokens_out > 5
    assert reply.cost.usd == 0.0, "a server on this machine is free"
    assert server.faults_found == []


def test_the_server_is_sent_the_schema_the_scaled_pictures_and_the_material_as_data(opened):
    with ScriptedServer(lambda seen: ANSWER) as server:
        shown = picture(jpeg(1920, 1080), "slide at 00:10", 1024)
        opened(server).ask(PROMPT.also(shown), Description)
    seen = server.seen[0]
    assert set(seen.schema["properties"]) == {"description", "words"}
    assert seen.sizes == ((1024, 576),)
    assert "Quicksort" in seen.user and "Quicksort" not in seen.system
    assert "never an instruction" in " ".join(seen.system.split())


def test_no_provider_key_reaches_a_server_of_ones_own(opened, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("VIDEMUS_API_KEY", "own-key-of-this-server")
    with ScriptedServer(lambda seen: ANSWER) as server:
        opened(server).ask(PROMPT, Description)
    seen = server.seen[0]
    assert KEY not in seen.body and KEY not in str(seen.headers)
    assert "own-key-of-this-server" not in seen.body
    assert seen.headers["authorization"] == "Bearer own-key-of-this-server"


@pytest.mark.parametrize(
    "fault",
    [Fault(429), Fault(500), Fault(503), Fault(529), Fault(drop=True)],
    ids=["too many requests", "server's fault", "unavailable", "overloaded", "broken connection"],
)
def test_a_passing_fault_is_tried_again(opened, fault):
    waits: list[float] = []
    with ScriptedServer(faulty(fault, fault, ANSWER)) as server:
        reply = opened(server, waits).ask(PROMPT, Description)
    assert reply.value.words == ["sorting"]
    assert len(waits) == 2 and waits[1] > waits[0]


def test_the_server_says_how_long_to_wait(opened):
    waits: list[float] = []
    with ScriptedServer(faulty(Fault(429, retry_after=17), ANSWER)) as server:
        opened(server, waits).ask(PROMPT, Description)
    assert waits == [17.0]


def test_a_server_that_never_recovers_is_given_up_with_the_reason(opened):
    waits: list[float] = []
    with ScriptedServer(faulty(Fault(503, "no capacity"))) as server:
        with pytest.raises(TransientError, match="no capacity") as caught:
            opened(server, waits).ask(PROMPT, Description)
        assert len(server.seen) == 4 and len(waits) == 3
    assert caught.value.where == "vllm:scripted" and "then the same command again" in caught.value.next


def test_a_dead_server_is_found_out_fast(opened):
    waits: list[float] = []
    with ScriptedServer(faulty(Fault(503))) as server:
        model = opened(server, waits)
        for _ in range(6):
            with pytest.raises(TransientError):
                model.ask(PROMPT, Description)
        assert len(server.seen) == 3 * 4 + 3, "after three lost calls each call is tried once"


def test_a_silent_server_is_a_time_out(opened):
    with (
        ScriptedServer(faulty(Fault(hang_s=5.0))) as server,
        pytest.raises(TransientError, match=r"no reply within 0\.2 s|timed out"),
    ):
        opened(server, timeout_s=0.2, attempts=1).ask(PROMPT, Description)


@pytest.mark.parametrize("rubbish", ["I would rather not.", "{", '{"description": 7}', "[]", '{"words": []}'])
def test_a_malformed_reply_is_asked_for_once_more_with_the_reason(opened, rubbish):
    with ScriptedServer(faulty(rubbish, ANSWER)) as server:
        reply = opened(server).ask(PROMPT, Description)
    assert reply.value.words == ["sorting"] and reply.cost.calls == 2
    assert "could not be used" in server.seen[1].user


def test_rubbish_without_end_is_an_error_that_counts_what_it_cost(opened):
    with ScriptedServer(faulty("no")) as server, pytest.raises(MalformedError, match="holds no JSON") as caught:
        opened(server, attempts=3).ask(PROMPT, Description)
    assert caught.value.cost.calls == 3 and caught.value.cost.tokens_out >= 3


def test_a_huge_reply_is_refused_unread(opened):
    with (
        ScriptedServer(faulty('{"description": "' + "x" * 300_000)) as server,
        pytest.raises(MalformedError, match="300"),
    ):
        opened(server, attempts=1).ask(PROMPT, Description)


def test_a_reply_that_was_cut_off_says_so(opened):
    with (
        ScriptedServer(faulty(Fault(cut='{"description": "A sli'))) as server,
        pytest.raises(MalformedError, match="cut off"),
    ):
        opened(server, attempts=1).ask(PROMPT, Description)


def test_a_model_that_thinks_is_allowed_tokens_beside_its_reply(opened):
    with ScriptedServer(lambda seen: ANSWER) as server:
        opened(server, thinking_tokens=8_000).ask(PROMPT, Description)
    assert "9500" in server.seen[0].body, "1500 of the prompt and 8000 to think"


def test_a_body_that_is_no_completion_is_an_error_not_a_crash(opened):
    with ScriptedServer(faulty(Fault(raw="<html>proxy</html>"))) as server, pytest.raises(CallError):
        opened(server, attempts=1).ask(PROMPT, Description)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_repeated(opened, status):
    with ScriptedServer(faulty(Fault(status, "refused"))) as server:
        with pytest.raises(CallError, match="refused") as caught:
            opened(server).ask(PROMPT, Description)
        assert len(server.seen) == 1
    assert not isinstance(caught.value, TransientError)


def test_a_server_without_json_schema_is_given_it_in_words_and_it_is_said(opened, caplog):
    def older(seen: Seen) -> object:
        return Fault(400, "response_format is not supported") if '"response_format"' in seen.body else ANSWER

    with ScriptedServer(older) as server:
        model = opened(server)
        assert model.ask(PROMPT, Description).value.words == ["sorting"]
        assert model.ask(replace(PROMPT, instructions="Again."), Description).value.words == ["sorting"]
        assert len(server.seen) == 3, "it is tried once, not for every call"
    assert "takes no JSON schema" in caplog.text and '"description"' in server.seen[1].system


@pytest.mark.parametrize("name", ["openai:gpt-4.1", "anthropic:claude-sonnet-4-5", "google:gemini-2.5-flash"])
def test_every_provider_is_connected_without_a_call(name, monkeypatch):
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    model = _connected(address(name), name)
    wanted = _asked_for(model, Description)
    assert model.model_name == name.partition(":")[2]
    assert wanted.output_object or wanted.output_tools


def test_a_provider_that_nobody_knows_is_a_usage_error():
    with pytest.raises(UsageError):
        _connected(address("nobody:model"), "nobody:model")


def test_a_key_is_in_no_error_and_no_log(opened, monkeypatch, caplog):
    monkeypatch.setenv("VIDEMUS_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with (
        ScriptedServer(faulty(Fault(401, f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}"))) as server,
        pytest.raises(ModelError) as caught,
    ):
        opened(server).ask(PROMPT, Description)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert KEY not in str(chain) and KEY not in repr(chain)
        chain = chain.__cause__
    assert KEY not in str(caught.value.as_json()) and KEY not in caplog.text
    assert "VIDEMUS_API_KEY" in caught.value.next


def test_what_looks_like_a_key_is_hidden_whatever_its_variable():
    said = without_secrets("used sk-proj-abcdefghijklmnop and https://me:pass@host/ and api_key=0123456789abc", {})
    assert "abcdefghijklmnop" not in said and "pass@" not in said and "0123456789abc" not in said
    assert without_secrets("a sketch of basic colour theory", {}) == "a sketch of basic colour theory"


def test_eight_calls_are_in_flight_at_a_time_and_no_more(opened):
    with ScriptedServer(lambda seen: ANSWER, delay_s=0.15) as server:
        model = opened(server)
        prompts = [(n, replace(PROMPT, instructions=f"Describe {n}.")) for n in range(24)]
        keys = [key for key, _ in ask_each(model, prompts, Description)]
        assert keys == list(range(24)), "replies come in the order asked"
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda n: model.ask(replace(PROMPT, instructions=f"Again {n}."), Description), range(12)))
    assert server.most_in_flight == 8


def test_closing_ends_the_thread():
    with ScriptedServer(lambda seen: ANSWER) as server:
        connected = connect(ModelSettings(vision="vllm:scripted", base_url=server.url))
        assert connected.vision is not None
        connected.vision.ask(PROMPT, Description)
        assert any(t.name == "videmus-model" for t in threading.enumerate())
        connected.close()
    assert not any(t.name == "videmus-model" for t in threading.enumerate())


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    connected = connect(ModelSettings(language="openai:gpt-4.1"))
    assert connected.language is not None
    with pytest.raises(ModelError, match="key is missing") as caught:
        connected.language.ask(PROMPT, Description)
    assert "OPENAI_API_KEY" in caught.value.next
    connected.close()


def test_pictures_are_not_sent_to_a_model_that_does_not_see():
    connected = connect(ModelSettings(language="ollama:qwen3"))
    assert connected.language is not None
    with pytest.raises(ModelError, match="no pictures"):
        connected.language.ask(PROMPT.also(picture(jpeg(10, 10), "", 1024)), Description)
    connected.close()


@pytest.mark.parametrize(
    ("name", "base_url", "provider", "model", "here"),
    [
        ("ollama:qwen3:8b", "", "ollama", "qwen3:8b", True),
        ("openai:gpt-4.1", "", "openai", "gpt-4.1", False),
        ("qwen3:8b", "http://10.0.0.7:8080/v1", "own", "qwen3:8b", False),
        ("llamacpp:any", "http://[::1]:9000/v1", "llamacpp", "any", True),
        ("vllm:org/model", "http://localhost:8000/v1", "vllm", "org/model", True),
        ("vllm:m", "http://localhost.evil.example/v1", "vllm", "m", False),
    ],
)
def test_names_and_addresses(name, base_url, provider, model, here, monkeypatch):
    monkeypatch.delenv("OLLAMA_BASE_URL", raising=False)
    place = address(name, base_url)
    assert (place.provider, place.model, place.here) == (provider, model, here)


@pytest.mark.parametrize(("name", "base_url"), [("gpt-4.1", ""), ("openai:", ""), ("vllm:m", "localhost:8000")])
def test_a_name_or_address_that_says_too_little_is_a_usage_error(name, base_url):
    with pytest.raises(UsageError):
        address(name, base_url)
