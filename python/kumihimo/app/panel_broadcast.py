"""The messages of a broadcast along a row of a grid of ranks, by any algorithm of the registry: as operations for a
GOAL file, and as the list that the recurrence of src/numerics/lu/pipeline.hpp takes. Messages are whole, as lu sends
them."""

from __future__ import annotations

import functools
import heapq
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kumihimo import _collectives, _goal, _schedule, _topology
from kumihimo.text.errors import NotApplicable, not_applicable, wrong_value

USUAL = "chain"
NUMBERS_OF_A_PIECE = 1 << 12  # of a message that is cut in a piece for each rank: shares do not depend on it
MOST_RANKS = 1024  # of a row, unless its messages are as few as those of a chain
BY_NODES = "inner"  # the parameter of broadcasts whose messages depend on which ranks share a node
WHOLE = 2**62  # bytes of a segment


@dataclass(frozen=True)
class BroadcastOperation:
    """`share`: of the message's bytes. `tag`: small. `after`: places in the list of the rank."""

    kind: str  # send, recv
    share: float
    peer: int
    tag: int
    after: tuple[int, ...]


@dataclass(frozen=True)
class RowEvent:
    """A rank, by its distance from the root, sends a share of the message to `peer`, or waits for one of the messages,
    which have numbers in the order of their sends."""

    rank: int
    sends: bool
    peer: int
    share: float
    message: int


