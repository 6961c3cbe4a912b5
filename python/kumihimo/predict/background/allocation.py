"""Which nodes the job watched and the background jobs have.

The order of nodes is cut into pieces of as many nodes as the job watched has. If it is compact, it has a piece that the
seed draws, and a compact background job has the nodes that follow in the order, round to its beginning. A scattered job
has nodes that the seed draws one by one, taken in the order, too: as a scheduler numbers them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _goal, _machine, _packet, _placement
from kumihimo.network.placement import Placed
from kumihimo.predict.background.spec import Spec
from kumihimo.text.errors import wrong_value


@dataclass(frozen=True)
class OtherJob:
    """A background job and its nodes. Of a recorded one: a node for each rank."""

    spec: Spec
    graphs: _goal.Graphs | None
    nodes: list[int]


class Allocator:
    """Allocations on all nodes of `job`, whose slots are in `order`."""

    def __init__(self, job: _machine.Job, ranks: int, order: str | None, specs: Sequence[Spec]) -> None:
        self.job, self.ranks = job, ranks
        self.specs = [(spec, spec.graphs()) for spec in specs]
        self.order = order or "block"
        ordered = _placement.Placement.in_order(self.order, job.slots, job.machine.shape)
        self.node_of_slot = ordered.node_of_rank
        self.nodes = list(dict.fromkeys(self.node_of_slot))  # of the job's slots, in the order
        others = set(range(job.slots.nodes)).difference(self.nodes)
        self.without_slots = sorted(others)  # which the job does not have, but background jobs may
        self._check()

    def _check(self) -> None:
        if not 1 <= self.ranks <= self.job.slots.size:
            rule = f"the job watched must have 1 to {self.job.slots.size} ranks"
            raise wrong_value(rule, self.ranks, "give a larger --shape or fewer --ranks")
        free = self.job.slots.nodes - len(self._watched(self.nodes))
        if free == 0:
            rule = "--background needs nodes that the job watched leaves free"
            got = f"{self.ranks} ranks on all {self.job.slots.nodes} nodes"
            raise wrong_value(rule, got, "give a larger --shape or fewer --ranks")
        shares = sum(spec.share or 0 for spec, _ in self.specs)
        if shares > 1 + 1e-9:
            rule = "the shares of all --background must be at most 100 % together"
            raise wrong_value(rule, f"{100 * shares:.6g} %", "add share=50% to each")
        left = free
        for spec, graphs in self.specs:
            asked = self.number(spec, graphs, free)
            if spec.share is not None and asked < 2:
                rule = f"the share of --background must be at least 2 of the {free} nodes left free"
                raise wrong_value(rule, f"'{spec.text}'", "give it a larger share, or the job watched fewer --ranks")
            room = left if spec.share is None else asked
            if graphs is not None and graphs.ranks > room:
                rule = f"{spec.file} must have at most {room} ranks, one for each node that is left to it"
                raise wrong_value(rule, graphs.ranks, "give it more nodes, or other jobs a smaller share=")
            left -= asked
            if left < 0:
                raise wrong_value("background jobs must have nodes that are left free", f"{-left} too many")

    @staticmethod
    def number(spec: Spec, graphs: _goal.Graphs | None, free: int) -> int:
        """Number of nodes: its share, or those of a recorded job."""
        if spec.share is not None:
            return int(spec.share * free + 1e-9)
        return graphs.ranks if graphs else 0

    def _watched(self, nodes: Sequence[int]) -> list[int]:
        """The first of these that have room."""
        sizes, room, taken = self.job.slots.sizes, 0, []
        for node in nodes:
            if room >= self.ranks:
                break
            taken.append(node)
            room += sizes[node]
        return taken

    def made(self, spread: str, seed: int) -> tuple[Placed, list[OtherJob]]:
        """`seed`: of what is scattered."""
        drawn, random_ = list(self.nodes), random.Random(f"{seed} watched")
        begin = 0  # of the others' order
        if spread == "scattered":
            random_.shuffle(drawn)
        else:
            piece = len(self._watched(drawn))
            begin = piece * random_.randrange(len(drawn) // piece)
            drawn = drawn[begin:] + drawn[:begin]
        own = set(self._watched(drawn))
        on_nodes = [node for node in self.node_of_slot if node in own][: self.ranks]
        placed = Placed(f"{self.order}, {spread}", _placement.Placement.on_nodes(self.job.slots, on_nodes))
        in_turn = [*self.nodes[begin:], *self.without_slots, *self.nodes[:begin]]
        free = [node for node in in_turn if node not in own]
        left, others = list(free), []
        for number, (spec, graphs) in enumerate(self.specs):
            count = self.number(spec, graphs, len(free))
            taken = left[:count]
            if spec.spread == "scattered":
                chosen = list(left)
                random.Random(f"{seed} background {number}").shuffle(chosen)
                of_job = set(chosen[:count])
                taken = [node for node in left if node in of_job]
            gone = set(taken)
            left = [node for node in left if node not in gone]
            others += [OtherJob(spec, graphs, nodes) for nodes in parts_of(taken, graphs)]
        return placed, others


def parts_of(nodes: list[int], graphs: _goal.Graphs | None) -> list[list[int]]:
    """Nodes of each copy of a recorded job: as many copies as fit."""
    if graphs is None:
        return [nodes]
    return [nodes[at : at + graphs.ranks] for at in range(0, len(nodes) - graphs.ranks + 1, graphs.ranks)]


def background_of(others: Sequence[OtherJob], seed: int, warm_up: float | None) -> _packet.Background:
    made = _packet.Background()
    made.warm_up = warm_up
    for other in others:
        if other.graphs is not None:
            made.add_recorded(other.graphs, other.nodes, seed)
        else:
            made.add_sources(other.spec.kind, other.nodes, other.spec.load, other.spec.bytes, seed)
    return made
