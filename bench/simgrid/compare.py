"""The same allreduce simulated by SimGrid's SMPI and by Kumihimo: wall time and memory of both, side by side.

    .venv/bin/python bench/simgrid/compare.py [--launches 3] [--output FILE.md]

Both simulate one allreduce on a torus with 5 GB/s links and 100 ns a hop: SMPI runs the program allreduce.c with the
algorithm named (every rank computes and its bytes move), Kumihimo the flow model on the schedule. Launches alternate;
medians of whole processes, and of the same less their start: SMPI's is the program without the allreduce on as many
ranks, Kumihimo's `kumihimo --version`. SMPI checks the sums; Kumihimo's schedules are proved by `verify`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import smpi


@dataclass(frozen=True)
class Case:
    """One question that both simulators answer."""

    shape: str
    bytes: int
    kumihimo: str
    smpi: str

    @property
    def ranks(self) -> int:
        product = 1
        for length in self.shape.split("x"):
            product *= int(length)
        return product


CASES = [
    Case(shape, size, kumihimo, smpi)
    for shape in ("4x4x4", "8x8x4", "8x8x8")
    for size in (8, 1 << 20)
    for kumihimo, smpi in (("recursive_doubling", "rdb"), ("ring", "lr"))
    if not (size == 8 and kumihimo == "ring")  # SMPI's ring falls back below one element a rank
]


@dataclass
class Cost:
    """What one whole process took."""

    wall_seconds: float
    peak_rss_bytes: int
    output: str


def run(command: list[str], **kwargs: object) -> Cost:
    """Run a command to its end and return its wall time and the peak memory of its largest process."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, text=True, **kwargs)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        out.seek(0)
        output = out.read()
    if status != 0:
        raise SystemExit(f"compare.py: this command failed with status {status}: {' '.join(command)}")
    return Cost(wall, usage.ru_maxrss * 1024, output)


class Smpi:
    """SimGrid's side: a platform and a program, made once for each shape."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = smpi.compiled("allreduce.c", folder)

    def cost(self, case: Case, *, only_start: bool = False) -> Cost:
        platform = self.folder / f"{case.shape}.xml"
        hosts = self.folder / f"{case.shape}.txt"
        smpi.write_platform(platform, case.ranks, "TORUS", case.shape.replace("x", ","))
        smpi.write_hosts(hosts, case.ranks)
        # fmt: off
        return run([
            "smpirun", "-np", str(case.ranks), "-platform", str(platform), "-hostfile", str(hosts), "-no-privatize",
            "--cfg=smpi/host-speed:128Gf", "--cfg=smpi/simulate-computation:no", f"--cfg=smpi/allreduce:{case.smpi}",
            "--cfg=contexts/stack-size:256", "--log=root.thres:error", str(self.program),
            "0" if only_start else str(case.bytes),
        ])
        # fmt: on


def kumihimo_cost(case: Case, machine: Path, *, only_start: bool = False) -> Cost:
    """Kumihimo's side: the command as a user types it."""
    if only_start:
        return run([str(smpi.KUMIHIMO), "--version"])
    # fmt: off
    return run([
        str(smpi.KUMIHIMO), "simulate", "allreduce", "--machine", str(machine), "--shape", case.shape,
        "--bytes", str(case.bytes), "--algorithm", case.kumihimo, "--json",
    ])
    # fmt: on


def compare(launches: int) -> list[dict]:
    """Alternate both simulators `launches` times over every case; one row a case with the medians."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        theirs = Smpi(Path(name))
        machine = smpi.HERE / "torus.toml"
        for case in CASES:
            costs = {"smpi": [], "smpi_start": [], "kumihimo": [], "kumihimo_start": []}
            for _ in range(launches):
                for start in (False, True):
                    costs["smpi" + "_start" * start].append(theirs.cost(case, only_start=start))
                    costs["kumihimo" + "_start" * start].append(kumihimo_cost(case, machine, only_start=start))

            row = {"shape": case.shape, "ranks": case.ranks, "bytes": case.bytes, "algorithm": case.kumihimo}
            for who, of_who in costs.items():
                for field in ("wall_seconds", "peak_rss_bytes"):
                    row[f"{who}_{field}"] = statistics.median(getattr(cost, field) for cost in of_who)
            ours = json.loads(costs["kumihimo"][0].output)["results"][0]
            row["smpi_simulated_seconds"] = float(costs["smpi"][0].output.split()[-1])
            row["kumihimo_simulated_seconds"] = ours["seconds"]
            row["kumihimo_engine_seconds"] = statistics.median(
                json.loads(cost.output)["results"][0]["wall_seconds"] for cost in costs["kumihimo"]
            )
            row["smpi_engine_seconds"] = row["smpi_wall_seconds"] - row["smpi_start_wall_seconds"]
            row["wall_ratio"] = row["smpi_wall_seconds"] / row["kumihimo_wall_seconds"]
            row["engine_ratio"] = row["smpi_engine_seconds"] / row["kumihimo_engine_seconds"]
            row["memory_ratio"] = row["smpi_peak_rss_bytes"] / row["kumihimo_peak_rss_bytes"]
            rows.append(row)
            print(markdown_row(row), file=sys.stderr, flush=True)
    return rows


def markdown_row(row: dict) -> str:
    """One line of the table."""
    mib = 1 << 20
    return (
        f"| {row['shape']} | {row['bytes']} | {row['algorithm']} "
        f"| {row['smpi_wall_seconds']:.2f} | {row['kumihimo_wall_seconds']:.2f} | {row['wall_ratio']:.1f} "
        f"| {row['smpi_engine_seconds'] * 1e3:.1f} | {row['kumihimo_engine_seconds'] * 1e3:.2f} "
        f"| {row['engine_ratio']:.0f} "
        f"| {row['smpi_peak_rss_bytes'] / mib:.0f} | {row['kumihimo_peak_rss_bytes'] / mib:.0f} "
        f"| {row['memory_ratio']:.1f} "
        f"| {(row['smpi_peak_rss_bytes'] - row['smpi_start_peak_rss_bytes']) / mib:.1f} "
        f"| {(row['kumihimo_peak_rss_bytes'] - row['kumihimo_start_peak_rss_bytes']) / mib:.1f} |"
    )


def main() -> int:
    """Compare, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    version = smpi.version()
    table = [
        f"# Against {version}",
        "",
        f"Medians of {options.launches} alternating launches of whole processes. Ratios are SMPI's over Kumihimo's:",
        "above 1, Kumihimo takes less. *Engine* is the time less the start: SMPI's program without its allreduce on as",
        "many ranks, and the time that Kumihimo's engine says itself; *beyond start* is memory less that of the same",
        "program without the allreduce, and of `kumihimo --version`.",
        "",
        "| shape | bytes | algorithm | SMPI s | Kumihimo s | ratio | SMPI engine ms | Kumihimo engine ms | ratio "
        "| SMPI MiB | Kumihimo MiB | ratio | SMPI MiB beyond start | Kumihimo MiB beyond start |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        *[markdown_row(row) for row in compare(options.launches)],
    ]
    text = "\n".join(table) + "\n"
    if options.output:
        options.output.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
