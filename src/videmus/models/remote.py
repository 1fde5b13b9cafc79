"""A language or vision model behind an address, through pydantic-ai: one attempt of one call, validated.

A name, "provider:name", is one of pydantic-ai's providers (openai, anthropic, google, …) or a server of OpenAI's kind
on this machine or another one (ollama, vllm, lmstudio, llamacpp, or any with `base_url`). pydantic-ai and its
provider's SDK are imported when the first call is made; their own retries are off. Errors are turned into ours,
without keys.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import os
import re
import threading
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from videmus.errors import MissingExtraError, UsageError
from videmus.model import Cost
from videmus.models.language import (
    CallError,
    Picture,
    Prompt,
    Reply,
    TransientError,
    malformed,
    parsed,
    rendered,
    schema_of,
)
from videmus.models.prices import Price
from videmus.models.secrets import OWN_KEY, without_secrets

if TYPE_CHECKING:
    from pydantic_ai.models import Model

log = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)
E = TypeVar("E", bound=CallError)
R = TypeVar("R")

OWN_SERVERS = {
    "ollama": "http://127.0.0.1:11434/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "llamacpp": "http://127.0.0.1:8080/v1",
}
"""Servers of OpenAI's kind and the addresses that they listen on unless told otherwise."""

PROVIDERS = (
    "openai", "anthropic", "google", "google-cloud", "alibaba", "azure", "bedrock", "cerebras", "cohere", "crusoe",
    "deepseek", "fireworks", "github", "github-copilot", "groq", "heroku", "huggingface", "litellm", "meta", "mistral",
    "moonshotai", "nebius", "openai-chat", "openai-responses", "openrouter", "ovhcloud", "sambanova", "snowflake",
    "together", "typesafe", "vercel", "xai", "zai",
)  # fmt: skip
"""Providers of chat models that pydantic-ai reaches without an address."""

UNREACHED = "see that the server runs and can be reached; then the same command again"

KEY_NAMES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}


_ABOUT_SCHEMA = re.compile(r"response_format|json.?schema|structured.?output|grammar", re.I)


class _SchemaRefused(Exception):
    """The server has no structured output; older ones of OpenAI's kind say so with status 400."""


