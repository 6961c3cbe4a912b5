"""A machine that takes no time: launches whose times are a formula, on a clock of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from kumihimo.text.errors import OutOfTime
from kumihimo.tune.journal import Journal
from kumihimo.tune.launches import BudgetClock, Launches
from kumihimo.tune.tuner import CollectiveTuner

LAUNCH_SECONDS = 0.5


@dataclass
class Fake:
    """`ours` and `library` say how long a call takes; `noise` is by how much a launch may be slower for either."""

    ours: object = lambda case: 1e-6 + case.bytes * 1e-10
    library: object = lambda case: 2e-6 + case.bytes * 1e-10
    noise: float = 0.0
    wrong: object = lambda case: ""
    bitwise: object = lambda case: True
    interrupt_at: int = 0  # number of the launch in which Ctrl-C is pressed
    launched: list = field(default_factory=list)  # the cases of each launch
    time: float = 0.0
    checked: list = field(default_factory=list)

    def measure(self, cases, ranks, seconds, limit, tell):
        self.launched.append(list(cases))
        chance = random.Random(len(self.launched))
        end = self.time + limit
        self.time += LAUNCH_SECONDS
        for number, case in enumerate(cases):
            if len(self.launched) == self.interrupt_at and number == len(cases) // 2:
                raise KeyboardInterrupt
            theirs = self.library(case) * (1 + self.noise * chance.random())
            ours = self.ours(case) * (1 + self.noise * chance.random())
            self.time += max(2 * seconds, 6 * (ours + theirs))
            if self.time > end:
                self.time = end
                if number == 0:
                    raise OutOfTime("no results in time")
                return
            result = {"algorithm": case.algorithm, "bytes": case.bytes, "seconds": ours, "ratio": ours / theirs}
            tell({**result, "bitwise": self.bitwise(case), "library": {"seconds": theirs}})

    def check(self, cases, ranks, seconds):
        self.checked += cases
        return {i: self.wrong(case) for i, case in enumerate(cases) if self.wrong(case)}

    def tuner(self, budget: float, journal: Journal | None = None) -> CollectiveTuner:
        journal = journal or Journal(None, {})
        launches = Launches(self.measure, journal, BudgetClock(budget, lambda: self.time))
        launches.overhead = LAUNCH_SECONDS
        return CollectiveTuner(launches, self.check, journal)


@pytest.fixture
def journal(tmp_path):
    """journal() opens that of this test, once more; all are closed at its end, or by themselves before."""
    opened = []

    def open_it(head: dict | None = None, fresh: bool = False) -> Journal:
        for each in opened:
            each.close()
        opened.append(Journal(tmp_path / "state", {} if head is None else head, fresh))
        return opened[-1]

    yield open_it
    for each in opened:
        each.close()


@pytest.fixture
def fake() -> Fake:
    return Fake()
