"""States of a process to wait for before a signal is sent, in place of a fixed time, which a busy machine exceeds."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

from kumihimo.processes.visible import is_running, processes

# On one processor the ranks of a program wait for their turns, which MPI libraries do at full speed.
PATIENCE = 8 if len(os.sched_getaffinity(0)) == 1 else 1


def until(holds: Callable[[], object], what: str, process: object = None, seconds: float = 60) -> None:
    """`process`: runs on until then."""
    deadline = time.monotonic() + PATIENCE * seconds
    while not holds():
        assert process is None or process.poll() is None, f"it ended before {what}"
        assert time.monotonic() < deadline, f"{what} within {seconds} s"
        time.sleep(0.02)


def status_of(pid: int, field: str) -> str:
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    return re.search(rf"^{field}:\s*(\S+)$", text, re.MULTILINE)[1]


def catches(pid: int, number: signal.Signals) -> bool:
    return bool(int(status_of(pid, "SigCgt"), 16) >> (number - 1) & 1)


def threads_of(pid: int) -> int:
    return int(status_of(pid, "Threads"))


def running_in(folder: Path) -> list[int]:
    """The processes whose working folder it is."""

    def is_there(pid: int) -> bool:
        try:
            return is_running(pid) and Path(f"/proc/{pid}/cwd").readlink() == folder
        except OSError:
            return False

    return [pid for pid in processes() if is_there(pid)]
