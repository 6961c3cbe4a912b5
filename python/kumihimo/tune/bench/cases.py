"""Cases of checks and measurements: one collective by one algorithm on ranks of one shape."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate

from kumihimo import _collectives, _placement, _topology
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.network.placement import Wanted, check_places_all
from kumihimo.text.errors import NotApplicable, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench.nodes import RealNodes

NODE = "node"  # ranks that share memory: any shape may be laid over them
NONE = "none"  # ranks without a shape
MOST_RANKS = 4096  # that one launch on one machine is asked for
MOST_BYTES = 2**31 - 8  # of a buffer: the library's own call counts in int

Start = Callable[[str, str, int, int], JsonObject]  # parameters by collective, algorithm, ranks of a node, and all


@dataclass(frozen=True)
class BenchCase:
    """`bytes` is what MPI's count says: the vector, or one block where the collective is about blocks. `shape` is that
    of the nodes (2x2), `node` or `none`; `ranks_per_node` emulates nodes, of so many ranks each or of each in its turn:
    ranks of different ones talk by point-to-point messages alone. `counts`: of irregular blocks, as in
    CollectiveArguments. `parameters` are those of arguments.parameters. `nodes`: the real ones that the launcher puts
    the ranks on, where these are several. `placement`: of the ranks on the nodes, the same in all cases of a launch;
    None: in block order. `overlap_seconds`: the library's call is non-blocking, and a program computes so long between
    its beginning and the wait for its end."""

    collective: str
    algorithm: str
    bytes: int | None = None
    count: int | None = None
    type: str = "float64"
    operation: str = "sum"
    root: int = 0
    in_place: bool = False
    shape: str | None = None
    ranks_per_node: int | tuple[int, ...] | None = None
    neighbours: str | None = None
    counts: str | None = None
    parameters: JsonObject = field(default_factory=dict)
    nodes: RealNodes | None = None
    placement: Wanted | None = None
    overlap_seconds: float | None = None

    @property
    def shared(self) -> JsonObject:
        """The members that all cases of one collective share, whatever their algorithms and lengths."""
        names = ("type", "operation", "root", "in_place", "shape", "ranks_per_node", "neighbours", "counts", "nodes")
        return {name: getattr(self, name) for name in (*names, "placement", "overlap_seconds")}

    @property
    def goes_by_real_nodes(self) -> bool:
        """Whether what fits the ranks depends on them."""
        return (self.shape or NODE) == NODE and self.ranks_per_node is None

    def ranks_of_a_node(self, ranks: int) -> int:
        """Ranks on the node that has most."""
        if self.ranks_per_node is not None:
            return max(arguments.node_sizes(Ranks(None, ranks, self.ranks_per_node)))
        return self.nodes.most_ranks if self.nodes else ranks

    @property
    def arguments(self) -> CollectiveArguments:
        return CollectiveArguments(
            self.collective,
            self.count,
            self.bytes,
            self.type,
            self.operation,
            self.root,
            self.in_place,
            self.counts,
            neighbours=self.neighbours,
        )


def rank_space(case: BenchCase, ranks: int) -> _topology.RankSpace:
    """The ranks as algorithms see them. Raises BadInput where the shape is not ranks / ranks per node."""
    space = _space_in_block_order(case, ranks)
    order = process_of_rank(case, ranks)
    if case.placement is None or order is None or case.shape == NONE:
        return space
    if case.goes_by_real_nodes and case.nodes:
        return case.nodes.reordered(order).space
    return _placed(case, case.placement, ranks).rank_space(_shape_of_nodes(case, _sizes(case, ranks)))


def check_ranks(ranks: int) -> None:
    """Whether one launch starts so many."""
    if not 1 <= ranks <= MOST_RANKS:
        raise wrong_value(f"the number of ranks must be from 1 to {MOST_RANKS}", ranks)


def _space_in_block_order(case: BenchCase, ranks: int) -> _topology.RankSpace:
    check_ranks(ranks)
    each = case.ranks_per_node
    sizes = [ranks] if each is None else arguments.node_sizes(Ranks(None, ranks, each))  # which looks at them
    shape = case.shape or NODE
    if case.goes_by_real_nodes and case.nodes:
        return case.nodes.space
    if shape == NODE:  # nodes without a shape stand in a row, as the bench driver sees them (bench_driver/task.cpp)
        return _topology.RankSpace.of_nodes(sizes)
    if shape == NONE:
        return _topology.RankSpace.row(ranks)
    return arguments.rank_space(Ranks(shape, ranks, each or 1))


def process_of_rank(case: BenchCase, ranks: int) -> list[int] | None:
    """Which process each rank is, by their numbers as they are started, node by node; None: the same."""
    if case.placement is None:
        return None
    placed = _placed(case, case.placement, ranks)
    check_places_all(case.placement, placed, ranks)
    if case.goes_by_real_nodes and case.nodes:
        on = case.nodes.processes
        return [on[node][slot] for node, slot in zip(placed.node_of_rank, placed.slot_of_rank)]
    first = list(accumulate(_sizes(case, ranks), initial=0))
    return [first[node] + slot for node, slot in zip(placed.node_of_rank, placed.slot_of_rank)]


def _placed(case: BenchCase, wanted: Wanted, ranks: int) -> _placement.Placement:
    sizes = _sizes(case, ranks)
    return wanted.place(_placement.Slots.of_nodes(sizes), _shape_of_nodes(case, sizes))


def _sizes(case: BenchCase, ranks: int) -> list[int]:
    """Sizes of the nodes that ranks are placed on: emulated, real, or one a rank where a shape is laid over them."""
    if case.ranks_per_node is not None:
        return arguments.node_sizes(Ranks(None, ranks, case.ranks_per_node))
    if case.goes_by_real_nodes:
        return [len(on) for on in case.nodes.processes] if case.nodes else [ranks]
    return [1] * ranks


def _shape_of_nodes(case: BenchCase, sizes: Sequence[int]) -> _topology.Shape:
    if case.shape is None or case.shape in ("", NODE, NONE):  # nodes without a shape stand in a row
        return _topology.Shape.parse(f"{len(sizes)}m")
    return _topology.Shape.parse(case.shape)


def as_task(case: BenchCase, ranks: int) -> JsonObject:
    """The case as the bench driver reads it. All that can be wrong with it is found here, before anything is
    started."""
    space = rank_space(case, ranks)
    collective = arguments.collective(case.arguments, space)
    if collective.longest_buffer_bytes > MOST_BYTES:
        raise wrong_value(
            f"a buffer can have at most {MOST_BYTES} bytes, as MPI counts in int", collective.longest_buffer_bytes
        )
    variant = _collectives.find(case.collective, case.algorithm)
    with contextlib.suppress(NotApplicable):  # the bench driver says so in the result
        variant.build(collective, space, arguments.parameters(**case.parameters))
    task = asdict(case)
    task.pop("bytes")
    task.pop("placement")  # the task's
    task.pop("nodes")  # which the bench driver sees for itself
    neighbours = case.neighbours or collective.neighbours
    shape = case.shape or NODE
    return {**task, "count": collective.count, "counts": collective.counts, "shape": shape, "neighbours": neighbours}


def applies(case: BenchCase, ranks: int) -> bool:
    """Whether the algorithm fits the case, and needs no engine of the network, which no MPI library gives."""
    space = rank_space(case, ranks)
    collective = arguments.collective(case.arguments, space)
    try:
        schedule = _collectives.find(case.collective, case.algorithm).build(
            collective, space, arguments.parameters(**case.parameters)
        )
    except NotApplicable:
        return False
    return not schedule.offloads


def sizes_of(collective: str, asked: Sequence[int]) -> list[int]:
    """The sizes to measure: a barrier moves no bytes."""
    return list(asked) if arguments.moves_data(collective) else [0]


def cases_of_all(
    collective: str, *, ranks: int, sizes: Sequence[int], start: Start | None = None, **rest
) -> list[BenchCase]:
    """Every algorithm that applies at every size in bytes, grouped by size. `rest` are other members of Case; where
    `start` is given, it says the parameters."""
    return list(_cases_of_all(collective, ranks, sizes, start, rest))


def _cases_of_all(
    collective: str, ranks: int, sizes: Sequence[int], start: Start | None, rest: JsonObject
) -> Iterator[BenchCase]:
    variants = arguments.variants(collective)
    for size in sizes_of(collective, sizes):
        for variant in variants:
            case = BenchCase(collective, variant.name, bytes=size, **rest)
            if start is not None:
                given = start(collective, variant.name, case.ranks_of_a_node(ranks), ranks)
                case = replace(case, parameters=given)
            if applies(case, ranks):
                yield case
