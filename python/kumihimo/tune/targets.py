"""Targets of tuning: a collective on so many ranks."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from kumihimo import _collectives, _export, _plan, _schedule
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import Ranks
from kumihimo.processes import allocation, mpi
from kumihimo.run.profile.collectives import NON_BLOCKING, Form
from kumihimo.text.errors import KumihimoError
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench.cases import NODE, NONE, BenchCase, rank_space, sizes_of
from kumihimo.tune.bench.nodes import RealNodes
from kumihimo.tune.launches import LONG_CALL_SECONDS

USUAL = ("allreduce", "bcast", "reduce")  # that are tuned for unless others are named
COLLECTIVES = tuple(  # that MPI has, the most used first
    kind
    for kind in dict.fromkeys((*USUAL, *_schedule.collectives()))
    if _schedule.meaning(kind).mpi_calls and not _schedule.meaning(kind).of_neighbours
)
REDUCTIONS = tuple(kind for kind in COLLECTIVES if arguments.reduces(kind))  # of which the order may matter
ANY, FIXED_ORDER = "any", "fixed_order"
UNEQUAL = "unequal"  # blocks; one choice serves all their lengths, as no rank need know those of others (ADR 19)
MEASURED_COUNTS = "ramp"  # of unequal blocks


@dataclass(frozen=True)
class ProgramDemand:
    """Demand of a program: the sizes of its calls, those with the most time first; the seconds that an algorithm may
    change, the form that takes most of them and the others, and how calls follow one another (rehearsal.WAYS).
    `unequal`: its blocks differ in size. `one_element`: its vectors may be one element, which no algorithm can cut.
    `overlap_seconds`: its calls do not block, and it computes so long in each. `user_operations`: it also reduces by
    operations of its own. `call_seconds`: of a call of the first size.
    """

    sizes: tuple[int, ...]
    seconds: float
    form: Form
    others: tuple[Form, ...] = ()
    ways: tuple[str, ...] = ()
    unequal: bool = False
    one_element: bool = False
    overlap_seconds: float | None = None
    user_operations: bool = False
    call_seconds: float = 0.0

    @property
    def first_class(self) -> tuple[int, ...]:
        """The sizes of the class with the most time."""
        low, *others = self.sizes
        return (low, *(size for size in others[:1] if low < size < 2 * low))


@dataclass(frozen=True)
class Target:
    """`ranks_per_node` emulates nodes on this machine, of so many ranks or of each in its turn; None: all ranks share
    one, or are `on` several real ones."""

    collective: str
    ranks: int
    ranks_per_node: int | tuple[int, ...] | None = None
    determinism: str = ANY
    on: RealNodes | None = None
    program: ProgramDemand | None = None  # what it asks; None: the usual question, at the sizes that are asked for

    def sizes(self, asked: Sequence[int]) -> list[int]:
        """The sizes of the target: a barrier has none."""
        return list(self.program.sizes) if self.program else sizes_of(self.collective, asked)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Ranks, nodes and ranks per node (0: unlike) by which wisdom finds the ranks."""
        if self.on:
            return self.on.counts
        sizes = arguments.node_sizes(Ranks(None, self.ranks, self.ranks_per_node or self.ranks))
        return self.ranks, len(sizes), sizes[0] if min(sizes) == max(sizes) else 0

    @property
    def nodes(self) -> int:
        return self.counts[1]

    @property
    def shape(self) -> str:
        """Shape of the nodes, by which wisdom finds the ranks; empty: none is known."""
        return _plan.shape_of(self.on.space) if self.on and self.on.shape else ""

    @property
    def emulated(self) -> bool:
        """Whether the nodes are of the mind alone: its messages cross no network."""
        return self.nodes > 1 and not self.on

    @property
    def fixed_order(self) -> bool:
        return self.determinism == FIXED_ORDER

    @property
    def case(self) -> BenchCase:
        """The case to measure. Cases that must keep the order of ranks know only the ranks' numbers."""
        shape = NONE if self.fixed_order else NODE
        case = BenchCase(self.collective, "", shape=shape, ranks_per_node=self.ranks_per_node, nodes=self.on)
        case = in_form(case, self.program.form) if self.program else case
        case = replace(case, overlap_seconds=self.program.overlap_seconds) if self.program else case
        return replace(case, counts=MEASURED_COUNTS) if self.unequal else case

    @property
    def unequal(self) -> bool:
        return self.program is not None and self.program.unequal

    @property
    def non_blocking(self) -> bool:
        return self.program is not None and self.program.overlap_seconds is not None

    @property
    def has_long_calls(self) -> bool:
        return self.program is not None and self.program.call_seconds >= LONG_CALL_SECONDS

    @property
    def key(self) -> JsonObject:
        """As wisdom names the communicators that a choice is for; 0: any, and where the nodes are not alike."""
        ranks, nodes, each = self.counts
        return {
            "collective": self.collective,
            "ranks": ranks,
            "nodes": 0 if self.fixed_order else nodes,
            "ranks_per_node": 0 if self.fixed_order else each,
            **({"shape": self.shape} if self.shape and not self.fixed_order else {}),
            "determinism": self.determinism,
            **({"emulated": True} if self.emulated else {}),
            **({"blocks": UNEQUAL} if self.unequal else {}),
            **({"start": NON_BLOCKING} if self.non_blocking else {}),
        }

    def allows(self, algorithm: str) -> bool:
        """Whether the algorithm promises what is asked for."""
        variant = _collectives.find(self.collective, algorithm)
        if (
            self.program
            and self.program.one_element
            and not sends_whole_vectors(self.collective, algorithm, self.ranks, self.ranks_per_node)
        ):
            return False
        if self.unequal:
            return not (variant.equal_counts or variant.all_counts)
        if not self.fixed_order:
            return True
        collective = arguments.collective(replace(self.case, bytes=8).arguments, rank_space(self.case, self.ranks))
        return variant.guarantees(collective)["independent_of_placement"]

    def __str__(self) -> str:
        nodes = "" if self.nodes == 1 else f" on {self.shape or self.nodes} nodes"
        order = " in fixed order" if self.fixed_order else ""
        blocks = ", blocks of different sizes" if self.unequal else ""
        start = f"{NON_BLOCKING} " if self.non_blocking else ""
        return f"{start}{self.collective} of {self.ranks} ranks{nodes}{order}{blocks}"


