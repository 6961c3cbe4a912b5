"""Measures candidates by turns: one sample of each in every round, so that a disturbance touches all. The ratio to the
golden copy is of samples of the same round (src/foundation/measure/statistics.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import median

from kumihimo import _measure
from kumihimo.kernel.candidates import KernelCandidate
from kumihimo.text.json_types import JsonObject

FAR_SLOWER = 1.5
ROUNDS_BEFORE_DROPPING = 3
ROUNDS_OF_AN_INTERVAL = 6  # from which on the interval of the median has 95 %


@dataclass(frozen=True)
class RoundEffort:
    seconds: float = 0.5  # of the rounds, about; the least number of them comes first
    sample_seconds: float = 2e-3  # of one sample: runs are repeated until it takes as long
    least_rounds: int = 7
    most_rounds: int = 25


@dataclass
class Runner:
    candidate: KernelCandidate
    times: int
    samples: list[float] = field(default_factory=list)
    dropped: str = ""  # why it was not measured to the end
    refused: str = ""

    @property
    def is_running(self) -> bool:
        return not self.dropped and not self.refused

    def interval(self) -> tuple[float, float, float]:
        """Median with its 95 % interval."""
        compared = _measure.compare([(sample, 1.0) for sample in self.samples])
        return compared.ratio, compared.ratio_low, compared.ratio_high


class QuickLook:
    """The search's measurement of a candidate: samples by turns with the fastest one so far, so that a machine that
    becomes slower does not mislead it. A candidate whose single call is longer than a sample and far slower is not
    measured further."""

    SAMPLES = 3
    FAR = 3.0  # times the fastest so far

    def __init__(self, golden: KernelCandidate, golden_seconds: float, effort: RoundEffort) -> None:
        self.effort = effort
        self.fastest = Runner(golden, times_of(golden_seconds, effort))
        self.fastest_seconds = golden_seconds
        self.dropped: dict[KernelCandidate, str] = {}

    def seconds(self, candidate: KernelCandidate, sample: Callable[[Runner], float | str]) -> float | str:
        """Seconds of one call, or the reason why the candidate is refused."""
        runner = Runner(candidate, 1)
        touching = sample(runner)  # memory and code
        first = touching if isinstance(touching, str) else sample(runner)
        if isinstance(first, str):
            return first
        runner.times = times_of(first, self.effort)
        ratios: list[float] = []
        while len(ratios) < self.SAMPLES:
            other, mine = sample(self.fastest), sample(runner)
            if isinstance(mine, str):
                return mine
            if isinstance(other, str):  # the fastest fails now: the rounds that follow the search refuse it
                return mine
            ratios.append(mine / other)
            if runner.times == 1 and len(ratios) == 1 and min(first, mine) > self.FAR * other:
                self.dropped[candidate] = f"{ratios[0]:.1f} times as slow as the fastest in its first run"
                break
        seconds = self.fastest_seconds * median(ratios)
        if max(ratios) < 1:
            self.fastest, self.fastest_seconds = runner, seconds
        return seconds


def times_of(seconds: float, effort: RoundEffort) -> int:
    return max(1, min(1_000_000, round(effort.sample_seconds / max(seconds, 1e-9))))


def by_turns(
    runners: Sequence[Runner], sample: Callable[[Runner], float | str], effort: RoundEffort, spent: Callable[[], float]
) -> None:
    """The first runner is the golden copy, which stays. `sample` gives seconds of one call, or why the candidate is
    refused."""
    for number in range(effort.most_rounds):
        if number >= effort.least_rounds and spent() >= effort.seconds:
            break
        for place in range(len(runners)):  # another one begins each round
            runner = runners[(place + number) % len(runners)]
            if runner.is_running:
                took = sample(runner)
                if isinstance(took, str):
                    runner.refused = took
                else:
                    runner.samples.append(took)
        if number + 1 >= ROUNDS_BEFORE_DROPPING:
            drop(runners)


def drop(runners: Sequence[Runner]) -> None:
    """Drops runners that are far slower than the fastest for certain: at first by all samples, later by their
    intervals.
    """
    running = [runner for runner in runners if runner.is_running and runner.samples]
    rounds = min((len(runner.samples) for runner in running), default=0)
    by_interval = rounds >= ROUNDS_OF_AN_INTERVAL

    def ends(runner: Runner) -> tuple[float, float]:
        return runner.interval()[1:] if by_interval else (min(runner.samples), max(runner.samples))

    fastest = min((ends(runner)[1] for runner in running), default=inf)
    for runner in running:
        low = ends(runner)[0]
        if runner is not runners[0] and low > FAR_SLOWER * fastest:
            runner.dropped = f"{low / fastest:.1f} times as slow as the fastest after {len(runner.samples)} rounds"


def row_of(runner: Runner, golden: Runner) -> JsonObject:
    """Measurements of one candidate, alone and beside the golden copy."""
    row: dict[str, object] = {"variant": runner.candidate.variant, "parameters": runner.candidate.parameters}
    if runner.refused:
        return {**row, "refused": runner.refused}
    median, low, high = runner.interval()
    row |= {"seconds": median, "seconds_low": low, "seconds_high": high, "samples": len(runner.samples)}
    if runner.dropped:
        return {**row, "dropped": runner.dropped}
    compared = _measure.compare(list(zip(runner.samples, golden.samples)))
    ratio = {"ratio": compared.ratio, "ratio_low": compared.ratio_low, "ratio_high": compared.ratio_high}
    return {**row, **ratio, "dropped": "", "is_faster": compared.is_faster()}
