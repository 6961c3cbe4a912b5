"""Readers that no command calls by itself, or only in an MPI program: called directly, with the command's border."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from kumihimo import _plan, cli
from kumihimo.app import catalogue
from kumihimo.cli import terminal
from kumihimo.kernel import choices, wisdom
from kumihimo.processes.package_files import program
from kumihimo.run import wisdom_reading
from kumihimo.text import files
from kumihimo.text.errors import BadInput, KumihimoError
from kumihimo.tune import journal

CALLS = {"collective": "allreduce", "algorithm": "ring", "bytes_from": 8, "bytes_to": 65536, "calls": 3}
SUMMARY = {"ranks": 2, "communicators": {"node of 2 ranks": 1}, "calls": [CALLS, {**CALLS, "algorithm": "library"}]}


def preload_wisdom(path: Path) -> None:
    """As the preload library reads it in MPI_Init."""
    _plan.read_wisdom(files.read_text(path, "the wisdom file"), _plan.this_machine(), "an MPI")


def preload_kernel_wisdom(path: Path) -> None:
    _plan.read_kernel_wisdom(files.read_text(path, "the wisdom file"), _plan.this_machine())


def reported_wisdom(path: Path) -> None:
    """As the summary of `run` uses a file that the preload library has taken."""
    preload_wisdom(path)
    found = wisdom_reading.choices_in(str(path))
    wisdom_reading.speedup(CALLS, 2, found)
    wisdom_reading.why_library("allreduce", SUMMARY, found)


def kernel_wisdom(path: Path) -> None:
    """As a program does at the first call of a kernel, and `tune kernel` before it writes."""
    folder = choices.folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "axpy.json").write_bytes(path.read_bytes())
    found = choices.read("axpy")
    machine = next((each["machine"] for each in found if isinstance(each.get("machine"), dict)), None)
    if machine is not None:
        key = choices.key_of("0123456789abcdef", "none", "python", machine)
        for each in found:
            if all(each.get(name) == value for name, value in key.items()) and choices.is_whole(each):
                choices.is_for(each, 64)
    new = {"kernel": "axpy", "golden": "0123456789abcdef", "language": "python", "compiler": "none", "from_size": 8}
    new |= {"machine": machine, "to_size": 64, "variant": "golden", "parameters": {}, "measured": []}
    wisdom.extend("axpy", [new], {"command": "a test"})


def journal_of_tuning(path: Path) -> None:
    journal.Journal(path, {"machine": "m", "mpi": "an MPI"}).close()


def task_of_application(path: Path) -> None:
    """The file by which the command tells the program of applications what to run. Errors are lines of JSON."""
    done = run(program(catalogue.PROGRAM), path)
    if done.returncode:
        (error,) = [line for line in map(json.loads, done.stdout.splitlines()) if "error" in line]
        raise BadInput(error["error"]["problem"])


def cpp_kernel_wisdom(path: Path) -> None:
    """As a C++ program does at the first call of a kernel; what is wrong with the file is no error of the program."""
    folder = choices.folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "axpy.json").write_bytes(path.read_bytes())
    if run("./read_choices", "axpy").returncode:
        raise BadInput("the program refused the wisdom")


def run(*command: object) -> subprocess.CompletedProcess:
    """A program that dies of a signal is our end, too."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode < 0:
        os.kill(os.getpid(), -done.returncode)
    return done


READERS = {name: value for name, value in vars().items() if getattr(value, "__module__", "") == __name__}


def main() -> int:
    terminal.open_streams()
    _, reader, file = sys.argv
    try:
        READERS[reader](Path(file))
    except KumihimoError as error:
        return cli.print_error(str(error), error.exit_code)
    return 0
