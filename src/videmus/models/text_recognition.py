"""Text recognition: a picture → its lines of text with boxes, behind one small protocol.

Enters: RGB pictures, whole or a region of one. Leaves: lines, their boxes in fractions of the whole picture, and
confidences. The recogniser at hand is PP-OCRv6 (small), whose weights lie inside the rapidocr wheel; nothing is fetched.
Knows nothing of time, slides or reading order.

What the bundled model reads (tried on printed lines): the European languages in Latin letters with their accents (German,
French, Spanish, Polish, Czech, Nordic; Turkish loses the dots of İ and ı), Chinese, Japanese, and the Greek letters of
formulas. Not Vietnamese or accented Greek, whose letters it lacks in part, and not Cyrillic, Hangul, Arabic, Hebrew or the
scripts of India, which it has not at all: such text comes out as look-alikes of low confidence, or is not seen.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from videmus.config import ReadingSettings
from videmus.errors import ModelError
from videmus.model import Box, TextLine

if TYPE_CHECKING:
    from videmus.config import Settings

Picture = NDArray[np.uint8]
"""height × width × 3, RGB."""


@dataclass(slots=True)
class Counts:
    """What a recogniser was asked so far: whole pages, parts of pages, lines recognised in them, and lines that it left
    out because a picture had more than a person can read."""

    pages: int = 0
    parts: int = 0
    lines: int = 0
    left_out: int = 0


class TextRecogniser(Protocol):
    """`name` names the model in origins; `counts` grows with every call."""

    @property
    def name(self) -> str: ...
    @property
    def counts(self) -> Counts: ...

    def read(self, image: Picture, region: Box | None = None, skip: Sequence[Box] = ()) -> list[TextLine]:
        """The lines of the picture, or of `region` of it; none whose larger part lies in a box of `skip`; in no
        particular order.

        Boxes are fractions of the whole picture either way. Raises ValueError for a picture of another shape.
        """


def load(settings: Settings) -> TextRecogniser:
    """The recogniser that the settings ask for; its weights are loaded when it first reads."""
    return RapidRecogniser(settings.reading, threads=settings.models.threads)


# ---------------------------------------------------------------- PP-OCR, as bundled with rapidocr


class RapidRecogniser:
    """PP-OCRv6 small: DB text detection (Liao et al. 2020, arXiv:1911.08947), then CTC recognition of each line.

    rapidocr's own pipeline is not used: it turns tall narrow pieces by 90 degrees ("1" becomes a dash), pads short words to
    320 pixels, enlarges every region to 736 pixels, and looks for the orientation of lines that stand upright.
    """

    DETECTION = "PP-OCRv6_det_small.onnx"
    RECOGNITION = "PP-OCRv6_rec_small.onnx"

    def __init__(self, settings: ReadingSettings | None = None, *, threads: int = 2) -> None:
        self._settings = settings or ReadingSettings()
        self._threads = threads
        self._counts = Counts()
        self._lock = threading.Lock()
        self._loaded: _Network | None = None

    @property
    def name(self) -> str:
        return "PP-OCRv6-small"

    @property
    def counts(self) -> Counts:
        return self._counts

    def read(self, image: Picture, region: Box | None = None, skip: Sequence[Box] = ()) -> list[TextLine]:
        check_picture(image)
        with self._lock:
            network = self._loaded = self._loaded or _Network(self._settings, self._threads)
        height, width = image.shape[:2]
        left, top, right, bottom = _pixels(region or (0.0, 0.0, 1.0, 1.0), width, height)
        count(self._counts, region)
        if right - left < 4 or bottom - top < 4:
            return []
        part = np.ascontiguousarray(image[top:bottom, left:right, ::-1])  # the networks know BGR
        scale = min(1.0, self._settings.detection_side / max(height, width))
        quads, boxes = [], []
        for quad in network.detect(part, scale):
            box = (
                float(max(0.0, (quad[:, 0].min() + left) / width)),
                float(max(0.0, (quad[:, 1].min() + top) / height)),
                float(min(1.0, (quad[:, 0].max() + left) / width)),
                float(min(1.0, (quad[:, 1].max() + top) / height)),
            )
            if not any(inside(box, other) > 0.5 for other in skip):
                quads.append(quad)
                boxes.append(box)
        most = self._settings.most_lines
        if len(quads) > most:
            largest = sorted(range(len(quads)), key=lambda i: -_side(quads[i], 0, 1) * _side(quads[i], 0, 3))[:most]
            self._counts.left_out += len(quads) - most
            quads, boxes = [quads[i] for i in sorted(largest)], [boxes[i] for i in sorted(largest)]
        readings = network.recognise(part, quads)
        self._counts.lines += len(readings)
        return [
            TextLine(text, box, round(confidence, 4))
            for (text, confidence), box in zip(readings, boxes, strict=True)
            if text
        ]


class _Network:
    """The two networks, and what goes before and after each."""

    def __init__(self, settings: ReadingSettings, threads: int) -> None:
        import cv2
        import onnxruntime
        from rapidocr.ch_ppocr_det.utils import DBPostProcess

        self.cv2 = cv2
        self.settings = settings
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.enable_cpu_mem_arena = False  # pages differ in size: the arena would keep the largest of each for ever
        options.add_session_config_entry(
            "session.intra_op.allow_spinning", "0"
        )  # idle threads leave the cores to others
        models = _folder()

        def session(name: str) -> Any:
            file = models / name
            if not file.is_file():
                raise ModelError(
                    "the text recogniser's weights are missing",
                    where=str(file),
                    next="pip install --force-reinstall rapidocr",
                )
            return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

        self.detector = session(RapidRecogniser.DETECTION)
        self.recogniser = session(RapidRecogniser.RECOGNITION)
        alphabet = self.recogniser.get_modelmeta().custom_metadata_map["character"].splitlines()
        self.alphabet = ["", *alphabet, " "]  # CTC's blank first; the space is not in the file
        self.outlines = DBPostProcess(
            thresh=0.3, box_thresh=0.5, max_candidates=1000, unclip_ratio=1.6, use_dilation=True
        )

    def detect(self, part: Picture, scale: float) -> list[NDArray[np.float32]]:
        """The outlines of lines, each 4 × 2 in pixels, clockwise from the top left."""
        height, width = part.shape[:2]
        small = self.cv2.resize(
            part,
            (max(1, round(width * scale)), max(1, round(height * scale))),
            interpolation=self.cv2.INTER_AREA if scale < 1 else self.cv2.INTER_LINEAR,
        )
        rows, columns = small.shape[:2]
        edge = self.settings.edge
        padded = self.cv2.copyMakeBorder(
            small,
            edge,
            -(-(rows + 2 * edge) // 32) * 32 - rows - edge,
            edge,
            -(-(columns + 2 * edge) // 32) * 32 - columns - edge,
            self.cv2.BORDER_REPLICATE,
        )
        values = (padded.astype(np.float32) * (1 / 127.5) - 1.0).transpose(2, 0, 1)[None]
        (likelihood,) = self.detector.run(None, {self.detector.get_inputs()[0].name: np.ascontiguousarray(values)})
        found, _ = self.outlines(likelihood, padded.shape[:2])
        quads = []
        for outline in found:
            quad = (np.asarray(outline, np.float32) - edge) * np.array([width / columns, height / rows], np.float32)
            quad[:, 0] = quad[:, 0].clip(0, width)
            quad[:, 1] = quad[:, 1].clip(0, height)
            if np.ptp(quad[:, 0]) >= 3 and np.ptp(quad[:, 1]) >= 3:
                quads.append(quad)
        return quads

    def recognise(self, part: Picture, quads: Sequence[NDArray[np.float32]]) -> list[tuple[str, float]]:
        strips: list[Picture] = []
        owners: list[int] = []
        for i, quad in enumerate(quads):
            for strip in self._strips(part, quad):
                strips.append(strip)
                owners.append(i)
        found = [("", 0.0)] * len(quads)
        order = sorted(range(len(strips)), key=lambda i: strips[i].shape[1])
        while order:
            # Alike in width: padding costs as much as text does.
            first = strips[order[0]].shape[1]
            batch = [i for i in order[: self.settings.batch] if strips[i].shape[1] <= 1.2 * first + 16]
            del order[: len(batch)]
            width = max(self.settings.narrowest, -(-strips[batch[-1]].shape[1] // 16) * 16)
            values = np.zeros((len(batch), 3, 48, width), np.float32)
            for row, i in enumerate(batch):
                strip = strips[i]
                values[row, :, :, : strip.shape[1]] = (strip.astype(np.float32) * (1 / 127.5) - 1.0).transpose(2, 0, 1)
            (scores,) = self.recogniser.run(None, {self.recogniser.get_inputs()[0].name: values})
            for row, i in enumerate(batch):
                reading = self._decoded(scores[row])
                found[owners[i]] = max(found[owners[i]], reading, key=lambda r: r[1])
        return found

    def _strips(self, part: Picture, quad: NDArray[np.float32]) -> list[Picture]:
        """The line, straightened; a tall one as it is read upwards and downwards. A lone "1" is narrow too, but less so."""
        if _side(quad, 0, 3) < self.settings.upright * _side(quad, 0, 1):
            return [self._straight(part, quad)]
        return [self._straight(part, quad[[3, 0, 1, 2]]), self._straight(part, quad[[1, 2, 3, 0]])]

    def _straight(self, part: Picture, quad: NDArray[np.float32]) -> Picture:
        """What lies in the outline, whose first corner is the text's top left, 48 pixels high."""
        across, down = _side(quad, 0, 1), _side(quad, 0, 3)
        width = max(8, min(self.settings.widest, round(48 * across / down)))
        corners = np.array([[0, 0], [width, 0], [width, 48], [0, 48]], np.float32)
        mode = self.cv2.INTER_AREA if down > 96 else self.cv2.INTER_CUBIC
        matrix = self.cv2.getPerspectiveTransform(np.ascontiguousarray(quad, np.float32), corners)
        strip: Picture = self.cv2.warpPerspective(
            part, matrix, (width, 48), flags=mode, borderMode=self.cv2.BORDER_REPLICATE
        )
        return strip

    def _decoded(self, scores: NDArray[np.float32]) -> tuple[str, float]:
        """Greedy CTC: repeats merged, blanks dropped; the confidence is the mean over the letters."""
        best = scores.argmax(axis=1)
        kept = best != 0
        kept[1:] &= best[1:] != best[:-1]
        if not kept.any():
            return "", 0.0
        confidence = float(scores[np.flatnonzero(kept), best[kept]].mean())
        return tidy("".join(self.alphabet[i] for i in best[kept])), confidence


