"""Which candidates are measured: each search on tables of costs, none of them timed."""

from __future__ import annotations

import subprocess
import sys
from math import inf, log2
from random import Random

import pytest

from kumihimo.kernel import kernel, search
from kumihimo.kernel.candidates import CandidateFamily, KernelCandidate, space
from kumihimo.text.errors import BadInput

FAMILIES = [
    CandidateFamily("loop", (("unroll", tuple(range(1, 17))), ("align", (0, 16, 32, 64)), ("simd", (0, 1, 2, 4, 8)))),
    CandidateFamily("blocked", (("block", tuple(2**k for k in range(4, 16))), ("unroll", tuple(range(1, 17))))),
    CandidateFamily("plain"),
]
EVERY = space(FAMILIES)


def loop_wins(candidate: KernelCandidate) -> float:
    v = candidate.parameters
    if candidate.variant == "loop":
        return 1 + 0.05 * abs(v["unroll"] - 6) + (0.4 if v["simd"] != 4 else 0) + (0.1 if v["align"] < 32 else 0)
    return 10.0 if candidate.variant == "plain" else 2 + 0.3 * abs(log2(v["block"]) - 9) + 0.05 * abs(v["unroll"] - 4)


def blocked_wins(candidate: KernelCandidate) -> float:
    v = candidate.parameters
    if candidate.variant == "blocked":
        return 1 + 0.1 * abs(log2(v["block"]) - 9) + 0.03 * abs(v["unroll"] - 11)
    return 10.0 if candidate.variant == "plain" else 1.5 + 0.05 * abs(v["unroll"] - 6)


def test_the_space_is_the_product():
    assert len(EVERY) == len(set(EVERY)) == 16 * 4 * 5 + 12 * 16 + 1
    assert EVERY[0] == KernelCandidate("loop", (("unroll", 1), ("align", 0), ("simd", 0)))


def test_exhaustive_measures_each_once():
    asked = []
    found = search.run("exhaustive", FAMILIES, lambda c: asked.append(c) or loop_wins(c), len(EVERY))
    assert asked == EVERY == list(found)


def test_random_measures_some_without_repeating():
    asked = []
    search.run("random", FAMILIES, lambda c: asked.append(c) or 1.0, 50, seed=3)
    assert len(asked) == len(set(asked)) == 50
    again = search.run("random", FAMILIES, lambda c: 1.0, 50, seed=3)
    assert list(again) == asked


@pytest.mark.parametrize("cost", [loop_wins, blocked_wins])
@pytest.mark.parametrize("seed", [0, 1])
def test_bayesian_is_within_3_percent_at_a_tenth_of_the_cost(cost, seed):
    pytest.importorskip("optuna")
    asked = []
    evaluations = search.evaluations_of("bayesian", len(EVERY))
    assert evaluations <= 0.1 * len(EVERY) + 1
    found = search.run("bayesian", FAMILIES, lambda c: asked.append(c) or cost(c), evaluations, seed)
    assert len(asked) == len(set(asked)) == evaluations
    assert min(found.values()) <= 1.03 * min(map(cost, EVERY))


def measured(seconds: float, numbers: Random) -> float:
    """A few per cent of noise, and a disturbance now and then."""
    return seconds * numbers.lognormvariate(0, 0.03) * (3 if numbers.random() < 0.02 else 1)


@pytest.mark.parametrize("cost", [loop_wins, blocked_wins])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tuning_is_within_3_percent_under_noise(tuned, cost, seed):
    pytest.importorskip("optuna")

    @kernel(inputs=lambda size, seed: ([1.0] * size,), sizes=(16,))
    def total(x):
        return sum(x)

    for family in FAMILIES:
        total.variant(lambda x, **values: sum(x), name=family.variant, **dict(family.parameters))
    numbers, asked = Random(seed), set()

    def seconds(variant, parameters, size):
        if variant == "golden":
            return measured(20e-6, numbers)
        asked.add(KernelCandidate(variant, tuple(parameters.items())))
        return measured(1e-6 * cost(KernelCandidate(variant, tuple(parameters.items()))), numbers)

    (decision,) = tuned(seconds, strategy="bayesian").decisions
    assert decision["measured"] == len(asked) <= 0.1 * len(EVERY) + 1
    chosen = KernelCandidate(decision["chosen"]["variant"], tuple(decision["chosen"]["parameters"].items()))
    assert cost(chosen) <= 1.03 * min(map(cost, EVERY))


def test_bayesian_does_without_those_that_are_refused():
    pytest.importorskip("optuna")
    cost = lambda c: inf if c.variant != "plain" and c.parameters["unroll"] % 2 else loop_wins(c)  # noqa: E731
    found = search.run("bayesian", FAMILIES, cost, 60)
    best = search.best(found, 3)
    assert all(found[each] < inf for each in best) and found[best[0]] < 1.3


def test_bayesian_ends_when_all_are_measured():
    pytest.importorskip("optuna")
    few = [CandidateFamily("a", (("x", (1, 2, 3)),)), CandidateFamily("b")]
    assert set(search.run("bayesian", few, lambda c: 1.0, 100)) == set(space(few))


def test_a_search_ends_with_the_time():
    left = iter([False, False, True])
    assert len(search.run("exhaustive", FAMILIES, lambda c: 1.0, 100, is_over=lambda: next(left))) == 2


def test_the_usual_search_depends_on_the_number():
    assert search.strategy_for("", 64) == "exhaustive"
    assert search.strategy_for("", 65) == ("bayesian" if search.has_model() else "random")
    assert search.strategy_for("random", 3) == "random"
    assert search.evaluations_of("random", 10) == 10
    assert search.evaluations_of("random", 1000, times=2) == 200
    with pytest.raises(BadInput, match="--search must be one of exhaustive, random, bayesian"):
        search.strategy_for("genetic", 1)


def test_without_optuna_the_default_is_random(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert [search.strategy_for("", count) for count in (64, 65)] == ["exhaustive", "random"]
    assert search.strategy_for("bayesian", 65) == "bayesian"


def test_without_optuna_one_sentence_says_so():
    code = """
import sys
sys.modules["optuna"] = None
from kumihimo.errors import Failed
from kumihimo.kernel import search
from kumihimo.kernel.candidates import CandidateFamily
try:
    search.run("bayesian", [CandidateFamily("a")], lambda c: 1.0, 1)
except Failed as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "--search bayesian needs the Python package optuna; install it (pip install -r requirements/search.txt), "
        "or use --search random or exhaustive\n"
    )
