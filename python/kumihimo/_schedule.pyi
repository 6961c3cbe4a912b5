"""
Collectives, schedules, and the expressions and extents that they are made of.
"""

from collections.abc import Sequence


class Expression:
    """
    A form in loop variables that is closed under +, x constant, mod constant.
    """

    def __init__(self, constant: int) -> None: ...

    @staticmethod
    def variable(depth: int) -> Expression: ...

    @staticmethod
    def look_up(table: Sequence[int], index: Expression) -> Expression: ...

    def __add__(self, arg: Expression, /) -> Expression: ...

    def __sub__(self, arg: Expression, /) -> Expression: ...

    def __mul__(self, arg: int, /) -> Expression: ...

    def __mod__(self, arg: int, /) -> Expression: ...

    def __eq__(self, arg: Expression, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def evaluate(self, values: Sequence[int]) -> int: ...

    def range(self, trips: Sequence[int]) -> tuple[int, int]:
        """Bounds on the values taken while variable d runs over [0, trips[d])."""

    def substitute(self, depth: int, by: Expression) -> Expression: ...

def collectives() -> list[str]:
    """The names of all collectives."""

class CollectiveRow:
    """What a collective means: a row of collectives.def."""

    @property
    def name(self) -> str: ...

    @property
    def input(self) -> tuple[str, str]:
        """Whose, and of what."""

    @property
    def output(self) -> tuple[str, str]: ...

    @property
    def contributors(self) -> str: ...

    @property
    def has_irregular_form(self) -> bool: ...

    @property
    def moves_data(self) -> bool: ...

    @property
    def reduces(self) -> bool: ...

    @property
    def has_root(self) -> bool: ...

    @property
    def of_neighbours(self) -> bool: ...

    @property
    def may_be_in_place(self) -> bool: ...

    @property
    def mpi_calls(self) -> list[str]:
        """The blocking calls of MPI that ask for it."""

def meaning(kind: str) -> CollectiveRow:
    """What a collective means."""

def type_bytes(type: str) -> int: ...

class Collective:
    """What every rank holds at first and must hold at the end."""

    def __init__(self, kind: str, ranks: int, count: int, type: str = 'float64', operation: str = 'sum', root: int = 0, in_place: bool = False) -> None: ...

    def with_counts(self, counts: Sequence[int]) -> Collective:
        """
        The same of irregular blocks: a count for each rank, in alltoall for each pair, in neighbor_alltoall for each destination, row after row.
        """

    def spread_counts(self, spread: str) -> list[int]:
        """
        Counts that are hard on algorithms: zeros, one_huge, ramp, random:SEED.
        """

    @property
    def neighbours(self) -> str | None:
        """Of a collective of neighbours, as people name them; else None."""

    @property
    def irregular(self) -> bool: ...

    @property
    def counts(self) -> list[int] | None:
        """Of irregular blocks, as with_counts has them; else None."""

    @property
    def kind(self) -> str: ...

    @property
    def ranks(self) -> int: ...

    @property
    def count(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def longest_buffer_bytes(self) -> int:
        """Of any rank's buffers."""

    @property
    def type(self) -> str: ...

    @property
    def operation(self) -> str: ...

    @property
    def root(self) -> int: ...

    @property
    def has_root(self) -> bool: ...

    @property
    def reduces(self) -> bool: ...

    @property
    def in_place(self) -> bool: ...

class Schedule:
    """Who sends which chunk to whom."""

    @property
    def algorithm(self) -> str: ...

    @property
    def parameters(self) -> str: ...

    @property
    def collective(self) -> Collective: ...

    @property
    def segments(self) -> int: ...

    @property
    def offloads(self) -> bool:
        """Whether it needs a network's own engine, which no MPI library gives."""

    @property
    def ranks(self) -> int: ...

def part_begin(i: int, m: int, n: int) -> int:
    """The first element of part i of m over n elements."""

def part_runs(first: int, count: int, of: int, elements: int, segments: int = 1, segment: int = 0) -> list[tuple[int, int]]:
    """
    The elements (first, count) of parts [first, first + count) of one segment of a vector.
    """
