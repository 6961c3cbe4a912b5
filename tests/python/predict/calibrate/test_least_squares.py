"""Least squares and intervals, on functions whose answer is known."""

from __future__ import annotations

import math
import random

import pytest

from kumihimo.predict.calibrate import least_squares

X = [0.1 * i for i in range(1, 41)]


def decay(p: list[float]) -> list[float]:
    return [math.exp(p[0]) * math.exp(-math.exp(p[1]) * x) for x in X]


def test_finds_the_minimum_of_a_curve_that_is_not_linear():
    truth = decay([0.7, -0.4])
    found = least_squares.minimum(lambda p: [a - b for a, b in zip(decay(p), truth)], [0.0, 0.5])
    assert found.parameters == pytest.approx([0.7, -0.4], abs=2e-3)


def test_agrees_with_the_closed_form_of_a_line():
    """Slope = cov / var, and its deviation by the residuals, from textbooks."""
    rng = random.Random(3)
    y = [2 + 3 * x + rng.gauss(0, 0.2) for x in X]
    found = least_squares.minimum(lambda p: [p[0] + p[1] * x - v for x, v in zip(X, y)], [0.0, 0.0])
    mean_x, mean_y = sum(X) / len(X), sum(y) / len(y)
    spread = sum((x - mean_x) ** 2 for x in X)
    slope = sum((x - mean_x) * (v - mean_y) for x, v in zip(X, y)) / spread
    assert found.parameters == pytest.approx([mean_y - slope * mean_x, slope], abs=1e-4)
    usual = math.sqrt(sum(r * r for r in found.residuals) / (len(X) - 2) / spread)
    assert least_squares.deviations(found, range(len(X)))[1] == pytest.approx(usual, rel=0.3)


def test_a_refused_step_is_not_taken():
    """The minimum at 2 is beyond a wall at 1: the search ends before it."""
    found = least_squares.minimum(lambda p: None if p[0] > 1 else [p[0] - 2, 1.0], [0.0])
    assert 0 < found.parameters[0] <= 1


def test_finds_what_the_data_do_not_tell():
    """The third column is the sum of the first two, the fourth has no effect."""
    rng = random.Random(1)
    rows = [[a := rng.random(), b := rng.random(), a + b, 1e-9 * a] for _ in range(20)]
    assert least_squares.dependent(rows, 1e-6) == {2: [0, 1], 3: []}
    assert least_squares.dependent([row[:2] for row in rows], 1e-6) == {}


def test_intervals_cover_the_truth_as_often_as_they_say():
    """95 % of 400 samples, less 3 deviations of a count; with errors that the residuals of a group share, which
    intervals for independent errors do not cover."""
    rng = random.Random(7)
    groups = [i // 2 for i in range(len(X))]
    slopes = [(-1) ** g * (1 + g % 3) for g in groups]
    covered = {"grouped": 0, "alone": 0}
    for _ in range(400):
        common = {g: rng.gauss(0, 0.3) for g in groups}
        y = [1 + 0.5 * s + common[g] + rng.gauss(0, 0.05) for g, s in zip(groups, slopes)]
        found = least_squares.minimum(lambda p, y=y: [p[0] + p[1] * s - v for s, v in zip(slopes, y)], [0.0, 0.0])
        for name, by in (("grouped", groups), ("alone", range(len(X)))):
            freedom = len(set(by)) - 1
            wide = least_squares.quantile_of_t(0.975, freedom) * least_squares.deviations(found, by)[1]
            covered[name] += abs(found.parameters[1] - 0.5) <= wide
    assert 0.95 * 400 - 3 * math.sqrt(400 * 0.95 * 0.05) <= covered["grouped"] <= 398
    assert covered["alone"] < 0.9 * 400


@pytest.mark.parametrize(
    ("freedom", "table"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)]
)
def test_quantiles_of_t_are_those_of_tables(freedom, table):
    assert least_squares.quantile_of_t(0.975, freedom) == pytest.approx(table, rel=0.01)


def test_quantiles_of_t_of_few_degrees_of_freedom_are_exact():
    assert [least_squares.quantile_of_t(p, 1) for p in (0.25, 0.9, 0.995)] == pytest.approx([-1, 3.0776835, 63.656741])
    assert [least_squares.quantile_of_t(p, 2) for p in (0.5, 0.9, 0.995)] == pytest.approx([0, 1.8856181, 9.9248432])
