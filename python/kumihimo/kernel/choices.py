"""What wisdom says of one kernel on this machine: read once by a program, at the first call of the kernel."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from kumihimo.kernel import identity

VERSION = 1
GOLDEN = "golden"


def folder() -> Path:
    """A file for each name of a kernel (docs/wisdom.md), beside the wisdom of collectives."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else Path.home() / ".local" / "share") / "kumihimo" / "wisdom" / "kernels"


def path_of(kernel: str) -> Path:
    return folder() / f"{kernel}.json"


def objects() -> Path:
    """Compiled sources that choices name."""
    return folder() / "objects"


def read(kernel: str) -> list[dict]:
    """All choices of the file; none where there is no file or a damaged one: the golden copy needs no wisdom."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        file = json.loads(path_of(kernel).read_text(encoding="utf-8"))
        if file["kumihimo_wisdom"] == VERSION:
            return [each for each in file["choices"] if isinstance(each, dict)]
    return []


def fitting(choices: list[dict], golden: str, compiler: str, language: str) -> list[dict]:
    """Those of this machine, compiler and golden copy."""
    key = key_of(golden, compiler, language)
    return [each for each in choices if all(each.get(name) == value for name, value in key.items())]


def key_of(golden: str, compiler: str, language: str, machine: dict | None = None) -> dict:
    machine = machine or identity.this_machine()
    return {"golden": golden, "language": language, "compiler": compiler, "machine": machine}


def is_for(choice: dict, size: int) -> bool:
    """Whether a call of this size is in the range of the choice and has the properties that the hint promised."""
    if not choice.get("from_size", 0) <= size <= choice.get("to_size", size):
        return False
    if size % choice.get("multiple", 1) or (choice.get("odd") and size % 2 == 0):
        return False
    is_power = size > 0 and size & (size - 1) == 0
    return choice.get("power_of_two") in (None, is_power)
