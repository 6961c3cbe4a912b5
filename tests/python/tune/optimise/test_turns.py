"""Whole runs by turns: what is kept, and what is dropped alone."""

from __future__ import annotations

import random

import pytest

from kumihimo.text.errors import OutOfTime
from kumihimo.tune.optimise.turns import FAR_PAIRS, LOOKS, Search, Turns, in_order, tuning_time


class Runs:
    """A program whose choices change its time by factors; runs differ by `noise`."""

    def __init__(self, factors: list[float], noise: float = 0.0, most: int = 10**6, seed: int = 1) -> None:
        self.factors, self.noise, self.most, self.made = factors, noise, most, 0
        self.chance = random.Random(seed)

    def __call__(self, choices: tuple[int, ...], number: int) -> tuple[float, float]:
        if self.made == self.most:
            raise OutOfTime("no time")
        self.made += 1
        tuned = 1.0
        for each in choices:
            tuned *= self.factors[each]
        return tuned * (1 + self.noise * self.chance.random()), 1 + self.noise * self.chance.random()

    @property
    def all(self) -> tuple[int, ...]:
        return tuple(range(len(self.factors)))


def test_all_are_kept_where_the_program_gains():
    runs = Runs([0.9, 0.95, 1.0])
    kept = Search(runs).kept(runs.all)
    assert kept.choices == (0, 1, 2)
    assert runs.made == LOOKS[0]
    assert kept.figures["ratio_high"] < 1


@pytest.mark.parametrize(("won", "made"), [(0, 6), (3, 6), (6, 6), (9, 10), (20, 30)])
def test_the_probability_of_a_gain_is_that_of_a_share_above_one_half(won, made):
    """Beta(won + 1, lost + 1) beyond one half, here as a sum over shares."""
    pairs = [(0.9, 1.0)] * won + [(1.1, 1.0)] * (made - won)
    shares = [(i + 0.5) / 20000 for i in range(20000)]
    likely = [share**won * (1 - share) ** (made - won) for share in shares]
    expected = sum(likely[10000:]) / sum(likely)
    assert Turns((0,), pairs).faster_probability == pytest.approx(expected, abs=1e-6)
    assert Turns((0,), pairs).figures["faster_probability"] == Turns((0,), pairs).faster_probability


@pytest.mark.parametrize("bad", range(4))
def test_a_choice_that_loses_in_the_program_is_dropped_alone(bad):
    factors = [0.95] * 4
    factors[bad] = 1.5
    found = [Search(runs).kept(runs.all) for seed in range(20) if (runs := Runs(factors, noise=0.01, seed=seed))]
    assert all(kept is not None and bad not in kept.choices for kept in found)
    assert sum(len(kept.choices) == 3 for kept in found) >= 10, "mostly all others are kept"


def test_nothing_is_kept_where_nothing_gains():
    runs = Runs([1.0, 1.1, 1.02], noise=0.01)
    search = Search(runs)
    assert search.kept(runs.all) is None
    assert not search.out_of_time


@pytest.mark.parametrize(("choices", "most"), [(1, 0.05), (4, 0.08)])
def test_noise_alone_is_hardly_ever_kept(choices, most):
    """Though it is looked at five times, and parts of the choices are tried."""
    kept = [Search(runs).kept(runs.all) for seed in range(300) if (runs := Runs([1.0] * choices, 0.3, seed=seed))]
    assert sum(each is not None for each in kept) <= most * 300


def test_more_pairs_are_run_until_a_small_gain_shows():
    runs = Runs([0.96], noise=0.1)
    kept = Search(runs).kept(runs.all)
    assert kept is not None
    assert len(kept.pairs) in LOOKS[1:]


