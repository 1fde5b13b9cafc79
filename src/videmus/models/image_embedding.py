"""Image–text embedding: pictures and short texts → unit vectors of one space, behind one small protocol.

None is bundled. `[models] image_embedding` names a folder or a hub's model: CLIP or SigLIP, exported to ONNX as a
vision and a text encoder. Understood are one folder with both (`vision_model.onnx` and `text_model.onnx`, here or in
onnx/, as transformers.js exports them) and fastembed's pair of repositories, one for each (`Qdrant/clip-ViT-B-32-vision`
and `-text`: name the vision one). Knows nothing of frames, stores or questions.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from videmus.config import Settings
from videmus.errors import ModelError
from videmus.models import hub

BATCH = 16
"""Pictures at once: more are no faster on two cores."""

_HUB_FILES = ("*.json", "onnx/vision_model.onnx", "onnx/text_model.onnx", "model.onnx", "*.txt", "*.model")
_CLIP_MEAN, _CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


class ImageEmbedder(Protocol):
    """Float32 vectors of unit length; `name` names the vector space."""

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...

    def embed_pictures(self, pictures: Sequence[bytes]) -> NDArray[np.float32]:
        """JPEG or PNG bytes; shape (len(pictures), dimension). Raises ModelError for what is no picture."""

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimension)."""


def load(settings: Settings) -> ImageEmbedder | None:
    """The embedder that the settings name, or None. Raises ModelError where its files are missing or do not fit."""
    wanted = settings.models.image_embedding
    if not wanted:
        return None
    folder = Path(wanted).expanduser()
    if folder.is_dir():
        return from_folders(folder, folder, name=folder.name, threads=settings.models.threads)
    vision = _fetched(wanted)
    text = _fetched(wanted.replace("-vision", "-text")) if wanted.endswith("-vision") else vision
    return from_folders(vision, text, name=wanted, threads=settings.models.threads)


def from_folders(vision: Path, text: Path, *, name: str, threads: int = 2) -> OnnxImageEmbedder:
    """From the folders of the two encoders, which may be one."""
    vision_file = _model_file(vision, "vision")
    text_file = _model_file(text, "text")
    tokenizer = text / "tokenizer.json"
    if vision_file is None or text_file is None or not tokenizer.is_file():
        raise ModelError(
            "no image–text model: a vision encoder, a text encoder (.onnx) and a tokenizer.json are needed",
            where=str(vision),
            next="put them there, or name another [models] image_embedding",
        )
    digest = hashlib.sha256(vision_file.read_bytes()).hexdigest()[:8]
    return OnnxImageEmbedder(
        f"{name}@{digest}",
        vision_file,
        text_file,
        tokenizer,
        hub.settings(vision / "preprocessor_config.json"),
        threads=threads,
    )


