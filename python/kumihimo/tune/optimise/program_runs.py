"""Whole runs of a program: recorded, plain, or with choices; their times, and whether their results agree."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

from kumihimo.run import preload, wisdom_reading
from kumihimo.text.errors import Failed, failed

STOPWATCH = "libkumihimo-stopwatch.so"
SRUN_ERROR = re.compile(r"^srun: (?:error|fatal): (.*\S)", re.MULTILINE)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


@dataclass(frozen=True)
class OptimisedProgram:
    """`command` starts it; `logs` is the folder of what it prints; `given`: what it reads from standard input.
    `metric` finds its own figure in what it prints, of which more is better if `more_is_better`. `checked`: files that
    it writes and that must be equal, numbers in them to the relative `tolerance`."""

    command: tuple[str, ...]
    logs: Path
    given: Path | None = None
    metric: re.Pattern | None = None
    more_is_better: bool = False
    checked: tuple[Path, ...] = ()
    tolerance: float = 0.0


@dataclass(frozen=True)
class JudgedRun:
    """`cost` is less for a better run: seconds, or the metric or its reciprocal. `results`: the checked files."""

    name: str
    log: Path
    code: int
    signals: tuple[str, ...]
    cost: float
    results: tuple[bytes, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(b"\0".join(self.results)).hexdigest()


def run(
    program: OptimisedProgram,
    name: str,
    wisdom: Path | None = None,
    profile: Path | None = None,
    events: Path | None = None,
) -> JudgedRun:
    """With the choices of `wisdom`, or without, or recorded as `profile`, with the ranks' events in a folder `events`.
    Raises Failed where the program fails or does not tell its time."""
    log, times = program.logs / f"{name}.log", program.logs / f"{name}.times"
    times.unlink(missing_ok=True)
    settings = {"TIMES": str(times), "WISDOM": str(wisdom or ""), "RECORD": str(profile or "")}
    settings["RECORD_TRACE"] = str(events or "")
    if wisdom is not None and wisdom_reading.folder().is_dir():
        settings["KERNELS"] = str(wisdom_reading.folder())
    objects = [STOPWATCH, *([preload.INTERPOSER] * (wisdom is not None)), *([preload.RECORDER] * (profile is not None))]
    before = [state_of(path) for path in program.checked]
    with ExitStack() as files:
        printed = files.enter_context(log.open("wb"))
        given = files.enter_context(program.given.open("rb")) if program.given else None
        streams = {"stdin": given, "stdout": printed, "stderr": printed}
        code, _, signals = preload.run(program.command, settings, objects, streams=streams, whole=True)
    if signals:
        raise KeyboardInterrupt if signals[0] == "SIGINT" else SystemExit(128 + Signals[signals[0]])
    if code:
        when = "while it was recorded" if profile else f"in the run {name}"
        raise failed(f"the program failed {when}", f"exit code {code}{said_by_srun(log)}", f"see {log}")
    results = tuple(result_of(path, earlier) for path, earlier in zip(program.checked, before))
    return JudgedRun(name, log, code, signals, cost_of(program, log, times), results)


def said_by_srun(log: Path) -> str:
    """Its first error, such as that it asks for more than the allocation has; empty without one."""
    found = SRUN_ERROR.search(log.read_text(encoding="utf-8", errors="replace"))
    return f" (srun: {found[1]})" if found else ""


def cost_of(program: OptimisedProgram, log: Path, times: Path) -> float:
    if program.metric is None:
        try:
            return max(float(line) for line in times.read_text(encoding="ascii").split())
        except (OSError, ValueError):
            raise failed(
                "the time of the program is not known", f"no process called MPI_Finalize; see {log}", "use --metric"
            ) from None
    found = program.metric.findall(log.read_text(encoding="utf-8", errors="replace"))
    try:
        text = found[-1] if isinstance(found[-1], str) else found[-1][0]
        value = float(text)
    except (IndexError, ValueError):
        what = f"'{found[-1]}'" if found else "no match"
        raise failed("--metric must find a number in what the program prints", what, f"see {log}") from None
    if not 0 < value < math.inf:
        raise failed("--metric must find a number above 0", str(value), f"see {log}")
    return 1 / value if program.more_is_better else value


def state_of(path: Path) -> tuple | None:
    try:
        now = path.stat()
    except OSError:
        return None
    return now.st_ino, now.st_mtime_ns, now.st_size


def result_of(path: Path, before: tuple | None = None) -> bytes:
    """`before`: its state before the run, which must have written it."""
    rule = "--check must name a file that the program writes"
    try:
        found = path.read_bytes()
    except OSError as error:
        raise failed(rule, f"{path}: {error.strerror}") from None
    if before is not None and before == state_of(path):
        raise failed(rule, f"{path} is as it was before the run")
    return found


def difference(program: OptimisedProgram, one: JudgedRun, other: JudgedRun) -> str:
    """The first of the checked files that differs; empty if all agree."""
    for path, mine, theirs in zip(program.checked, one.results, other.results):
        if not agree(mine, theirs, program.tolerance):
            return f"{path} differs between {one.name} and {other.name}"
    return ""


def agree(mine: bytes, theirs: bytes, tolerance: float) -> bool:
    if mine == theirs or tolerance == 0:
        return mine == theirs
    texts = [each.decode("utf-8", errors="surrogateescape") for each in (mine, theirs)]
    if NUMBER.sub("#", texts[0]) != NUMBER.sub("#", texts[1]):
        return False
    numbers = [[float(word.lower().replace("d", "e")) for word in NUMBER.findall(text)] for text in texts]
    return all(math.isclose(a, b, rel_tol=tolerance, abs_tol=0) for a, b in zip(*numbers))


def check_repeats(program: OptimisedProgram, runs: Sequence[JudgedRun]) -> None:
    """Whether plain runs agree with each other: else the files say nothing of the choices."""
    for run_ in runs[1:]:
        if found := difference(program, runs[0], run_):
            raise Failed(f"--check cannot be used: {found}, both without choices; leave it out, or give --tolerance")
