#!/usr/bin/env python3
"""STREAM beside `kumihimo bench node stream`, in turns.

    stream.py STREAM.C [--rounds 7] [--threads 1,2] [--bytes 128MiB] [--cc gcc]

STREAM.C: the published source (https://www.cs.virginia.edu/stream), which is not in this project. It is compiled with
usual stores: the compiler may not put the C library's memcpy, whose stores are non-temporal, in place of a loop. Every
round runs STREAM and ours once for each number of threads, in changing order, with arrays of the same length. A figure
is the best of the samples, as STREAM reports it. Ours agrees if the median of the ratios is within 10 % of 1, or within
the spread of STREAM's own figures, (most - least) / median."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from kumihimo.text.sizes import parse_size
from kumihimo.tune.bench.tuned import ratios_of

KUMIHIMO = Path(sys.executable).parent / "kumihimo"
SAMPLES = 11
NEAR = 0.1
USUAL_STORES = ("-O3", "-march=native", "-fopenmp", "-mcmodel=medium", "-fno-tree-loop-distribute-patterns")

Figures = dict[tuple[int, str], float]  # bytes a second, by threads and kernel


def compiled(source: Path, compiler: str, array: int, folder: Path) -> Path:
    program = folder / "stream"
    sizes = (f"-DSTREAM_ARRAY_SIZE={array // 8}", f"-DNTIMES={SAMPLES + 1}")  # it leaves out the first
    subprocess.run([compiler, *USUAL_STORES, *sizes, source, "-o", program], check=True)
    return program


def theirs(program: Path, threads: int) -> Figures:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"}
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=300, env=environment)
    assert "Solution Validates" in done.stdout, done.stdout
    rows = re.findall(r"^(Copy|Scale|Add|Triad): +([0-9.]+)", done.stdout, re.MULTILINE)
    return {(threads, name.lower()): 1e6 * float(rate) for name, rate in rows}


def ours(threads: int, array: int) -> Figures:
    words = ["bench", "node", "stream", "--threads", str(threads), "--array", str(array), "--rounds", str(SAMPLES)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    done = subprocess.run(
        [KUMIHIMO, *words, "--json"], capture_output=True, text=True, check=True, timeout=300, env=environment
    )
    rows = json.loads(done.stdout)["stream"]["results"]
    return {(row["threads"], row["kernel"]): row["best"] for row in rows if row["stores"] == "usual"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--bytes", default="128MiB", help="of an array")
    parser.add_argument("--cc", default="gcc")
    asked = parser.parse_args()
    array, numbers = parse_size(asked.bytes, 64), [int(each) for each in asked.threads.split(",")]
    rounds: list[tuple[Figures, Figures]] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(asked.source, asked.cc, array, Path(folder))
        for turn in range(asked.rounds):
            sides: tuple[Figures, Figures] = ({}, {})
            for threads in numbers:
                for side in (0, 1) if turn % 2 == 0 else (1, 0):
                    sides[side].update(ours(threads, array) if side else theirs(program, threads))
            rounds.append(sides)
            print(f"round {turn + 1} of {asked.rounds}", file=sys.stderr)
    print(f"Arrays of {array / 2**20:g} MiB, {asked.rounds} rounds.\n")
    print("| kernel | threads | STREAM | here | ratio | 95 % interval | spread of STREAM | within 10 % or the spread |")
    print("|---|---|---|---|---|---|---|---|")
    for threads, kernel in rounds[0][0]:
        other, mine = ([side[threads, kernel] for side in sides] for sides in zip(*rounds))
        found = ratios_of(list(zip(mine, other)))
        spread = (max(other) - min(other)) / median(other)
        near = abs(found["ratio"] - 1) <= max(NEAR, spread)
        print(
            f"| {kernel} | {threads} | {median(other) / 1e9:.3g} GB/s | {median(mine) / 1e9:.3g} GB/s "
            f"| {found['ratio']:.3f} | {found['ratio_low']:.3f} to {found['ratio_high']:.3f} "
            f"| {100 * spread:.0f} % | {'yes' if near else 'no'} |"
        )


if __name__ == "__main__":
    main()
