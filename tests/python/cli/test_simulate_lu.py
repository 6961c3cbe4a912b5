"""`kumihimo simulate app lu`."""

from __future__ import annotations

import json
from itertools import product

import pytest

from kumihimo import _lu
from kumihimo.app import hybrid_machine, lu_prediction
from kumihimo.app.hybrid_machine import HybridMachine, HybridNodes
from kumihimo.app.lu_prediction import LuOperations, LuQuestion, LuRates
from kumihimo.cli import machines
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import models, simulation

MACHINE = ("simulate", "app", "lu", "-m", "fugaku", "--shape", "4x1x1", "--ranks-per-node", "1")
DEEP = ("--set", "block=1", "--set", "grid=4x1", "--set", "lookahead=8", "--set", "panels=simulated")
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


@pytest.mark.parametrize("lookahead", [0, 1, 3, 50])
@pytest.mark.parametrize("grid", [(1, 1), (1, 4), (4, 1), (2, 3)])
def test_ranks_compute_what_the_factorisation_needs(grid: tuple[int, int], lookahead: int) -> None:
    asked = LuQuestion(2000, 50, grid, lookahead=lookahead)
    operations = LuOperations(asked, RATES, grid, [1.0] * (grid[0] * grid[1]), lambda size: 0.0)
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


# (rows, machine, shape, ranks a node): the recurrence against the golden model, which simulates every panel.
COMPARED = [
    (10_000, "fugaku", "4x2x2", 1),
    (40_000, "fugaku", "4x2x2", 1),
    (10_000, "fugaku", "4x4x4", 1),
    (10_000, "k-computer", "8x8x4", 1),
    (10_000, "reedbush-u", "16", 4),
    (40_000, "reedbush-u", "16", 4),
]


@pytest.mark.parametrize(("rows", "machine", "shape", "each"), COMPARED)
def test_the_recurrence_says_what_the_simulation_says(rows: int, machine: str, shape: str, each: int) -> None:
    rates = LuRates(block=96, updates=6e10, panels=1e10, solution=2e9, move_seconds=2e-10, blas="")
    job = simulation.on(machines.load(machine), Ranks(shape, None, each))
    found = [
        lu_prediction.predicted(LuQuestion(rows, 96, None, panels), rates, job, "flow", [1.0])
        for panels in ("simulated", "recurrence")
    ]
    assert [each["panels"] for each in found] == ["simulated", "recurrence"]
    assert found[1]["seconds"] == pytest.approx(found[0]["seconds"], rel=lu_prediction.RECURRENCE_ERROR)


def test_unequal_ranks_are_alike_in_both() -> None:
    job = simulation.on(machines.load("fugaku"), Ranks("4x2x1", None, 1))
    for speeds in ([1.0] * 8, [1.0, 1, 1, 1, 0.5, 0.5, 0.5, 0.5], [0.25, 1, 1, 1, 1, 1, 1, 1]):
        times = [
            lu_prediction.predicted(LuQuestion(6000, 50, (1, 8), panels), RATES, job, "flow", speeds)["seconds"]
            for panels in ("simulated", "recurrence")
        ]
        assert times[1] == pytest.approx(times[0], rel=0.03)


@pytest.mark.parametrize("lookahead", [0, 2, 5])
def test_look_ahead_is_alike_in_both(lookahead: int) -> None:
    job = simulation.on(machines.load("fugaku"), Ranks("4x2x1", None, 1))
    times = [
        lu_prediction.predicted(LuQuestion(6000, 50, (2, 4), panels, (), lookahead), RATES, job, "flow", [1.0])
        for panels in ("simulated", "recurrence")
    ]
    assert [each["lookahead"] for each in times] == [lookahead] * 2
    assert times[1]["seconds"] == pytest.approx(times[0]["seconds"], rel=0.03)


# Broadcasts of HPL, and others of the registry, with the largest difference of the recurrence from flow.
BROADCASTS = [
    ("chain", 0.03),
    ("chain_modified", 0.03),
    ("two_chains", 0.03),
    ("two_chains_modified", 0.03),
    ("long", 0.03),
    ("long_modified", 0.03),
    ("binomial_in_turn", 0.03),
    ("double_binary", 0.03),
    ("linear", 0.03),
]


