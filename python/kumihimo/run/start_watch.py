"""A launcher in a testbed that waits for daemons on nodes which no message reaches any more. Then no rank starts, whose
own time limit would end the program."""

from __future__ import annotations

import os
import time
from pathlib import Path

from kumihimo.processes import visible
from kumihimo.processes.signals import LateStatus
from kumihimo.testbed import faults, testbeds


class UnstartedStatus(LateStatus):
    """That of a launcher that was ended before any rank had started."""


class StartWatch:
    """`seconds`: the time limit, 0 for none. `mark`: a word in the environment of ranks, not of launchers and daemons.
    Outside of testbeds programs may take any time before they start ranks."""

    def __init__(self, seconds: float, mark: str) -> None:
        is_possible = seconds > 0 and mark and testbeds.INSIDE in os.environ
        self._mark = mark.encode()
        self._limit = time.monotonic() + seconds if is_possible else float("inf")
        self._has_started = False

    def waits_in_vain(self) -> bool:
        """Whether the time is over, no rank has started, and a link is cut."""
        if self._has_started or time.monotonic() < self._limit or not faults.recorded(testbeds.find(None)).cut:
            return False
        self._has_started = any(self._mark in environment_of(pid) for pid in visible.processes())
        return not self._has_started

    def status(self, code: int) -> int:
        """That of a launcher which has ended."""
        return UnstartedStatus(code) if isinstance(code, LateStatus) and not self._has_started else code


def environment_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""
