"""Launches of the bench driver on behalf of a tuning: what the journal knows is not measured again, what is measured is
kept, none begins after its time, and one that fails costs the case at which it failed, not the tuning."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from random import Random

from kumihimo.processes import mpi
from kumihimo.text.errors import Failed, OutOfTime
from kumihimo.text.json_types import JsonObject
from kumihimo.tune import bench
from kumihimo.tune.bench.cases import BenchCase
from kumihimo.tune.journal import Journal

LEAST_SECONDS = 1.0  # that a launch needs: one is not begun with less
LONG_CALL_SECONDS = 0.02  # longer ones are called twice a launch: launches are the samples
MOST_FAILURES = 4  # where no launch ever ended well: then it is not for the cases that they fail
Batch = list[tuple[int, BenchCase]]  # cases of a launch, each with its place among those that were asked for

# Results in the order of the cases; fewer where the time was over.
Measure = Callable[[Sequence[BenchCase], int, float, float, Callable[[JsonObject], None]], None]


@dataclass
class BudgetClock:
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

    def __init__(self, measure: Measure, journal: Journal, clock: BudgetClock) -> None:
        self._measure, self._journal, self.clock = measure, journal, clock
        self.deadline: float | None = None  # of the part that is under way, by the clock's `spent`
        self.made = 0
        self.overhead = LEAST_SECONDS  # seconds of a launch without cases, at most
        self.interrupted = False  # by Ctrl-C: then there is no more time
        self.failures: list[str] = []  # cases at which launches failed, with their words
        self._works = False  # whether a launch returned a result

    @property
    def left(self) -> float:
        return min(self.clock.left, (self.deadline or self.clock.seconds) - self.clock.spent)

    def __call__(
        self,
        name: str,
        cases: Sequence[BenchCase],
        ranks: int,
        seconds: float,
        part: float = 1.0,
        in_order: bool = False,
        measure: Measure | None = None,
    ) -> list[JsonObject | None]:
        """Their results in order; None for those that were not reached in this part of the time that is left. Raises
        OutOfTime where there is none to begin, and Failed where launches fail whatever the case. `measure` in place of
        the usual one."""
        found = [self._journal.recall(name, key_of(case, ranks)) for case in cases]
        missing = [i for i, result in enumerate(found) if result is None]
        if not missing:
            return found
        if self.interrupted or self.left < max(LEAST_SECONDS, self.overhead):
            raise OutOfTime(f"no time for {name}")
        order = [(i, cases[i]) for i in missing]
        if not in_order:
            order = shuffled(order, name)
        end = self.clock.spent + max(LEAST_SECONDS, self.overhead, part * self.left)
        batches = [order]
        blamed: list[tuple[JsonObject, JsonObject]] = []  # kept only where it was not for all that launches failed
        while batches and not self.interrupted:
            batch = batches.pop(0)
            results: list[JsonObject] = []
            try:
                by = measure or self._measure
                failure = self._launch(by, [case for _, case in batch], ranks, seconds, end, results)
            finally:
                kept = [(case, short(result)) for (_, case), result in zip(batch, results)]
                for (index, _), (_, result) in zip(batch, kept):
                    found[index] = result
                self._journal.keep(name, [(key_of(case, ranks), result) for case, result in kept])
            remaining = batch[len(results) :]
            if failure and remaining:
                batches = [*halves(remaining), *batches]
                if len(first_group(remaining)) == 1:
                    index, case = remaining[0]
                    blame = found[index] = self._blame(case, failure)
                    blamed.append((key_of(case, ranks), blame))
            if self.clock.spent + max(LEAST_SECONDS, self.overhead) > end:
                break
        self._journal.keep(name, blamed)
        return found

    def _launch(
        self, by: Measure, cases: list[BenchCase], ranks: int, seconds: float, end: float, results: list[JsonObject]
    ) -> Failed | None:
        self.made += 1
        began = self.clock.spent
        try:
            by(cases, ranks, seconds, max(LEAST_SECONDS, end - began), results.append)
        except KeyboardInterrupt:
            self.interrupted = True
        except OutOfTime:
            pass  # not one result in time
        except Failed as error:
            return error
        finally:
            if results:
                self._works = True
                self.overhead = min(self.overhead, self.clock.spent - began)
        return None

    def _blame(self, case: BenchCase, failure: Failed) -> JsonObject:
        """A result in place of one: the launch ends well without this case, or another is blamed next."""
        self.failures.append(f"{case.collective} by {case.algorithm} of {case.bytes} bytes: {failure}")
        if not self._works and len(self.failures) == MOST_FAILURES:
            raise failure
        return {"algorithm": case.algorithm, "bytes": case.bytes, "not_applicable": str(failure)}


def first_group(batch: Batch) -> Batch:
    """The first cases that differ in the algorithm alone: the bench driver measures these by turns, and reports them
    when all are done."""
    without_algorithm = [replace(case, algorithm="", parameters={}) for _, case in batch]
    return [each for each, _ in takewhile(lambda pair: pair[1] == without_algorithm[0], zip(batch, without_algorithm))]


def halves(remaining: Batch) -> list[Batch]:
    """The cases left of a failed launch: the first group by halves, so that few launches find the case at which it
    fails, and without this case once it is alone.
    """
    group = first_group(remaining)
    rest = remaining[len(group) :]
    half = len(group) // 2
    return [each for each in (group[:half], group[half:] + rest if half else rest) if each]


def key_of(case: BenchCase, ranks: int) -> JsonObject:
    key = {**asdict(case), "ranks": ranks}
    del key["nodes"]
    return {**key, "nodes": case.nodes.key} if case.nodes else key


def shuffled(cases: list[tuple[int, BenchCase]], name: str) -> list[tuple[int, BenchCase]]:
    """Sizes in an order of this launch's own; cases of one size stay together, since they take turns."""
    sizes = sorted({case.bytes or 0 for _, case in cases})
    Random(name).shuffle(sizes)
    return [each for size in sizes for each in cases if each[1].bytes == size]


def short(result: JsonObject) -> JsonObject:
    """The members of a result that choices are made from."""
    names = ["algorithm", "bytes", "seconds", "ratio", "bitwise", "not_applicable", "samples"]
    names += ["back_to_back_seconds", "between_seconds", "over_computation_seconds"]
    found = {name: result[name] for name in names if name in result}
    if "library" in result:
        found["library"] = {"seconds": result["library"]["seconds"]}
    return found


def on_this_machine(installation: mpi.Installation) -> Measure:
    def measure(
        cases: Sequence[BenchCase], ranks: int, seconds: float, limit: float, on_result: Callable[[JsonObject], None]
    ) -> None:
        bench.run_measure(
            cases,
            ranks=ranks,
            installation=installation,
            case_seconds=seconds,
            on_result=on_result,
            seconds=limit,
            partial=True,
            turns_at_least=3,
            long_call_seconds=LONG_CALL_SECONDS,
            bound=False,
        )

    return measure