@dataclass(frozen=True, slots=True)
class Address:
    """A configured model taken apart: `url` is empty for a provider that pydantic-ai knows the address of."""

    provider: str
    model: str
    url: str

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or self.provider if self.url else self.provider

    @property
    def here(self) -> bool:
        """Whether it is on this machine: nothing leaves it, and nothing is paid."""
        if not self.url:
            return False
        host = urlsplit(self.url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def address(name: str, base_url: str = "") -> Address:
    """Take "provider:name" apart. Raises UsageError where it does not say which provider is meant, nobody knows that
    provider, or the address is none."""
    provider, separator, model = name.partition(":")
    if base_url and urlsplit(base_url).scheme not in ("http", "https"):
        raise UsageError(f"{base_url!r} is no address", where="[models] base_url", next="write http://host:port/v1")
    if base_url and (not separator or provider not in {*OWN_SERVERS, *KEY_NAMES}):
        return Address("own", name, base_url)  # "qwen3:8b" on a server of one's own is a name with a colon in it
    if not separator or not model:
        raise UsageError(
            "does not say which provider is meant", where=name, next="write provider:name, for example ollama:qwen3-vl"
        )
    if base_url:
        return Address(provider, model, base_url)
    if provider not in {*PROVIDERS, *OWN_SERVERS} and not provider.startswith("gateway/"):
        raise _unknown(provider, name)
    if provider == "ollama" and (given := os.environ.get("OLLAMA_BASE_URL")):
        return Address(provider, model, given)
    return Address(provider, model, OWN_SERVERS.get(provider, ""))


def _unknown(provider: str, name: str) -> UsageError:
    known = [*OWN_SERVERS, *PROVIDERS]
    near = get_close_matches(provider.lower(), known, 1)
    meant = f"write {near[0]}:{name.partition(':')[2]}, or one of" if near else "known:"
    return UsageError(
        f"there is no provider {provider!r}",
        where=name,
        next=f"{meant} {', '.join(known)}; a server of your own is any name with [models] base_url",
    )


class RemoteModel:
    """One configured model. Calls run on one event loop in a thread of this object; `close` ends it."""

    def __init__(
        self,
        name: str,
        base_url: str = "",
        *,
        sees: bool,
        concurrency: int,
        timeout_s: float,
        price: Price | None,
        thinking_tokens: int = 0,
    ) -> None:
        self.address = address(name, base_url)
        self._name = name
        self._sees = sees
        self._concurrency = max(1, concurrency)
        self._timeout_s = timeout_s
        self._price = price
        self._thinking_tokens = thinking_tokens
        self._places = threading.BoundedSemaphore(self._concurrency)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._model: Model | None = None
        self._schema_in_prompt = False

    @property
    def name(self) -> str:
        return self._name

    @property
    def sees(self) -> bool:
        return self._sees

    @property
    def concurrency(self) -> int:
        return self._concurrency

    def ask(self, prompt: Prompt, result: type[T]) -> Reply[T]:
        """One attempt. Raises TransientError, MalformedError or CallError, each with what it cost."""
        if prompt.pictures and not self._sees:
            raise CallError("this model takes no pictures", where=self._name, next="configure [models] vision")
        with self._places:
            began = time.monotonic()
            loop, model = self._ready()
            try:
                text, tokens_in, tokens_out, cut = _within(loop, self._request(model, prompt, result))
            except _SchemaRefused as refusal:
                log.warning("%s takes no JSON schema (%s): from now on it stands in the prompt", self._name, refusal)
                self._schema_in_prompt = True
                text, tokens_in, tokens_out, cut = _within(loop, self._request(model, prompt, result))
        usd = self._price.of(tokens_in, tokens_out) if self._price else None
        cost = Cost(1, tokens_in, tokens_out, usd, time.monotonic() - began)
        try:
            if cut:
                raise malformed(
                    f"the reply was cut off at {prompt.max_tokens} tokens: it must be shorter"
                    " (a model that thinks first needs [models] thinking_tokens)"
                )
            return Reply(parsed(text, result), cost)
        except CallError as error:
            error.cost = cost
            error.where = self._name
            raise

    def close(self) -> None:
        """Close the connections and end the loop with its thread; calls in flight end with an error."""
        with self._lock:
            loop, thread, model = self._loop, self._thread, self._model
            self._loop = self._thread = self._model = None
        if loop and thread:
            if model:
                _within(loop, _left(model))
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    # ------------------------------------------------------------ inside

    def _ready(self) -> tuple[asyncio.AbstractEventLoop, Model]:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="videmus-model", daemon=True)
                self._thread.start()
            if self._model is None:
                model = _connected(self.address, self._name)
                _within(self._loop, model.__aenter__())
                self._model = model
            return self._loop, self._model

    async def _request(self, model: Model, prompt: Prompt, result: type[BaseModel]) -> tuple[str, int, int, bool]:
        """The reply's text, tokens in and out, and whether it was cut off."""
        from pydantic_ai import BinaryContent, ModelRequest, UserPromptPart, exceptions
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import TextPart, ToolCallPart
        from pydantic_ai.settings import ModelSettings

        system, content = rendered(prompt)
        if self._schema_in_prompt:
            system += (
                f"\n\nReply with one JSON object and nothing else. Its JSON schema:\n{json.dumps(schema_of(result))}"
            )
        user = [BinaryContent(p.jpeg, media_type="image/jpeg") if isinstance(p, Picture) else p for p in content]
        message = ModelRequest(parts=[UserPromptPart(content=user or "Go on.")], instructions=system)
        settings = ModelSettings(
            temperature=0.0, max_tokens=prompt.max_tokens + self._thinking_tokens, timeout=self._timeout_s, max_retries=0
        )  # fmt: skip
        try:
            async with asyncio.timeout(self._timeout_s):
                wanted = None if self._schema_in_prompt else _asked_for(model, result)
                response = await model_request(
                    model, [message], model_settings=settings, model_request_parameters=wanted
                )
        except TimeoutError:
            slow = "raise [models] timeout_s, or choose a smaller model; then the same command again"
            raise self._failed(TransientError, f"no reply within {self._timeout_s:g} s", next=slow) from None
        except exceptions.ModelAuthenticationError as error:
            key = OWN_KEY if self.address.url else KEY_NAMES.get(self.address.provider, "the provider's key variable")
            raise self._failed(CallError, f"the key was refused: {_said(error)}", next=f"set {key}") from None
        except exceptions.ModelNotFoundError as error:
            raise self._failed(
                CallError, f"no such model: {_said(error)}", next="see [models] in the settings"
            ) from None
        except exceptions.ModelQuotaExceededError as error:
            raise self._failed(CallError, f"the account's quota is used up: {_said(error)}", next="top it up") from None
        except exceptions.ModelRequestRejectedError as error:
            if not self._schema_in_prompt and _ABOUT_SCHEMA.search(_said(error)):
                raise _SchemaRefused(without_secrets(_said(error))) from None
            raise self._failed(CallError, f"the request was refused: {_said(error)}") from None
        except exceptions.ModelAPIError as error:
            failure = self._failed(TransientError, f"the server failed: {_said(error)}", next=UNREACHED)
            failure.retry_after = error.retry_after
            raise failure from None
        except exceptions.UnexpectedModelBehavior as error:
            raise malformed(without_secrets(_said(error))) from None
        except exceptions.UserError as error:
            raise self._failed(CallError, without_secrets(str(error)), next="see [models] in the settings") from None
        usage = response.usage
        text = "".join(p.content for p in response.parts if isinstance(p, TextPart))
        calls = [p for p in response.parts if isinstance(p, ToolCallPart)]
        if calls:
            text = calls[0].args_as_json_str()
        return text, usage.input_tokens, usage.output_tokens, response.finish_reason == "length"

    def _failed(self, kind: type[E], what: str, next: str = "") -> E:
        return kind(without_secrets(what), where=self._name, next=next)


