"""Fingerprints: what shows from outside which algorithm of the library ran (the marks:
bench_driver/fingerprint.hpp)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from kumihimo.processes import mpi
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench.job import Launcher, start
from kumihimo.tune.mpi_library.algorithms import BLOCK_CALLS, COLLECTIVES, Algorithm, Catalogue

TYPE_BYTES = 8  # doubles
# MPICH falls back in silence where an algorithm does not fit; `error`, but not while it starts, when it may not fit.
REFUSING = {"MPIR_CVAR_COLLECTIVE_FALLBACK": 0}
Step = Callable[[str], None]
Marks = dict[str, str]


@dataclass
class Pace:
    """How long launches take: those that were made, and until then a guess."""

    made: list[float] = field(default_factory=list)
    guess: float = 0.5

    @property
    def seconds(self) -> float:
        return sum(self.made) / len(self.made) if self.made else self.guess


class EarlierLaunches(Protocol):
    """Fingerprints from earlier launches (tune.journal)."""

    def finished(self, target: JsonObject) -> JsonObject | None: ...

    def finish(self, target: JsonObject, outcome: JsonObject) -> None: ...


@dataclass(frozen=True)
class Setup:
    """Which library is asked, on how many ranks, for which sizes in bytes; `collectives`: whose algorithms. `left`:
    seconds that there are in all; `memory`: launches that it knows are not made again; `launch_seconds`: of a launch
    that measures nothing; `pace`: of those that were made."""

    installation: mpi.Installation
    ranks: int
    sizes: Sequence[int]
    collectives: Sequence[str] = COLLECTIVES
    seconds: float = 300  # at most, for one launch
    step: Step = field(default=lambda what: None)
    left: Callable[[], float] = field(default=lambda: inf)
    memory: EarlierLaunches | None = None
    launch_seconds: float = 0.3
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        if self.ranks < 2:
            raise wrong_value("there must be at least 2 ranks", self.ranks)
        wrong = [size for size in self.sizes if size < TYPE_BYTES or size % TYPE_BYTES]
        if wrong or not self.sizes:
            raise wrong_value(f"sizes must be multiples of {TYPE_BYTES} bytes", ", ".join(map(str, wrong)) or "none")


@dataclass
class Fingerprints:
    """Fingerprints from one launch: marks by (call, bytes); `refused`: calls that the library refused."""

    marks: dict[tuple[str, int], Marks] = field(default_factory=dict)
    refused: dict[tuple[str, int], str] = field(default_factory=dict)
    about: JsonObject = field(default_factory=dict)


def launch_library(
    setup: Setup,
    calls: Sequence[str],
    settings: dict[str, str],
    name: str = "",
    forced: Mapping[str, Algorithm] | None = None,
    **task,
) -> tuple[list[JsonObject], JsonObject]:
    """One launch of the bench driver's task of the library's own calls: its results and what it says of itself. By its
    name it is told from others alike and remembered, call by call and size by size, so that a launch of fewer of them
    finds its own again; without one it is made in any case. `forced`: of which calls the settings are."""
    found: list[JsonObject] = []
    about: JsonObject = {}

    def take(result: JsonObject) -> None:
        if "call" in result:
            found.append(result)
        about.update(result.get("about", {}))

    def key_of(call: str) -> JsonObject:
        own = dict(forced[call].settings) if forced and call in forced else settings
        return {"library": name, "ranks": setup.ranks, "call": call, "settings": own, "task": task}

    memory = setup.memory if name else None
    known = {call: memory.finished(key_of(call)) or {} for call in calls} if memory is not None else {}
    questions = [question(size // TYPE_BYTES, calls, setup.ranks) for size in setup.sizes]
    missing = [
        q for q in questions if any(bytes_of(q) not in known.get(call, {}).get("bytes", ()) for call in q["calls"])
    ]
    again = {bytes_of(q) for q in missing}
    seen = [
        result
        for kept in known.values()
        for result in kept.get("results", ())
        if result["bytes"] in setup.sizes and result["bytes"] not in again
    ]
    for kept in known.values():
        about.update(kept.get("about", {}))
    if not missing:
        return seen, about
    seconds = min(setup.seconds, setup.left())
    began = time.monotonic()
    whole = {"task": "library", "library": str(setup.installation.library), "library_calls": missing, **task}
    start(whole, setup.installation, Launcher(setup.ranks, setup.installation, seconds, False, settings), take)
    setup.pace.made.append(time.monotonic() - began)
    for call, kept in known.items():
        results = [result for result in kept.get("results", ()) if result["bytes"] not in again]
        results += [result for result in found if result["call"] == call]
        sizes = sorted({*kept.get("bytes", ()), *(bytes_of(q) for q in missing if call in q["calls"])})
        if memory is not None:
            memory.finish(key_of(call), {"bytes": sizes, "results": results, "about": about})
    return [*seen, *found], about


def bytes_of(question: JsonObject) -> int:
    return TYPE_BYTES * question["count"]


def question(count: int, calls: Sequence[str], ranks: int) -> JsonObject:
    """As the bench driver reads it: without the calls of blocks where the vector has no whole ones."""
    whole = count % ranks == 0
    return {"count": count, "calls": [call for call in calls if whole or call not in BLOCK_CALLS]}


def fingerprints_of(
    setup: Setup,
    settings: dict[str, str],
    calls: Sequence[str] = COLLECTIVES,
    controls: dict[str, int] | None = None,
    name: str = "",
    forced: Mapping[str, Algorithm] | None = None,
) -> Fingerprints:
    """The fingerprints under these settings. Raises Failed where the library ends the job."""
    seen = Fingerprints()
    options = {"measures": False, "controls": controls or {}}
    results, seen.about = launch_library(setup, calls, settings, name, forced, **options)
    for result in results:
        key = (result["call"], result["bytes"])
        if "fingerprint" in result:
            seen.marks[key] = result["fingerprint"]
        else:
            seen.refused[key] = result["not_applicable"]
    return seen


def rounds(catalogue: Catalogue) -> list[dict[str, Algorithm]]:
    """Launches that try all algorithms, of all collectives at once: the n-th of each in the n-th."""
    longest = max(len(found) for found in catalogue.candidates.values())
    return [
        {collective: found[place] for collective, found in catalogue.candidates.items() if place < len(found)}
        for place in range(longest)
    ]


def settings_of(forced: dict[str, Algorithm]) -> dict[str, str]:
    return {name: value for algorithm in forced.values() for name, value in algorithm.settings}


Reference = dict[tuple[str, str, int], Marks]  # by collective, algorithm, bytes


def references(setup: Setup, catalogue: Catalogue) -> Reference:
    """The fingerprint of every algorithm, each forced by variables of the environment; those that the library refuses
    at a size are left out of it."""
    found: Reference = {}
    for place, forced in enumerate(rounds(catalogue)):
        setup.step(f"fingerprints: {', '.join(sorted({a.name for a in forced.values()}))}")
        refusing = REFUSING if catalogue.family == "mpich" and place else {}
        seen = fingerprints_of(setup, settings_of(forced), tuple(forced), refusing, "fingerprints", forced)
        for (collective, size), marks in seen.marks.items():
            found[collective, forced[collective].name, size] = marks
    return found
