"""Text embedding: texts → unit vectors, behind one small protocol.

The bundled model is all-MiniLM-L6-v2 (int8, English), run by onnxruntime. Any other comes as a folder that holds an ONNX
file and a tokenizer.json, or by its name from a hub (fetched once). Knows nothing of evidence, stores or search.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from videmus.config import Settings
from videmus.errors import ModelError
from videmus.models import bundled, hub, weights

BUNDLED = bundled.MINILM
MAXIMUM_TOKENS = 256
"""What all-MiniLM-L6-v2 was trained with (its model card): longer texts are cut there. Others say their own length."""

BATCH_TOKENS = 512
"""Tokens of one batch, padding counted. Batches of 4096 take a third to a half more processor time (they leave its cache)."""

RECENT_TEXTS = 2048
"""Texts whose vectors are at hand. People say the same again and slides come back: of the lines of a made week 41 % are
among the last so many different ones. 3 MB at 384 dimensions."""

HUB_FILES = ("*.json", "onnx/model.onnx", "onnx/model_quantized.onnx", "model.onnx", "model_optimized.onnx", "*.txt")


class TextEmbedder(Protocol):
    """Texts in, float32 vectors of unit length out. `name` names the vector space: vectors of two names never meet."""

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def languages(self) -> frozenset[str] | None:
        """ISO 639-1 codes that it was trained for; None: many."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimension). An empty text gets a vector too."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Shape (dimension,). Some models embed a question otherwise than a passage."""


def load(settings: Settings) -> TextEmbedder:
    """The embedder that `[models] embedding` names: "" the bundled one, a folder, an installed model, one of a hub, or a
    provider's ("openai:text-embedding-3-small").

    Raises ModelError where files are missing or do not fit together.
    """
    from videmus.models.remote_streams import RemoteEmbedder, is_remote

    wanted, threads = settings.models.embedding, settings.models.threads
    if wanted in ("", BUNDLED):
        file, tokenizer = weights.file(BUNDLED), weights.tokenizer(BUNDLED)
        return OnnxEmbedder(BUNDLED, file, tokenizer, threads=threads, languages=frozenset({"en"}))
    if is_remote(wanted):
        return RemoteEmbedder(wanted, settings.models)
    folder = Path(wanted).expanduser()
    if not folder.is_dir():
        folder = weights.installed(wanted) or _fetched(wanted)
    return from_folder(folder, name=wanted if folder != Path(wanted).expanduser() else folder.name, threads=threads)


def from_folder(folder: Path, *, name: str, threads: int = 2) -> OnnxEmbedder:
    """A sentence-transformers model exported to ONNX: its .onnx (here or in onnx/), its tokenizer.json, and where they
    are there 1_Pooling/config.json (mean or first token), sentence_bert_config.json (length) and the prompts of
    config_sentence_transformers.json ("query", "passage" or "document"). The bytes of the model file are part of its name,
    so that two files are two vector spaces."""
    files = sorted(folder.glob("onnx/*.onnx")) + sorted(folder.glob("*.onnx"))
    tokenizer = folder / "tokenizer.json"
    if not files or not tokenizer.is_file():
        raise ModelError(
            "no embedding model: a folder with an .onnx file and its tokenizer.json is needed",
            where=str(folder),
            next="put both files there, or set another [models] embedding",
        )
    file = next((f for f in files if "quant" in f.name or "int8" in f.name), files[0])
    pooling = hub.settings(folder / "1_Pooling" / "config.json")
    prompts = hub.settings(folder / "config_sentence_transformers.json").get("prompts") or {}
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    return OnnxEmbedder(
        f"{name}@{digest}",
        file,
        tokenizer,
        threads=threads,
        maximum=int(hub.settings(folder / "sentence_bert_config.json").get("max_seq_length") or MAXIMUM_TOKENS),
        first_token=bool(pooling.get("pooling_mode_cls_token")),
        query_prefix=str(prompts.get("query", "")),
        passage_prefix=str(prompts.get("passage", prompts.get("document", ""))),
    )


def suits(embedder: TextEmbedder, language: str | None, text: str) -> bool:
    """Whether the model was trained for this text: by the language where it is known, else by its script."""
    if embedder.languages is None:
        return True
    if language:
        return language.lower().split("-")[0] in embedder.languages
    letters = [c for c in text[:1000] if c.isalpha()]
    return sum("LATIN" in unicodedata.name(c, "") for c in letters) * 2 >= len(letters)


class OnnxEmbedder:
    """A BERT-like sentence encoder: token vectors averaged (or the first one taken), then made unit length."""

    def __init__(
        self,
        name: str,
        file: Path,
        tokenizer: Path,
        *,
        threads: int = 2,
        maximum: int = MAXIMUM_TOKENS,
        languages: frozenset[str] | None = None,
        first_token: bool = False,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Threads wait busily inside a call (a quarter faster), not after it: that took a search's processor time twice over.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        try:
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise bare Exception for a file that is not theirs
            raise ModelError(
                f"the embedding model cannot be loaded: {error}", where=str(file), next="fetch or install it again"
            ) from error
        self._tokenizer.no_padding()  # it is done below, for each batch of texts of one length
        self._tokenizer.enable_truncation(max_length=maximum)
        self._inputs = {node.name for node in self._session.get_inputs()}
        if strange := self._inputs - {"input_ids", "attention_mask", "token_type_ids"}:
            raise ModelError(
                f"this ONNX file is no sentence encoder: it asks for {', '.join(sorted(strange))}", where=str(file)
            )
        self.name = name
        self.languages = languages
        self._file = file
        self._first_token = first_token
        self._prefixes = (query_prefix, passage_prefix)
        self._recent: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._recent_lock = threading.Lock()
        self.dimension = int(self._pooled([self._tokenizer.encode("")]).shape[1])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed([self._prefixes[1] + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return _row(self._embed([self._prefixes[0] + text]))

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        with self._recent_lock:
            found = {text: self._recent[text] for text in texts if text in self._recent}
        fresh = [text for text in dict.fromkeys(texts) if text not in found]
        encodings = self._tokenizer.encode_batch(fresh)
        for batch in _batches([len(e.ids) for e in encodings]):
            for k, vector in zip(batch, self._pooled([encodings[k] for k in batch]), strict=True):
                found[fresh[k]] = vector.copy()  # else it would keep its whole batch in memory
        with self._recent_lock:
            for text in dict.fromkeys(texts):
                self._recent[text] = found[text]
                self._recent.move_to_end(text)
            while len(self._recent) > RECENT_TEXTS:
                self._recent.popitem(last=False)
        return np.array([found[text] for text in texts], np.float32).reshape(len(texts), self.dimension)

    def _pooled(self, encodings: list[Any]) -> NDArray[np.float32]:
        length = max(1, max(len(e.ids) for e in encodings))
        ids = np.zeros((len(encodings), length), np.int64)
        mask = np.zeros_like(ids)
        for k, encoding in enumerate(encodings):
            ids[k, : len(encoding.ids)] = encoding.ids
            mask[k, : len(encoding.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        output = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        if output.ndim == 2:  # pooled inside the model
            pooled = output
        elif self._first_token:
            pooled = output[:, 0]
        else:
            pooled = (output * mask[:, :, None]).sum(1) / np.maximum(mask.sum(1, keepdims=True), 1)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(norms, 1e-12), np.float32)


class ScriptedEmbedder:
    """Words hashed into a few dimensions: texts with words in common are near. For tests, ours and users'."""

    def __init__(self, dimension: int = 64, name: str = "scripted", languages: frozenset[str] | None = None) -> None:
        self.name = name
        self.dimension = dimension
        self.languages = languages

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for k, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
                vectors[k, int.from_bytes(digest[:4], "big") % self.dimension] += 1.0 if digest[4] % 2 else -1.0
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return _row(self.embed([text]))


def _row(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vectors[0], np.float32)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions grouped so that texts of like length share a batch of at most BATCH_TOKENS, padding counted."""
    batch: list[int] = []
    for k in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[k] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(k)
    if batch:
        yield batch


def _fetched(name: str) -> Path:
    known = name if "/" in name else f"sentence-transformers/{name}"
    remedy = "check the name and the network, or `videmus models install --from DIR`"
    return hub.fetched(known, HUB_FILES, "embedding", remedy)
