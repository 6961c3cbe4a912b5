#!/usr/bin/env python3
"""Assembly of trilinear hexahedral elasticity beside PETSc, in one run.

    .venv/bin/python bench/fem/compare.py [--nodes 64] [--threads 1,2] [--rounds 3] [--variants type_a,original]

The same distorted cube with known structure. PETSc adds the golden copy's element matrices to a block matrix (BAIJ), by
T ranks where the application runs T threads. Every round launches each once. Million elements a second: medians of
rounds with the least and the most. The first variant of the list is the one that peers are divided by.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
PEER = ROOT / "build/release/bench/fem/peers/peer_petsc_assembly"
KUMIHIMO = Path(sys.executable).parent / "kumihimo"
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def output_of(command: list[str]) -> dict:
    """The JSON object that a command prints."""
    environment = os.environ | dict.fromkeys(AS_ROOT, "1")
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        told = f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr[-500:]}"
        raise SystemExit(f"compare.py: {told}")
    return json.loads(ended.stdout)


def assembly(variant: str, nodes: int, threads: int) -> dict[str, float]:
    """Million elements a second and share of peak of one run of the application."""
    what = ["fem-cube", "--size", str(nodes), "--variant", variant, "--threads", str(threads)]
    told = output_of([str(KUMIHIMO), "app", *what, "--json"])
    (one,) = told["results"]
    (kernel,) = (k for k in one["kernels"] if k["name"] == "assembly")
    elements = (nodes - 1) ** 3 * kernel["calls"]
    return {
        "rate": elements / kernel["seconds"] * 1e-6,
        "share": 100 * kernel["flops"] / kernel["seconds"] / told["rates"]["peak_flops"],
    }


def peer(nodes: int, ranks: int) -> dict[str, float]:
    """The same of PETSc."""
    told = output_of(["mpirun.openmpi", "-n", str(ranks), "--bind-to", "core", str(PEER), str(nodes)])
    return {"rate": told["melements_per_second"], "kernel": told["kernel_alone"]}


def spread(values: list[float], digits: int = 2) -> str:
    """The median, and in brackets the least and the most."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def main() -> int:
    """Run all rounds and print one table for each number of threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--variants", default="simd_avx2,type_a,original")
    asked = parser.parse_args()
    variants = asked.variants.split(",")
    has_peer = PEER.exists() and shutil.which("mpirun.openmpi")
    for threads in map(int, asked.threads.split(",")):
        found: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
        petsc = []
        for i in range(asked.rounds):
            for name in variants:
                found[name].append(assembly(name, asked.nodes, threads))
                print(f"{threads} threads, round {i + 1}: {name} {found[name][-1]['rate']:.3f}", file=sys.stderr)
            if has_peer:
                petsc.append(peer(asked.nodes, threads))
                print(f"{threads} threads, round {i + 1}: PETSc {petsc[-1]['rate']:.3f}", file=sys.stderr)
        print(f"\n## {threads} thread{'s' if threads > 1 else ''}\n")
        if not has_peer:
            print("Not here: PETSc.\n")
        print("| Assembly | Million elements/s | First row's rate / this | % of peak |\n" + "|---" * 4 + "|")
        first = [run["rate"] for run in found[variants[0]]]
        for name, runs in found.items():
            ratios = [ours / run["rate"] for run, ours in zip(runs, first)]
            print(
                f"| Kumihimo, `{name}` | {spread([r['rate'] for r in runs])} | {spread(ratios)} "
                f"| {median(r['share'] for r in runs):.0f} |",
                flush=True,
            )
        if has_peer:
            ratios = [ours / run["rate"] for run, ours in zip(petsc, first)]
            alone = [run["kernel"] for run in petsc]
            print(f"| PETSc, BAIJ, MatSetValuesBlocked | {spread([r['rate'] for r in petsc])} | {spread(ratios)} | |")
            print(f"| its element kernel alone | {spread(alone)} | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
