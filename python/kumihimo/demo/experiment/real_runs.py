"""The real half of the demo: allreduce on a few MPI processes of this machine, checked and timed.

Every algorithm is first compared bit for bit with the golden copy and repeated, in double and in float, then timed
beside the MPI library's own call in the same processes. The processes are looked at twice: as one node, whose ranks
share memory, and as a 2x2 torus of nodes with one rank each, which exchange messages. Then one algorithm is chosen for
each length, and the choice is measured against the library on launches that had no part in it.

All this has a deadline. A stage that is cut short, on a machine that is busy with other things, lacks lengths and says
so: the longest, which take most of the time, or else some in between, as those that are done first span the range. The
first length of the checks and of the timing is waited for, however busy the machine is.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import kumihimo
from kumihimo import _machine
from kumihimo.demo.experiment.cases import Progress, silent
from kumihimo.processes.mpi import Installation
from kumihimo.text.errors import OutOfTime
from kumihimo.text.json_types import JsonObject
from kumihimo.tune import bench
from kumihimo.tune.bench import job, tuned

COLLECTIVE = "allreduce"
RANKS = 4
SPACES: dict[str, dict[str, Any]] = {"node": {"shape": "node"}, "2x2": {"shape": "2x2", "ranks_per_node": 1}}
TIMED_TYPE = "float64"
TYPES = (TIMED_TYPE, "float32")
REPEATS = 2
LONGEST_IN_ALL_TYPES = 2**20
FEWEST_LAUNCHES = 6  # of which an interval of 95 % can be made
LEAST_SECONDS = 5.0  # for a stage, however late it is
FIRST_SECONDS = 600.0  # for its first length, however busy the machine is

Stage = Callable[[Sequence[bench.BenchCase], float], bench.LaunchResults]  # these cases, within so many seconds


@dataclass(frozen=True)
class ExperimentEffort:
    """How much is done: the lengths, the seconds for the turns of one case, the launches that judge the choice, and the
    seconds of the clock after which the checks, the timing and all of it end at the latest."""

    sizes: Sequence[int]
    chosen_sizes: Sequence[int]
    case_seconds: float
    chosen: tuned.CaseEffort
    ends: tuple[float, float, float] = (30.0, 65.0, 95.0)


FULL = ExperimentEffort(
    [2**exponent for exponent in (*range(3, 21), 22, 24)],
    [2**exponent for exponent in range(4, 25, 2)],
    0.015,
    tuned.CaseEffort(survey_seconds=0.005, refine_seconds=0.01, final_seconds=0.02, case_seconds=0.04),
)
QUICK = ExperimentEffort(
    [2**exponent for exponent in range(3, 21, 4)],
    [2**16, 2**20],
    0.005,
    tuned.CaseEffort(survey_seconds=0.002, refine_seconds=0.002, final_seconds=0.002, case_seconds=0.01),
)


def measure(installation: Installation, progress: Progress = silent, *, effort: ExperimentEffort = FULL) -> JsonObject:
    started = time.monotonic()
    ends = [started + seconds for seconds in effort.ends]
    checked = check(installation, progress, effort, ends[0])
    timed = timings(installation, progress, effort, ends[1])
    choice = chosen(installation, progress, effort, ends[2])
    checks = checked.results
    return {
        "form": "kumihimo-measured-2",
        "version": kumihimo.__version__,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": host(timed.about),
        "mpi": {"name": name_of(installation), "version": installation.version, "library": timed.about["library"]},
        "notes": [
            *(f"checks: {note}" for note in checked.notes),
            *(f"timing: {note}" for note in timed.notes),
            *([] if choice else ["no time was left to choose an algorithm for each length and to measure the choice"]),
        ],
        "checks_planned": len(checks_of(effort)),
        "checks": [{**found, "space": space_of(found)} for found in checks],
        "results": [with_check(result, checks) for result in sorted(timed.results, key=place_of)],
        "chosen": choice,
        "wall_seconds": time.monotonic() - started,
    }


def spanning(sizes: Sequence[int]) -> list[int]:
    """The sizes in an order of which every beginning spans them all: the ends, then what halves the gaps."""
    last = len(sizes) - 1
    places = [0, last]
    step = 1 << max(last - 1, 0).bit_length()
    while step > 1:
        step //= 2
        places += range(step, last, step)
    return [sizes[place] for place in dict.fromkeys(places)]


def in_order(sizes: Sequence[int]) -> list[int]:
    """The lengths as they are done: those up to 1 MiB are many and quick, and come first."""
    return sorted(spanning(sizes), key=lambda size: size > LONGEST_IN_ALL_TYPES)


def cases(sizes: Sequence[int], type_: str) -> list[bench.BenchCase]:
    """Every algorithm that fits, in every space, a length after the other; those of one question stand together, as
    they are timed by turns."""
    return [
        case
        for size in sizes
        for space in SPACES.values()
        for case in bench.cases_of_all(COLLECTIVE, ranks=RANKS, sizes=[size], type=type_, **space)
    ]


def left(end: float) -> float:
    return max(LEAST_SECONDS, end - time.monotonic())


def checks_of(effort: ExperimentEffort) -> list[bench.BenchCase]:
    """Cases compared with the golden copy, in this order: one type at every length, the other at those up to 1 MiB,
    since the golden copy adds element by element and takes its time.
    """
    sizes = in_order(effort.sizes)
    short = [size for size in sizes if size <= LONGEST_IN_ALL_TYPES]
    long = [size for size in sizes if size > LONGEST_IN_ALL_TYPES]
    return [case for type_ in TYPES for case in cases(short, type_)] + cases(long, TIMED_TYPE)


def at_least_one(run: Stage, wanted: list[bench.BenchCase], end: float) -> bench.LaunchResults:
    """As many of the cases as there is time for; the first length at least."""
    try:
        return run(wanted, left(end))
    except OutOfTime:
        found = run([case for case in wanted if case.bytes == wanted[0].bytes], FIRST_SECONDS)
    found.notes.append(f"{len(found.results)} of {len(wanted)} cases measured: this machine is busy")
    return found


def check(installation: Installation, progress: Progress, effort: ExperimentEffort, end: float) -> bench.LaunchResults:
    """Against the golden copy: results with `right`."""
    wanted = checks_of(effort)
    count = ProgressCounter("comparing with the golden copy", len(wanted), progress)

    def run(cases: Sequence[bench.BenchCase], seconds: float) -> bench.LaunchResults:
        launcher = job.Launcher(RANKS, installation, seconds, partial=True)
        return job.run_task({"task": "check", "repeats": REPEATS}, cases, launcher, count)

    return at_least_one(run, wanted, end)


def timings(
    installation: Installation, progress: Progress, effort: ExperimentEffort, end: float
) -> bench.LaunchResults:
    """Every case beside the library's own call."""
    wanted = cases(in_order(effort.sizes), TIMED_TYPE)
    count = ProgressCounter("timing beside the library", len(wanted), progress)

    def run(cases: Sequence[bench.BenchCase], seconds: float) -> bench.LaunchResults:
        return bench.run_measure(
            cases,
            ranks=RANKS,
            installation=installation,
            case_seconds=min(effort.case_seconds, seconds / 2 / len(cases)),
            on_result=count,
            seconds=seconds,
            partial=True,
        )

    return at_least_one(run, wanted, end)


