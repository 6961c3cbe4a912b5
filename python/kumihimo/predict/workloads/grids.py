"""Grids of ranks and of their cells, for workloads whose ranks are neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from kumihimo.predict.workloads.steps import ExchangeStep


def balanced(ranks: int, axes: int) -> tuple[int, ...]:
    """The grid of so many axes whose longest axis is shortest, as MPI_Dims_create has it."""
    best: tuple[int, ...] = ()

    def search(left: int, rest: int, so_far: tuple[int, ...], most: int) -> None:
        nonlocal best
        if rest == 1:
            found = (*so_far, left)
            if left <= most and (not best or (max(found), sum(found)) < (max(best), sum(best))):
                best = found
            return
        for length in range(min(left, most), 0, -1):
            if left % length == 0:
                search(left // length, rest - 1, (*so_far, length), length)

    search(ranks, axes, (), ranks)
    return best


def place_of(rank: int, grid: Sequence[int]) -> tuple[int, ...]:
    """The last axis runs fastest."""
    found = []
    for length in reversed(grid):
        found.append(rank % length)
        rank //= length
    return tuple(reversed(found))


def rank_at(place: Sequence[int], grid: Sequence[int]) -> int:
    rank = 0
    for at, length in zip(place, grid):
        rank = rank * length + at % length
    return rank


def faces(
    rank: int, grid: Sequence[int], cells: Sequence[int], depth: int, cell_bytes: int, what: str, periodic: bool = True
) -> list[ExchangeStep]:
    """An exchange with both neighbours along each axis: `depth` layers of a rank's box of `cells`."""
    place = place_of(rank, grid)
    partners: list[int] = []
    sizes: list[int] = []
    for axis, length in enumerate(grid):
        size = depth * prod(cells) // cells[axis] * cell_bytes
        for way in (-1, 1):
            at = place[axis] + way
            if length == 1 or (not periodic and not 0 <= at < length):
                continue
            partners.append(rank_at([*place[:axis], at, *place[axis + 1 :]], grid))
            sizes.append(size)
    return [ExchangeStep(partners, sizes, sizes, what)] if partners else []


def around(rank: int, grid: Sequence[int]) -> list[tuple[int, int]]:
    """The neighbours along axes, edges and corners, without the edges of the grid: (rank, axes that differ)."""
    place = place_of(rank, grid)
    found = {}
    for way in product((-1, 0, 1), repeat=len(grid)):
        differs = sum(1 for each in way if each)
        at = [a + b for a, b in zip(place, way)]
        if differs and all(0 <= a < length for a, length in zip(at, grid)):
            found[rank_at(at, grid)] = differs
    return sorted(found.items())
