"""Is what was proposed really faster than the library's own? Both by turns in the same processes, in one launch after
another, until the interval over the launches is narrow or clear of 1. Nothing of the search counts here.

Who looks after each launch finds an interval clear of 1 by chance more often than one interval would be: 4 % of equal
ones look faster at one of the looks. So what looks faster has to be so in CONFIRMING more launches, each by itself,
that had no part in the looks: then 1 % of equal ones are chosen.

Calls of a slow network take seconds, and so many launches longer than anybody waits. There the difference may be so
large that it shows at once: what takes less than FAR of the library's time in each of FAR_LAUNCHES is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from kumihimo import _measure
from kumihimo.text.errors import OutOfTime
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench.tuned import Choice, ratios_of
from kumihimo.tune.launches import LONG_CALL_SECONDS

LEAST_LAUNCHES = 6  # from which the interval covers 95 %
MOST_LAUNCHES = 15  # of those that are looked at
CONFIRMING = 2  # launches after them
FAR, FAR_LAUNCHES = 0.75, 3
GROWING = 3  # launches that one without any result stands for, so that the next one has a larger part
NARROW = 0.04  # width of the interval of the ratio at which more launches say nothing new
TAKING_OVER_SECONDS = 1e-7  # what it costs a program to have its call hooked: ours must win that back

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
    also: tuple[str, ...] = ()  # other questions at which the choice was tried too, and does not lose
    in_program: JsonObject = field(default_factory=dict)  # the ratio where calls follow one another as in a program
    far_launches: int = FAR_LAUNCHES

    @property
    def figures(self) -> JsonObject:
        """Times are medians over the launches, the interval is of their ratios."""
        times = {"seconds": median(self.ours), "library_seconds": median(self.theirs)}
        return {**times, **ratios_of(list(zip(self.ours, self.theirs))), "launches": len(self.ours)}

    @property
    def clear(self) -> bool:
        """Whether more launches would not change the answer."""
        if self.refused or self.far_faster:
            return True
        looked, launches = self.looked, len(self.ours)
        if looked:
            return launches >= looked + CONFIRMING or not self.confirmed(looked)
        if launches < LEAST_LAUNCHES:
            return False
        found = self.figures
        return found["ratio_low"] > 1 or found["ratio_high"] - found["ratio_low"] < NARROW or launches >= MOST_LAUNCHES

    @property
    def far_faster(self) -> bool:
        """Whether every launch of long calls says so by far."""
        if len(self.ours) < self.far_launches or self.refused:
            return False
        pairs = zip(self.ours, self.theirs)
        return all(theirs >= LONG_CALL_SECONDS and ours < FAR * theirs for ours, theirs in pairs)

    @property
    def faster(self) -> bool:
        """Whether it looked faster with its whole interval, and all of the confirming launches say so; or by far."""
        if self.far_faster:
            return True
        looked = self.looked
        if self.refused or not looked or len(self.ours) < looked + CONFIRMING:
            return False
        return self.confirmed(looked) and self.wins(len(self.ours))

    @property
    def slower(self) -> bool:
        """Whether the whole interval lies above 1."""
        return len(self.ours) >= LEAST_LAUNCHES and self.figures["ratio_low"] > 1

    @property
    def looked(self) -> int:
        """The number of launches after which the whole interval lay below 1 for the first time; 0: never."""
        for number in range(LEAST_LAUNCHES, min(len(self.ours), MOST_LAUNCHES) + 1):
            if self.wins(number):
                return number
        return 0

    def confirmed(self, looked: int) -> bool:
        """Whether the confirming launches so far confirm the choice."""
        later = zip(self.ours[looked:], self.theirs[looked:])
        return all(ours + TAKING_OVER_SECONDS < theirs for ours, theirs in later)

    def wins(self, number: int) -> bool:
        """Whether ours is faster in the first launches, as the rule of all choices has it, and pays for itself."""
        launches = list(zip(self.ours, self.theirs))[:number]
        return _measure.compare(launches).is_faster(TAKING_OVER_SECONDS / median(self.theirs[:number]))

    def take(self, result: JsonObject) -> None:
        if "not_applicable" in result:
            self.refused = result["not_applicable"]
        elif not result["bitwise"]:
            self.refused = "its results differ between ranks or calls"
        else:
            self.ours.append(result["seconds"])
            self.theirs.append(result["library"]["seconds"])


def part_of(number: int) -> float:
    """How much of the time that is left a launch may take, so that enough of them have some."""
    return 1 / max(1, LEAST_LAUNCHES + CONFIRMING + 1 - number)


def judge(proposals: Sequence[tuple[int, Choice]], launch: Launch, far_launches: int = FAR_LAUNCHES) -> list[Judged]:
    """Each proposal judged, the first being the most important. Where a launch does not reach all in its part of the
    time, as many of the last are given up, so that the rest has enough launches; they go on until all is clear."""
    judged = [Judged(size, choice, far_launches=far_launches) for size, choice in proposals]
    going_on, empty = judged, 0
    try:
        for number in range(MOST_LAUNCHES + CONFIRMING):
            results = launch(number + GROWING * empty, [(j.bytes, j.choice) for j in going_on])
            reached = [(j, result) for j, result in zip(going_on, results) if result is not None]
            for each, result in reached:
                each.take(result)
            if reached:
                going_on = [j for j in going_on[: len(reached)] if not j.clear]
            else:  # the launch itself was in trouble, or its part of the time too short
                empty += 1
            if not going_on:
                break
    except OutOfTime:
        pass  # those that have too few launches stay the library's
    return judged
