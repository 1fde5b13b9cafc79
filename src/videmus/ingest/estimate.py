"""What adding would ask of the models, before anything is sent: from what is known of the videos, or a quick look at them.

A file that the library holds is reckoned with its own slides, clips and speech. Of another one the change detector looks at
the first minutes (0.2 to 1.5 s of processor time for each): how often the picture changes, and whether it shows pages or what a
camera films, decide which stages will run. What was not looked at is taken to be like what was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from videmus import clock
from videmus.config import Settings
from videmus.ingest.sources import sources
from videmus.model import Cost, Scope
from videmus.models.connect import Expected, priced
from videmus.store.protocol import Store
from videmus.understand.plan import Known, expected_calls

LOOKED_MS = 5 * 60_000
"""Of one file so much is looked at."""

ALL_LOOKED_MS = 10 * 60_000
"""And of all files together."""

PAGES_SHARE = 0.15
"""A video that shows pages for so much of the time looked at is a presentation: lectures 0.83 to 1, footage 0 to 0.01."""

NEW_PAGE = 0.25
"""A page of which so much changed is another slide; less is a build or ink (five lectures: 41 found of 44 showings)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, tokens and price by stage over all files; `rests_on` says for each file what they are reckoned from."""

    stages: tuple[tuple[str, Cost], ...]
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Glance:
    """What a look at the first `looked_ms` of a video gave: looks and slides in them; no slides is footage."""

    looked_ms: int
    looks: int
    slides: int

    def of(self, duration_ms: int) -> tuple[int, int]:
        """Looks and slides of a video of this length that goes on like this."""
        times = duration_ms / max(1, self.looked_ms)
        return round(self.looks * times), round(self.slides * times)


def estimated(
    what: Sequence[str | Path], store: Store, settings: Settings, recording: str | None = None, **patterns: Any
) -> Estimate:
    """Over all files of `what`, chosen as adding chooses them. An address is not fetched for this, and not counted.

    Raises UsageError and MediaError as adding does.
    """
    if not (settings.models.language or settings.models.vision):
        return Estimate(())
    sums: dict[str, Expected] = {}
    rests_on: list[str] = []
    glances: list[Glance] = []
    for source in sources(what, **patterns):
        if source.address:
            rests_on.append(f"{source.address}: not counted, an address is not fetched for an estimate")
        if source.kind != "media" or source.path is None:
            continue
        known, basis = _known(source.path, store, settings, recording, glances)
        rests_on.append(f"{source.path.name}: {basis}")
        for stage in expected_calls(known, settings):
            before = sums.get(stage.stage)
            sums[stage.stage] = _sum(before, stage) if before else stage
    return Estimate(tuple(priced(sums.values(), settings.models)), tuple(rests_on))


def glance(path: Path, settings: Settings, most_ms: int) -> Glance:
    """Look at the beginning of a file, at most so far. Raises MediaError where it has no pictures."""
    from videmus.perceive.changes import looks
    from videmus.perceive.page_changes import cover, flat_share, luma_of

    count = slides = paged_ms = end_ms = 0
    page_before = False
    for item in looks(path, "", settings.screen):
        look = item.frame.look
        assert look is not None
        count += 1
        end_ms = look.end_ms
        page = flat_share(luma_of(item.image, settings.reading.width)) >= settings.reading.flat_share
        if page:
            paged_ms += look.end_ms - look.start_ms
            slides += not page_before or not look.changed or cover(look.changed) >= NEW_PAGE
        page_before = page
        if end_ms >= most_ms:
            break
    return Glance(end_ms, count, slides if paged_ms >= PAGES_SHARE * end_ms else 0)


def _known(
    path: Path, store: Store, settings: Settings, recording: str | None, glances: list[Glance]
) -> tuple[Known, str]:
    """What is known of a file, and what that rests on. `glances` are those at the files before; a new one is added."""
    from videmus.media.fingerprint import fingerprint
    from videmus.media.probe import probe
    from videmus.segment.clips import clips

    video = store.video_by_fingerprint(fingerprint(path))
    if video is not None and video.state in ("ready", "partial"):
        scope = Scope(video=video.id)
        known = Known(
            video.duration_ms,
            slides=len(store.segments(scope, "slide")),
            looks=len(store.frames(scope)),
            clips=tuple((s.start_ms, s.end_ms) for s in store.segments(scope, "clip")),
            spoken_characters=sum(len(row.text) for row in store.evidence(scope, ["speech"])),
            recording=bool(recording or video.recording),
        )
        return known, f"in the library, with {_told(known)}"
    probed = probe(path)
    silent = 0 if not probed.has_audio else None
    if not probed.has_video:
        return Known(probed.duration_ms, slides=0, looks=0, recording=bool(recording)), "sound alone, by its length"
    left_ms = ALL_LOOKED_MS - sum(g.looked_ms for g in glances)
    if left_ms > 0:
        glances.append(glance(path, settings, min(LOOKED_MS, left_ms)))
        taken, how = glances[-1], f"by its first {clock.format_time(min(glances[-1].looked_ms, probed.duration_ms))}"
    else:
        taken, how = _mean(glances), "taken to be like the files before it"
    looks, slides = taken.of(probed.duration_ms)
    cut = () if slides else tuple((c.start_ms, c.end_ms) for c in clips("", probed.duration_ms, settings.clips))
    known = Known(probed.duration_ms, slides, looks, cut, silent, bool(recording))
    return known, f"{how} of {clock.format_time(probed.duration_ms)}: {_told(known)}"


def _told(known: Known) -> str:
    kind = _counted(known.slides or 0, "slide") if known.slides else f"footage in {_counted(len(known.clips), 'clip')}"
    return f"{_counted(known.looks or 0, 'picture')} to describe, {kind}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _mean(glances: Iterable[Glance]) -> Glance:
    """All that was looked at, as one."""
    seen = list(glances)
    return Glance(sum(g.looked_ms for g in seen), sum(g.looks for g in seen), sum(g.slides for g in seen))


def _sum(one: Expected, other: Expected) -> Expected:
    return Expected(
        one.stage,
        one.role,
        one.calls + other.calls,
        one.tokens_in + other.tokens_in,
        one.tokens_out + other.tokens_out,
    )