@pytest.mark.parametrize(("broadcast", "most"), BROADCASTS)
@pytest.mark.parametrize("grid", [(1, 8), (2, 4), (2, 3)])
@pytest.mark.parametrize("variant", ["rows", "tournament", "tasks"])
def test_every_broadcast_is_alike_in_both(broadcast: str, most: float, grid: tuple[int, int], variant: str) -> None:
    job = simulation.on(machines.load("fugaku"), Ranks(f"{grid[0] * grid[1] // 2}x2x1", None, 1))
    times = [
        lu_prediction.predicted(
            LuQuestion(6000, 50, grid, panels, (), 1, broadcast, variant), RATES, job, "flow", [1.0]
        )
        for panels in ("simulated", "recurrence")
    ]
    assert [(each["broadcast"], each["variant"]) for each in times] == [(broadcast, variant)] * 2
    assert times[1]["seconds"] == pytest.approx(times[0]["seconds"], rel=most)


@pytest.mark.parametrize("panels", ["auto", "simulated", "recurrence"])
def test_a_broadcast_over_leaders_knows_the_nodes_of_a_row(panels: str) -> None:
    job = simulation.on(machines.load("fugaku"), Ranks("4x2x1", None, 4))
    asked = LuQuestion(2000, 50, (1, 32), panels, broadcast="hierarchical")
    lu_prediction.check(asked, 32, lu_prediction.nodes_of_row(asked, job.rank_space))
    found = lu_prediction.predicted(asked, RATES, job, "flow", [1.0])
    assert found["panels"] == ("recurrence" if panels == "recurrence" else "simulated")


def test_slow_links_like_the_long_broadcast_and_latency_few_relays() -> None:
    def seconds(broadcast: str, costs: tuple[float, float]) -> float:
        asked = LuQuestion(4000, 50, (1, 16), "recurrence", (), 1, broadcast)
        return lu_prediction.by_recurrence(asked, RATES, costs, [1.0], 16).seconds

    slow, latency = (1e-6, 2e-8), (1e-3, 0.0)
    assert seconds("long", slow) < 0.9 * seconds("chain", slow), "pieces"
    assert seconds("long", latency) > 3 * seconds("chain", latency), "as many steps as ranks"
    for costs in (slow, latency):
        assert seconds("two_chains", costs) < seconds("chain", costs), "half as many relays"


def test_tasks_have_whole_rows_and_the_look_ahead_of_their_memory() -> None:
    assert lu_prediction.question("4000", {}, "tasks").lookahead == 3
    assert lu_prediction.grid_of(LuQuestion(4000, 96, None, variant="tasks"), 12) == (1, 12)
    assert lu_prediction.grid_of(LuQuestion(4000, 96, None, variant="tournament"), 12) == (3, 4)


@pytest.mark.parametrize("variant", ["tournament", "tasks"])
def test_a_variant_is_measured_and_predicted(kumihimo, variant: str) -> None:
    words = ("--size", "2000", "--variant", variant, "--set", "broadcast=long", "--ranks", "4", "--json")
    found = found_of(kumihimo(*MACHINE, *words))
    (result,) = found["results"]
    assert (result["variant"], result["broadcast"], result["panels"]) == (variant, "long", "simulated")
    assert found["measured"]["update_gflops"] > 0
    assert "panels go along rows of the grid by long, and take what the machine file says" in found["assumed"]
    assert any(each.startswith("tasks: ") for each in found["assumed"]) == (variant == "tasks")


def test_rows_without_memory_for_the_matrix_are_left_out(kumihimo) -> None:
    words = ("simulate", "app", "lu", "-m", "k-computer", "--shape", "4x4x4", "--size", "250000", "--set", "block=500")
    found = found_of(kumihimo(*words, "--json"))
    nodes = [each["ranks"] for each in found["results"]]
    assert nodes == [32, 64], "8 x 250,000² bytes on nodes of 16 GB"
    assert (
        found["left_out"] == "left out: numbers of nodes up to 16, whose memory is smaller than the matrix of 466 GiB"
    )
    found = found_of(kumihimo(*words[:-4], "--size", "1000000", "--set", "block=500", "--json"))
    assert [each["ranks"] for each in found["results"]] == [64]
    assert found["left_out"] == "the matrix of 7.28 TiB is larger than the memory of all nodes, 64"


