"""The check of the real runs against the golden copy, an algorithm a row."""

from __future__ import annotations

from kumihimo.demo.report import display
from kumihimo.demo.report.figures.measured_curves import space_of, spaces
from kumihimo.demo.report.style import LIBRARY, Styles
from kumihimo.text.json_types import JsonObject


def rows(measured: JsonObject, styles: Styles) -> dict[str, list[tuple[int, int] | None]]:
    """Comparisons by algorithm and space: how many comparisons, by length and type, found the same bits, and of how
    many; None where the algorithm does not apply.
    """
    checks = measured.get("checks", [])
    if not totals(measured)[1]:
        return {}
    ran = {_case(r)[:2] for r in measured["results"] if r["algorithm"] != LIBRARY}
    ran |= {_case(check)[:2] for check in checks if "right" in check}
    found = {}
    for name in styles.order(algorithm for _, algorithm in ran):
        cells: list[tuple[int, int] | None] = []
        for place in spaces(measured):
            mine = [c["right"] for c in checks if c["algorithm"] == name and space_of(c) == place and "right" in c]
            cells.append((sum(mine), len(mine)) if (place, name) in ran else None)
        found[display.label(name)] = cells
    return found


def totals(measured: JsonObject) -> tuple[int, int]:
    """How many comparisons found the same bits, and of how many."""
    found = [check["right"] for check in measured.get("checks", []) if "right" in check]
    return sum(found), len(found)


def coverage(measured: JsonObject) -> list[str]:
    """The lengths compared, by type, and the lengths that were timed without a full comparison."""
    checks = [check for check in measured.get("checks", []) if "right" in check]
    timed = {_case(r)[:2] for r in measured["results"] if r["algorithm"] != LIBRARY}
    sentences = [f"{word}: {_lengths(_compared(checks, type_, timed))}" for type_, word in _types(checks).items()]
    compared = {_case(check) for check in checks}
    without = sorted(
        {r["bytes"] for r in measured["results"] if r["algorithm"] != LIBRARY and _case(r) not in compared}
    )
    if without:
        sentences.append(f"timed without a comparison for all algorithms: {_lengths(without)}")
    return sentences


def types(measured: JsonObject) -> list[str]:
    """The element types of the comparisons, in words."""
    return list(_types([check for check in measured.get("checks", []) if "right" in check]).values())


def _types(checks: list[JsonObject]) -> dict[str, str]:
    return {type_: WORDS.get(type_, type_) for type_ in dict.fromkeys(check["type"] for check in checks)}


WORDS = {"float64": "double", "float32": "float"}


def _case(result: JsonObject) -> tuple:
    return space_of(result), result["algorithm"], result["bytes"]


def _compared(checks: list[JsonObject], type_: str, timed: set[tuple]) -> list[int]:
    """The lengths at which every algorithm of a space was compared that was compared, or timed, there at all."""
    mine = [check for check in checks if check["type"] == type_]
    everywhere = {_case(check)[:2] for check in mine} | timed
    lengths = {check["bytes"] for check in mine}
    return sorted(n for n in lengths if sum(check["bytes"] == n for check in mine) == len(everywhere))


def _lengths(lengths: list[int]) -> str:
    if not lengths:
        return "none"
    if len(lengths) < 3:
        return ", ".join(map(display.bytes_, lengths))
    return f"{len(lengths)} lengths from {display.bytes_(lengths[0])} to {display.bytes_(lengths[-1])}"
