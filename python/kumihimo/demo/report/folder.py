"""A report's folder: measured.json, unmodified.json and simulated.json go in, index.html comes out. left-out.json says
why a part is missing."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.demo.report import completeness
from kumihimo.text import files, odd_bytes, schema
from kumihimo.text.documents import read_json
from kumihimo.text.errors import errors_of_this_machine, missing, wrong_value
from kumihimo.text.json_types import JsonObject

MEASURED, UNMODIFIED, SIMULATED, PAGE = "measured.json", "unmodified.json", "simulated.json", "index.html"
LEFT_OUT = "left-out.json"


@dataclass(frozen=True)
class Material:
    """Parts of a page; None is a part that the folder lacks. `left_out`: why, by the name of the part."""

    measured: JsonObject | None = None
    simulated: JsonObject | None = None
    unmodified: JsonObject | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def absent(self) -> dict[str, str]:
        """The parts that are not there, with the reason, empty where nobody wrote it down."""
        names = ("measured", "simulated", "unmodified")
        return {name: self.left_out.get(name, "") for name in names if getattr(self, name) is None}


@errors_of_this_machine()
def read(folder: Path) -> Material:
    """The parts that are there. Errors: no such folder, neither part in it, a part that is no report data."""
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise wrong_value(f"{folder} must be the folder of a report", found, "make one with kumihimo demo --output DIR")
    measured, simulated, unmodified, left_out = (
        _part(folder / name) for name in (MEASURED, SIMULATED, UNMODIFIED, LEFT_OUT)
    )
    material = Material(measured, simulated, unmodified, left_out["parts"] if left_out else {})
    if len(material.absent) == 3 and not material.left_out:
        raise missing(
            f"each of {MEASURED}, {UNMODIFIED} and {SIMULATED} in {folder}",
            f"make them with kumihimo demo --output {folder}",
        )
    return material


def _part(path: Path) -> JsonObject | None:
    if not os.path.lexists(path):
        return None
    text = files.read_text(path, "the part of a report")
    try:
        value = read_json(text, parse_constant=_not_finite, parse_float=_finite)
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
    files.check_folder(folder, "--output must name a folder that can be written")


def save(folder: Path, name: str, value: JsonObject) -> Path:
    return write(folder / name, odd_bytes.to_json(value, separators=(",", ":")) + "\n")


@errors_of_this_machine()
def write(path: Path, text: str) -> Path:
    """Write a whole file or, if that fails, none: an old page is never left half overwritten."""
    files.write_whole(path, text)
    return path
