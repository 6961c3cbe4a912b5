"""Starts a native bench driver on several MPI processes and reads what it says, and leaves nothing running, however it
ends.

A bench driver prints one JSON object a line on stdout. A failure that it expects is an object with `error`, whose
members are those of `kumihimo.text.errors`. Everything else that goes wrong (a rank that dies, a time limit, Ctrl-C)
becomes one sentence here."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kumihimo.processes import allocation, child_output, children
from kumihimo.processes.interrupts import ending_by_signal, ignoring_signals
from kumihimo.processes.mpi import Installation, available_processors
from kumihimo.processes.visible import command_of, is_running, processes, state_of
from kumihimo.run import preload
from kumihimo.testbed import testbeds
from kumihimo.text import errors
from kumihimo.text.errors import Failed, OutOfTime, failed, wrong_value
from kumihimo.text.json_types import JsonObject

# In the environment of every process of a job, so that all of them are found wherever the launcher put them.
JOB = "KUMIHIMO_JOB"
LAST_SECONDS = 10.0  # for what has closed its output to end
FILES_OF_LIBRARIES = 64 << 20  # bytes: larger than those that MPI libraries make for themselves
MOST_PER_PROCESSOR = 64  # processes; more of them take minutes to start, or all memory


def run(
    installation: Installation,
    ranks: int,
    program: Sequence[str | Path],
    *,
    seconds: float,
    on_object: Callable[[JsonObject], None] | None = None,
    settings: Mapping[str, str] | None = None,
    of_processes: Mapping[str, str] | None = None,
    outlives_deaths: bool = False,
) -> list[JsonObject]:
    """Run `program` on `ranks` processes, at most `seconds` long; the objects that it printed, in order.

    `settings` are added to the environment, `of_processes` to that of the processes and not of the launcher. on_object
    is called with each object as it arrives. `outlives_deaths`: the program goes on where processes die. Raises what
    the bench driver's `error` object says, or Failed.
    """
    check_ranks(installation, ranks)
    ended_before = ended_for_memory()
    job = uuid.uuid4().hex
    environment = {**os.environ, **installation.environment(ranks, outlives_deaths), **(settings or {}), JOB: job}
    launcher, *arguments = installation.arguments(ranks, outlives_deaths)
    given = {**preload.handed_on(), **preload.of_kernels(), **(of_processes or {})}
    words, added = installation.start.with_variables(given, [*arguments, *map(str, program)])
    environment |= added
    try:
        process = children.start(
            [launcher, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise failed(f"the launcher {installation.launcher} did not start", str(error)) from None
    except BaseException:  # a signal while it started
        with ignoring_signals():
            end_members(job)
        raise
    name = Path(program[0]).name
    try:
        with ending_by_signal():
            watch = JobWatch(job, name, ranks if outlives_deaths else 0)
            output = Output(process, watch)
            objects = output.read(time.monotonic() + seconds, on_object)
            if watch.lost:
                raise job_failure(ranks, name, "a process died, and the launcher kept waiting for it", ended_before)
            if not ended(process, LAST_SECONDS):
                last = f"within {LAST_SECONDS:.3g} s after all processes of {name} had closed their output"
                raise failed(f"{installation.launcher.name} did not exit {last}")
    except child_output.TimedOut:
        raise OutOfTime(
            f"{name} on {ranks} processes did not end within {seconds:.3g} s", "measure fewer or shorter cases"
        ) from None
    finally:
        with ignoring_signals():
            end(process, job, name)
            child_output.close(process)
    if process.returncode != 0:
        raise job_failure(ranks, name, what_happened(output, process.returncode), ended_before)
    return objects


def check_ranks(installation: Installation, ranks: int) -> None:
    """Whether they can be started. A scheduler may have given more nodes than this one; those of a testbed are here."""
    if ranks < 1:
        raise wrong_value("there must be at least 1 process", ranks)
    scheduled = installation.start.of_scheduler or any(name in os.environ for name in allocation.VARIABLES)
    if scheduled and testbeds.INSIDE not in os.environ:
        return
    processors = available_processors()
    most = MOST_PER_PROCESSOR * processors
    if ranks > most:
        here = f"{processors} processor{'s' if processors > 1 else ''}"
        raise wrong_value(f"a launch here, on {here}, must have at most {most} ranks", ranks, "give fewer --ranks")


def ended_for_memory() -> int:
    """How many processes this system has ended because it had no memory left, since it was started."""
    with contextlib.suppress(OSError):
        found = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(encoding="ascii"), re.MULTILINE)
        return int(found.group(1)) if found else 0
    return 0


def job_failure(ranks: int, name: str, found: str, ended_before: int) -> Failed:
    """Failure of a job; `ended_before`: ended_for_memory() before it was started."""
    if ended_for_memory() > ended_before:
        lack = "the system killed a process when memory ran out"
        return failed(f"{ranks} processes of {name} need more memory", lack, "give a smaller --bytes or fewer ranks")
    return failed(f"{ranks} processes of {name} failed", found, advice_on_files())


def advice_on_files() -> str:
    """If files may have so few bytes that an MPI library cannot make its own."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit == resource.RLIM_INFINITY or limit >= FILES_OF_LIBRARIES:
        return ""
    return "raise the limit of a file's size (ulimit -f), which the MPI library's own files may exceed"


