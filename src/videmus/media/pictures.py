"""Pictures as files hold them: RGB arrays (height × width × 3, uint8) to and from JPEG and PNG, and smaller ones."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from videmus.errors import MediaError
from videmus.media.probe import MAX_PIXELS

JPEG_QUALITY = 85
"""Slide text stays sharp; a 720p slide takes about 60 KB."""


def encode(rgb: NDArray[np.uint8], quality: int = JPEG_QUALITY) -> bytes:
    """The picture as JPEG, colours at full resolution (thin coloured text survives)."""
    target = io.BytesIO()
    Image.fromarray(rgb).save(target, "JPEG", quality=quality, subsampling=0, optimize=True)
    return target.getvalue()


def encode_png(rgb: NDArray[np.uint8]) -> bytes:
    """The picture as PNG, without loss."""
    target = io.BytesIO()
    Image.fromarray(rgb).save(target, "PNG")
    return target.getvalue()


def decode(data: bytes, where: str = "picture") -> NDArray[np.uint8]:
    """The RGB array of a JPEG, PNG or other picture file's bytes. Raises MediaError for anything else."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > MAX_PIXELS:
                raise MediaError(f"a picture of {image.width} × {image.height} is too large", where=where)
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise MediaError("not a picture that can be read, or a damaged one", where=where) from error


def scaled(rgb: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """The picture at `width` pixels across, proportions kept."""
    height = max(1, round(rgb.shape[0] * width / rgb.shape[1]))
    if (height, width) == rgb.shape[:2]:
        return rgb
    return np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.LANCZOS))
