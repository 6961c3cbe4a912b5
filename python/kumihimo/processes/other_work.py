"""Whether other programs use the processors, so that what is measured now is too slow."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")
WINDOW = 0.5  # seconds
BUSY = 0.2  # processors: what a system does by itself takes less
IDLE = (3, 4)  # fields of a line: idle, and waiting for a disk


def busy_processors(seconds: float = WINDOW) -> float | None:
    """Mean number of processors that work while this process sleeps; None where the system does not say."""
    before, began = busy_seconds(), time.monotonic()
    time.sleep(seconds)
    after = busy_seconds()
    if before is None or after is None:
        return None
    return max(0.0, (after - before) / (time.monotonic() - began))


def busy_seconds(stat: Path = STAT) -> float | None:
    """Seconds that all processors have worked since the machine started; None where the system does not say."""
    try:
        name, *fields = stat.read_text(encoding="ascii").partition("\n")[0].split()
        ticks = [int(field) for field in fields[:8]]  # those of guests are counted twice in the rest
    except (OSError, ValueError):
        return None
    if name != "cpu" or len(ticks) <= max(IDLE):
        return None
    return sum(ticks[place] for place in range(len(ticks)) if place not in IDLE) / os.sysconf("SC_CLK_TCK")