def _side(quad: NDArray[np.float32], one: int, other: int) -> float:
    """The longer of two opposite sides; `one` and `other` are the ends of the first."""
    opposite = [i for i in range(4) if i not in (one, other)]
    return max(
        float(np.linalg.norm(quad[one] - quad[other])),
        float(np.linalg.norm(quad[opposite[0]] - quad[opposite[1]])),
        1.0,
    )


def _folder() -> Path:
    try:
        return Path(str(metadata.distribution("rapidocr").locate_file("rapidocr"))) / "models"
    except metadata.PackageNotFoundError as error:
        raise ModelError(
            "the text recogniser is not installed", where="rapidocr", next="pip install rapidocr"
        ) from error


def _pixels(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    left, top, right, bottom = box
    return (
        max(0, int(left * width)),
        max(0, int(top * height)),
        min(width, int(np.ceil(right * width))),
        min(height, int(np.ceil(bottom * height))),
    )


# ---------------------------------------------------------------- what all recognisers share


_WIDE = str.maketrans({chr(c): chr(c - 0xFEE0) for c in range(0xFF01, 0xFF5F)} | {"\u3000": " ", "。": ".", "、": ","})
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_NOTE_MARK = re.compile(r"\b([A-Z][a-zß-ÿ]{2,}|[A-Z]{3,})\s*([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")

_AFFILIATED = re.compile(r"(?<=[A-Z][a-z])([a-z]*)(\d(?:,\d)*)(?=,|\s|$)")


def tidy(text: str) -> str:
    """One line as it is stored: composed letters, single spaces, Western marks in Western text, a note mark apart from its
    name ("Choi¹" would not be found as Choi; "x²" and "sin²" stay). Raised marks are often read as plain digits: where
    several names of a line end in one ("Park1, Lee2"), it is a line of authors."""
    text = unicodedata.normalize("NFC", text)
    if not _CJK.search(text):
        text = text.translate(_WIDE)
    text, raised = _NOTE_MARK.subn(lambda m: f"{m[1]} {m[2].translate(_RAISED)}", text)
    if raised + len(_AFFILIATED.findall(text)) > 1:
        text = _AFFILIATED.sub(r"\1 \2", text)
    return " ".join(text.split())


def check_picture(image: Picture) -> None:
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(f"a picture is height × width × 3 of uint8, not {image.shape} of {image.dtype}")


def count(counts: Counts, region: Box | None) -> None:
    if region is None:
        counts.pages += 1
    else:
        counts.parts += 1


def area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def inside(box: Box, other: Box) -> float:
    """The share of `box` that lies in `other`."""
    common = (max(box[0], other[0]), max(box[1], other[1]), min(box[2], other[2]), min(box[3], other[3]))
    return area(common) / area(box) if common[2] > common[0] and common[3] > common[1] else 0.0


# ---------------------------------------------------------------- for tests of Videmus and of programs that use it


class ScriptedRecogniser:
    """Reads what `script` says of a picture; keeps what was asked in `asked` as (region, skip)."""

    def __init__(self, script: Callable[[Picture], Sequence[TextLine]], name: str = "scripted") -> None:
        self._script = script
        self._name = name
        self._counts = Counts()
        self.asked: list[tuple[Box | None, tuple[Box, ...]]] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def counts(self) -> Counts:
        return self._counts

    def read(self, image: Picture, region: Box | None = None, skip: Sequence[Box] = ()) -> list[TextLine]:
        check_picture(image)
        count(self._counts, region)
        self.asked.append((region, tuple(skip)))
        lines = [
            line
            for line in self._script(image)
            if (region is None or inside(line.box, region) > 0.5) and not any(inside(line.box, s) > 0.5 for s in skip)
        ]
        self._counts.lines += len(lines)
        return lines
