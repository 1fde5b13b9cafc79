"""What adding would ask of the models, before anything is sent: from lengths alone, or from the slides of an earlier look."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from videmus.config import Settings
from videmus.ingest.sources import sources
from videmus.model import Cost, Scope
from videmus.models.connect import Expected, priced
from videmus.store.protocol import Store
from videmus.understand.plan import Known, expected_calls


def estimated(what: Sequence[str | Path], store: Store, settings: Settings) -> list[tuple[str, Cost]]:
    """Calls, tokens and price by stage, over all files. An address is not fetched for this, and not counted.

    A video that the library knows is reckoned with its own slides, clips and speech, another one by its length.
    Raises UsageError and MediaError as adding does.
    """
    sums: dict[str, Expected] = {}
    for source in sources(what):
        if source.kind != "media" or source.path is None:
            continue
        for stage in expected_calls(_known(source.path, store), settings):
            before = sums.get(stage.stage)
            sums[stage.stage] = _sum(before, stage) if before else stage
    return priced(sums.values(), settings.models)


def _known(path: Path, store: Store) -> Known:
    from videmus.media.fingerprint import fingerprint
    from videmus.media.probe import probe

    video = store.video_by_fingerprint(fingerprint(path))
    if video is None or video.state not in ("ready", "partial"):
        probed = probe(path)
        return Known(probed.duration_ms, slides=None if probed.has_video else 0)
    scope = Scope(video=video.id)
    return Known(
        video.duration_ms,
        slides=len(store.segments(scope, "slide")),
        looks=len(store.frames(scope)),
        clips=tuple((s.start_ms, s.end_ms) for s in store.segments(scope, "clip")),
        spoken_characters=sum(len(row.text) for row in store.evidence(scope, ["speech"])),
    )


def _sum(one: Expected, other: Expected) -> Expected:
    return Expected(
        one.stage,
        one.role,
        one.calls + other.calls,
        one.tokens_in + other.tokens_in,
        one.tokens_out + other.tokens_out,
    )
