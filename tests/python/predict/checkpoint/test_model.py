"""The model of checkpoints against programs run failure by failure, and its optimum against a search."""

from __future__ import annotations

import math
import random

import pytest

from kumihimo.predict.checkpoint import model, monte_carlo
from kumihimo.predict.checkpoint.model import CheckpointCase

CASES = [
    # work, mtbf, checkpoint, restart, interval
    (CheckpointCase(86400, 17000, 100, 100), 1800),
    (CheckpointCase(86400, 17000, 100, 0), 900),
    (CheckpointCase(50000, 1000, 300, 500), 400),  # failures in most pieces, and in many restarts
    (CheckpointCase(50000, 1000, 300, 2000), 400),  # restarts longer than the time between failures
    (CheckpointCase(10000, 3000, 60, 30), 3700),  # a shorter last piece
    (CheckpointCase(1000, 1e6, 5, 5), 100),  # hardly a failure
    (CheckpointCase(500, 400, 50, 20), 500),  # one piece
]


def step_by_step(case: CheckpointCase, interval: float, gap) -> monte_carlo.CheckpointRun:
    """As monte_carlo.run, but piece by piece: the simplest form there is."""
    whole, rest = model.pieces_of(case.work, interval)
    left = [interval] * whole + ([rest] if rest else [])
    now, failures, next_failure, restarting = 0.0, 0, gap(), False
    while left:
        length = case.restart if restarting else left[0] + case.checkpoint
        if now + length <= next_failure:
            now += length
            if not restarting:
                left.pop(0)
            restarting = False
        else:
            now = next_failure
            failures += 1
            next_failure = now + gap()
            restarting = True
    return monte_carlo.CheckpointRun(now, failures)


@pytest.mark.parametrize(("case", "interval"), CASES)
def test_whole_pieces_at_once_are_piece_by_piece(case, interval):
    for seed in range(20):
        fast = monte_carlo.run(case, interval, monte_carlo.gaps(case.mtbf, seed))
        slow = step_by_step(case, interval, monte_carlo.gaps(case.mtbf, seed))
        assert fast.failures == slow.failures and fast.seconds == pytest.approx(slow.seconds)


@pytest.mark.parametrize(("case", "interval"), CASES)
def test_expected_values_are_the_means_of_runs(case, interval):
    of = model.expected(case, interval)
    runs = 4000
    found = monte_carlo.simulate(case, interval, runs, seed=7)
    error = (found.high - found.low) / (2 * 1.96)
    assert abs(found.seconds - of.seconds) <= 4 * error + 1e-9 * of.seconds
    spread = math.sqrt(max(of.failures, 1) / runs) * 4 * (1 + of.failures * case.mtbf / case.work)
    assert abs(found.failures - of.failures) <= spread


@pytest.mark.parametrize("wrong", ["no restart", "no failure in a restart", "no failure in a checkpoint"])
def test_wrong_formulas_are_found(wrong):
    """What the comparison with runs must catch."""
    case, interval = CASES[2]
    pieces = case.work / interval
    formula = {
        "no restart": case.mtbf * pieces * math.expm1((interval + case.checkpoint) / case.mtbf),
        "no failure in a restart": (case.mtbf + case.restart)
        * pieces
        * math.expm1((interval + case.checkpoint) / case.mtbf),
        "no failure in a checkpoint": math.exp(case.restart / case.mtbf)
        * pieces
        * (case.mtbf * math.expm1(interval / case.mtbf) + case.checkpoint),
    }[wrong]
    found = monte_carlo.simulate(case, interval, 4000, seed=7)
    assert not found.low <= formula <= found.high
    assert abs(formula - model.expected(case, interval).seconds) > 2 * (found.high - found.low)


def test_parts_add_up():
    for case, interval in CASES:
        of = model.expected(case, interval)
        assert of.work + of.checkpoints + of.lost + of.restarts == pytest.approx(of.seconds)
        assert of.failures == pytest.approx(of.seconds / case.mtbf)


@pytest.mark.parametrize("share", [1e-12, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.5, 1, 2, 10])
def test_the_best_interval_is_a_minimum(share):
    mtbf, checkpoint = 1.0, share
    best = model.best_interval(mtbf, checkpoint)
    assert 0 < best < mtbf or share >= 2

    def cost(t: float) -> float:
        return math.expm1((t + checkpoint) / mtbf) / t

    assert cost(best) <= min(cost(best * 1.01), cost(best / 1.01))
    estimate = model.daly(mtbf, checkpoint)
    assert estimate == pytest.approx(best, rel=0.02 if share <= 0.5 else 0.3)
    assert cost(estimate) <= cost(best) * 1.05


def test_young_is_the_first_order():
    assert model.young(1.0, 1e-9) == pytest.approx(model.best_interval(1.0, 1e-9), rel=1e-4)
    assert model.young(17000, 100) == pytest.approx(math.sqrt(2 * 100 * 17000))
    assert model.daly(100, 200) == 100  # a checkpoint of twice the time between failures


def test_the_best_interval_of_a_program_is_the_best_of_all():
    generator = random.Random(3)
    for _ in range(30):
        mtbf = 10 ** generator.uniform(2, 5)
        case = CheckpointCase(10 ** generator.uniform(2, 6), mtbf, mtbf * 10 ** generator.uniform(-4, -0.5), mtbf / 10)
        best = model.expected(case, model.best_for(case)).seconds
        tried = [model.expected(case, case.work / n).seconds for n in range(1, 3000)]
        tried += [model.expected(case, case.work * generator.random()).seconds for _ in range(200)]
        assert best <= min(tried) * (1 + 1e-9)


def test_what_never_ends():
    of = model.expected(CheckpointCase(1e9, 1, 10, 10), 1e6)
    assert of.seconds == math.inf and of.efficiency == 0


def test_weibull_times_have_the_mean():
    for shape in (0.5, 0.7, 2):
        gap = monte_carlo.gaps(100, 1, shape)
        assert math.fsum(gap() for _ in range(40_000)) / 40_000 == pytest.approx(100, rel=0.05)
    plain, shaped = monte_carlo.gaps(100, 5), monte_carlo.gaps(100, 5, 1.0)  # shape 1 is the exponential one
    assert [shaped() for _ in range(4)] == pytest.approx([plain() for _ in range(4)])
