"""Starts a native worker on several MPI processes and reads what it says, and leaves nothing running, however it ends.

A worker prints one JSON object a line on stdout. A failure that it expects is an object with `error`, whose members are
those of `kumihimo.errors`. Everything else that goes wrong (a rank that dies, a time limit, Ctrl-C) becomes one
sentence here.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from kumihimo import errors
from kumihimo.errors import BadInput, Failed, OutOfTime
from kumihimo.mpi import Installation

# In the environment of every process of a job, so that all of them are found wherever the launcher put them.
JOB = "KUMIHIMO_JOB"


def run(
    installation: Installation,
    ranks: int,
    program: Sequence[str | Path],
    *,
    seconds: float,
    on_object: Callable[[dict], None] | None = None,
) -> list[dict]:
    """Run `program` on `ranks` processes, at most `seconds` long; the objects that it printed, in order.

    on_object is called with each of them as it arrives. Raises what the worker's `error` object says, or Failed.
    """
    if ranks < 1:
        raise BadInput("at least 1 process", str(ranks))
    job = uuid.uuid4().hex
    environment = {**os.environ, **installation.environment(ranks), JOB: job}
    try:
        process = subprocess.Popen(
            [*installation.arguments(ranks), *map(str, program)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise Failed(f"the launcher {installation.launcher} to start", str(error)) from None
    try:
        with ending_by_signal():
            watch = Watch(job, Path(program[0]).name)
            output = Output(process, watch)
            objects = output.read(time.monotonic() + seconds, on_object)
            if watch.lost:
                raise Failed(
                    f"all {ranks} processes of {Path(program[0]).name} to end well",
                    "one that died, and a launcher that waits for it",
                )
            code = process.wait(timeout=10)
    except TimedOut:
        raise OutOfTime(
            f"{Path(program[0]).name} on {ranks} processes to end within {seconds:.3g} s",
            "it still ran",
            "give it longer",
        ) from None
    finally:
        end(process, job)
    if code != 0:
        raise Failed(f"all {ranks} processes of {Path(program[0]).name} to end well", what_happened(output, code))
    return objects


@contextlib.contextmanager
def ending_by_signal() -> Iterator[None]:
    """Turns SIGTERM and SIGHUP, which would end this process at once and leave its job behind, into SystemExit."""

    def leave(number: int, frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's affair
        yield
        return
    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


PATIENCE = 2.0  # seconds without a word, after which the launcher is looked after


class TimedOut(Exception):
    """The deadline has passed."""


class Watch:
    """Notices that a process of the job is gone and the launcher does not: a rank that dies inside MPI_Init leaves
    Open MPI 4.1 waiting. Asked every PATIENCE seconds of silence; the second answer counts, since ranks that end well
    may end one after another."""

    def __init__(self, job: str, name: str) -> None:
        self.lost = False
        self._job, self._name, self._most, self._missing = job, name[:15], 0, 0

    def lost_one(self) -> bool:
        """Whether fewer processes than once were there have been there for a while."""
        now = sum(command_of(pid) == self._name and is_running(pid) for pid in members(self._job))
        self._most = max(self._most, now)
        self._missing = self._missing + 1 if now < self._most else 0
        self.lost = self._missing >= 2
        return self.lost


def command_of(pid: int) -> str:
    """The name of the program, as far as the system keeps it."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


class Output:
    """Reads both streams of a process, each in a thread of its own. `watch` looks after the others of its job."""

    def __init__(self, process: subprocess.Popen, watch: Watch | None = None) -> None:
        self._process, self._watch = process, watch
        self.errors: list[str] = []
        self.other: list[str] = []  # of stdout, what is no object
        self._lines: queue.Queue[str | None] = queue.Queue()
        threads = (
            threading.Thread(target=self._read, args=(process.stdout, self._lines.put), daemon=True),
            threading.Thread(target=self._read, args=(process.stderr, self.errors.append), daemon=True),
        )
        for thread in threads:
            thread.start()
        threading.Thread(target=self._end, args=(threads,), daemon=True).start()

    @staticmethod
    def _read(stream, take) -> None:
        with contextlib.suppress(ValueError):  # closed under us, after the time limit
            for line in stream:
                take(line.rstrip("\n"))

    def _end(self, threads) -> None:
        for thread in threads:
            thread.join()
        self._lines.put(None)

    def read(self, deadline: float, on_object: Callable[[dict], None] | None) -> list[dict]:
        """All objects, up to the end of the streams."""
        objects = []
        while True:
            left = deadline - time.monotonic()
            try:
                line = self._lines.get(timeout=max(0.0, min(left, PATIENCE)))
            except queue.Empty:
                if left <= PATIENCE:
                    raise TimedOut from None
                if self._process.poll() is not None or (self._watch and self._watch.lost_one()):
                    return objects  # what ended is told by the launcher's exit code, once it is made to end
                continue
            if line is None:
                return objects
            found = parse(line)
            if found is None:
                self.other.append(line)
                continue
            raise_error_of(found)
            objects.append(found)
            if on_object:
                on_object(found)


def parse(line: str) -> dict | None:
    """The object of a line, or None if it holds none."""
    if not line.startswith("{"):
        return None
    with contextlib.suppress(ValueError):
        return json.loads(line)
    return None


def raise_error_of(found: dict) -> None:
    """Raise the failure that a worker reported."""
    said = found.get("error")
    if not isinstance(said, dict):
        return
    kinds = {"bad_input": errors.BadInput, "not_applicable": errors.NotApplicable}
    kind = kinds.get(said.get("kind", ""), Failed)
    raise kind(said.get("expected", "the worker to succeed"), said.get("found", ""), said.get("advice", ""))


def what_happened(output: Output, code: int) -> str:
    """A phrase for a job that ended badly: the rank and the signal where the launcher tells them."""
    text = "\n".join([*output.errors, *output.other])
    died = re.search(r"process rank (\d+) .*?exited on\s+signal (\d+)", text, re.DOTALL)  # Open MPI
    if died:
        return f"rank {died.group(1)} died of {signal_name(int(died.group(2)))}"
    died = re.search(r"EXIT CODE: (\d+)|exit(?:ed with|ing) (?:status|code):? (\d+)", text)  # MPICH
    if died:
        number = int(died.group(1) or died.group(2))
        return f"a rank died of {signal_name(number)}" if 0 < number < 32 else f"a rank ended with {number}"
    if code < 0:
        return f"the launcher died of {signal_name(-code)}"
    last = next((line.strip() for line in reversed(output.errors) if re.search(r"\w", line)), "")
    return f"exit code {code}" + (f" ({last})" if last else "")


def signal_name(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def end(process: subprocess.Popen, job: str) -> None:
    """End the launcher and every process of the job that is still there, and wait until they are gone."""
    seen = set(members(job))
    if process.poll() is None:
        process.terminate()  # the launcher ends its processes, if it can
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=3)
    while pids := members(job):
        seen.update(pids)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    process.wait()
    deadline = time.monotonic() + 5  # a process that is ending has lost its mark already
    while any(map(is_running, seen)) and time.monotonic() < deadline:
        time.sleep(0.01)
    for stream in (process.stdout, process.stderr):
        stream.close()


def is_running(pid: int) -> bool:
    """Whether the process exists and is more than an entry that nobody has collected."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2]
    except OSError:
        return False
    return not state.startswith(("Z", "X"))


def members(job: str) -> list[int]:
    """The processes that carry the job's mark."""
    mark = f"{JOB}={job}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found
