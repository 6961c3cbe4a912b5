"""Predictions of an iteration of a Krylov method in an application: the same halo exchange and reductions that run, as
one program set, on a described machine."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from statistics import median

from kumihimo import _collectives, _krylov_programs, _machine
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import ALL, Ranks
from kumihimo.predict import noise as noises
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import BadInput, KumihimoError, wrong_value
from kumihimo.text.json_types import JsonObject

HARTREE_FOCK = "hartree-fock"  # whose predictions are in hartree_fock_prediction
PLAIN = "cg"  # what the other methods are compared with
Box = tuple[int, int, int]


MOST_ITERATIONS = 1000
SEEDS = 3  # of noise; the median counts


@dataclass(frozen=True)
class AppNoise:
    """Noise that takes the processor from ranks, as --noise names it, and how many iterations in a row meet it."""

    text: str
    seed: int = 1
    iterations: int = 50

    def seeded(self, ordinal: int) -> noises.NamedNoise:
        made = noises.read(self.text)
        made.model.seed = self.seed + ordinal
        return made

    @property
    def members(self) -> JsonObject:
        parsed = noises.parsed(self.text)
        rate = {"events_per_second": parsed.events_per_second, "seconds": parsed.seconds} if parsed.interval else {}
        return {"text": self.text, **rate, "seed": self.seed}


@dataclass
class IterationRequest:
    """Iterations to predict. `cells`: of a rank; or `size`: of all ranks."""

    application: str
    method: str = ALL
    cells: Box | None = None
    size: Box | None = None
    grid: Box | None = None  # of ranks
    preconditioner: str = ""
    algorithm: str = "recursive_doubling"
    s: int = 4
    model: str = "flow"
    noise: AppNoise | None = None


def application_named(text: str, others: Sequence[str] = ()) -> str:
    """The name in the table, which has no hyphen; `others` are known, too."""
    known = [*_krylov_programs.applications(), *others]
    name = text.replace("-", "_")
    if name not in known:
        raise wrong_value(f"the application must be one of {', '.join(known).replace('_', '-')}", f"'{text}'")
    return name


def methods(asked: IterationRequest) -> list[str]:
    known = _krylov_programs.methods()
    if asked.method == ALL:
        return known
    if asked.method not in known:
        raise wrong_value(f"--method must be {ALL} or one of {', '.join(known)}", f"'{asked.method}'")
    return [asked.method]


def box(text: str, name: str) -> Box:
    """ "200x200x200", or "200" of a cube."""
    words = text.split("x")
    if not all(re.fullmatch(r"[0-9]{1,9}", word) and int(word) > 0 for word in words) or len(words) not in (1, 3):
        raise wrong_value(f"{name} must be three lengths, such as 64x64x64", f"'{text}'")
    lengths = [int(word) for word in words] * (3 if len(words) == 1 else 1)
    return lengths[0], lengths[1], lengths[2]


def grid_of(ranks: int) -> Box:
    """The factors of a number of ranks that are nearest to each other, the greatest first."""
    best = (ranks, 1, 1)
    for z in range(1, round(ranks ** (1 / 3)) + 2):
        if ranks % z:
            continue
        rest = ranks // z
        y = next(y for y in range(int(rest**0.5), 0, -1) if rest % y == 0)
        best = min(best, (rest // y, y, z), key=sum)
    most, middle, least = sorted(best, reverse=True)
    return most, middle, least


def noise(text: str, seed: int | None, iterations: int | None) -> AppNoise:
    """As `simulate` takes it: "periodic:100us/1ms,seed=7"."""
    own = noises.read(text).model.seed
    if seed is not None and any(word.startswith("seed=") for word in noises.parsed(text).words):
        raise wrong_value("--seed excludes seed= of --noise", seed, "leave one of them out")
    if iterations is not None and not 1 <= iterations <= MOST_ITERATIONS:
        raise wrong_value(f"--iterations must be 1 to {MOST_ITERATIONS}", iterations)
    if seed is not None and not 0 <= seed < 2**63:
        raise wrong_value("--seed must be 0 or more", seed)
    return AppNoise(text, own if seed is None else seed, 50 if iterations is None else iterations)


def cells_for_each(whole: tuple[int, ...] | None, grid: Sequence[int]) -> None:
    """BadInput: fewer cells than ranks along an axis, as the application says."""
    for n, p, axis in zip(whole or (), grid, ("first", "second", "third")):
        if p > n:
            raise wrong_value(
                f"{p} ranks along the {axis} axis need at least as many cells", n, "use a larger --size or fewer ranks"
            )


def iteration(asked: IterationRequest, method: str, ranks: int) -> _krylov_programs.Iteration:
    made = _krylov_programs.Iteration()
    made.application, made.method, made.preconditioner = asked.application, method, asked.preconditioner
    grid = asked.grid or grid_of(ranks)
    if prod(grid) != ranks:
        raise wrong_value(
            f"--grid must have {ranks} ranks", "x".join(map(str, grid)), "leave it out, or change --ranks"
        )
    cells_for_each(asked.size, grid)
    made.ranks = list(grid)
    made.cells = list(asked.cells or [ceil(n / p) for n, p in zip(asked.size or (), grid)])
    made.s = asked.s
    return made


def predicted(asked: IterationRequest, method: str, job: _machine.Job) -> JsonObject:
    """The time of an iteration, and of its parts if each had the machine for itself; what is hidden is the sum of these
    less the time."""
    space = job.rank_space
    allreduce = arguments.variants("allreduce", asked.algorithm)[0]
    it = iteration(asked, method, space.ranks)
    per_set = _krylov_programs.iterations_of(it)
    accuracy = []

    def seconds(**parts: bool) -> float:
        for name in ("halos", "reductions", "computing"):
            setattr(it, name, parts.get(name, not parts))
        found = Setting(asked.model, job).predict(_krylov_programs.programs(it, allreduce, space))
        accuracy.append(found.members["accuracy"])
        return found.seconds / per_set

    total = seconds()
    noisy = with_noise(asked.noise, it, allreduce, job) if asked.noise else {}
    halo, reductions, computing = seconds(halos=True), seconds(reductions=True), seconds(computing=True)
    return {
        "application": asked.application,
        "method": method,
        "seconds": total,
        "halo_seconds": halo,
        "reductions_seconds": reductions,
        "computing_seconds": computing,
        "hidden_seconds": max(0.0, halo + reductions + computing - total),
        **noisy,
        "ranks": space.ranks,
        "grid": list(it.ranks),
        "cells": list(it.cells),
        "iterations_of_a_step": per_set,
        "algorithm": allreduce.name,
        "machine": job.machine.name,
        "shape": simulation.shape_of(job.machine),
        "model": asked.model,
        "accuracy": accuracy[0],
    }


def with_noise(
    noise: AppNoise, it: _krylov_programs.Iteration, allreduce: _collectives.Variant, job: _machine.Job
) -> JsonObject:
    """The mean time of one of many iterations in a row: without noise, and with noise of several seeds."""
    it.steps = 1
    it.steps = ceil(noise.iterations / _krylov_programs.iterations_of(it))
    programs, made = _krylov_programs.programs(it, allreduce, job.rank_space), _krylov_programs.iterations_of(it)

    def seconds(of: noises.NamedNoise | None) -> float:
        return Setting("exact", job, noise=of, options={"noise_alone": True}).predict(programs).seconds / made

    found = sorted(seconds(noise.seeded(k)) for k in range(SEEDS))
    it.steps = 1
    return {
        "quiet_seconds": seconds(None),
        "noisy_seconds": median(found),
        "noisy_range_seconds": [found[0], found[-1]],
        "noise": {**noise.members, "iterations": made},
    }


def smaller_jobs(machine: _machine.Machine, asked: Ranks) -> Iterator[_machine.Job]:
    """Jobs of one node and more on a machine, twice as many nodes each time, up to the shape asked for; on a single
    node of one rank and more."""
    whole = simulation.on(machine, replace(asked, ranks=None))
    if machine.family == "single_node":
        most = whole.rank_space.ranks
        for ranks in [2**k for k in range(most.bit_length()) if 2**k < most] + [most]:
            yield simulation.on(machine, replace(asked, ranks=ranks, ranks_per_node=None))
        return
    if whole.machine.on_switches:
        most = whole.machine.nodes
        counts = [2**k for k in range(most.bit_length()) if 2**k < most] + [most]
        shapes = [str(n) for n in counts]
    else:
        shapes = list(reversed(list(halved(str(whole.machine.shape)))))
    for shape in shapes:
        with contextlib.suppress(KumihimoError):  # no part of the machine has this shape
            yield simulation.on(machine, replace(asked, shape=shape, ranks=None))


def halved(shape: str) -> Iterator[str]:
    """A shape, and the same with its longest axis halved until no axis can be."""
    axes = [(int(word.rstrip("m")), word.endswith("m")) for word in shape.split("x")]
    while True:
        yield "x".join(f"{n}{'m' if mesh else ''}" for n, mesh in axes)
        longest = max(range(len(axes)), key=lambda a: axes[a][0])
        if axes[longest][0] < 2:
            return
        axes[longest] = (axes[longest][0] // 2, axes[longest][1])


def crossovers(asked: IterationRequest, jobs: Iterator[_machine.Job]) -> Iterator[JsonObject]:
    """For each number of ranks the seconds of an iteration by method; with noise also `noisy_seconds`."""
    for job in jobs:
        found = {method: predicted(asked, method, job) for method in methods(replace(asked, method=ALL))}
        row: dict[str, object] = {"ranks": job.rank_space.ranks}
        if asked.noise:
            row["seconds"] = {method: each["quiet_seconds"] for method, each in found.items()}
            row["noisy_seconds"] = {method: each["noisy_seconds"] for method, each in found.items()}
        else:
            row["seconds"] = {method: each["seconds"] for method, each in found.items()}
        yield row


def first_faster(rows: list[JsonObject], which: str = "seconds") -> dict[str, int | None]:
    """Number of ranks from which on each other method is faster than plain conjugate gradients."""
    first: dict[str, int | None] = {}
    for method in rows[0][which]:
        if method == PLAIN:
            continue
        since = None
        for row in rows:
            faster = row[which][method] < row[which][PLAIN]
            since = (since or row["ranks"]) if faster else None
        first[method] = since
    return first


def check(asked: IterationRequest) -> None:
    if (asked.cells is None) == (asked.size is None):
        both = asked.cells is not None
        raise BadInput(
            "an iteration needs either --cells of a rank or --size of all ranks",
            "leave one of them out" if both else "add --cells 64x64x64",
        )
    methods(asked)
