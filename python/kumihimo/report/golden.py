"""The check of the real runs against the golden copy, an algorithm a row."""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo.report import wording
from kumihimo.report.figures.measured_curves import space_of, spaces, words_of
from kumihimo.report.style import Styles


@dataclass(frozen=True)
class Row:
    """An algorithm; per space how many cases were equal, and of how many."""

    algorithm: str
    cells: list[tuple[int, int] | None]


@dataclass(frozen=True)
class Checks:
    """The table."""

    spaces: list[str]
    rows: list[Row]


def rows(measured: dict, styles: Styles) -> Checks:
    """By algorithm and space: how many comparisons there were, by length and type, and how many found the same bits."""
    checks = measured.get("checks", [])
    places = spaces(measured)
    table = []
    for name in styles.order(check["algorithm"] for check in checks if "right" in check):
        cells: list[tuple[int, int] | None] = []
        for place in places:
            mine = [c["right"] for c in checks if c["algorithm"] == name and space_of(c) == place and "right" in c]
            cells.append((sum(mine), len(mine)) if mine else None)
        table.append(Row(wording.label(name), cells))
    return Checks([words_of(place, measured["results"]) for place in places], table)


def totals(measured: dict) -> tuple[int, int]:
    """How many comparisons found the same bits, and of how many."""
    found = [check["right"] for check in measured.get("checks", []) if "right" in check]
    return sum(found), len(found)


def coverage(measured: dict) -> list[str]:
    """Exactly what was compared: for each type its lengths; and which of those timed were not."""
    checks = [check for check in measured.get("checks", []) if "right" in check]
    types = dict.fromkeys(check["type"] for check in checks)
    sentences = [f"{WORDS.get(type_, type_)}: {_lengths(_compared(checks, type_))}" for type_ in types]
    compared = {_case(check) for check in checks}
    without = sorted({r["bytes"] for r in measured["results"] if _case(r) not in compared})
    if without:
        sentences.append(f"timed but not, or not everywhere, compared with it: {_lengths(without)}")
    return sentences


WORDS = {"float64": "double", "float32": "float"}


def _case(result: dict) -> tuple:
    return space_of(result), result["algorithm"], result["bytes"]


def _compared(checks: list[dict], type_: str) -> list[int]:
    """The lengths at which every algorithm of a space was compared that was compared there at all."""
    mine = [check for check in checks if check["type"] == type_]
    everywhere = {_case(check)[:2] for check in mine}
    lengths = {check["bytes"] for check in mine}
    return sorted(n for n in lengths if sum(check["bytes"] == n for check in mine) == len(everywhere))


def _lengths(lengths: list[int]) -> str:
    if not lengths:
        return "none"
    if len(lengths) < 3:
        return ", ".join(map(wording.bytes_, lengths))
    return f"{len(lengths)} lengths from {wording.bytes_(lengths[0])} to {wording.bytes_(lengths[-1])}"
