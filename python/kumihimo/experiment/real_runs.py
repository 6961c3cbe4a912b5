"""The real half of the demo: allreduce on a few MPI processes of this machine, checked and timed.

Every algorithm is first compared bit for bit with the golden copy and repeated, in double and in float, then timed
beside the MPI library's own call in the same processes. The processes are looked at twice: as one node, whose ranks
share memory, and as a 2x2 torus of nodes with one rank each, which exchange messages. Then one algorithm is chosen for
each length, and the choice is measured against the library on launches that had no part in it.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import kumihimo
from kumihimo import _machine, bench
from kumihimo.bench import tuned
from kumihimo.experiment.cases import Progress, silent
from kumihimo.mpi import Installation

COLLECTIVE = "allreduce"
RANKS = 4
SPACES = {"node": {"shape": "node"}, "2x2": {"shape": "2x2", "ranks_per_node": 1}}
TIMED_TYPE = "float64"
TYPES = (TIMED_TYPE, "float32")
LONGEST_IN_ALL_TYPES = 2**20
LONGEST_SECONDS = 600.0  # for a launch, on a machine that does other things; it takes a twentieth of it


@dataclass(frozen=True)
class Effort:
    """How much is done: the lengths, the seconds for the turns of one case, and the launches that judge the choice."""

    sizes: Sequence[int]
    chosen_sizes: Sequence[int]
    case_seconds: float
    chosen: tuned.Effort


FULL = Effort(
    [2**exponent for exponent in range(3, 25)],
    [2**exponent for exponent in range(4, 25, 2)],
    0.03,
    tuned.Effort(survey_seconds=0.005, refine_seconds=0.01, final_seconds=0.02, case_seconds=0.04),
)
QUICK = Effort(
    [2**exponent for exponent in range(3, 21, 4)],
    [2**16, 2**20],
    0.005,
    tuned.Effort(survey_seconds=0.002, refine_seconds=0.002, final_seconds=0.002, case_seconds=0.01),
)


def measure(installation: Installation, progress: Progress = silent, *, effort: Effort = FULL) -> dict:
    """The content of measured.json."""
    started = time.perf_counter()
    checks = check(installation, progress, effort)
    timed = timings(installation, progress, effort)
    choice = chosen(installation, progress, effort)
    return {
        "form": "kumihimo-measured-1",
        "version": kumihimo.__version__,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": host(timed.about),
        "mpi": {"name": name_of(installation), "version": installation.version, "library": timed.about["library"]},
        "notes": timed.notes,
        "checks": [{**found, "space": space_of(found)} for found in checks],
        "results": [with_check(result, checks) for result in timed.results],
        "chosen": choice,
        "wall_seconds": time.perf_counter() - started,
    }


def cases(sizes: Sequence[int], type_: str) -> list[bench.Case]:
    """Every algorithm that fits, at every length in every space; those of one question stand together, as they are
    timed by turns."""
    return [
        case
        for space in SPACES.values()
        for case in bench.cases_of_all(COLLECTIVE, ranks=RANKS, sizes=sizes, type=type_, **space)
    ]


def check(installation: Installation, progress: Progress, effort: Effort) -> list[dict]:
    """Against the golden copy: results with `right`. Each type at the lengths up to 1 MiB, and one of them at the
    longest, since the golden copy adds element by element and takes its time."""
    short = [size for size in effort.sizes if size <= LONGEST_IN_ALL_TYPES]
    wanted = [case for type_ in TYPES for case in cases(short, type_)]
    if effort.sizes[-1] > LONGEST_IN_ALL_TYPES:
        wanted += cases(effort.sizes[-1:], TIMED_TYPE)
    count = Counter("comparing with the golden copy", len(wanted), progress)
    return bench.run_check(
        wanted, ranks=RANKS, installation=installation, repeats=2, on_result=count, seconds=LONGEST_SECONDS
    )


def timings(installation: Installation, progress: Progress, effort: Effort) -> bench.Run:
    """Every case beside the library's own call."""
    wanted = cases(effort.sizes, TIMED_TYPE)
    return bench.run_measure(
        wanted,
        ranks=RANKS,
        installation=installation,
        case_seconds=effort.case_seconds,
        on_result=Counter("timing beside the library", len(wanted), progress),
        seconds=LONGEST_SECONDS,
    )


def chosen(installation: Installation, progress: Progress, effort: Effort) -> dict:
    """An algorithm for each length, chosen on launches of their own, and how it does on nine fresh ones."""
    return bench.run_tuned(
        COLLECTIVE,
        ranks=RANKS,
        sizes=effort.chosen_sizes,
        installation=installation,
        effort=effort.chosen,
        step=Counter("choosing, and judging the choice", 3 + effort.chosen.launches, progress),
    )


class Counter:
    """Counts what it is told of, and passes the number on."""

    def __init__(self, what: str, total: int, progress: Progress) -> None:
        self._what, self._total, self._progress = what, total, progress
        self._done = 0

    def __call__(self, _told: object) -> None:
        self._done += 1
        self._progress(self._what, min(self._done, self._total), self._total)


def with_check(timed: dict, checks: list[dict]) -> dict:
    """A timed result, its `bitwise` joined with what the comparison with the golden copy said of that length."""
    space = space_of(timed)
    same = ("shape", "algorithm", "bytes")
    right = [found["right"] for found in checks if all(found[key] == timed[key] for key in same)]
    return {**timed, "space": space, "bitwise": timed["bitwise"] and all(right)}


def space_of(result: dict) -> str:
    return next(name for name, given in SPACES.items() if given["shape"] == result["shape"])


def host(about: dict) -> dict:
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
