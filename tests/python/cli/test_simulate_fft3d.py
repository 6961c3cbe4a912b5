"""`kumihimo simulate app fft3d`."""

from __future__ import annotations

import json
from math import prod

import pytest

from kumihimo.app import fft_prediction, global_fft
from kumihimo.app.fft_leaders import LeaderExchanges
from kumihimo.app.fft_prediction import FftQuestion
from kumihimo.app.fft_question import question
from kumihimo.cli import machines
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import simulation
from kumihimo.predict.workloads.npb_ft import FtPattern
from kumihimo.text.errors import KumihimoError

MACHINE = ("simulate", "app", "fft3d", "-m", "fugaku", "--shape", "4x1x1", "--ranks-per-node", "1")


def found_of(ended) -> dict:
    if "transforms need FFTW" in ended.err:
        pytest.skip("no FFTW is here")
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)


def test_a_transform_on_more_and_more_ranks(kumihimo) -> None:
    found = found_of(kumihimo(*MACHINE, "--size", "64x48x80", "--speed", "2", "--json"))
    assert [each["ranks"] for each in found["results"]] == [1, 2, 4]
    assert [each["grid"] for each in found["results"]] == [[1, 1], [2, 1], [4, 1]]
    assert found["results"][0]["exchange_seconds"] == []
    assert [each["variant"] for each in found["results"]] == ["fused"] * 3
    for each in found["results"]:
        assert each["seconds"] == pytest.approx(each["computing_seconds"] + sum(each["exchange_seconds"]))
    times = [each["computing_seconds"] for each in found["results"]]
    assert times == pytest.approx([times[0], times[0] / 2, times[0] / 4])
    assert found["measured"]["line_gflops"] > 0


def test_bands_at_once_save_what_messages_cost_to_start(kumihimo) -> None:
    def exchange(bands: int) -> float:
        words = ("--size", "16", "--ranks", "4", "--set", f"at_once={bands}", "--json")
        (result,) = found_of(kumihimo(*MACHINE, *words))["results"]
        return sum(result["exchange_seconds"])

    assert exchange(8) < exchange(1) / 2


def test_the_table_says_what_is_measured_and_assumed(kumihimo) -> None:
    ended = kumihimo(*MACHINE, "--size", "32", "--set", "decomposition=2x2", "--set", "exchange=bruck")
    if "transforms need FFTW" in ended.err:
        pytest.skip("no FFTW is here")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Transform of 32x32x32 points on fugaku 4x1x1, fused, bruck, model flow")
    assert "Measured here on one thread of" in ended.out and "a core of fugaku is as fast as the one here" in ended.out
    assert " 2x2 " in ended.out


def test_ranks_exchange_all_that_they_have() -> None:
    for points, decomposition, ranks in (((8, 12, 16), "4x2", 8), ((8, 8, 8), "slab", 4), ((12, 12, 12), "2x6", 12)):
        asked = FftQuestion(points, decomposition)
        rows, columns = asked.grid(ranks)
        for each in fft_prediction.exchanges(asked, ranks):
            assert each.members * each.points * ranks == prod(points), "blocks of equal length make up the grid"
            assert (each.members, each.stride) in ((columns, 1), (rows, columns))
        assert fft_prediction.bytes_sent(asked, ranks) == pytest.approx(bytes_by_boxes(asked, ranks))


