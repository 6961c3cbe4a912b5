"""Predictions of a sweep or time step of a stencil application: the halo exchange that `kumihimo app` runs beside the
cells that need no ghosts, then the others, on a described machine."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from kumihimo import _machine, _predict, _programs
from kumihimo.app.prediction import IterationRequest, cells_for_each, grid_of
from kumihimo.collectives.arguments import ALL
from kumihimo.predict import simulation
from kumihimo.text.errors import BadInput, not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject


@dataclass(frozen=True)
class Stencil:
    """`bytes` and `flops` of a cell as the application's rooflines count them: every array once a step, float32."""

    step: str
    points: int  # of the halo exchange
    bytes: int
    flops: int
    is_flat: bool = False
    reversed_inner: bool = False  # the application's size is along i, j, k, with the boundary

    def cells_of(self, size: tuple[int, int, int]) -> tuple[int, ...]:
        """Cells that ranks divide, along the axes of the grid, of the application's --size."""
        if not self.reversed_inner:
            return size
        if min(size) < 3:
            raise wrong_value("each axis of --size must have 3 points or more", "x".join(map(str, size)))
        return tuple(n - 2 for n in reversed(size))


STENCILS = {
    "himeno": Stencil("sweep", 27, 60, 34, reversed_inner=True),
    "fdtd2d": Stencil("time step", 7, 24, 11, is_flat=True),
}


def check(asked: IterationRequest, crossover: bool) -> None:
    """BadInput: what only solvers have."""
    for given, name in (
        (asked.method != ALL, "--method"),
        (asked.preconditioner, "--preconditioner"),
        (asked.noise, "--noise"),
        (crossover, "--crossover"),
    ):
        if given:
            raise not_applicable(f"{asked.application} is no solver and takes no {name}", None, "leave it out")
    if (asked.cells is None) == (asked.size is None):
        raise BadInput("a step needs either --cells of a rank or --size of all ranks", "give one of them")
    if STENCILS[asked.application].is_flat:
        for box, name in ((asked.cells, "--cells"), (asked.size, "--size"), (asked.grid, "--grid")):
            if box is not None and box[2] != 1:
                raise wrong_value(f"{name} of {asked.application} must have 1 along the third axis", box[2])


def predicted(asked: IterationRequest, job: _machine.Job) -> JsonObject:
    """The time of a step and of its parts, each alone; hidden is what they take less together."""
    stencil, space = STENCILS[asked.application], job.rank_space
    whole = asked.size and stencil.cells_of(asked.size)
    grid = asked.grid or grid_for(space.ranks, whole, stencil.is_flat)
    if prod(grid) != space.ranks:
        raise wrong_value(f"--grid must have {space.ranks} ranks", "x".join(map(str, grid)), "leave it out")
    cells_for_each(whole, grid)
    cells = asked.cells or tuple(ceil(n / p) for n, p in zip(whole or (), grid))
    flops, memory = job.machine.compute_rates
    on_node = ceil(space.ranks / job.machine.nodes)
    computing = prod(cells) * on_node * max(stencil.bytes / memory, stencil.flops / flops if flops else 0.0)
    box = "x".join(map(str, cells))

    def seconds(compute: float) -> _predict.Prediction:
        text = f"{box},points={stencil.points},type=float32,mesh,compute={compute!r}"
        programs = _programs.halo(text, list(grid), [False] * len(grid))
        return _predict.predict(asked.model, programs, _predict.Place(job))

    total, halo = seconds(computing), seconds(0.0).seconds
    return {
        "application": asked.application,
        "method": stencil.step,
        "seconds": total.seconds,
        "halo_seconds": halo,
        "reductions_seconds": 0.0,
        "computing_seconds": computing,
        "hidden_seconds": max(0.0, halo + computing - total.seconds),
        "ranks": space.ranks,
        "grid": list(grid),
        "cells": list(cells),
        "machine": job.machine.name,
        "shape": simulation.shape_of(job.machine),
        "model": asked.model,
        "accuracy": total.accuracy,
    }


def grid_for(ranks: int, whole: tuple[int, ...] | None, is_flat: bool) -> tuple[int, int, int]:
    """As the application divides `whole`: the least faces of a rank."""
    if whole is None:
        return flat_grid_of(ranks) if is_flat else grid_of(ranks)

    def faces(grid: tuple[int, int, int]) -> int:
        box = [ceil(n / p) for n, p in zip(whole, grid)]
        return sum(prod(box) // n for n, p in zip(box, grid) if p > 1)

    divisors = [n for n in range(1, ranks + 1) if ranks % n == 0]
    grids = [(x, y, ranks // x // y) for x in divisors for y in divisors if ranks % (x * y) == 0]
    fitting = [g for g in grids if all(p <= n for p, n in zip(g, whole))]
    return min(fitting or grids, key=faces)


def flat_grid_of(ranks: int) -> tuple[int, int, int]:
    y = next(y for y in range(int(ranks**0.5), 0, -1) if ranks % y == 0)
    return ranks // y, y, 1
