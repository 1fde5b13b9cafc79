"""Pictures at the size that a model needs: larger ones cost tokens and time, and providers scale them down anyway."""

from __future__ import annotations

import io

from videmus.models.language import Picture
from videmus.models.prices import jpeg_size

QUALITY = 85
"""JPEG quality of a scaled picture: slide text of 12 pixels stays readable."""


def picture(jpeg: bytes, label: str, longest: int) -> Picture:
    """A JPEG as a prompt's part, scaled so that its longer side has at most `longest` pixels; a smaller one as it is.

    Raises MediaError for one that has to be scaled and cannot be read.
    """
    if max(jpeg_size(jpeg)) <= longest:
        return Picture(jpeg, label)
    from PIL import Image

    from videmus.media.pictures import decode

    image = Image.fromarray(decode(jpeg, label))
    image.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=QUALITY)
    return Picture(out.getvalue(), label)
