"""Is what was proposed really faster than the library's own? Both by turns in the same processes, in one launch after
another, until the interval over the launches is narrow or clear of 1. Nothing of the search counts here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from kumihimo import _measure
from kumihimo.bench.tuned import Choice
from kumihimo.errors import OutOfTime

LEAST_LAUNCHES = 6  # from which the interval covers 95 %
MOST_LAUNCHES = 15
NARROW = 0.04  # width of the interval of the ratio at which more launches say nothing new
TAKING_OVER_SECONDS = 1e-7  # what it costs a program to have its call caught: ours must win that back

# Results of the cases (size, choice) in the launch of this number, in their order; None where time ended first.
Launch = Callable[[int, Sequence[tuple[int, Choice]]], list]


@dataclass
class Judged:
    """One size: what was proposed, and how it did beside the library."""

    bytes: int
    choice: Choice
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    refused: str = ""  # why it may not be chosen, whatever its time

    @property
    def figures(self) -> dict:
        """Times are medians over the launches, the interval is of their ratios."""
        found = _measure.compare(list(zip(self.ours, self.theirs)))
        return {
            "seconds": median(self.ours),
            "library_seconds": median(self.theirs),
            "ratio": found.ratio,
            "ratio_low": found.ratio_low,
            "ratio_high": found.ratio_high,
            "launches": found.launches,
        }

    @property
    def clear(self) -> bool:
        """Whether more launches would not change the answer."""
        if self.refused:
            return True
        if len(self.ours) < LEAST_LAUNCHES:
            return False
        found = self.figures
        return self.highest(found) < 1 or found["ratio_low"] > 1 or found["ratio_high"] - found["ratio_low"] < NARROW

    @property
    def faster(self) -> bool:
        """Whether the whole interval lies below 1."""
        return not self.refused and len(self.ours) >= LEAST_LAUNCHES and self.highest(self.figures) < 1

    @staticmethod
    def highest(found: dict) -> float:
        return found["ratio_high"] + TAKING_OVER_SECONDS / found["library_seconds"]

    def take(self, result: dict) -> None:
        if "not_applicable" in result:
            self.refused = result["not_applicable"]
        elif not result["bitwise"]:
            self.refused = "its results differ between ranks or calls"
        else:
            self.ours.append(result["seconds"])
            self.theirs.append(result["library"]["seconds"])


def part_of(number: int) -> float:
    """How much of the time that is left a launch may take, so that enough of them have some."""
    return 1 / max(1, LEAST_LAUNCHES + 1 - number)


def judge(proposals: Sequence[tuple[int, Choice]], launch: Launch) -> list[Judged]:
    """Each proposal judged, the first being the most important. Where a launch does not reach all in its part of the
    time, as many of the last are given up, so that the rest has enough launches; they go on until all is clear."""
    judged = [Judged(size, choice) for size, choice in proposals]
    going_on = judged
    try:
        for number in range(MOST_LAUNCHES):
            results = launch(number, [(j.bytes, j.choice) for j in going_on])
            reached = [(j, result) for j, result in zip(going_on, results) if result is not None]
            for each, result in reached:
                each.take(result)
            if reached:  # else the launch itself was in trouble
                going_on = [j for j in going_on[: len(reached)] if not j.clear]
            if not going_on:
                break
    except OutOfTime:
        pass  # those that have too few launches stay the library's
    return judged
