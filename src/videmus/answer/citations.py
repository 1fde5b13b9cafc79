"""The check that every citation passes before anyone sees it, and how citations are linked and printed.

Enters: what an answerer wants to cite. Leaves: a `Citation`, or why there is none. All answerers, extractive or with a
model, use this check. Knows nothing of how the evidence was found.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote as percent_encoded
from urllib.parse import urlsplit, urlunsplit

from videmus import clock
from videmus.model import Citation, Evidence, NarrationDetail, Video
from videmus.segment.passages import UNSPACED

SHOWN_AS = {"screen": "slide"}
"""What a kind of evidence is called where a citation is printed."""


NAMED = "videmus:"
"""How an address begins that names a moment and opens nothing."""


def checked(
    n: int,
    evidence: str,
    quote: str,
    retrieved: Mapping[str, Evidence],
    videos: Mapping[str, Video],
) -> Citation | str:
    """The citation number `n`, or the reason why it must not be shown.

    It passes when the evidence is in the closed set `retrieved`, its video exists and holds its span, and the quoted words
    stand in its text (original or corrected).
    """
    row = retrieved.get(evidence)
    if row is None:
        return f"{evidence!r} is not among the evidence that was retrieved"
    video = videos.get(row.video)
    if video is None:
        return f"the video of {evidence!r} is not in the library"
    if not inside(row, video):
        return f"{evidence!r} lies outside its video"
    if not holds(row, quote):
        return f"the quoted words do not stand in {evidence!r}"
    return citation(n, row, quote, video)


def citation(n: int, row: Evidence, quote: str, video: Video) -> Citation:
    """A citation of what was checked already."""
    url = moment_url(video, row.start_ms)
    return Citation(n, row.id, row.video, video.title, row.start_ms, row.end_ms, row.kind, quote, url)


def inside(row: Evidence, video: Video) -> bool:
    """Whether the row's span lies within its video."""
    return 0 <= row.start_ms <= row.end_ms <= video.duration_ms


def holds(row: Evidence, quote: str) -> bool:
    """Whether the quoted words stand in the row, whole words, with NFKC, case and spaces folded."""
    wanted = folded(quote)
    return bool(wanted) and any(_stands(wanted, folded(text)) for text in quotable_texts(row))


def quotable_texts(row: Evidence) -> tuple[str, ...]:
    """The texts that a quote may stand in: the row's own, and a corrected narration's original."""
    if isinstance(row.detail, NarrationDetail) and row.detail.original:
        return (row.text, row.detail.original)
    return (row.text,)


def folded(text: str) -> str:
    """NFKC, case folded, every run of spaces one space."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def _stands(wanted: str, text: str) -> bool:
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not _inside_word(text, at) and not _inside_word(text, end):
            return True
        at = text.find(wanted, at + 1)
    return False


def _inside_word(text: str, at: int) -> bool:
    """Whether position `at` lies between two characters of one word; scripts without spaces have no such borders."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isalnum() and after.isalnum() and not UNSPACED.match(before) and not UNSPACED.match(after)


def moment_url(video: Video, at_ms: int) -> str:
    """The address that opens a moment: a file's or an address's own, with the time (a media fragment `#t=`; `t=` in
    the query where the site, such as YouTube, reads it there).

    What came as an evidence file that names no video there is has nothing to open: `videmus:ID#t=` only names the moment.
    """
    seconds = f"{at_ms // 1000}" if at_ms % 1000 == 0 else f"{at_ms / 1000:.3f}".rstrip("0")
    if not opens(video):
        return f"{NAMED}{video.id}#t={seconds}"
    parts = urlsplit(video.source)
    if parts.scheme in ("http", "https") and parts.netloc:
        host = parts.netloc.lower().removeprefix("www.").removeprefix("m.")
        if host in ("youtube.com", "youtu.be", "vimeo.com", "twitch.tv"):
            query = "&".join(
                [q for q in parts.query.split("&") if q and not q.startswith("t=")] + [f"t={at_ms // 1000}s"]
            )
            return urlunsplit(parts._replace(query=query, fragment=""))
        return urlunsplit(parts._replace(fragment=f"t={seconds}"))
    path = Path(video.source)
    if path.is_absolute():
        return f"{path.as_uri()}#t={seconds}"
    return f"{percent_encoded(video.source)}#t={seconds}"


def opens(video: Video) -> bool:
    """Whether its source is a video, and not the evidence file that all knowledge of it came with."""
    if "evidence" not in video.options:
        return True
    address = urlsplit(video.source)
    if address.scheme in ("http", "https"):
        return not address.path.lower().endswith(".json")
    return not video.source.lower().endswith(".json") and Path(video.source).is_file()


def printed(item: Citation) -> str:
    """`[1] Title · 12:45–13:02 · slide`."""
    span = f"{clock.format_time(item.start_ms)}–{clock.format_time(item.end_ms)}"
    return f"[{item.n}] {item.title} · {span} · {SHOWN_AS.get(item.kind, item.kind)}"
