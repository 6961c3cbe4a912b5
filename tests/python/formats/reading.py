"""Runs a command in forked children of one process, which has imported it once, and says what is wrong with their end.

    with Reader() as reader:
        fault(reader.run(folder, ["machine", "show", "mutant.toml"]))  # "" or a sentence

Run as a program, this file is that process: lines of JSON on its input are command lines, lines on its output say how
they ended."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

CPU_SECONDS = 20  # a fit to 2,000 rows takes 11 on a slow processor
WALL_SECONDS = 60  # of what waits; a busy machine is no fault
MEMORY_BYTES = 2 << 30
COMMAND = "kumihimo.cli:main"
SHOWN = 2_000  # characters of a sentence
STACK = re.compile(
    r"Traceback|^  File \"|Error: |Warning: |terminate called|Assertion|internal|\bCore dumped", re.MULTILINE
)


@dataclass(frozen=True)
class Ended:
    """How a command ended: by its exit code, by a signal, or (signal SIGKILL) by the limit of time."""

    code: int
    signal: int
    out: str
    err: str
    seconds: float


def fault(ended: Ended, codes: Sequence[int] = (0, 2)) -> str:
    """What no wrong file may do to a command; empty: nothing. `codes`: exit codes that are right."""
    if ended.signal in (signal.SIGXCPU, signal.SIGKILL):
        return "it took too long"
    if ended.signal:
        return f"it died of {signal.Signals(ended.signal).name}"
    if ended.code not in codes:
        return f"exit code {ended.code}"
    if found := STACK.search(ended.err):
        return f"stderr has '{found[0]}'"
    if found := raw_controls(ended.err) or raw_controls(ended.out):
        return f"the control character {found!a} reaches the terminal"
    lines = ended.err.splitlines()
    if ended.code == 2 and (len(lines) != 1 or not lines[0].startswith("kumihimo: ")):
        return f"exit code 2 with {len(lines)} lines on stderr"
    if ended.code == 2 and len(ended.err) > SHOWN:
        return f"a sentence of {len(ended.err)} characters"
    return ""


def raw_controls(text: str) -> str:
    return next(
        (each for each in text if each not in "\n\t" and unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp")), ""
    )


class Reader:
    """The process. It knows its limits and nothing of what it ran before."""

    def __init__(self, wall_seconds: int = WALL_SECONDS, cpu_seconds: int = CPU_SECONDS) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(wall_seconds), str(cpu_seconds)],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, words: Sequence[str], main: str = COMMAND, known: bool = True) -> Ended:
        """`main`: MODULE:FUNCTION, which takes the words from sys.argv and exits or returns a code. `folder`: where it
        runs, with a folder of its own for wisdom. `known`: the process has loaded what a command like this needs; else
        it loads afterwards what this one has loaded."""
        job = {"folder": str(folder), "words": list(words), "main": main, "known": known}
        print(json.dumps(job), file=self._process.stdin, flush=True)
        return Ended(**json.loads(self._process.stdout.readline()))

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


# --- the process


def serve(wall_seconds: int, cpu_seconds: int) -> None:
    for line in sys.stdin:
        job = json.loads(line)
        module, _, function = job["main"].partition(":")
        main = getattr(importlib.import_module(module), function)
        ended, modules = in_child(main, job, wall_seconds, cpu_seconds)
        for name in [] if job["known"] else filter(is_ours, modules):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        print(json.dumps(ended), flush=True)


def is_ours(module: str) -> bool:
    """Others may start threads when they are loaded, or MPI."""
    return module.partition(".")[0] in ("kumihimo", "formats")


def in_child(main: Callable[[], int], job: dict, wall_seconds: int, cpu_seconds: int) -> tuple[dict, list[str]]:
    """How it ended, and the modules of ours that it loaded."""
    files = [os.memfd_create(name) for name in ("out", "err", "modules")]
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setsid()  # so that all that it starts can be ended
        carry_out(main, job, files, cpu_seconds)
    status, ended_in_time = wait(child, begun + wall_seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    out, err, modules = (Path(f"/proc/self/fd/{each}").read_bytes().decode(errors="backslashreplace") for each in files)
    for each in files:
        os.close(each)
    died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    ended = {
        "code": -1 if died else os.WEXITSTATUS(status),
        "signal": died if ended_in_time else signal.SIGKILL,
        "out": out,
        "err": err,
        "seconds": time.monotonic() - begun,
    }
    return ended, modules.split()


def wait(child: int, until: float) -> tuple[int, bool]:
    handle = os.pidfd_open(child)
    try:
        in_time = bool(select.select([handle], [], [], max(0, until - time.monotonic()))[0])
    finally:
        os.close(handle)
    if not in_time:
        os.killpg(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1], in_time


def carry_out(main: Callable[[], int], job: dict, files: list[int], cpu_seconds: int) -> None:
    """In the child: as a process of its own does it, within the limits."""
    code, before = 70, set(sys.modules)
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(files[0], 1)
        os.dup2(files[1], 2)
        os.chdir(job["folder"])
        os.environ["XDG_DATA_HOME"] = f"{job['folder']}/data"
        sys.argv = ["kumihimo", *job["words"]]
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        os.write(files[2], "\n".join(sorted(set(sys.modules) - before)).encode())
        with contextlib.suppress(BaseException):
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:]))
