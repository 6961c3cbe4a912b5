#!/usr/bin/env python3
"""Collectives on a testbed: what `tune` chose there beside each algorithm of the MPI library, as a table.

    bench/testbed/collectives.py [--shape 3x3x3] [--rate 50Mbit/s] [--rounds 5] [--budget 5m] [--mpi openmpi]
                                 [--collectives allreduce,bcast] [--wisdom FILE]
                                 [--bytes 8,4KiB,64KiB,256KiB,1MiB]

A C program (collectives.c) is launched with each algorithm of the library, with the library's own choice, and under
`kumihimo run` with what `kumihimo tune` found in the testbed; all by turns, in a new order in each round. Times are of
the slowest rank: the median of the calls of a launch, then of the launches. The ratio is the library's best algorithm,
taken for each size by the same figures, over ours, with its 95 % interval over the rounds. `predicted` is what
`simulate` says of our algorithm on the testbed's machine file."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from kumihimo import _measure
from kumihimo.processes import mpi
from kumihimo.text.quantities import seconds_text
from kumihimo.text.sizes import parse_sizes, with_unit
from kumihimo.tune.mpi_library.controls import controls

HERE = Path(__file__).parent
KUMIHIMO = str(Path(sys.executable).parent / "kumihimo")
NAME = f"bench{os.getpid()}"
OURS, OWN = "ours", "own choice"
CALLS, LIMIT = 3, 4.0  # of a size; seconds of a call, from which longer vectors are left out
LAUNCH_SECONDS = 240
# MPICH's names of algorithms that no text of the library lists in one form.
OF_MPICH = {
    "allreduce": ("recursive_doubling", "reduce_scatter_allgather", "ring", "tree", "recexch"),
    "bcast": ("binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather", "tree", "pipelined_tree"),
    "reduce": ("binomial", "reduce_scatter_gather", "tree"),
    "allgather": ("brucks", "recursive_doubling", "ring", "recexch"),
    "reduce_scatter": ("pairwise", "recursive_doubling", "recursive_halving", "noncommutative"),
    "alltoall": ("brucks", "pairwise", "pairwise_sendrecv_replace", "scattered"),
}
WHOLE = ("allreduce", "bcast", "reduce")  # whose lengths are of the vector
OF_RUNS = ("fabric", "single_copy", "streaming_stores")  # how messages are carried, which no machine file tells
NOT_HERE = {"ignore", "two_proc"}  # no algorithm; one for two ranks


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--shape", default="3x3x3")
    words.add_argument("--rate", default="50Mbit/s")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--budget", default="5m")
    words.add_argument("--mpi", default="openmpi")
    words.add_argument("--collectives", default="allreduce,bcast,allgather,reduce_scatter,alltoall")
    words.add_argument("--wisdom", type=Path, help="what tune found in such a testbed before, in place of tuning anew")
    words.add_argument("--bytes", default="8,4KiB,64KiB,256KiB,1MiB")
    asked = words.parse_args()
    installation = mpi.choose(asked.mpi)
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        subprocess.run([KUMIHIMO, "testbed", "up", asked.shape, "--rate", asked.rate, "--name", NAME], check=True)
        try:
            bench = Bench(asked, installation, Path(folder))
            for collective in asked.collectives.split(","):
                bench.table(collective)
        finally:
            subprocess.run([KUMIHIMO, "testbed", "down", "--name", NAME], check=True, stdout=subprocess.DEVNULL)


def built(installation: mpi.Installation, folder: Path) -> Path:
    compiler = installation.launcher.with_name(f"mpicc.{installation.family}")  # Debian's name
    if not compiler.exists():
        compiler = compiler.with_name("mpicc")
    subprocess.run([compiler, "-O2", "-o", folder / "collectives", HERE / "collectives.c"], check=True)
    return folder / "collectives"


class Bench:
    def __init__(self, asked: argparse.Namespace, installation: mpi.Installation, folder: Path) -> None:
        self.asked, self.installation, self.folder = asked, installation, folder
        self.sizes = parse_sizes(asked.bytes)
        self.wisdom, self.machine = folder / "wisdom.json", folder / "testbed.toml"
        subprocess.run([KUMIHIMO, "testbed", "machine", "--measure", "--name", NAME, "--out", self.machine], check=True)
        self.ranks = json.loads(self.kumihimo("testbed", "status", "--name", NAME, "--json"))["results"][0]["nodes"]
        self.program = built(installation, folder)

    def table(self, collective: str) -> None:
        chosen = self.chosen(collective)
        ways = {OURS: {}, OWN: {}, **self.algorithms(collective)}
        times: dict[str, dict[int, list[float]]] = {way: {size: [] for size in self.sizes} for way in ways}
        for number in range(self.asked.rounds):
            order = list(ways)
            random.Random(number).shuffle(order)
            for way in order:
                for size, seconds in self.launch(collective, way, ways[way]).items():
                    times[way][size].append(seconds)
        where = f"{self.ranks} ranks on {self.asked.shape}, {self.asked.rate}"
        print(f"\n## {collective}, {where}, {self.installation.family} {self.installation.version}\n")
        print("| bytes | ours | predicted | own choice | best of the library | best / ours | interval | algorithm |")
        print("|---:|---:|---:|---:|---:|---:|---|---|")
        for size in self.sizes:
            print(self.row(collective, size, times, chosen), flush=True)

    def chosen(self, collective: str) -> list[dict]:
        if self.asked.wisdom:
            shutil.copy(self.asked.wisdom, self.wisdom)
            every = json.loads(self.wisdom.read_text(encoding="utf-8"))["choices"]
            return [choice for choice in every if choice["collective"] == collective]
        lengths = dict.fromkeys(str(self.in_mpi_bytes(collective, size)) for size in self.sizes)
        asked = ("tune", collective, "--bytes", ",".join(lengths), "--budget", self.asked.budget)
        asked += ("--ranks", str(self.ranks), "--mpi", self.asked.mpi, "--output", str(self.wisdom), "--json")
        return json.loads(self.kumihimo(*self.inside(), KUMIHIMO, *asked))["results"]

    def row(self, collective: str, size: int, times: dict, chosen: list[dict]) -> str:
        """Of the ways that ran in all rounds."""
        found = {way: median(of[size]) for way, of in times.items() if len(of[size]) == self.asked.rounds}
        choice = self.choice_at(chosen, collective, size)
        cells = [with_unit(size), "-", self.predicted(collective, choice, size), "-", "-", "", ""]
        cells[1], cells[3] = (seconds_text(found[way]) if way in found else "-" for way in (OURS, OWN))
        if theirs := [way for way in found if way != OURS]:
            best = min(theirs, key=lambda way: found[way])
            cells[4] = f"{seconds_text(found[best])} {best}"
            if OURS in found:
                ratio = _measure.compare(list(zip(times[best][size], times[OURS][size])))
                cells[5:] = [f"{ratio.ratio:.2f}", f"{ratio.ratio_low:.2f}..{ratio.ratio_high:.2f}"]
        return "| " + " | ".join([*cells, choice["algorithm"] if choice else "library"]) + " |"

    def choice_at(self, chosen: list[dict], collective: str, size: int) -> dict | None:
        """What runs a call."""
        length = self.in_mpi_bytes(collective, size)
        fitting = [c for c in chosen if c["from_bytes"] <= length <= c["to_bytes"] and c["algorithm"] != "library"]
        return fitting[0] if fitting else None

    def predicted(self, collective: str, choice: dict | None, size: int) -> str:
        if choice is None:
            return ""
        given = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
            for name, value in choice["parameters"].items()
            if name not in OF_RUNS
        ]
        asked = ("simulate", collective, "--machine", str(self.machine), "-a", choice["algorithm"], *given, "--json")
        length = str(self.in_mpi_bytes(collective, size))
        done = subprocess.run([KUMIHIMO, *asked, "--bytes", length], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stderr.strip(), file=sys.stderr)
            return "?"
        return seconds_text(json.loads(done.stdout)["results"][0]["seconds"])

    def in_mpi_bytes(self, collective: str, size: int) -> int:
        """What the count of the call says: of a block where the collective has blocks."""
        return size if collective in WHOLE else max(8, size // 8 // self.ranks * 8)

    def algorithms(self, collective: str) -> dict[str, dict[str, str]]:
        """Settings of the environment that make the library run each of its own."""
        if self.installation.family == "mpich":
            variable = f"MPIR_CVAR_{self.in_mpi(collective).upper()}_INTRA_ALGORITHM"
            return {name: {variable: name} for name in OF_MPICH[collective]}
        variable = f"coll_tuned_{self.in_mpi(collective)}_algorithm"
        known = controls(self.installation.library)[variable].values
        forced = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
        return {
            name: {**forced, f"OMPI_MCA_{variable}": str(number)}
            for number, name in known.items()
            if name not in NOT_HERE
        }

    def in_mpi(self, collective: str) -> str:
        return "reduce_scatter_block" if collective == "reduce_scatter" else collective

    def launch(self, collective: str, way: str, settings: dict[str, str]) -> dict[int, float]:
        program = [str(self.program), collective, str(CALLS), str(LIMIT), *map(str, self.sizes)]
        command = [*self.installation.arguments(self.ranks), *program]
        if way == OURS:
            command = [KUMIHIMO, "run", "--wisdom", str(self.wisdom), "--", *command]
        found: dict[int, list[float]] = {}
        try:
            text = self.kumihimo(*self.inside(), *command, environment=settings, seconds=LAUNCH_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{collective} by {way} failed: {error}", file=sys.stderr)
            return {}
        for line in text.splitlines():
            size, seconds = line.split()
            found.setdefault(int(size), []).append(float(seconds))
        return {size: median(all_of_them) for size, all_of_them in found.items()}

    def inside(self) -> tuple[str, ...]:
        return ("testbed", "run", "--name", NAME, "--")

    def kumihimo(self, *words: str, environment: dict[str, str] | None = None, seconds: float | None = None) -> str:
        settings = {"env": {**os.environ, **(environment or {})}, "timeout": seconds}
        done = subprocess.run([KUMIHIMO, *words], capture_output=True, text=True, check=True, **settings)
        return done.stdout


if __name__ == "__main__":
    main()
