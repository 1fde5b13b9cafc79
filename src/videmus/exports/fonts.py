"""Letters for decks and contact sheets: which of this machine's fonts are needed to write a text in any script.

No font comes with Videmus. Those of the system are searched, the first that has most wins, further ones are taken only for
the characters that are still missing, and what no font has is replaced by the nearest thing that can be written.
"""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from PIL import ImageFont

FAMILIES = (
    # One for everything Latin, Greek and Cyrillic first; then by script.
    ("DejaVuSans", "NotoSans-Regular", "segoeui", "Arial Unicode", "arial", "LiberationSans-Regular", "FreeSans"),
    ("NotoSansCJK-Regular", "NotoSansCJKsc-Regular", "NotoSansSC-Regular", "msyh", "Hiragino Sans GB", "YuGothR"),
    ("malgun", "AppleSDGothicNeo", "DroidSansFallbackFull", "DroidSansFallback", "wqy-microhei", "wqy-zenhei"),
    ("Nirmala", "tahoma", "LeelawUI", "GeezaPro", "ITFDevanagari", "Thonburi", "seguisym", "seguiemj", "Apple Symbols"),
)
"""File names, without endings, of fonts that come with systems or are widely installed; best first. Any other
`NotoSans…-Regular` (one script each) comes after them."""

SCANNED_FILES = 20_000
"""Font folders are read up to here: more is no font folder."""

REPLACEMENTS = {
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("‘’‚‛′`", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("•●▪■◦∙‣·", "*"),
    "…": "...",
    "→": "->",
    "←": "<-",
    "⇒": "=>",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "×": "x",
    "ß": "ss",
    "ø": "o",
    "Ø": "O",
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "Œ": "OE",
    "ł": "l",
    "Ł": "L",
    "đ": "d",
    "€": "EUR",
}
"""What stands for a character that no font has, where taking its accents off does not help."""

_PROBE_SIZE = 24
_NO_CHARACTER = "\U0010ffff"


class Lettering:
    """The fonts that write some texts. `paths` are the fonts, the main one first (none: the writer's own font does);
    `missing` the characters that no font has and nothing as good stands for."""

    def __init__(self, texts: Iterable[str], own: Callable[[str], bool]) -> None:
        """`own(character)` tells what the writer's own font has: it is taken where the system has no font at all."""
        wanted = {c for text in texts for c in tidy(text) if not c.isspace()}
        self.paths: list[Path] = []
        self._font: dict[str, int] = {}
        self._own = own
        for path in installed():
            lacking = [c for c in wanted if c not in self._font]
            if self.paths and not lacking:
                break
            has = covered(path, lacking)
            if not has and (self.paths or wanted):
                continue
            self._font.update(dict.fromkeys(has, len(self.paths)))
            self.paths.append(path)
        self.missing = "".join(sorted(c for c in wanted if not self._has(c) and c not in REPLACEMENTS))

    def written(self, text: str) -> str:
        """The text on one line, of characters that the fonts have; □ or ? where there is nothing near."""
        return "".join(c if c.isspace() or self._has(c) else self._nearest(c) for c in tidy(text))

    def runs(self, text: str) -> list[tuple[int, str]]:
        """A written text in pieces of one font each, as (index in `paths`, piece); spaces go with what is before them."""
        pieces: list[tuple[int, str]] = []
        for character in text:
            font = self._font.get(character, pieces[-1][0] if pieces and character.isspace() else 0)
            if pieces and pieces[-1][0] == font:
                pieces[-1] = (font, pieces[-1][1] + character)
            else:
                pieces.append((font, character))
        return pieces

    def _has(self, character: str) -> bool:
        if not self.paths:
            return self._own(character)
        if character not in self._font and (has := covered(self.paths[0], character)):
            self._font.update(dict.fromkeys(has, 0))
        return character in self._font

    def _nearest(self, character: str) -> str:
        bare = "".join(c for c in unicodedata.normalize("NFKD", character) if not unicodedata.combining(c))
        for candidate in (bare, REPLACEMENTS.get(character), "□"):
            if candidate and candidate != character and all(map(self._has, candidate)):
                return candidate
        return "" if unicodedata.combining(character) else "?"


def tidy(text: str) -> str:
    """The text on one line, without control and invisible characters (joiners stay), accents put together with letters."""
    kept = (
        c if c in "\u200c\u200d" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Cn", "Co") else " " for c in text
    )
    return " ".join(unicodedata.normalize("NFC", "".join(kept)).split())


@lru_cache(maxsize=1)
def installed() -> tuple[Path, ...]:
    """The known fonts of this machine, best first."""
    order = {name.lower(): n for n, name in enumerate(n for family in FAMILIES for n in family)}
    found: dict[str, Path] = {}
    for path in _font_files(folders()):
        name = path.stem.lower()
        of_a_script = name.startswith("notosans") and name.endswith("-regular") and "mono" not in name
        if name in order or of_a_script:
            found.setdefault(name, path)
    return tuple(found[name] for name in sorted(found, key=lambda name: (order.get(name, len(order)), name)))


def folders() -> Sequence[Path]:
    """Where this system keeps fonts."""
    home = Path.home()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        own = [Path(local) / "Microsoft" / "Windows" / "Fonts"] if local else []
        return [Path(os.environ.get("WINDIR", r"C:\Windows")) / "Fonts", *own]
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library" / "Fonts"]
    return [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), home / ".local/share/fonts", home / ".fonts"]


def _font_files(places: Sequence[Path]) -> Iterable[Path]:
    seen = 0
    for place in places:
        for folder, below, names in os.walk(place):
            below.sort()
            for name in sorted(names):
                seen += 1
                if seen > SCANNED_FILES:
                    return
                if name.lower().endswith((".ttf", ".otf", ".ttc")):
                    yield Path(folder, name)


def covered(path: Path, characters: Iterable[str]) -> set[str]:
    """Those of the characters that the font draws as something else than its sign for a missing one."""
    try:
        font = opened(path, _PROBE_SIZE, ImageFont.Layout.BASIC)
        unknown = _drawn(font, _NO_CHARACTER)
        return {c for c in characters if _drawn(font, c) != unknown}
    except (OSError, ValueError):  # a damaged font is as good as none
        return set()


def opened(path: Path, size: int, layout: ImageFont.Layout | None = None) -> ImageFont.FreeTypeFont:
    """The font for Pillow; from its bytes, because Pillow looks for another file of the name where this one is damaged."""
    return ImageFont.truetype(io.BytesIO(path.read_bytes()), size, layout_engine=layout)


def own_of_pillow(character: str) -> bool:
    """Whether the font inside Pillow has the character."""
    font = _font_of_pillow()
    if not isinstance(font, ImageFont.FreeTypeFont):  # a Pillow without FreeType
        return character.isascii()
    return _drawn(font, character) != _drawn(font, _NO_CHARACTER)


@lru_cache(maxsize=1)
def _font_of_pillow() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(_PROBE_SIZE)


def _drawn(font: ImageFont.FreeTypeFont, character: str) -> tuple[object, ...]:
    mask, offset = font.getmask2(character, mode="L")
    return mask.size, offset, bytes(mask), font.getlength(character)
