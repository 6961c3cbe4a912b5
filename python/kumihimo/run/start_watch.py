"""A launcher in a testbed that waits for daemons on nodes which no message reaches any more. Then no rank starts, whose
own time limit would end the program."""

from __future__ import annotations

import time
from pathlib import Path

from kumihimo.processes import visible
from kumihimo.processes.signals import LateStatus
from kumihimo.testbed import faults, testbeds


class UnstartedStatus(LateStatus):
    """Status of a launcher that was ended before any rank had started."""


class StartWatch:
    """`seconds`: the time limit, 0 for none. `mark`: a word in the environment of ranks, not of launchers and daemons.
    Outside of testbeds programs may take any time before they start ranks."""

    def __init__(self, seconds: float, mark: str) -> None:
        self._testbed = testbeds.here() if seconds > 0 and mark else None
        self._mark = mark.encode()
        self._limit = time.monotonic() + seconds
        self._has_started = False
        self._is_in_vain = False

    def waits_in_vain(self) -> bool:
        """Whether the time is over, no rank has started, and a link is cut. To be asked from the beginning on, again
        and again: ranks may have ended before the time is over."""
        if self._testbed is None or self._has_started:
            return False
        self._has_started = any(self._mark in environment_of(pid) for pid in visible.processes())
        is_late = not self._has_started and time.monotonic() >= self._limit
        self._is_in_vain = is_late and bool(faults.recorded(self._testbed).cut)
        return self._is_in_vain

    def status(self, code: int) -> int:
        """Status of a launcher that has ended."""
        return UnstartedStatus(code) if isinstance(code, LateStatus) and self._is_in_vain else code


def environment_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""
