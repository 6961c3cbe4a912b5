#!/usr/bin/env python3
"""The project's collectives on a testbed over each network between nodes: messages of the MPI library, and libfabric.

    bench/testbed/networks.py [--shape 3x3x3] [--rate 50Mbit/s] [--rounds 5] [--mpi openmpi]
                              [--collectives allreduce=rotated_rings,bcast=trinaryx6]
                              [--bytes 8,4KiB,64KiB,256KiB,1MiB] [--against mpi]

A C program (collectives.c) is launched under `kumihimo run` with one algorithm and each network by turns, in a new
order in each round. Times are of the slowest rank: the median of the calls of a launch, then of the launches. The ratio
is the time over mpi by the time over fabric, with its 95 % interval over the rounds. `--against message` compares with
fabric whose receivers tell the place of each long message by itself (KUMIHIMO_FABRIC_PLACES) instead."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from collectives import CALLS, KUMIHIMO, LAUNCH_SECONDS, LIMIT, built
from kumihimo import _measure
from kumihimo.processes import mpi
from kumihimo.text.quantities import seconds_text
from kumihimo.text.sizes import parse_sizes, with_unit

NAME = f"bench{os.getpid()}"
BY_MESSAGE = {"KUMIHIMO_FABRIC_PLACES": "message"}
NETWORKS = {"mpi": ("mpi", {}), "fabric": ("fabric", {}), "message": ("fabric", BY_MESSAGE)}
USUAL = "allreduce=rotated_rings,bcast=trinaryx6,allgather=rotated_rings,reduce_scatter=rotated_rings,alltoall=linear"


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--shape", default="3x3x3")
    words.add_argument("--rate", default="50Mbit/s")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--mpi", default="openmpi")
    words.add_argument("--collectives", default=USUAL)
    words.add_argument("--bytes", default="8,4KiB,64KiB,256KiB,1MiB")
    words.add_argument("--against", choices=("mpi", "message"), default="mpi")
    asked = words.parse_args()
    installation = mpi.choose(asked.mpi)
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        program = built(installation, Path(folder))
        subprocess.run([KUMIHIMO, "testbed", "up", asked.shape, "--rate", asked.rate, "--name", NAME], check=True)
        try:
            for each in asked.collectives.split(","):
                table(asked, installation, program, *each.split("="))
        finally:
            subprocess.run([KUMIHIMO, "testbed", "down", "--name", NAME], check=True, stdout=subprocess.DEVNULL)


def table(
    asked: argparse.Namespace, installation: mpi.Installation, program: Path, collective: str, algorithm: str
) -> None:
    sizes = parse_sizes(asked.bytes)
    ranks = 1
    for extent in asked.shape.split("x"):
        ranks *= int(extent.rstrip("m"))
    command = [*installation.arguments(ranks), str(program), collective, str(CALLS), str(LIMIT), *map(str, sizes)]
    both = (asked.against, "fabric")
    times: dict[str, dict[int, list[float]]] = {network: {size: [] for size in sizes} for network in both}
    for number in range(asked.rounds):
        order = list(both)
        random.Random(number).shuffle(order)
        for network in order:
            for size, seconds in launched(command, f"{collective}={algorithm}", network).items():
                times[network][size].append(seconds)
    where = f"{ranks} ranks on {asked.shape}, {asked.rate}, {installation.family} {installation.version}"
    print(f"\n## {collective} by {algorithm}, {where}\n")
    heads = ("over mpi", "over fabric") if asked.against == "mpi" else ("places by message", "by call")
    print(f"| bytes | {' | '.join(heads)} | {asked.against} / fabric | interval |\n|---:|---:|---:|---:|---|")
    for size in sizes:
        slow, fast = (times[network][size] for network in both)
        if len(slow) != asked.rounds or len(fast) != asked.rounds:
            print(f"| {with_unit(size)} | - | - | - | |")
            continue
        ratio = _measure.compare(list(zip(slow, fast)))
        cells = [with_unit(size), *(seconds_text(median(each)) for each in (slow, fast))]
        cells += [f"{ratio.ratio:.2f}", f"{ratio.ratio_low:.2f}..{ratio.ratio_high:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def launched(command: list[str], algorithm: str, network: str) -> dict[int, float]:
    """Seconds of a call by size."""
    name, settings = NETWORKS[network]
    words = [KUMIHIMO, "testbed", "run", "--name", NAME, "--", KUMIHIMO, "run", "--network", name]
    done = subprocess.run(
        [*words, "--algorithm", algorithm, "--", *command],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=LAUNCH_SECONDS,
    )
    ran = f"{algorithm.partition('=')[2]}, "
    if done.returncode != 0 or ran not in done.stderr or "used instead" in done.stderr:
        raise SystemExit(f"{algorithm} over {network}: {done.stderr}")
    found: dict[int, list[float]] = {}
    for line in done.stdout.splitlines():
        size, seconds = line.split()
        found.setdefault(int(size), []).append(float(seconds))
    return {size: median(all_of_them) for size, all_of_them in found.items()}


if __name__ == "__main__":
    main()
