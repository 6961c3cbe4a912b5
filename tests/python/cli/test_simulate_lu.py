"""`kumihimo simulate app lu`."""

from __future__ import annotations

import json
from itertools import product

import pytest

from kumihimo.app import lu_prediction
from kumihimo.app.lu_prediction import LuOperations, LuQuestion, LuRates
from kumihimo.predict import models

MACHINE = ("simulate", "app", "lu", "-m", "fugaku", "--shape", "4x1x1", "--ranks-per-node", "1")
RATES = LuRates(block=50, updates=5e10, panels=2e10, solution=2e9, move_seconds=0.0, blas="some BLAS")


def found_of(ended) -> dict:
    if "DGEMM needs OpenBLAS" in ended.err:
        pytest.skip("no BLAS library is here")
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)


@pytest.mark.parametrize("model", models.of("lu"))
def test_a_factorisation_on_more_and_more_ranks(kumihimo, model: str) -> None:
    found = found_of(kumihimo(*MACHINE, "--size", "4000", "--speed", "2", "--model", model, "--json"))
    assert [each["ranks"] for each in found["results"]] == [1, 2, 4]
    assert [each["grid"] for each in found["results"]] == [[1, 1], [1, 2], [2, 2]]
    assert found["results"][0]["waiting_seconds"] == found["results"][0]["messages"] == 0
    for each in found["results"]:
        parts = ("computing_seconds", "uneven_seconds", "waiting_seconds")
        assert each["seconds"] == pytest.approx(sum(each[name] for name in parts))
        assert each["gflops"] * each["seconds"] == pytest.approx(4000**2 * (2 / 3 * 4000 + 1.5) * 1e-9)
        assert 0 < each["share_of_updates"] < 1
    assert found["measured"]["update_gflops"] > 0


def test_the_table_says_what_is_measured_and_assumed(kumihimo) -> None:
    ended = kumihimo(*MACHINE, "--size", "1000", "--set", "block=64", "--set", "grid=4x1")
    if "DGEMM needs OpenBLAS" in ended.err:
        pytest.skip("no BLAS library is here")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("LU of 1000 rows in blocks of 64 on fugaku 4x1x1, model flow")
    assert "Measured here on one thread of" in ended.out and "a core of fugaku is as fast as the one here" in ended.out
    assert " 4x1 " in ended.out


def test_a_rank_has_the_rows_of_its_blocks() -> None:
    for end, block, parts in product((0, 1, 7, 16, 23), (1, 4, 30), (1, 2, 3)):
        owners = [index // block % parts for index in range(end)]
        for part in range(parts):
            assert lu_prediction.own(end, block, part, parts) == owners.count(part)


@pytest.mark.parametrize("grid", [(1, 1), (1, 4), (4, 1), (2, 3)])
def test_ranks_compute_what_the_factorisation_needs(grid: tuple[int, int]) -> None:
    asked = LuQuestion(2000, 50, grid)
    operations = LuOperations(asked, RATES, grid, 1.0, lambda size: 0.0)
    in_panels = sum((2000 - b * 50) * 50**2 for b in range(40))
    of_panels = grid[0] * sum(operations.panel_seconds(b) for b in range(40))
    assert of_panels * RATES.panels == pytest.approx(in_panels, rel=0.12), "the longest part counts"
    solution = 2000**2 / RATES.solution
    spent = sum(rank.computing_ns for rank in operations.ranks) * 1e-9
    updates = (spent - of_panels - solution) * RATES.updates
    repeated = sum(50**2 * (2001 - (b + 1) * 50) for b in range(40)) * (grid[0] - 1)  # each process solves for U
    assert updates - repeated == pytest.approx(2 / 3 * 2000**3 - in_panels, rel=0.02)
    sends = sum(line.count(" send ") for rank in operations.ranks for line in rank.lines)
    receives = sum(line.count(" recv ") for rank in operations.ranks for line in rank.lines)
    assert sends == receives == 40 * grid[0] * (grid[1] - 1)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--cells", "8"), "lu takes no --cells here; leave it out"),
        (("--variant", "tournament"), "lu takes no --variant here; leave it out"),
        (("--algorithm", "ring"), "lu takes no --algorithm here; leave it out"),
        (("--size", "many"), "--size must be a number of rows from 1 to 10000000 (got 'many')"),
        (("--size", "3", "--set", "grid=1x4"), "--size must be at least 4 on a grid of 1x4 (got 3)"),
        (("--set", "seed=3"), "simulate app lu takes --set block=N and --set grid=PxQ (got 'seed'); leave it out"),
        (("--set", "grid=3x1"), "the grid must have as many ranks as the job, 4 (got 3x1)"),
        (("--set", "grid=4"), "grid must be two numbers, P x Q (got '4'); write grid=4x8"),
        (("--speed", "0"), "--speed must be above 0"),
        (("--model", "exact"), "--model of lu must be flow or loggp (got 'exact')"),
        (
            ("--size", "10000000", "--set", "block=1"),
            "a prediction of lu has at most 500000 panels on all ranks together",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence(kumihimo, words: tuple[str, ...], error: str) -> None:
    ended = kumihimo(*MACHINE, *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert error in ended.err