def bytes_by_boxes(asked: FftQuestion, ranks: int) -> float:
    """By all points of a small grid, one after the other: whose they are before and after each exchange."""
    rows, columns = asked.grid(ranks)

    def place(n: int, at: int, parts: int) -> int:
        return next(part for part in range(parts) if at < n * (part + 1) // parts)

    (nx, ny, nz), moved = asked.points, 0
    for x in range(nx):
        for y in range(ny):
            for z in range(nz):
                of_z = place(nx, x, rows), place(ny, y, columns)
                of_y = place(nx, x, rows), place(nz, z, columns)
                of_x = place(ny, y, rows), place(nz, z, columns)
                moved += (of_z != of_y) + (of_y != of_x)
    return 16.0 * moved


def test_leaders_carry_what_their_groups_exchange() -> None:
    job = simulation.on(machines.load("fugaku"), Ranks("2x2x1", None, 3))
    for decomposition in ("slab", "4x3"):
        asked = question("12x18x14", {"decomposition": decomposition}, "leader")
        leaders = LeaderExchanges(asked, job)
        leaders.check()
        assert [len(group) for group in leaders.groups] == [3, 3, 3, 3]
        within = LeaderExchanges(question("12x18x14", {"decomposition": decomposition, "group": "1"}, "leader"), job)
        assert len(within.groups) == 12
        assert within.bytes_sent() == pytest.approx(fft_prediction.bytes_sent(asked, 12)), "each rank leads itself"
        assert leaders.bytes_sent() <= within.bytes_sent()
    assert len(LeaderExchanges(question("8", {"group": "2"}, "leader"), job).groups) == 8


def of_variant(kumihimo, variant: str, *settings: str, size: str = "32", machine: tuple[str, ...] = MACHINE) -> dict:
    words = [word for each in settings for word in ("--set", each)]
    found = found_of(kumihimo(*machine, "--size", size, "--variant", variant, *words, "--json"))
    return {**found["results"][-1], "line_gflops": found["measured"]["line_gflops"]}


def test_every_variant_is_predicted(kumihimo) -> None:
    found = {name: of_variant(kumihimo, name, "bands=8") for name in ("packed", "fused", "leader", "derived")}
    found["overlapped"] = of_variant(kumihimo, "overlapped", "bands=8", "pieces=2")
    for name, each in found.items():
        assert each["variant"] == name and each["seconds"] > 0
        assert each["bytes_sent"] == 16 * 32**3 * 3 / 4
    hidden = found["overlapped"]["hidden_seconds"]
    both = found["overlapped"]["computing_seconds"], sum(found["overlapped"]["exchange_seconds"])
    assert 0 < hidden <= min(both)
    one_node = ("simulate", "app", "fft3d", "-m", "fugaku", "--shape", "1x1x1", "--ranks-per-node", "4")
    window = of_variant(kumihimo, "window", machine=one_node)
    assert window["bytes_sent"] == 0 and 0 < window["exchange_seconds"][0] < found["fused"]["exchange_seconds"][0]


def test_an_exchange_over_leaders_knows_the_nodes_of_its_ranks() -> None:
    job = simulation.on(machines.load("fugaku"), Ranks("4x2x1", None, 4))
    rate = fft_prediction.LineRate(1e10, "")
    times = [
        fft_prediction.predicted(
            question("64", {"exchange": "hierarchical", **group}, "fused"), rate, job, "flow", 1.0
        )["exchange_seconds"]
        for group in ({}, {"group": "2"})
    ]
    assert times[0] != times[1], "group has an effect"
    by_twos = simulation.on(machines.load("fugaku"), Ranks("3x2x1", None, 2)).rank_space
    assert fft_prediction.nodes_of_group(fft_prediction.FftExchange(4, 3, 1), by_twos) == (0, 1, 3, 4)


def test_what_is_one_block_is_packed_for_messages_alone() -> None:
    """Of lines along z, y and x."""

    def packs(size: int, decomposition: str, variant: str, ranks: int = 4) -> list[float]:
        asked = FftQuestion((size,) * 3, decomposition, variant=variant)
        return [fft_prediction.packs(asked, ranks, place) for place in range(3)]

    for variant in ("packed", "derived"):
        assert packs(256, "slab", variant) == [0, 0.5, 0.5], "planes are one block"
        assert packs(256, "2x2", variant) == [0.5, 1, 0.5]
    assert packs(512, "slab", "packed") == [0.5, 1, 0.5], "lines along z and y are stages of their own"
    assert packs(512, "slab", "derived") == [0, 0.5, 0.5]
    assert (packs(96, "slab", "packed", 1), packs(96, "slab", "derived", 1)) == ([0, 0.5, 0.5], [0, 0, 0])


def test_leaders_send_fewer_messages(kumihimo) -> None:
    on_nodes = ("simulate", "app", "fft3d", "-m", "fugaku", "--shape", "4x1x1", "--ranks-per-node", "4")
    leader, fused = (of_variant(kumihimo, name, size="16", machine=on_nodes) for name in ("leader", "fused"))
    assert sum(leader["exchange_seconds"]) < sum(fused["exchange_seconds"])


def test_a_sphere_sends_its_columns_alone(kumihimo) -> None:
    whole = of_variant(kumihimo, "fused", "bands=32", "at_once=4", size="96")
    sphere = of_variant(kumihimo, "fused", "bands=32", "at_once=4", "cutoff=sphere", size="96")
    assert sphere["radius_of_sphere"] == 24 and sphere["gflops"] is None
    assert sphere["bytes_sent"] / whole["bytes_sent"] == pytest.approx(1793 / 96**2, rel=1e-3)
    assert sum(sphere["exchange_seconds"]) < 0.5 * sum(whole["exchange_seconds"])
    of_rate = [one["computing_seconds"] * one["line_gflops"] for one in (sphere, whole)]
    assert of_rate[0] < of_rate[1], "fewer lines, at the rate that each command has measured"
    assert of_variant(kumihimo, "leader", "cutoff=sphere", size="96")["bytes_sent"] == sphere["bytes_sent"]


@pytest.mark.mpi
def test_a_run_sends_the_bytes_that_are_predicted(kumihimo) -> None:
    """Those that its engine counted, in whole grids and in spheres; the share that a sphere saves is that of its
    columns."""
    counted = {}
    for cutoff in ("none", "sphere"):
        words = ("--size", "20x24x22", "--ranks", "3", "--set", f"cutoff={cutoff}", "--set", "bands=2")
        ended = kumihimo("app", "fft3d", *words, "--variant", "fused", "--triad", "9", "--peak", "9", "--json")
        facts = found_of(ended)["results"][0]["facts"]
        asked = question(
            "20x24x22", {"cutoff": cutoff, "decomposition": "slab"} if cutoff == "none" else {"cutoff": cutoff}
        )
        counted[cutoff] = facts["bytes of messages a transform, counted"]
        assert counted[cutoff] == facts["bytes of messages a transform"] == fft_prediction.bytes_sent(asked, 3)
    columns = question("20x24x22", {"cutoff": "sphere"}).sphere.columns
    assert counted["sphere"] / counted["none"] == pytest.approx(columns / (20 * 24), rel=0.03)


def test_exchanges_beside_lines_take_the_longer_time() -> None:
    """Of many blocks of bands; the recurrence by hand for one block, and for two."""

    class Fixed:
        planned = (None,)

        def seconds(self, stage: int, bands: int) -> float:
            return 3.0 * bands

    def time(blocks: list[int], pieces: int = 1) -> float:
        return fft_prediction.overlapped([1.0, 1.0], Fixed(), blocks, pieces)

    assert time([1]) == 1 + 3 + 1 and time([1], pieces=3) == 1 / 3 + 9 + 1
    assert time([1, 1]) == 1 + 3 + 3 + 1
    assert time([1] * 100) == 1 + 300 + 1
    assert fft_prediction.in_turns([1.0, 1.0], Fixed(), [1] * 100) == 500


def test_a_real_grid_has_half_of_the_work_and_of_the_messages(kumihimo) -> None:
    def predicted(kind: str) -> dict:
        words = ("--size", "64", "--ranks", "4", "--set", f"kind={kind}", "--json")
        return found_of(kumihimo(*MACHINE, *words))["results"][0]

    real, every = FftQuestion((64, 64, 64), kind="real"), FftQuestion((64, 64, 64))
    halved, whole = (fft_prediction.exchanges(each, 4)[1] for each in (real, every))
    assert halved.points * 64 == whole.points * 33
    assert predicted("real")["kind"] == "real"
    assert real.flops(8, 4, True) == 8 * 2.5 * 2 and real.flops(8, 4, False) == every.flops(8, 4, True) == 8 * 5 * 2


def test_more_ranks_than_planes_get_pencils() -> None:
    assert FftQuestion((8, 8, 8)).grid(8) == (8, 1)
    assert FftQuestion((8, 8, 8)).grid(12) == (4, 3)


def test_the_whole_k_computer_fits_in_pencils_and_not_in_slabs() -> None:
    points = (1 << 20, 1 << 20, 1 << 20)
    whole = simulation.on(machines.load("k-computer"), Ranks("48x54x32"))
    fft_prediction.check(FftQuestion(points, "pencil"), whole)
    with pytest.raises(KumihimoError, match="got 6879707136"):
        fft_prediction.check(FftQuestion(points, "slab"), whole)


# --- published cases


def test_the_global_fft_has_three_transpositions_of_all_points() -> None:
    job = simulation.on(machines.load("k-computer"), Ranks("4x2x2"))
    found = global_fft.predicted(1 << 20, "linear", 1e10, job, "flow")
    assert found["computing_seconds"] == pytest.approx(5 * 2**20 * 20 / 16 / 1e10)
    assert found["copying_seconds"] == pytest.approx(2 * 2 * 16 * 2**20 / 16 / 46.6e9), "of STREAM's bandwidth"
    of_transposition = found["transposition_seconds"] + found["copying_seconds"]
    assert found["seconds"] == pytest.approx(found["computing_seconds"] + 3 * of_transposition)
    least = 15 / 16 * 2**20 * 16 / 16 / 20e9  # what a rank sends, by all of its engines
    assert found["transposition_seconds"] > least


@pytest.mark.parametrize(("points", "ranks", "grid"), [((8, 8, 8), 4, (1, 4)), ((8, 16, 4), 16, (4, 4))])
def test_ranks_of_ft_deal_all_of_their_points(points, ranks, grid) -> None:
    pattern = FtPattern(points, ranks, 3)
    pattern.check()
    assert pattern.grid == grid
    for rank in range(ranks):
        for group in pattern.exchanges_of(rank):
            assert rank in group
            assert len(group) * pattern.bytes_of_message(group) * ranks == 16 * prod(points)
    lines = [tuple(map(int, line.split())) for line in pattern.traffic()]
    assert len({line[:2] for line in lines}) == len(lines)
    goal = list(pattern.goal(1e9))
    assert sum(" send " in line for line in goal) == sum(" recv " in line for line in goal) == 3 * len(lines)


def test_the_messages_of_ft_are_replayed_and_placed(kumihimo, tmp_path) -> None:
    goal, traffic = tmp_path / "ft.goal", tmp_path / "ft.txt"
    words = ("simulate", "app", "fft3d", "--case", "npb-ft-b", "--set", "iterations=1", "--json")
    (result,) = found_of(kumihimo(*words, "--shape", "4x2x2", "-m", "k-computer", "--write", str(goal)))["results"]
    assert (result["ranks"], result["messages"]) == (16, 16 * 15)
    ended = kumihimo("replay", f"goal:{goal}", "-m", "k-computer", "--shape", "4x2x2", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["results"][0]["seconds"] == pytest.approx(result["seconds"], rel=0.01)
    found_of(kumihimo(*words, "--shape", "4x2x2", "-m", "k-computer", "--write", str(traffic)))
    ended = kumihimo("place", "--traffic", str(traffic), "--shape", "4x2x2", "--json")
    assert ended.code == 0, ended.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--shape", "4x4x3"), "FT runs on a power of two of ranks, at most 65536 (got 48); use --shape 4x4x4"),
        (("--shape", "16x16x16"), "a file of FT has at most 5000000 messages"),
        (("--set", "iterations=0"), "iterations must be a number from 1 to 10000 (got '0')"),
        (("--set", "at_once=2"), "the case npb-ft-b takes --set iterations=... (got 'at_once'); leave it out"),
        (("--model", "exact"), "--model of this case must be flow or loggp (got 'exact')"),
    ],
)
def test_what_no_ft_is_is_one_sentence(kumihimo, words: tuple[str, ...], error: str) -> None:
    ended = kumihimo("simulate", "app", "fft3d", "--case", "npb-ft-b", *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert error in ended.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--cells", "8"), "fft3d takes no --cells here; leave it out"),
        (("--variant", "window"), "a window joins ranks of one node (got 2 nodes); use fused or leader"),
        (
            ("--variant", "golden"),
            "--variant of fft3d must be one of packed, fused, overlapped, leader, derived, window",
        ),
        (("--variant", "derived", "--set", "exchange=bruck"), "derived has no messages of an alltoall of the registry"),
        (("--set", "pieces=2"), "fused takes no pieces (got 2); leave it out"),
        (
            ("--set", "throttle=4", "--set", "send_window=2", "--set", "receive_window=1"),
            "throttle has no effect beside send_window and receive_window; leave one of them out",
        ),
        (("--variant", "packed", "--set", "cutoff=sphere"), "columns of a sphere go straight into messages"),
        (
            ("--set", "cutoff=ball"),
            "cutoff must be none, sphere, or the radius of a sphere of frequencies (got 'ball')",
        ),
        (("--set", "cutoff=99999"), "the radius must be from 0 to 63 on a grid of 128 points (got 99999)"),
        (("--set", "cutoff=sphere", "--set", "kind=real"), "a sphere of frequencies belongs to a complex grid"),
        (("--set", "cutoff=sphere", "--set", "decomposition=slab"), "a sphere takes no decomposition (got slab)"),
        (("--set", "bands=2", "--set", "at_once=3"), "3 bands at once need as many bands (got bands=2)"),
        (("--size", "8x8"), "--size must be points along x, y and z: 512 or 512x256x256 (got '8x8')"),
        (("--size", "0"), "--size must have 1 to 1048576 points along each axis (got 0)"),
        (("--set", "transforms=3"), "(got 'transforms'); leave it out"),
        (("--set", "at_once=0"), "at_once must be a number from 1 to 65536 (got '0')"),
        (("--set", "decomposition=3x1"), "rows x columns must be the number of ranks, 4 (got 3x1)"),
        (("--set", "decomposition=4"), "the decomposition must be auto, slab, pencil, or rows x columns such as 4x2"),
        (("--set", "exchange=ring"), "ring"),
        (("--set", "kind=float"), "kind must be complex or real (got 'float')"),
        (("--model", "exact"), "--model of fft3d must be flow (got 'exact')"),
    ],
)
def test_what_does_not_fit_is_one_sentence(kumihimo, words: tuple[str, ...], error: str) -> None:
    ended = kumihimo(*MACHINE, *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert error in ended.err


def test_runs_that_differ_say_that_the_machine_is_busy():
    steady, disturbed = (fft_prediction.LineRate(1e10, "", spread=spread).measured() for spread in (1.2, 4.0))
    assert fft_prediction.busy_text(steady) == ""
    assert "differ by a factor of 4.0" in fft_prediction.busy_text(disturbed)