def chosen(installation: Installation, progress: Progress, effort: ExperimentEffort, end: float) -> JsonObject | None:
    """An algorithm for each length, chosen on launches of their own, and how it does on up to nine fresh ones; None
    where the time is not enough for a choice and a judgement."""
    count = ProgressCounter("choosing, and judging the choice", tuned.TRAINING + effort.chosen.launches, progress)
    tuning = tuned.CaseTuning(bench.BenchCase(COLLECTIVE, ""), RANKS, effort.chosen_sizes, installation, effort.chosen)

    def step(what: str) -> None:
        if time.monotonic() > end:
            raise OutOfTime(f"the time limit came before {what}")
        count(what)
        tuning.options["seconds"] = left(end)

    tuning.step = step
    runs: list[bench.LaunchResults] = []
    with contextlib.suppress(OutOfTime):
        choice = tuned.choose(tuning)
        while len(runs) < effort.chosen.launches:
            step("a launch")
            runs.append(tuned.measure(tuning, choice, effort.chosen.case_seconds))
    return tuned.joined(choice, runs) if len(runs) >= FEWEST_LAUNCHES else None


class ProgressCounter:
    """Counts what it is told of, and passes the number on."""

    def __init__(self, what: str, total: int, progress: Progress) -> None:
        self._what, self._total, self._progress = what, total, progress
        self._done = 0

    def __call__(self, _told: object) -> None:
        self._done += 1
        self._progress(self._what, min(self._done, self._total), self._total)


def with_check(timed: JsonObject, checks: list[JsonObject]) -> JsonObject:
    """A timed result, its `bitwise` joined with what the comparison with the golden copy said of that length: None
    where there was none, as repeated calls alone do not make it right."""
    space = space_of(timed)
    same = ("shape", "algorithm", "bytes")
    right = [found["right"] for found in checks if "right" in found and all(found[k] == timed[k] for k in same)]
    bitwise = timed["bitwise"] and all(right)
    return {**timed, "space": space, "bitwise": bitwise if right or not bitwise else None}


def place_of(result: JsonObject) -> tuple[int, int]:
    """Where a result stands among the others: those of a length together, of one algorithm in its usual place."""
    return list(SPACES).index(space_of(result)), result["bytes"]


def space_of(result: JsonObject) -> str:
    return next(name for name, given in SPACES.items() if given["shape"] == result["shape"])


def host(about: JsonObject) -> JsonObject:
    """This machine, as far as it bears on the figures."""
    found = _machine.discover_host()
    processors = len(os.sched_getaffinity(0))
    return {
        "processor": found.processor,
        "cores": found.cores,
        "hardware_threads": found.hardware_threads,
        "numa_nodes": found.numa_nodes,
        "memory_bytes": found.memory_bytes,
        "system": f"{platform.system()} {platform.release()}",
        "processes": f"{RANKS} on {processors} processors" + (", taking turns" if processors < RANKS else ""),
        "pinning": about.get("pinning", ""),
        "load_average": f"{os.getloadavg()[0]:.1f} at the end of the runs",
    }


def name_of(installation: Installation) -> str:
    return {"openmpi": "Open MPI", "mpich": "MPICH"}.get(installation.family, installation.family)
