#!/usr/bin/env python3
"""ICCG of a 128³ Poisson problem beside PETSc, AMGCL and Eigen with preconditioners of the same class, in one run.

    .venv/bin/python bench/sparse/compare.py [--size 128] [--threads 1,2] [--rounds 3] [--variants eisenstat,BR-1]

All solve the same matrix with the same right-hand side to |b - A x| = 1e-8 |b|. Every round launches each solver once,
so that a disturbance meets all of them. Times are medians of rounds with the least and the most; a ratio is that of the
peer's time to the time of the first variant in the same round. PETSc runs T ranks where the others run T threads.
Peers whose library is not there are left out, and named. The bound: the bytes that the first variant must move at
least, at the triad of the same process.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "build/release/bench/sparse/peers"
KUMIHIMO = Path(sys.executable).parent / "kumihimo"
# Two ranks cannot share a factor in PETSc: each has one of its own rows.
PETSC_PRECONDITIONERS = {
    1: (("CG, ICC(0)", "cg", ("-pc_type", "icc")),),
    2: (
        ("CG, block Jacobi of ICC(0)", "cg", ("-pc_type", "bjacobi", "-sub_pc_type", "icc")),
        ("pipelined CG, block Jacobi of ICC(0)", "pipecg", ("-pc_type", "bjacobi", "-sub_pc_type", "icc")),
    ),
}


AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


@dataclass(frozen=True)
class Solver:
    """One command that prints one JSON object with iterations, seconds, setup_seconds and residual."""

    name: str
    threads: int
    command: tuple[str, ...]

    def run(self) -> dict:
        environment = dict(os.environ, OMP_NUM_THREADS=str(self.threads))
        if self.command[0] == "mpirun.openmpi":
            environment |= dict.fromkeys(("OMP_NUM_THREADS", *AS_ROOT), "1")
        ended = subprocess.run(self.command, env=environment, capture_output=True, text=True)
        if ended.returncode != 0:
            told = f"{' '.join(self.command)} ended with {ended.returncode}: {ended.stderr[-500:]}"
            raise SystemExit(f"compare.py: {told}")
        told = json.loads(ended.stdout)
        if "results" in told:  # kumihimo app
            (one,) = told["results"]
            bandwidth = told["rates"]["triad_bytes_per_second"]
            moved = sum(kernel["bytes"] for kernel in one["kernels"])
            told = one | {"triad": bandwidth, "bound": moved / bandwidth}
        return told


def solvers(threads: int, size: int, variants: list[str]) -> tuple[list[Solver], list[str]]:
    """Those that run here with so many threads, and the names of those that do not."""
    ours = (str(KUMIHIMO), "app", "poisson3d", "--size", str(size), "--threads", str(threads), "--json", "--variant")
    of = [Solver(f"Kumihimo, {name}", threads, (*ours, name)) for name in variants]
    absent = []
    petsc = PEERS / "peer_petsc"
    if petsc.exists() and shutil.which("mpirun.openmpi"):
        theirs = ("mpirun.openmpi", "-n", str(threads), "--bind-to", "core", str(petsc), str(size), "-ksp_type")
        for name, method, options in PETSC_PRECONDITIONERS[min(threads, 2)]:
            of.append(Solver(f"PETSc, {name}", threads, (*theirs, method, *options)))
    else:
        absent.append("PETSc")
    for name, program in (("AMGCL, CG, ilu0", "peer_amgcl"), ("Eigen, CG, IC(0), natural order", "peer_eigen")):
        if (PEERS / program).exists():
            of.append(Solver(name, threads, (str(PEERS / program), str(size))))
        else:
            absent.append(name.split(",")[0])
    return of, absent


def spread(values: list[float], digits: int) -> str:
    """The median, and in brackets the least and the most."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def main() -> int:
    """Run all rounds and print one table for each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--variants", default="eisenstat,BR-1")
    asked = parser.parse_args()
    for threads in map(int, asked.threads.split(",")):
        every, absent = solvers(threads, asked.size, asked.variants.split(","))
        found: list[list[dict]] = [[] for _ in every]
        for i in range(asked.rounds):
            for runs, solver in zip(found, every):
                runs.append(solver.run())
                print(f"{threads} threads, round {i + 1}: {solver.name} {runs[-1]['seconds']:.2f} s", file=sys.stderr)
        first = [run["seconds"] for run in found[0]]
        triad = [run["triad"] * 1e-9 for run in found[0]]
        share = [100 * run["bound"] / run["seconds"] for run in found[0]]
        print(f"\n## {threads} thread{'s' if threads > 1 else ''}\n")
        print(f"Triad {spread(triad, 1)} GB/s; {every[0].name} reaches {spread(share, 0)} % of its bound.")
        if absent:
            print(f"Not here: {', '.join(absent)}.")
        print("\n| Solver | Iterations | Solve s | Time / first row's | Set-up s | Residual |\n" + "|---" * 6 + "|")
        for runs, solver in zip(found, every):
            ratios = [run["seconds"] / ours for run, ours in zip(runs, first)]
            print(
                f"| {solver.name} | {runs[0]['iterations']} | {spread([r['seconds'] for r in runs], 2)} "
                f"| {spread(ratios, 2)} | {median(r['setup_seconds'] for r in runs):.1f} | {runs[0]['residual']:.1e} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
