"""Every format that a command reads from a file: a small valid file in `seeds/`, and a command line that reads it.

A row is a case of test_mutants.py. A new format needs a seed and a row, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from formats.reading import COMMAND
from replay.conftest import Rank, write_trace

from kumihimo._trace import Kind
from kumihimo.demo import experiment
from kumihimo.processes import package_files
from kumihimo.run.profile import otf2_writing

SEEDS = Path(__file__).parent / "seeds"
LOGGOPS = "--loggops L=2500,o=1500,g=1000,G=6,O=0,S=65535"
PLACE = "place --effort fast --seed 1 --threads 1 --shape 2x2x2"
ON_FOUR = "place --traffic ring.txt --shape 2mx2 --evaluate"


INNER = "formats.inner:main"


@dataclass(frozen=True)
class Row:
    """`line` has {file} where the file is named. `make` writes a file that is no text of ours into the folder. `codes`:
    exit codes that are right; 1 if the command checks what the file describes."""

    name: str
    file: str
    line: str
    make: Callable[[Path], None] | None = None
    main: str = COMMAND
    codes: tuple[int, ...] = (0, 2)

    def prepare(self, folder: Path) -> Path:
        """All seeds in the folder, since some name others; the path of the one to change."""
        shutil.copytree(SEEDS, folder, dirs_exist_ok=True)
        if self.make is not None:
            self.make(folder)
        return folder / self.file

    def words(self) -> list[str]:
        return self.line.format(file=self.file).split()


def run(folder: Path, *words: str) -> None:
    command = [Path(sys.executable).parent / "kumihimo", *words]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120)


def database(folder: Path) -> None:
    run(folder, "campaign", "campaign.toml", "-j", "1", "--out", "mutants.sqlite")


def simulated_part(folder: Path) -> None:
    part = experiment.run(paper_shape="2x2x2", full_shape="2x2x4", command="kumihimo demo")
    (folder / "report" / "simulated.json").write_text(json.dumps(part))


def cpp_reader(folder: Path) -> None:
    """A C++ program that reads kernel wisdom, and a file for this machine."""
    source = Path(__file__).with_name("read_choices.cpp")
    include = package_files.folder("kernel") / "include"
    command = ["c++", "-std=c++17", f"-I{include}", str(source), "-o", str(folder / "read_choices")]
    subprocess.run(command, check=True, timeout=300)
    machine = subprocess.run([folder / "read_choices"], check=True, capture_output=True, text=True).stdout
    text = (folder / "kernel-wisdom.json").read_text().replace('"python"', '"c++"')
    text = re.sub(r'"machine": \{[^}]*\}', f'"machine": {machine.strip()}', text)
    (folder / "cpp-kernel-wisdom.json").write_text(text)


def trace(folder: Path) -> None:
    """Of the recorder: two ranks with messages of all kinds, collectives and a region."""
    first, second = Rank(), Rank()
    first.compute(500).send(1, 64).region(begins=True).allreduce(8).region(begins=False)
    first.call("MPI_Isend", (Kind.start_send, 8, 1, 3, 1)).compute(100).call("MPI_Wait", (Kind.end_send, 8, 1, 3, 1))
    second.receive(0, 64).compute(300).allreduce(8).receive(0, 8, tag=3)
    for rank, parts in ((first, (3, 5)), (second, (7, 0))):
        ends = [(kind, sum(parts), -1, -1, 3) for kind in (Kind.start_collective, Kind.end_collective)]
        rank.call("MPI_Ialltoallv", *ends, parts=parts)
    write_trace(folder / "trace", [first, second])


def archive(folder: Path) -> None:
    trace(folder)
    otf2_writing.write(folder / "trace")


def binary_goal(folder: Path) -> None:
    def operation(waits: int, kind: int, peer: int, size: int, tag: int, dependents: int, first: int) -> bytes:
        return struct.pack("<IBIQIBBIIII", waits, kind, peer, size, tag, 0, 0, dependents, first, 0, first + dependents)

    first = struct.pack("<III", 2, 1, 0) + operation(0, 3, 0, 1000, 0, 1, 0) + operation(1, 1, 1, 101, 7, 0, 1)
    first += struct.pack("<I", 1)
    second = struct.pack("<III", 1, 1, 0) + operation(0, 2, 0, 101, 7, 0, 0)
    begin = 6 + 32
    places = struct.pack("<QQQQ", begin, begin + len(first), begin + len(first), begin + len(first) + len(second))
    (folder / "binary.goal").write_bytes(struct.pack("<QIBB", 4223, 2, 0, 0) + places + first + second)


ROWS: tuple[Row, ...] = (
    Row("machine torus", "torus.toml", "machine show {file}"),
    Row("machine with slow parts", "slow.toml", "simulate allreduce -m {file} -s 4x2mx2 -b 8 -a ring"),
    Row("machine dragonfly", "dragonfly.toml", "simulate allreduce -m {file} -p 8 -b 8KiB -a ring"),
    Row("machine fat tree", "fat-tree.toml", "simulate bcast -m {file} -p 8 -b 64KiB -a binomial --model packet"),
    Row("machine node", "node.toml", "simulate allreduce -m {file} -p 8 -b 8KiB -a all"),
    Row("machine of a calibration", "slow.toml", "machine calibrate {file} times.csv --fit message_cost"),
    Row("level of a node", "node.toml", f"{PLACE} --traffic traffic.txt --ranks-per-node 16 --within-node {{file}}"),
    Row("hwloc", "host.xml", "machine import {file} --like fugaku"),
    Row("hwloc of a node", "host.xml", f"{PLACE} --traffic traffic.txt --ranks-per-node 4 --within-node {{file}}"),
    Row("SimGrid", "platform.xml", "machine import {file} --like reedbush-u"),
    Row("Slurm tree", "topology.conf", "machine import {file} --like reedbush-u"),
    Row("Slurm blocks", "blocks.conf", "machine import {file} --like reedbush-u"),
    Row("Slurm YAML tree", "topology.yaml", "machine import {file} --like reedbush-u"),
    Row("Slurm YAML torus", "torus3d.yaml", "machine import {file} --like reedbush-u"),
    Row("measured times", "times.csv", "machine calibrate slow.toml {file} --fit message_cost"),
    Row("calibration", "calibration.toml", "machine calibrate slow.toml {file} --fit message_cost"),
    Row("campaign", "campaign.toml", "campaign {file} --dry-run"),
    Row("program verified", "program.txt", "verify file:{file}", codes=(0, 1, 2)),
    Row("program simulated", "program.txt", "simulate file:{file} -m k-computer -s 3x1x1 --ranks-per-node 1"),
    Row("program placed", "program.txt", f"{PLACE} --traffic file:{{file}}"),
    Row("traffic", "traffic.txt", f"{PLACE} --traffic {{file}}"),
    Row("METIS", "traffic.graph", f"{PLACE} --traffic {{file}}"),
    Row("Scotch", "traffic.grf", f"{PLACE} --traffic {{file}}"),
    Row("edges", "edges.txt", "verify neighbor_allgather -p 4 --neighbours graph:{file}"),
    Row("placement", "placement.txt", "verify allreduce -a ring -s 2mx2 -n 8 --placement {file}"),
    Row("hostfile of Open MPI", "hostfile", f"{PLACE} --traffic traffic.txt --allocation ./{{file}}"),
    Row("hostfile of Hydra", "hosts", f"{PLACE} --traffic traffic.txt --allocation ./{{file}}"),
    Row("map of Hydra", "hosts4", f"{ON_FOUR} hydra:{{file}} --allocation n[0-3]"),
    Row("rankfile", "rankfile", f"{ON_FOUR} {{file}} --allocation n[0-3]"),
    Row("rankfile of Open MPI 5", "rankfile5", f"{ON_FOUR} openmpi5:{{file}} --allocation n[0-3]"),
    Row("virtual coordinates", "vcoordfile", f"{ON_FOUR} vcoord:{{file}}"),
    Row("MPICH_RANK_ORDER", "MPICH_RANK_ORDER", f"{ON_FOUR} cray:{{file}}"),
    Row("hostfile of Slurm", "slurm-hostfile", f"{ON_FOUR} slurm:{{file}} --allocation n[0-3]"),
    Row("permutation", "permutation", f"{ON_FOUR} permutation:{{file}}"),
    Row("GOAL", "trace.goal", f"simulate goal:{{file}} --model loggp {LOGGOPS}"),
    Row("GOAL replayed", "trace.goal", "replay goal:{file} -m slow.toml"),
    Row("binary GOAL", "binary.goal", f"simulate goal:{{file}} --model loggp {LOGGOPS}", binary_goal),
    Row(
        "GOAL in the background",
        "trace.goal",
        "simulate allreduce -m slow.toml -s 4x2mx2 -p 8 --ranks-per-node 1 -b 8 -a ring --model packet "
        "--repeats 2 --background goal:{file},share=50%",
    ),
    Row(
        "noise",
        "detours.noise",
        f"simulate barrier -a dissemination -p 8 --model loggp {LOGGOPS} --noise trace:{{file}}",
    ),
    Row("trace", "trace/events/rank0.events", "replay trace -m slow.toml", trace),
    Row("names of a trace", "trace/profile.jsonl", "replay trace -m slow.toml", trace),
    Row("OTF2 anchor", "trace/otf2/traces.otf2", "replay trace/otf2 -m slow.toml", archive),
    Row("OTF2 definitions", "trace/otf2/traces.def", "replay trace/otf2 -m slow.toml", archive),
    Row("OTF2 definitions of a rank", "trace/otf2/traces/0.def", "replay trace/otf2 -m slow.toml", archive),
    Row("OTF2 events", "trace/otf2/traces/0.evt", "replay trace/otf2 -m slow.toml", archive),
    Row("wisdom of a replay", "wisdom.json", "replay trace -m slow.toml --wisdom {file}", trace),
    Row("times of a campaign", "times.csv", "campaign campaign.toml -j 1 --out new.sqlite"),
    Row("prediction", "prediction.json", "checkpoint {file} --times 1000000 --node-mtbf 5y --checkpoint 90s"),
    Row("profile shown", "profile.jsonl", "record --show {file}"),
    Row("profile placed", "profile.jsonl", f"{PLACE} --traffic {{file}}"),
    Row(
        "molecule",
        "water.xyz",
        "app hartree-fock --threads 1 --variant shells --no-check --triad 10 --peak 10 "
        "--set molecule={file} --set basis=sto-3g",
    ),
    Row(
        "basis set",
        "basis.gbs",
        "app hartree-fock --threads 1 --variant shells --no-check --triad 10 --peak 10 "
        "--set molecule=water.xyz --set basis={file}",
    ),
    Row(
        "Matrix Market",
        "matrix.mtx",
        "app poisson3d --threads 1 --variant golden --triad 10 --peak 10 --set matrix={file}",
    ),
    Row("task of an application", "task.json", "task_of_application {file}", main=INNER),
    Row("wisdom of a C++ kernel", "cpp-kernel-wisdom.json", "cpp_kernel_wisdom {file}", cpp_reader, main=INNER),
    Row("wisdom of a preload library", "wisdom.json", "preload_wisdom {file}", main=INNER),
    Row("kernel wisdom of a preload library", "collective-kernels.json", "preload_kernel_wisdom {file}", main=INNER),
    Row("wisdom in a report", "wisdom.json", "reported_wisdom {file}", main=INNER),
    Row("wisdom of a program's kernel", "kernel-wisdom.json", "kernel_wisdom {file}", main=INNER),
    Row("journal of a tuning", "tuning.journal", "journal_of_tuning {file}", main=INNER),
    Row(
        "wisdom extended", "simulated-wisdom.json", "tune allreduce -m slow.toml -p 32 -b 8 --budget 1s --output {file}"
    ),
    Row("report, simulated part", "report/simulated.json", "report report", simulated_part),
    Row("report, measured part", "report/measured.json", "report report"),
    Row("report, unmodified part", "report/unmodified.json", "report report"),
    Row("database shown", "mutants.sqlite", "campaign show {file}", database),
    Row("database continued", "mutants.sqlite", "campaign campaign.toml -j 1 --out {file}", database),
)
