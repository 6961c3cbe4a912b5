"""Choices of a program's kernels as a file (docs/wisdom.md): a file for each name, to which several programs, machines
and compilers add at the same time."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from kumihimo.kernel import choices
from kumihimo.kernel.candidates import KernelCandidate
from kumihimo.text import files
from kumihimo.text.documents import read_json
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.ranges import FARTHEST, ranges
from kumihimo.tune.wisdom import as_text, rounded

if TYPE_CHECKING:
    from kumihimo.kernel.tuning import KernelTuning

NEAR = 2  # times a size that ends the range: so far it speaks for others
ADVICE = "correct or remove it"


def rows(tuning: KernelTuning, listing: JsonObject, decisions: Sequence[JsonObject]) -> list[JsonObject]:
    """A choice for each range of sizes; objects of compiled sources are kept beside the wisdom."""
    by_size = {each["size"]: each for each in decisions}
    points = [(size, by_size[size]["chosen"]) for size in sorted(by_size)]
    if not points:
        return []
    key = choices.key_of(tuning.kernel["golden"], tuning.kernel["compiler"], listing["language"], listing["machine"])
    found = []
    for each in ranges(points, None):
        candidate = KernelCandidate(each.chosen["variant"], tuple(each.chosen["parameters"].items()))
        row = {"kernel": tuning.kernel["name"], **key, **each.chosen, **source_of(tuning, candidate)}
        row |= {"from_size": each.from_bytes, "to_size": each.to_bytes, **tuning.hints.conditions()}
        row["check"] = by_size[each.sizes[0]]["check"]
        found.append({**row, "measured": [figures_of(by_size[size]) for size in each.sizes]})
    low, high = tuning.hints.trips or (max(1, points[0][0] // NEAR), points[-1][0] * NEAR)
    if points[0][0] <= max(low, 1) * FARTHEST:
        found[0]["from_size"] = low if low or is_right_when_empty(tuning, points[0][1]) else 1
    if high <= points[-1][0] * FARTHEST:
        found[-1]["to_size"] = high
    return found


def is_right_when_empty(tuning: KernelTuning, chosen: JsonObject) -> bool:
    """Whether calls of size 0 may run the choice."""
    candidate = KernelCandidate(chosen["variant"], tuple(chosen["parameters"].items()))
    return candidate == tuning.golden or candidate in tuning.checked_empty


def source_of(tuning: KernelTuning, candidate: KernelCandidate) -> JsonObject:
    if candidate.variant == choices.GOLDEN:
        return {}
    found = {"source": tuning.hash_of(candidate)}
    path = tuning.objects.get(candidate)
    if path:
        kept = choices.objects() / Path(path).name
        keep(Path(path), kept)
        found |= {"object": kept.name, "builder": tuning.builder}
    return found


def keep(made: Path, kept: Path) -> None:
    """Copies an object, unless it is there: never half of it under its name. One with other bytes is replaced."""
    with locked(kept):
        if kept.is_file() and kept.read_bytes() == made.read_bytes():
            return
        files.write_whole(kept, made.read_bytes())


def figures_of(decision: JsonObject) -> JsonObject:
    chosen = next(row for row in decision["tried"] if is_of(row, decision["chosen"]))
    names = ("seconds", "ratio", "ratio_low", "ratio_high")
    figures = {"size": decision["size"], **{name: chosen[name] for name in names if name in chosen}}
    return rounded({**figures, "golden_seconds": decision["tried"][0]["seconds"]})


def is_of(row: JsonObject, candidate: JsonObject) -> bool:
    return row["variant"] == candidate["variant"] and row["parameters"] == candidate["parameters"]


def existing(path: Path) -> JsonObject | None:
    """A file that can be extended. BadInput: it is none of ours, or damaged; nothing is written over."""
    if not path.exists():
        return None
    text = files.read_text(path, "the wisdom file", 64 << 20)
    try:
        file = read_json(text)
    except ValueError:
        raise wrong_value("the wisdom file of a kernel must be JSON", str(path), ADVICE) from None
    head = file.get("kumihimo_wisdom") if isinstance(file, dict) else None
    if head != choices.VERSION or not isinstance(file.get("choices"), list):
        rule = f"the wisdom file of a kernel must have version {choices.VERSION} and choices"
        raise wrong_value(rule, str(path), ADVICE)
    if not all(isinstance(each, dict) for each in file["choices"]):
        raise wrong_value("each choice in the wisdom file of a kernel must be an object", str(path), ADVICE)
    return file


def extend(kernel: str, new: Sequence[JsonObject], made: JsonObject) -> Path:
    """Adds choices under a lock, so that programs that are tuned at the same time lose none."""
    path = choices.path_of(kernel)
    with locked(path):
        old = existing(path)
        kept = (old or {}).get("choices", [])
        for row in new:
            kept = [part for each in kept for part in without(each, row)]
        file = {"kumihimo_wisdom": choices.VERSION, "made": made, "choices": [*new, *kept]}
        files.write_whole(path, as_text(file))
    return path


def without(old: JsonObject, new: JsonObject) -> list[JsonObject]:
    """An old choice without the sizes of a new one for the same golden copy, compiler and machine. What programs pass
    over, since a field has another type, stays as it is."""
    if not choices.is_whole(old):
        return [old]
    if any(old.get(name) != new[name] for name in ("kernel", "golden", "language", "compiler", "machine")):
        return [old]
    low, high = old.get("from_size", 0), old.get("to_size", inf)
    if high < new["from_size"] or new["to_size"] < low:
        return [old]
    parts = [(low, new["from_size"] - 1), (new["to_size"] + 1, high)]
    return [cut(old, first, last) for first, last in parts if first <= last]


def cut(old: JsonObject, first: int, last: float) -> JsonObject:
    listed = old.get("measured")
    rows = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    measured = [each for each in rows if isinstance(each.get("size"), int) and first <= each["size"] <= last]
    row = {**old, "from_size": first, "measured": measured}
    if last < inf:
        row["to_size"] = last
    return row


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    with files.before_writing("the folder of kernel wisdom must be writable", path, "set XDG_DATA_HOME"):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("a")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
