"""The real nodes that a launcher put the ranks on. Nobody knows them before the processes are there, and what fits the
ranks goes by them: so launches are asked for on nodes, and refused on others."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

from kumihimo import _plan, _topology
from kumihimo.text.errors import BadInput
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted

MOST_NAMED = 8  # nodes, in a sentence


@dataclass(frozen=True)
class RealNodes:
    """Several. `of_rank` numbers them in the order of their first ranks; `names` are what MPI calls them, which may be
    others in the next job. `shape` of the nodes, and the place of each rank's node in it, where the job's surroundings
    tell them."""

    of_rank: tuple[int, ...]
    names: tuple[str, ...] = field(default=(), compare=False)
    shape: str = ""
    places: tuple[int, ...] = ()

    @property
    def counts(self) -> tuple[int, int, int]:
        """Ranks, nodes and ranks per node (0: unlike) by which wisdom finds them."""
        return _plan.count_ranks(list(self.of_rank))

    @property
    def most_ranks(self) -> int:
        """The most ranks on one node."""
        return max(map(self.of_rank.count, set(self.of_rank)))

    @property
    def processes(self) -> list[list[int]]:
        """The processes of each node, by their numbers in order of start."""
        return [[p for p, on in enumerate(self.of_rank) if on == node] for node in range(max(self.of_rank) + 1)]

    def reordered(self, process_of_rank: list[int]) -> RealNodes:
        """As ranks in another order than the processes see them."""
        of_rank = tuple(self.of_rank[process] for process in process_of_rank)
        places = tuple(self.places[process] for process in process_of_rank) if self.shape else ()
        return RealNodes(of_rank, shape=self.shape, places=places)

    @property
    def space(self) -> _topology.RankSpace:
        """As `run` sees the ranks."""
        if self.shape:
            return _topology.RankSpace.recognise(_topology.Shape.parse(self.shape), list(self.places))
        return _topology.RankSpace.on_nodes(list(self.of_rank))

    @property
    def key(self) -> str:
        """Identifies a layout: how many ranks in a row are on which node, or at which place of the shape."""
        at = self.places if self.shape else self.of_rank
        return self.shape + ",".join(f"{len(list(ranks))}@{node}" for node, ranks in groupby(at))

    def __str__(self) -> str:
        sizes = [self.of_rank.count(node) for node in range(len(self.names))]
        if len(sizes) > MOST_NAMED and min(sizes) == max(sizes):
            return f"{len(sizes)} nodes from {self.names[0]} to {self.names[-1]} ({counted(sizes[0], 'rank')} each)"
        return ", ".join(f"{name} ({size} rank{'s' * (size != 1)})" for name, size in zip(self.names, sizes))


def real_nodes(about: JsonObject) -> RealNodes | None:
    """The nodes that a bench driver reports; None where all ranks are on one."""
    if about.get("one_node", True):
        return None
    places = tuple(about.get("places", ()))
    return RealNodes(tuple(about["node_of_rank"]), tuple(about["nodes"]), about.get("shape", ""), places)


class OtherNodes(BadInput):
    """A launch ran on `nodes` instead of the nodes of the launches before."""

    def __init__(self, asked: RealNodes | None, nodes: RealNodes | None) -> None:
        super().__init__(
            f"all launches of one case must run on the same nodes, {words(asked)} (got {words(nodes)})",
            "give the launcher one host list or allocation for all",
        )
        self.nodes = nodes


def words(nodes: RealNodes | None) -> str:
    return "one node" if nodes is None else str(nodes)
