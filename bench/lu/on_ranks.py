#!/usr/bin/env python3
"""lu on several ranks of this machine: depths of look-ahead, and schedules of tasks without and with noise, each in
interleaved rounds of one launch; HPL's broadcasts of panels, a launch each by turns; and depths and broadcasts as
simulate app lu predicts them on other machines.

    .venv/bin/python bench/lu/on_ranks.py [--size 4000] [--rounds 5] [--parts lookahead,predicted,tasks,noise,...]

One thread a rank, Open MPI. Seconds are medians; a ratio is the median over rounds of the time over that of the first
row in the same round, with its range.
"""

from __future__ import annotations

import argparse
from statistics import median

from kumihimo.app import catalogue, launches, lu_prediction
from kumihimo.cli import machines
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import simulation
from kumihimo.processes import mpi

GRIDS = ((2, "1x2"), (4, "2x2"), (4, "1x4"))
DEPTHS = (1, 0, 2, 4)
TASKS = (
    ("tasks", {"block": 96, "group": 4, "static_share": 75}),
    ("tasks_static", {"block": 96, "group": 4}),
    ("tasks_dynamic", {"block": 96, "group": 1}),
    ("tasks_dynamic", {"block": 96, "group": 4}),
    ("tasks_openmp", {"block": 96, "group": 1}),
    ("tasks_tbb", {"block": 96, "group": 1}),
)
ROWS = ("rows", {"block": 96, "lookahead": 1})
NOISE = "30ms/100ms"
PREDICTED = (("fugaku", "4x4x4", 1, 20_000), ("reedbush-u", "16", 4, 20_000))
PREDICTED_DEPTHS = (1, 0, 2, 4, 8)
BROADCASTS = ("chain", "chain_modified", "two_chains", "two_chains_modified", "long", "long_modified")


Rows = list[tuple[str, dict[str, int]]]


def compare(asked: argparse.Namespace, ranks: int, grid: str, rows: Rows, noise: str = "") -> None:
    application = catalogue.find("lu")
    options = {"grid": grid} | ({"noise": noise} if noise else {})
    problem = launches.AppProblem(application, str(asked.size), options, "", most_iterations=1)
    candidates = [catalogue.AppCandidate(variant, tuple(sorted(values.items()))) for variant, values in rows]
    resources = launches.Resources(ranks, 1, mpi.choose("openmpi"))
    runs = launches.run(problem, candidates, resources, turns=asked.rounds, check=False, in_order=True).results
    told = f", noise {noise}" if noise else ""
    print(f"\n{ranks} ranks, {grid}{told}, {asked.rounds} rounds:\n")
    print("| | seconds | / the first | range |\n|---|---|---|---|")
    seconds = [
        [run["seconds"] for run in runs if (run["variant"], run["parameters"]) == (variant, values)]
        for variant, values in rows
    ]
    for (variant, values), own in zip(rows, seconds):
        ratios = [mine / first for mine, first in zip(own, seconds[0])]
        name = " ".join([variant, *(f"{key}={value}" for key, value in values.items())])
        print(
            f"| {name} | {median(own):.3f} | {median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f} |",
            flush=True,
        )


def lookahead(asked: argparse.Namespace) -> None:
    for ranks, grid in GRIDS:
        compare(asked, ranks, grid, [("rows", {"block": 96, "lookahead": depth}) for depth in DEPTHS])


def tasks(asked: argparse.Namespace) -> None:
    compare(asked, 2, "1x2", [*TASKS, ROWS])
    compare(asked, 2, "2x1", [TASKS[0], ROWS])


def noise(asked: argparse.Namespace) -> None:
    compare(asked, 2, "1x2", list(TASKS), NOISE)


def predicted(asked: argparse.Namespace) -> None:
    rates = lu_prediction.measure(lu_prediction.LuQuestion(3000, 96, None), 60)
    depths = " | ".join(f"depth {depth}" for depth in PREDICTED_DEPTHS)
    print(f"\n| predicted, over depth 1 | {depths} |\n|---|{'---|' * len(PREDICTED_DEPTHS)}")
    for machine, shape, each, rows in PREDICTED:
        job = simulation.on(machines.load(machine), Ranks(shape, None, each))
        ranks = job.rank_space.ranks
        for grid in (lu_prediction.grid_of(lu_prediction.LuQuestion(rows, 96, None), ranks), (1, ranks)):
            questions = [lu_prediction.LuQuestion(rows, 96, grid, "recurrence", (), d) for d in PREDICTED_DEPTHS]
            times = [lu_prediction.predicted(each, rates, job, "flow", [1.0])["seconds"] for each in questions]
            ratios = " | ".join(f"{time / times[0]:.3f}" for time in times)
            print(f"| {machine}, {rows} rows, {grid[0]}x{grid[1]} | {ratios} |")


def broadcasts(asked: argparse.Namespace) -> None:
    """`broadcast` is an option of the problem, so each has a launch of its own in every round."""
    application = catalogue.find("lu")
    candidate = catalogue.AppCandidate(ROWS[0], tuple(sorted(ROWS[1].items())))
    seconds: dict[str, list[float]] = {name: [] for name in BROADCASTS}
    for _ in range(asked.rounds):
        for name in BROADCASTS:
            options = {"grid": "1x4", "broadcast": name}
            problem = launches.AppProblem(application, str(asked.size), options, "", most_iterations=1)
            found = launches.run(problem, [candidate], launches.Resources(4, 1, mpi.choose("openmpi")), check=False)
            seconds[name].append(found.results[0]["seconds"])
    print(f"\n4 ranks, 1x4, {asked.rounds} rounds:\n\n| | seconds | / the first | range |\n|---|---|---|---|")
    for name, own in seconds.items():
        ratios = [mine / first for mine, first in zip(own, seconds[BROADCASTS[0]])]
        print(f"| {name} | {median(own):.3f} | {median(ratios):.3f} | {min(ratios):.3f} to {max(ratios):.3f} |")


def predicted_broadcasts(asked: argparse.Namespace) -> None:
    rates = lu_prediction.measure(lu_prediction.LuQuestion(3000, 96, None), 60)
    print(f"\n| predicted, over chain | {' | '.join(BROADCASTS)} |\n|---|{'---|' * len(BROADCASTS)}")
    for machine, shape, each, rows in PREDICTED:
        job = simulation.on(machines.load(machine), Ranks(shape, None, each))
        ranks = job.rank_space.ranks
        for grid in (lu_prediction.grid_of(lu_prediction.LuQuestion(rows, 96, None), ranks), (1, ranks)):
            times = [
                lu_prediction.predicted(
                    lu_prediction.LuQuestion(rows, 96, grid, "recurrence", broadcast=name), rates, job, "flow", [1.0]
                )["seconds"]
                for name in BROADCASTS
            ]
            ratios = " | ".join(f"{time / times[0]:.3f}" for time in times)
            print(f"| {machine}, {rows} rows, {grid[0]}x{grid[1]} | {ratios} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", default="lookahead,predicted,tasks,noise,broadcasts,predicted_broadcasts")
    asked = parser.parse_args()
    parts = {
        "lookahead": lookahead,
        "tasks": tasks,
        "noise": noise,
        "predicted": predicted,
        "broadcasts": broadcasts,
        "predicted_broadcasts": predicted_broadcasts,
    }
    for part in asked.parts.split(","):
        parts[part](asked)


if __name__ == "__main__":
    main()
