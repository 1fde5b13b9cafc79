from __future__ import annotations

import builtins
import http.server
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from videmus.errors import MediaError, MissingExtraError
from videmus.media import fetch as module
from videmus.media.fetch import fetch, title_of
from videmus.media.fingerprint import fingerprint

DATA = bytes(range(256)) * 4_000


class Site(http.server.BaseHTTPRequestHandler):
    """A small web site: what it answers to is its path; `cuts` connections break off half way."""

    protocol_version = "HTTP/1.1"
    cuts = 0
    asked: list[tuple[str, str | None]] = []

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        Site.asked.append((path, self.headers.get("Range")))
        if path.startswith("/hop"):
            left = int(path[4:])
            self._head(302, Location="/talk.mp4" if left == 0 else f"/hop{left - 1}")
        elif path == "/away":
            self._head(302, Location="file:///etc/hostname")
        elif path == "/page":
            self._send(b"<html>a page</html>", "text/html; charset=utf-8")
        elif path in ("/talk.vtt", "/captions", "/talk.json", "/talk.srt"):
            types = {"/captions": "text/vtt", "/talk.json": "application/json"}
            self._send(b"WEBVTT", types.get(path, "text/plain; charset=utf-8"))
        elif path == "/text":
            self._send(b"plain", "text/plain")
        elif path == "/named":
            self._send(
                DATA, "video/mp4", **{"Content-Disposition": 'attachment; filename="..\\\\..\\\\evil/../Tides: 1?.mp4"'}
            )
        elif path in ("/talk.mp4", "/My%20Talk.mp4", "/"):
            self._media()
        else:
            self._head(404)

    def _media(self) -> None:
        begin = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        body = DATA[begin:]
        headers = {"ETag": '"1"', "Content-Type": "video/mp4", "Content-Length": str(len(body))}
        if begin:
            headers["Content-Range"] = f"bytes {begin}-{len(DATA) - 1}/{len(DATA)}"
        self._head(206 if begin else 200, **headers)
        if Site.cuts > 0:
            Site.cuts -= 1
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        else:
            self.wfile.write(body)

    def _send(self, body: bytes, type_: str, **headers: str) -> None:
        self._head(200, **{"Content-Type": type_, "Content-Length": str(len(body)), **headers})
        self.wfile.write(body)

    def _head(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": "0"} | headers).items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *arguments) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def fresh() -> None:
    Site.cuts, Site.asked = 0, []


def test_a_plain_file_is_loaded_and_named_after_its_content(site: str, tmp_path: Path):
    told: list[tuple[int, int | None]] = []
    path = fetch(
        f"{site}/talk.mp4?token=secret", tmp_path / "media", progress=lambda done, total: told.append((done, total))
    )
    assert path.read_bytes() == DATA
    assert path.name == f"{fingerprint(path)[:16]}.talk.mp4" and title_of(path) == "talk"
    assert told[-1] == (len(DATA), len(DATA))
    assert [p.name for p in (tmp_path / "media").iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("address", "name"),
    [("talk.vtt", "talk.vtt"), ("captions", "captions.vtt"), ("talk.json", "talk.json"), ("talk.srt", "talk.srt")],
)
def test_subtitles_and_evidence_files_are_loaded_by_what_they_are_called(
    site: str, tmp_path: Path, address: str, name: str
):
    assert fetch(f"{site}/{address}", tmp_path).name.partition(".")[2] == name


def test_a_lost_connection_goes_on_where_it_stopped(site: str, tmp_path: Path):
    Site.cuts = 2
    assert fetch(f"{site}/talk.mp4", tmp_path).read_bytes() == DATA
    assert [asked for _, asked in Site.asked] == [None, f"bytes={len(DATA) // 2}-", f"bytes={len(DATA) * 3 // 4}-"]


def test_a_connection_lost_again_and_again_is_given_up(site: str, tmp_path: Path):
    Site.cuts = 100
    with pytest.raises(MediaError, match="lost again"):
        fetch(f"{site}/talk.mp4", tmp_path)
    assert len(Site.asked) == module.RESUMES + 1 and list(tmp_path.iterdir()) == []


def test_redirects_are_followed_some_way_and_never_off_the_web(site: str, tmp_path: Path):
    assert fetch(f"{site}/hop2", tmp_path).read_bytes() == DATA
    for path in ("/hop9", "/away"):
        with pytest.raises(MediaError):
            fetch(f"{site}{path}", tmp_path / "other")


@pytest.mark.parametrize(
    ("path", "expected"), [("/named", "Tides_ 1_.mp4"), ("/My%20Talk.mp4", "My Talk.mp4"), ("/", "video.mp4")]
)
def test_names_are_safe(site: str, tmp_path: Path, path: str, expected: str):
    found = fetch(f"{site}{path}", tmp_path)
    assert found.parent == tmp_path and found.name[17:] == expected


@pytest.mark.parametrize(("path", "what"), [("/none.mp4", "404"), ("/text", "text/plain")])
def test_what_is_no_video_is_told_kindly(site: str, tmp_path: Path, path: str, what: str):
    with pytest.raises(MediaError, match=what) as caught:
        fetch(f"{site}{path}", tmp_path)
    assert caught.value.next and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["ftp://example.org/a.mp4", "file:///etc/passwd", "lecture.mp4", "http://"])
