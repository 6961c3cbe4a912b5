"""Programs with checkpoints, run failure by failure with drawn times: the golden copy of model.py. It knows nothing of
its formulas, and also takes failures that are not exponentially distributed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from kumihimo.predict.calibrate.least_squares import quantile_of_t
from kumihimo.predict.checkpoint.model import CheckpointCase, pieces_of

FEWEST_FOR_QUANTILES = 20  # runs


class TooManyFailuresError(Exception):
    """More than were allowed, as where a piece of work never fits between two failures."""


@dataclass(frozen=True)
class CheckpointRun:
    seconds: float
    failures: int


@dataclass(frozen=True)
class SimulatedRuns:
    """The mean time of many runs with its 95 % interval (Student's t), and the times within which 9 of 10 runs ended;
    None: of fewer than 20 runs."""

    runs: int
    seconds: float
    low: float
    high: float
    failures: float
    quantile_5: float | None
    quantile_95: float | None


def run(case: CheckpointCase, interval: float, gap: Callable[[], float], most: float = math.inf) -> CheckpointRun:
    """One program. `gap`: draws the time from the start, or a failure, to the next failure. `most`: failures; beyond it
    raises TooManyFailuresError."""
    whole, rest = pieces_of(case.work, interval)
    length = interval + case.checkpoint
    seconds, failures, restart = 0.0, 0, 0.0
    while True:
        until = gap()
        if until >= restart:
            left = until - restart
            fit = min(whole, int(left / length))
            end = fit * length + (rest + case.checkpoint if rest else 0.0)
            if fit == whole and end <= left:
                return CheckpointRun(seconds + restart + end, failures)
            whole -= fit
        seconds += until
        failures += 1
        if failures > most:
            raise TooManyFailuresError
        restart = case.restart


def gaps(mtbf: float, seed: int, shape: float | None = None) -> Callable[[], float]:
    """Exponential times with this mean, or Weibull ones of this shape (less than 1: failures come in groups)."""
    generator = random.Random(seed)
    if shape is None:
        return lambda: generator.expovariate(1 / mtbf)
    scale = mtbf / math.gamma(1 + 1 / shape)
    return lambda: generator.weibullvariate(scale, shape)


def simulate(
    case: CheckpointCase, interval: float, runs: int, seed: int, shape: float | None = None, most: float = math.inf
) -> SimulatedRuns:
    """`runs`: 2 or more. `most`: failures of all runs."""
    gap = gaps(case.mtbf, seed, shape)
    ended: list[CheckpointRun] = []
    for _ in range(runs):
        ended.append(run(case, interval, gap, most))
        most -= ended[-1].failures
    times = sorted(each.seconds for each in ended)
    mean = math.fsum(times) / runs
    error = math.sqrt(math.fsum((time - mean) ** 2 for time in times) / (runs - 1) / runs)
    wide = quantile_of_t(0.975, runs - 1) * error
    failures = sum(each.failures for each in ended) / runs
    quantiles = times[int(0.05 * (runs - 1))], times[math.ceil(0.95 * (runs - 1))]
    return SimulatedRuns(
        runs, mean, mean - wide, mean + wide, failures, *(quantiles if runs >= FEWEST_FOR_QUANTILES else (None, None))
    )
