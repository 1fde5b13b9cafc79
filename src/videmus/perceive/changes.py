"""When the picture changes, to a tenth of a second, without decoding what does not.

Enters: a video file. Leaves: one look for each period in which the picture shows no material change, in order, abutting,
with a settled picture of each. A talking head, a cursor, a camera box, noise and codec drift are no change; one added bullet
is. Knows nothing of text or slides.

How. The encoder has already marked where the picture changed. Packets are read without decoding; of each group of pictures
the keyframe is decoded, and the rest only where a packet is far above its neighbourhood, or where two keyframes differ
though no packet told (a slow fade, a small change beside a moving speaker). A keyframe before its time is the encoder's own
scene cut: with calm packets before it, the change is exactly there. Streams without such marks (one keyframe for long, a
constant bit rate, keyframes only) are decoded more densely.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from videmus.config import ScreenSettings
from videmus.media.packets import Group, PacketReader, Shown
from videmus.model import Frame, Look, Origin, frame_id
from videmus.perceive import motion
from videmus.perceive.still import Period, Sample, Tracker

STAGE = "changes"
VERSION = 1

REORDERED = 3
"""Packets after a large one that may show the same change: pictures between two that refer to each other."""


STILL_SHARE = 0.003
"""Packets usually no larger than this share of the keyframe: nothing moves (beside a speaker's small picture, 0.013)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A look's frame row (`picture` is empty until it is stored) and its picture: height × width × 3, RGB, uint8."""

    frame: Frame
    image: NDArray[np.uint8]


def looks(
    path: Path,
    video: str,
    settings: ScreenSettings | None = None,
    *,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Seen]:
    """One `Seen` for each look of the file's pictures, in order of time; `progress` is told the milliseconds passed.

    The spans of the looks abut from 0 to the last picture's end. `frame.look.changed` are boxes that cover all that differs
    from the look before, empty where that is most of the picture or there is none before; `frame.look.moving` those that
    never come to rest. Raises MediaError where the file has no pictures or none can be decoded.
    """
    settings = settings or ScreenSettings()
    before: Period | None = None
    with PacketReader(path, width=settings.width, least_ms=settings.group_ms, most_ms=settings.longest_ms) as reader:
        tracker = Tracker(settings)
        watch = _Watch(reader, settings, tracker)
        for period in _joined(watch.periods(progress), tracker, settings):
            yield _seen(video, period, before, tracker, settings)
            before = period


def _joined(periods: Iterator[Period], tracker: Tracker, settings: ScreenSettings) -> Iterator[Period]:
    """Periods without those that are none: small changes that follow one another closely (ink, typing) are one change, dated
    where the first began; and where two differ only in what moves in one of them, the motion had not been learned yet."""
    before: Period | None = None
    held: Period | None = None
    for period in periods:
        if held is not None:
            brief = before is not None and held.end_ms - held.start_ms < settings.minor_ms
            follows = brief and _minor(before, held, tracker, settings) and _minor(held, period, tracker, settings)
            strokes = held.drawn and period.drawn and held.end_ms - held.start_ms < settings.stroke_ms
            if follows or strokes or _only_moves(held, period, tracker, settings):
                period.start_ms = held.start_ms
            else:
                yield held
                before = held
        held = period
    if held is not None:
        yield held


def _only_moves(one: Period, other: Period, tracker: Tracker, settings: ScreenSettings) -> bool:
    moving = tracker.mask_of(one) | tracker.mask_of(other)
    if motion.share(moving) > settings.half_moving:
        return False
    changed = tracker.differing(one.luma(), other.luma(), settings.change_level)
    return not tracker.material(changed & ~moving)


def _minor(one: Period | None, other: Period, tracker: Tracker, settings: ScreenSettings) -> bool:
    if one is None:
        return False
    changed = tracker.differing(one.luma(), other.luma(), settings.change_level)
    return motion.share(changed & ~(tracker.mask_of(one) & tracker.mask_of(other))) < settings.minor_share


def _seen(video: str, period: Period, before: Period | None, tracker: Tracker, settings: ScreenSettings) -> Seen:
    shown = period.sample.token
    assert isinstance(shown, Shown)
    image = shown.rgb()
    moving = tracker.mask_of(period)
    look = Look(
        period.start_ms,
        period.end_ms,
        _changed_boxes(period, before, tracker, settings),
        motion.boxes(moving, 4) if moving.any() else (),
    )
    at_ms = min(max(shown.at_ms, period.start_ms), period.end_ms - 1)
    frame = Frame(
        id=frame_id(video, at_ms),
        video=video,
        at_ms=at_ms,
        picture="",
        hash=motion.difference_hash(shown.luma),
        width=image.shape[1],
        height=image.shape[0],
        origin=Origin(STAGE, VERSION),
        look=look,
    )
    return Seen(frame, image)


def _changed_boxes(
    period: Period, before: Period | None, tracker: Tracker, settings: ScreenSettings
) -> tuple[tuple[float, float, float, float], ...]:
    """Boxes of all that differs from the look before. A lower threshold than the detector's: a faint line that changed
    beside a strong one must be read too."""
    if before is None:
        return ()
    changed = motion.differing(period.luma(), before.luma(), settings.rest_level)
    if motion.share(changed) > settings.shot_share:
        return ()
    changed &= ~(tracker.mask_of(period) & tracker.mask_of(before))
    return motion.boxes(motion.widened(changed, 2), 6, pad=3)


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a group ends: with the keyframe `upcoming` of the next one, or its own last picture (None where neither can be had);
    `restless`: its packets all carry news."""

    group: Group
    upcoming: Shown | None
    following: Group | None
    restless: bool


class _Span(NamedTuple):
    """Pictures from when to when are looked at; `dated`: all of them, so that what changes is dated to the picture."""

    start_ms: int
    end_ms: int
    dated: bool = True


class _Watch:
    """Chooses what of each group is decoded, and feeds the tracker."""

    def __init__(self, reader: PacketReader, settings: ScreenSettings, tracker: Tracker) -> None:
        self.reader = reader
        self.settings = settings
        self.tracker = tracker
        self.lengths: deque[int] = deque(maxlen=30)
        self.lead_ms = max(settings.lead_ms, round(2 * REORDERED * 1000 / reader.fps))
        self.near = max(8, round(settings.near_ms * reader.fps / 1000))
        self.earlier = self.later = self.times = np.zeros(0, np.int64)
        self.passed: list[Shown] = []

    def periods(self, progress: Callable[[int], None] | None) -> Iterator[Period]:
        groups = self.reader.groups()
        end_ms = 0
        group = next(groups, None)
        shown = None if group is None else self.reader.keyframe(group)
        while group is not None:
            following = next(groups, None)
            upcoming = self._final(group) if following is None else self.reader.keyframe(following)
            for sample in self._samples(group, shown, following, upcoming):
                yield from self.tracker.see(sample)
            end_ms = max(end_ms, max(group.times) + max(1, round(1000 / self.reader.fps)))
            if progress is not None:
                progress(end_ms)
            group, shown = following, upcoming
        if self.tracker.period is None:
            raise self.reader.nothing()
        yield from self.tracker.finish(end_ms)

    def _final(self, group: Group) -> Shown | None:
        """The last group's last picture; in less time than motion is learned in it proves nothing."""
        long = max(group.times) - group.start_ms >= self.settings.learn_ms
        return self.reader.final(group) if long else None

    # ------------------------------------------------------------ one group

    def _samples(
        self, group: Group, shown: Shown | None, following: Group | None, upcoming: Shown | None
    ) -> Iterator[Sample]:
        self._learn(group)
        chained = group.continues or group.open_end
        if shown is None or chained:
            for picture in self.reader.pictures(group, spacing_ms=self._spacing(group)):
                yield from map(_sample, self._due(picture))
            return
        self.passed.clear()
        restless = self._restless(group)
        self.tracker.busy = restless
        yield _sample(shown)
        ending = _Ending(group, upcoming, following, restless)
        spans = self._around(self._events(group, self.settings.outlier_keyframe))
        if group.start_ms < self.settings.learn_ms or self.tracker.must_learn:
            spans.append(_Span(group.start_ms, group.start_ms + self.settings.learn_ms, dated=False))
        searching = not spans and self._slow_change(ending)
        if searching and not self.tracker.mostly_moving and self._usual(group) < STILL_SHARE:
            spans = self._around(self._events(group, 0))
        if spans or searching:
            yield from self._dense(shown, spans, ending)
        if self.tracker.last is not None and group.next_ms is not None and not restless:
            yield Sample(max(self.tracker.last.at_ms, group.next_ms - 1), self.tracker.last.luma)

    def _dense(self, shown: Shown, spans: list[_Span], ending: _Ending, checked: bool = False) -> Iterator[Sample]:
        """Samples of the spans; between them only the decoder works. The pictures on both sides of what is left out must be
        alike: else a change lies there that no packet told, and all from there on is looked at (`checked`). Past the last
        span, until the picture has settled, and, where the next keyframe is still another picture, until that is found."""
        tracker = self.tracker
        end = max((s.end_ms for s in spans), default=0)
        sought = ending.upcoming if (not spans or tracker.mostly_moving) and self._slow_change(ending) else None
        sought_ms = shown.at_ms if sought is not None else None
        gap_ms = None

        def wanted(at_ms: int, dated: bool = False) -> bool:
            inside = any(s.start_ms <= at_ms <= s.end_ms and s.dated >= dated for s in spans)
            return inside or sought is not None or not tracker.settled

        first = 0 if sought is not None else min((s.start_ms for s in spans), default=0)
        pictures = self.reader.pictures(
            ending.group,
            from_ms=max(shown.at_ms + 1, first),
            spacing_ms=self._spacing(ending.group),
            whole=lambda at_ms: wanted(at_ms, dated=True),
        )
        with closing(pictures):
            for picture in pictures:
                if sought is not None and tracker.settled and picture.at_ms - (sought_ms or 0) >= self.settings.fade_ms:
                    sought_ms = picture.at_ms
                    if not tracker.differs(sought.luma):
                        sought = None  # what differed moves, as is known by now, or the change is found
                if tracker.settled and not wanted(picture.at_ms):
                    if picture.at_ms <= end:
                        continue
                    if sought_ms is not None or not self._slow_change(ending):
                        break
                    sought, sought_ms = ending.upcoming, picture.at_ms
                due = self._due(picture)
                if not due:
                    continue
                last = tracker.last
                if last is not None and not tracker.busy and picture.at_ms - last.at_ms > self.settings.settle_ms:
                    if not checked and tracker.differs(picture.luma):
                        gap_ms = last.at_ms + 1
                        break
                    yield Sample(picture.at_ms - 1, last.luma)
                yield from map(_sample, due)
                if sought is None and picture.at_ms > end - self.settings.tail_ms and self._arrived(ending):
                    break
        if gap_ms is not None:
            yield from self._dense(shown, [_Span(gap_ms, end)], ending, checked=True)
        else:
            yield from map(_sample, self._stirring(self.passed[-1:]))

    def _arrived(self, ending: _Ending) -> bool:
        """Whether what is on screen at rest is the next keyframe's picture already."""
        learning = self.tracker.must_learn or ending.group.start_ms < self.settings.learn_ms
        if ending.upcoming is None or learning or not self.tracker.settled or self.tracker.mostly_moving:
            return False
        return not self.tracker.differs(ending.upcoming.luma)

    # ------------------------------------------------------------ which pictures are looked at

    def _spacing(self, group: Group) -> int:
        """Of keyframes alone each picture costs as much as any other."""
        return self.settings.sample_ms if group.keys.all() else self.settings.fine_ms

    def _due(self, picture: Shown) -> list[Shown]:
        """The pictures to look at by now. At rest one in `motion_ms` does; where that one begins to differ, those passed over
        before it come first, so that a change is dated to the picture."""
        last = self.tracker.last
        step = self.settings.motion_ms if self.tracker.settled else self.settings.sample_ms
        if last is not None and picture.at_ms - last.at_ms < step:
            self.passed.append(picture)
            return []
        return self._stirring([picture]) or [picture]

    def _stirring(self, latest: list[Shown]) -> list[Shown]:
        """What was passed over, and the latest picture after it, if that begins to differ; forgotten otherwise."""
        passed, self.passed = self.passed, []
        if not (latest and passed and self.tracker.settled and self.tracker.stirs(latest[-1].luma)):
            return []
        return passed if latest[-1] is passed[-1] else [*passed, *latest]

    # ------------------------------------------------------------ what the packets tell

    def _around(self, events: list[int]) -> list[_Span]:
        return [_Span(e - self.lead_ms, e + self.settings.tail_ms) for e in events]

    def _learn(self, group: Group) -> None:
        if group.next_ms is not None:
            self.lengths.append(group.next_ms - group.start_ms)
        order = np.argsort(group.times_ms, kind="stable")
        small = order[~group.keys[order]]
        self.earlier, self.later = self.later[-self.near :], group.sizes[small]
        self.times = group.times_ms[small]

    def _events(self, group: Group, least: float) -> list[int]:
        """Times of packets far above those before them, or those after (a still picture before, or after, a change), and above
        the share `least` of the group's keyframe."""
        bound = least * float(group.sizes[group.keys].max(initial=0) or group.sizes.max())
        line = [*self.earlier.tolist(), *self.later.tolist()]
        found = []
        for i in np.flatnonzero(self.later > bound).tolist():
            at = i + len(self.earlier)
            before, after = line[max(0, at - self.near) : at], line[at + 1 + REORDERED : at + 1 + REORDERED + self.near]
            usual = min((_percentile(w, 0.85) for w in (before, after) if len(w) >= 4), default=0.0)
            if line[at] > self.settings.outlier_times * usual:
                found.append(int(self.times[i]))
        return found

    def _restless(self, group: Group) -> bool:
        """Every packet carries news: most of the picture moves."""
        return self._usual(group) > self.settings.restless_share

    def _usual(self, group: Group) -> float:
        """The middle packet as a share of the keyframe; 0 where all are keyframes."""
        keys = group.keys
        return 0.0 if keys.all() else float(np.median(group.sizes[~keys]) / group.sizes[keys].max())

    def _slow_change(self, ending: _Ending) -> bool:
        """The picture at the group's end is another, though no packet told, and its end is no scene cut of the encoder's."""
        group, upcoming = ending.group, ending.upcoming
        if upcoming is None:
            return False
        on_time = group.next_ms is None or group.next_ms - group.start_ms >= 0.97 * max(self.lengths)
        if self.tracker.mostly_moving:
            return ending.restless and on_time and ending.following is not None and not self._restless(ending.following)
        if not (on_time or ending.restless or bool(group.keys.all())):
            return False
        return self.tracker.differs(upcoming.luma)


def _percentile(sizes: list[int], share: float) -> float:
    """Of a few values, as numpy's, at a tenth of its time."""
    line = sorted(sizes)
    below, part = divmod(share * (len(line) - 1), 1)
    return line[int(below)] + part * (line[min(int(below) + 1, len(line) - 1)] - line[int(below)])


def _sample(shown: Shown) -> Sample:
    return Sample(shown.at_ms, shown.luma, shown, shown.key)
