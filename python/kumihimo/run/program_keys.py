"""The key of a program, by which its own wisdom is found: its name and a hash of its path, whatever starts it and
whatever its arguments are."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from kumihimo.processes import launch_lines
from kumihimo.text import files

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh")
STARTS_PYTHON = ("gpaw",)  # gpaw python script.py
PYTHON_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
LONGEST_NAME = 40


def key_of(command: Sequence[str]) -> str:
    """Key of the first program of a line. Empty where the line names none, as with --app FILE."""
    name = name_of(command)
    if not name:
        return ""
    last = name.removeprefix("python -m ").rstrip("/").rpartition("/")[2]
    shown = re.sub(r"[^A-Za-z0-9._-]", "_", last)[:LONGEST_NAME]
    return f"{shown or 'program'}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"


def name_of(command: Sequence[str]) -> str:
    """The path of the first program of a line, or what stands for it (program_of); empty without."""
    words = launch_lines.read(command).programs[0].words
    try:
        return program_of(words) if words else ""
    except (OSError, ValueError, RuntimeError):  # no path, too long, a loop of links
        return ""


def program_of(words: Sequence[str]) -> str:
    """The path of what runs in the end; of Python's -m and -c the module or the text."""
    *_, last = launch_lines.chain(words)
    base = Path(last[0]).name
    if base in launch_lines.WRAPPERS or not shutil.which(last[0]):
        return ""
    if base in SHELLS:
        return of_shell(last) or path_of(last[0])
    if base in STARTS_PYTHON and "python" in last[1:]:
        return of_python(last[last.index("python", 1) + 1 :]) or path_of(last[0])
    if re.fullmatch(r"python[0-9.]*", base):
        return of_python(last[1:]) or path_of(last[0])
    return path_of(last[0])


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
            return str(files.real(Path(word)))
    return ""


def of_shell(words: list[str]) -> str:
    """A script, or the text after -c."""
    for place, word in enumerate(words[1:], 1):
        if word == "-c":
            return "sh -c " + " ".join(words[place + 1 :])
        if not word.startswith("-"):
            return str(files.real(Path(word)))
    return ""


def path_of(word: str) -> str:
    return str(files.real(Path(shutil.which(word) or word)))