def ended(process: subprocess.Popen, seconds: float) -> bool:
    """Whether the process ends within this time."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)
    return process.returncode is not None


PATIENCE = 2.0  # seconds without a word, after which the launcher is looked after
ALL_DEAD, SOME_DEAD = 2, 15  # looks in a row that must find it so; ranks that end well may end one after another


class JobWatch:
    """Notices that processes of the job have died and that the launcher waits for ever: Open MPI 4.1 does when one
    dies inside MPI_Init. It is asked every PATIENCE seconds of silence."""

    def __init__(self, job: str, name: str, outlives_deaths: int = 0) -> None:
        """`outlives_deaths`: of so many processes; 0: it does not. Once the program has said something, it looks after
        them itself. Until then one that died before the first look is missed, too."""
        self.lost = False
        self._outlives_deaths, self._is_over = outlives_deaths > 0, False
        self._job, self._name, self._most, self._looks = job, name[:15], 0, 0
        self._all = outlives_deaths

    def has_lost_process(self) -> bool:
        """Whether some have been dead, and the launcher there, for as long as it takes to be sure."""
        if self._is_over:
            return False
        there = members(self._job)
        alive = sum(command_of(pid) == self._name and is_running(pid) for pid in there)
        self._most = max(self._most, alive, self._all if alive else 0)
        dead = alive < self._most or bool(uncollected(set(there)))
        self._looks = self._looks + 1 if dead else 0
        self.lost = self._looks >= (SOME_DEAD if alive else ALL_DEAD)
        return self.lost

    def note_output(self) -> None:
        """The job has said something: it lives."""
        self._looks = 0

    def note_object(self) -> None:
        self._is_over = self._outlives_deaths


class Output:
    """Output of a process: the objects on its stdout, and other lines. `watch` watches the others of its job."""

    def __init__(self, process: subprocess.Popen, watch: JobWatch | None = None) -> None:
        self._process, self._watch = process, watch
        self.errors: list[str] = []
        self.other: list[str] = []  # of stdout, what is no object

    def read(self, deadline: float, on_object: Callable[[JsonObject], None] | None) -> list[JsonObject]:
        """All objects, up to the end of the streams."""
        objects = []
        for stream, line in child_output.lines(self._process, deadline, PATIENCE):
            if stream is None:
                if self._watch and self._watch.has_lost_process():
                    break  # what ended is told by the launcher's exit code, once it is made to end
                continue
            if self._watch:
                self._watch.note_output()
            if stream is self._process.stderr:
                self.errors.append(line)
                continue
            found = parse(line)
            if found is None:
                self.other.append(line)
                continue
            if isinstance(found.get("error"), dict):
                raise_error_of(found["error"])
                continue
            if self._watch:
                self._watch.note_object()
            objects.append(found)
            if on_object:
                on_object(found)
        return objects


def parse(line: str) -> JsonObject | None:
    """The object of a line, or None if it holds none."""
    if not line.startswith("{"):
        return None
    with contextlib.suppress(ValueError):
        return json.loads(line)
    return None


def raise_error_of(said: JsonObject) -> None:
    """Raise the failure that a bench driver reported, unless it only knows of another rank's, which says more; or the
    launcher does."""
    if said.get("elsewhere"):
        return
    kinds = {"bad_input": errors.BadInput, "not_applicable": errors.NotApplicable}
    kind = kinds.get(said.get("kind", ""), Failed)
    raise kind(said.get("problem", "the bench driver failed"), said.get("advice", ""))


def what_happened(output: Output, code: int, who: str = "the launcher") -> str:
    """A phrase for what ended badly: the rank and the signal where the launcher tells them. `who` ended with `code`."""
    text = "\n".join([*output.errors, *output.other])
    died = re.search(r"process rank (\d+) .*?exited on\s+signal (\d+)", text, re.DOTALL)  # Open MPI
    if died:
        return f"rank {died.group(1)} died of {signal_name(int(died.group(2)))}"
    died = re.search(r"EXIT CODE: (\d+)|exit(?:ed with|ing) (?:status|code):? (\d+)", text)  # MPICH
    if died:
        number = int(died.group(1) or died.group(2))
        return f"a rank died of {signal_name(number)}" if 0 < number < 32 else f"a rank ended with {number}"
    if code < 0:
        return f"{who} died of {signal_name(-code)}"
    silent = re.search(r"^.* process rank (\d+) with PID \d+ on\s+node \S+ exiting improperly", text, re.MULTILINE)
    if silent:  # Open MPI explains at length how a rank may end without a word to it; what the rank said is before that
        words = [line.strip() for line in text[: silent.start()].splitlines() if re.search(r"\w", line)]
        return f"rank {silent.group(1)} ended before MPI_Finalize" + (f" ({words[-1]})" if words else "")
    said = [line.strip() for line in output.errors if re.search(r"\w", line)]
    # Hydra's functions report one after another, the innermost first. A line before them says more, such as one of ssh.
    first = next((place for place, line in enumerate(said) if line.startswith("[mpiexec@")), None)
    cause = said[-1 if first is None else max(first - 1, 0)] if said else ""
    cause = re.sub(r"^\[mpiexec@\S+\] \w+ \([^)]*\): ", "", cause)
    return f"exit code {code}" + (f" ({cause})" if cause else "")


def signal_name(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def end(process: subprocess.Popen, job: str, name: str) -> None:
    """End the launcher and every process of the job that is still there, and wait until they are gone: at most 15 s,
    and then 5 for those that are on their way out. Ranks are killed at once: launchers give them a second or more."""
    ranks = [pid for pid in members(job) if command_of(pid) == name[:15]]
    if process.poll() is None:
        process.terminate()
        kill(ranks)
        ended(process, 3)
    end_members(job)
    ended(process, 1)
    deadline = time.monotonic() + 5
    while any_ending(ranks, name) and time.monotonic() < deadline:
        time.sleep(0.01)


def end_members(job: str) -> None:
    """End every process of the job, within 15 s."""
    deadline = time.monotonic() + 15
    while (pids := members(job)) and time.monotonic() < deadline:
        kill(pids)
        time.sleep(0.01)


def kill(pids: Sequence[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def any_ending(ranks: Sequence[int], name: str) -> bool:
    """Whether some of them are on their way out: their mark is gone with their memory, they are not."""
    return any(command_of(pid) == name[:15] and is_running(pid) and not environment_of(pid) for pid in ranks)


def uncollected(parents: set[int]) -> set[int]:
    """Dead processes that one of these processes has not waited for."""
    states = ((pid, *state_of(pid)) for pid in processes())
    return {pid for pid, state, parent in states if state == "Z" and parent in parents}


def members(job: str) -> list[int]:
    """The processes that carry the job's mark."""
    mark = f"{JOB}={job}".encode()
    return [pid for pid in processes() if mark in environment_of(pid)]


def environment_of(pid: int) -> bytes:
    """As the process was given it; empty where it has no memory any more, or is not there."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        return b"not ours"
    except OSError:
        return b""
