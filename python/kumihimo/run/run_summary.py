"""Reads the interposer's summary of a run: which calls ran which algorithm, and which were forwarded.

Rank 0 writes it for all ranks. If MPI_Abort ends the program, each rank that calls it writes its own part.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from kumihimo.text.json_types import JsonObject

KEYS = {"calls": ("collective", "bytes_from", "bytes_to", "algorithm"), "forwarded": ("collective", "reason_id")}
REORDERED = ("communicators", "on_one_node", "reordered", "before", "after", "packages_before", "packages_after")


def read(path: Path) -> JsonObject | None:
    """The summary of all ranks, or None if no rank wrote one."""
    whole = object_in(path)
    return whole if whole is not None else sum_of(filter(None, map(object_in, parts_of(path))))


def parts_of(path: Path) -> list[Path]:
    """The parts that single ranks wrote, by rank."""
    name = re.compile(re.escape(path.name) + r"\.rank(\d+)")
    found = {int(match[1]): part for part in path.parent.iterdir() if (match := name.fullmatch(part.name))}
    return [found[rank] for rank in sorted(found)]


def object_in(path: Path) -> JsonObject | None:
    """None if the file is missing, or if its process was killed while it wrote."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def sum_of(parts: Iterable[JsonObject]) -> JsonObject | None:
    """The parts as one summary. `ranks_reported`: the ranks that wrote one. Communicators are the first rank's."""
    rows: dict[str, dict[tuple, JsonObject]] = {name: {} for name in KEYS}
    others: dict[str, int] = {}
    reordered: dict[str, JsonObject] = {}
    reporting, finalized, first = [], True, None
    sums_of = dict.fromkeys(("unhooked_reductions", "packed_from_device"), 0)
    for part in parts:
        first = first or part
        reporting.append(part["rank"])
        finalized &= part["finalized"]
        for name in sums_of:
            sums_of[name] += part.get(name, 0)
        for call, number in (part["others"] or {}).items():
            others[call] = others.get(call, 0) + number
        for row in part.get("reordered") or ():
            sums = reordered.setdefault(row["call"], {**row, **dict.fromkeys(REORDERED, 0)})
            for name in REORDERED:
                sums[name] += row[name]
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
        "reordered": list(reordered.values()),
        **sums_of,
        "finalized": finalized,
        "of_all_ranks": len(reporting) == first["ranks"],
        "ranks_reported": reporting,
    }