@pytest.mark.parametrize(
    ("factor", "pairs", "kept"),
    [(0.8, LOOKS[0] - 1, False), (0.5, FAR_PAIRS - 1, False), (0.5, FAR_PAIRS, True), (0.5, LOOKS[0] - 1, True)],
)
def test_without_time_for_six_pairs_only_what_is_far_faster_is_kept(factor, pairs, kept):
    runs = Runs([factor], most=pairs)
    search = Search(runs)
    assert (search.kept(runs.all) is not None) == kept
    assert search.out_of_time
    assert len(search.all_turns) == 1


def test_few_pairs_show_nothing_where_runs_differ_as_much_as_the_gain():
    """Each run with the choices is faster than each without, by half and more."""
    times = [(0.5, 1.2), (0.3, 2.0), (0.5, 1.3)]
    assert not Turns((0,), times).far_faster
    assert Turns((0,), [(0.5, 1.2), (0.4, 1.4), (0.5, 1.3)]).far_faster
    assert not Turns((0,), [(0.5, 1.2), (0.4, 1.4), (0.5, 1.3)], is_part=True).far_faster


@pytest.mark.parametrize("pairs", range(FAR_PAIRS, LOOKS[0]))
def test_few_pairs_of_equal_runs_hardly_ever_show_a_gain(pairs):
    """Of runs with two speeds, which is the worst that was found."""
    chance = random.Random(1)

    def equal() -> tuple[float, float]:
        return tuple(1 + (chance.random() < 0.5) + 0.05 * chance.gauss(0, 1) for _ in range(2))

    shown = sum(Turns((0,), [equal() for _ in range(pairs)]).far_faster for _ in range(3000))
    assert shown <= 0.02 * 3000


def test_the_most_gain_comes_first():
    assert in_order([{"a": 1}, {"b": 2}, {"c": 3}], [0.1, 0.3, 0.2]) == [{"b": 2}, {"c": 3}, {"a": 1}]


def noisy(spread: float, gain: float):
    """Pairs of runs that differ by so much to both sides, with a gain."""
    return lambda choices, number: (1 - gain + spread * (-1) ** number * (1 + number / 30), 1.0)


@pytest.mark.parametrize(
    ("spread", "gain", "most", "pairs"),
    [
        (0.03, 0.0, 0.005, 10),  # 30 pairs would not show it
        (0.003, 0.0, 0.02, 30),
        (0.03, 0.0, 1.0, 30),  # nothing is known of the gain
        (0.01, 0.06, 0.01, 6),  # more than was predicted, and certain
    ],
)
def test_runs_that_differ_by_more_than_the_gain_are_not_repeated(spread, gain, most, pairs):
    search = Search(noisy(spread, gain), most)
    found = search.kept((0, 1))
    assert len(search.all_turns[0].pairs) == pairs
    assert bool(found) == (gain > 0)
    assert search.hopeless == (pairs == 10)
    assert len(search.all_turns) == 1 or not search.hopeless


def test_one_slow_run_does_not_end_the_comparison():
    search = Search(lambda choices, number: (1.5 if number == 2 else 0.94 + 0.02 * (number % 3), 1.0), 0.06)
    assert search.kept((0, 1)).choices == (0, 1)


@pytest.mark.parametrize(
    ("left", "pair", "savable", "seconds", "beyond"),
    [
        (400, 10, 0.1, 160, 210),  # as much as tuning may take; the time of 3 pairs stays
        (400, 50, 0.1, 100, 150),  # what 6 pairs leave
        (400, 50, 0.9, 160, 90),  # so much may be saved that 3 pairs show it
        (400, 50, 0.5, 100, 150),
        (400, 60, 0.1, 160, 60),  # 6 pairs would leave a tenth of the budget
        (400, 133, 0.9, 1, 399),  # no pair is likely to fit
    ],
)
def test_the_time_of_tuning_leaves_enough_for_pairs(left, pair, savable, seconds, beyond) -> None:
    found = tuning_time(400, left, pair, savable)
    assert (found.seconds, found.beyond) == pytest.approx((seconds, beyond))
