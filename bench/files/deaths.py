#!/usr/bin/env python3
"""A rank dies: how long until the run goes on, with a spare rank and with a restart from files, by turns; and what
copies of one and of two generations cost.

    deaths.py MPI [--size 96x96x96] [--rounds 7]     MPI: the prefix of Open MPI 5

The application is himeno on 2 ranks with one thread each. The times are those from the SIGKILL to the first iteration
with the state. A restart is started at once: no scheduler is asked, and files may still be in the page cache."""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import tempfile
import threading
import time
from pathlib import Path

from kumihimo.processes import mpi
from kumihimo.processes.package_files import program
from kumihimo.processes.visible import command_of, processes
from kumihimo.run import launch

RANKS, SWEEPS, EVERY = 2, 60, 10


def pids(mark: str, rank: str = "") -> list[int]:
    words = [f"DEATHS={mark}".encode(), *([f"OMPI_COMM_WORLD_RANK={rank}".encode()] if rank else [])]
    there = [pid for pid in processes() if command_of(pid) == "kumihimo-app"]
    return [pid for pid in there if all(word in launch.environment_of(pid).split(b"\0") for word in words)]


def run(installation: mpi.Installation, size: str, wanted: dict, kill: str | None = None, after: float = 0) -> dict:
    """The result's checkpoints. `kill`: a rank, or "" for all, so long after the run has begun; `killed_at`: when."""
    task = {
        "application": "himeno",
        "size": size,
        "options": {"sweeps": str(SWEEPS)},
        "candidates": [{"variant": "simd"}],
        "threads": 1,
        "check": False,
        "library": str(installation.library),
        "checkpoints": wanted,
    }
    mark, killed_at = f"{os.getpid()}-{time.monotonic_ns()}", 0.0

    def end() -> None:
        nonlocal killed_at
        found = pids(mark, kill or "")
        killed_at = time.time()
        for pid in found:
            os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(after, end) if kill is not None else None
    spares = wanted.get("spares", 0)
    found: list[dict] = []

    def take(line: dict) -> None:
        found.append(line)
        if "about" in line and timer and not timer.is_alive() and killed_at == 0:
            timer.start()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "task.json")
        path.write_text(json.dumps(task), encoding="utf-8")
        try:
            command = [program("kumihimo-app"), path]
            launch.run(
                installation,
                RANKS + spares,
                command,
                seconds=90,
                on_object=take,
                settings={"DEATHS": mark},
                outlives_deaths=spares > 0,
            )
        except launch.Failed:
            if kill != "":
                raise
    results = [line["result"] for line in found if "result" in line]
    return {**(results[-1] if results else {"checkpoints": {}}), "killed_at": killed_at}


def text(values: list[float], unit: float, name: str) -> str:
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle * unit:.3g} {name} ({low * unit:.3g} to {high * unit:.3g}; {len(values)} runs)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpi", type=Path)
    parser.add_argument("--size", default="96x96x96")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    installation = mpi.under_prefix("openmpi", asked.mpi)
    if installation is None:
        raise SystemExit(f"{asked.mpi} holds no Open MPI")
    spare, files, one, two, notices = [], [], [], [], []
    usual = run(installation, asked.size, {"partner": EVERY})["seconds"]
    for _ in range(asked.rounds):
        alone = run(installation, asked.size, {"partner": EVERY})["checkpoints"]["partner"]
        one.append(alone["seconds"] / alone["copies"])
        kept = run(installation, asked.size, {"partner": EVERY, "spares": 1})["checkpoints"]["partner"]
        two.append(kept["seconds"] / kept["copies"])
        died = run(installation, asked.size, {"partner": EVERY, "spares": 1}, "1", 0.6 * usual)
        if died["checkpoints"]["partner"].get("went_on_from") is not None:
            spare.append(died["checkpoints"]["went_on_at"] - died["killed_at"])
            notices.append(spare[-1] - died["checkpoints"]["partner"]["recovery_seconds"])
        with tempfile.TemporaryDirectory() as folder:
            saved = {"every": EVERY, "folder": folder}
            ended = run(installation, asked.size, saved, "", 0.8 * usual)
            again = run(installation, asked.size, {**saved, "restart": folder})
            files.append(again["checkpoints"]["went_on_at"] - ended["killed_at"])
    size = kept["bytes"] / kept["copies"] / RANKS / 2**20
    print(f"himeno {asked.size}, {RANKS} ranks, {size:.3g} MiB of state on each; the run takes {usual:.3g} s")
    print("| from the death to the next iteration | median (range) |\n|---|---|")
    print(
        f"| a spare rank | {text(spare, 1, 's')} |\n| of it until the death is noticed | {text(notices, 1e3, 'ms')} |"
    )
    print(f"| restart from files | {text(files, 1, 's')} |")
    print("| one copy | median (range) |\n|---|---|")
    print(f"| one generation | {text(one, 1e3, 'ms')} |\n| two generations | {text(two, 1e3, 'ms')} |")


if __name__ == "__main__":
    main()
