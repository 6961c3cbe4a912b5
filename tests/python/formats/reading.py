"""Runs a command in forked children of one process, which has imported it once, and says what is wrong with how it ends.

    with Reader(folder) as reader:
        fault(reader.run(["machine", "show", "mutant.toml"]))  # "" or a sentence

Run as a program, this file is that process: lines of JSON on its input are command lines, lines on its output say how
they ended."""

from __future__ import annotations

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
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

CPU_SECONDS = 10
WALL_SECONDS = 60  # of what waits; a busy machine is no fault
MEMORY_BYTES = 2 << 30
Main = Callable[[list[str]], int]
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
    modules: tuple[str, ...] = ()


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
    """The process. It works in `folder`, where the commands find their files."""

    def __init__(
        self,
        folder: Path,
        main: str = "kumihimo.cli:carry_out",
        wall_seconds: int = WALL_SECONDS,
        cpu_seconds: int = CPU_SECONDS,
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, main, str(wall_seconds), str(cpu_seconds)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "XDG_DATA_HOME": str(folder / "data")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, words: Sequence[str]) -> Ended:
        print(json.dumps(list(words)), file=self._process.stdin, flush=True)
        return Ended(**json.loads(self._process.stdout.readline()))

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


# --- the process


@dataclass(frozen=True)
class Limits:
    wall_seconds: int
    cpu_seconds: int


def serve(main: Main, limits: Limits) -> None:
    """The modules that the first command loads are loaded here before the second, so that its children need not."""
    loaded = False
    for line in sys.stdin:
        ended = in_child(main, json.loads(line), limits, tell_modules=not loaded)
        for name in ended.pop("modules"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        loaded = True
        print(json.dumps(ended), flush=True)


def in_child(main: Main, words: list[str], limits: Limits, tell_modules: bool) -> dict:
    files = [os.memfd_create(name) for name in ("out", "err", "modules")]
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os.setsid()  # so that all that it starts can be ended
        carry_out(main, words, files, limits.cpu_seconds, tell_modules)
    status, ended_in_time = wait(child, begun + limits.wall_seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    out, err, modules = (Path(f"/proc/self/fd/{each}").read_bytes().decode(errors="backslashreplace") for each in files)
    for each in files:
        os.close(each)
    died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return {
        "code": -1 if died else os.WEXITSTATUS(status),
        "signal": died if ended_in_time else signal.SIGKILL,
        "out": out,
        "err": err,
        "seconds": time.monotonic() - begun,
        "modules": modules.split(),
    }


def wait(child: int, until: float) -> tuple[int, bool]:
    handle = os.pidfd_open(child)
    try:
        in_time = bool(select.select([handle], [], [], max(0, until - time.monotonic()))[0])
    finally:
        os.close(handle)
    if not in_time:
        os.killpg(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1], in_time


def carry_out(main: Main, words: list[str], files: list[int], cpu_seconds: int, tell_modules: bool) -> None:
    """In the child: as the console script does it, within the limits."""
    code = 70
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(files[0], 1)
        os.dup2(files[1], 2)
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        before = set(sys.modules)
        code = main(words)
        if tell_modules:
            names = sorted(name for name in set(sys.modules) - before if name.startswith("kumihimo."))
            os.write(files[2], "\n".join(names).encode())
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    serve(getattr(importlib.import_module(module), function), Limits(*map(int, sys.argv[2:4])))
