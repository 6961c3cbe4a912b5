#!/usr/bin/env python3
"""Real programs on a testbed: what `optimise` gains, and what replays of recordings predict, as a table.

    bench/testbed/programs.py [--shape 3x3x3] [--rate 50Mbit/s] [--budget 8m] [--launches 3] [--program NAME]

`seconds` is the median time of a plain run from MPI_Init to MPI_Finalize. `optimise` records the program in the
testbed, tunes what it calls there, and compares whole runs by turns; `gain` is the time that the choices save, with its
95 % interval. `predicted` is a replay of one recording on the testbed's machine file, over the plain runs; `effect`
what the replay says of the kept choices, over what was measured. Programs that are not installed are left out, and the
table says so. Run it on an idle machine, with Open MPI."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from kumihimo.tune.optimise.program_runs import OptimisedProgram, run

HERE = Path(__file__).parent
KUMIHIMO = str(Path(sys.executable).parent / "kumihimo")
NAME = f"bench{os.getpid()}"
FILES = HERE / "programs"
PYTHON = "/usr/bin/python3"  # of the system's packages


@dataclass(frozen=True)
class BenchProgram:
    """`needs`: a program, or a module of the system's Python."""

    needs: str
    ranks: int
    words: tuple[str, ...]

    @property
    def is_here(self) -> bool:
        if self.words[0] != PYTHON:
            return shutil.which(self.needs) is not None
        asked = [PYTHON, "-c", f"import {self.needs}"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0


PROGRAMS = {
    "training, gradients of 0.6 MB": BenchProgram("mpi4py", 27, (PYTHON, "train.py", "1000", "30")),
    "training, gradients of 0.1 MB": BenchProgram("mpi4py", 27, (PYTHON, "train.py", "170", "100")),
    "mpi4py-fft, 96^3": BenchProgram("mpi4py_fft", 27, (PYTHON, "fft.py", "96", "4")),
    "LAMMPS, liquid": BenchProgram("lmp", 27, ("lmp", "-in", "in.lj", "-log", "none")),
    "hpcc": BenchProgram("hpcc", 16, ("hpcc",)),
    "CP2K, two molecules of water": BenchProgram("cp2k", 8, ("cp2k", "-i", "h2o.inp")),
    "GPAW, hydrogen": BenchProgram("gpaw", 8, (PYTHON, "h2.py")),
    "hypre, Poisson by PFMG": BenchProgram("poisson_hypre", 27, ("./poisson_hypre", "3", "3", "3", "24")),
}


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--shape", default="3x3x3")
    words.add_argument("--rate", default="50Mbit/s")
    words.add_argument("--budget", default="8m")
    words.add_argument("--launches", type=int, default=3)
    words.add_argument("--program", default="")
    asked = words.parse_args()
    if "KUMIHIMO_TESTBED" in os.environ:
        table(asked, Path.cwd())
        return
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        prepare(Path(folder))
        subprocess.run([KUMIHIMO, "testbed", "up", asked.shape, "--rate", asked.rate, "--name", NAME], check=True)
        try:
            file = ["--out", f"{folder}/testbed.toml"]
            subprocess.run([KUMIHIMO, "testbed", "machine", "--measure", "--name", NAME, *file], check=True)
            inside = [KUMIHIMO, "testbed", "run", "--name", NAME, "--", sys.executable, Path(__file__).resolve()]
            subprocess.run([*inside, *sys.argv[1:]], check=True, cwd=folder)
        finally:
            subprocess.run([KUMIHIMO, "testbed", "down", "--name", NAME], check=True, stdout=subprocess.DEVNULL)


def prepare(folder: Path) -> None:
    for path in FILES.iterdir():
        shutil.copy(path, folder)
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    if example.is_file():
        lines = example.read_text(encoding="utf-8").splitlines()
        lines[5], lines[10], lines[11] = "1200 Ns", "4 Ps", "4 Qs"
        (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = HERE.parent / "placement" / "poisson_hypre.c"
    build = ["mpicc.openmpi", "-O2", "-I/usr/include/hypre", "-o", folder / "poisson_hypre", source, "-lHYPRE", "-lm"]
    subprocess.run(build, check=False, capture_output=True)


def table(asked: argparse.Namespace, folder: Path) -> None:
    columns = ("program", "ranks", "seconds", "transfer", "gain", "interval", "pairs", "kept", "predicted", "effect")
    print(
        f"\n## Programs on {asked.shape}, {asked.rate}\n\n{row(*columns)}\n{row(*['---'] * len(columns))}", flush=True
    )
    for name, each in PROGRAMS.items():
        if asked.program in name:
            print(line(name, each, asked, folder) if is_here(each, folder) else row(name, "not installed"), flush=True)


def is_here(each: BenchProgram, folder: Path) -> bool:
    return (folder / each.needs).is_file() if each.words[0].startswith("./") else each.is_here


def line(name: str, each: BenchProgram, asked: argparse.Namespace, folder: Path) -> str:
    command = ("mpirun.openmpi", "-n", str(each.ranks), *each.words)
    plain = [run(OptimisedProgram(command, folder), "plain").cost for _ in range(asked.launches)]
    output = folder / "optimised"
    words = [KUMIHIMO, "optimise", "--fresh", "--json", "--budget", asked.budget, "--output", output, "--", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return row(name, str(each.ranks), f"{median(plain):.2f}", done.stderr.strip().splitlines()[-1])
    found = json.loads(done.stdout)
    gain, turns = found["gain"], found["comparisons"]
    shown = gain or (turns[0] if turns and "ratio" in turns[0] else None)
    measured = [percent(1 - shown["ratio"]), f"{percent(1 - shown['ratio_high'])} to {percent(1 - shown['ratio_low'])}"]
    kept = ", ".join(sorted({found["candidates"][number]["collective"] for number in found["kept"]}))
    predicted = replayed(command, folder, None)
    effect = ""
    if gain:
        effect = f"{replayed(command, folder, found['wisdom']) / predicted:.2f} / {gain['ratio']:.2f}"
    return row(
        *(name, str(each.ranks), f"{median(plain):.2f}", percent(found["profile"]["transferring_share"])),
        *(measured if shown else ["", ""]),
        str(turns[0]["pairs"] if turns else 0),
        kept or f"nothing: {found['nothing_to_gain']}",
        f"{predicted / median(plain):.2f}",
        effect,
    )


def replayed(command: tuple[str, ...], folder: Path, wisdom: str | None) -> float:
    """Seconds, of one recording."""
    trace = folder / "trace"
    if wisdom is None:
        shutil.rmtree(trace, ignore_errors=True)
        words = [KUMIHIMO, "record", "--trace", trace, "--output", folder / "profile", "--", *command]
        subprocess.run(words, check=True, capture_output=True)
    words = [KUMIHIMO, "replay", trace, "--machine", folder / "testbed.toml", "--model", "flow", "--json"]
    words += ["--wisdom", wisdom] if wisdom else []
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["results"][0]["seconds"]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
