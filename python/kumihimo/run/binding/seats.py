"""Who can sit where: threads and the cores that their masks let them use, as a bipartite matching.

Threads that can all have a core of their own disturb nobody, wherever the kernel puts them. If one has none, the cores
that it competes for are those that augmenting paths from it reach (Hall's theorem): no other binding of the threads on
them helps, only other masks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Sitter = TypeVar("Sitter", bound=Hashable)


@dataclass(frozen=True)
class Contention(Generic[Sitter]):
    """`without`: has no seat of its own. `others` have all seats that it could have, or that these could move to."""

    without: Sitter
    others: tuple[Sitter, ...]
    seats: frozenset[int]


class Seating(Generic[Sitter]):
    """Seats are numbers. Sitters come one after the other; each keeps a seat once it has one, though not always the
    same."""

    def __init__(self) -> None:
        self.holder: dict[int, Sitter] = {}
        self.seat_of: dict[Sitter, int] = {}
        self.wanted: dict[Sitter, tuple[int, ...]] = {}

    def add(self, sitter: Sitter, seats: Iterable[int]) -> Contention[Sitter] | None:
        """None: it has a seat. Else who is in its way, and it does not sit."""
        self.wanted[sitter] = tuple(seats)
        came_by, seat = self._search(sitter)
        if seat is None:
            reached = frozenset(came_by)
            return Contention(sitter, tuple(self.holder[each] for each in sorted(reached)), reached)
        while seat is not None:  # each on the path moves on, which frees a seat for the one before
            mover = came_by[seat]
            before = self.seat_of.get(mover)
            self.holder[seat], self.seat_of[mover] = mover, seat
            seat = before
        return None

    def free(self, seats: Iterable[int]) -> list[int]:
        return [seat for seat in seats if seat not in self.holder]

    def _search(self, sitter: Sitter) -> tuple[Mapping[int, Sitter], int | None]:
        """Breadth first: by whom each seat was reached, and the first free one."""
        came_by: dict[int, Sitter] = {}
        waiting: Sequence[Sitter] = [sitter]
        while waiting:
            following: list[Sitter] = []
            for mover in waiting:
                for seat in self.wanted[mover]:
                    if seat in came_by:
                        continue
                    came_by[seat] = mover
                    if seat not in self.holder:
                        return came_by, seat
                    following.append(self.holder[seat])
            waiting = following
        return came_by, None
