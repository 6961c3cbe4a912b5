"""Wisdom as `kumihimo run` reads it: where the user's lies, and what was found in tuning for the calls that ran."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path


def folder() -> Path:
    """The user's: `kumihimo run` looks here."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else Path.home() / ".local" / "share") / "kumihimo" / "wisdom"


def choices_in(path: str | None) -> list[dict]:
    """Of a file that the interposer has taken; none where it cannot be read any more."""
    if path:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return list(json.loads(Path(path).read_text(encoding="utf-8"))["choices"])
    return []


def speedup(calls: dict, ranks: int, choices: list[dict]) -> tuple[float, float] | None:
    """How many times as fast as the library's own these calls (a row of the summary) were in tuning, from and to; None
    where the file does not say. Communicators may have other numbers of ranks than the job: those of the job go
    first."""
    fitting = [choice for choice in choices if all(choice.get(k) == calls[k] for k in ("collective", "algorithm"))]
    fitting = [choice for choice in fitting if overlap(choice, calls)]
    of_job = [choice for choice in fitting if choice.get("ranks") in (0, None, ranks)]
    ratios = [ratio for choice in of_job or fitting for ratio in ratios_in(choice, calls)]
    return (1 / max(ratios), 1 / min(ratios)) if ratios else None


def ratios_in(choice: dict, calls: dict) -> list[float]:
    """Those measured at lengths as of the calls, or else the one that stands for the whole choice."""
    measured = choice.get("measured", [])
    near = [m for m in measured if calls["bytes_from"] <= m["bytes"] <= calls["bytes_to"]]
    return [m["ratio"] for m in near or [choice] if m.get("ratio", 0) > 0]


def overlap(choice: dict, calls: dict) -> bool:
    low, high = choice.get("from_bytes", 0), choice.get("to_bytes", calls["bytes_to"])
    return low <= calls["bytes_to"] and calls["bytes_from"] <= high
