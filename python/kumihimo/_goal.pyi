"""Graphs of sends, receives and computations."""

from typing import overload

import kumihimo._programs
import kumihimo._schedule


most_message_bytes: int = 70368744177664

class WorkRates:
    """What a rank's own work takes: bytes and flops a second, 0: no time."""

    def __init__(self, reduced: float = 0, copied: float = 0, flops: float = 0, bytes: float = 0, cpus: int = 1, nics: int = 1) -> None: ...

    @property
    def cpus(self) -> int: ...

    @cpus.setter
    def cpus(self, arg: int, /) -> None: ...

    @property
    def nics(self) -> int: ...

    @nics.setter
    def nics(self, arg: int, /) -> None: ...

class Graphs:
    """The operations of all ranks, and what waits for what."""

    @property
    def ranks(self) -> int: ...

    @property
    def different(self) -> int: ...

    @property
    def cpus(self) -> int: ...

    @property
    def nics(self) -> int: ...

    def sends(self, rank: int) -> tuple[list[int], list[int], list[int]]:
        """
        Of all sends of a rank: receivers in ascending order, bytes and messages of each.
        """

    def to_text(self) -> str: ...

class Noise:
    """
    What an operating system takes from the processors; times in picoseconds.
    """

    def __init__(self, kind: str, length: int, interval: int) -> None: ...

    @staticmethod
    def read(text: str, file: str) -> Noise:
        """A trace: lines of start and length of detours in nanoseconds."""

    @property
    def cosched(self) -> bool: ...

    @cosched.setter
    def cosched(self, arg: bool, /) -> None: ...

    @property
    def every(self) -> int: ...

    @every.setter
    def every(self, arg: int, /) -> None: ...

    def add_ranks(self, first: int, last: int) -> None:
        """Only ranks that were added have noise."""

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

def read(bytes: bytes, file: str) -> Graphs:
    """A GOAL file, text or binary; `file` is its name in errors."""

@overload
def graphs_of(schedule: kumihimo._schedule.Schedule, rates: WorkRates) -> Graphs: ...

@overload
def graphs_of(programs: kumihimo._programs.NamedPrograms, rates: WorkRates) -> Graphs: ...
