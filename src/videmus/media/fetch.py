"""A video, subtitles or an evidence file from an address on the web into a folder.

Enters: an http(s) address. Leaves: a file named after its content (`<16 digits of the fingerprint>.<name>`), whole or not
at all: it is loaded under another name and renamed when complete. A plain file needs nothing but the standard library, and
goes on where a lost connection stopped; the page of a video site needs yt-dlp, the extra `fetch`.
"""

from __future__ import annotations

import http.client
import re
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from videmus.errors import MediaError, MissingExtraError
from videmus.media.fingerprint import fingerprint

Progress = Callable[[int, int | None], None]
"""Told the bytes that are here and how many there will be, None where the server does not say."""

TIMEOUT_S = 30.0
REDIRECTS = 5
RESUMES = 5
BLOCK_BYTES = 2**18
PAGES = ("text/html", "application/xhtml+xml")
MEDIA_TYPES = ("video/", "audio/", "application/octet-stream", "binary/", "application/mp4", "application/ogg")
TEXT_TYPES = ("text/", "application/json", "application/x-subrip", "application/ssa", "application/x-ass")
TEXT_ENDINGS = (".vtt", ".srt", ".sbv", ".ass", ".ssa", ".txt", ".json")
"""Subtitles and evidence files are taken by what they are called: servers call most of them plain text."""

ENDINGS = {
    "video/mp4": ".mp4", "video/webm": ".webm", "video/quicktime": ".mov", "video/x-matroska": ".mkv",
    "video/x-msvideo": ".avi", "audio/mpeg": ".mp3", "audio/mp4": ".m4a", "audio/wav": ".wav", "audio/x-wav": ".wav",
    "audio/flac": ".flac", "audio/ogg": ".ogg", "video/ogg": ".ogv", "video/mp2t": ".ts",
    "text/vtt": ".vtt", "application/x-subrip": ".srt", "application/json": ".json",
}  # fmt: skip


