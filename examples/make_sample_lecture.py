"""Make the sample lecture: about three minutes on tides, with its exact truth beside it.

    python examples/make_sample_lecture.py [FOLDER]        # default: the folder of this script

Writes `sample_lecture.mp4` (1280 × 720, 10 frames a second, one voice) and `sample_lecture.json`. Slides are drawn with
Pillow in DejaVu Sans, the lecturer in the corner is drawn too, the voice is flite's `rms` (Debian: flite, fonts-dejavu-core),
PyAV encodes. The same machine makes the same file again; nothing is random.

What it holds, so that a lecture memory has something to do:
- a slide that grows line by line ("What makes a tide"), and one that is only a picture with labels (Earth and Moon);
- two slides that look nearly alike (spring tide and neap tide), a table, and the picture once more, later;
- things only said (where the tides of D-Day were computed), things only shown (the tide in the Bristol Channel), things that
  take both (what happens at point 3 of the picture), and a pointing voice ("as you can see here").

The JSON has the shape of other lectures' truth: `steps` are the builds with their text and boxes (fractions of the
picture: left, top, right, bottom), `slide_runs` the showings, `utterances` what is said when. `questions` have a modality
(speech, slide, both, or none: the lecture does not say) and the spans that answer them, in seconds; of each modality
the first is asked by `make demo`.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import wave
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT, FPS, RATE = 1280, 720, 10, 16_000
FONTS = Path("/usr/share/fonts/truetype/dejavu")
VOICE = "rms"
PAUSE_S = 0.6  # between sentences
TURN_S = 1.1  # before and after a new slide
CAMERA = (1064, 548, 1256, 700)  # the lecturer's box: left, top, right, bottom

PAPER, INK, SEA, DEEP, MOON, WARM, SHADE = "#f7f5ef", "#1d2b3a", "#2b7bb9", "#12436d", "#8a8f98", "#c8553d", "#d9e6ef"


@dataclass(frozen=True)
class Slide:
    """`lines` appear one after the other where the script says so; `picture` names a drawing instead of text."""

    id: str
    title: str
    lines: tuple[str, ...] = ()
    picture: str = ""
    table: tuple[tuple[str, str], ...] = ()
    camera: bool = True


SLIDES = {
    slide.id: slide
    for slide in (
        Slide("title", "Why the Sea Rises Twice a Day", ("A short lecture on tides",), camera=False),
        Slide(
            "makes",
            "What makes a tide",
            (
                "The Moon pulls the near side harder",
                "Two bulges, on opposite sides of the Earth",
                "The Earth turns beneath them",
                "High water every 12 h 25 min",
            ),
        ),
        Slide("picture", "", picture="earth_and_moon", camera=False),
        Slide(
            "spring",
            "Tides through the month",
            ("Spring tide", "Sun and Moon in one line", "Range 20 % above average"),
        ),
        Slide(
            "neap",
            "Tides through the month",
            ("Neap tide", "Sun and Moon at right angles", "Range 20 % below average"),
        ),
        Slide(
            "range",
            "From low water to high water",
            table=(
                ("Bay of Fundy, Canada", "16 m"),
                ("Bristol Channel, Britain", "14 m"),
                ("Boston, United States", "3 m"),
                ("Naples, Italy", "0.4 m"),
            ),
        ),
        Slide(
            "work",
            "Tides at work",
            ("La Rance, France: 240 megawatts", "In service since 1966", "The Moon drifts away 3.8 cm a year"),
        ),
    )
}

# The script: slide, lines shown, then what is said while it stands like that.
SCRIPT: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    (
        "title",
        1,
        (
            "Good morning, and welcome.",
            "Today we ask why the ocean comes and goes, and why it does so twice a day.",
            "Sailors knew the rule of it long before there was a theory.",
        ),
    ),
    (
        "makes",
        1,
        (
            "Let us begin with the cause.",
            "Gravity becomes weaker with distance, so the water that faces the Moon is pulled more than the rest.",
        ),
    ),
    ("makes", 2, ("The result is not one hill of water but two, and the second one is a surprise.",)),
    ("makes", 3, ("We are carried through both of them, like a child on a carousel.",)),
    (
        "makes",
        4,
        (
            "Why not exactly twelve hours?",
            "Because the Moon moves on while we turn, and we need fifty minutes more each day to catch up with it.",
            "That is why tomorrow the beach will be at its widest a little later than today.",
        ),
    ),
    (
        "picture",
        0,
        (
            "As you can see here, the ocean is stretched along the line that leads to the Moon.",
            "A harbor at point number two has low water now, and six hours later it will have high water.",
            "Keep point number three in mind, because I will come back to it.",
        ),
    ),
    (
        "spring",
        3,
        (
            "The Sun plays its part as well.",
            "Its pull on the tides is a little less than half of the pull of the Moon.",
            "When the two work together, which happens when the Moon is new and when it is full, the water climbs highest.",
        ),
    ),
    (
        "neap",
        3,
        (
            "And one week later they work against each other, and the ocean is almost lazy.",
            "The two slides look alike, so mind the difference.",
        ),
    ),
    (
        "range",
        4,
        (
            "Look at this table.",
            "The first place here is the champion of the world.",
            "Its bay is so long that the water rocks in it, like a bathtub pushed at the right moment.",
            "And in the last place here, swimmers hardly notice a tide at all.",
            "Nobody there builds a pier on long legs.",
        ),
    ),
    (
        "picture",
        0,
        (
            "Now back to our picture, and to the question that I promised to answer.",
            "Why is there water piled up on the far side, where the Moon pulls least?",
            "Point number three is the place where the Earth itself is pulled away towards the Moon, "
            "and leaves the water behind.",
        ),
    ),
    (
        "work",
        3,
        (
            "People put this motion to use.",
            "The power station that you see here fills its basin at high water, and lets it run out through turbines.",
            "In the Second World War, the tides for the landing in Normandy were computed in Liverpool, "
            "with a machine made of brass wheels.",
            "And astronauts left mirrors on the Moon, so that we can measure with a laser how it moves away.",
            "Thank you, and mind the tide on your way home.",
        ),
    ),
)

# question, answer, modality, words of the utterances that answer it, slides (and which showing of them) whose final state
# answers it
QUESTIONS: tuple[tuple[str, str | None, str, tuple[str, ...], tuple[tuple[str, int], ...]], ...] = (
    ("Where were the tides for the landing in Normandy computed?", "In Liverpool", "speech", ("Liverpool",), ()),
    ("How high is the tide in the Bristol Channel?", "14 m", "slide", (), (("range", 0),)),
    (
        "Why is there a far bulge at point 3 of the picture?",
        "There the Earth is pulled away towards the Moon and leaves the water behind",
        "both",
        ("far side", "leaves the water behind"),
        (("picture", 0), ("picture", 1)),
    ),
    ("How fast does a tsunami cross an ocean?", None, "none", (), ()),
    (
        "Why is the time between two high waters not exactly twelve hours?",
        "The Moon moves on; fifty minutes more each day",
        "speech",
        ("Because the Moon moves on",),
        (),
    ),
    ("How many megawatts does La Rance have?", "240", "slide", (), (("work", 0),)),
    ("How far above average is the range of a spring tide?", "20 %", "slide", (), (("spring", 0),)),
    ("How far below average is the range of a neap tide?", "20 %", "slide", (), (("neap", 0),)),
    (
        "How strong is the pull of the Sun compared with that of the Moon?",
        "A little less than half",
        "speech",
        ("less than half",),
        (),
    ),
    (
        "Where is it low water in the picture?",
        "At point 2",
        "both",
        ("number two",),
        (("picture", 0),),
    ),
    (
        "Which place has the highest tides in the world?",
        "The Bay of Fundy",
        "both",
        ("champion",),
        (("range", 0),),
    ),
    ("How often does high water come?", "Every 12 h 25 min", "slide", (), (("makes", 0),)),
    ("What did the astronauts leave on the Moon?", "Mirrors", "speech", ("mirrors",), ()),
    ("What does the lecturer say about tsunamis?", None, "none", (), ()),
    ("Which company sells the brass machine?", None, "none", (), ()),
)


@dataclass
class Step:
    """One build of one slide on screen, from frame `first` to before frame `last`."""

    slide: Slide
    shown: int
    returns: bool
    first: int = 0
    last: int = 0
    lines: list[tuple[str, tuple[float, float, float, float]]] = field(default_factory=list)
    picture: Image.Image = field(default_factory=lambda: Image.new("RGB", (WIDTH, HEIGHT)))


@dataclass
class Utterance:
    text: str
    start: float
    end: float
    slide_id: str


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    steps, utterances, sound = planned()
    for step in steps:
        step.picture, step.lines = drawn(step.slide, step.shown)
    encode(folder / "sample_lecture.mp4", steps, sound)
    text = json.dumps(truth(steps, utterances, len(sound) / RATE), indent=1, ensure_ascii=False)
    (folder / "sample_lecture.json").write_text(text + "\n", "utf-8")
    print(
        f"{folder / 'sample_lecture.mp4'}: {len(sound) / RATE:.1f} s, {len(steps)} builds, {len(utterances)} sentences"
    )


# ---------------------------------------------------------------- time: the voice decides


def planned() -> tuple[list[Step], list[Utterance], NDArray[np.int16]]:
    """The steps with their frames, the sentences with their times, and the whole sound."""
    steps: list[Step] = []
    utterances: list[Utterance] = []
    pieces: list[NDArray[np.int16]] = []
    seen: list[str] = []
    samples = 0

    def add(sound: NDArray[np.int16]) -> None:
        nonlocal samples
        pieces.append(sound)
        samples += len(sound)

    for slide_id, shown, sentences in SCRIPT:
        new_slide = not steps or steps[-1].slide.id != slide_id
        step = Step(SLIDES[slide_id], shown, returns=new_slide and slide_id in seen)
        seen.append(slide_id)
        add(np.zeros(-samples % (RATE // FPS), np.int16))  # slides change on a frame
        step.first = samples * FPS // RATE
        if steps:
            steps[-1].last = step.first
        steps.append(step)
        add(np.zeros(int(RATE * (TURN_S if new_slide else PAUSE_S)), np.int16))
        for sentence in sentences:
            voice = spoken(sentence)
            start = samples / RATE
            add(voice)
            utterances.append(Utterance(sentence, round(start, 3), round(samples / RATE, 3), slide_id))
            add(np.zeros(int(RATE * PAUSE_S), np.int16))
        add(np.zeros(int(RATE * (TURN_S - PAUSE_S)), np.int16))
    add(np.zeros(RATE * 2 - samples % RATE, np.int16))
    steps[-1].last = samples * FPS // RATE
    return steps, utterances, np.concatenate(pieces)


def spoken(text: str) -> NDArray[np.int16]:
    """The sentence in flite's voice, 16 kHz mono, without the silence around it."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(["flite", "-voice", VOICE, "-t", text, "-o", file.name], check=True)
        with wave.open(file.name) as sound:
            assert sound.getframerate() == RATE and sound.getnchannels() == 1
            samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16)
    loud = np.flatnonzero(np.abs(samples) > 300)
    return samples[max(0, loud[0] - 480) : loud[-1] + 960]


