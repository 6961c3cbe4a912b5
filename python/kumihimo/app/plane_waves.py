"""Columns of the plane waves in a sphere, and what each rank has of them: src/numerics/fft/sphere.hpp."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from math import floor, sqrt


@dataclass(frozen=True)
class PlaneWaves:
    """All frequencies (kx, ky, kz) with kx^2 + ky^2 + kz^2 <= radius^2."""

    radius: float

    @cached_property
    def reaches(self) -> list[int]:
        """Largest kz of each column along z. The longest columns come first."""
        reach = floor(self.radius)
        square = self.radius**2
        found = []
        for kx in range(-reach, reach + 1):
            for ky in range(floor(sqrt(square - kx * kx)) + 1):
                found += [floor(sqrt(square - kx * kx - ky * ky))] * (2 if ky else 1)
        return sorted(found, reverse=True)

    @property
    def columns(self) -> int:
        return len(self.reaches)

    @property
    def planes(self) -> int:
        """The x that have columns."""
        return 2 * floor(self.radius) + 1

    @property
    def coefficients(self) -> int:
        return sum(2 * reach + 1 for reach in self.reaches)

    def columns_of_ranks(self, ranks: int) -> list[int]:
        """The longest column goes first, to the rank with the fewest coefficients so far."""
        least = [(0, rank) for rank in range(ranks)]
        columns = [0] * ranks
        for reach in self.reaches:
            coefficients, rank = least[0]
            heapq.heapreplace(least, (coefficients + 2 * reach + 1, rank))
            columns[rank] += 1
        return columns


def parts(n: int, places: int) -> list[int]:
    """Lengths of the parts of n points: src/foundation/threads/partition.hpp."""
    return [n * (place + 1) // places - n * place // places for place in range(places)]
