"""What is made of a video: hearing, watching, reading, cutting, understanding, relating, summing up."""

from __future__ import annotations

from dataclasses import dataclass


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
class ScreenSettings:
    """The change detector. Levels are of 255, on a luma plane 320 wide; shares are of the picture.

    The numbers were found on the made lectures and screen recordings that `bench/segments.py` names; packet outliers and the
    moment of confirmation are those of the trial that preceded it, where every true change lay in such a group.
    """

    width: int = 320  # four pixels of 720p become one: a word stays visible, a change costs a fifth of the full picture
    change_level: int = 20  # a pixel differs; codec drift between keyframes stays under it
    rest_level: int = 14  # the same between neighbouring samples, where drift is smaller
    stir_level: int = 8  # from here pictures that were passed over are looked at: a fade's first steps
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
    half_moving: float = 0.65  # where more of the picture moves, only a cut is a change
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
    tremors: int = 4  # so many samples that tremble of the last 20 are a trembling camera's ...
    tremor_samples: int = 40  # ... until none of so many does
    tremor_ms: int = 150  # samples so far apart are compared
    restless_share: float = 0.08  # packets usually above this share of the keyframe: most of the picture moves
    lead_ms: int = 700  # dense decoding begins so long before the first outlier
    tail_ms: int = 1_200  # and ends so long after the last
    sample_ms: int = 100  # pictures looked at are so far apart where something changes ...
    fine_ms: int = 30  # ... and so far where it began


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
    same_picture: float = 0.9  # a part without text that correlates so (coarsely seen) is the same picture, moved ...
    more_edges: float = 1.25  # ... in which text came if its edges are so many times as many: cameras' 1.19, text's 1.9
    whole_share: float = 0.5  # more changed than this: the whole page is read
    turn_share: float = 0.5  # less of the old text left: another page, whose rows begin anew
    same_text: float = 0.85  # two readings of one place that are so alike (and agree in digits) are one line
    pages: int = 96  # pages remembered for their return, 0.25 MB each
    page_bits: int = 10  # of 64: hashes further apart are not compared
    footage_share: float = 0.65  # more of the picture moves: footage
    footage_ms: int = 10_000  # footage is read at most this often: a page costs a second, a minute of speech three
    brief_ms: int = 3_000  # a picture shown no longer, after one without text, is read like footage ...
    flat_share: float = 0.5  # ... unless so much is plain ground (slides 0.66 to 0.94, cameras 0.1 to 0.47)


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
    surroundings: float = 0.3  # a wordless page is one where so much of it stood around a slide before ...
    surroundings_cells: int = 40  # ... and in so many cells
    same_shot: float = 0.85  # a still picture so like a moving one before it is the same shot at rest
    ink_words: float = 0.1  # ink is read as so many of the page's words at most
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
class SummarySettings:
    """Chapters, summary and key terms. A part of `part_characters` (some 4,000 tokens) is one call of the map step."""

    part_characters: int = 16_000
    chapters: int = 12  # at most, as a person still overlooks them
    sentences: int = 8
    terms: int = 15
