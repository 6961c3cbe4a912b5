"""Fingerprints: what shows from outside which algorithm of the library ran (the marks: worker/fingerprint.hpp)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from kumihimo import mpi
from kumihimo.bench.job import Launcher, start
from kumihimo.errors import BadInput
from kumihimo.library.algorithms import BLOCK_CALLS, COLLECTIVES, DEFAULT, Algorithm, Catalogue

DELAY_SECONDS = 0.03
TYPE_BYTES = 8  # doubles
# MPICH falls back in silence where an algorithm does not fit; `error`, but not while it starts, when it may not fit.
REFUSING = {"MPIR_CVAR_COLLECTIVE_FALLBACK": 0}
Step = Callable[[str], None]
Marks = dict[str, str]


class Memory(Protocol):
    """What earlier launches showed (tune.journal)."""

    def finished(self, target: dict) -> dict | None: ...

    def finish(self, target: dict, outcome: dict) -> None: ...


@dataclass(frozen=True)
class Asking:
    """Which library is asked, on how many ranks, for which sizes in bytes. `left`: seconds that there are in all;
    `memory`: launches that it knows are not made again."""

    installation: mpi.Installation
    ranks: int
    sizes: Sequence[int]
    seconds: float = 300  # at most, for one launch
    delay_seconds: float = DELAY_SECONDS
    step: Step = field(default=lambda what: None)
    left: Callable[[], float] = field(default=lambda: inf)
    memory: Memory | None = None

    def __post_init__(self) -> None:
        if self.ranks < 2:
            raise BadInput("at least 2 ranks, for the library to have a choice", str(self.ranks))
        wrong = [size for size in self.sizes if size < TYPE_BYTES or size % TYPE_BYTES]
        if wrong or not self.sizes:
            raise BadInput(f"sizes that are multiples of {TYPE_BYTES} bytes", ", ".join(map(str, wrong)) or "none")


@dataclass
class Told:
    """What one launch showed: marks by (call, bytes); `refused` those calls that the library would not do."""

    marks: dict[tuple[str, int], Marks] = field(default_factory=dict)
    refused: dict[tuple[str, int], str] = field(default_factory=dict)
    about: dict = field(default_factory=dict)


def launch_library(
    asking: Asking, calls: Sequence[str], settings: dict[str, str], name: str = "", **task
) -> tuple[list[dict], dict]:
    """One launch of the worker's task of the library's own calls: its results and what it says of itself. By its name
    it is told from others alike and remembered; without one it is made in any case."""
    results: list[dict] = []
    about: dict = {}
    key = {"library": name, "ranks": asking.ranks, "bytes": list(asking.sizes), "calls": list(calls)}
    key |= {"settings": settings, "task": task}
    memory = asking.memory if name else None
    if memory is not None and (known := memory.finished(key)) is not None:
        return known["results"], known["about"]

    def take(found: dict) -> None:
        if "call" in found:
            results.append(found)
        about.update(found.get("about", {}))

    questions = [question(size // TYPE_BYTES, calls, asking.ranks) for size in asking.sizes]
    text = json.dumps({"task": "library", "library": str(asking.installation.library), "questions": questions, **task})
    seconds = min(asking.seconds, asking.left())
    start(text, asking.installation, Launcher(asking.ranks, asking.installation, seconds, False, settings), take)
    if memory is not None:
        memory.finish(key, {"results": results, "about": about})
    return results, about


def question(count: int, calls: Sequence[str], ranks: int) -> dict:
    """As the worker reads it: without the calls of blocks where the vector has no whole ones."""
    whole = count % ranks == 0
    return {"count": count, "calls": [call for call in calls if whole or call not in BLOCK_CALLS]}


def tell(
    asking: Asking,
    settings: dict[str, str],
    calls: Sequence[str] = COLLECTIVES,
    controls: dict[str, int] | None = None,
    name: str = "",
) -> Told:
    """The fingerprints under these settings. Raises Failed where the library ends the job."""
    told = Told()
    options = {"measures": False, "delay_seconds": asking.delay_seconds, "controls": controls or {}}
    results, told.about = launch_library(asking, calls, settings, name, **options)
    for result in results:
        key = (result["call"], result["bytes"])
        if "fingerprint" in result:
            told.marks[key] = result["fingerprint"]
        else:
            told.refused[key] = result["not_applicable"]
    return told


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


def references(asking: Asking, catalogue: Catalogue) -> Reference:
    """The fingerprint of every algorithm, each forced by variables of the environment; those that the library refuses
    at a size are left out of it."""
    found: Reference = {}
    for place, forced in enumerate(rounds(catalogue)):
        asking.step(f"fingerprints: {', '.join(sorted({a.name for a in forced.values()}))}")
        refusing = REFUSING if catalogue.family == "mpich" and place else {}
        told = tell(asking, settings_of(forced), tuple(forced), refusing, "fingerprints")
        for (collective, size), marks in told.marks.items():
            found[collective, forced[collective].name, size] = marks
    return found


__all__ = ["DEFAULT", "Asking", "Reference", "Told", "references", "rounds", "settings_of", "tell"]
