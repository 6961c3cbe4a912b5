"""The check of the real runs against the golden copy, an algorithm a row."""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo.report import wording
from kumihimo.report.figures.measured_curves import space_of, spaces, words_of
from kumihimo.report.style import LIBRARY, Styles


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
    """By algorithm and space."""
    results = [r for r in measured["results"] if r.get("bitwise") is not None and r["algorithm"] != LIBRARY]
    places = spaces(measured)
    table = []
    for name in styles.order(r["algorithm"] for r in results):
        cells: list[tuple[int, int] | None] = []
        for place in places:
            mine = [bool(r["bitwise"]) for r in results if r["algorithm"] == name and space_of(r) == place]
            cells.append((sum(mine), len(mine)) if mine else None)
        table.append(Row(wording.label(name), cells))
    return Checks([words_of(place, measured["results"]) for place in places], table)
