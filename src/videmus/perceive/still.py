"""Periods in which a picture shows no material change, out of samples of it: the tracker behind `changes.looks`.

Enters: samples (a time, a small luma plane) in order, closely spaced where something may have changed and far apart where
nothing did. Leaves: periods, each with its exact start, the sample that stands for it and what moves in it. Knows nothing
of packets or files.

How. Each period has a reference, slowly updated. A sample that differs from it outside what moves opens a *pending* change,
which is confirmed once the picture has come to rest again (or is seen to differ at rest somewhere beside the motion), and
dated back to the first sample that differed: of a fade, its beginning. Motion is change in many different samples of one
period; a fade or a cut touches few. A change of nearly everything begins a new shot, whose motion is learned anew. A
camera's tremor, which changes edges all over the picture by a little, is felt and counts as nothing while it lasts.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from videmus.config import ScreenSettings
from videmus.perceive import motion
from videmus.perceive.motion import Luma, Mask


@dataclass(frozen=True, slots=True)
class Sample:
    """`token` is what the caller wants back with the period that this sample stands for (the decoded picture); a sample
    without one only says that the picture stayed as it was."""

    at_ms: int
    luma: Luma
    token: object = None
    key: bool = False


@dataclass(slots=True)
class Period:
    """`mask` is what moves in it (None: to be found anew), `known` the hot pixels that a mask was last found of, and that mask;
    `plane` the reference in whole levels."""

    start_ms: int
    reference: NDArray[np.float32]
    heat: NDArray[np.float32]
    sample: Sample
    candidate: Sample
    end_ms: int = 0
    seen: int = 0
    busy: bool = False
    drawn: bool = False
    mask: Mask | None = None
    known: tuple[Mask, Mask] | None = None
    plane: Luma | None = None

    def keep(self, sample: Sample, apart_ms: int) -> None:
        """Let a sample stand for the period once a later one shows that no change was near."""
        if sample.token is None:
            return
        if sample.at_ms - self.candidate.at_ms >= apart_ms:
            self.sample = self.candidate
            self.candidate = sample
        elif self.candidate is self.sample:
            self.candidate = sample

    def luma(self) -> Luma:
        """The reference in whole levels."""
        if self.plane is None:
            self.plane = self.reference.astype(np.uint8)
        return self.plane

    def shows(self, luma: Luma) -> None:
        """Take the picture for the reference."""
        self.reference = luma.astype(np.float32)
        self.plane = luma

    def approach(self, luma: Luma, level: int, rate: float) -> None:
        """Move the reference by `rate` of the way to the picture, but for pixels that are more than `level` away."""
        step = luma - self.reference
        if not step.any():
            return
        far = np.abs(step) > level
        step *= np.float32(rate)
        step[far] = 0
        self.reference += step
        self.plane = None


@dataclass(slots=True)
class _Pending:
    first_ms: int
    samples: list[Sample] = field(default_factory=list)
    restless: Mask | None = None


class Tracker:
    """Feed samples with `see`; periods that have ended come back from it, the last one from `finish`."""

    def __init__(self, settings: ScreenSettings) -> None:
        self.settings = settings
        self.period: Period | None = None
        self.pending: _Pending | None = None
        self.last: Sample | None = None
        self.recent: deque[Sample] = deque()
        self.calm_from: Sample | None = None
        self.observed: Sample | None = None
        self.busy = False  # the packets say that most of the picture moves
        self.calm_heat: NDArray[np.float32] | None = None
        self.tremors: deque[bool] = deque(maxlen=settings.tremor_samples)
        self.felt: deque[Sample] = deque(maxlen=3)
        self.trembles = False
        self.done: deque[Period] = deque()

    # ------------------------------------------------------------ what others ask

    @property
    def moving(self) -> Mask | None:
        return None if self.period is None else self._moving(self.period)

    def mask_of(self, period: Period) -> Mask:
        return self._moving(period)

    @property
    def mostly_moving(self) -> bool:
        return self.period is not None and self._mostly_moves(self.period)

    @property
    def learned(self) -> bool:
        """Whether it is known by now what moves in this shot."""
        return not self.busy or (self.period is not None and self.period.seen >= self.settings.learn_samples)

    @property
    def must_learn(self) -> bool:
        """Whether a shot has begun of which it is not known what moves, though its packets say that much does."""
        return self.busy and (self.pending is not None or not (self.learned or self.mostly_moving))

    @property
    def settled(self) -> bool:
        return self.pending is None

    def differing(self, a: Luma, b: Luma, level: int) -> Mask:
        """Where two planes differ, by more than the camera's tremor if it trembles."""
        return motion.differing_beyond_tremor(a, b, level) if self.trembles else motion.differing(a, b, level)

    def differs(self, luma: Luma) -> bool:
        """Whether the picture differs materially from what is on screen now, outside what moves."""
        if self.period is None:
            return False
        if self.pending is not None:
            latest = self.pending.samples[-1].luma
            changed = self.differing(luma, latest, self.settings.change_level) & ~self._moving(self.period)
            return self.material(changed)
        return self.material(self._changed(self.period, luma))

    def stirs(self, luma: Luma) -> bool:
        """Whether something at rest begins to differ, as at the beginning of a fade: a lower bar than a change's. Where most of
        the picture moves, only a cut counts."""
        if self.period is None or self.last is None:
            return False
        if self._mostly_moves(self.period):
            return motion.likeness(luma, self.last.luma) < self.settings.cut_likeness
        begun = self.differing(luma, self.period.luma(), self.settings.stir_level) & ~self._moving(self.period)
        return int(np.count_nonzero(begun)) >= self.settings.change_pixels

    def material(self, changed: Mask) -> bool:
        """More than a pointer: any region larger than one, or many small ones."""
        count = int(np.count_nonzero(changed))
        if count < self.settings.change_pixels or count > 16 * motion.CELL * motion.CELL:
            return count >= self.settings.change_pixels
        found = motion.regions(changed, self.settings.change_pixels)
        pointer = self.settings.pointer_pixels
        large = [r for r in found if r.width > pointer or r.height > pointer]
        return bool(large) or len(found) > self.settings.pointers

    def see(self, sample: Sample) -> list[Period]:
        """Take one sample; return the periods that ended with it."""
        if self.period is None:
            self._begin(sample, 0, sample)
        else:
            if self.pending is None:
                self._watch(sample)
            else:
                self._resolve(sample)
            self._observe(sample)
        self._feel(sample)
        self.last = sample
        self.recent.append(sample)
        while (
            sample.at_ms - self.recent[0].at_ms
            > self.settings.unrest_ms + self.settings.fade_ms + self.settings.lead_ms
        ):
            self.recent.popleft()
        return self._taken()

    def finish(self, end_ms: int) -> list[Period]:
        if self.pending is not None and self.pending.samples:
            self._conclude(self.pending.samples[-1])
        if self.period is not None:
            self.period.end_ms = max(end_ms, self.period.start_ms + 1)
            self.done.append(self.period)
            self.period = None
        return self._taken()

    def _feel(self, sample: Sample) -> None:
        """Whether the camera trembles: samples some time apart often differ along edges all over the picture. It does until none
        of many samples does so."""
        if self.felt and sample.at_ms - self.felt[-1].at_ms < self.settings.tremor_ms:
            return
        self.felt.append(sample)
        if len(self.felt) < 3 or sample.luma is self.felt[1].luma:
            return
        before, one, other = (s.luma for s in self.felt)
        self.tremors.append(motion.trembled(before, one, other, self.settings.rest_level))
        if self.trembles:
            self.trembles = any(self.tremors)
        elif sum(list(self.tremors)[-self.settings.tremor_samples // 2 :]) >= self.settings.tremors:
            self.trembles = True
            assert self.period is not None
            self.period.heat[:] = 0  # what was learned so far was the tremor
            self.period.mask = self.calm_heat = None

    # ------------------------------------------------------------ one sample

    def _watch(self, sample: Sample) -> None:
        period = self.period
        assert period is not None
        if self._mostly_moves(period):
            self._watch_motion(sample, period)
            return
        self.calm_from = None
        changed = self._changed(period, sample.luma)
        if self.material(changed):
            self.pending = _Pending(sample.at_ms, [sample])
            return
        period.approach(sample.luma, self.settings.change_level, self.settings.reference_rate)
        period.keep(sample, self.settings.settle_ms)

    def _watch_motion(self, sample: Sample, period: Period) -> None:
        """Most of the picture moves: only a cut to another picture, or rest, ends that."""
        assert self.last is not None
        if motion.likeness(sample.luma, self.last.luma) < self.settings.cut_likeness:
            period.shows(self.last.luma)
            self.pending = _Pending(sample.at_ms, [sample])
            return
        period.shows(sample.luma)
        period.keep(sample, self.settings.settle_ms)
        if (
            motion.share(self.differing(sample.luma, self.last.luma, self.settings.rest_level))
            > self.settings.rest_share
        ):
            self.calm_from = None
        elif self.calm_from is None:
            self.calm_from = self.last
        if self.calm_from is not None and sample.at_ms - self.calm_from.at_ms >= self.settings.unrest_ms:
            kept = period.candidate if period.candidate.at_ms > self.calm_from.at_ms else self.calm_from
            if kept.token is not None:
                start_ms = max(self.calm_from.at_ms, period.start_ms + 1)
                self.calm_from = None
                period.end_ms = start_ms
                self.done.append(period)
                begun = self._begin(sample, start_ms, kept)
                if self.calm_heat is not None:
                    begun.heat = self.calm_heat.copy()

    def _resolve(self, sample: Sample) -> None:
        """A change is pending: has the picture come back, or to rest?"""
        period, pending = self.period, self.pending
        assert period is not None and pending is not None
        if self._is_back(period, sample):
            self.pending = None  # it came back: a pointer that passed, a flash
            period.keep(sample, self.settings.settle_ms)
            return
        if self._cut_again(sample):
            self._conclude(pending.samples[-1])
            self._watch(sample)
            return
        earlier = [s for s in pending.samples if sample.at_ms - s.at_ms >= self.settings.settle_ms]
        pending.samples.append(sample)
        if not earlier:
            return
        unrest = self.differing(sample.luma, earlier[-1].luma, self.settings.rest_level) & ~self._moving(period)
        if not self.material(unrest):
            self._conclude(sample)
        elif sample.at_ms - pending.first_ms >= self.settings.unrest_ms:
            self._conclude_restless(sample)

    def _cut_again(self, sample: Sample) -> bool:
        """Another shot begins before the pending one came to rest."""
        assert self.pending is not None and self.last is not None
        late = sample.at_ms - self.pending.first_ms >= self.settings.settle_ms * 1.5
        return late and motion.likeness(sample.luma, self.last.luma) < self.settings.cut_likeness

    def _is_back(self, period: Period, sample: Sample) -> bool:
        if self._mostly_moves(period):
            return motion.likeness(sample.luma, period.luma()) >= self.settings.cut_likeness
        return not self.material(self._changed(period, sample.luma))

    def _conclude(self, sample: Sample, restless: Mask | None = None) -> None:
        pending = self.pending
        assert pending is not None
        self.pending = None
        kept = sample if sample.token is not None else [s for s in pending.samples if s.token is not None][-1]
        self._turn(sample, kept, self._first_difference(sample, pending.first_ms, restless), pending)

    def _first_difference(self, sample: Sample, first_ms: int, restless: Mask | None) -> int:
        """When the new picture began to come: the first of the samples that have all left the old one, seen over all that
        changed and rests. A fade begins before any pixel of it crosses the threshold, and motion may have opened the
        pending change before anything of it came."""
        period = self.period
        assert period is not None
        before = period.luma().astype(np.int16)
        changed = np.abs(sample.luma - before) > self.settings.change_level
        changed &= ~self._moving(period)
        if restless is not None and np.count_nonzero(changed & ~restless) >= self.settings.change_pixels:
            changed &= ~restless
        still = changed.copy()
        for s in self.recent:
            if s.at_ms < first_ms - self.settings.lead_ms:
                still &= ~self.differing(s.luma, period.luma(), self.settings.rest_level)
        if np.count_nonzero(still) >= self.settings.change_pixels:
            changed = still
        if np.count_nonzero(changed) < self.settings.change_pixels:
            return first_ms
        whole = float(np.abs(sample.luma - before)[changed].mean())
        window = [s for s in self.recent if s.at_ms >= first_ms - self.settings.fade_ms]
        gone = [float(np.abs(s.luma - before)[changed].mean()) / whole for s in window]
        least = min(gone, default=0.0) + self.settings.fade_share
        start_ms = sample.at_ms
        for s, share in zip(reversed(window), reversed(gone), strict=True):
            if share < min(least, 0.5):
                break
            start_ms = s.at_ms
        return self._after_flicker(sample, period, changed, start_ms)

    def _conclude_restless(self, sample: Sample) -> None:
        """It does not come to rest: motion, perhaps beside a true change."""
        period, pending = self.period, self.pending
        assert period is not None and pending is not None
        times = np.zeros(sample.luma.shape, np.int64)
        restless = np.zeros(sample.luma.shape, bool)
        for one, other in pairwise(pending.samples):
            changed = self.differing(other.luma, one.luma, self.settings.rest_level)
            times += changed
            if sample.at_ms - one.at_ms < 1.5 * self.settings.settle_ms:
                restless |= changed
        restless = motion.widened(restless | (times >= 4), self.settings.motion_margin)
        lasting = self._beside(self._changed(period, sample.luma) & ~restless, restless)
        cut = motion.likeness(sample.luma, period.luma()) < self.settings.cut_likeness
        if cut or (self.material(lasting) and self.learned):
            self._conclude(sample, restless)
            assert self.period is not None
            period = self.period
        self.pending = None
        keep = restless | self._changed(period, sample.luma)
        period.reference[keep] = sample.luma[keep]
        period.plane = None
        period.heat[restless] = np.maximum(period.heat[restless], self.settings.motion_heat)
        period.mask = None

    def _beside(self, lasting: Mask, restless: Mask) -> Mask:
        """Without the regions that something moving has left behind: they touch it and are no larger."""
        near = motion.widened(restless, 2)
        size = np.count_nonzero(restless)
        kept = lasting.copy()
        for r in motion.regions(lasting, self.settings.change_pixels):
            window = np.s_[r.top : r.bottom, r.left : r.right]
            if r.pixels < size and near[window].any():
                kept[window] = False
        return kept

    def _after_flicker(self, sample: Sample, period: Period, changed: Mask, first_ms: int) -> int:
        """A third picture that flickered up between the old and the new belongs to neither: the new one begins after it. A
        fade comes nearer step by step, a cut that follows another does not."""
        new = sample.luma.astype(np.int16)
        whole = float(np.abs(new - period.luma())[changed].mean())
        left = [
            (s.at_ms, float(np.abs(new - s.luma)[changed].mean()) / whole) for s in self.recent if s.at_ms >= first_ms
        ]
        for i in range(1, len(left)):
            (one_ms, far), (other_ms, _) = left[i - 1], left[i]
            rest = [near for _, near in left[i:]]
            if far > 0.7 and max(rest) < 0.3 and len(rest) > 2 and one_ms > first_ms:
                return other_ms
        return first_ms

    def _turn(self, sample: Sample, kept: Sample, start_ms: int, pending: _Pending) -> None:
        """The picture at rest is another one: the period ends, the next begins."""
        period = self.period
        assert period is not None
        period.end_ms = start_ms
        whole = (
            motion.share(self.differing(sample.luma, period.luma(), self.settings.change_level))
            > self.settings.shot_share
        )
        self.done.append(period)
        begun = self._begin(sample, start_ms, kept)
        if whole:
            lasted = period.end_ms - period.start_ms >= self.settings.learn_ms
            if lasted and not period.busy and motion.share(self._moving(period)) < self.settings.box_share:
                self.calm_heat = period.heat
            if self.calm_heat is not None:
                begun.heat = self.calm_heat.copy()
        else:
            begun.heat, begun.seen = period.heat, period.seen
        begun.drawn = self._drawn(begun, period, pending, start_ms)
        for one, other in pairwise(pending.samples):
            if other.at_ms - start_ms > self.settings.fade_ms:
                self._heat_up(one, other)

    def _drawn(self, begun: Period, period: Period, pending: _Pending, start_ms: int) -> bool:
        """Whether the change came little by little, as ink and typing do, and no fade."""
        changed = self._changed(period, begun.luma())
        if not 0 < motion.share(changed) < self.settings.minor_share:
            return False
        new = begun.luma()
        for sample in pending.samples:
            left = self.differing(sample.luma, new, self.settings.change_level) & changed
            if (
                np.count_nonzero(left) > 0.2 * np.count_nonzero(changed)
                and sample.at_ms - start_ms >= self.settings.drawn_ms
            ):
                return True
        return False

    def _begin(self, sample: Sample, start_ms: int, kept: Sample) -> Period:
        cold = np.zeros(sample.luma.shape, np.float32)
        self.period = Period(start_ms, sample.luma.astype(np.float32), cold, kept, kept)
        self.observed = sample
        return self.period

    # ------------------------------------------------------------ motion

    def _observe(self, sample: Sample) -> None:
        """Two samples of one period some time apart: what differs between them moves. A change is not motion: while one is
        pending nothing is learned."""
        if self.pending is not None:
            self.observed = sample
            return
        if self.observed is None or sample.at_ms - self.observed.at_ms < self.settings.motion_ms:
            return
        self._heat_up(self.observed, sample)
        assert self.period is not None
        self.period.seen += 1
        self.period.busy = self.busy
        self.observed = sample

    def _heat_up(self, one: Sample, other: Sample) -> None:
        period = self.period
        assert period is not None
        changed = self.differing(other.luma, one.luma, self.settings.rest_level)
        rise, fall = self.settings.motion_rise, self.settings.motion_fall
        cooler = period.heat * np.float32(1 - fall)
        if changed.any():
            cooler[changed] = period.heat[changed] + rise * (1 - period.heat[changed])
        period.heat = cooler
        period.mask = None

    def _moving(self, period: Period) -> Mask:
        if period.mask is None:
            hot = period.heat >= self.settings.motion_heat
            if period.known is None or not np.array_equal(hot, period.known[0]):
                filled = motion.filled(hot, self.settings.motion_fill)
                period.known = hot, motion.widened(filled, self.settings.motion_margin)
            period.mask = period.known[1]
        return period.mask

    # ------------------------------------------------------------ change

    def _changed(self, period: Period, luma: Luma) -> Mask:
        return self.differing(luma, period.luma(), self.settings.change_level) & ~self._moving(period)

    def _mostly_moves(self, period: Period) -> bool:
        return motion.share(self._moving(period)) > self.settings.half_moving

    def _taken(self) -> list[Period]:
        taken = list(self.done)
        self.done.clear()
        return taken
