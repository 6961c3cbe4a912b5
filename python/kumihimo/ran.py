"""What ran under the interposer, as the program's processes wrote it: rank 0 for all, or each for itself, where no call
brings all processes together: MPI was used by sessions alone, or a process ends the job by MPI_Abort."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

KEYS = {"calls": ("collective", "bytes_from", "bytes_to", "algorithm"), "handed_on": ("collective", "reason")}


def read(path: Path) -> dict | None:
    """The summary, or None if there is none."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(path.read_text(encoding="utf-8"))
    return added_up(filter(None, (whole(part) for part in parts_of(path))))


def parts_of(path: Path) -> list[Path]:
    """Of the ranks, in their order."""
    name = re.compile(re.escape(path.name) + r"\.rank(\d+)")
    found = {int(match[1]): part for part in path.parent.iterdir() if (match := name.fullmatch(part.name))}
    return [found[rank] for rank in sorted(found)]


def whole(path: Path) -> dict | None:
    """A part; None for one whose process was killed while it wrote."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def added_up(parts: Iterable[dict]) -> dict | None:
    """As rank 0 would have written it for all; `ranks_reported` are those that wrote a part. The communicators are those of
    the first of them."""
    rows: dict[str, dict[tuple, dict]] = {name: {} for name in KEYS}
    others: dict[str, int] = {}
    told, finalized, reductions, first = [], True, 0, None
    for part in parts:
        first = first or part
        told.append(part["rank"])
        finalized &= part["finalized"]
        reductions += part["uncaught_reductions"]
        for call, number in (part["others"] or {}).items():
            others[call] = others.get(call, 0) + number
        for name, keys in KEYS.items():
            for row in part[name] or ():
                sums = rows[name].setdefault(tuple(row[key] for key in keys), {**row, "calls": 0})
                sums["calls"] += row["calls"]
                if "reproducible" in row:
                    sums["reproducible"] = sums["reproducible"] and row["reproducible"]
    if first is None:
        return None
    return {
        **{key: value for key, value in first.items() if key != "rank"},
        **{name: list(sums.values()) for name, sums in rows.items()},
        "others": others,
        "uncaught_reductions": reductions,
        "finalized": finalized,
        "of_all_ranks": len(told) == first["ranks"],
        "ranks_reported": told,
    }
