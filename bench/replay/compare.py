#!/usr/bin/env python3
"""Programs recorded on this machine and replayed on its measured model, beside their real runs, as Markdown.

    bench/replay/compare.py [--machine FILE] [--ranks 2,4] [--launches 5] [--part totals|effects] [--mpi openmpi]

totals    each program runs without the recorder and with it, by turns. A replay predicts the time from MPI_Init to
          MPI_Finalize. The table has the median of the predictions beside the median of the runs without the recorder:
          with the measured times of the MPI library's own collectives, and of the same traces by messages alone.
effects   the halo program, dominated by its allreduce, with the algorithms that Open MPI is told to take, by turns; and
          one recording of it, replayed with the same algorithms.

Without --machine the machine is measured first. Programs that are not installed (lmp, hpcc) are left out, and the table
says so. Run it on an idle machine."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kumihimo.demo.experiment.unmodified import INPUT
from kumihimo.tune.optimise.program_runs import OptimisedProgram, run

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).parent / "kumihimo"
# Algorithms of the component `tuned` by their numbers, and what they are called in the registry.
OF_OPEN_MPI = {"recursive_doubling": 3, "ring": 4, "rabenseifner": 6}
DYNAMIC, ALGORITHM = "OMPI_MCA_coll_tuned_use_dynamic_rules", "OMPI_MCA_coll_tuned_allreduce_algorithm"
SUMMED = (1, 512, 8192, 131072)  # doubles of the allreduce whose algorithms are swapped
STEPS = {1: 4000, 512: 4000, 8192: 2000, 131072: 200}


@dataclass(frozen=True)
class Case:
    name: str
    command: tuple[str, ...]


def main() -> None:
    asked = arguments()
    with tempfile.TemporaryDirectory(prefix="kumihimo-replay-") as place:
        folder = Path(place)
        machine = (asked.machine or measured(folder, asked.mpi)).resolve()
        built(folder, asked.mpi)
        os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
        if asked.part in (None, "totals"):
            totals(asked, machine, folder)
        if asked.part in (None, "effects"):
            effects(asked, machine, folder)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", type=Path)
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4])
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--part", choices=["totals", "effects"])
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--program", help="the only one")
    return parser.parse_args()


def measured(folder: Path, family: str) -> Path:
    file = folder / "machine.toml"
    subprocess.run([COMMAND, "machine", "measure", "--mpi", family, "--out", file], check=True, stdout=sys.stderr)
    return file


def built(folder: Path, family: str) -> None:
    compiler = shutil.which(f"mpicc.{family}") or "mpicc"
    subprocess.run([compiler, "-O2", "-w", "-o", folder / "halo", HERE / "halo.c"], check=True)


def cases(folder: Path, ranks: int) -> list[Case]:
    found = [
        Case("halo, sweeps", (str(folder / "halo"), "256", "512", "4000", "1")),
        Case("halo, sums of 64 KiB", (str(folder / "halo"), "16", "512", "3000", "8192")),
    ]
    if shutil.which("lmp"):
        (folder / "in.liquid").write_text(INPUT, encoding="utf-8")
        found.append(Case("LAMMPS, liquid", ("lmp", "-in", "in.liquid", "-log", "none", "-screen", "none")))
    if shutil.which("hpcc"):
        (folder / "hpccinf.txt").write_text(hpcc_input(ranks), encoding="utf-8")
        found.append(Case("hpcc", ("hpcc",)))
    return found


def hpcc_input(ranks: int) -> str:
    """The example of Debian's package, with a small matrix and this grid of processes."""
    rows = 2 if ranks % 4 == 0 else 1
    text = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text(encoding="utf-8")
    lines = text.splitlines()
    lines[5], lines[10], lines[11] = "1000 Ns", f"{rows} Ps", f"{ranks // rows} Qs"
    return "\n".join(lines) + "\n"


def launched(case: Case, ranks: int, family: str) -> tuple[str, ...]:
    launcher = shutil.which(f"mpirun.{family}") or "mpirun"
    return (launcher, "-n", str(ranks), *case.command)


