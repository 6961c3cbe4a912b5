"""`kumihimo simulate app`: predictions of a solver's iteration."""

from __future__ import annotations

import json

import pytest

from kumihimo import _krylov_programs
from kumihimo.app import prediction

SMALL = ("simulate", "app", "poisson3d", "--machine", "reedbush-u", "--shape", "8", "--ranks-per-node", "2")


def results(ended) -> list[dict]:
    assert (ended.code, ended.err) == (0, ""), ended.err
    return json.loads(ended.out)["results"]


def test_a_table_with_a_row_for_each_method(kumihimo):
    ended = kumihimo(*SMALL, "--cells", "16")
    assert (ended.code, ended.err) == (0, "")
    assert "poisson3d on reedbush-u 8, 16 ranks (4x2x2) of 16x16x16 cells, model flow" in ended.out
    for method in _krylov_programs.methods():
        assert f"\n{method} " in ended.out


def test_time_and_parts(kumihimo):
    for each in results(kumihimo(*SMALL, "--cells", "32x32x32", "--json")):
        parts = each["halo_seconds"] + each["reductions_seconds"] + each["computing_seconds"]
        assert each["computing_seconds"] * 0.999 <= each["seconds"] <= parts * 1.001
        assert each["hidden_seconds"] == pytest.approx(max(0, parts - each["seconds"]))


def test_strong_scaling_divides_the_cells(kumihimo):
    found = results(kumihimo(*SMALL, "--size", "64x32x20", "--method", "cg", "--json"))
    assert [r["cells"] for r in found] == [[16, 16, 10]]


def test_pipelining_wins_where_reductions_take_longer_than_the_vector_updates(kumihimo):
    ended = kumihimo(*SMALL, "--cells", "8", "--crossover", "--json")
    told = json.loads(ended.out)
    assert [r["ranks"] for r in told["rows"]] == [2, 4, 8, 16]
    assert told["faster_than_cg_from_ranks"]["pipelined"] is not None
    large = json.loads(kumihimo(*SMALL, "--cells", "128", "--crossover", "--json").out)
    assert large["faster_than_cg_from_ranks"]["pipelined"] is None


NOISE = ("--noise", "1000:100e-6", "--iterations", "20")


def test_noise_on_a_rank_alone_costs_all_that_wait_for_it(kumihimo):
    words = (*SMALL, "--cells", "32", "--method", "cg", "--iterations", "20", "--json", "--noise")
    one, every = (results(kumihimo(*words, f"exponential:100us/1ms{more}"))[0] for more in (",ranks=5", ""))
    assert one["model"] == "exact"
    assert one["quiet_seconds"] < one["noisy_seconds"] < every["noisy_seconds"]


def test_noise_lengthens_iterations_by_its_share_at_least_and_depends_on_the_seed_alone(kumihimo):
    first, again, other = (
        results(kumihimo(*SMALL, "--cells", "32", "--method", "cg", *NOISE, "--json", *more))[0]
        for more in ((), (), ("--seed", "100"))
    )
    assert first["noisy_seconds"] == again["noisy_seconds"] != other["noisy_seconds"]
    assert first["noisy_seconds"] > first["quiet_seconds"] / 0.9
    low, high = first["noisy_range_seconds"]
    assert low <= first["noisy_seconds"] <= high
    told = {"text": "1000:100e-6", "events_per_second": 1000, "seconds": 100e-6, "seed": 1, "iterations": 20}
    assert first["noise"] == told


def test_the_table_and_the_crossover_with_noise(kumihimo):
    ended = kumihimo(*SMALL, "--cells", "8", *NOISE)
    assert (ended.code, ended.err) == (0, "")
    assert "noise 1000:100e-6" in ended.out
    assert "with noise" in ended.out
    told = json.loads(kumihimo(*SMALL, "--cells", "8", "--crossover", *NOISE, "--json").out)
    assert all(row["noisy_seconds"][m] >= row["seconds"][m] for row in told["rows"] for m in row["seconds"])
    assert set(told["noisy_faster_than_cg_from_ranks"]) == set(told["faster_than_cg_from_ranks"])


@pytest.mark.parametrize("ranks, grid", [(1, (1, 1, 1)), (7, (7, 1, 1)), (16, (4, 2, 2)), (840, (10, 12, 7))])
def test_the_grid_of_ranks_has_the_nearest_factors(ranks, grid):
    assert sorted(prediction.grid_of(ranks)) == sorted(grid)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (
            ("hpcg", "--cells", "8"),
            "must be one of poisson3d, fem-cube, himeno, fdtd2d, hartree-fock, lu, fft3d (got 'hpcg')",
        ),
        (("poisson3d",), "an iteration needs either --cells of a rank or --size of all ranks; add --cells 64x64x64"),
        (("poisson3d", "--cells", "8", "--size", "8"), "leave one of them out"),
        (("poisson3d", "--cells", "9" * 5000), "--cells must be three lengths, such as 64x64x64"),
        (("poisson3d", "--cells", "8", "--crossover", "--method", "cg"), "--crossover compares all methods"),
        (("poisson3d", "--cells", "8", "--crossover", "--ranks", "4"), "--crossover excludes --ranks (got 4)"),
        (("poisson3d", "--cells", "8x8"), "--cells must be three lengths, such as 64x64x64 (got '8x8')"),
        (("poisson3d", "--cells", "8", "--method", "gmres"), "--method must be all or one of cg"),
        (("poisson3d", "--cells", "8", "--grid", "3x1x1"), "--grid must have 8 ranks (got 3x1x1)"),
        (("poisson3d", "--size", "1"), "2 ranks along the first axis need at least as many cells (got 1)"),
        (("himeno", "--size", "3x3x3"), "need at least as many cells (got 1); use a larger --size or fewer ranks"),
        (("poisson3d", "--cells", "8", "--model", "bound"), "--model of a solver must be flow or exact (got 'bound')"),
        (("poisson3d", "--cells", "8", "--preconditioner", "amg"), "the preconditioner must be one of ic0, diagonal"),
        (("poisson3d", "--cells", "8", "--algorithm", "ring"), "takes no allreduce"),
        (("poisson3d", "--cells", "8", "--s", "9"), "s must be 1 to 8 (got 9)"),
        (
            ("poisson3d", "--cells", "8", "--noise", "1000"),
            "EVENTS:SECONDS (per second, of one) or trace:FILE (got '1000')",
        ),
        (("poisson3d", "--cells", "8", "--noise", "1000:1e-3"), "a tenth of its time (got 1 ms of 1 ms)"),
        (("poisson3d", "--cells", "8", "--noise=-1:1e-3"), "--noise must be periodic:LENGTH/INTERVAL"),
        (("poisson3d", "--cells", "8", "--noise", "0:1e-3"), "--noise must have events, and a time of each, above 0"),
        (
            ("poisson3d", "--cells", "8", "--noise", "9:1e-3", "--model", "flow"),
            "--noise of a solver needs --model exact (got --model flow)",
        ),
        (("poisson3d", "--cells", "8", "--noise", "9:1e-3", "--iterations", "0"), "--iterations must be 1 to 1000"),
        (("poisson3d", "--cells", "8", "--seed", "3"), "--seed and --iterations need --noise"),
    ],
)
def test_what_is_wrong_is_said(kumihimo, arguments, sentence):
    ended = kumihimo("simulate", "app", *arguments, "--machine", "reedbush-u", "--shape", "8", "--ranks-per-node", "1")
    assert ended.code != 0
    assert sentence in " ".join(ended.err.split())
