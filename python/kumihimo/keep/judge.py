"""Whether measured times keep to a bound: met, missed, or cannot tell. Pure: it knows runs of numbers, and no verb.

A run is one start of a program, and has one value or several (the passages of a region). Passages of one run are not
independent: a run brings its placement of memory, its neighbours on the machine and its clock rate. So runs are the
samples, as launches are in `bench`: each gives one value, the wanted quantile of its passages, and the interval is that
of the median of these values (order statistics, 95 %, src/foundation/measure). It takes LEAST_RUNS runs.

With fewer runs nobody knows how far runs differ. Then the interval of each run's passages stands for it, with a margin
of BETWEEN_RUNS on either side; and where a run has too few passages for an interval, the values with a margin of
FEW_PASSAGES. A bound within the interval is neither met nor missed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _measure

LEAST_RUNS = 6  # of a 95 % interval of the median: 5 samples cover it with 1 - 2/2^5 = 94 %
BETWEEN_RUNS = 1.05
FEW_PASSAGES = 1.5
MEDIAN, ALL = 0.5, 1.0  # shares of passages

MET, MISSED, CANNOT_TELL = "met", "missed", "cannot tell"


@dataclass(frozen=True)
class RunValues:
    """Values of one run: its passages or a sample of them, and the largest of all. A verb may know of a run the median
    alone, with its interval: `stated`.
    """

    values: Sequence[float]
    largest: float
    stated: tuple[float, float] | None = None

    @staticmethod
    def of(value: float, stated: tuple[float, float] | None = None) -> RunValues:
        return RunValues((value,), value, stated)

    def interval(self, share: float) -> tuple[float, float]:
        """95 %, within the run; infinite ends where its values do not show them."""
        return self.stated or _measure.quantile_interval(list(self.values), share)


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval. `runs`: from how many runs. `passages`: of all runs, as far as they are known."""

    value: float
    low: float
    high: float
    runs: int = 1
    passages: int = 1

    def over(self, other: Estimate) -> Estimate:
        """The ratio of two that were measured apart: the interval holds with at least 95 % if both do."""
        low = self.low / other.high if other.high > 0 else math.inf
        high = self.high / other.low if other.low > 0 else math.inf
        ratio = self.value / other.value if other.value > 0 else math.inf
        return Estimate(ratio, low, high, min(self.runs, other.runs), min(self.passages, other.passages))

    @staticmethod
    def exactly(value: float) -> Estimate:
        return Estimate(value, value, value)


def estimate(runs: Sequence[RunValues], share: float = MEDIAN) -> Estimate:
    """The value that this share of the passages stays below, with its interval. At least one run, none of them empty.
    ALL is no estimate: it is the largest value that there was."""
    passages = sum(len(run.values) for run in runs)
    if share >= ALL:
        largest = max(run.largest for run in runs)
        return Estimate(largest, largest, largest, len(runs), passages)
    each = [_measure.quantile(list(run.values), share) for run in runs]
    found = _measure.summarise(each)
    if len(runs) >= LEAST_RUNS:
        return Estimate(found.median, found.low, found.high, len(runs), passages)
    low, high = few_runs(runs, each, share)
    return Estimate(found.median, low, high, len(runs), passages)


def few_runs(runs: Sequence[RunValues], each: Sequence[float], share: float) -> tuple[float, float]:
    within = [run.interval(share) for run in runs]
    low, high = min(low for low, _ in within), max(high for _, high in within)
    low = low / BETWEEN_RUNS if math.isfinite(low) else min(each) / FEW_PASSAGES
    high = high * BETWEEN_RUNS if math.isfinite(high) else max(each) * FEW_PASSAGES
    return low, high


def verdict(found: Estimate, bound: float) -> str:
    """Verdict on `found` <= `bound`."""
    if found.high <= bound:
        return MET
    return MISSED if found.low > bound else CANNOT_TELL
