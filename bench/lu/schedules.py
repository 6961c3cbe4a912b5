#!/usr/bin/env python3
"""Schedules of the tasks of lu on the threads of a node, with injected noise and without, in interleaved rounds.

    .venv/bin/python bench/lu/schedules.py [--size 6000] [--threads 2] [--rounds 7] [--noise 30ms/100ms] [--parts ...]

A part is one launch, whose variants take turns in the same processes. `noisy` and `quiet`: the mixture beside both pure
schedules, OpenMP and oneTBB; `quiet` also beside the variant rows, whose BLAS library has all threads. `wide`: the same
with as many columns in a dynamic update as in a static one. `sweep`: the mixture by its static share, with noise and
without, and the share that `--variant auto` finds. Seconds are the medians of the rounds; a ratio is the median over
rounds of the time over that of the first row in the same round, with its range.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from kumihimo.app import catalogue, launches

ROOT = Path(__file__).resolve().parents[2]
KUMIHIMO = ROOT / ".venv/bin/kumihimo"
SCHEDULES = "tasks,tasks_static,tasks_dynamic,tasks_openmp,tasks_tbb"
SHARES = (75, 0, 25, 50, 90, 100)  # the first is the default


def launch(asked: argparse.Namespace, variants: str, *settings: str) -> list[dict]:
    command = [str(KUMIHIMO), "app", "lu", "--size", str(asked.size), "--threads", str(asked.threads), "--json"]
    command += ["--variant", variants, "--runs", str(asked.rounds), "--triad", "1", "--peak", "1"]
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    if done.returncode != 0:
        raise SystemExit(f"schedules.py: {' '.join(command)} ended with {done.returncode}: {done.stderr[-800:]}")
    rows = json.loads(done.stdout)["results"]
    for row in rows:
        if row.get("right") is False:
            raise SystemExit(f"schedules.py: {row['variant']} is wrong")
    return rows


def name_of(row: dict) -> str:
    return " ".join([row["variant"], *(f"{name}={value}" for name, value in row["parameters"].items())])


def table(title: str, rows: list[dict], base: dict, asked: argparse.Namespace) -> None:
    print(f"\n## {title}\n\n| | seconds | GFLOPS | / {name_of(base)} | range |\n|---|---|---|---|---|")
    for row in rows:
        if "not_applicable" in row:
            print(f"| {name_of(row)} | {row['not_applicable']} | | | |")
            continue
        ratios = [mine / other for mine, other in zip(row["seconds_of_runs"], base["seconds_of_runs"])]
        seconds = median(row["seconds_of_runs"])
        gflops = asked.size**2 * (2 / 3 * asked.size + 1.5) / seconds * 1e-9
        print(
            f"| {name_of(row)} | {seconds:.3f} | {gflops:.1f} | {median(ratios):.3f} "
            f"| {min(ratios):.3f} to {max(ratios):.3f} |",
            flush=True,
        )


def noisy(asked: argparse.Namespace) -> None:
    rows = launch(asked, SCHEDULES, f"noise={asked.noise}")
    table(f"With noise, {asked.noise} on one thread", rows, rows[0], asked)


def quiet(asked: argparse.Namespace) -> None:
    rows = launch(asked, SCHEDULES + ",rows")
    table("Without noise", rows, rows[0], asked)


def wide(asked: argparse.Namespace) -> None:
    rows = launch(asked, "tasks,tasks_dynamic", f"noise={asked.noise}", "group=4")
    table(f"Wide dynamic updates, with noise, {asked.noise}", rows, rows[0], asked)


def sweep(asked: argparse.Namespace) -> None:
    """All shares take turns in one launch."""
    application = catalogue.find("lu")
    parameters = application.defaults("tasks")
    candidates = [
        catalogue.AppCandidate("tasks", tuple(sorted({**parameters, "static_share": share}.items())))
        for share in SHARES
    ]
    for noise in (asked.noise, ""):
        problem = launches.AppProblem(
            application, str(asked.size), {"noise": noise} if noise else {}, "", most_iterations=1
        )
        alone = launches.Resources(1, asked.threads, None)
        runs = launches.run(problem, candidates, alone, turns=asked.rounds, check=False, in_order=True).results
        rows = [
            {
                "variant": "tasks",
                "parameters": {"static_share": share},
                "seconds_of_runs": [run["seconds"] for run in runs if run["parameters"]["static_share"] == share],
            }
            for share in SHARES
        ]
        table(f"Static share, {f'with noise, {noise}' if noise else 'without noise'}", rows, rows[0], asked)
        print(f"\n`--variant auto --set block=96` chose: {chosen(asked, noise)}.", flush=True)


def chosen(asked: argparse.Namespace, noise: str) -> str:
    """What the tuner finds."""
    command = [str(KUMIHIMO), "app", "lu", "--size", str(asked.size), "--threads", str(asked.threads), "--json"]
    command += ["--variant", "auto", "--set", "block=96", *(["--set", f"noise={noise}"] if noise else [])]
    with tempfile.TemporaryDirectory() as folder:  # no choice of before
        environment = dict(os.environ) | {"KUMIHIMO_WISDOM_FOLDER": folder}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"schedules.py: {' '.join(command)} ended with {done.returncode}: {done.stderr[-800:]}")
    (made,) = json.loads(done.stdout)["choices"]
    return name_of(made)


PARTS = {"noisy": noisy, "quiet": quiet, "wide": wide, "sweep": sweep}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=6000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--noise", default="30ms/100ms")
    parser.add_argument("--parts", default="noisy,quiet,wide")
    asked = parser.parse_args()
    print(f"\nN = {asked.size}, {asked.threads} threads, {asked.rounds} rounds.")
    for part in asked.parts.split(","):
        if part not in PARTS:
            raise SystemExit(f"schedules.py: --parts must be of {', '.join(PARTS)} (got '{part}')")
        PARTS[part](asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
