#!/usr/bin/env python3
"""Energies, orbital energies and dipoles of `kumihimo app hartree-fock` beside PySCF's.

    python3 -m venv build/pyscf && build/pyscf/bin/pip install -r requirements/pyscf.txt
    build/pyscf/bin/python bench/hartree_fock/energies.py [--molecules w1,w8,benzene] [--variants all]
        [--ranks 1,2] [--threads 1,2] [--kumihimo .venv/bin/kumihimo]

PySCF gets the positions that the application used. Ends with 1 if an energy differs by more than 1e-8 hartree.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASES = ("sto-3g", "6-31g")
MOLECULES = "w1,w2,w8,benzene,gly1,gly2,gly4,ala1,ala2"
MOST_DIFFERENCE = 1e-8  # hartree
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


def runs_of(asked: argparse.Namespace, molecule: str, basis: str) -> list[dict]:
    """One result for each variant, number of ranks and number of threads."""
    named = ["--set", f"molecule={molecule}"] if molecule.endswith(".xyz") else ["--size", molecule]
    command = [asked.kumihimo, "app", "hartree-fock", *named, "--set", f"basis={basis}", "--variant", asked.variants]
    command += ["--set", f"charge={asked.charge}", "--ranks", asked.ranks, "--threads", asked.threads]
    command += ["--triad", "10", "--peak", "10", "--json"]  # roofs that nobody reads here
    ended = subprocess.run(
        command, env=os.environ | dict.fromkeys(AS_ROOT, "1"), capture_output=True, text=True, check=False
    )
    if not ended.stdout:
        raise SystemExit(f"energies.py: {' '.join(command)} ended with {ended.returncode}: {ended.stderr[-500:]}")
    return [row for row in json.loads(ended.stdout)["results"] if "seconds" in row]


def of_pyscf(atoms: list, basis: str, charge: int) -> dict:
    """The converged SCF of the same atoms."""
    try:
        from pyscf import gto, scf
    except ImportError:
        sys.exit("energies.py: this Python has no PySCF; use build/pyscf/bin/python of scripts/bench hartree_fock")

    molecule = gto.M(atom=atoms, unit="B", basis=basis, charge=charge, verbose=0, max_memory=4000)
    field = scf.RHF(molecule)
    field.conv_tol, field.conv_tol_grad, field.max_cycle = 1e-12, 1e-7, 200
    begin = time.monotonic()
    energy = field.kernel()
    if not field.converged:
        raise SystemExit("energies.py: PySCF did not converge")
    return {
        "energy": energy,
        "levels": list(field.mo_energy),
        "dipole": list(field.dip_moment(unit="AU", verbose=0)),
        "iterations": field.cycles if hasattr(field, "cycles") else 0,
        "seconds": time.monotonic() - begin,
    }


def furthest(mine: list[float], other: list[float]) -> float:
    """The largest difference of two lists."""
    return max(abs(x - y) for x, y in zip(mine, other))


def name_of(row: dict) -> str:
    """The variant with its parameters, ranks and threads."""
    words = " ".join([row["variant"], *(f"{name}={value}" for name, value in row["parameters"].items())])
    return f"{words}, {row['ranks']}×{row['threads']}"


def main() -> int:
    """Print one row for each molecule and basis set, of all runs together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--molecules", default=MOLECULES, help="sizes of the application, or XYZ files")
    parser.add_argument("--bases", default=",".join(BASES))
    parser.add_argument("--variants", default="classes,shells,shells_atomics,shells_tasks")
    parser.add_argument("--charge", type=int, default=0)
    parser.add_argument("--ranks", default="1")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--kumihimo", default=str(ROOT / ".venv/bin/kumihimo"))
    asked = parser.parse_args()
    wrong = []
    print("| Molecule | Basis | Functions | Energy, hartree | Runs | Less PySCF's | Levels | Dipole | Iterations |")
    print("|---|---|---|---|---|---|---|---|---|")
    for molecule in asked.molecules.split(","):
        for basis in asked.bases.split(","):
            rows = runs_of(asked, molecule, basis)
            peer = of_pyscf(rows[0]["atoms"], basis, asked.charge)
            off = [row["energy"] - peer["energy"] for row in rows]
            levels = max(furthest(row["orbital_energies"], peer["levels"]) for row in rows)
            dipole = max(furthest(row["dipole"], peer["dipole"]) for row in rows)
            iterations = sorted({row["iterations"] for row in rows})
            cells = [molecule, basis, str(rows[0]["functions"]), f"{rows[0]['energy']:.10f}", str(len(rows))]
            cells += [f"{min(off):+.1e} to {max(off):+.1e}", f"{levels:.1e}", f"{dipole:.1e}"]
            print(f"| {' | '.join([*cells, ', '.join(map(str, iterations))])} |", flush=True)
            wrong += [
                f"{molecule}, {basis}, {name_of(row)}: {difference:+.1e} hartree, checked: {row['right']}"
                for row, difference in zip(rows, off)
                if abs(difference) > MOST_DIFFERENCE or row["right"] is False
            ]
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
