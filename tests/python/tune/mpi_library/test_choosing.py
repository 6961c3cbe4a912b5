"""What follows from recorded times: the best algorithms, and violations of guidelines."""

from __future__ import annotations

from random import Random

import pytest

from kumihimo.tune.mpi_library.algorithms import AUTO, DEFAULT
from kumihimo.tune.mpi_library.guidelines import violations
from kumihimo.tune.mpi_library.measure import CALLS, LAUNCHES, LEAST_LAUNCHES, LibraryRow, LibraryTable, best


def row(call: str, algorithm: str, size: int, microseconds: float, spread: float = 0.02) -> LibraryRow:
    times = [microseconds * 1e-6 * (1 + spread * (n - 3) / 3) for n in range(LAUNCHES)]
    return LibraryRow(call, algorithm, size, tuple(times))


def test_a_winner_beats_the_default_beyond_both_intervals():
    table = LibraryTable(4, [row("bcast", DEFAULT, 8, 10), row("bcast", "chain", 8, 9), row("bcast", "ring", 8, 8)])
    assert best(table, "openmpi")["bcast"] == {8: "ring"}
    noisy = LibraryTable(4, [row("bcast", DEFAULT, 8, 10, 0.5), row("bcast", "ring", 8, 8, 0.5)])
    assert best(noisy, "openmpi")["bcast"] == {8: DEFAULT}


@pytest.mark.parametrize("launches", [4, 5])
def test_too_few_launches_choose_nothing(launches):
    def of(algorithm, microseconds):
        return LibraryRow("bcast", algorithm, 8, (microseconds * 1e-6,) * launches)

    assert best(LibraryTable(4, [of(DEFAULT, 10), of("ring", 1)]), "openmpi")["bcast"] == {8: DEFAULT}


@pytest.mark.parametrize("launches", [LEAST_LAUNCHES, LAUNCHES, 9])
def test_of_equal_algorithms_the_best_is_seldom_chosen(launches):
    """Eight beside the default, all alike; fixed seed."""
    chance = Random(3)

    def table() -> LibraryTable:
        names = (DEFAULT, *"abcdefgh")
        rows = [
            LibraryRow("bcast", n, 8, tuple(chance.lognormvariate(-11, 0.1) for _ in range(launches))) for n in names
        ]
        return LibraryTable(4, rows)

    wrong = sum(best(table(), "openmpi")["bcast"][8] != DEFAULT for _ in range(800))
    assert wrong / 800 < 0.025


def test_without_measurements_the_default_stays():
    table = LibraryTable(4, [row("bcast", "ring", 8, 8)])
    assert best(table, "openmpi")["bcast"] == {8: DEFAULT}


def mpich_table(auto_at_64: float) -> LibraryTable:
    return LibraryTable(
        4,
        [
            *(row("reduce", DEFAULT, 8, 10), row("reduce", AUTO, 8, 10), row("reduce", "binomial", 8, 5)),
            *(row("reduce", DEFAULT, 64, 10), row("reduce", AUTO, 64, auto_at_64), row("reduce", "binomial", 64, 30)),
        ],
    )


def test_the_device_of_mpich_is_put_aside_for_all_sizes_or_none():
    assert best(mpich_table(10), "mpich")["reduce"] == {8: "binomial", 64: AUTO}
    assert best(mpich_table(20), "mpich")["reduce"] == {8: DEFAULT, 64: DEFAULT}


SOUND = {
    "allreduce": 20,
    "reduce": 12,
    "bcast": 10,
    "reduce+bcast": 22,
    "2 allreduce": 24,
    "2 reduce": 14,
    "2 bcast": 13,
    "allgather": 11,
    "gather": 9,
    "scatter": 8,
    "reduce_scatter": 13,
    "alltoall": 14,
    "gather+bcast": 19,
    "reduce+scatter": 21,
    "scatter+allgather": 20,
    "reduce_scatter+allgather": 24,
    "reduce_scatter+gather": 23,
}


def defaults(**changed: float) -> list[LibraryRow]:
    times = {**SOUND, **{name.replace("_and_", "+").replace("two_", "2 "): t for name, t in changed.items()}}
    return [row(call, DEFAULT, 1024, times[call]) for call in CALLS]


def test_a_sound_library_violates_nothing():
    assert violations(LibraryTable(4, defaults())) == []


@pytest.mark.parametrize(
    ("changed", "left", "right"),
    [
        ({"allreduce": 30, "two_allreduce": 40, "reduce_scatter_and_allgather": 40}, "allreduce", "reduce+bcast"),
        (
            {"reduce": 25, "two_reduce": 30, "reduce_and_bcast": 40, "reduce_scatter_and_gather": 40},
            *("reduce", "allreduce"),
        ),
        ({"bcast": 25, "two_bcast": 30, "reduce_and_bcast": 40, "scatter_and_allgather": 40}, "bcast", "allreduce"),
        ({"reduce_scatter_and_allgather": 18}, "allreduce", "reduce_scatter+allgather"),
        ({"reduce_scatter_and_gather": 11}, "reduce", "reduce_scatter+gather"),
        ({"scatter_and_allgather": 9}, "bcast", "scatter+allgather"),
        ({"gather_and_bcast": 10}, "allgather", "gather+bcast"),
        ({"alltoall": 10}, "allgather", "alltoall"),
        ({"gather": 11.5}, "gather", "allgather"),
        ({"scatter": 10.5}, "scatter", "bcast"),
        ({"reduce_and_scatter": 12}, "reduce_scatter", "reduce+scatter"),
        ({"two_bcast": 8}, "bcast", "2 bcast"),
    ],
)
def test_each_guideline_can_be_violated(changed, left, right):
    found = violations(LibraryTable(4, defaults(**changed)))
    assert [(v.left, v.right) for v in found] == [(left, right)]
    assert found[0].low > 1
    assert found[0].ratio == pytest.approx(found[0].left_seconds / found[0].right_seconds)
    assert left in found[0].line()
    assert "1KiB" in found[0].line()


def test_more_data_take_no_less_time():
    rows = [row("bcast", DEFAULT, 64, 30), row("bcast", DEFAULT, 128, 20)]
    (found,) = violations(LibraryTable(4, rows))
    assert (found.left_bytes, found.right_bytes) == (64, 128)
    assert found.ratio == pytest.approx(1.5, rel=0.01)


def test_what_lies_within_the_noise_is_no_violation():
    assert violations(LibraryTable(4, [row("bcast", DEFAULT, 64, 22, 0.2), row("bcast", DEFAULT, 128, 20, 0.2)])) == []


def test_halves_need_two_elements():
    times = {"bcast": 10, "2 bcast": 1}
    assert violations(LibraryTable(4, [row(call, DEFAULT, 8, t) for call, t in times.items()])) == []
    assert violations(LibraryTable(4, [row(call, DEFAULT, 16, t) for call, t in times.items()])) != []
