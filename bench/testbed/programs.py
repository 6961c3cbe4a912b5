#!/usr/bin/env python3
"""Real programs on a testbed: what `optimise` and `place` gain, and what replays of recordings predict, as tables.

    bench/testbed/programs.py [--shape 3x3x3] [--rate 50Mbit/s] [--budget 8m] [--rounds 5] [--program NAME]
                              [--slots 2] [--order SEED] [--only placed] [--keep FOLDER]

In the testbed a program is recorded, `optimise` tunes what it calls, and `place` places its ranks by the trace: once
with the library's collectives, once with those that were tuned. A placement is kept if a replay says that it saves 5 %.
Then whole runs go by turns, in a new order in each round: plain, tuned, placed, and both; what keeps nothing does not
run.
`seconds` is the median of plain runs from MPI_Init to MPI_Finalize; `transfer` their share in which bytes move; each
way's figure is the time that whole runs save, with its 95 % interval over the rounds. `predicted` is a replay of the
recording on the testbed's machine file, over the plain runs; `in MPI` the mean time of a rank in MPI by this replay,
over that of the recorded run; `effect` the time with choices over the plain time, by
replay and as measured. With --order the launcher starts the ranks on shuffled nodes, as a busy machine would, and
`place` starts from there; else on consecutive nodes, --slots ranks on each (block order). --only leaves the other ways
out, --keep copies recordings, choices and times into a folder.
Programs that are not installed are left out, and the table says so. Run it on an idle machine, with Open MPI 4."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from kumihimo import _measure
from kumihimo.text.errors import KumihimoError
from kumihimo.tune.optimise.program_runs import OptimisedProgram, run

HERE = Path(__file__).parent
KUMIHIMO = str(Path(sys.executable).parent / "kumihimo")
NAME = f"bench{os.getpid()}"
FILES = HERE / "programs"
PYTHON = "/usr/bin/python3"  # of the system's packages
SCALAPACK = "/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xdlu"
WORTH = 0.95  # of the time without a placement, which a replay with it must be below
SHUFFLED = "shuffled.txt"  # a rankfile
ALONG = "must have messages that a placement changes"  # what `place` says where all algorithms go along the network


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


@dataclass(frozen=True)
class BenchWay:
    """How a program is started. `map`: a rankfile in place of the usual order of the nodes."""

    wisdom: Path | None = None
    map: str | None = None


PROGRAMS = {
    "training, gradients of 0.6 MB": BenchProgram("mpi4py", 27, (PYTHON, "train.py", "1000", "30")),
    "training, gradients of 0.1 MB": BenchProgram("mpi4py", 27, (PYTHON, "train.py", "170", "100")),
    "halo exchange, 3x3x3 of ranks": BenchProgram("mpi4py", 27, (PYTHON, "halo.py", "16", "64", "30", "3", "3", "3")),
    "halo exchange, 8x4 of ranks": BenchProgram("mpi4py", 32, (PYTHON, "halo.py", "16", "512", "30", "8", "4")),
    "mpi4py-fft, 96^3": BenchProgram("mpi4py_fft", 27, (PYTHON, "fft.py", "96", "24")),
    "LAMMPS, liquid": BenchProgram("lmp", 27, ("lmp", "-in", "in.lj", "-log", "none")),
    "CP2K, two molecules of water": BenchProgram("cp2k", 8, ("cp2k", "-i", "h2o.inp")),
    "GPAW, hydrogen": BenchProgram("gpaw", 8, (PYTHON, "h2.py")),
    "hypre, Poisson by PFMG": BenchProgram("poisson_hypre", 27, ("./poisson_hypre", "3", "3", "3", "24")),
    "ScaLAPACK, LU of 1600": BenchProgram(SCALAPACK, 16, (SCALAPACK,)),
    "hpcc": BenchProgram("hpcc", 8, ("hpcc",)),
}


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--shape", default="3x3x3")
    words.add_argument("--rate", default="50Mbit/s")
    words.add_argument("--budget", default="8m")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--program", default="")
    words.add_argument("--slots", default="1", help="ranks that the launcher starts on a node")
    words.add_argument("--order", type=int, help="seed of a shuffled order of the nodes")
    words.add_argument("--only", choices=("tuned", "placed"), help="leave the other ways out")
    words.add_argument("--keep", type=Path)
    asked = words.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if "KUMIHIMO_TESTBED" in os.environ:
        table(asked, Path.cwd())
        return
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        prepare(Path(folder))
        network = [asked.shape, "--rate", asked.rate, "--slots", asked.slots]
        subprocess.run([KUMIHIMO, "testbed", "up", *network, "--name", NAME], check=True)
        try:
            file = ["--out", f"{folder}/testbed.toml"]
            subprocess.run([KUMIHIMO, "testbed", "machine", "--measure", "--name", NAME, *file], check=True)
            inside = [KUMIHIMO, "testbed", "run", "--name", NAME, "--", sys.executable, Path(__file__).resolve()]
            kept = ["--keep", str(asked.keep.resolve())] if asked.keep else []
            subprocess.run([*inside, *sys.argv[1:], *kept], check=True, cwd=folder)
        finally:
            subprocess.run([KUMIHIMO, "testbed", "down", "--name", NAME], check=True, stdout=subprocess.DEVNULL)


def prepare(folder: Path) -> None:
    for path in FILES.iterdir():
        shutil.copy(path, folder)
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    if example.is_file():
        lines = example.read_text(encoding="utf-8").splitlines()
        lines[5], lines[10], lines[11] = "240 Ns", "2 Ps", "4 Qs"
        (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    source = HERE.parent / "placement" / "poisson_hypre.c"
    build = ["mpicc.openmpi", "-O2", "-I/usr/include/hypre", "-o", folder / "poisson_hypre", source, "-lHYPRE", "-lm"]
    subprocess.run(build, check=False, capture_output=True)


def table(asked: argparse.Namespace, folder: Path) -> None:
    ways = ("tuned", "placed", "both")
    columns = ("program", "ranks", "seconds", "transfer", *ways, "kept", "predicted", "in MPI", "effect")
    order = "" if asked.order is None else ", on shuffled nodes"
    print(f"\n## Programs on {asked.shape}, {asked.rate}{order}\n\n{row(*columns)}\n{row(*['---'] * len(columns))}")
    for name, each in PROGRAMS.items():
        if asked.program in name:
            here = is_here(each, folder)
            print(BenchRow(each, asked, folder).text(name) if here else row(name, "not installed"), flush=True)


def is_here(each: BenchProgram, folder: Path) -> bool:
    return (folder / each.needs).is_file() if each.words[0].startswith("./") else each.is_here


class BenchRow:
    def __init__(self, each: BenchProgram, asked: argparse.Namespace, folder: Path) -> None:
        self.each, self.asked, self.folder = each, asked, folder
        self.trace, self.profile, self.wisdom = folder / "trace", folder / "profile", folder / "wisdom.json"
        if asked.order is not None:
            nodes = list(range(each.ranks))
            random.Random(asked.order).shuffle(nodes)
            cores = f"0-{os.cpu_count() - 1}"
            lines = [f"rank {rank}=node{node} slot={cores}\n" for rank, node in enumerate(nodes)]
            (folder / SHUFFLED).write_text("".join(lines), encoding="ascii")

    def text(self, name: str) -> str:
        try:
            return self.measured(name)
        except subprocess.CalledProcessError as error:
            why = error.stderr or str(error)
        except KumihimoError as error:
            why = str(error)
        return row(name, str(self.each.ranks), why.strip().splitlines()[-1])

    def measured(self, name: str) -> str:
        shutil.rmtree(self.trace, ignore_errors=True)
        recorded = ["record", "--trace", self.trace, "--output", self.profile, "--", *self.command()]
        self.kumihimo(*recorded)
        tuned = self.tuned()
        wisdom = self.wisdom if tuned["kept"] else None
        placed, both = self.placed(BenchWay(None, "placed.txt")), ""
        ways = {"plain": BenchWay()}
        ways |= {"tuned": BenchWay(wisdom)} if wisdom else {}
        ways |= {"placed": BenchWay(None, "placed.txt")} if placed else {}
        if wisdom and (both := self.placed(BenchWay(wisdom, "both.txt"))):
            ways["both"] = BenchWay(wisdom, "both.txt")
        times = self.turns(ways)
        plain = median(times["plain"])
        gains = {way: _measure.compare(list(zip(times[way], times["plain"]))) for way in ways if way != "plain"}
        if self.asked.keep:
            self.keep(name, times)
        replays = {way: self.replayed(given) for way, given in ways.items()}
        predicted = {way: replay["seconds"] for way, replay in replays.items()}
        effects = [f"{way} {predicted[way] / predicted['plain']:.2f} / {gains[way].ratio:.2f}" for way in gains]
        kept = sorted({tuned["candidates"][number]["collective"] for number in tuned["kept"]}) if tuned["kept"] else []
        shares = [saved(gains[way]) if way in gains else "" for way in ("tuned", "placed", "both")]
        return row(
            *(
                name,
                str(self.each.ranks),
                f"{plain:.2f}",
                percent(tuned["profile"]["transferring_share"]) if "profile" in tuned else "",
                *shares,
            ),
            "; ".join([*kept, *([placed] if placed else []), *([f"both {both}"] if both else [])]) or "nothing",
            f"{predicted['plain'] / plain:.2f}",
            f"{replays['plain']['communication_seconds'] / self.seconds_in_mpi():.2f}",
            "; ".join(effects),
        )

    def command(self, map_file: str | None = None) -> tuple[str, ...]:
        file = self.map_file(map_file)
        placing = ("--rankfile", str(self.folder / file)) if file else ()
        return ("mpirun.openmpi", "-n", str(self.each.ranks), *placing, *self.each.words)

    def map_file(self, given: str | None) -> str | None:
        return given or (SHUFFLED if self.asked.order is not None else None)

    def tuned(self) -> dict:
        words = ["optimise", "--fresh", "--json", "--budget", self.asked.budget, "--output", self.folder / "optimised"]
        if self.asked.only == "placed":
            return {"kept": []}
        found = self.kumihimo(*words, "--", *self.command())
        if found["kept"]:
            shutil.copy(found["wisdom"], self.wisdom)
        return found

    def placed(self, way: BenchWay) -> str:
        """What changes; empty where `place` keeps the order of the ranks, or a replay says that little comes of it."""
        if self.asked.only == "tuned":
            return ""
        by = ["--wisdom", way.wisdom] if way.wisdom else []
        words = ["place", "--json", "--traffic", self.trace, *by, "--output", f"openmpi4:{self.folder / way.map}"]
        try:
            if self.asked.order is not None:
                given = f"openmpi4:{self.folder / SHUFFLED}"
                before = self.kumihimo(*words[:-2], "--evaluate", given)
                found = self.kumihimo(*words, "--placement", given)
            else:
                found = self.kumihimo(*words)
                before = found["before"]
        except subprocess.CalledProcessError as error:
            if ALONG not in error.stderr:
                raise
            return ""
        if found["hop_bytes"] >= before["hop_bytes"]:
            return ""
        if self.replayed(way)["seconds"] > WORTH * self.replayed(BenchWay(way.wisdom))["seconds"]:
            return ""
        links = found["link_bytes_max"] / before["link_bytes_max"]
        return f"hop-bytes {found['hop_bytes'] / before['hop_bytes']:.2f}, busiest link {links:.2f}"

    def turns(self, ways: dict[str, BenchWay]) -> dict[str, list[float]]:
        times: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(self.asked.rounds):
            for way in random.Random(number).sample(list(ways), len(ways)):
                program = OptimisedProgram(self.command(ways[way].map), self.folder)
                times[way].append(run(program, way, ways[way].wisdom).cost)
        return times

    def keep(self, name: str, times: dict[str, list[float]]) -> None:
        to = self.asked.keep / name.replace(" ", "-").replace(",", "")
        shutil.copytree(self.folder, to, dirs_exist_ok=True)
        (to / "times.json").write_text(json.dumps(times), encoding="utf-8")

    def seconds_in_mpi(self) -> float:
        """Of the recorded run, the mean of the ranks."""
        _, *ranks = map(json.loads, self.profile.read_text(encoding="utf-8").splitlines())
        return fmean(rank["mpi_seconds"] for rank in ranks)

    def replayed(self, way: BenchWay) -> dict:
        words = ["replay", self.trace, "--model", "flow", "--json"]
        file = self.map_file(way.map)
        words += ["--placement", f"openmpi4:{self.folder / file}"] if file else []
        words += ["--wisdom", way.wisdom] if way.wisdom else []
        return self.kumihimo(*words)["results"][0]

    def kumihimo(self, *words: str | Path) -> dict:
        done = subprocess.run([KUMIHIMO, *words], capture_output=True, text=True, check=True, cwd=self.folder)
        return json.loads(done.stdout) if "--json" in words else {}


def saved(gain: _measure.Comparison) -> str:
    return f"{percent(1 - gain.ratio)} ({percent(1 - gain.ratio_high)} to {percent(1 - gain.ratio_low)})"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
