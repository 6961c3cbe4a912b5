"""The workloads. To add one, write its steps and its row.

Each has the decomposition that was published of the program, with numbers from its source; a number that no source has
is marked assumed. Computing takes flops over `rate`, the share of a node's peak that the program reached, so that the
times are of the kind of the machine, not of one measurement.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import log2
from pathlib import Path

from kumihimo.predict.replay.trace import Trace
from kumihimo.predict.workloads.grids import around, balanced, faces, place_of, rank_at
from kumihimo.predict.workloads.npb_ft import FtPattern
from kumihimo.predict.workloads.steps import (
    CollectiveStep,
    ComputingStep,
    ExchangeStep,
    WorkloadStep,
    WorkloadTraffic,
    traced,
    traffic,
    written,
)
from kumihimo.text.errors import did_you_mean, wrong_value

WORKLOAD = "workload:"
COMPLEX, REAL = 16, 8  # bytes
K_NODE = 128e9  # flop/s
MOST_STEPS = 1_000_000  # of a rank


@dataclass(frozen=True)
class WorkloadNumber:
    """A parameter, and where its default is from."""

    default: float
    meaning: str
    source: str


Values = Mapping[str, float]
Generator = Callable[[int, int, Values], Iterator[WorkloadStep]]  # rank, ranks, values


@dataclass(frozen=True)
class Workload:
    name: str
    summary: str
    source: str
    ranks: int  # by default
    numbers: Mapping[str, WorkloadNumber]
    steps: Generator
    power_of_two: bool = False

    def values(self, given: Mapping[str, str]) -> dict[str, float]:
        found = {name: number.default for name, number in self.numbers.items()}
        for name, text in given.items():
            if name not in found:
                advice = did_you_mean(name, found, f"use {', '.join(found)}")
                raise wrong_value(f"{self.name} has no number '{name}'", None, advice)
            try:
                found[name] = float(text)
            except ValueError:
                raise wrong_value(f"--set {name} must be a number", f"'{text}'") from None
            if not 0 < found[name] < 1e18:
                raise wrong_value(f"--set {name} must be above 0 and below 1e18", text)
        return found

    def checked_ranks(self, ranks: int | None) -> int:
        found = self.ranks if ranks is None else ranks
        if not 2 <= found <= 1 << 20:
            raise wrong_value("a workload has from 2 to 1048576 ranks", found)
        if self.power_of_two and found & (found - 1):
            raise wrong_value(f"{self.name} runs on a power of two of ranks", found)
        return found


@dataclass(frozen=True)
class WorkloadCall:
    """A workload on so many ranks, with a value for each of its numbers."""

    workload: Workload
    ranks: int
    values: Values

    def source_of(self, name: str) -> str:
        number = self.workload.numbers[name]
        return number.source if self.values[name] == number.default else "--set"

    def steps(self, rank: int) -> Iterator[WorkloadStep]:
        """BadInput, once they are too many."""
        for number, step in enumerate(self.workload.steps(rank, self.ranks, self.values)):
            if number == MOST_STEPS:
                rule = f"a rank of {self.workload.name} takes at most {MOST_STEPS} steps"
                raise wrong_value(rule, "more", "make its numbers smaller, as by --set steps=1")
            yield step

    def trace(self) -> Trace:
        return traced(self.ranks, self.steps)

    def write_program(self, folder: Path) -> None:
        """play.c, which needs nothing but MPI, and its steps. BadInput: the folder has files, or no parent."""
        if folder.is_dir() and any(folder.iterdir()):
            raise wrong_value("the program needs a new folder, or an empty one", folder)
        if not folder.parent.is_dir():
            raise wrong_value("the program needs a folder in one that exists", folder, f"make {folder.parent} first")
        written(self.ranks, self.steps, folder / "steps")
        shutil.copyfile(Path(__file__).with_name("play.c"), folder / "play.c")

    def traffic(self) -> WorkloadTraffic:
        return traffic(self.ranks, self.steps)


STEPS = WorkloadNumber(2, "steps", "assumed: enough to show a step beside the next one")


def rate(share: float, source: str, peak: float = K_NODE) -> WorkloadNumber:
    return WorkloadNumber(share * peak, "flop/s of a rank", f"{source}: {share:.1%} of a peak of {peak / 1e9:.4g} GF")


def repeated(v: Values) -> range:
    return range(int(v["steps"]))


def rsdft(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """Grid points over a box of ranks: stencils of conjugate gradients with their sums, then Gram-Schmidt, whose
    matrices of orbitals are summed over all ranks in blocks."""
    grid = balanced(ranks, 3)
    side = round((v["points"] / ranks) ** (1 / 3))
    orbitals, block = v["orbitals"], v["block"]
    points = side**3
    for _ in repeated(v):
        for _ in range(int(v["iterations"])):
            yield ComputingStep(points * block * 2 * 3 * (2 * v["order"] + 1) / v["rate"], "Hamiltonian")
            yield from faces(rank, grid, (side,) * 3, int(v["order"]), int(REAL * block), "stencil")
            yield CollectiveStep("allreduce", int(REAL * block), "conjugate gradients")
        yield ComputingStep(2 * points * orbitals * block / v["rate"], "Gram-Schmidt")
        yield CollectiveStep("allreduce", int(REAL * orbitals * block), "overlaps of orbitals")
        yield CollectiveStep("allreduce", int(REAL * block), "norms")


def modylas(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """Molecular dynamics with the fast multipole method: atoms of neighbouring cells, moments of all levels, the lowest
    ones by allgather, energies by allreduce."""
    grid = balanced(ranks, 3)
    atoms = v["atoms"] / ranks
    side = max(1, round((v["cells"] / ranks) ** (1 / 3)))
    for _ in repeated(v):
        yield from faces(rank, grid, (side,) * 3, 2, int(24 * v["atoms"] / v["cells"]), "atoms of neighbouring cells")
        moment = int(COMPLEX * (v["order"] + 1) * (v["order"] + 2) / 2)
        left = side
        while left > 1:
            yield from faces(rank, grid, (left,) * 3, 1, moment, "moments of a level")
            left //= 2
        yield CollectiveStep("allgather", moment, "moments of the upper levels")
        yield ComputingStep(atoms * v["flops"] / v["rate"], "forces")
        yield CollectiveStep("allreduce", 7 * REAL, "energies and virial")


def gamess(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """Hartree-Fock of a replicated density: the density to all, integrals by units of work that a counter deals, the
    Fock matrix by allreduce."""
    size = v["functions"] * (v["functions"] + 1) / 2 * REAL
    units = max(1, int(v["units"] // ranks))
    for _ in repeated(v):
        yield CollectiveStep("bcast", int(size), "density", root=0)
        for _ in range(units):
            yield ComputingStep(v["functions"] ** 4 / 8 * v["flops"] / (units * ranks) / v["rate"], "integrals")
            if rank == 0:
                others = list(range(1, ranks))
                yield ExchangeStep(others, [REAL] * len(others), [REAL] * len(others), "counter of units")
            else:
                yield ExchangeStep([0], [REAL], [REAL], "counter of units")
        yield CollectiveStep("allreduce", int(size), "Fock matrix")


def hpl(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """The first panels of an LU factorisation on a grid of rows and columns: panels by broadcast along rows, rows of U
    by allgather along columns, updates."""
    rows, columns = sorted(balanced(ranks, 2))
    row, column = place_of(rank, (rows, columns))
    along = tuple(rank_at((row, at), (rows, columns)) for at in range(columns))
    down = tuple(rank_at((at, column), (rows, columns)) for at in range(rows))
    n, nb = v["n"], v["nb"]
    for step in repeated(v):
        left = n - step * nb
        height, width = left / rows, left / columns
        if column == step % columns:
            yield ComputingStep(height * nb * nb / v["rate"], "panel")
            if rows > 1:
                yield CollectiveStep("allreduce", int(REAL * 2 * nb), "pivots", down)
        if columns > 1:
            yield CollectiveStep("bcast", int(REAL * height * nb), "panel", along, root=step % columns)
        if rows > 1:
            yield CollectiveStep("allgather", int(REAL * width / rows * nb), "rows of U", down)
        yield ComputingStep(2 * height * width * nb / v["rate"], "update")


def transform(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """Lines of points, and transpositions of all of them by alltoall."""
    points = v["points"]
    exchanges = int(v["transpositions"])
    for _ in repeated(v):
        for _ in range(exchanges):
            yield ComputingStep(5 * points * log2(points) / ranks / exchanges / v["rate"], "lines")
            yield CollectiveStep("alltoall", int(COMPLEX * points / ranks), "transposition")


def npb_ft(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """FT of the NAS Parallel Benchmarks (npb_ft.py)."""
    pattern = FtPattern((int(v["nx"]), int(v["ny"]), int(v["nz"])), ranks, int(v["steps"]))
    groups = pattern.exchanges_of(rank)
    for _ in repeated(v):
        for group in groups:
            yield ComputingStep(pattern.flops / len(groups) / v["rate"], "lines")
            size = pattern.bytes_of_message(group) * len(group)
            yield CollectiveStep("alltoall", size, "transposition", () if len(group) == ranks else tuple(group))


def npb_cg(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """CG of the NAS Parallel Benchmarks: ranks in rows and columns, at most twice as many columns. A product is summed
    along a row by exchanges over half of it, a quarter and so on, then transposed; two sums of a number, the same."""
    columns = 2 ** (ranks.bit_length() // 2)
    rows = ranks // columns
    row, column = divmod(rank, columns)
    along = [row * columns + (column ^ (columns >> step)) for step in range(1, columns.bit_length())]
    block = int(v["rows"]) // rows * REAL
    halved = columns != rows
    half = block // 2 if halved else block
    transposed = column * rows + row if not halved else 2 * (rank // 2 % rows * rows + rank // 2 // rows) + rank % 2
    for _ in repeated(v):
        for _ in range(int(v["products"])):
            yield ComputingStep(
                2 * v["rows"] * (5 + v["nonzeros"] * (v["nonzeros"] + 1)) / ranks / v["rate"], "product"
            )
            for partner in along:
                size = half if partner == along[-1] else block
                yield ExchangeStep([partner], [size], [size], "sums along a row")
            if transposed != rank:
                yield ExchangeStep([transposed], [half], [half], "transposition")
            for partner in (*along, *along):
                yield ExchangeStep([partner], [REAL], [REAL], "sums of a number")


def nicam(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """An icosahedral grid: a rank has several rhombic regions, which have up to 19 other ranks beside them. Here the
    ranks of a box of three axes have those beside them at faces and edges, and one at a corner, which has them, too."""
    grid = balanced(ranks, 3)
    place = place_of(rank, grid)
    way = -1 if place[0] % 2 else 1
    corner = tuple(at + way for at in place)
    side = round((v["columns"] / ranks) ** 0.5)
    for _ in repeated(v):
        beside = [(other, axes) for other, axes in around(rank, grid) if axes < 3 or place_of(other, grid) == corner]
        sizes = [int(v["layers"] * v["variables"] * REAL * (side if axes == 1 else 1)) for _, axes in beside]
        yield ComputingStep(side**2 * v["layers"] * v["flops"] / v["rate"], "dynamics")
        yield ExchangeStep([other for other, _ in beside], sizes, sizes, "edges of regions")
        yield CollectiveStep("allreduce", REAL, "largest velocity")


def lans(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """A fluid on a structured grid: three dimensions of neighbours, one residual."""
    yield from neighbours(rank, ranks, v, 3, periodic=False)


def lattice_qcd(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """Wilson fermions on a lattice that three axes divide: six neighbours, half spinors, two sums an iteration."""
    yield from neighbours(rank, ranks, v, 3, periodic=True)


def neighbours(rank: int, ranks: int, v: Values, axes: int, periodic: bool) -> Iterator[WorkloadStep]:
    grid = balanced(ranks, axes)
    side = round((v["cells"] / ranks) ** (1 / axes))
    for _ in repeated(v):
        yield ComputingStep(side**axes * v["flops"] / v["rate"], "cells")
        yield from faces(rank, grid, (side,) * axes, int(v["depth"]), int(v["bytes"]), "faces", periodic)
        for _ in range(int(v["sums"])):
            yield CollectiveStep("allreduce", REAL, "sums")


def castep(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """Plane waves of bands: ranks of a k-point divide the coefficients, each band is brought to the grid and back by
    two transpositions each; then the overlaps of bands are summed."""
    groups = max(1, int(v["k_points"]))
    size = max(1, ranks // groups)
    first = min(rank // size, groups - 1) * size
    members = tuple(range(first, min(first + size, ranks) if first // size < groups - 1 else ranks))
    waves = v["waves"] / len(members)
    for _ in repeated(v):
        for _ in range(int(v["bands"])):
            for way in ("to the grid", "back"):
                yield ComputingStep(5 * v["grid"] * log2(v["grid"]) / len(members) / v["rate"], "lines")
                if len(members) > 1:
                    columns = int(COMPLEX * waves * v["columns"])
                    yield CollectiveStep("alltoall", columns, f"columns {way}", members)
        yield ComputingStep(8 * waves * v["bands"] ** 2 / v["rate"], "overlaps")
        if len(members) > 1:
            yield CollectiveStep("allreduce", int(COMPLEX * v["bands"] ** 2), "overlaps of bands", members)


def geofem(rank: int, ranks: int, v: Values) -> Iterator[WorkloadStep]:
    """Conjugate gradients of GeoFEM's cube: a box of nodes a rank, three unknowns each, one halo and three sums."""
    grid = balanced(ranks, 3)
    side = int(v["side"])
    for _ in repeated(v):
        yield from faces(rank, grid, (side,) * 3, 1, 3 * REAL, "halo", periodic=False)
        yield ComputingStep(side**3 * v["flops"] / v["rate"], "product and vectors")
        for what in ("p Ap", "r z", "norm"):
            yield CollectiveStep("allreduce", REAL, what)


