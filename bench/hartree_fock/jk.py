#!/usr/bin/env python3
"""One build of J and K beside PySCF's, one thread of each, by turns in one run.

    make build && cmake --preset release -D KUMIHIMO_BENCH=ON && cmake --build build/release --target jk_bench
    python3 -m venv build/pyscf && build/pyscf/bin/pip install -r requirements/pyscf.txt
    build/pyscf/bin/python bench/hartree_fock/jk.py [--molecules gly1,w8,benzene,gly2,gly4] [--rounds 5]
        [--threads 1,2] [--classes]

Both get the same positions and the same density (PySCF's first guess). PySCF builds by `_vhf.direct` as `scf.hf.get_jk`
does, without kept integrals. Each has its default screening: PySCF leaves out what is below 1e-13, ours below
threshold= of jk_bench (1e-12, the application's), with bounds that are not the same. "Prepared" is ours, once before
all builds; PySCF's is not counted. Times are of the processor, all threads together, or wall with
--wall; medians of the rounds with the least and the most. A build of each that is not counted comes before those of a
program: its threads sleep while another program computes. Differences are the largest of J and of K.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

os.environ["OMP_NUM_THREADS"] = "1"  # of PySCF, before it is loaded

try:
    import numpy as np
    from pyscf import gto, scf
    from pyscf.scf import _vhf
except ImportError:
    sys.exit("jk.py: this Python has no PySCF; use build/pyscf/bin/python, which scripts/bench hartree_fock makes")

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "build/release/bench/hartree_fock/jk_bench"


class Ours:
    """A jk_bench process."""

    def __init__(self, molecule: str, basis: str, threads: int, *settings: str):
        command = [str(BENCH), molecule, basis, f"threads={threads}", *settings]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.atoms = []
        while not (line := self.process.stdout.readline()).startswith("functions"):
            if not line:
                raise SystemExit(f"jk.py: {' '.join(command)} ended")
            element, *position = line.split()
            if element == "threshold":
                self.threshold, self.prepared = position[0], list(map(float, position[2:]))
                continue
            self.atoms.append((element, tuple(map(float, position))))

    def say(self, command: str) -> None:
        """Give a command that prints nothing."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command: str, lines: int = 1) -> list[list[str]]:
        """Give a command. Returns the words of the lines that it prints."""
        self.say(command)
        return [self.process.stdout.readline().split() for _ in range(lines)]


class Peer:
    """PySCF's build for the same atoms."""

    def __init__(self, atoms: list, basis: str):
        self.molecule = gto.M(atom=atoms, unit="B", basis=basis, verbose=0)
        field = scf.RHF(self.molecule)
        self.density = np.asarray(field.get_init_guess())
        self.options = field.init_direct_scf(self.molecule)

    def build(self) -> tuple[np.ndarray, np.ndarray]:
        """J and K."""
        m = self.molecule
        return _vhf.direct(self.density, m._atm, m._bas, m._env, vhfopt=self.options, hermi=1, cart=m.cart)

    def order(self) -> np.ndarray:
        """Its function for each of ours: shells in the order s, sp, sp, functions s, x, y, z."""
        labels = self.molecule.ao_labels(fmt=None)
        places = []
        for atom in range(self.molecule.natm):
            s = [i for i, label in enumerate(labels) if label[0] == atom and label[2].endswith("s")]
            p = [i for i, label in enumerate(labels) if label[0] == atom and label[2].endswith("p")]
            alone = len(s) - len(p) // 3 if p else len(s)
            places += s[:alone]
            for k in range(len(p) // 3):
                places += [s[alone + k], *p[3 * k : 3 * k + 3]]
        return np.array(places)


def timed(work: Callable[[], object], wall: bool) -> float:
    """Seconds that it takes."""
    clock = time.perf_counter if wall else time.process_time
    begin = clock()
    work()
    return clock() - begin


def spread(values: list[float]) -> str:
    """The median, and in brackets the least and the most."""
    return f"{median(values):.4f} ({min(values):.4f}-{max(values):.4f})"


def compare(molecule: str, asked: argparse.Namespace) -> list[list[str]]:
    """Print the row of a molecule. Returns the classes of our build."""
    teams = [int(t) for t in asked.threads.split(",")]
    ours = {t: Ours(molecule, asked.basis, t, *asked.set) for t in teams}
    first = ours[teams[0]]
    peer = Peer(first.atoms, asked.basis)
    order = peer.order()
    with tempfile.TemporaryDirectory() as folder:
        density = Path(folder) / "density"
        peer.density[np.ix_(order, order)].astype("f8").tofile(density)
        for each in ours.values():
            each.say(f"density {density}")
        j, k = peer.build()
        for each in ours.values():
            each.ask("build")
        times = {t: [] for t in teams}
        others, ratios = [], {t: [] for t in teams}
        for _ in range(asked.rounds):
            peer.build()
            others.append(timed(peer.build, asked.wall))
            for t, each in ours.items():
                each.ask("build")
                wall, processor, _ = each.ask("build")[0]
                times[t].append(float(wall if asked.wall else processor))
                ratios[t].append(times[t][-1] / others[-1])
        sums = Path(folder) / "sums"
        first.ask(f"write {sums}")
        found = np.fromfile(sums).reshape(2, len(order), len(order))
    off = [np.abs(found[i] - matrix[np.ix_(order, order)]).max() for i, matrix in enumerate((j, k))]
    prepared = first.prepared[0 if asked.wall else 1]
    cells = [molecule, str(len(order)), first.threshold, f"{prepared:.4f}", spread(others)]
    for t in teams:
        cells += [spread(times[t]), f"{median(ratios[t]):.3f} ({min(ratios[t]):.3f}-{max(ratios[t]):.3f})"]
    print(f"| {' | '.join([*cells, f'{off[0]:.0e}, {off[1]:.0e}'])} |", flush=True)
    return first.ask("classes", 6)


def print_classes(classes: dict[str, list[list[str]]]) -> None:
    """A table of all molecules' classes."""
    print("\n| Molecule | Class | Quartets | Left out | Primitive quartets | Time, ms | Share |")
    print("|---|---|---|---|---|---|---|")
    for molecule, rows in classes.items():
        total = sum(float(row[-1]) for row in rows)
        for name, quartets, screened, primitives, seconds in rows:
            share = f"{100 * float(seconds) / total:.0f} %"
            cells = [molecule, name, quartets, screened, primitives, f"{1e3 * float(seconds):.2f}", share]
            print(f"| {' | '.join(cells)} |")


def main() -> int:
    """Print one table, or two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--molecules", default="gly1,w8,benzene,gly2,gly4")
    parser.add_argument("--basis", default="6-31g")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--wall", action="store_true")
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of jk_bench")
    asked = parser.parse_args()
    if not BENCH.exists():
        raise SystemExit("jk.py: jk_bench is not built; run scripts/bench hartree_fock")
    heads = ["Molecule", "Orbitals", "Threshold", "Prepared, s", "PySCF, s"]
    for t in asked.threads.split(","):
        heads += [f"Kumihimo, {t} thread{'' if t == '1' else 's'}, s", "of PySCF's"]
    print(f"| {' | '.join([*heads, 'J, K differ by'])} |\n|{'---|' * (len(heads) + 1)}")
    classes = {molecule: compare(molecule, asked) for molecule in asked.molecules.split(",")}
    if asked.classes:
        print_classes(classes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