@cache
def sends_whole_vectors(
    collective: str, algorithm: str, ranks: int, ranks_per_node: int | tuple[int, ...] | None = None
) -> bool:
    """Whether each message is a whole vector, or whole blocks where the collective has blocks. Other algorithms gain
    by cutting them: with one element they send it as a whole, one rank after another."""
    count = 8 * ranks  # that all algorithms can cut
    case = BenchCase(collective, algorithm, count=count, ranks_per_node=ranks_per_node)
    try:
        space = rank_space(case, ranks)
        schedule = _collectives.find(collective, algorithm).build(arguments.collective(case.arguments, space), space)
        programs = json.loads(_export.expanded_json(schedule))["programs"]
    except KumihimoError:
        return False
    rounds = (each for program in programs for lane in program for segment in lane["segments"] for each in segment)
    steps = (step for each in rounds for step in each["steps"] if "peer" in step and "source" in step)
    sent = (run for step in steps for run in step["source"][1])
    return all(first % count == 0 and length % count == 0 for first, length in sent)


def in_form(case: BenchCase, form: Form) -> BenchCase:
    return replace(
        case, type=form.type or case.type, operation=form.operation or case.operation, in_place=form.in_place
    )


def usual_ranks(family: str) -> list[int]:
    """In a testbed a rank for each slot. Else 2, 4 and a rank a processor; more ranks than processors only where
    waiting ranks make room for each other, as Open MPI's do."""
    if (slots := allocation.slots_of_hosts(os.environ)) > 1:
        return [slots]
    processors = mpi.available_processors()
    wanted = sorted({2, 4, max(2, processors)})
    return [ranks for ranks in wanted if ranks <= max(2, processors) or family == "openmpi"]
