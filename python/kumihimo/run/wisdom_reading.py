"""Wisdom as `kumihimo run` reads it: where the user's lies, and what was found in tuning for the calls that ran."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection
from math import inf, isfinite, prod
from pathlib import Path

from kumihimo import _plan
from kumihimo.run.profile.collectives import BLOCKING, NON_BLOCKING
from kumihimo.text.documents import read_json
from kumihimo.text.json_types import JsonObject

FOLDER = "KUMIHIMO_WISDOM_FOLDER"
INITIAL = {"determinism": "any", "start": BLOCKING}  # of a choice that does not say
BOX = re.compile(r"(?:mesh|torus) ([\dxm]+)(?:, (\d+) ranks a node)?")  # a communicator whose nodes have a shape


def folder() -> Path:
    """The user's, or in a testbed the testbed's own, whose network is another: `kumihimo run` looks here."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else Path.home() / ".local" / "share") / "kumihimo" / "wisdom"


def usual_path(mpi: str, program: str = "") -> Path:
    """Path of wisdom for this machine and a library, by the first line of its version; for a program by its key
    (program_keys.py).
    """
    where = folder() / "programs" / program if program else folder()
    return where / _plan.wisdom_file_name(_plan.this_machine(), mpi)


def found_by_itself(mpi: str, program: str) -> Path:
    """The file that the processes of a program take, if it is there: its own, or else that of all."""
    own = usual_path(mpi, program)
    return own if own.is_file() else usual_path(mpi)


def choices_in(path: str | None, named: bool = True) -> list[JsonObject]:
    """Choices of a file that the interposer has taken; none where it cannot be read any more. Of a file that nobody
    named, the choices that it takes (plan/wisdom.hpp): measured ones, and not on emulated nodes.
    """
    if path:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            choices = list(read_json(Path(path).read_text(encoding="utf-8"))["choices"])
            return [whole(c) for c in choices if named or not (c.get("simulated") or c.get("emulated"))]
    return []


def whole(choice: JsonObject) -> JsonObject:
    """Without figures that people wrote otherwise than `tune`, since the interposer reads none but ratio_high."""
    listed = choice.get("measured")
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    measured = [row for row in rows if is_number(row.get("bytes")) and is_number(row.get("ratio", 0))]
    ratio = choice.get("ratio", 0)
    return {**choice, "measured": measured, "ratio": ratio if is_number(ratio) else 0}


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and isfinite(value)


def speedup(
    calls: JsonObject, ranks: int, choices: list[JsonObject], order: bool = False, shapes: Collection[str] = ()
) -> tuple[float, float] | None:
    """How many times as fast as the library's own these calls (a row of the summary) were in tuning, from and to; None
    where the file does not say. `order`: whether the run kept one. `shapes`: of its communicators. Communicators may
    have other numbers of ranks than the job: those of the job go first."""
    kind, start = called(calls["collective"])
    wanted = {"collective": kind, "determinism": "fixed_order" if order else "any", "start": start}
    fitting = [choice for choice in choices if all(choice.get(k, INITIAL.get(k)) == v for k, v in wanted.items())]
    fitting = [choice for choice in fitting if choice.get("shape") in (None, *shapes)]
    of_job = [choice for choice in fitting if choice.get("ranks") in (0, None, ranks)]
    for among in (of_job, fitting):
        ratios = [ratio for choice in among for ratio in ratios_in(choice, calls, among)]
        if ratios:
            return 1 / max(ratios), 1 / min(ratios)
    return None


def ratios_in(choice: JsonObject, calls: JsonObject, among: list[JsonObject]) -> list[float]:
    """Ratios measured at lengths like those of the calls, or else the one that stands for the whole choice. Lengths
    that an earlier choice has for communicators that this one fits too are not this one's: that may have other
    parameters.
    """
    if choice["algorithm"] != calls["algorithm"] or not overlap(choice, calls):
        return []
    earlier = [other for other in among[: among.index(choice)] if covers(other, choice)]
    if any(lengths(other)[0] <= calls["bytes_from"] and calls["bytes_to"] <= lengths(other)[1] for other in earlier):
        return []
    measured = choice.get("measured", [])
    near = [m for m in measured if calls["bytes_from"] <= m["bytes"] <= calls["bytes_to"]]
    near = [m for m in near if not any(lengths(o)[0] <= m["bytes"] <= lengths(o)[1] for o in earlier)]
    return [m["ratio"] for m in near or [choice] if m.get("ratio", 0) > 0]


