"""Results of a verb side by side: those of two machines, libraries, dates or commits. Rows match by their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite

from kumihimo.keep.assertions import SECONDS
from kumihimo.keep.checks import AssertVerdict
from kumihimo.keep.judge import CANNOT_TELL, MET, MISSED, Estimate
from kumihimo.keep.observed import ObservedRow
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject

SLOWER, FASTER, SAME, UNKNOWN = "slower", "faster", "same", "cannot tell"
LEAST = 0.02  # a smaller change is none


@dataclass
class ComparedFigure:
    """One figure of one row: of the first file, which the others are compared with, and of another one. `times`: how
    many times as slow the other is, for rates too."""

    key: str
    figure: str
    first: Estimate
    other: Estimate
    times: Estimate
    least: float

    @property
    def verdict(self) -> str:
        if self.times.low > 1 + self.least:
            return SLOWER
        if self.times.high < 1 / (1 + self.least):
            return FASTER
        within = self.times.low >= 1 / (1 + self.least) and self.times.high <= 1 + self.least
        return SAME if within else UNKNOWN

    def as_object(self) -> JsonObject:
        return {
            "key": self.key,
            "figure": self.figure,
            **{f"first{end}": number for end, number in ends(self.first).items()},
            **{f"other{end}": number for end, number in ends(self.other).items()},
            **{f"times_as_slow{end}": number for end, number in ends(self.times).items()},
            "verdict": self.verdict,
        }

    def as_assert(self, name: str) -> AssertVerdict:
        """As an assert that the other is no slower, for JUnit XML."""
        found = f"{self.times.value:.3g} times ({self.times.low:.3g} to {self.times.high:.3g})"
        verdict = {SLOWER: MISSED, UNKNOWN: CANNOT_TELL}.get(self.verdict, MET)
        asserted = f"{self.figure} of {name} at most {100 * self.least:g} % worse"
        return AssertVerdict(asserted, self.key or "whole run", verdict, asserted, found, runs=self.times.runs)


def ends(found: Estimate) -> dict[str, float | None]:
    numbers = {"": found.value, "_low": found.low, "_high": found.high}
    return {name: number if isfinite(number) else None for name, number in numbers.items()}


@dataclass
class ComparedFiles:
    """The first file and another one. `only_first`, `only_other`: keys that the other one lacks."""

    figures: list[ComparedFigure] = field(default_factory=list)
    only_first: list[str] = field(default_factory=list)
    only_other: list[str] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        return sum(each.verdict == verdict for each in self.figures)


def compared(first: Sequence[ObservedRow], other: Sequence[ObservedRow], least: float = LEAST) -> ComparedFiles:
    """BadInput: they have no row in common."""
    of_other = {row.key: row for row in other}
    found = ComparedFiles(
        only_first=[row.key for row in first if row.key not in of_other],
        only_other=sorted(of_other.keys() - {row.key for row in first}),
    )
    for row in first:
        if row.key in of_other:
            found.figures += of_row(row, of_other[row.key], least)
    if not found.figures:
        rule = "files that are compared must have rows with the same keys"
        advice = "leave out a part of the keys with --without, as in --without machine,ranks"
        raise wrong_value(rule, f"{first[0].key or 'a whole run'} and {other[0].key or 'a whole run'}", advice)
    return found


def of_row(row: ObservedRow, other: ObservedRow, least: float) -> list[ComparedFigure]:
    found = []
    for name in compared_names(row):
        if name in other.figures:
            one, two = (each.figures[name].estimate() for each in (row, other))
            times = two.over(one) if row.figures[name].lower else one.over(two)
            found.append(ComparedFigure(row.key, name, one, two, times, least))
    return found


def compared_names(row: ObservedRow) -> list[str]:
    """Times and rates. Shares of waiting follow from them, and vary by themselves; so does the ratio to a library."""
    return [name for name in row.figures if name == SECONDS or name.endswith(("per_second", "gflops"))]


def worst(found: ComparedFiles) -> list[ComparedFigure]:
    """The slowest first."""
    return sorted(found.figures, key=lambda each: (each.verdict != SLOWER, -each.times.value))
