"""A scripted server of OpenAI's kind on this machine, for tests: it checks what it is sent, answers by script, plays faults.

    with ScriptedServer(lambda seen: {"description": "A slide."}) as server:
        settings = ModelSettings(vision="vllm:scripted", base_url=server.url)

A request that is not as it must be (no JSON schema, a picture that is no JPEG, a temperature other than 0) gets status
400 with the reason, and is in `faults_found`.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from videmus.models.prices import jpeg_size

CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 750
"""How its tokens are counted: English text as tokenizers do on average, pictures as Anthropic does."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived: texts, pictures with their sizes in pixels, the schema, headers, the whole body."""

    number: int
    system: str
    user: str
    pictures: tuple[bytes, ...]
    sizes: tuple[tuple[int, int], ...]
    schema: Mapping[str, Any]
    headers: Mapping[str, str]
    body: str


@dataclass(frozen=True, slots=True)
class Fault:
    """What a server does wrong: a status, a broken connection, a long silence, text that is no completion, a cut reply."""

    status: int = 0
    message: str = "scripted fault"
    retry_after: float | None = None
    drop: bool = False
    hang_s: float = 0.0
    raw: str | None = None
    cut: str | None = None


Script = Callable[[Seen], Mapping[str, Any] | str | Fault]


@dataclass(slots=True)
class ScriptedServer:
    """Answers POST /v1/chat/completions by `script` while its `with` block runs; `delay_s` before each answer."""

    script: Script
    delay_s: float = 0.0
    seen: list[Seen] = field(default_factory=list)
    faults_found: list[str] = field(default_factory=list)
    most_in_flight: int = 0
    _in_flight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _server: ThreadingHTTPServer | None = None
    _thread: threading.Thread | None = None
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ScriptedServer:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1  # head and body leave together: apart, they wait 40 ms for the client's acknowledgement

            def do_POST(self) -> None:
                outer._answer(self)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Nothing: a test's output is its own."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._server and self._thread:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    # ------------------------------------------------------------ inside

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0))).decode()
        with self._lock:
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            if self.delay_s:
                self._ended.wait(self.delay_s)
            try:
                with self._lock:
                    headers = {name.lower(): value for name, value in handler.headers.items()}
                    seen = _read(len(self.seen), body, headers)
                    self.seen.append(seen)
            except (ValueError, KeyError, TypeError) as error:
                self.faults_found.append(f"{handler.path}: {error}")
                _send(handler, 400, {"error": {"message": f"bad request: {error}"}})
                return
            self._play(handler, self.script(seen), seen)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client gave up waiting, as a test wanted
        finally:
            with self._lock:
                self._in_flight -= 1

    def _play(self, handler: BaseHTTPRequestHandler, answer: Mapping[str, Any] | str | Fault, seen: Seen) -> None:
        if isinstance(answer, Fault):
            if answer.drop:
                handler.close_connection = True
                handler.connection.close()
                return
            if answer.hang_s:
                self._ended.wait(answer.hang_s)
            if answer.raw is not None:
                _send_text(handler, 200, answer.raw)
                return
            if answer.cut is not None:
                _send(handler, 200, _completion(answer.cut, seen, "length"))
                return
            headers = {"Retry-After": str(answer.retry_after)} if answer.retry_after is not None else {}
            _send(handler, answer.status or 500, {"error": {"message": answer.message}}, headers)
            return
        text = answer if isinstance(answer, str) else json.dumps(answer)
        _send(handler, 200, _completion(text, seen, "stop"))


def _read(number: int, body: str, headers: Mapping[str, str]) -> Seen:
    """Take a request apart. Raises ValueError or KeyError saying what is not as it must be."""
    request = json.loads(body)
    if request.get("temperature") != 0.0:
        raise ValueError(f"temperature is {request.get('temperature')!r}, not 0")
    if "max_tokens" not in request and "max_completion_tokens" not in request:
        raise ValueError("the length of the reply is not bounded")
    system_text = "".join(m["content"] for m in request["messages"] if m["role"] == "system")
    if "response_format" in request:
        schema = request["response_format"]["json_schema"]["schema"]
    else:  # asked for in words, as by a client whose server refused a schema
        schema = json.loads(system_text[system_text.index('{"') :])
    if schema.get("type") != "object" or not schema.get("properties"):
        raise ValueError("the schema is no object's")
    system = ""
    texts: list[str] = []
    pictures: list[bytes] = []
    for message in request["messages"]:
        content = message["content"]
        if message["role"] == "system":
            system += content
            continue
        parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part["type"] == "text":
                texts.append(part["text"])
            else:
                pictures.append(_jpeg(part["image_url"]["url"]))
    sizes = tuple(jpeg_size(p) for p in pictures)
    return Seen(number, system, "\n".join(texts), tuple(pictures), sizes, schema, headers, body)


def _jpeg(url: str) -> bytes:
    head, _, data = url.partition(",")
    if head != "data:image/jpeg;base64":
        raise ValueError(f"a picture comes as {head[:40]!r}")
    picture = base64.b64decode(data, validate=True)
    if not picture.startswith(b"\xff\xd8"):
        raise ValueError("a picture is no JPEG")
    return picture


def _completion(text: str, seen: Seen, finish: str) -> dict[str, Any]:
    written = (len(seen.system) + len(seen.user) + len(json.dumps(seen.schema))) // CHARACTERS_PER_TOKEN
    pictured = sum(width * height // PIXELS_PER_TOKEN for width, height in seen.sizes)
    usage = {"prompt_tokens": written + pictured, "completion_tokens": max(1, len(text) // CHARACTERS_PER_TOKEN)}
    return {
        "id": f"scripted-{seen.number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {**usage, "total_tokens": sum(usage.values())},
    }


def _send(
    handler: BaseHTTPRequestHandler, status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    _send_text(handler, status, json.dumps(document), headers)


def _send_text(
    handler: BaseHTTPRequestHandler, status: int, text: str, headers: Mapping[str, str] | None = None
) -> None:
    data = text.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)
    handler.wfile.flush()
