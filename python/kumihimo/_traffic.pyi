"""Who sends how much to whom."""

from collections.abc import Sequence
from typing import overload

import kumihimo._programs
import kumihimo._schedule


class Traffic:
    """How many bytes and messages each rank sends to each other rank."""

    @property
    def ranks(self) -> int: ...

    @property
    def flows(self) -> int:
        """Pairs of sender and receiver."""

    @property
    def bytes(self) -> int:
        """Of all flows."""

    @property
    def messages(self) -> int: ...

    @property
    def self_bytes(self) -> int:
        """What ranks send to themselves; bytes does not include it."""

    def row(self, rank: int) -> tuple[list[int], list[int], list[int]]:
        """Receivers in ascending order, the bytes and the messages of each."""

    def renumbered(self, new_of_old: Sequence[int]) -> Traffic:
        """The same traffic with other rank numbers."""

    def __eq__(self, arg: Traffic, /) -> bool: ...

class Builder:
    """Collects rows of traffic in any order; equal pairs are summed."""

    def __init__(self, ranks: int | None = None) -> None:
        """None: one more than the greatest rank of a row."""

    def add(self, from_: int, to: int, bytes: int, messages: int = 1) -> None: ...

    def add_row(self, from_: int, to: Sequence[int], bytes: Sequence[int], messages: Sequence[int]) -> None:
        """Lists of the same length."""

    def build(self) -> Traffic:
        """The traffic; the builder is empty afterwards."""

def parse_traffic(text: str, file: str) -> Traffic:
    """Lines of sender, receiver, bytes and, if known, messages."""

def parse_metis(text: str, file: str) -> Traffic:
    """A graph of METIS."""

def parse_scotch_graph(text: str, file: str) -> Traffic:
    """A source graph of Scotch."""

def of_pattern(text: str) -> Traffic:
    """A halo exchange of a grid of ranks: 16x16x16:27, 8x8mx4:7,face=32KiB."""

@overload
def of_programs(programs: kumihimo._programs.NamedPrograms) -> Traffic:
    """What all ranks send."""

@overload
def of_programs(schedule: kumihimo._schedule.Schedule) -> Traffic: ...

def programs_of(traffic: Traffic, share: float = 1.0) -> kumihimo._programs.NamedPrograms:
    """
    One round in which each rank exchanges this share of all its flows at once.
    """
