"""Launches of the worker on behalf of a tuning: what the journal knows is not measured again, what is measured is kept,
and none begins after its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from random import Random

from kumihimo import bench, mpi
from kumihimo.bench import Case
from kumihimo.errors import OutOfTime
from kumihimo.tune.journal import Journal

LEAST_SECONDS = 1.0  # that a launch needs: one is not begun with less

# Results in the order of the cases; fewer where the time was over.
Measure = Callable[[Sequence[Case], int, float, float, Callable[[dict], None]], None]


@dataclass
class Clock:
    """Of the budget."""

    seconds: float
    now: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.started = self.now()

    @property
    def spent(self) -> float:
        return self.now() - self.started

    @property
    def left(self) -> float:
        return self.seconds - self.spent


class Launches:
    """`measure` runs cases on so many ranks, each so long, all within a limit, and tells results as they come."""

    def __init__(self, measure: Measure, journal: Journal, clock: Clock) -> None:
        self._measure, self._journal, self.clock = measure, journal, clock
        self.deadline: float | None = None  # of the part that is under way, by the clock's `spent`
        self.made = 0
        self.overhead = LEAST_SECONDS  # seconds of a launch without cases, at most
        self.interrupted = False  # by Ctrl-C: then there is no more time

    @property
    def left(self) -> float:
        """Seconds of the part that is under way."""
        return min(self.clock.left, (self.deadline or self.clock.seconds) - self.clock.spent)

    def __call__(
        self, name: str, cases: Sequence[Case], ranks: int, seconds: float, part: float = 1.0, in_order: bool = False
    ) -> list[dict | None]:
        """Their results in order; None for those that were not reached in this part of the time that is left. Raises
        OutOfTime where there is none to begin."""
        found = [self._journal.recall(name, key_of(case, ranks)) for case in cases]
        missing = [i for i, result in enumerate(found) if result is None]
        if not missing:
            return found
        if self.interrupted or self.left < max(LEAST_SECONDS, self.overhead):
            raise OutOfTime(f"time for {name}", "none")
        order = [(i, cases[i]) for i in missing]
        if not in_order:
            order = shuffled(order, name)
        told: list[dict] = []
        self.made += 1
        began = self.clock.spent
        try:
            limit = max(LEAST_SECONDS, self.overhead, part * self.left)
            self._measure([case for _, case in order], ranks, seconds, limit, told.append)
        except KeyboardInterrupt:
            self.interrupted = True
        except OutOfTime:
            pass  # not one result in time
        finally:
            if told:
                self.overhead = min(self.overhead, self.clock.spent - began)
            for (index, _), result in zip(order, told):
                found[index] = short(result)
            done = [i for (i, _), _ in zip(order, told)]
            self._journal.keep(name, [(key_of(cases[i], ranks), found[i]) for i in done])
        return found


def key_of(case: Case, ranks: int) -> dict:
    return {**asdict(case), "ranks": ranks}


def shuffled(cases: list[tuple[int, Case]], name: str) -> list[tuple[int, Case]]:
    """Sizes in an order of this launch's own; cases of one size stay together, since they take turns."""
    sizes = sorted({case.bytes for _, case in cases})
    Random(name).shuffle(sizes)
    return [each for size in sizes for each in cases if each[1].bytes == size]


def short(result: dict) -> dict:
    """What choices are made from."""
    names = ("algorithm", "bytes", "seconds", "ratio", "bitwise", "not_applicable", "samples")
    found = {name: result[name] for name in names if name in result}
    if "library" in result:
        found["library"] = {"seconds": result["library"]["seconds"]}
    return found


def on_this_machine(installation: mpi.Installation) -> Measure:
    """By MPI processes."""

    def measure(cases: Sequence[Case], ranks: int, seconds: float, limit: float, tell: Callable[[dict], None]) -> None:
        bench.run_measure(
            cases,
            ranks=ranks,
            installation=installation,
            case_seconds=seconds,
            on_result=tell,
            seconds=limit,
            partial=True,
            turns_at_least=3,
            bound=False,
        )

    return measure
