#!/usr/bin/env python3
"""Collectives on this node, measured by `kumihimo bench` and predicted by `flow`, as Markdown.

    bench/replay/node_accuracy.py [--machine FILE] [--ranks 2,4,8] [--launches 3]

Without --machine the machine is measured first. No number of the machine file is fitted to these times. Run it on an
idle machine."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = Path(sys.executable).parent / "kumihimo"
SIZES = "8,64,512,4KiB,32KiB,128KiB,512KiB,2MiB,16MiB"
BLOCKS = "8,64,512,4KiB,32KiB,128KiB,512KiB,2MiB"
CASES = [
    ("allreduce", "recursive_doubling", SIZES),
    ("allreduce", "ring", SIZES),
    ("allreduce", "rabenseifner", SIZES),
    ("bcast", "binomial", SIZES),
    ("alltoall", "pairwise", BLOCKS),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", type=Path)
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4, 8])
    parser.add_argument("--launches", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kumihimo-node-") as place:
        machine = asked.machine or Path(place) / "machine.toml"
        if asked.machine is None:
            subprocess.run([COMMAND, "machine", "measure", "--out", machine], check=True, stdout=sys.stderr)
        table(machine, asked.ranks, asked.launches)


def table(machine: Path, ranks: list[int], launches: int) -> None:
    print("| ranks | collective | " + " | ".join(SIZES.split(",")) + " | median |")
    print("|---:|---|" + "---:|" * (len(SIZES.split(",")) + 1), flush=True)
    sums = []
    for count in ranks:
        errors = []
        for collective, algorithm, sizes in CASES:
            of = ratios(machine, collective, algorithm, sizes, count, launches)
            errors += of
            cells = [f"{ratio:.2f}" for ratio in of] + [""] * (len(SIZES.split(",")) - len(of))
            print(f"| {count} | {collective} {algorithm} | " + " | ".join(cells) + f" | {spread(of)[0]} |", flush=True)
        sums.append((count, *spread(errors)))
    print("\n| ranks | median error | nine of ten within | worst |\n|---:|---:|---:|---:|")
    for row in sums:
        print("| " + " | ".join(map(str, row)) + " |")


def ratios(machine: Path, collective: str, algorithm: str, sizes: str, ranks: int, launches: int) -> list[float]:
    """Predicted / measured, by size."""
    words = [collective, "--ranks", str(ranks), "--bytes", sizes, "--algorithm", algorithm, "--json"]
    real, predicted = run("bench", *words, "--launches", str(launches)), run("simulate", *words, "--machine", machine)
    return [guess["seconds"] / found["seconds"] for guess, found in zip(predicted, real)]


def run(*words: str | Path) -> list[dict]:
    done = subprocess.run([COMMAND, *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["results"]


def spread(of: list[float]) -> tuple[str, str, str]:
    errors = sorted(math.exp(abs(math.log(ratio))) - 1 for ratio in of)
    tenth = errors[min(len(errors) - 1, math.ceil(0.9 * len(errors)) - 1)]
    return f"{100 * statistics.median(errors):.0f} %", f"{100 * tenth:.0f} %", f"{100 * errors[-1]:.0f} %"


if __name__ == "__main__":
    main()