# ---------------------------------------------------------------- pictures


def font(size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FONTS / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")), size)


class Page:
    """A slide being drawn: everything written on it is noted with its box."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
        self.draw = ImageDraw.Draw(self.image)
        self.lines: list[tuple[str, tuple[float, float, float, float]]] = []

    def write(
        self, at: tuple[float, float], text: str, size: int, color: str = INK, bold: bool = False, anchor: str = "la"
    ) -> None:
        face = font(size, bold)
        self.draw.text(at, text, color, face, anchor)
        left, top, right, bottom = self.draw.textbbox(at, text, face, anchor)
        box = (left / WIDTH, top / HEIGHT, right / WIDTH, bottom / HEIGHT)
        self.lines.append((text, (round(box[0], 4), round(box[1], 4), round(box[2], 4), round(box[3], 4))))


def drawn(slide: Slide, shown: int) -> tuple[Image.Image, list[tuple[str, tuple[float, float, float, float]]]]:
    page = Page()
    if slide.picture:
        earth_and_moon(page)
    elif slide.id == "title":
        title_page(page, slide)
    else:
        page.draw.rectangle((0, 0, WIDTH, 10), SEA)
        page.write((84, 74), slide.title, 54, DEEP, bold=True)
        page.draw.line((86, 156, 640, 156), SEA, 4)
        for number, line in enumerate(slide.lines[:shown]):
            top = 214 + 92 * number
            page.draw.ellipse((90, top + 16, 106, top + 32), WARM)
            page.write((132, top), line, 38)
        for number, (place, height) in enumerate(slide.table):
            top = 200 + 86 * number
            if number % 2 == 0:
                page.draw.rectangle((84, top, 1010, top + 78), SHADE)
            page.write((108, top + 18), place, 34)
            page.write((976, top + 18), height, 34, DEEP, bold=True, anchor="ra")
    return page.image, page.lines


def title_page(page: Page, slide: Slide) -> None:
    for x in range(WIDTH):
        crest = 520 + 34 * math.sin(x / 92) + 12 * math.sin(x / 37 + 1)
        page.draw.line((x, crest, x, HEIGHT), SEA)
        page.draw.line((x, crest + 74, x, HEIGHT), DEEP)
    page.draw.ellipse((1040, 80, 1150, 190), "#e3e0d5", MOON, 3)
    page.write((96, 200), slide.title, 60, DEEP, bold=True)
    page.write((98, 300), slide.lines[0], 36)


def earth_and_moon(page: Page) -> None:
    """The Earth with its stretched ocean, three points on the shore, and the Moon to the right; labels, no title."""
    cx, cy = 470, 360
    page.draw.ellipse((cx - 300, cy - 178, cx + 300, cy + 178), SEA)
    page.draw.ellipse((cx - 165, cy - 165, cx + 165, cy + 165), "#7fae7a", INK, 3)
    page.write((cx, cy), "Earth", 38, "white", bold=True, anchor="mm")
    page.draw.ellipse((1080, cy - 52, 1184, cy + 52), "#c9cbd0", MOON, 4)
    page.write((1132, cy + 88), "Moon", 34, anchor="mm")
    page.draw.line((cx + 310, cy, 1066, cy), MOON, 3)
    page.draw.polygon(((1066, cy), (1044, cy - 10), (1044, cy + 10)), MOON)
    page.write((900, cy - 34), "pull of the Moon", 26, MOON, anchor="mm")
    for x, y, name in ((cx + 232, cy, "1"), (cx, cy - 190, "2"), (cx - 232, cy, "3")):
        page.draw.ellipse((x - 27, y - 27, x + 27, y + 27), WARM, "white", 3)
        page.write((x, y), name, 32, "white", bold=True, anchor="mm")
    page.write((cx - 190, cy + 228), "far bulge", 32, DEEP, anchor="mm")
    page.write((cx + 200, cy + 228), "near bulge", 32, DEEP, anchor="mm")
    page.draw.line((cx - 195, cy + 206, cx - 240, cy + 84), DEEP, 3)
    page.draw.line((cx + 205, cy + 206, cx + 240, cy + 84), DEEP, 3)


def lecturer(frame: int, talking: bool) -> Image.Image:
    """The speaker's camera: a drawn face that sways, blinks and moves its mouth while the voice is heard."""
    left, top, right, bottom = CAMERA
    image = Image.new("RGB", (right - left, bottom - top), "#3b4a57")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 60, 152), "#46576a")
    x = 96 + round(5 * math.sin(frame / 9))
    y = 66 + round(2 * math.sin(frame / 5))
    draw.ellipse((x - 62, 112, x + 62, 220), "#7d4f50")
    draw.rectangle((x - 11, y + 34, x + 11, y + 58), "#c99a78")
    draw.ellipse((x - 34, y - 44, x + 34, y + 42), "#dcae8b")
    draw.pieslice((x - 38, y - 52, x + 38, y + 30), 180, 360, "#4a3728")
    for side in (-14, 14):
        if frame % 37 < 2:
            draw.line((x + side - 6, y - 4, x + side + 6, y - 4), INK, 2)
        else:
            draw.ellipse((x + side - 4, y - 8, x + side + 4, y), INK)
    mouth = (3, 9, 5, 11, 2)[frame % 5] if talking else 1
    draw.ellipse((x - 11, y + 18 - mouth // 2, x + 11, y + 20 + mouth // 2), "#8c3b3b")
    draw.rectangle((0, 0, right - left - 1, bottom - top - 1), outline=INK, width=2)
    return image


# ---------------------------------------------------------------- the file


def encode(path: Path, steps: list[Step], sound: NDArray[np.int16]) -> None:
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as out:
        video: Any = out.add_stream("libx264", rate=FPS)
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        video.codec_context.gop_size = 10 * FPS
        video.codec_context.thread_count = 1
        video.options = {"crf": "24", "preset": "slow", "tune": "stillimage"}
        audio: Any = out.add_stream("aac", rate=RATE)
        audio.layout, audio.bit_rate = "mono", 64_000
        for number, picture in enumerate(frames(steps, sound)):
            frame = av.VideoFrame.from_image(picture)
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            out.mux(video.encode(frame))
            chunk = sound[number * RATE // FPS : (number + 1) * RATE // FPS]
            heard = av.AudioFrame.from_ndarray(chunk[None, :], format="s16", layout="mono")
            heard.sample_rate, heard.pts, heard.time_base = RATE, number * RATE // FPS, Fraction(1, RATE)
            out.mux(audio.encode(heard))
        out.mux(video.encode(None))
        out.mux(audio.encode(None))


def frames(steps: list[Step], sound: NDArray[np.int16]) -> Iterator[Image.Image]:
    for step in steps:
        for number in range(step.first, step.last):
            picture = step.picture.copy()
            if step.slide.camera:
                heard = sound[number * RATE // FPS : (number + 1) * RATE // FPS]
                picture.paste(lecturer(number, bool(np.abs(heard).max(initial=0) > 1500)), CAMERA[:2])
            yield picture


def truth(steps: list[Step], utterances: list[Utterance], duration: float) -> dict[str, Any]:
    runs = showings(steps)
    names = {id(u): f"u{n}" for n, u in enumerate(utterances, 1)}
    return {
        "source": {"mode": "drawn", "tts": f"flite {VOICE}", "made_by": "examples/make_sample_lecture.py"},
        "video": {
            "file": "sample_lecture.mp4",
            "duration": round(duration, 3),
            "fps": FPS,
            "size": [WIDTH, HEIGHT],
            "camera_box": list(CAMERA),
        },
        "near_duplicate_slides": [["spring", "neap"]],
        "steps": [
            {
                "start": step.first / FPS,
                "end": step.last / FPS,
                "slide_id": step.slide.id,
                "kind": "slide",
                "page": list(SLIDES).index(step.slide.id) + 1,
                "lines_shown": len(step.lines),
                "lines_total": len(drawn(step.slide, 99)[1]),
                "enter": "cut",
                "transition_s": 0.0,
                "returns": step.returns,
                "title": step.slide.title,
                "text": "\n".join(text for text, _ in step.lines),
                "lines": [{"text": text, "box": list(box)} for text, box in step.lines],
            }
            for step in steps
        ],
        "questions": [
            {
                "question": question,
                "answer": answer,
                "modality": modality,
                "evidence": [
                    *({"start": u.start, "end": u.end} for u in utterances if any(w in u.text for w in words)),
                    *(dict(zip(("start", "end"), span(showing(runs, *s)[-1:]), strict=True)) for s in slides),
                ],
                "evidence_utterances": [names[id(u)] for u in utterances if any(w in u.text for w in words)],
                "evidence_slides": sorted({slide for slide, _ in slides}),
            }
            for question, answer, modality, words, slides in QUESTIONS
        ],
        "slide_runs": [
            {
                "slide_id": run[0].slide.id,
                "kind": "slide",
                "start": span(run)[0],
                "end": span(run)[1],
                "n_builds": len(run),
                "returns": run[0].returns,
                "text": "\n".join(text for text, _ in run[-1].lines),
                "speech": " ".join(u.text for u in utterances if span(run)[0] <= u.start < span(run)[1]),
            }
            for run in runs
        ],
        "transitions": [span(run)[0] for run in runs[1:]],
        "build_transitions": [step.first / FPS for step in steps[1:]],
        "utterances": [
            {
                "id": names[id(u)],
                "start": u.start,
                "end": u.end,
                "speaker": "lecturer",
                "text": u.text,
                "slide_id": u.slide_id,
            }
            for u in utterances
        ],
        "speaker_turns": [{"speaker": "lecturer", "start": utterances[0].start, "end": utterances[-1].end}],
    }


def showings(steps: list[Step]) -> list[list[Step]]:
    runs: list[list[Step]] = []
    for step in steps:
        if runs and runs[-1][0].slide.id == step.slide.id:
            runs[-1].append(step)
        else:
            runs.append([step])
    return runs


def showing(runs: list[list[Step]], slide_id: str, number: int) -> list[Step]:
    return [run for run in runs if run[0].slide.id == slide_id][number]


def span(run: list[Step]) -> tuple[float, float]:
    """Seconds from the first step's appearing to the last one's going."""
    return run[0].first / FPS, run[-1].last / FPS


if __name__ == "__main__":
    main()
