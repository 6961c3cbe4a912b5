"""Runs a program that knows nothing of us, by its own mpirun line, with our object loaded before its MPI library.

The three streams are the program's; so is the exit status. What ran is written by its rank 0 when it ends MPI.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kumihimo.errors import BadInput
from kumihimo.installed import program
from kumihimo.mpi import serves

INTERPOSER = "libkumihimo-interposer.so"
OF_PROGRAM = "LD_PRELOAD"  # set for the program's processes, not for the launcher


def run(command: Sequence[str], settings: Mapping[str, str]) -> tuple[int, dict | None]:
    """Run `command` with `settings` (by their names in the environment, without KUMIHIMO_): its exit status, and the
    summary that the program wrote, or None if it wrote none."""
    launcher = shutil.which(command[0])
    if launcher is None:
        raise BadInput("a command that starts MPI processes, as mpirun -n 4 ./program", f"no {command[0]}")
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        summary = Path(folder) / "summary.json"
        given = {f"KUMIHIMO_{name}": value for name, value in settings.items() if value}
        given["KUMIHIMO_SUMMARY"] = str(summary)
        process = subprocess.Popen(
            [launcher, *preloading(Path(launcher), given), *command[1:]], env=environment(Path(launcher), given)
        )
        code = waited(process)
        with contextlib.suppress(OSError, ValueError):
            return code, json.loads(summary.read_text(encoding="utf-8"))
        return code, None


def preloading(launcher: Path, given: Mapping[str, str]) -> list[str]:
    """Arguments by which a launcher hands the settings to the processes of all nodes."""
    if serves(launcher, "openmpi"):
        return [
            part for name, value in (*given.items(), (OF_PROGRAM, preloaded())) for part in ("-x", f"{name}={value}")
        ]
    if serves(launcher, "mpich"):
        return [part for name, value in (*given.items(), (OF_PROGRAM, preloaded())) for part in ("-genv", name, value)]
    return []


def environment(launcher: Path, given: Mapping[str, str]) -> dict[str, str] | None:
    """That of a launcher which hands on its own (srun), or of the program itself where there is no launcher."""
    if serves(launcher, "openmpi") or serves(launcher, "mpich"):
        return None
    return {**os.environ, **given, OF_PROGRAM: preloaded()}


def preloaded() -> str:
    """Ours, before what the user loads."""
    return " ".join(filter(None, (str(program(INTERPOSER)), os.environ.get(OF_PROGRAM))))


def waited(process: subprocess.Popen) -> int:
    """The exit status. Signals of the terminal reach the launcher by themselves, and it is the one to answer them;
    others are handed on."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if before[number] != signal.SIG_IGN:
                signal.signal(number, lambda which, frame: process.send_signal(which))
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code
