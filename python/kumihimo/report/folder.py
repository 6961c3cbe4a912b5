"""A report's folder: measured.json, unmodified.json and simulated.json go in, index.html comes out."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

from kumihimo import files, nested_text, odd_bytes, schema
from kumihimo.errors import errors_of_this_machine, failed, missing, wrong_value
from kumihimo.report import completeness

MEASURED, UNMODIFIED, SIMULATED, PAGE = "measured.json", "unmodified.json", "simulated.json", "index.html"


@dataclass(frozen=True)
class Material:
    """What a page is made of; None is a part that the folder lacks."""

    measured: dict | None = None
    simulated: dict | None = None
    unmodified: dict | None = None


@errors_of_this_machine()
def read(folder: Path) -> Material:
    """The parts that are there. Errors: no such folder, neither part in it, a part that is no report data."""
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise wrong_value(f"{folder} must be the folder of a report", found, "make one with kumihimo demo --output DIR")
    material = Material(*(_part(folder / name) for name in (MEASURED, SIMULATED, UNMODIFIED)))
    if material == Material():
        raise missing(
            f"each of {MEASURED}, {UNMODIFIED} and {SIMULATED} in {folder}",
            f"make them with kumihimo demo --output {folder}",
        )
    return material


def _part(path: Path) -> dict | None:
    if not os.path.lexists(path):
        return None
    text = files.read_text(path, "the part of a report")
    try:
        value = nested_text.json_of(text, parse_constant=_not_finite, parse_float=_finite)
    except ValueError as error:
        raise wrong_value(f"{path} must hold JSON", error, "make it again with kumihimo demo") from None
    wrong = schema.fault(value, path.stem) or (completeness.fault(value) if path.name == SIMULATED else "")
    if wrong:
        raise wrong_value(f"in {path}, {wrong}", None, "make it again with kumihimo demo")
    return value


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _not_finite(text)


def _not_finite(text: str) -> float:
    raise ValueError(f"{text}, which is not a finite number")


@errors_of_this_machine()
def prepare(folder: Path) -> None:
    """Make the folder, and find out now, not after minutes of work, whether files can be written into it."""
    with files.refused("the folder of --output must be writable", folder, "name another folder"):
        files.check_folder(folder)


def save(folder: Path, name: str, value: dict) -> Path:
    return write(folder / name, odd_bytes.to_json(value, separators=(",", ":")) + "\n")


@errors_of_this_machine()
def write(path: Path, text: str) -> Path:
    """Write a whole file or, if that fails, none: an old page is never left half overwritten."""
    try:
        files.write_whole(path, odd_bytes.printable(text))
    except OSError as error:
        raise failed(
            f"{path} was not written", error.strerror or str(error), "name a folder that you can write to"
        ) from None
    return path
