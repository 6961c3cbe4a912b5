"""The judge on synthetic noise: what is missed by 10 % is found, what is met raises no alarm, whatever the noise."""

import math
import random

import pytest

from kumihimo.keep import judge
from kumihimo.keep.judge import ALL, CANNOT_TELL, MEDIAN, MET, MISSED, Estimate, RunValues

TRIALS = 200


class NoisyMachine:
    """Runs of a program whose passages take 1 in the median: each run has a speed of its own, each passage its noise,
    which is skewed, and some passages take several times as long."""

    def __init__(self, seed: int, runs: float = 0.03, passages: float = 0.1, spikes: float = 0.02) -> None:
        self.random = random.Random(seed)
        self.runs, self.passages, self.spikes = runs, passages, spikes

    def run(self, passages: int = 50) -> RunValues:
        speed = math.exp(self.random.gauss(0, self.runs))
        times = [speed * math.exp(self.random.gauss(0, self.passages)) for _ in range(passages)]
        times = [t * self.random.uniform(2, 10) if self.random.random() < self.spikes else t for t in times]
        return RunValues(times, max(times))

    def verdict(self, runs: int, bound: float, passages: int = 50) -> str:
        return judge.verdict(judge.estimate([self.run(passages) for _ in range(runs)]), bound)


def rate(machine: NoisyMachine, wanted: str, runs: int, bound: float, passages: int = 50) -> float:
    found = [machine.verdict(runs, bound, passages) for _ in range(TRIALS)]
    return found.count(wanted) / TRIALS


QUIET = {"runs": 0.01, "passages": 0.02, "spikes": 0.0}
USUAL = {}
SPIKY = {"runs": 0.03, "passages": 0.2, "spikes": 0.2}
MACHINES = pytest.mark.parametrize("noise", [QUIET, USUAL, SPIKY], ids=["quiet", "usual", "spiky"])


def median_of(noise: dict) -> float:
    """Spikes move the median up: what a passage takes in the median of very many."""
    machine = NoisyMachine(1, **{**noise, "runs": 0.0})
    return judge.estimate([machine.run(200_000)]).value


@MACHINES
@pytest.mark.parametrize("runs", [10, 20])
def test_missed_by_10_percent_is_found(noise: dict, runs: int) -> None:
    machine = NoisyMachine(runs, **noise)
    assert rate(machine, MISSED, runs, median_of(noise) / 1.1) >= 0.95


@MACHINES
@pytest.mark.parametrize("runs", [1, 2, 5, 6, 10, 20])
@pytest.mark.parametrize("slack", [1.0, 1.02, 1.1])
def test_what_is_met_raises_no_alarm(noise: dict, runs: int, slack: float) -> None:
    """Also where the bound is the median itself, as near as it can be."""
    machine = NoisyMachine(runs, **noise)
    assert rate(machine, MISSED, runs, slack * median_of(noise)) <= 0.05


@pytest.mark.parametrize("runs", [1, 3, 6, 10])
def test_runs_of_a_single_value(runs: int) -> None:
    machine = NoisyMachine(2)
    assert rate(machine, MISSED, runs, 1.0, passages=1) <= 0.05
    assert rate(machine, MISSED, runs, 1 / 3, passages=1) >= 0.95  # far is far, in one run too


def test_a_machine_as_slow_as_asserted_is_neither() -> None:
    """In the median of its runs: where the bound is the true median, the interval has it."""
    assert rate(NoisyMachine(3), CANNOT_TELL, 10, 1.0) >= 0.9


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95])
def test_a_share_of_passages(share: float) -> None:
    """Uniform passages from 0 to 1: the share q of them stays below q."""
    source = random.Random(4)
    alarms = found = 0
    for _ in range(TRIALS):
        runs = [[source.random() for _ in range(100)] for _ in range(8)]
        estimate = judge.estimate([RunValues(run, max(run)) for run in runs], share)
        alarms += judge.verdict(estimate, share + 0.02) == MISSED
        found += judge.verdict(estimate, share - 0.15) == MISSED
    assert alarms <= 0.05 * TRIALS and found >= 0.95 * TRIALS


def test_all_passages_are_counted_one_by_one() -> None:
    """The largest of all counts, also one that the sample of passages does not have."""
    runs = [RunValues([1.0] * 50, 7.0), RunValues.of(1.0)]
    found = judge.estimate(runs, ALL)
    assert (found.value, found.low, found.high) == (7.0, 7.0, 7.0)
    assert judge.verdict(found, 6.9) == MISSED and judge.verdict(found, 7.0) == MET


@pytest.mark.parametrize("seed", range(20))
def test_monotone_and_free_of_units(seed: int) -> None:
    """A looser bound is never judged worse, and seconds may be written as milliseconds."""
    machine = NoisyMachine(seed)
    runs = [machine.run() for _ in range(1 + seed)]
    order = [MISSED, CANNOT_TELL, MET]
    found = judge.estimate(runs)
    verdicts = [order.index(judge.verdict(found, 0.5 + 0.01 * i)) for i in range(100)]
    assert verdicts == sorted(verdicts)
    scaled = judge.estimate([RunValues([1e3 * v for v in run.values], 1e3 * run.largest) for run in runs])
    assert scaled.value == pytest.approx(1e3 * found.value) and scaled.low == pytest.approx(1e3 * found.low)


def test_the_interval_has_its_value() -> None:
    for seed in range(50):
        machine = NoisyMachine(seed)
        runs = [machine.run(1 + seed * 3) for _ in range(1 + seed % 12)]
        for share in (MEDIAN, 0.9, ALL):
            found = judge.estimate(runs, share)
            assert found.low <= found.value <= found.high
            assert (found.runs, found.passages) == (len(runs), sum(len(run.values) for run in runs))


def test_a_ratio_is_as_uncertain_as_both_together() -> None:
    ratio = Estimate(2.0, 1.8, 2.4, 7, 70).over(Estimate(1.0, 0.9, 1.2, 9, 90))
    assert (ratio.value, ratio.runs) == (2.0, 7)
    assert (ratio.low, ratio.high) == pytest.approx((1.5, 2.4 / 0.9))
    assert Estimate.exactly(1.0).over(Estimate.exactly(0.0)).low == math.inf


class WrongJudges:
    """Sabotage: what the checks above must notice."""

    @staticmethod
    def by_the_median_alone(runs: list[RunValues]) -> Estimate:
        value = judge.estimate(runs).value
        return Estimate(value, value, value)

    @staticmethod
    def by_passages_as_if_they_were_runs(runs: list[RunValues]) -> Estimate:
        every = [value for run in runs for value in run.values]
        return judge.estimate([RunValues.of(value) for value in every])


@pytest.mark.parametrize("wrong", [WrongJudges.by_the_median_alone, WrongJudges.by_passages_as_if_they_were_runs])
def test_a_judge_without_runs_raises_false_alarms(wrong) -> None:
    machine = NoisyMachine(5)
    alarms = [judge.verdict(wrong([machine.run() for _ in range(6)]), 1.0) == MISSED for _ in range(TRIALS)]
    assert sum(alarms) > 0.05 * TRIALS
