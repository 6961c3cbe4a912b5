"""`kumihimo simulate app fft3d`."""

from __future__ import annotations

import json
from math import prod

import pytest

from kumihimo.app import fft_prediction, global_fft
from kumihimo.app.fft_prediction import FftQuestion
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
    assert ended.out.startswith("Transform of 32x32x32 points on fugaku 4x1x1, bruck, model flow")
    assert "Measured here on one thread of" in ended.out and "a core of fugaku is as fast as the one here" in ended.out
    assert " 2x2 " in ended.out


def test_ranks_exchange_all_that_they_have() -> None:
    for points, decomposition, ranks in (((8, 12, 16), "4x2", 8), ((8, 8, 8), "slab", 4), ((12, 12, 12), "2x6", 12)):
        asked = FftQuestion(points, decomposition)
        rows, columns = asked.grid(ranks)
        for each in fft_prediction.exchanges(asked, ranks):
            assert each.members * each.points * ranks == prod(points), "blocks of equal length make up the grid"
            assert (each.members, each.stride) in ((columns, 1), (rows, columns))


def test_a_real_grid_has_half_of_the_work_and_of_the_messages(kumihimo) -> None:
    def predicted(kind: str) -> dict:
        words = ("--size", "64", "--ranks", "4", "--set", f"kind={kind}", "--json")
        return found_of(kumihimo(*MACHINE, *words))["results"][0]

    real, every = FftQuestion((64, 64, 64), kind="real"), FftQuestion((64, 64, 64))
    (halved,), (whole,) = fft_prediction.exchanges(real, 4), fft_prediction.exchanges(every, 4)
    assert halved.points * 64 == whole.points * 33
    assert predicted("real")["kind"] == "real"
    assert real.flops(8, 4, True) == 8 * 2.5 * 2 and real.flops(8, 4, False) == every.flops(8, 4, True) == 8 * 5 * 2


def test_more_ranks_than_planes_get_pencils() -> None:
    assert FftQuestion((8, 8, 8)).grid(8) == (8, 1)
    assert FftQuestion((8, 8, 8)).grid(12) == (4, 3)


def test_the_whole_k_computer_fits_in_pencils_and_not_in_slabs() -> None:
    points = (1 << 20, 1 << 20, 1 << 20)
    fft_prediction.check(FftQuestion(points, "pencil"), 82944)
    with pytest.raises(KumihimoError, match="got 6879707136"):
        fft_prediction.check(FftQuestion(points, "slab"), 82944)


# --- published cases


def test_the_global_fft_has_three_transpositions_of_all_points() -> None:
    job = simulation.on(machines.load("k-computer"), Ranks("4x2x2"))
    found = global_fft.predicted(1 << 20, "linear", 1e10, job, "flow")
    assert found["computing_seconds"] == pytest.approx(5 * 2**20 * 20 / 16 / 1e10)
    assert found["seconds"] == pytest.approx(found["computing_seconds"] + 3 * found["transposition_seconds"])
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
        (("--variant", "window"), "fft3d takes no --variant here; leave it out"),
        (("--size", "8x8"), "--size must be points along x, y and z: 512 or 512x256x256 (got '8x8')"),
        (("--size", "0"), "--size must have 1 to 1048576 points along each axis (got 0)"),
        (("--set", "bands=3"), "(got 'bands'); leave it out"),
        (("--set", "at_once=0"), "at_once must be a number of bands from 1 to 65536 (got '0')"),
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
