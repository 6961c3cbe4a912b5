"""Performance guidelines: what any MPI library should keep to, whatever the machine, checked on its own calls.

A specialised collective is no slower than the same done by others: a user could replace it. J. L. Traeff, W. D. Gropp,
R. Thakur, Self-consistent MPI Performance Guidelines, IEEE TPDS 21(5), 2010; S. Hunold, A. Carpen-Amarie, Autotuning
MPI Collectives using Performance Guidelines, HPC Asia 2018. Both sides are measured by turns in the same processes;
their ratio in each launch is one sample. A violation is one where the ratio's interval lies above 1 and the intervals
of the two times do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kumihimo import _measure
from kumihimo.tune.mpi_library.algorithms import COLLECTIVES
from kumihimo.tune.mpi_library.measure import HALVES, LibraryRow, LibraryTable

SMALLEST_HALVED = 16  # bytes: an element in each half

# left is no slower than right, which gives at least as much: all of one vector's length, blocks being its parts.
PATTERNS = (
    *(("allreduce", "reduce+bcast"), ("allreduce", "reduce_scatter+allgather")),
    *(("reduce", "allreduce"), ("reduce", "reduce_scatter+gather")),
    *(("bcast", "allreduce"), ("bcast", "scatter+allgather")),
    *(("allgather", "gather+bcast"), ("allgather", "alltoall"), ("allgather", "allreduce")),
    *(("gather", "allgather"), ("gather", "reduce")),
    ("scatter", "bcast"),
    *(("reduce_scatter", "reduce+scatter"), ("reduce_scatter", "allreduce")),
)


@dataclass(frozen=True)
class Violation:
    """`left` should be no slower than `right`, and takes `ratio` times as long (from `low` to `high`)."""

    left: str
    left_bytes: int
    right: str
    right_bytes: int
    left_seconds: float
    right_seconds: float
    ratio: float
    low: float
    high: float

    def line(self) -> str:
        from kumihimo.text.sizes import text_of

        right = f"{self.right} of {text_of(self.right_bytes)}"
        if self.right in HALVES:
            right = f"two of {text_of(self.right_bytes // 2)}"
        left = f"{self.left} of {text_of(self.left_bytes)}"
        ratio = f"{self.ratio:.2f} times ({self.low:.2f} to {self.high:.2f}) as long as"
        times = f"{self.left_seconds * 1e6:.4g} us, {self.right_seconds * 1e6:.4g} us"
        return f"{left} takes {ratio} {right.replace('+', ' + ')}: {times}"


def violations(table: LibraryTable) -> list[Violation]:
    """Guidelines that the library's default violates, the worst first."""
    found = [violation(left, right) for left, right in comparisons(table)]
    return sorted((v for v in found if v is not None), key=lambda v: -v.low)


def comparisons(table: LibraryTable) -> Iterator[tuple[LibraryRow, LibraryRow]]:
    """(what should be no slower, than what)"""
    sizes = table.sizes
    for size in sizes:
        for left, right in PATTERNS:
            yield from both(table, (left, size), (right, size))
        for halves, collective in HALVES.items() if size >= SMALLEST_HALVED else ():
            yield from both(table, (collective, size), (halves, size))
    for smaller, larger in zip(sizes, sizes[1:]):  # more data take no less time
        for collective in COLLECTIVES:
            yield from both(table, (collective, smaller), (collective, larger))


def both(table: LibraryTable, left: tuple[str, int], right: tuple[str, int]) -> Iterator[tuple[LibraryRow, LibraryRow]]:
    rows = [table.row(call, "default", size) for call, size in (left, right)]
    if rows[0] is not None and rows[1] is not None:
        yield rows[0], rows[1]


def violation(left: LibraryRow, right: LibraryRow) -> Violation | None:
    ratio = _measure.compare(list(zip(left.launches, right.launches)))
    if ratio.ratio_low <= 1 or left.low <= right.high:
        return None
    places = (left.call, left.bytes, right.call, right.bytes)
    return Violation(*places, left.seconds, right.seconds, ratio.ratio, ratio.ratio_low, ratio.ratio_high)
