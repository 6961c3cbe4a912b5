"""The same schedules, message by message, in SimGrid's SMPI and in the flow model: do both predict the same time?

    .venv/bin/python bench/simgrid/agreement.py [--ranks 64,512] [--output FILE.md]

A platform of SimGrid (torus, fat tree, dragonfly; links of 5 GB/s and 100 ns) is imported as a machine, whose software
costs nothing, as SMPI's here: its factors are 1, all messages wait for their receive, no TCP window, no cross traffic.
steps.c plays the messages of `kumihimo show --expand`. So only the two models of the network differ.

A case is uncongested if no message waits on a link in the flow model; such cases must agree within 10 %. Of others the
exact fluid model (`--model exact`) is listed, too: it shares links by max-min fairness as SimGrid does, so that a
difference that both of ours have is one of routes, and one that it does not have is flow's.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import smpi


@dataclass(frozen=True)
class Network:
    """One platform; `shape` is how Kumihimo names a job on all of it."""

    name: str
    ranks: int
    topology: str
    parameters: str
    shape: str  # the axes of a torus as SimGrid orders them


NETWORKS = [
    Network("torus", 64, "TORUS", "4,4,4", "4x4x4"),
    Network("fat tree", 64, "FAT_TREE", "2;8,8;1,8;1,1", "64"),
    Network("dragonfly", 64, "DRAGONFLY", "4,2;4,2;4,1;1", "64"),
    Network("torus", 125, "TORUS", "5,5,5", "5x5x5"),
    Network("torus", 256, "TORUS", "8,8,4", "8x8x4"),
    Network("fat tree", 256, "FAT_TREE", "2;16,16;1,16;1,1", "256"),
    Network("dragonfly", 256, "DRAGONFLY", "4,2;8,2;8,1;1", "256"),
    Network("torus", 343, "TORUS", "7,7,7", "7x7x7"),
    Network("torus", 512, "TORUS", "8,8,8", "8x8x8"),
    Network("fat tree", 512, "FAT_TREE", "3;8,8,8;1,8,8;1,1,1", "512"),
    Network("dragonfly", 512, "DRAGONFLY", "8,2;8,2;8,1;1", "512"),
]
SCHEDULES = [
    ("allreduce", "recursive_doubling"),
    ("allreduce", "ring"),
    ("allreduce", "rabenseifner"),
    ("allreduce", "trinaryx3"),
    ("bcast", "binomial"),
    ("allgather", "bruck"),
    ("alltoall", "pairwise"),
]
SIZES = (65536, 1 << 20)


def ask(*arguments: str) -> dict:
    """What a command of Kumihimo prints as JSON; nothing where the algorithm does not apply."""
    done = subprocess.run([str(smpi.KUMIHIMO), *arguments, "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def write_programs(dump: dict, bytes_an_element: int, folder: Path) -> None:
    """The messages of each rank in the form that steps.c reads."""
    for rank, lanes in enumerate(dump["programs"]):
        number = {}  # of the task of a lane's segment
        for lane in lanes:
            for segment in range(len(lane["segments"])):
                number[lane["lane"], segment] = len(number)
        lines = []
        for lane in lanes:
            for segment, body in enumerate(lane["segments"]):
                waits = [number[lane["lane"], segment - lane["window"]]] if segment >= lane["window"] else []
                for after in lane["after"]:
                    for other, other_segment in number:
                        if other in after["lanes"] and (after["scope"] == "all" or other_segment == segment):
                            waits.append(number[other, other_segment])
                lines.append(" ".join(["task", *map(str, [number[lane["lane"], segment], *waits])]))
                for item in body:
                    if "steps" not in item:
                        raise SystemExit("agreement.py: steps.c plays no loops with several iterations in flight")
                    lines.append("round")
                    lines += message_lines(item["steps"], bytes_an_element, lane["lane"] * 4096 + segment)
        (folder / str(rank)).write_text("\n".join(lines) + "\n")


def message_lines(steps: list[dict], bytes_an_element: int, tag: int) -> list[str]:
    """The sends and receives of a round."""
    lines = []
    for step in steps:
        if step["kind"] == "send":
            lines.append(f"send {step['peer']} {length(step['source']) * bytes_an_element} {tag}")
        elif step["kind"].startswith("receive"):
            lines.append(f"recv {step['peer']} {length(step['target']) * bytes_an_element} {tag}")
    return lines


def length(chunks: list) -> int:
    return sum(count for _, count in chunks[1])


def ties(network: Network, dump: dict) -> bool:
    """Whether a message of the programs goes half way round an axis of a torus, where two ways are as short."""
    if network.topology != "TORUS":
        return False
    axes = [int(word) for word in network.parameters.split(",")]

    def place(rank: int) -> list[int]:
        return [rank // math.prod(axes[:axis]) % length for axis, length in enumerate(axes)]

    return any(
        2 * abs(a - b) == length
        for rank, lanes in enumerate(dump["programs"])
        for peer in peers(lanes)
        for a, b, length in zip(place(rank), place(peer), axes, strict=True)
    )


def peers(lanes: list[dict]) -> set[int]:
    """Whom the lanes of a rank send to."""
    rounds = (item for lane in lanes for body in lane["segments"] for item in body)
    return {step["peer"] for item in rounds for step in item["steps"] if step["kind"] == "send"}


def smpi_seconds(program: Path, platform: Path, hosts: Path, programs: Path, ranks: int) -> float:
    """The simulated time of the programs in a folder."""
    # fmt: off
    done = subprocess.run([
        "smpirun", "-np", str(ranks), "-platform", str(platform), "-hostfile", str(hosts), "-no-privatize",
        "--cfg=smpi/host-speed:128Gf", "--cfg=smpi/simulate-computation:no", "--cfg=contexts/stack-size:1024",
        "--cfg=network/model:CM02", "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1",
        "--cfg=network/weight-S:0", "--cfg=network/TCP-gamma:0", "--cfg=network/crosstraffic:0",
        "--cfg=smpi/bw-factor:1", "--cfg=smpi/lat-factor:1", "--cfg=smpi/async-small-thresh:0",
        "--cfg=smpi/send-is-detached-thresh:0", "--cfg=smpi/os:0:0:0", "--cfg=smpi/or:0:0:0", "--cfg=smpi/ois:0:0:0",
        "--log=root.thres:error", str(program), str(programs),
    ], capture_output=True, text=True, check=False)
    # fmt: on
    if done.returncode:
        raise SystemExit(f"agreement.py: SMPI failed: {done.stderr.strip()[-300:]}")
    return float(done.stdout.split()[-1])


UNCONGESTED = "Uncongested"
CONGESTED = "Congested"
TIES = "Ties (messages half way round an even axis: SimGrid sends all one way, Kumihimo half of them each way)"


@dataclass
class Row:
    """Simulated seconds of one case; exact is None where the model takes no job of that size."""

    network: Network
    schedule: tuple[str, str]
    bytes: int
    smpi: float
    flow: float
    waiting: float
    exact: float | None
    ties: bool

    @property
    def kind(self) -> str:
        if self.ties:
            return TIES
        return CONGESTED if self.waiting else UNCONGESTED

    def __str__(self) -> str:
        exact = "" if self.exact is None else f"{self.exact / self.smpi - 1:+.1%}"
        name = f"{self.network.name} {self.network.parameters.replace(';', ' ; ')}"
        return (
            f"| {name} | {' '.join(self.schedule)} | {self.bytes >> 10} KiB | {self.smpi * 1e6:.1f} "
            f"| {self.flow * 1e6:.1f} | {self.waiting:.0%}{', ties' * self.ties} "
            f"| {self.flow / self.smpi - 1:+.1%} | {exact} |"
        )


class Bench:
    """A folder with the player and, for each network, its platforms and machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.player = smpi.compiled("steps.c", folder)

    def rows(self, network: Network) -> list[Row]:
        """All schedules and sizes that the network takes."""
        hosts = self.folder / "hosts"
        smpi.write_hosts(hosts, network.ranks)
        platform = self.folder / "platform.xml"
        smpi.write_platform(platform, network.ranks, network.topology, network.parameters)
        machine = self.folder / "machine.toml"
        machine.unlink(missing_ok=True)
        imported = subprocess.run(
            [
                str(smpi.KUMIHIMO),
                "machine",
                "import",
                str(platform),
                "--like",
                str(smpi.HERE / "torus.toml"),
                "-o",
                str(machine),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if imported.returncode:
            raise SystemExit(f"agreement.py: {imported.stderr.strip()}")
        if network.topology == "TORUS":
            text = machine.read_text()
            machine.write_text(re.sub(r'^shape = ".*"', f'shape = "{network.shape}"', text, flags=re.MULTILINE))
        rows = []
        for collective, algorithm in SCHEDULES:
            for size in SIZES:
                row = self.row(network, (collective, algorithm), size, hosts, platform, machine)
                if row:
                    rows.append(row)
                    print(row, file=sys.stderr, flush=True)
        return rows

    def row(
        self, network: Network, schedule: tuple[str, str], size: int, hosts: Path, platform: Path, machine: Path
    ) -> Row | None:
        """One case; nothing where the algorithm does not apply."""
        collective, algorithm = schedule
        block = size // network.ranks if collective in ("allgather", "alltoall") else size
        job = ["--algorithm", algorithm, "--shape", network.shape]
        if network.topology == "TORUS":  # SimGrid counts nodes along the first axis, which its routes walk first
            job += ["--order", "reversed-axes"]
        dump = ask("show", collective, *job, "--count", str(block // 8), "--expand")
        if not dump:
            return None
        case = ["simulate", collective, "--machine", str(machine), *job, "--bytes", str(block)]
        flows = ask(*case).get("results")
        if not flows:  # `show` knows a row of that many ranks, on which more algorithms apply
            return None
        programs = self.folder / "programs"
        shutil.rmtree(programs, ignore_errors=True)
        programs.mkdir()
        write_programs(dump, 8, programs)
        by_smpi = smpi_seconds(self.player, platform, hosts, programs, network.ranks)
        exact = ask(*case, "--model", "exact").get("results") if network.ranks <= 256 else None
        exact_seconds = exact[0]["seconds"] if exact else None
        return Row(
            network,
            schedule,
            size,
            by_smpi,
            flows[0]["seconds"],
            flows[0]["links_waiting_share"],
            exact_seconds,
            ties(network, dump),
        )


def summary(rows: list[Row]) -> str:
    """The worst of both kinds."""
    lines = []
    for kind in (UNCONGESTED, CONGESTED, TIES):
        errors = sorted((abs(row.flow / row.smpi - 1) for row in rows if row.kind == kind), reverse=True)
        if errors:
            within = sum(error <= 0.1 for error in errors)
            lines.append(f"{kind}: {within} of {len(errors)} within 10 %, farthest {errors[0]:.1%}.")
    return "\n".join(lines)


EXPLANATION = """\
The same messages on the same links by SMPI and by the flow model (`bench/simgrid/agreement.py`). SMPI's factors
are 1, its messages wait for their receives; the machine's software takes no time. Where messages meet, the two
differ for two reasons:

- SimGrid shares a link in inverse proportion to the latencies of the routes: of two messages of 1 MiB on one
  link, one over three links and one over one, the latter got three quarters of it. Kumihimo shares equally, as
  arbiters of a network do. On fat trees, whose routes are equally long, both agree also where messages meet.
- Half way round a ring of a torus SimGrid sends all messages one way, Kumihimo half of them each way (*ties*).

*exact* is the exact solution of Kumihimo's model, of up to 256 ranks.
"""


def main() -> int:
    """Compare, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="64,125,256,343,512", help="sizes of jobs")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    version = smpi.version()
    sizes = {int(word) for word in options.ranks.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        rows = [row for network in NETWORKS if network.ranks in sizes for row in bench.rows(network)]
    table = [
        f"# Predictions beside {version}",
        "",
        EXPLANATION,
        "| network | schedule | bytes | SMPI us | flow us | links waiting | flow - SMPI | exact - SMPI |",
        "|---|---|---|---|---|---|---|---|",
        *map(str, rows),
        "",
        summary(rows),
    ]
    text = "\n".join(table) + "\n"
    if options.output:
        options.output.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
