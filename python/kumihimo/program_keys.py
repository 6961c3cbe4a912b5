"""The key of a program, by which its own wisdom is found: its name and a hash of its path, whatever starts it and
whatever its arguments are."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from kumihimo.preload_obstacles import MPI_LAUNCHERS

OTHER_LAUNCHERS = ("srun", "aprun", "jsrun", "flux", "prun")  # of batch systems
# Programs that start the one which their arguments name.
WRAPPERS = ("env", "time", "nice", "ionice", "nohup", "stdbuf", "timeout", "numactl", "taskset", "setarch", "chrt")
WRAPPERS += ("valgrind", "perf", "strace", "ltrace", "gdb", "singularity", "apptainer")
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh")
PYTHON_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
LONGEST_NAME = 40


def key_of(command: Sequence[str]) -> str:
    """Of the first program of a line. Empty where the line names none, as with --app FILE."""
    name = name_of(command)
    if not name:
        return ""
    last = name.removeprefix("python -m ").rstrip("/").rpartition("/")[2]
    shown = re.sub(r"[^A-Za-z0-9._-]", "_", last)[:LONGEST_NAME]
    return f"{shown or 'program'}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"


def name_of(command: Sequence[str]) -> str:
    """The path of the first program of a line, or what stands for it (program_of); empty without."""
    try:
        return program_of(list(takewhile(lambda word: word != ":", command)))
    except (OSError, ValueError, RuntimeError):  # no path, too long, a loop of links
        return ""


def program_of(words: list[str]) -> str:
    """The path of what runs in the end; of Python's -m and -c the module or the text."""
    while words:
        word = words[0]
        base = Path(word).name
        if base.startswith(MPI_LAUNCHERS) or base in (*OTHER_LAUNCHERS, *WRAPPERS):
            words = from_program(words[1:])
        elif base in SHELLS:
            return of_shell(words) or path_of(word)
        elif re.fullmatch(r"python[0-9.]*", base):
            return of_python(words[1:]) or path_of(word)
        else:
            return path_of(word)
    return ""


def from_program(words: list[str]) -> list[str]:
    """From the first word on that can be the program. A word after an option is its value, unless it is the path of a
    program: `--map-by node`, where node may be one."""
    before = ""
    for place, word in enumerate(words):
        is_setting = re.match(r"[A-Za-z_]\w*=", word)
        is_value = before.startswith("-") and before != "--" and "=" not in before and "/" not in word
        if not word.startswith("-") and not is_setting and not is_value and shutil.which(word):
            return words[place:]
        before = word
    return []


def of_python(words: list[str]) -> str:
    rest: Iterator[str] = iter(words)
    for word in rest:
        if word in ("-c", "-m"):
            what = next(rest, "")
            if word == "-m" and what == "mpi4py":
                return of_python(list(rest))
            return f"python {word} {what}"
        if word in PYTHON_WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return str(Path(word).resolve())
    return ""


def of_shell(words: list[str]) -> str:
    """A script, or the text after -c."""
    for place, word in enumerate(words[1:], 1):
        if word == "-c":
            return "sh -c " + " ".join(words[place + 1 :])
        if not word.startswith("-"):
            return str(Path(word).resolve())
    return ""


def path_of(word: str) -> str:
    return str(Path(shutil.which(word) or word).resolve())
