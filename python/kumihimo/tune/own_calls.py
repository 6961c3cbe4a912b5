"""What tuning finds out about the MPI library's own calls: guidelines that its default violates, and with --export the
files that tell it of better algorithms."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo import library, mpi
from kumihimo.errors import BadInput, Failed, NotApplicable
from kumihimo.library import guidelines
from kumihimo.library.algorithms import DEFAULT
from kumihimo.library.measure import Row, Table
from kumihimo.library.tell import launch_library
from kumihimo.tune.launches import Clock

GUIDELINES_SHARE = 0.1  # of the budget
EXPORT_SHARE = 0.4
LEAST_LAUNCHES = 5  # of the default, or nothing is said about guidelines
LEAST_BUDGET = 120.0  # seconds, with --export: each algorithm has launches of its own
SHORTEST_SECONDS = 0.5  # a launch
MOST_SIZES = 7

Step = Callable[[str], None]


@dataclass
class OwnCalls:
    """`notes`: what was not done, and why."""

    violations: list[dict] = field(default_factory=list)
    checked: list[int] = field(default_factory=list)  # numbers of ranks
    exports: list[dict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def disobeyed(self) -> bool:
        return any(each["verdict"] == "not obeyed" for each in self.exports)


def check_budget(clock: Clock) -> None:
    if clock.seconds < LEAST_BUDGET:
        wanted = f"--export with a --budget of at least {LEAST_BUDGET:.0f}s"
        raise BadInput(wanted, f"{clock.seconds:.0f}s", "each of the library's algorithms is launched several times")


def thinned(sizes: Sequence[int]) -> list[int]:
    """At most so many, over the same span."""
    step = -(-len(sizes) // MOST_SIZES)
    return sorted(sizes)[::step]


def look_at(
    installation: mpi.Installation,
    ranks: Sequence[int],
    sizes: Sequence[int],
    clock: Clock,
    step: Step,
    folder: Path | None,
) -> OwnCalls:
    """The guidelines for every number of ranks, as far as their share of the time allows; into `folder` the files for
    the largest number."""
    found = OwnCalls()
    sizes = thinned(sizes)
    exported = max(ranks) if folder is not None else None
    if folder is not None:
        export(found, library.Asking(installation, max(ranks), sizes, step=step), clock, folder)
    rest = [number for number in ranks if number != exported or exported not in found.checked]
    share = GUIDELINES_SHARE * clock.seconds / max(1, len(rest))
    for number in rest:
        try:
            table = defaults(library.Asking(installation, number, sizes, step=step), share)
        except Failed as error:  # tuning goes on without
            found.notes.append(f"guidelines not checked on {number} ranks: {error}")
            continue
        if table is None:
            found.notes.append(f"guidelines not checked on {number} ranks for want of time; give a longer --budget")
        else:
            add_violations(found, table, guidelines.violations(table))
    return found


def export(found: OwnCalls, asking: library.Asking, clock: Clock, folder: Path) -> None:
    try:
        learnt = library.learn(asking, library.Effort(seconds=EXPORT_SHARE * clock.seconds))
    except NotApplicable as error:
        found.notes.append(f"no files for the MPI library: {error}")
        return
    add_violations(found, learnt.table, learnt.violations)
    for written in library.export(learnt, folder):
        found.exports.append(
            {
                "form": written.export.form,
                "file": str(written.path),
                "ranks": asking.ranks,
                "usage": written.export.usage(str(written.path)),
                "verdict": str(written.check.verdict) if written.check else "not run here",
                "line": written.lines()[0],
            }
        )
    if not found.exports:
        found.notes.append(f"no files for the MPI library: its own choice is best on {asking.ranks} ranks")


def defaults(asking: library.Asking, seconds: float) -> Table | None:
    """The library's default as the guidelines need it; None where so few launches fit that nothing would follow."""
    if seconds < LEAST_LAUNCHES * SHORTEST_SECONDS:
        return None
    samples: dict[tuple[str, int], list[float]] = {}
    began, done = time.monotonic(), 0
    while done < library.Effort.launches:
        asking.step(f"guidelines on {asking.ranks} ranks")
        results, _ = launch_library(asking, guidelines.CALLS, {}, case_seconds=0.01, turns_at_least=5)
        for result in results:
            samples.setdefault((result["call"], result["bytes"]), []).append(result["seconds"])
        done += 1
        each = (time.monotonic() - began) / done
        if done == 1 and each * LEAST_LAUNCHES > seconds:
            return None
        if done >= LEAST_LAUNCHES and each * (done + 1) > seconds:
            break
    return Table(asking.ranks, [Row(call, DEFAULT, size, tuple(s)) for (call, size), s in samples.items()])


def add_violations(found: OwnCalls, table: Table, violations: list[guidelines.Violation]) -> None:
    found.checked.append(table.ranks)
    found.violations += [
        {"ranks": table.ranks, **vars(v), "line": f"{table.ranks} ranks: {v.line()}"} for v in violations
    ]