def why_library(collective: str, summary: JsonObject, choices: list[JsonObject], size: JsonObject | None = None) -> str:
    """Why the choices of a run left calls of this collective to the MPI library; empty if they do not say. Wisdom is
    for numbers of ranks, and for the sizes that were measured. `size`: the row of one size class [default: all that
    the library ran]."""
    kind, start = called(collective)
    of_kind = [c for c in choices if c["collective"] == kind and c.get("determinism", "any") == "any"]
    shapes = shapes_of_communicators(summary)
    of_shape = [c for c in of_kind if c.get("shape") in (None, *shapes)]
    tuned = [
        c for c in of_shape if c.get("blocks", "equal") == "equal" and c.get("start", BLOCKING) in (BLOCKING, start)
    ]
    if not tuned:
        return f"{kind} was not tuned; run `kumihimo tune {kind} --ranks {summary['ranks']}`"
    numbers = ranks_of_communicators(summary["communicators"] or {})
    if not numbers:
        return ""
    fitting = {number: [c for c in tuned if c.get("ranks") in (0, None, number)] for number in numbers}
    if not any(fitting.values()):
        listed = " or ".join(map(str, sorted(numbers)))
        asked = ",".join(map(str, sorted(numbers)))
        return f"{listed} ranks were not tuned; run `kumihimo tune {kind} --ranks {asked}`"
    calls = [row for row in summary["calls"] if row["collective"] == collective and row["algorithm"] == "library"]
    sizes = calls if size is None else [size]
    if not sizes or not all(fitting.values()):
        return ""
    near = [c for row in sizes for found in fitting.values() for c in found if overlap(c, row)]
    if not any(choice["algorithm"] == "library" for choice in near):
        return f"these sizes were not tuned; run `kumihimo tune {kind}` with --ranks and --bytes for them"
    if all(is_covered(row, found) for row in sizes for found in fitting.values()):
        return "tuning found nothing certainly faster"
    return "tuning found nothing certainly faster for some of these sizes, the others were not tuned"


def called(name: str) -> tuple[str, str]:
    """The collective of a row of the summary, and how it was started."""
    begun = name.startswith("i")
    return (name[1:], NON_BLOCKING) if begun else (name, BLOCKING)


def ranks_of_communicators(shapes: dict[str, int]) -> set[int]:
    """Numbers of ranks, by the names of the shapes; none where a name does not say."""
    numbers = set()
    for name in shapes:
        plain = re.match(r"(?:node|row) of (\d+) rank", name)
        box = BOX.fullmatch(name)
        if plain:
            numbers.add(int(plain[1]))
        elif box:
            numbers.add(prod(map(int, re.findall(r"\d+", box[1]))) * int(box[2] or 1))
        else:
            return set()
    return numbers - {1}


def shapes_of_communicators(summary: JsonObject) -> set[str]:
    """Shapes of the communicators' nodes, where they have one."""
    return {box[1] for box in map(BOX.fullmatch, summary.get("communicators") or {}) if box}


def is_covered(calls: JsonObject, choices: list[JsonObject]) -> bool:
    """Whether every length of the calls is in one of the choices."""
    first = calls["bytes_from"]
    for low, high in sorted(map(lengths, choices)):
        first = max(first, high + 1) if low <= first else first
    return first > calls["bytes_to"]


def covers(other: JsonObject, choice: JsonObject) -> bool:
    """Whether all communicators of the choice are the other's, too."""
    same_blocks = other.get("blocks", "equal") == choice.get("blocks", "equal")
    fields = ("ranks", "nodes", "ranks_per_node", "shape")
    return same_blocks and all(other.get(name) in (0, None, choice.get(name)) for name in fields)


def lengths(choice: JsonObject) -> tuple[int, float]:
    return choice.get("from_bytes", 0), choice.get("to_bytes", inf)


def overlap(choice: JsonObject, calls: JsonObject) -> bool:
    low, high = lengths(choice)
    return low <= calls["bytes_to"] and calls["bytes_from"] <= high