def test_what_takes_longer_than_a_simulation_may_is_a_recurrence() -> None:
    job = simulation.on(machines.load("fugaku"), Ranks("2x1x1", None, 1))
    found = lu_prediction.predicted(LuQuestion(600_000, 2000, None), RATES, job, "flow", [1.0])
    assert (found["panels"], found["seconds"] > 13 * 24 * 3600) == ("recurrence", True)


def test_look_ahead_hides_panels() -> None:
    """Panels as slow as these are all that the factorisation waits for."""
    rates = LuRates(block=50, updates=5e10, panels=2e9, solution=2e9, move_seconds=0.0, blas="")
    job = simulation.on(machines.load("fugaku"), Ranks("4x2x1", None, 1))
    seconds = [
        lu_prediction.predicted(LuQuestion(6000, 50, (1, 8), "recurrence", (), ahead), rates, job, "flow", [1.0])
        for ahead in (0, 1, 2)
    ]
    none, one, two = (each["seconds"] for each in seconds)
    assert one < 0.9 * none
    assert two < 1.05 * one


def test_the_whole_k_computer_keeps_the_share_of_its_updates() -> None:
    rates = LuRates(block=192, updates=128e9 * 0.95, panels=128e9 * 0.2, solution=2e9, move_seconds=1e-10, blas="")
    job = simulation.on(machines.load("k-computer"), Ranks())
    whole = lu_prediction.predicted(LuQuestion(11_870_208, 192, None), rates, job, "flow", [1.0], 88_128)
    assert (whole["panels"], whole["grid"]) == ("recurrence", [288, 306])
    assert 0.95 < whole["share_of_updates"] < 1


@pytest.mark.parametrize("ranks", [1, 2, 12, 17, 36, 96, 88_128])
def test_the_grid_is_the_most_square(ranks: int) -> None:
    p, q = _lu.usual_grid(ranks)
    assert p * q == ranks
    assert p == max(each for each in range(1, int(ranks**0.5) + 1) if ranks % each == 0)


def test_unequal_nodes_get_ranks_by_the_rule(kumihimo) -> None:
    words = ("-m", "hybrid-cluster", "--size", "20000", "--set", "block=200", "--set", "speeds=16x670,64x202")
    (result,) = found_of(kumihimo("simulate", "app", "lu", *words, "--json"))["results"]
    assert (result["ranks"], result["grid"]) == (128, [8, 16])
    assert "670/202 = 3.32 + 0.68 = 4 processes of 12 cores" in result["processes"]
    for wrong, error in (
        (("--set", "speeds=3x670"), "there must be speeds of the 80 nodes of hybrid-cluster (got 3)"),
        (("--set", "speeds=80x670", "--ranks", "8"), "--set speeds=... gives the ranks of each node"),
    ):
        ended = kumihimo("simulate", "app", "lu", "-m", "hybrid-cluster", "--size", "2000", *wrong)
        assert (ended.code, ended.err.count("\n")) == (2, 1) and error in ended.err


def test_the_hybrid_machine_reaches_alone_what_was_published() -> None:
    rates = LuRates(block=192, updates=6e10, panels=1.2e10, solution=2e9, move_seconds=2e-10, blas="")
    of = HybridMachine(machines.load("hybrid-cluster"), rates)
    both = of.result(HybridNodes(16, 64))
    assert both["gpu_gflops"] == pytest.approx(hybrid_machine.GPU_ALONE, rel=1e-6)
    assert both["cpu_gflops"] == pytest.approx(hybrid_machine.CPU_ALONE, rel=1e-6)
    assert (both["ranks"], both["grid"]) == (128, [8, 16])
    assert 0.64 < both["efficiency"] < 0.737, "equal parts at the pace of the slower kind, 65.8 %, and a larger matrix"
    series = [of.result(HybridNodes(4, cpu))["efficiency"] for cpu in (4, 8, 12, 16)]
    assert series == sorted(series, reverse=True), "every node of the faster kind waits"
    strong = [of.result(HybridNodes(4, cpu), hybrid_machine.STRONG_ROWS) for cpu in (4, 8, 12, 16)]
    assert [each["rows"] for each in strong] == [100_000] * 4
    rates = [each["gflops"] for each in strong]
    assert rates == sorted(rates)
    assert rates[-1] / rates[0] < (16 + 4 * 4) / (4 + 4 * 4), "of one matrix, more ranks gain less than their number"