@dataclass(frozen=True)
class PanelBroadcast:
    """`nodes`: of the ranks of a row; empty: no two share one, and nothing is known of the network."""

    algorithm: str
    ranks: int
    nodes: tuple[int, ...] = ()

    def check(self) -> None:
        """BadInput, NotApplicable: the algorithm does not fit a row of so many ranks."""
        if self.ranks > MOST_RANKS and self.algorithm != USUAL:
            rule = f"a row of the grid must have at most {MOST_RANKS} ranks with broadcast={self.algorithm}"
            raise wrong_value(rule, self.ranks, f"use another grid, or broadcast={USUAL}")
        if self.ranks > 1:
            self.schedule(0)

    def schedule(self, root: int) -> _schedule.Schedule:
        variant = _collectives.find("bcast", self.algorithm)
        collective = _schedule.Collective("bcast", self.ranks, NUMBERS_OF_A_PIECE * self.ranks, root=root)
        space = _topology.RankSpace.on_nodes(self.nodes) if self.nodes else _topology.RankSpace.row(self.ranks)
        try:
            return variant.build(collective, space, _collectives.Parameters(default_segment_bytes=WHOLE))
        except NotApplicable as error:
            rule = f"broadcast={self.algorithm} does not fit the {self.ranks} ranks of a row of the grid"
            raise not_applicable(f"{rule}: {error.problem}", None, f"use another broadcast, such as {USUAL}") from None

    def operations(self, root: int) -> tuple[tuple[BroadcastOperation, ...], ...]:
        """Operations of each rank, in the order in which it waits for them."""
        return operations_of(self, root)

    @property
    def tags(self) -> int:
        """More than any tag."""
        return 1 + max((each.tag for rank in self.operations(0) for each in rank), default=0)

    @property
    def owners(self) -> range:
        """Owners whose broadcasts differ: all where nodes matter, else rank 0 for all."""
        parameters = _collectives.find("bcast", self.algorithm).parameters
        return range(self.ranks if any(each.name == BY_NODES for each in parameters) else 1)

    def events(self, owner: int = 0) -> tuple[RowEvent, ...]:
        """Events of an owner's broadcast, by distances from it: those of a rank in its order, and each message before
        the wait for it.
        """
        return events_of(self, self.same_by_distance(owner))

    def same_by_distance(self, owner: int) -> int:
        """The first owner with the same broadcast by distances: at the same place of its node, if nodes are equal."""
        size = self.nodes.count(0)
        if size == 0 or self.ranks % size != 0:
            return owner
        are_equal = all(node == rank // size for rank, node in enumerate(self.nodes))
        return owner % size if are_equal else owner


@functools.lru_cache(maxsize=4096)
def operations_of(broadcast: PanelBroadcast, root: int) -> tuple[tuple[BroadcastOperation, ...], ...]:
    if broadcast.ranks == 1:
        return ((),)
    schedule = broadcast.schedule(root)
    text = _goal.graphs_of(schedule, _goal.WorkRates()).to_text()
    number = schedule.collective.bytes
    found: list[tuple[BroadcastOperation, ...]] = []
    tags: dict[str, int] = {}
    for section in text.split("rank ")[1:]:
        found.append(operations_in(section.splitlines()[1:], number, tags))
    return tuple(found)


def operations_in(section: Sequence[str], number: int, tags: dict[str, int]) -> tuple[BroadcastOperation, ...]:
    """Sends and receives of a rank, of a message of so many bytes. What joins dependences takes no time, and is left
    out: in a GOAL file it would wait for the processor."""
    lines = [line.split() for line in section if line and line != "}"]
    after: dict[str, list[str]] = defaultdict(list)
    for words in lines:
        if words[1] == "requires":
            after[words[0]].append(words[2])
    found: list[BroadcastOperation] = []
    places: dict[str, tuple[int, ...]] = {}  # of each label: the operations that it stands for
    for label, kind, *words in (words for words in lines if words[0].endswith(":")):
        name = label.rstrip(":")
        before = tuple(sorted({place for other in after[name] for place in places[other]}))
        places[name] = before
        if kind == "calc":
            continue
        places[name] = (len(found),)
        share, peer, tag = int(words[0].rstrip("b")) / number, int(words[2]), words[4]
        found.append(BroadcastOperation(kind, share, peer, tags.setdefault(tag, len(tags)), before))
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def events_of(broadcast: PanelBroadcast, owner: int) -> tuple[RowEvent, ...]:
    """In the order of how many messages lie before them; sends of a round before its waits."""
    operations = from_distance(broadcast.operations(owner), owner)
    receives = matched(operations)
    missing = [[len(each.after) + (each.kind == "recv") for each in rank] for rank in operations]
    waiting: list[dict[int, list[int]]] = [defaultdict(list) for _ in operations]
    for rank, own in enumerate(operations):
        for i, each in enumerate(own):
            for before in each.after:
                waiting[rank][before].append(i)
    level = [[0] * len(rank) for rank in operations]
    ready = [(0, False, r, i) for r, rank in enumerate(missing) for i, number in enumerate(rank) if number == 0]
    heapq.heapify(ready)
    number_of: dict[tuple[int, int], int] = {}  # of the message that a receive waits for
    found = []

    def ended(rank: int, i: int, at: int) -> None:
        level[rank][i] = max(level[rank][i], at)
        missing[rank][i] -= 1
        if missing[rank][i] == 0:
            heapq.heappush(ready, (level[rank][i], operations[rank][i].kind == "recv", rank, i))

    while ready:
        at, is_receive, rank, i = heapq.heappop(ready)
        operation = operations[rank][i]
        if is_receive:
            found.append(RowEvent(rank, False, operation.peer, operation.share, number_of[rank, i]))
        else:
            receive = receives[rank, i]
            number_of[operation.peer, receive] = len(number_of)
            found.append(RowEvent(rank, True, operation.peer, operation.share, number_of[operation.peer, receive]))
            ended(operation.peer, receive, at + 1)
        for other in waiting[rank][i]:
            ended(rank, other, at)
    return tuple(found)


def from_distance(
    operations: Sequence[Sequence[BroadcastOperation]], owner: int
) -> list[tuple[BroadcastOperation, ...]]:
    """Operations of ranks by their distances from the owner."""
    ranks = len(operations)
    return [
        tuple(replace(each, peer=(each.peer - owner) % ranks) for each in operations[(owner + distance) % ranks])
        for distance in range(ranks)
    ]


def matched(operations: Sequence[Sequence[BroadcastOperation]]) -> dict[tuple[int, int], int]:
    """Receive of each send: the k-th with a tag from a rank is the k-th of its sends with that tag."""
    posted: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
    for rank, own in enumerate(operations):
        for i, each in enumerate(own):
            if each.kind == "recv":
                posted[each.peer, rank, each.tag].append(i)
    return {
        (rank, i): posted[rank, each.peer, each.tag].popleft()
        for rank, own in enumerate(operations)
        for i, each in enumerate(own)
        if each.kind == "send"
    }
