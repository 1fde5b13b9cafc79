from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from material import grey
from videmus.errors import MediaError
from videmus.media import pictures


def test_jpeg_keeps_a_picture_nearly_and_png_exactly():
    rgb = np.arange(48 * 64 * 3, dtype=np.uint32).reshape(48, 64, 3).astype(np.uint8)
    smooth = np.linspace(0, 255, 64, dtype=np.uint8)[None, :, None].repeat(48, 0).repeat(3, 2)
    assert np.array_equal(pictures.decode(pictures.encode_png(rgb)), rgb)
    assert np.abs(pictures.decode(pictures.encode(smooth)).astype(int) - smooth).max() < 8


def test_thin_coloured_text_survives_jpeg():
    rgb = grey(255)
    rgb[20:22, 10:50] = (200, 0, 0)
    line = pictures.decode(pictures.encode(rgb))[20:22, 15:45].reshape(-1, 3).mean(axis=0)
    assert line[0] > 170 and line[1:].max() < 45


def test_a_picture_in_any_mode_becomes_rgb():
    for mode in ("L", "P", "RGBA", "1", "CMYK"):
        data = io.BytesIO()
        Image.new(mode, (5, 4)).save(data, "TIFF")
        assert pictures.decode(data.getvalue()).shape == (4, 5, 3)


def test_scaling_keeps_proportions():
    assert pictures.scaled(grey(9), 32).shape == (24, 32, 3)
    assert pictures.scaled(grey(9, (1000, 1)), 10).shape == (1, 10, 3)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", b"no picture at all", b"\x89PNG\r\n\x1a\n" + bytes(50)])
def test_what_is_no_picture_is_told_kindly(data: bytes):
    with pytest.raises(MediaError, match="not a picture"):
        pictures.decode(data, where="here")


def test_a_picture_of_absurd_size_is_refused_before_it_is_unpacked():
    data = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(data, "PNG")
    with pytest.raises(MediaError):
        pictures.decode(data.getvalue())
