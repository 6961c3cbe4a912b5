#!/usr/bin/env python3
"""Whether algorithms of a collective are on a testbed as fast as predicted, and in the predicted order, as a table.

    bench/testbed/orders.py [--shape 3x3x3] [--rate 50Mbit/s] [--launches 3] [--within 20]
                            [--collectives allreduce,bcast] [--bytes 64KiB,512KiB]

All algorithms run that are predicted to take at most `--within` times as long as the fastest one, in a new order in
each of the launches, by `kumihimo bench` on all ranks; times are of the slowest rank. They are predicted by the flow
model on the testbed's machine file with measured costs. Of each two algorithms whose predictions differ by more than
1.3 times it is said whether the measured times have the same order."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from statistics import median

from kumihimo.text.quantities import seconds_text
from kumihimo.text.sizes import parse_sizes, with_unit

KUMIHIMO = str(Path(sys.executable).parent / "kumihimo")
NAME = f"bench{os.getpid()}"
APART = 1.3


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--shape", default="3x3x3")
    words.add_argument("--rate", default="50Mbit/s")
    words.add_argument("--launches", type=int, default=3)
    words.add_argument("--within", type=float, default=20)
    words.add_argument("--collectives", default="allreduce,bcast")
    words.add_argument("--bytes", default="64KiB,512KiB")
    asked = words.parse_args()
    kumihimo("testbed", "up", asked.shape, "--rate", asked.rate, "--name", NAME)
    try:
        kumihimo("testbed", "machine", "--measure", "--name", NAME)  # which the testbed keeps
        (testbed,) = results("testbed", "status", "--name", NAME)
        for collective in asked.collectives.split(","):
            for size in parse_sizes(asked.bytes):
                table(asked, collective, size, testbed["nodes"])
    finally:
        kumihimo("testbed", "down", "--name", NAME)


def table(asked: argparse.Namespace, collective: str, size: int, ranks: int) -> None:
    inside = ("testbed", "run", "--name", NAME, "--", KUMIHIMO)
    every = results(*inside, "simulate", collective, "--bytes", str(size))
    fastest = min(row["seconds"] for row in every)
    predicted = {row["algorithm"]: row["seconds"] for row in every if row["seconds"] <= asked.within * fastest}
    measured: dict[str, list[float]] = {name: [] for name in predicted}
    for number in range(asked.launches):
        for name in random.Random(number).sample(list(predicted), len(predicted)):
            given = ("--bytes", str(size), "-a", name, "--ranks", str(ranks))
            (row,) = results(*inside, "bench", collective, *given)
            measured[name].append(row["seconds"])
    times = {name: median(those) for name, those in measured.items()}
    print(f"\n## {collective} of {with_unit(size)}, {ranks} ranks on {asked.shape}, {asked.rate}\n")
    print("| algorithm | predicted | measured | predicted / measured |\n|---|---:|---:|---:|")
    for name in sorted(predicted, key=predicted.get):
        ratio = predicted[name] / times[name]
        print(f"| {name} | {seconds_text(predicted[name])} | {seconds_text(times[name])} | {ratio:.2f} |")
    pairs = [pair for pair in itertools.permutations(predicted, 2) if predicted[pair[1]] > APART * predicted[pair[0]]]
    wrong = [f"{one} before {other}" for one, other in pairs if times[one] >= times[other]]
    said = f"; not {', '.join(wrong)}" if wrong else ""
    print(f"\n{len(pairs) - len(wrong)} of {len(pairs)} pairs that differ by more than {APART} are in order{said}.")


def results(*words: str) -> list[dict]:
    return json.loads(kumihimo(*words, "--json"))["results"]


def kumihimo(*words: str) -> str:
    done = subprocess.run([KUMIHIMO, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    main()
