"""Ctrl-C, or `kill`, while the library is written: the work ends after the row at hand, or with the process where that
takes too long.

Leaving at once is safe: what was committed stays, and the rest is as after any other end of the process (see `store`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

GRACE_S = 1.5
"""How long the work may take to end by itself: reading one page or hearing one passage takes as long on a busy machine."""

STOPPED = 130
"""The exit status of a command that was stopped: 128 and the number of SIGINT (after SIGTERM, 143)."""

READER_GONE = 141
"""The exit status when nobody reads the output any more (`videmus list | head`): 128 and the number of SIGPIPE."""


SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""A terminal that is closed (SIGHUP) ends the process at once: there is nobody left to tell."""


@dataclass
class Stop:
    """`status` is the exit status of the signal that came."""

    status: int = STOPPED


@contextmanager
def stops_soon(
    farewell: Callable[[], None], *, grace_s: float = GRACE_S, leave: Callable[[int], object] = os._exit
) -> Iterator[Stop]:
    """In this block the first Ctrl-C or SIGTERM raises KeyboardInterrupt; after `grace_s`, or on the second, the process
    ends.

    `farewell` is called before it ends so. Outside the main thread, where no signal can be caught, nothing is changed.
    """
    stopped = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    timers: list[threading.Timer] = []

    def end() -> None:
        farewell()
        sys.stdout.flush()
        sys.stderr.flush()
        leave(stopped.status)

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.status = 128 + number
        if timers:
            end()
            return
        timers.append(threading.Timer(grace_s, end))
        timers[0].daemon = True
        timers[0].start()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield stopped
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
