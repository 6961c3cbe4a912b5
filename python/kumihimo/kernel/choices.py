"""Choices of wisdom for one kernel on this machine: read once by a program, at the first call of the kernel."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from kumihimo.kernel import identity
from kumihimo.text.documents import read_json
from kumihimo.text.errors import KumihimoError, failed
from kumihimo.text.json_types import JsonObject

VERSION = 1
GOLDEN = "golden"


def folder() -> Path:
    """A file for each name of a kernel (docs/wisdom.md), beside the wisdom of collectives."""
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():
        try:
            data = Path.home() / ".local" / "share"
        except RuntimeError:  # neither HOME nor an entry in passwd
            raise failed("there is no home folder for kernel wisdom", "", "set HOME or XDG_DATA_HOME") from None
    return data / "kumihimo" / "wisdom" / "kernels"


def path_of(kernel: str) -> Path:
    return folder() / f"{kernel}.json"


def objects() -> Path:
    """Compiled sources that choices name."""
    return folder() / "objects"


def read(kernel: str) -> list[JsonObject]:
    """All choices of the file; none where there is no file or a damaged one: the golden copy needs no wisdom."""
    damage = (OSError, ValueError, KeyError, TypeError, AttributeError)
    with contextlib.suppress(KumihimoError, *damage):
        file = read_json(path_of(kernel).read_text(encoding="utf-8"))
        if file["kumihimo_wisdom"] == VERSION:
            return [each for each in file["choices"] if isinstance(each, dict)]
    return []


def fitting(choices: list[JsonObject], golden: str, compiler: str, language: str) -> list[JsonObject]:
    """Choices of this machine, compiler and golden copy, without damaged ones."""
    key = key_of(golden, compiler, language)
    return [each for each in choices if all(each.get(n) == value for n, value in key.items()) and is_whole(each)]


def is_whole(choice: JsonObject) -> bool:
    """Whether each field has its type, and the object is the name of a file beside the wisdom."""
    sizes = [choice.get(name, 1) for name in ("from_size", "to_size", "multiple")]
    if any(type(size) is not int or size < 0 for size in sizes) or sizes[2] < 1:
        return False
    if not all(isinstance(choice.get(name), (bool, type(None))) for name in ("odd", "power_of_two")):
        return False
    kept = choice.get("object", "none")
    if not isinstance(choice.get("variant"), str) or not isinstance(choice.get("parameters", {}), dict):
        return False
    return isinstance(kept, str) and "\0" not in kept and kept == Path(kept).name


def key_of(golden: str, compiler: str, language: str, machine: JsonObject | None = None) -> JsonObject:
    machine = machine or identity.this_machine()
    return {"golden": golden, "language": language, "compiler": compiler, "machine": machine}


def is_for(choice: JsonObject, size: int) -> bool:
    """Whether a call of this size is in the range of the choice and has the properties that the hint promised."""
    if not choice.get("from_size", 0) <= size <= choice.get("to_size", size):
        return False
    if size % choice.get("multiple", 1) or (choice.get("odd") and size % 2 == 0):
        return False
    is_power = size > 0 and size & (size - 1) == 0
    return choice.get("power_of_two") in (None, is_power)
