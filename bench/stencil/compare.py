#!/usr/bin/env python3
"""Himeno and 2D FDTD beside Devito, Meep and plain loops, in one interleaved run.

    .venv/bin/python bench/stencil/compare.py [--what himeno,fdtd2d] [--sizes M,L] [--points 1024] [--threads 1,2]
        [--rounds 7] [--clock wall] [--devito PYTHON] [--meep PYTHON]

--devito and --meep: Python interpreters that have them. Every round launches each candidate once; a launch reports the
best of three repetitions. --clock processor: by the processor time of a process, for a machine that others use, too.
Medians of rounds, the median of a candidate's ratios to the first peer of its round and their 95 % interval (of the
median, by order statistics), and for Himeno the share of the bound: 60 bytes a cell at the rate of the triad.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from math import comb
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "build/release/bench/stencil/stencil_bench"
PEERS = Path(__file__).parent / "peers"
SIZES = {"S": "64x64x128", "M": "128x128x256", "L": "256x256x512"}
SWEEPS = {"S": 100, "M": 24, "L": 8}
STEPS, FLOPS_OF_CELL, BYTES_OF_CELL = 96, 34, 60


def rates(command: list[str], threads: int) -> dict[str, float]:
    """What a candidate prints."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(f"compare.py: {' '.join(command)} ended with {ended.returncode}: {ended.stderr[-500:]}")
    return json.loads(next(line for line in ended.stdout.splitlines() if line.startswith("{")))


def interval(values: list[float]) -> tuple[float, float]:
    """95 % of the median, or the range of few values."""
    ordered, n = sorted(values), len(values)
    low = 0
    while low + 1 < n / 2 and 2 * sum(comb(n, i) for i in range(low + 2)) / 2**n <= 0.05:
        low += 1
    return ordered[low], ordered[n - 1 - low]


def candidates_of(what: str, size: str, threads: int, asked: argparse.Namespace) -> dict[str, list[str]]:
    """The first is what the others are compared with."""
    found: dict[str, list[str]] = {}
    repeats = str(SWEEPS.get(size, STEPS))
    if asked.devito:
        points = SIZES.get(size, size)
        found["Devito"] = [asked.devito, str(PEERS / "devito_stencils.py"), what, points, repeats, str(threads)]
    if what == "fdtd2d":
        if asked.meep and threads == 1:
            found["Meep"] = [asked.meep, str(PEERS / "meep_fdtd.py"), size, "10"]
        found["plain loops"] = [str(BENCH), what, size, repeats, str(threads), "plain"]
    for variant in ("golden", "directives", "simd", "wavefront"):
        found[f"Kumihimo, `{variant}`"] = [str(BENCH), what, size, repeats, str(threads), variant]
    return found


def compare(what: str, size: str, threads: int, asked: argparse.Namespace) -> None:
    """One table."""
    every = candidates_of(what, size, threads, asked)
    found: dict[str, list[float]] = {name: [] for name in every}
    triad = []
    for number in range(asked.rounds):
        for name, command in every.items():
            found[name].append(rates(command, threads)[asked.clock])
            print(f"{what} {size}, round {number + 1}: {name} {found[name][-1]:.4g}", file=sys.stderr)
        triad.append(rates([str(BENCH), "triad", "128", "10", str(threads)], threads)[asked.clock])
    first = next(iter(every))
    unit = "GFLOPS" if what == "himeno" else "Mcell/s"
    bound = median(triad) / BYTES_OF_CELL * FLOPS_OF_CELL
    print(f"\n## {what} {size}, {threads} thread{'s' if threads > 1 else ''}, {asked.clock} time\n")
    print(f"Triad {median(triad):.3g} GB/s.\n")
    last = "| % of the bound " if what == "himeno" else ""
    print(f"| | {unit} | / {first} | 95 % interval {last}|\n|---|---|---|---|{'---|' if last else ''}")
    for name, values in found.items():
        ratios = [mine / other for mine, other in zip(values, found[first])]
        low, high = interval(ratios)
        share = f"| {100 * median(values) / bound:.0f} " if last else ""
        print(f"| {name} | {median(values):.4g} | {median(ratios):.2f} | {low:.2f} to {high:.2f} {share}|", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", default="himeno,fdtd2d")
    parser.add_argument("--sizes", default="M,L")
    parser.add_argument("--points", default="1024")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    parser.add_argument("--devito", default="")
    parser.add_argument("--meep", default="")
    asked = parser.parse_args()
    if not BENCH.exists():
        raise SystemExit("compare.py: stencil_bench is not built; run scripts/bench stencil")
    for threads in map(int, asked.threads.split(",")):
        for what in asked.what.split(","):
            for size in (asked.sizes if what == "himeno" else asked.points).split(","):
                compare(what, size, threads, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
