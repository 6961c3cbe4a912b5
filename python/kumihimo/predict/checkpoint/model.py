"""The expected time of a program that writes checkpoints while nodes fail. All times are in seconds.

Failures come at exponentially distributed intervals with the mean M (the job's mean time between failures). A piece of
work t and the checkpoint behind it (d) are done when no failure came meanwhile. Otherwise a restart (R) and the same
piece follow; a failure during a restart begins it again. Then a piece takes

    M exp(R / M) (exp((t + d) / M) - 1)

on average (J. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, FGCS 22(3), 2006,
the complete model). The last piece has a checkpoint, too: its results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEVER = math.inf  # what a float cannot hold, some 10^300 years


@dataclass(frozen=True)
class CheckpointCase:
    work: float  # of the program without checkpoints and failures
    mtbf: float  # mean time between failures of the job: that of a node, divided by the nodes
    checkpoint: float  # of one
    restart: float  # from a failure to the work after the last checkpoint


@dataclass(frozen=True)
class ExpectedRun:
    """Expected values with one interval. `lost`: work and checkpoints that failures undid."""

    interval: float
    seconds: float
    failures: float
    pieces: int
    work: float
    checkpoints: float
    lost: float
    restarts: float

    @property
    def efficiency(self) -> float:
        return self.work / self.seconds


def pieces_of(work: float, interval: float) -> tuple[int, float]:
    """Whole pieces, and the work of a shorter last one, or 0."""
    whole = int(work / interval * (1 + 1e-12))
    rest = max(0.0, work - whole * interval)
    return whole, rest if rest > 1e-9 * work else 0.0


def expected(case: CheckpointCase, interval: float) -> ExpectedRun:
    """`interval`: work between two checkpoints."""
    whole, rest = pieces_of(case.work, interval)
    retries = 0.0  # expected failures outside restarts
    for count, work in ((whole, interval), (1 if rest else 0, rest)):
        if count:
            retries += count * _expm1((work + case.checkpoint) / case.mtbf)
    undone = case.mtbf * retries  # the time of all trials of pieces
    pieces = whole + (1 if rest else 0)
    checkpoints = pieces * case.checkpoint
    restarts = retries * case.mtbf * _expm1(case.restart / case.mtbf) if case.restart else 0.0
    seconds = undone + restarts
    lost = max(0.0, undone - case.work - checkpoints) if math.isfinite(undone) else NEVER
    return ExpectedRun(interval, seconds, seconds / case.mtbf, pieces, case.work, checkpoints, lost, restarts)


def _expm1(exponent: float) -> float:
    try:
        return math.expm1(exponent)
    except OverflowError:
        return NEVER


def best_interval(mtbf: float, checkpoint: float) -> float:
    """The minimum of the complete model over the interval t, for long programs: the root of

        (t / M - 1) exp(t / M) + exp(-d / M) = 0        between 0 and M

    on which the restart has no influence. By bisection down to neighbouring floating-point numbers."""
    share = checkpoint / mtbf
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if _one_plus(middle) + math.expm1(-share) < 0:
            low = middle
        else:
            high = middle
    return high * mtbf


def _one_plus(x: float) -> float:
    """(x - 1) exp(x) + 1, for small x by its series: the sum of x^k (k - 1) / k! from k = 2 on."""
    if x > 0.3:
        return (x - 1) * math.exp(x) + 1
    term, total = x, 0.0
    for k in range(2, 20):
        term *= x / k
        total += term * (k - 1)
    return total


def young(mtbf: float, checkpoint: float) -> float:
    """sqrt(2 d M): J. Young, A first order approximation to the optimum checkpoint interval, CACM 17(9), 1974."""
    return math.sqrt(2 * checkpoint * mtbf)


def daly(mtbf: float, checkpoint: float) -> float:
    """The higher-order estimate of Daly (2006): M where d is at least 2 M."""
    if checkpoint >= 2 * mtbf:
        return mtbf
    ratio = checkpoint / (2 * mtbf)
    return math.sqrt(2 * checkpoint * mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - checkpoint


def best_for(case: CheckpointCase) -> float:
    """The best interval of this program: equal pieces, whose number is next to that of best_interval. Their time is a
    convex function of their number, so that one of the two neighbours is the minimum."""
    most = case.work / best_interval(case.mtbf, case.checkpoint)
    numbers = {max(1, math.floor(most)), max(1, math.ceil(most))}
    return min((case.work / number for number in sorted(numbers)), key=lambda t: expected(case, t).seconds)
