#!/usr/bin/env python3
"""What `kumihimo record` adds to an MPI call that returns at once, as a table in Markdown.

    bench/record/calls.py [--trace] [LAUNCHES] [RECORDER...]    # a libkumihimo-recorder.so [default: the package's]

calls.c runs without the recorder and with each of the given ones by turns. The table has the median over launches of
the nanoseconds a call, and of what a recorder adds to the launch without one beside it, with the quartiles. With
--trace the recorder keeps all events, too."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from kumihimo.processes import mpi
from kumihimo.run.preload import RECORDER, preloaded, preloading, suffix_of

LAUNCHES = 9
RANKS = 2
MOST_EVENTS = 10**8
SOURCE = Path(__file__).with_name("calls.c")
Times = dict[str, float]  # ns by function


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--trace"]
    traced = "--trace" in sys.argv
    launches = int(words[0]) if words else LAUNCHES
    installation = mpi.choose("openmpi")
    recorders = words[1:] or [preloaded((RECORDER,), suffix_of(installation.library))]
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        binary = Path(folder) / "calls"
        subprocess.run(["mpicc.openmpi", "-O2", "-o", binary, SOURCE], check=True)
        turns = [
            [launched(installation, binary, recorder, traced) for recorder in (None, *recorders)]
            for _ in range(launches)
        ]
    print("| call | plain, ns |" + " recorded adds, ns |" * len(recorders))
    print("|---|---:|" + "---:|" * len(recorders))
    for call in turns[0][0]:
        added = [[turn[i][call] - turn[0][call] for turn in turns] for i in range(1, len(recorders) + 1)]
        plain = statistics.median(turn[0][call] for turn in turns)
        print(f"| {call} | {plain:.0f} | " + " | ".join(map(spread, added)) + " |")


def launched(installation, binary: Path, recorder: str | None, traced: bool) -> Times:
    start = installation.arguments(RANKS)
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        given = {"KUMIHIMO_RECORD": str(Path(folder) / "profile"), "LD_PRELOAD": recorder} if recorder else {}
        if traced and recorder:
            given |= {"KUMIHIMO_RECORD_TRACE": folder, "KUMIHIMO_RECORD_EVENTS": str(MOST_EVENTS)}
        command = [start[0], *preloading(installation.family, given, [*start[1:], str(binary)])]
        environment = {**os.environ, **installation.environment(RANKS)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {line["call"]: line["ns"] for line in lines}


def spread(values: list[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.0f}"
    low, middle, high = statistics.quantiles(values, method="inclusive")
    return f"{middle:.0f} ({low:.0f} to {high:.0f})"


if __name__ == "__main__":
    main()