class OnnxImageEmbedder:
    """CLIP or SigLIP: pictures are resized and normalised as preprocessor_config.json says, texts padded as trained."""

    def __init__(
        self, name: str, vision: Path, text: Path, tokenizer: Path, preparation: dict[str, Any], *, threads: int = 2
    ) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._vision = onnxruntime.InferenceSession(str(vision), options, providers=["CPUExecutionProvider"])
            self._text = onnxruntime.InferenceSession(str(text), options, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # both libraries raise bare Exception for a file that is not theirs
            raise ModelError(
                f"the image–text model cannot be loaded: {error}", where=str(vision), next="fetch or install it again"
            ) from error
        self.name = name
        self._size = _side(preparation)
        self._crop = bool(preparation.get("do_center_crop", True)) and "crop_size" in preparation
        self._mean = np.array(preparation.get("image_mean", _CLIP_MEAN), np.float32)
        self._std = np.array(preparation.get("image_std", _CLIP_STD), np.float32)
        # SigLIP was trained on texts padded to 64 tokens, without a mask; CLIP on 77 with one.
        self._text_inputs = {node.name for node in self._text.get_inputs()}
        self._length = 77 if "attention_mask" in self._text_inputs else 64
        self._tokenizer.enable_truncation(max_length=self._length)
        self.dimension = int(self.embed_queries(["a"]).shape[1])

    def embed_pictures(self, pictures: Sequence[bytes]) -> NDArray[np.float32]:
        vectors = np.zeros((len(pictures), self.dimension), np.float32)
        feed = self._vision.get_inputs()[0].name
        for first in range(0, len(pictures), BATCH):
            batch = np.stack([self._prepared(p) for p in pictures[first : first + BATCH]])
            vectors[first : first + len(batch)] = _pooled(self._vision, {feed: batch})
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        ids = np.zeros((len(texts), self._length), np.int64)
        mask = np.zeros_like(ids)
        padding = self._tokenizer.padding
        ids += int(padding["pad_id"]) if padding else 0
        self._tokenizer.no_padding()
        for row, encoding in enumerate(self._tokenizer.encode_batch([t.strip() or "." for t in texts])):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        if "attention_mask" in self._text_inputs:  # with a mask, no need for the whole length
            length = int(mask.sum(1).max())
            ids, mask = ids[:, :length], mask[:, :length]
        feed = {"input_ids": ids, "attention_mask": mask}
        return _pooled(self._text, {name: feed[name] for name in self._text_inputs})

    def _prepared(self, picture: bytes) -> NDArray[np.float32]:
        from PIL import Image, UnidentifiedImageError

        try:
            image = Image.open(io.BytesIO(picture)).convert("RGB")
        except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
            raise ModelError(f"a picture cannot be read: {error}", where=self.name) from error
        if self._crop:
            scale = self._size / min(image.size)
            wide, high = (max(self._size, round(side * scale)) for side in image.size)
            image = image.resize((wide, high), Image.Resampling.BICUBIC)
            left, top = (wide - self._size) // 2, (high - self._size) // 2
            image = image.crop((left, top, left + self._size, top + self._size))
        else:
            image = image.resize((self._size, self._size), Image.Resampling.BICUBIC)
        values = (np.asarray(image, np.float32) / 255 - self._mean) / self._std
        return np.asarray(values.transpose(2, 0, 1), np.float32)


_COLOURS = {
    "red": (1, 0, 0), "green": (0, 1, 0), "blue": (0, 0, 1), "yellow": (1, 1, 0), "white": (1, 1, 1), "purple": (1, 0, 1),
    "black": (0, 0, 0),
}  # fmt: skip


class ScriptedImageEmbedder:
    """Colours as the space: a picture is its mean colour, a text the colours that it names. For tests, ours and users'."""

    def __init__(self, name: str = "colours") -> None:
        self.name = name
        self.dimension = 4

    def embed_pictures(self, pictures: Sequence[bytes]) -> NDArray[np.float32]:
        from PIL import Image

        means = [np.asarray(Image.open(io.BytesIO(p)).convert("RGB"), np.float32).mean((0, 1)) / 255 for p in pictures]
        return _unit(np.array([[*mean, 0.2] for mean in means], np.float32))

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = []
        for text in texts:
            named = [_COLOURS[w] for w in text.casefold().split() if w in _COLOURS]
            mean = np.mean(named, axis=0) if named else np.zeros(3)
            rows.append([*mean, 0.2])
        return _unit(np.array(rows, np.float32))


def _pooled(session: Any, feed: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """The embedding among a session's outputs: the named one, else the first of two dimensions."""
    names = [node.name for node in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, feed), strict=True))
    for name in ("image_embeds", "text_embeds", "pooler_output"):
        if name in outputs:
            return _unit(outputs[name])
    flat = [value for value in outputs.values() if value.ndim == 2]
    if not flat:
        raise ModelError(
            "this ONNX file gives no embedding", where=", ".join(names), next="export it with its projection"
        )
    return _unit(flat[0])


def _unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), np.float32)


def _side(preparation: dict[str, Any]) -> int:
    size = preparation.get("crop_size") or preparation.get("size") or 224
    if isinstance(size, dict):
        size = size.get("height") or size.get("shortest_edge") or 224
    return int(size)


def _model_file(folder: Path, part: str) -> Path | None:
    for pattern in (f"onnx/{part}_model.onnx", f"{part}_model.onnx", f"onnx/{part}_model*.onnx", f"{part}*.onnx"):
        if found := sorted(folder.glob(pattern)):
            return found[0]
    single = sorted(folder.glob("*.onnx"))
    return single[0] if len(single) == 1 else None


def _fetched(name: str) -> Path:
    return hub.fetched(name, _HUB_FILES, "image–text", "check the name and the network, or give a folder")