def once(case: Case, ranks: int, family: str, folder: Path) -> float:
    """Seconds from MPI_Init to MPI_Finalize."""
    return run(OptimisedProgram(launched(case, ranks, family), folder), "plain").cost


def recorded(case: Case, ranks: int, family: str, folder: Path) -> Path:
    trace = folder / "trace"
    shutil.rmtree(trace, ignore_errors=True)
    words = [COMMAND, "record", "--trace", trace, "--output", folder / "profile", "--", *launched(case, ranks, family)]
    subprocess.run(words, check=True, capture_output=True)
    return trace


def replayed(trace: Path, machine: Path, algorithm: str | None = None) -> dict:
    words = [COMMAND, "replay", trace, "--machine", machine, "--json"]
    if algorithm:
        words += ["--algorithm", f"allreduce={algorithm}"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["results"][0]


def without_collectives(machine: Path, folder: Path) -> Path:
    """The machine file without [library_collectives]."""
    text = machine.read_text(encoding="utf-8")
    file = folder / "messages.toml"
    file.write_text(re.sub(r"^\[library_collectives\]\n(?:(?!\[)[^\n]*\n)*", "", text, flags=re.M), encoding="utf-8")
    return file


def totals(asked: argparse.Namespace, machine: Path, folder: Path) -> None:
    print(
        "| program | ranks | measured, ms | range | recorded, ms | predicted, ms | predicted / measured "
        "| by messages alone | launches |"
    )
    print("|---|---:|---:|---|---:|---:|---:|---:|---:|", flush=True)
    messages = without_collectives(machine, folder)
    os.chdir(folder)
    for ranks in asked.ranks:
        for case in cases(folder, ranks):
            if asked.program and asked.program not in case.name:
                continue
            plain, kept, predicted, by_messages = [], [], [], []
            for _ in range(asked.launches):
                plain.append(once(case, ranks, asked.mpi, folder))
                trace = recorded(case, ranks, asked.mpi, folder)
                found = replayed(trace, machine)
                predicted.append(found["seconds"])
                by_messages.append(replayed(trace, messages)["seconds"])
                kept.append(found["recorded_seconds"])
            middle, guess = statistics.median(plain), statistics.median(predicted)
            span = f"{1e3 * min(plain):.1f} to {1e3 * max(plain):.1f}"
            alone = statistics.median(by_messages) / middle
            found = f"{1e3 * statistics.median(kept):.1f} | {1e3 * guess:.1f} | {guess / middle:.2f} | {alone:.2f}"
            row = f"| {case.name} | {ranks} | {1e3 * middle:.1f} | {span} | {found} | {asked.launches} |"
            print(row, flush=True)
    print()


def effects(asked: argparse.Namespace, machine: Path, folder: Path) -> None:
    print("| bytes | ranks | algorithm | measured, ms | beside recursive doubling | predicted | launches |")
    print("|---:|---:|---|---:|---:|---:|---:|", flush=True)
    os.chdir(folder)
    os.environ[DYNAMIC] = "1"
    for ranks in asked.ranks:
        for summed in SUMMED:
            case = Case("", (str(folder / "halo"), "2", "64", str(STEPS[summed]), str(summed)))
            seconds: dict[str, list[float]] = {name: [] for name in OF_OPEN_MPI}
            for _ in range(asked.launches):
                for name, number in OF_OPEN_MPI.items():
                    os.environ[ALGORITHM] = str(number)
                    seconds[name].append(once(case, ranks, "openmpi", folder))
            os.environ[ALGORITHM] = str(OF_OPEN_MPI["recursive_doubling"])
            trace = recorded(case, ranks, "openmpi", folder)
            predicted = {name: replayed(trace, machine, name)["seconds"] for name in OF_OPEN_MPI}
            for name in OF_OPEN_MPI:
                real = statistics.median(seconds[name]) / statistics.median(seconds["recursive_doubling"])
                guess = predicted[name] / predicted["recursive_doubling"]
                print(
                    f"| {8 * summed} | {ranks} | {name} | {1e3 * statistics.median(seconds[name]):.1f} | {real:.2f} "
                    f"| {guess:.2f} ({1e3 * predicted[name]:.1f} ms) | {asked.launches} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
