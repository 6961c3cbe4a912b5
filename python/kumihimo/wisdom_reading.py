"""Wisdom as `kumihimo run` reads it: where the user's lies, and what was found in tuning for the calls that ran."""

from __future__ import annotations

import contextlib
import json
import os
from math import inf
from pathlib import Path

INITIAL = {"determinism": "any"}  # of a choice that does not say


def folder() -> Path:
    """The user's: `kumihimo run` looks here."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else Path.home() / ".local" / "share") / "kumihimo" / "wisdom"


def choices_in(path: str | None, named: bool = True) -> list[dict]:
    """Of a file that the interposer has taken; none where it cannot be read any more. Of one that nobody named, those
    that it takes (plan/wisdom.hpp): that were measured, and not on emulated nodes."""
    if path:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            choices = list(json.loads(Path(path).read_text(encoding="utf-8"))["choices"])
            return [c for c in choices if named or not (c.get("simulated") or c.get("emulated"))]
    return []


def speedup(calls: dict, ranks: int, choices: list[dict], order: bool = False) -> tuple[float, float] | None:
    """How many times as fast as the library's own these calls (a row of the summary) were in tuning, from and to; None
    where the file does not say. `order`: whether the run kept one. Communicators may have other numbers of ranks than
    the job: those of the job go first."""
    wanted = {"collective": calls["collective"], "determinism": "fixed_order" if order else "any"}
    fitting = [choice for choice in choices if all(choice.get(k, INITIAL.get(k)) == v for k, v in wanted.items())]
    of_job = [choice for choice in fitting if choice.get("ranks") in (0, None, ranks)]
    for among in (of_job, fitting):
        ratios = [ratio for choice in among for ratio in ratios_in(choice, calls, among)]
        if ratios:
            return 1 / max(ratios), 1 / min(ratios)
    return None


def ratios_in(choice: dict, calls: dict, among: list[dict]) -> list[float]:
    """Those measured at lengths as of the calls, or else the one that stands for the whole choice. Lengths that an
    earlier choice has for communicators that this one fits too are not this one's: that may have other parameters."""
    if choice["algorithm"] != calls["algorithm"] or not overlap(choice, calls):
        return []
    earlier = [other for other in among[: among.index(choice)] if covers(other, choice)]
    if any(lengths(other)[0] <= calls["bytes_from"] and calls["bytes_to"] <= lengths(other)[1] for other in earlier):
        return []
    measured = choice.get("measured", [])
    near = [m for m in measured if calls["bytes_from"] <= m["bytes"] <= calls["bytes_to"]]
    near = [m for m in near if not any(lengths(o)[0] <= m["bytes"] <= lengths(o)[1] for o in earlier)]
    return [m["ratio"] for m in near or [choice] if m.get("ratio", 0) > 0]


def covers(other: dict, choice: dict) -> bool:
    """Whether all communicators of the choice are the other's, too."""
    return all(other.get(name) in (0, None, choice.get(name)) for name in ("ranks", "nodes", "ranks_per_node"))


def lengths(choice: dict) -> tuple[int, float]:
    return choice.get("from_bytes", 0), choice.get("to_bytes", inf)


def overlap(choice: dict, calls: dict) -> bool:
    low, high = lengths(choice)
    return low <= calls["bytes_to"] and calls["bytes_from"] <= high
