"""Ctrl-C, SIGTERM and SIGHUP: they end the process at once while it is still being loaded, become an exception while
a job runs, and wait while what a job left is ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import NoReturn

EXIT_CODE = 1


def leave(number: int, frame: object) -> None:
    """End at once: nothing has been started yet."""
    os.write(2, b"kumihimo: interrupted\n")
    os._exit(EXIT_CODE)


@contextlib.contextmanager
def leaving() -> Iterator[None]:
    """While it lasts Ctrl-C ends the process: the exception that Python raises would come out of an import, with a
    stack trace, or into the middle of a native module, which does not survive it. Afterwards it is Python's again, if
    it was before."""
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


@contextlib.contextmanager
def ending_by_signal() -> Iterator[None]:
    """Turns SIGTERM and SIGHUP, which would end this process at once and leave its job behind, into SystemExit. What is
    ignored, as SIGHUP is under nohup, stays so."""

    def leave(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's affair
        yield
        return
    heeded = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, leave) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def ignoring_signals() -> Iterator[None]:
    """Ends what it began whatever signal comes, which counts from then on: a second Ctrl-C must not leave processes
    behind, and a first one must not be lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    came: list[int] = []
    already = isinstance(sys.exc_info()[1], (KeyboardInterrupt, SystemExit))  # on the way out by the first one
    before = {}
    for number in numbers:  # what is ignored stays so
        note_output = signal.getsignal(number) is not signal.SIG_IGN
        before[number] = signal.signal(number, (lambda n, _: came.append(n)) if note_output else signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came and not already:
            signal.raise_signal(came[0])
