"""From single sizes to ranges. Between two sizes that took the same, so do those between them; between two that did
not, what is not measured stays the library's, or is halved (geometrically) between two of ours. Two sizes that are too
far apart say nothing of those between them: these are in no range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Generic, TypeVar

Chosen = TypeVar("Chosen")

FARTHEST = 8  # times a size, up to which its neighbour says something of the sizes between
ELEMENT_BYTES = 8  # of what is measured; no shorter message takes longer


@dataclass(frozen=True)
class ChosenRange(Generic[Chosen]):
    """From and to, both included; `sizes` are those in it that were measured."""

    from_bytes: int
    to_bytes: int
    chosen: Chosen
    sizes: tuple[int, ...]


def ranges(points: Sequence[tuple[int, Chosen]], library: Chosen) -> list[ChosenRange[Chosen]]:
    """Ranges in ascending order, no byte in two of them; those that meet differ. Sizes of the points ascend."""
    found: list[ChosenRange[Chosen]] = []

    def add(low: int, high: int, chosen: Chosen, *sizes: int) -> None:
        if low > high:
            return
        last = found[-1] if found else None
        if last is not None and last.chosen == chosen and last.to_bytes == low - 1:
            found[-1] = ChosenRange(last.from_bytes, high, chosen, last.sizes + sizes)
        else:
            found.append(ChosenRange(low, high, chosen, sizes))

    for index, (size, chosen) in enumerate(points):
        add(first_byte(size) if index == 0 else size, size, chosen, size)
        if index + 1 == len(points):
            break
        after, then = points[index + 1]
        if after > size * FARTHEST:
            continue
        if library in (chosen, then):
            add(size + 1, after - 1, library)
            continue
        middle = after - 1 if chosen == then else isqrt(size * after)
        add(size + 1, middle, chosen)
        add(middle + 1, after - 1, then)
    return found


def first_byte(size: int) -> int:
    """Shorter elements than those that were measured count too."""
    return min(size, 1) if size <= ELEMENT_BYTES else size


def times_apart(size: int, other: int) -> float:
    """How many times the larger is as long; the 0 bytes of a barrier have nothing beside them."""
    return max(size, other, 1) / max(1, min(size, other))
