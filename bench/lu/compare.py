#!/usr/bin/env python3
"""lu beside the HPL of hpcc, in one interleaved run.

    .venv/bin/python bench/lu/compare.py [--size 7680] [--blocks 96,192] [--ranks 1,2,4] [--rounds 6] [--hpcc PROGRAM]

Every round measures DGEMM, then launches HPL and each variant of lu once, on Open MPI, one thread a rank, each with
every block. hpcc has the parameters of its example: look-ahead 1, recursive right-looking panels, broadcast 1ringM,
mixed swaps. hpcc runs all of its suite; the time is that of HPL alone. Medians of rounds; the median of the ratios
to HPL with its faster block in the round, and its 95 % interval by order statistics; the share of DGEMM on as many
threads as ranks, at most as processors.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from math import comb
from pathlib import Path
from statistics import median

from kumihimo.processes import mpi

ROOT = Path(__file__).resolve().parents[2]
KUMIHIMO = ROOT / ".venv/bin/kumihimo"
GRIDS = {1: (1, 1), 2: (1, 2), 4: (2, 2)}
VARIANTS = ("rows", "tournament")
INPUT = """HPLinpack benchmark input file
bench/lu
HPL.out output file name
8 device out
1 sizes
{size} Ns
{count} NBs
{blocks} NBs
0 PMAP
1 grids
{p} Ps
{q} Qs
16.0 threshold
1 panel fact
2 PFACTs
1 recursive stopping criterium
4 NBMINs
1 panels in recursion
2 NDIVs
1 recursive panel fact
1 RFACTs
1 broadcast
1 BCASTs
1 lookahead depth
1 DEPTHs
2 SWAP
64 swapping threshold
0 L1
0 U
1 Equilibration
8 memory alignment
##### separator
0 additional sizes of PTRANS
1200
0 additional blocks of PTRANS
40
"""


def ended(command: list[str], folder: str, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"compare.py: {' '.join(command)} ended with {done.returncode}: {done.stderr[-800:]}")
    return done.stdout


def hpl(asked: argparse.Namespace, ranks: int) -> list[float]:
    """GFLOPS by HPL's lines, one for each block."""
    p, q = GRIDS[ranks]
    blocks = " ".join(map(str, asked.blocks))
    text = INPUT.format(size=asked.size, count=len(asked.blocks), blocks=blocks, p=p, q=q)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hpccinf.txt").write_text(text)
        launcher = mpi.choose("openmpi")
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        ended([*map(str, launcher.arguments(ranks)), asked.hpcc], folder, environment)
        said = Path(folder, "hpccoutf.txt").read_text(errors="replace")
    lines = re.findall(r"^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+([\d.]+)\s+(\S+)\s*$", said, re.M)
    if len(lines) != len(asked.blocks) or "FAILED" in said[said.rindex("HPLinpack") :]:
        raise SystemExit("compare.py: hpcc has no lines of HPL that passed")
    return [float(gflops) for _, gflops in lines]


def lu(asked: argparse.Namespace, ranks: int, variant: str, block: int) -> float:
    p, q = GRIDS[ranks]
    command = [str(KUMIHIMO), "app", "lu", "--size", str(asked.size), "--variant", variant, "--ranks", str(ranks)]
    command += ["--mpi", "openmpi", "--threads", "1", "--set", f"grid={p}x{q}", "--set", f"block={block}"]
    found = json.loads(ended([*command, "--triad", "1", "--peak", "1", "--json"], str(ROOT), dict(os.environ)))
    if found["right"] is not True:
        raise SystemExit(f"compare.py: {variant} on {ranks} ranks is wrong")
    return found["results"][0]["gflops"]


def dgemm(threads: int) -> float:
    command = [str(KUMIHIMO), "bench", "node", "dgemm", "--threads", str(threads), "--rounds", "5", "--json"]
    found = json.loads(ended(command, str(ROOT), dict(os.environ)))
    return found["dgemm"]["results"][0]["dgemm_gflops"]["median"]


def interval(values: list[float]) -> tuple[float, float]:
    """95 % of the median, or the range of few values."""
    ordered, n = sorted(values), len(values)
    low = 0
    while low + 1 < n / 2 and 2 * sum(comb(n, i) for i in range(low + 2)) / 2**n <= 0.05:
        low += 1
    return ordered[low], ordered[n - 1 - low]


def compare(asked: argparse.Namespace, ranks: int) -> None:
    """One table."""
    threads = min(ranks, len(os.sched_getaffinity(0)))
    names = [f"{name}, NB = {block}" for name in ("HPL", *VARIANTS) for block in asked.blocks]
    found: dict[str, list[float]] = {name: [] for name in ("DGEMM", *names)}
    for number in range(asked.rounds):
        rates = [dgemm(threads), *hpl(asked, ranks)]
        rates += [lu(asked, ranks, variant, block) for variant in VARIANTS for block in asked.blocks]
        for name, rate in zip(found, rates):
            found[name].append(rate)
        said = "; ".join(f"{name}: {values[-1]:.4g}" for name, values in found.items())
        print(f"{ranks} ranks, round {number + 1}: {said}", file=sys.stderr)
    best = [max(found[name][i] for name in names[: len(asked.blocks)]) for i in range(asked.rounds)]
    p, q = GRIDS[ranks]
    print(f"\n## {ranks} rank{'s' if ranks > 1 else ''}, grid {p}×{q}, N = {asked.size}\n")
    print(f"DGEMM on {threads} thread{'s' if threads > 1 else ''}: {median(found['DGEMM']):.4g} GFLOPS.\n")
    print("| | GFLOPS | / best HPL | 95 % interval | % of DGEMM |\n|---|---|---|---|---|")
    for name in names:
        ratios = [mine / other for mine, other in zip(found[name], best)]
        low, high = interval(ratios)
        share = median(mine / other for mine, other in zip(found[name], found["DGEMM"]))
        print(
            f"| {name} | {median(found[name]):.4g} | {median(ratios):.3f} | {low:.3f} to {high:.3f} "
            f"| {100 * share:.1f} |",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=7680)
    parser.add_argument("--blocks", type=lambda text: [int(word) for word in text.split(",")], default=[96, 192])
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--hpcc", default="hpcc")
    asked = parser.parse_args()
    for ranks in map(int, asked.ranks.split(",")):
        if ranks not in GRIDS:
            raise SystemExit(f"compare.py: --ranks must be of 1, 2 and 4 (got {ranks})")
        compare(asked, ranks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
