"""The caches and the free memory of this machine, as the system says."""

from __future__ import annotations

import os
from pathlib import Path

USUAL_CACHES = (32 * 2**10, 512 * 2**10, 32 * 2**20)  # where the system does not say


def caches(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> tuple[int, int, int]:
    """Bytes of the first level, the second, and the last."""
    found = {}
    for index in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size.endswith("K"):
            found[int(level)] = int(size[:-1]) * 2**10
    if not found:
        return USUAL_CACHES
    return found.get(1, USUAL_CACHES[0]), found.get(2, USUAL_CACHES[1]), found[max(found)]


def free_memory() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 2**10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return memory() // 2


def memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
