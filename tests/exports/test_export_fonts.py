"""With fonts made here: what the machine has does not matter."""

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from videmus.exports import fonts
from videmus.exports.fonts import Lettering


def make_font(path, characters):
    """A font whose every character is a box of its own width."""
    names = [".notdef", *(f"g{ord(c)}" for c in characters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(c): f"g{ord(c)}" for c in characters})
    glyphs = {}
    for n, name in enumerate(names):
        pen = TTGlyphPen(None)
        pen.moveTo((50, 0))
        for point in ((50, 700), (300 + 40 * n, 700), (300 + 40 * n, 0)):
            pen.lineTo(point)
        pen.closePath()
        glyphs[name] = pen.glyph()
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics({name: (400 + 40 * n, 50) for n, name in enumerate(names)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupOS2()
    builder.setupPost()
    builder.setupNameTable({"familyName": path.stem, "styleName": "Regular"})
    builder.save(path)
    return path


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Installs fonts: `machine(DejaVuSans="ab")`."""

    def install(**characters):
        for name, has in characters.items():
            make_font(tmp_path / f"{name}.ttf", has)
        monkeypatch.setattr(fonts, "folders", lambda: [tmp_path])
        fonts.installed.cache_clear()

    yield install
    fonts.installed.cache_clear()


def test_further_fonts_are_taken_only_for_characters_that_are_missing(machine):
    machine(DejaVuSans="abc ", DroidSansFallback="学习")
    assert [p.stem for p in Lettering(["ab c"], str.isascii).paths] == ["DejaVuSans"]
    both = Lettering(["ab 学c"], str.isascii)
    assert [p.stem for p in both.paths] == ["DejaVuSans", "DroidSansFallback"]
    assert both.runs(both.written("ab 学 c")) == [(0, "ab "), (1, "学 "), (0, "c")]
    assert both.missing == ""


def test_what_no_font_has_is_told_and_the_nearest_thing_is_written(machine):
    machine(DejaVuSans="aeu-'>?")
    lettering = Lettering(["äé–’→語"], str.isascii)
    assert lettering.missing == "äé語"
    assert lettering.written("äé – ’ → 語") == "ae - ' -> ?"


def test_without_any_font_the_writers_own_is_taken(machine):
    machine()
    lettering = Lettering(["naïve 学"], lambda c: ord(c) < 256)
    assert (lettering.paths, lettering.missing) == ([], "学")
    assert lettering.written("naïve 学") == "naïve ?"


def test_the_font_inside_pillow_has_ascii_and_no_chinese():
    assert all(fonts.own_of_pillow(c) for c in "aZ09…")
    assert not fonts.own_of_pillow("学")


def test_a_damaged_font_and_an_unknown_one_are_passed_over(machine, tmp_path):
    machine(arial="ab", Wingdings="abc")
    (tmp_path / "DejaVuSans.ttf").write_bytes(b"\x00\x01\x00\x00 not a font")
    assert [p.stem for p in Lettering(["abc"], str.isascii).paths] == ["arial"]


def test_invisible_characters_and_line_breaks_are_spaces():
    assert fonts.tidy("a\nb\x07c\u202ed\ufeff\ud800 e\u0301") == "a b c d é"
