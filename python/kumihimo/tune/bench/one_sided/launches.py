"""Launches of the bench driver, a back end and an MPI library each, by turns; their results joined.

A library may crash. What was measured before is kept; the measure at which the processes died is told, and the others
are measured in another launch without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from kumihimo.network import node
from kumihimo.processes import launcher_environment
from kumihimo.processes.mpi import Installation
from kumihimo.text.errors import Failed, NotApplicable, OutOfTime
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench.job import Launcher, start
from kumihimo.tune.bench.one_sided.libraries import FoundLibrary

LAST_CRASH = 4  # launches of one turn
ENDED_BADLY = "{}: the processes crashed in {} after all results, which are kept ({})"
KNOWN = {"shmem_finalize": "; Open MPI before 4.1.6 does (open-mpi/ompi issue 11604)"}
RATES = ("bytes_per_second", "messages_per_second", "operations_per_second")
Advance = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Contestant:
    """A back end over an MPI library. `mpi`: the name that the user gave the latter."""

    backend: str
    mpi: str
    installation: Installation
    found: FoundLibrary

    @property
    def name(self) -> str:
        return f"{self.mpi} {self.backend}"


@dataclass
class OneSidedLaunch:
    about: JsonObject = field(default_factory=dict)
    results: dict[tuple, JsonObject] = field(default_factory=dict)  # by key_of
    notes: list[str] = field(default_factory=list)


@dataclass
class Measurements:
    """`left_out`: contestants without results, and why."""

    about: dict[str, JsonObject]
    results: list[JsonObject]
    left_out: list[JsonObject]
    notes: list[str]


def key_of(result: JsonObject) -> tuple:
    names = ("window_kind", "synchronisation", "place", "measure", "bytes")
    return tuple(result.get(name, "") for name in names)


def measure(
    contestants: Sequence[Contestant], task: JsonObject, ranks: int, launches: int, seconds: float, advance: Advance
) -> Measurements:
    """Each contestant `launches` times, by turns; the one that begins changes from turn to turn."""
    runs: dict[Contestant, list[OneSidedLaunch]] = {each: [] for each in contestants}
    left_out: list[JsonObject] = []
    for turn in range(launches):
        shift = turn % max(1, len(contestants))
        for each in [*contestants[shift:], *contestants[:shift]]:
            if each not in runs:
                continue
            try:
                runs[each].append(launched(each, task, ranks, seconds, advance))
            except NotApplicable as error:
                del runs[each]
                left_out.append({"library": each.backend, "mpi": each.mpi, "reason": str(error)})
    return Measurements(
        {each.name: of[0].about for each, of in runs.items()},
        [row for each, of in runs.items() for row in joined(each, of)],
        left_out,
        list(dict.fromkeys(note for of in runs.values() for run in of for note in run.notes)),
    )


def launched(contestant: Contestant, task: JsonObject, ranks: int, seconds: float, advance: Advance) -> OneSidedLaunch:
    """One launch, or another one after each crash."""
    run, without = OneSidedLaunch(), set()
    for attempt in range(LAST_CRASH):
        watched = Watched(contestant, run, advance)
        asked = {**task, "measured": [name for name in task["measured"] if name not in without]}
        settings = contestant.found.settings if launcher_environment.place() is None else {}
        try:
            start(
                {**asked, "backend": contestant.backend, "image": contestant.found.image, "task": "one_sided"}
                | {"options": contestant.found.options}
                | {"library": str(contestant.installation.library)},
                contestant.installation,
                Launcher(ranks, contestant.installation, seconds, settings=unset(settings)),
                watched.take,
            )
            return run
        except OutOfTime:
            raise
        except Failed as error:
            if watched.ending:
                known = KNOWN.get(watched.ending, "")
                run.notes.append(ENDED_BADLY.format(contestant.name, watched.ending, error) + known)
                return run
            if watched.errors or attempt + 1 == LAST_CRASH:
                raise
            if watched.begun:
                note_crash(run, watched.begun, str(error))
                without.add(watched.begun["measure"])
    return run


def unset(settings: dict[str, str]) -> dict[str, str]:
    """The settings, with the user's own values where the environment has them."""
    return {name: os.environ.get(name, value) for name, value in settings.items()}


def note_crash(run: OneSidedLaunch, begun: JsonObject, reason: str) -> None:
    run.results.setdefault(key_of(begun), {**begun, "crashed": reason})


class Watched:
    """Progress that the bench driver reports: `begun`, the case under way; `ending`, the call after all results."""

    def __init__(self, contestant: Contestant, run: OneSidedLaunch, advance: Advance) -> None:
        self.begun: JsonObject | None = None
        self.ending = ""
        self.errors = False
        self._contestant, self._run, self._advance = contestant, run, advance

    def take(self, said: JsonObject) -> None:
        if "about" in said:
            self._run.about.update(said["about"])
        elif "notes" in said:
            self._run.notes += said["notes"]
        elif "begins" in said:
            self.begun = said["begins"]
        elif "ending" in said:
            self.ending, self.begun = said["ending"], None
        else:
            new = key_of(said) not in self._run.results
            self._run.results.setdefault(key_of(said), said)
            self.begun = None
            if new:
                self._advance(f"{self._contestant.name}: {said['measure']}")


def joined(contestant: Contestant, runs: Sequence[OneSidedLaunch]) -> list[JsonObject]:
    """A row for each case: of one launch with the interval of its samples, of several with that of their medians."""
    rows = []
    for key, first in runs[0].results.items():
        same = [run.results[key] for run in runs if key in run.results]
        row = {"library": contestant.backend, "mpi": contestant.mpi, **first}
        row.pop("backend", None)
        row["launches"] = len(same)
        measured = [each for each in same if "seconds" in each]
        if len(measured) == len(same):
            row |= times_of(measured)
            row |= next(({"right": False, "found": each["found"]} for each in measured if not each["right"]), {})
        elif crashed := next((each for each in same if "crashed" in each), None):
            row = {**{k: v for k, v in row.items() if k not in ("seconds", "right", *RATES)}, **crashed}
        rows.append(row)
    return rows


def times_of(runs: Sequence[JsonObject]) -> JsonObject:
    if len(runs) == 1:
        (run,) = runs
        return {"low": run["interval_low"], "high": run["interval_high"], "seconds_of_launches": [run["seconds"]]}
    times = [run["seconds"] for run in runs]
    summary = node.statistics(times)
    found = {"seconds": summary["median"], "low": summary["low"], "high": summary["high"]}
    for name in (*RATES, "overlap", "pure_seconds", "compute_seconds"):
        if name in runs[0]:
            found[name] = median(run[name] for run in runs)
    return {**found, "samples": sum(run["samples"] for run in runs), "seconds_of_launches": times}
