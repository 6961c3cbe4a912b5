#!/usr/bin/env python3
"""What `kumihimo record` costs programs: runs with it and without, by turns, as a table in Markdown.

    bench/record/overhead.py programs.txt [PAIRS]    # lines of: name | folder | command

The time is that from the end of MPI_Init to the beginning of MPI_Finalize, of the slowest process; `command` is the
wall time of the whole command, with its start and the writing of the profile."""

from __future__ import annotations

import os
import shlex
import statistics
import sys
import tempfile
import time
from pathlib import Path

from kumihimo import _measure
from kumihimo.run.profile import collectives
from kumihimo.tune.optimise.program_runs import OptimisedProgram, run

PAIRS = 15


def main() -> None:
    pairs = int(sys.argv[2]) if sys.argv[2:] else PAIRS
    print("| program | ranks | s | recorded / plain | command: recorded / plain | pairs |")
    print("|---|---:|---:|---:|---:|---:|")
    lines = [line.split("|") for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines() if line.strip()]
    for name, folder, command in [(name.strip(), Path(folder.strip()).resolve(), c) for name, folder, c in lines]:
        os.chdir(folder)
        print(compared(name, shlex.split(command), pairs), flush=True)


def compared(name: str, command: list[str], pairs: int) -> str:
    inside, whole = [], []
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as place:
        program, profile = OptimisedProgram(tuple(command), Path(place)), Path(place) / "profile.jsonl"
        timed(program, "warming", None)
        for pair in range(pairs):
            turns = {}
            for recorded in (True, False) if pair % 2 else (False, True):
                turns[recorded] = timed(program, f"{pair}-{recorded}", profile if recorded else None)
            inside.append((turns[True][0], turns[False][0]))
            whole.append((turns[True][1], turns[False][1]))
        ranks = collectives.of(profile).ranks
    seconds = statistics.median(plain for _, plain in inside)
    return f"| {name} | {ranks} | {seconds:.1f} | {ratio(inside)} | {ratio(whole)} | {pairs} |"


def timed(program: OptimisedProgram, name: str, profile: Path | None) -> tuple[float, float]:
    if profile is not None:
        profile.unlink(missing_ok=True)
    began = time.monotonic()
    cost = run(program, name, profile=profile).cost
    return cost, time.monotonic() - began


def ratio(pairs: list[tuple[float, float]]) -> str:
    found = _measure.compare(pairs)
    return f"{found.ratio:.3f} ({found.ratio_low:.3f} to {found.ratio_high:.3f})"


if __name__ == "__main__":
    main()
