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