def test_only_web_addresses_are_fetched(tmp_path: Path, address: str):
    with pytest.raises(MediaError, match="not an address"):
        fetch(address, tmp_path)


def test_a_server_that_is_not_there_is_told_kindly(tmp_path: Path):
    with pytest.raises(MediaError, match="cannot be reached"):
        fetch("http://127.0.0.1:9/a.mp4", tmp_path)


def test_a_disk_without_room_is_told_before_loading(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1000})())
    with pytest.raises(MediaError, match="1,000 free"):
        fetch(f"{site}/talk.mp4", tmp_path)


def test_a_page_without_yt_dlp_says_what_to_install(site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def without(name, *arguments, **keywords):
        if name == "yt_dlp":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match="yt-dlp") as caught:
        fetch(f"{site}/page", tmp_path)
    assert caught.value.next == "pip install 'videmus[fetch]'"


class Downloader:
    """yt-dlp, scripted: it writes what it is told to, or fails."""

    failure: str | None = None
    size = 10

    def __init__(self, options: dict[str, Any]):
        self.options = options

    def __enter__(self) -> Downloader:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def extract_info(self, address: str, download: bool) -> None:
        if Downloader.failure:
            raise DownloadError(Downloader.failure)
        target = self.options["outtmpl"]["default"].replace("%(title).100B.%(ext)s", "A Talk.mp4")
        Path(target).write_bytes(bytes(Downloader.size))
        Path(target).with_suffix(".en.vtt").write_bytes(b"WEBVTT")
        for hook in self.options["progress_hooks"]:
            hook({"status": "downloading", "downloaded_bytes": Downloader.size, "total_bytes": None})


class DownloadError(Exception):
    def __init__(self, message: str):
        self.msg = message


@pytest.fixture
def yt_dlp(monkeypatch: pytest.MonkeyPatch) -> type[Downloader]:
    module = types.ModuleType("yt_dlp")
    module.__dict__.update(YoutubeDL=Downloader, utils=types.SimpleNamespace(DownloadError=DownloadError))
    monkeypatch.setitem(sys.modules, "yt_dlp", module)
    monkeypatch.setattr(Downloader, "failure", None)
    return Downloader


def test_a_page_with_yt_dlp_gives_its_video(site: str, tmp_path: Path, yt_dlp: type[Downloader]):
    told: list[tuple[int, int | None]] = []
    path = fetch(f"{site}/page", tmp_path, progress=lambda done, total: told.append((done, total)))
    assert title_of(path) == "A Talk" and path.read_bytes() == bytes(10)
    assert told == [(10, None)]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_page_that_yt_dlp_cannot_read_is_told_kindly(
    site: str, tmp_path: Path, yt_dlp: type[Downloader], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Downloader, "failure", "Unsupported URL")
    with pytest.raises(MediaError, match="Unsupported URL"):
        fetch(f"{site}/page", tmp_path)
