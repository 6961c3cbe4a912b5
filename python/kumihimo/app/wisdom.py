"""Choices of variants on disk: one file for this machine, beside those of collectives and kernels.

A choice holds for an application, a class of sizes, ranks, threads, a method and options, and for one golden copy: the
hash of its source is part of the choice, so that an edited golden copy has no tuned variants until they are measured
again.
"""

from __future__ import annotations

import contextlib
import json
import re
from math import floor, log2, prod
from pathlib import Path

from kumihimo import _plan, files
from kumihimo.app.catalogue import Candidate
from kumihimo.app.launches import Problem
from kumihimo.odd_bytes import to_json
from kumihimo.wisdom_reading import usual_path

SUBJECT = "applications"
KEY = ("application", "size_class", "ranks", "threads", "method", "options")


def path() -> Path:
    return usual_path(SUBJECT)


def size_class(problem: Problem) -> str:
    """Sizes within a factor of two in unknowns share choices: "2^21". A file is a class of its own: its name and
    length."""
    if problem.file is not None:
        with contextlib.suppress(OSError):
            return f"{Path(problem.file).name}, {Path(problem.file).stat().st_size} bytes"
        return problem.file
    size = problem.size
    if match := re.fullmatch(r"(\d+)(?:x(\d+)x(\d+))?", size):
        numbers = [int(number) for number in match.groups() if number]
        unknowns = prod(numbers) if len(numbers) == 3 else numbers[0] ** 3
        return f"2^{floor(log2(max(1, unknowns)))}"
    return size


def key_of(problem: Problem, ranks: int, threads: int) -> dict:
    return {
        "application": problem.application.name,
        "size_class": size_class(problem),
        "ranks": ranks,
        "threads": threads,
        "method": problem.method,
        "options": dict(sorted(problem.options.items())),
    }


def read(where: Path) -> list[dict]:
    """The choices of a file; none where there is none for this machine or it cannot be read."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        found = json.loads(where.read_text(encoding="utf-8"))
        machine = _plan.this_machine()
        if found["machine"] == {"processor": machine.processor, "processors": machine.processors}:
            return [choice for choice in found["choices"] if all(name in choice for name in (*KEY, "variant"))]
    return []


def choice_for(problem: Problem, ranks: int, threads: int, where: Path | None = None) -> dict | None:
    """The choice of this case, if it was made for the golden copy that is built."""
    key = key_of(problem, ranks, threads)
    for choice in read(where or path()):
        same = all(choice[name] == key[name] for name in KEY)
        if same and choice.get("golden_hash") == problem.application.golden_hash:
            return choice
    return None


def keep(choice: dict, where: Path | None = None) -> Path:
    """In place of an earlier choice of the same case, also one for another golden copy."""
    where = where or path()
    kept = [old for old in read(where) if any(old[name] != choice[name] for name in KEY)]
    machine = _plan.this_machine()
    document = {
        "kumihimo_wisdom": _plan.WISDOM_VERSION,
        "machine": {"processor": machine.processor, "processors": machine.processors},
        "choices": [*kept, choice],
    }
    with files.refused("the folder of wisdom must be writable", where, "set XDG_DATA_HOME"):
        where.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(where, to_json(document, indent=1) + "\n")
    return where


def candidate_of(choice: dict) -> Candidate:
    return Candidate(choice["variant"], tuple(sorted(choice["parameters"].items())))
