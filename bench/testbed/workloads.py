#!/usr/bin/env python3
"""Workloads on a testbed: the time of the program that plays each, beside its replay on the testbed's machine file.

    bench/testbed/workloads.py [--shape 3x3x3] [--rate 50Mbit/s] [--rounds 5] [--mpi openmpi]

All workloads are played by turns, in a new order in each round; computing is short beside messages. The time is that
of the slowest rank, the median of the rounds with their range. A launch opens its connections within that time."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from kumihimo.processes import mpi
from kumihimo.text.quantities import seconds_text

KUMIHIMO = str(Path(sys.executable).parent / "kumihimo")
NAME = f"bench{os.getpid()}"
WORKLOADS = (
    "lattice-qcd,rate=2e12",
    "lans,rate=2e12,steps=4",
    "nicam,rate=1e12,steps=8",
    "modylas,rate=1e13,steps=4",
    "rsdft,rate=1e13,points=262144,orbitals=256,block=16",
    "castep,rate=1e12,bands=8,waves=20000",
    "global-fft,points=2097152,rate=1e12",
    "geofem,side=60,rate=1e12,steps=8",
    "hpl,n=3456,nb=64,rate=1e12",
)
LAUNCH_SECONDS = 120


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--shape", default="3x3x3")
    words.add_argument("--rate", default="50Mbit/s")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--mpi", default="openmpi")
    asked = words.parse_args()
    installation = mpi.choose(asked.mpi)
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        command("testbed", "up", asked.shape, "--rate", asked.rate, "--name", NAME)
        try:
            table(asked, installation, Path(folder))
        finally:
            command("testbed", "down", "--name", NAME)


def table(asked: argparse.Namespace, installation: mpi.Installation, folder: Path) -> None:
    ranks = json.loads(command("testbed", "status", "--name", NAME, "--json"))["results"][0]["nodes"]
    machine = folder / "testbed.toml"
    command("testbed", "machine", "--measure", "--name", NAME, "--out", machine)
    times: dict[str, list[float]] = {each: [] for each in WORKLOADS}
    for each in WORKLOADS:
        write(each, ranks, folder / name_of(each), installation)
    for number in range(asked.rounds):
        order = list(WORKLOADS)
        random.Random(number).shuffle(order)
        for each in order:
            times[each].append(played(folder / name_of(each), installation, ranks))
    where = f"{ranks} ranks on {asked.shape}, {asked.rate}"
    print(f"\n## Workloads, {where}, {installation.family} {installation.version}\n")
    print("| workload | played | range | replayed (flow) | replayed / played |")
    print("|---|---:|---|---:|---:|")
    for each, found in times.items():
        told = json.loads(
            command(
                *("replay", f"workload:{each}", "--ranks", ranks, "--mpi", installation.family),
                *("--machine", machine, "--model", "flow", "--json"),
            )
        )
        predicted, middle = told["results"][0]["seconds"], median(found)
        span = f"{seconds_text(min(found))} to {seconds_text(max(found))}"
        cells = [each, seconds_text(middle), span, seconds_text(predicted), f"{predicted / middle:.2f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


def name_of(workload: str) -> str:
    return workload.partition(",")[0]


def write(workload: str, ranks: int, folder: Path, installation: mpi.Installation) -> None:
    name, *numbers = workload.split(",")
    sets = [word for number in numbers for word in ("--set", number)]
    command("workload", name, "--ranks", ranks, "--program", folder, *sets)
    near = installation.launcher.parent
    compiler = near / f"mpicc.{installation.family}"
    compiler = compiler if compiler.is_file() else near / "mpicc"
    subprocess.run([compiler, "-O2", "-o", folder / "play", folder / "play.c"], check=True)


def played(folder: Path, installation: mpi.Installation, ranks: int) -> float:
    launch = [*installation.arguments(ranks), str(folder / "play"), str(folder / "steps")]
    return float(command("testbed", "run", "--name", NAME, "--", *launch).split()[0])


def command(*words: object) -> str:
    whole = [KUMIHIMO, *map(str, words)]
    return subprocess.run(whole, stdout=subprocess.PIPE, text=True, check=True, timeout=LAUNCH_SECONDS).stdout


if __name__ == "__main__":
    main()
