"""The messages of FT of the NAS Parallel Benchmarks: a transform in three dimensions an iteration. Up to as many ranks
as planes have slabs, and one alltoall of all ranks. More have pencils: nz ranks to a column, and two alltoalls, of the
rows and of the columns of the grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2, prod

from kumihimo.text.errors import wrong_value

POINT_BYTES = 16
MOST_MESSAGES = 5_000_000


@dataclass(frozen=True)
class FtPattern:
    points: tuple[int, int, int]  # nx, ny, nz
    ranks: int
    iterations: int

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns; rank r is in row r // columns."""
        nz = self.points[2]
        return (1, self.ranks) if self.ranks <= nz else (self.ranks // nz, nz)

    def check(self) -> None:
        nx, ny, nz = self.points
        if self.ranks & (self.ranks - 1) or self.ranks > nz * min(nx, ny):
            rule = f"FT runs on a power of two of ranks, at most {nz * min(nx, ny)}"
            raise wrong_value(rule, self.ranks, "use --shape 4x4x4")
        messages = self.iterations * sum(self.ranks * (len(group) - 1) for group in self.exchanges_of(0))
        if messages > MOST_MESSAGES:
            rule = f"a file of FT has at most {MOST_MESSAGES} messages"
            raise wrong_value(rule, messages, "use fewer ranks, or --set iterations=1")

    def exchanges_of(self, rank: int) -> list[list[int]]:
        """The groups of ranks, with this one, that exchange their points, in the order of the transform."""
        rows, columns = self.grid
        row = [rank // columns * columns + at for at in range(columns)]
        column = [at * columns + rank % columns for at in range(rows)]
        return [group for group in (row, column) if len(group) > 1]

    def bytes_of_message(self, group: list[int]) -> int:
        """Each rank deals all of its points to its group."""
        return POINT_BYTES * prod(self.points) // self.ranks // len(group)

    @property
    def flops(self) -> float:
        """Operations of a rank and iteration: the lines of a transform, and the factors by which points evolve."""
        points = prod(self.points)
        return (5 * points * log2(points) + 2 * points) / self.ranks

    def traffic(self) -> Iterator[str]:
        """Lines of `place --traffic`: source, destination, bytes, messages."""
        for rank in range(self.ranks):
            for group in self.exchanges_of(rank):
                size = self.bytes_of_message(group) * self.iterations
                for other in group:
                    if other != rank:
                        yield f"{rank} {other} {size} {self.iterations}"

    def goal(self, flops: float) -> Iterator[str]:
        """Lines of a GOAL file: in each iteration lines, then the messages of an exchange together. `flops`: rate of
        lines of a rank."""
        yield f"num_ranks {self.ranks}"
        for rank in range(self.ranks):
            yield f"rank {rank} {{"
            exchanges = self.exchanges_of(rank)
            seconds = self.flops / flops / max(1, len(exchanges))
            before: list[str] = []
            number = 0
            for iteration in range(self.iterations):
                for which, group in enumerate(exchanges or [[rank]]):
                    yield from (f"c{number}: calc {round(seconds * 1e9)}", *(f"c{number} requires {x}" for x in before))
                    before, size = [f"c{number}"], self.bytes_of_message(group)
                    at, tag = group.index(rank), iteration * 2 + which
                    for shift in range(1, len(group)):
                        to, source = group[(at + shift) % len(group)], group[(at - shift) % len(group)]
                        yield f"s{number}x{shift}: send {size}b to {to} tag {tag}"
                        yield f"s{number}x{shift} requires c{number}"
                        yield f"r{number}x{shift}: recv {size}b from {source} tag {tag}"
                        yield f"r{number}x{shift} requires c{number}"
                        before += [f"s{number}x{shift}", f"r{number}x{shift}"]
                    number += 1
            yield "}"