def test_the_strong_series_is_a_case(kumihimo) -> None:
    found = found_of(kumihimo("simulate", "app", "lu", "--case", "hybrid-strong", "--json"))
    assert [each["cpu_nodes"] for each in found["results"]] == [4, 8, 12, 16]
    assert {each["rows"] for each in found["results"]} == {100_000}
    assert hybrid_machine.PEAK_EXCEEDED in found["assumed"]
    assert "13,210 GFLOPS exceed the peak of the 64 nodes without GPUs, 12,928" in hybrid_machine.PEAK_EXCEEDED


def test_a_case_prints_both_figures(kumihimo) -> None:
    found = found_of(kumihimo("simulate", "app", "lu", "--case", "k-hpl", "--json"))
    assert (found["case"], found["published_gflops"]) == ("k-hpl", 10.51e6)
    (result,) = found["results"]
    assert found["predicted_over_published"] == pytest.approx(result["gflops"] / 10.51e6)
    share = found["measured"]["update_gflops"] / found["measured"]["peak_gflops"]
    assert result["share_of_peak"] == pytest.approx(share, rel=0.06), "on K little is lost beside updates"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--cells", "8"), "lu takes no --cells here; leave it out"),
        (
            ("--variant", "golden"),
            "--variant of simulate app lu must be one of rows, tournament, tasks, tasks_static, tasks_dynamic, "
            "tasks_openmp, tasks_tbb (got 'golden')",
        ),
        (("--variant", "tornament"), "(got 'tornament'); did you mean tournament?"),
        (("--variant", "tournament", "--set", "group=2"), "the variant tournament takes no group"),
        (("--variant", "tasks", "--set", "lookahead=2"), "the variant tasks takes no lookahead"),
        (("--variant", "rows", "--case", "k-hpl"), "lu takes no --variant here; leave it out"),
        (("--set", "broadcast=chian"), "'chian'"),
        (
            ("--set", "broadcast=hierarchical", "--set", "grid=1x4"),
            "broadcast=hierarchical does not fit the 4 ranks of a row of the grid: the algorithm needs nodes of",
        ),
        (("--algorithm", "ring"), "lu takes no --algorithm here; leave it out"),
        (("--size", "many"), "--size must be a number of rows from 1 to 100000000 (got 'many')"),
        (("--size", "3", "--set", "grid=1x4"), "--size must be at least 4 on a grid of 1x4 (got 3)"),
        (("--set", "seed=3"), "--set panels=..., --set speeds=... (got 'seed'); leave it out"),
        (("--set", "device=gpu"), "simulate app lu takes --set block=..., --set lookahead=..., --set broadcast=..."),
        (("--set", "lookahead=9"), "lookahead must be 0 to 8 (got 9)"),
        (("--set", "panels=some"), "panels must be one of auto, simulated, recurrence (got 'some')"),
        (("--set", "speeds=fast"), "speeds must be peaks of the nodes, in GFLOPS, such as 16x670,64x202 (got 'fast')"),
        (("--set", "speeds=0"), "speeds must be peaks of the nodes"),
        (("--set", "speeds=2x100", "--speed", "2"), "--speed has no effect beside --set speeds=... (got 2)"),
        (
            ("--case", "k-hp"),
            "--case of lu must be one of k-hpl, hybrid, hybrid-series, hybrid-strong (got 'k-hp'); did you mean k-hpl?",
        ),
        (("--case", "k-hpl", "--size", "100"), "--case k-hpl has a size of its own (got --size 100); leave it out"),
        (("--case", "k-hpl", "--speed", "2"), "cases take kernels' shares of the peak (got --speed 2); leave it out"),
        (("--case", "k-hpl", "--write", "x.goal"), "--case k-hpl writes no file; leave --write out"),
        (("--set", "grid=3x1"), "the grid must have as many ranks as the job, 4 (got 3x1)"),
        (("--set", "grid=4"), "grid must be two numbers, P x Q (got '4'); write grid=4x8"),
        (("--speed", "0"), "--speed must be above 0"),
        (("--model", "exact"), "--model of lu must be flow or loggp (got 'exact')"),
        (
            ("--size", "1000000", "--set", "block=1", "--set", "panels=simulated"),
            "at most 500000 panels of all ranks together can be simulated (got 4000000)",
        ),
        (
            ("--size", "100000", *DEEP),
            "at most 208333 panels of all ranks together can be simulated (got 400000)",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence(kumihimo, words: tuple[str, ...], error: str) -> None:
    ended = kumihimo(*MACHINE, *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert error in ended.err
