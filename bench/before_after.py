#!/usr/bin/env python3
"""Two checkouts of this project by turns: the table of bench/results/before-after.md.

    bench/before_after.py BEFORE [--turns 9] [--part NAME,...] [--output FILE]

BEFORE is another checkout, built there by `make bench` or by scripts/build and the target `benchmarks`. Each figure is
measured in both by turns; the ratio is that of neighbouring turns: median, and an interval of 96 % for 9 turns.

  simulate   user time of `kumihimo simulate`
  verify     user time of `kumihimo verify`
  execute    the engine's own cost of a call (bench/execute/engine_bench)
  real       collectives over real MPI, 2 processes: what a call of ours takes
  interpose  calls of an unmodified program under `kumihimo run`
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[1]
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as users have it: compiled once, not at each start
K = ("-m", "k-computer")
SIMULATED = (
    ("allreduce", "-a", "trinaryx3", "-b", "1GiB", *K),
    ("allreduce", "-a", "ring", "-b", "1GiB", *K),
    ("allreduce", "-a", "recursive_doubling", "-b", "1GiB", *K),
    ("allgather", "-a", "ring", "-b", "64KiB", *K, "--shape", "24x18x8"),
    ("alltoall", "-a", "pairwise", "-b", "64KiB", *K, "--shape", "16x12x8"),
    ("bcast", "-a", "binomial", "-b", "1MiB", "-m", "fugaku"),
)
VERIFIED = (
    ("allreduce", "-a", "ring", "--shape", "16x16x4"),
    ("allreduce", "-a", "trinaryx3", "--shape", "24x18x12"),
    ("alltoall", "-a", "bruck", "--shape", "512"),
    ("reduce_scatter", "-a", "bucket", "--shape", "12x12x12"),
)
REAL = (("allreduce", "recursive_doubling"), ("allreduce", "ring"), ("alltoall", "linear"), ("bcast", "binomial"))
LENGTHS = "8B,1KiB,64KiB,1MiB"

Figures = Iterator[tuple[str, float]]


def kumihimo(tree: Path) -> str:
    return str(tree / ".venv/bin/kumihimo")


def output_of(command: list[str], **options) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} must end well (got {done.returncode})\n{done.stderr.strip()[-500:]}")
    return done.stdout


def user_time(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    output_of(command, stdin=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def simulated(tree: Path, _: Path) -> Figures:
    for words in SIMULATED:
        yield " ".join(words), user_time([kumihimo(tree), "simulate", *words])


def verified(tree: Path, _: Path) -> Figures:
    for words in VERIFIED:
        yield " ".join(words), user_time([kumihimo(tree), "verify", *words])


def executed(tree: Path, _: Path) -> Figures:
    text = output_of([str(tree / "build/release/bench/execute/engine_bench"), "--benchmark_format=json"])
    for one in json.loads(text)["benchmarks"]:
        yield one["name"], one["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[one["time_unit"]]


def real(tree: Path, _: Path) -> Figures:
    for collective, algorithm in REAL:
        words = ["bench", collective, "-a", algorithm, "-p", "2", "-b", LENGTHS, "--mpi", "openmpi", "--format", "csv"]
        lines = [
            line.split(",") for line in output_of([kumihimo(tree), *words]).splitlines() if line and line[0] != "#"
        ]
        size, ours = (lines[0].index(name) for name in ("bytes", "seconds"))
        for row in lines[1:]:
            yield f"{collective} {algorithm}, {row[size]} B", float(row[ours])


def interposed(tree: Path, folder: Path) -> Figures:
    binary = folder / "calls"
    if not binary.exists():
        output_of(["mpicc.openmpi", "-O2", "-o", str(binary), str(HERE / "bench/interpose/calls.c")])
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for part, ranks in (("handed_on", 1), ("rate", 2)):
        launch = ["mpirun.openmpi", "--oversubscribe", "-n", str(ranks), str(binary), part]
        text = output_of([kumihimo(tree), "run", "--no-wisdom", "--", *launch], env={**os.environ, **root})
        for line in text.splitlines():
            one = json.loads(line) if line.startswith("{") else {}
            if one.get("seconds"):
                yield f"{part}: {one['call']} {one['bytes']} B", one["seconds"]


PARTS: dict[str, Callable[[Path, Path], Figures]] = {
    "simulate": simulated,
    "verify": verified,
    "execute": executed,
    "real": real,
    "interpose": interposed,
}


def interval(values: list[float]) -> tuple[float, float, float]:
    """The median, and from the second smallest to the second largest (of 9 values: 96 %)."""
    ascending = sorted(values)
    edge = 1 if len(ascending) > 5 else 0
    return median(ascending), ascending[edge], ascending[-1 - edge]


def table(part: str, trees: tuple[Path, Path], turns: int, folder: Path) -> list[str]:
    found: tuple[dict[str, list[float]], dict[str, list[float]]] = ({}, {})
    for turn in range(turns):
        print(f"{part}, {turn + 1} of {turns}", file=sys.stderr, flush=True)
        for place in (0, 1) if turn % 2 else (1, 0):
            for name, seconds in PARTS[part](trees[place], folder):
                found[place].setdefault(name, []).append(seconds)
    lines = [f"## {part}\n", "| what | before, s | after, s | after / before [interval] |", "|---|---|---|---|"]
    ratios = []
    for name, before in found[0].items():
        after = found[1][name]
        ratio = interval([a / b for a, b in zip(after, before)])
        ratios.append(ratio[0])
        middle, low, high = ratio
        lines.append(f"| {name} | {median(before):.4g} | {median(after):.4g} | {middle:.3f} [{low:.3f}, {high:.3f}] |")
    return [*lines, f"\nMedian of the ratios: {median(ratios):.3f}\n"]


def commit(tree: Path) -> str:
    return output_of(["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]).strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--part", default=",".join(PARTS), metavar="NAME,...")
    parser.add_argument("--output", type=Path, default=HERE / "bench/results/before-after.md")
    arguments = parser.parse_args()
    trees = (arguments.before.resolve(), HERE)
    processor = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line)
    lines = [
        f"# Before and after: {commit(trees[0])} and {commit(trees[1])}\n",
        f"{processor.split(': ', 1)[1]}, {date.today()}, {os.cpu_count()} processors, {arguments.turns} turns\n",
        f"    bench/before_after.py BEFORE --turns {arguments.turns}\n",
    ]
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        for part in arguments.part.split(","):
            lines += table(part, trees, arguments.turns, Path(folder))
    text = "\n".join(lines)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