def fetch(address: str, folder: str | Path, *, progress: Progress | None = None) -> Path:
    """Load the file behind the address into the folder (made when absent) and return its path.

    Raises MediaError where the address cannot be reached, refuses, or holds nothing to add; MissingExtraError where it is a page
    and yt-dlp is not installed.
    """
    folder = Path(folder)
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MediaError(
            "not an address that can be fetched", where=address, next="give an http:// or https:// address"
        )
    report = progress or (lambda done, total: None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
            loaded = _plain_file(address, Path(work), report) or _from_page(address, Path(work), report)
            target = folder / f"{fingerprint(loaded)[:16]}.{loaded.name}"
            loaded.replace(target)
            return target
    except OSError as error:
        raise MediaError(
            f"the file cannot be written: {error.strerror or error}",
            where=str(folder),
            next="check the folder and its space",
        ) from error


def title_of(path: Path) -> str:
    """The name of a fetched file without the digits before it and the ending."""
    return re.sub(r"^[0-9a-f]{16}\.", "", path.name).rsplit(".", 1)[0]


# ---------------------------------------------------------------- a plain file


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the server said of the file: its type, length, name, and the mark by which it is the same when asked again."""

    type: str
    length: int | None
    name: str
    mark: str | None


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = REDIRECTS

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme not in ("http", "https"):
            fp.close()
            raise MediaError("the address leads to something that is no web address", where=newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _plain_file(address: str, work: Path, report: Progress) -> Path | None:
    """The file, or None where the address is a page."""
    part = work / "part"
    first: _Answer | None = None
    for attempt in range(RESUMES + 1):
        done = part.stat().st_size if part.exists() else 0
        try:
            with _opened(address, done, first.mark if first else None) as response:
                answer = _answer(response, address)
                if first is None:
                    if answer.type in PAGES:
                        return None
                    if not _is_taken(answer):
                        raise MediaError(
                            f"the address holds {answer.type}, no video, sound, subtitles or evidence",
                            where=address,
                            next="give the file's address",
                        )
                    _check_space(answer.length, work, address)
                    first = answer
                resumed = done > 0 and response.status == http.client.PARTIAL_CONTENT
                _load(response, part, resumed, first.length, report)
        except urllib.error.HTTPError as error:
            error.close()
            raise MediaError(
                f"the server says {error.code} {error.reason}", where=address, next="check the address"
            ) from error
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            if first is None or attempt == RESUMES:
                reason = getattr(error, "reason", None) or error
                raise MediaError(
                    f"the address cannot be reached: {reason}", where=address, next="check the network and try again"
                ) from error
            continue
        if first.length is None or part.stat().st_size == first.length:
            return part.rename(work / first.name)
    raise MediaError("the connection is lost again and again", where=address, next="try again later")


def _opened(address: str, done: int, mark: str | None) -> http.client.HTTPResponse:
    headers = {"User-Agent": "videmus", "Accept-Encoding": "identity"}
    if done and mark:
        headers |= {"Range": f"bytes={done}-", "If-Range": mark}
    opener = urllib.request.build_opener(_Redirects)
    request = urllib.request.Request(address, headers=headers)
    response: http.client.HTTPResponse = opener.open(request, timeout=TIMEOUT_S)
    return response


def _answer(response: http.client.HTTPResponse, address: str) -> _Answer:
    headers = response.headers
    length = headers.get("Content-Length", "")
    etag = headers.get("ETag")
    return _Answer(
        type=headers.get_content_type(),
        length=int(length) if length.isdecimal() else None,
        name=_name(headers, response.url or address),
        mark=etag if etag and not etag.startswith("W/") else headers.get("Last-Modified"),
    )


def _is_taken(answer: _Answer) -> bool:
    if answer.type.startswith(MEDIA_TYPES):
        return True
    return answer.type.startswith(TEXT_TYPES) and answer.name.lower().endswith(TEXT_ENDINGS)


def _name(headers: Message, address: str) -> str:
    """A name that is safe on every system: the server's, else the address's last part."""
    given = headers.get_filename() or unquote(urlsplit(address).path).rsplit("/", 1)[-1]
    given = re.split(r"[/\\]", given)[-1]
    clean = re.sub(r'[<>:"|?*\x00-\x1f\x7f]', "_", given).strip(" .")
    stem, dot, ending = clean.rpartition(".")
    if not dot or not re.fullmatch(r"[A-Za-z0-9]{1,5}", ending):
        stem, ending = clean, ENDINGS.get(headers.get_content_type(), ".bin")[1:]
    return f"{stem.strip(' .')[:100] or 'video'}.{ending}"


def _check_space(length: int | None, folder: Path, address: str) -> None:
    free = shutil.disk_usage(folder).free
    if length is not None and length > free:
        raise MediaError(
            f"the file has {length:,} bytes, the disk {free:,} free",
            where=address,
            next="make room, or use another --library",
        )


def _load(response: http.client.HTTPResponse, part: Path, resumed: bool, total: int | None, report: Progress) -> None:
    with part.open("ab" if resumed else "wb") as file:
        while block := response.read(BLOCK_BYTES):
            file.write(block)
            report(file.tell(), total)


# ---------------------------------------------------------------- a video site's page


def _from_page(address: str, work: Path, report: Progress) -> Path:
    try:
        import yt_dlp
    except ImportError as error:
        raise MissingExtraError(
            "the address is a page, not a media file; taking videos from pages needs yt-dlp",
            where=address,
            next="pip install 'videmus[fetch]'",
        ) from error

    def hook(state: dict[str, Any]) -> None:
        if state.get("status") == "downloading":
            report(int(state.get("downloaded_bytes") or 0), state.get("total_bytes"))

    joined = "bv*[height<=720]+ba/b[height<=720]/b"
    options = {
        "format": joined if shutil.which("ffmpeg") else "b[height<=720]/b",
        "outtmpl": {"default": str(work / "%(title).100B.%(ext)s")},
        "windowsfilenames": True,
        "noplaylist": True,
        "quiet": True,
        "no_warnings": True,
        "noprogress": True,
        "progress_hooks": [hook],
        "socket_timeout": TIMEOUT_S,
    }
    try:
        with yt_dlp.YoutubeDL(options) as downloader:
            downloader.extract_info(address, download=True)
    except yt_dlp.utils.DownloadError as error:
        raise MediaError(
            f"yt-dlp cannot take a video from the page: {error.msg}",
            where=address,
            next="update yt-dlp, or load it by hand",
        ) from error
    files = sorted((f for f in work.iterdir() if f.is_file()), key=lambda f: f.stat().st_size)
    if not files:
        raise MediaError("the page holds no video", where=address, next="give the video's own address")
    return files[-1]