def number(default: float, meaning: str, source: str) -> WorkloadNumber:
    return WorkloadNumber(default, meaning, source)


WORKLOADS = (
    Workload(
        "rsdft",
        "real-space density functional theory: neighbours and all the reductions",
        "Y. Hasegawa et al., SC11 (Gordon Bell): a silicon nanowire on K, 3.08 PFLOPS, 43.6 % of peak",
        64,
        {
            "points": number(64 * 32**3, "grid points of all ranks", "assumed: 32 cubed a rank"),
            "orbitals": number(4096, "orbitals", "assumed"),
            "block": number(64, "orbitals at once", "assumed"),
            "order": number(6, "order of the stencil: layers of a halo", "Hasegawa et al.: finite differences"),
            "iterations": number(3, "of conjugate gradients a step", "assumed"),
            "rate": rate(0.436, "Hasegawa et al."),
            "steps": STEPS,
        },
        rsdft,
    ),
    Workload(
        "modylas",
        "molecular dynamics with fast multipoles: neighbours, allgather, allreduce",
        "Y. Andoh et al., J. Chem. Theory Comput. 9 (2013): ten million atoms on 65,536 nodes of K",
        64,
        {
            "atoms": number(1e6, "atoms", "assumed: a tenth of the published system"),
            "cells": number(64 * 64, "cells of the lowest level", "assumed: 4 cubed a rank"),
            "order": number(4, "order of the multipoles", "assumed"),
            "flops": number(4e4, "flops of an atom and step", "assumed"),
            "rate": rate(0.4, "assumed"),
            "steps": STEPS,
        },
        modylas,
    ),
    Workload(
        "gamess",
        "Hartree-Fock with a replicated density: bcast, allreduce, units dealt by a counter",
        "GAMESS, RHF with MPI (the pattern); its sizes are those of a molecule of some hundred functions",
        64,
        {
            "functions": number(600, "basis functions", "assumed"),
            "units": number(512, "units of work of a step", "assumed"),
            "flops": number(20, "flops of an integral", "assumed"),
            "rate": rate(0.1, "assumed"),
            "steps": STEPS,
        },
        gamess,
    ),
    Workload(
        "hpl",
        "LU factorisation: bcast along rows, allgather along columns",
        "HPL on K, TOP500 2011-11: N 11,870,208, 10.51 PFLOPS, 93.17 % of 88,128 nodes",
        64,
        {
            "n": number(64 * 4992, "rows of the matrix", "assumed: about 80 % of the memory of 64 nodes"),
            "nb": number(192, "columns of a panel", "assumed"),
            "rate": rate(0.9317, "TOP500 2011-11"),
            "steps": number(4, "panels", "assumed"),
        },
        hpl,
    ),
    Workload(
        "npb-ft",
        "FT of the NAS Parallel Benchmarks: one transposition an iteration, two with more ranks than planes",
        "D. Bailey et al., NAS Parallel Benchmarks, FT class C",
        64,
        {
            "nx": number(512, "points along x", "class C"),
            "ny": number(512, "points along y", "class C"),
            "nz": number(512, "points along z", "class C"),
            "rate": rate(0.05, "assumed"),
            "steps": STEPS,
        },
        npb_ft,
        power_of_two=True,
    ),
    Workload(
        "npb-cg",
        "CG of the NAS Parallel Benchmarks: sums along rows of ranks by exchanges, transpositions",
        "D. Bailey et al., NAS Parallel Benchmarks, CG class B; RMATT, HPCS 2012: 1,024 ranks of K",
        64,
        {
            "rows": number(75_000, "rows of the matrix", "class B"),
            "nonzeros": number(13, "by which a row has about its square and itself of them", "class B"),
            "products": number(26, "products of a step", "25 iterations of conjugate gradients and a residual"),
            "rate": rate(0.05, "assumed, of one core", 16e9),
            "steps": number(1, "steps, of 75", "assumed: so that a replay is short"),
        },
        npb_cg,
        power_of_two=True,
    ),
    Workload(
        "global-fft",
        "Global FFT of HPC Challenge: one dimension, three transpositions",
        "HPC Challenge 2011: 34.7 TFLOPS on K",
        64,
        {
            "points": number(2**32, "points", "assumed: a quarter of the memory of 64 nodes"),
            "transpositions": number(3, "alltoalls of a transform", "HPC Challenge"),
            "rate": rate(0.05, "assumed"),
            "steps": number(1, "transforms", "HPC Challenge"),
        },
        transform,
    ),
    Workload(
        "nicam",
        "climate on an icosahedral grid: up to 19 partners",
        "H. Tomita, M. Satoh (NICAM); partners as in the RMATT study",
        64,
        {
            "columns": number(64 * 1024, "columns of the grid", "assumed"),
            "layers": number(38, "layers", "assumed"),
            "variables": number(6, "fields of an exchange", "assumed"),
            "flops": number(2000, "flops of a cell and step", "assumed"),
            "rate": rate(0.07, "assumed"),
            "steps": STEPS,
        },
        nicam,
    ),
    Workload(
        "lans",
        "a fluid on a structured grid: neighbours in three dimensions",
        "LANS, as named in the RMATT study",
        64,
        {
            "cells": number(64 * 64**3, "cells", "assumed: 64 cubed a rank"),
            "depth": number(2, "layers of a halo", "assumed"),
            "bytes": number(40, "of a cell", "five fields"),
            "flops": number(1500, "flops of a cell and step", "assumed"),
            "sums": number(1, "allreduces of a step", "assumed"),
            "rate": rate(0.1, "assumed"),
            "steps": STEPS,
        },
        lans,
    ),
    Workload(
        "lattice-qcd",
        "lattice QCD: six neighbours, two sums",
        "Wilson fermions (1,320 flops of a site); partners as in the RMATT study",
        64,
        {
            "cells": number(64 * 16**3, "sites of the divided axes", "assumed: 16 cubed a rank"),
            "depth": number(1, "layers of a halo", "Wilson fermions"),
            "bytes": number(96 * 32, "of a site: half spinors of the fourth axis, 32 sites", "Wilson fermions"),
            "flops": number(1320 * 32, "flops of a site and its fourth axis", "Wilson fermions"),
            "sums": number(2, "allreduces of an iteration", "conjugate gradients"),
            "rate": rate(0.3, "assumed"),
            "steps": STEPS,
        },
        lattice_qcd,
    ),
    Workload(
        "castep",
        "plane waves: transpositions of each band, overlaps of bands",
        "CASTEP's benchmark al3x3: 270 atoms, 88,184 plane waves, 778 bands, 2 k-points",
        64,
        {
            "waves": number(88184, "plane waves", "CASTEP, al3x3"),
            "bands": number(32, "bands of a step, of 778", "assumed: so that a step is short"),
            "k_points": number(2, "groups of ranks", "CASTEP, al3x3"),
            "grid": number(108 * 108 * 54, "points of the grid", "assumed"),
            "columns": number(3.0, "how many times as many points the columns have", "the cylinder around a sphere"),
            "rate": rate(0.1, "assumed", 9.2e9),
            "steps": number(1, "steps", "assumed"),
        },
        castep,
    ),
    Workload(
        "geofem",
        "GeoFEM's cube: conjugate gradients of 200 cubed nodes a rank",
        "GeoFEM/Cube on Reedbush-U: 2800x2000x1200 nodes over 14x10x6 = 840 processes of 18 threads",
        840,
        {
            "side": number(200, "nodes along an axis of a rank", "GeoFEM/Cube on Reedbush-U"),
            "flops": number(2 * 81 * 3, "flops of a node and iteration", "27 blocks of 3x3"),
            "rate": rate(0.05, "assumed", 604.8e9),
            "steps": STEPS,
        },
        geofem,
    ),
)


def asked(text: str, ranks: int | None) -> WorkloadCall:
    """The call that "workload:NAME" or "workload:NAME,steps=4" names, on so many ranks; None: its own number."""
    name, *words = text.removeprefix(WORKLOAD).split(",")
    found = find(name)
    given = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign:
            raise wrong_value(f"a number of {name} must be written name=value", f"'{word}'")
        given[key] = value
    values = found.values(given)
    count = found.checked_ranks(ranks)
    return WorkloadCall(found, count, values)


def find(name: str) -> Workload:
    known = [each.name for each in WORKLOADS]
    for each in WORKLOADS:
        if each.name == name:
            return each
    raise wrong_value(
        "there is no such workload", f"'{name}'", did_you_mean(name, [*known, "list"], f"use {', '.join(known)}")
    )
