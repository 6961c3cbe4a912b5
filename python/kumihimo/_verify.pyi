"""Proofs of schedules."""

from typing import overload

import kumihimo._programs
import kumihimo._schedule
import kumihimo._topology


class Finding:
    """What is wrong, and where; a number that does not apply is -1."""

    @property
    def check(self) -> str: ...

    @property
    def rank(self) -> int: ...

    @property
    def lane(self) -> int: ...

    @property
    def segment(self) -> int: ...

    @property
    def round(self) -> int: ...

    @property
    def step(self) -> int: ...

    @property
    def loops(self) -> list[int]: ...

    @property
    def what(self) -> str: ...

    @property
    def sentence(self) -> str: ...

class Coverage:
    """How much was looked at."""

    @property
    def exact(self) -> bool: ...

    @property
    def steps(self) -> int: ...

    @property
    def pairs(self) -> int: ...

    @property
    def pairs_sampled(self) -> bool: ...

    @property
    def samples(self) -> int: ...

    @property
    def executed(self) -> int: ...

    @property
    def deadlock_segments(self) -> int: ...

    @property
    def deadlock_shown(self) -> bool: ...

    @property
    def deadlock(self) -> str: ...

    @property
    def footprints(self) -> int: ...

    @property
    def footprint_segments(self) -> int: ...

    @property
    def deliveries(self) -> int: ...

    @property
    def height(self) -> int: ...

class Report:
    """What a check of a schedule has to say."""

    @property
    def ok(self) -> bool: ...

    @property
    def findings(self) -> list[Finding]: ...

    @property
    def coverage(self) -> Coverage: ...

    def __str__(self) -> str: ...

@overload
def check(schedule: kumihimo._schedule.Schedule, space: kumihimo._topology.RankSpace, samples: int = 4, seed: int = 1) -> Report: ...

@overload
def check(programs: kumihimo._programs.NamedPrograms) -> Report: ...

def is_symmetric(schedule: kumihimo._schedule.Schedule, space: kumihimo._topology.RankSpace) -> bool:
    """Every rank's peers are rank 0's, moved by a translation of the torus."""