def _within(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, R]) -> R:
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def _left(model: Model) -> None:
    """End what still runs on this loop, then close the provider's connections."""
    running = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    await model.__aexit__(None, None, None)


def _said(error: Exception) -> str:
    """What the provider said, in one short line."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(said, str) and said:
            return " ".join(said.split())[:300]
    return " ".join(str(getattr(error, "message", error)).split())[:300]


def _connected(place: Address, name: str) -> Model:
    try:
        from pydantic_ai import exceptions
        from pydantic_ai.models import infer_model
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.ollama import OllamaProvider
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
    except ImportError as error:
        raise MissingExtraError(
            "needs the package pydantic-ai-slim", where=name, next="pip install 'videmus[models]'"
        ) from error
    if place.url:
        key = os.environ.get(OWN_KEY, "none")
        if place.provider == "ollama":
            return OpenAIChatModel(place.model, provider=OllamaProvider(base_url=place.url, api_key=key))
        provider = OpenAICompatibleProvider(place.provider, base_url=place.url, api_key=key)
        return OpenAIChatModel(place.model, provider=provider)
    needed = KEY_NAMES.get(place.provider)
    if needed and not os.environ.get(needed) and not (needed == "GOOGLE_API_KEY" and os.environ.get("GEMINI_API_KEY")):
        raise CallError("the key is missing", where=name, next=f"set {needed} in the environment")
    try:
        if place.provider == "openai":
            return OpenAIChatModel(place.model, provider=OpenAIProvider())
        return infer_model(name)
    except ImportError as error:
        raise MissingExtraError(
            f"needs the package of {place.provider}",
            where=name,
            next=f"pip install 'pydantic-ai-slim[{place.provider}]'",
        ) from error
    except (exceptions.UserError, ValueError) as error:
        raise UsageError(without_secrets(str(error)), where=name, next="see [models] in the settings") from None


def _asked_for(model: Model, result: type[BaseModel]) -> Any:
    """How the typed reply is asked for: by JSON schema where the model has it, else as the arguments of a tool."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    schema = schema_of(result)
    if model.profile.get("supports_json_schema_output", False):
        wanted = OutputObjectDefinition(json_schema=schema, name=result.__name__)
        return ModelRequestParameters(output_mode="native", output_object=wanted, allow_text_output=True)
    tool = ToolDefinition(
        name="reply", description="The reply.", parameters_json_schema=schema, kind="output", outer_typed_dict_key=None
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
