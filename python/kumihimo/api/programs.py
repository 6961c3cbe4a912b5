"""The table of algorithms, schedules as objects, and a writer of program files."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumihimo import _collectives, _export, _schedule, _topology, _traffic
from kumihimo.api.common import Size
from kumihimo.api.machines import On, job_of, words_of
from kumihimo.collectives import arguments, verification
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.collectives.proofs import CollectiveProof
from kumihimo.predict import simulation
from kumihimo.text import files
from kumihimo.text.errors import wrong_value
from kumihimo.text.records import ResultRecord, array_of
from kumihimo.text.sizes import parse_size

if TYPE_CHECKING:
    import numpy

MOST_RANKS_OF_A_MATRIX = 4096


@dataclass(frozen=True)
class AlgorithmRow(ResultRecord):
    """A row of the registry (docs/algorithms.md)."""

    collective: str
    name: str
    summary: str
    cost: str  # in the symbols of docs/algorithms.md
    reference: str
    parameters: Mapping[str, str]  # name: default
    extension: bool  # Kumihimo's own extension of a published algorithm
    offloads: bool  # needs the network's own engine, which programs cannot run
    guarantees: Mapping[str, bool]  # of the bits of sums that round


def algorithms(collective: str | None = None) -> list[AlgorithmRow]:
    """The algorithms of a collective, or of all. Raises BadInput where there is no such collective."""
    found = _collectives.all_variants() if collective is None else _collectives.variants(collective)
    return [
        AlgorithmRow(
            each.kind,
            each.name,
            each.summary,
            each.cost,
            each.reference,
            {p.name: p.default_value for p in each.parameters},
            each.extension,
            each.offloads,
            each.rounding,
        )
        for each in found
    ]


@dataclass(frozen=True)
class CollectiveProgram:
    """A schedule: an algorithm built for ranks and a length. `program()` makes it."""

    collective: str
    algorithm: str
    ranks: int
    bytes: int
    segments: int
    parameters: Mapping[str, int | str | bool]
    guarantees: Mapping[str, bool]
    _asked: Ranks = field(repr=False, compare=False)
    _placed: str | None = field(repr=False, compare=False)  # what the placement is called
    _space: _topology.RankSpace = field(repr=False, compare=False)
    _schedule: _schedule.Schedule = field(repr=False, compare=False)

    def text(self, rank: int = 0) -> str:
        """The program of a rank, as `kumihimo show` prints it."""
        return _export.program_text(self._schedule, self._space, arguments.rank_of(rank, self.ranks))

    def to_dict(self, rank: int = 0) -> dict[str, Any]:
        """The program of a rank with its loops, as `kumihimo show --json` has it."""
        return dict(json.loads(_export.program_json(self._schedule, arguments.rank_of(rank, self.ranks))))

    def steps(self) -> dict[str, Any]:
        """All steps of all ranks. Memory grows with them; raises BadInput above 4,000,000 steps."""
        return dict(json.loads(_export.expanded_json(self._schedule)))

    def traffic(self) -> numpy.ndarray:
        """A matrix (ranks x ranks) of the bytes that each rank sends to each other. Raises BadInput above 4,096 ranks,
        Failed where numpy is not installed."""
        if self.ranks > MOST_RANKS_OF_A_MATRIX:
            raise wrong_value(f"traffic() has at most {MOST_RANKS_OF_A_MATRIX} ranks", self.ranks, "take fewer ranks")
        found = _traffic.of_programs(self._schedule)
        matrix = array_of([], "int64", (self.ranks, self.ranks))
        for rank in range(self.ranks):
            receivers, amounts, _ = found.row(rank)
            matrix[rank, receivers] = amounts
        return matrix

    def verify(self, samples: int = 6, seed: int = 1) -> CollectiveProof:
        """Prove it, on the same ranks. `samples`: elements that are followed where it is too large to execute."""
        verification.check_ranks(self._space)
        variant = _collectives.find(self.collective, self.algorithm)
        return verification.proof_of(self._schedule, variant, self._space, self._asked, self._placed, samples, seed)


def program(
    collective: str,
    algorithm: str,
    on: On | None = None,
    *,
    shape: str | None = None,
    bytes: Size | None = None,
    count: int | None = None,
    ranks: int | None = None,
    ranks_per_node: int | Sequence[int] | None = None,
    type: str = "float64",
    operation: str = "sum",
    root: int = 0,
    in_place: bool = False,
    counts: str | None = None,
    neighbours: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> CollectiveProgram:
    """Build the schedule of an algorithm. `on`: a job, whose placement counts, a machine (all its nodes) or its name;
    None: nodes of a `shape`, "4x3x2", with `ranks_per_node` (by default 1), or `ranks` without a shape. `bytes` or
    `count`: the length (by default 16 MiB).

    Raises BadInput for wrong arguments and NotApplicable where the algorithm does not fit.
    """
    asked, placed, space = ranks_on(on, shape, ranks, ranks_per_node)
    length = None if bytes is None else parse_size(str(bytes), 0)
    if length is None and count is None and not arguments.is_listed(counts):
        length = parse_size(arguments.DEFAULT_BYTES)
    named = arguments.neighbours_named(neighbours)
    question = CollectiveArguments(collective, count, length, type, operation, root, in_place, counts, named)
    variant = _collectives.find(collective, algorithm)
    what = arguments.collective(question, space)
    built = variant.build(what, space, arguments.parameters(**dict(parameters or {})))
    return CollectiveProgram(
        collective,
        algorithm,
        what.ranks,
        what.bytes,
        built.segments,
        arguments.parameters_of(built.parameters),
        variant.guarantees(what),
        asked,
        placed,
        space,
        built,
    )


def ranks_on(
    on: On | None, shape: str | None, ranks: int | None, ranks_per_node: int | Sequence[int] | None
) -> tuple[Ranks, str | None, _topology.RankSpace]:
    """The ranks as they were asked for, what their placement is called, and what the algorithm sees of them."""
    if on is None:
        each = None if ranks_per_node is None else words_of(ranks_per_node)
        asked = Ranks(shape, ranks, arguments.ranks_per_node_named(each or "1"))
        return asked, None, arguments.rank_space(asked)
    given = next((each for each in (shape, ranks, ranks_per_node) if each is not None), None)
    if given is not None:
        rule = "shape, ranks and ranks_per_node are for programs without a machine"
        raise wrong_value(rule, given, "give them to Machine.job()")
    job = job_of(on)
    sizes, placed = tuple(job.native.slots.sizes), job.placed
    asked = Ranks(job.shape, job.ranks, sizes[0] if len(set(sizes)) == 1 else sizes)
    return asked, None if placed is None else placed.name, simulation.space_of(job.native, placed)


class ProgramWriter:
    """Writes a program file (docs/programs.md): the sends, receives and computations of each rank of an own algorithm.

    Elements are float64. Calls add steps to the rank that `rank()` named last; a step starts when the one before is
    complete, and steps within `together()` start together.
    """

    def __init__(self, ranks: int, elements: int) -> None:
        """`elements`: of each rank's buffer."""
        self._ranks = ranks
        self._lines = [f"ranks {ranks}", f"buffer {elements}"]
        self._indent = ""

    def rank(self, number: int) -> None:
        """Begin the section of a rank; each rank has at most one."""
        self._lines += ["", f"rank {arguments.rank_of(number, self._ranks)}"]

    def lane(self, number: int) -> None:
        """The next steps are on this lane; lanes of a rank run at the same time."""
        self._add("lane", number)

    def send(self, to: int, first: int, count: int) -> None:
        """Send the elements [first, first + count)."""
        self._add("send", to, first, count)

    def receive(self, sender: int, first: int, count: int) -> None:
        """Receive into these elements."""
        self._add("receive", sender, first, count)

    def compute(self, *, seconds: float = 0.0, flops: int = 0, bytes: int = 0) -> None:
        """Keep the processor busy; flops and bytes take their time at the rates of the machine."""
        words = [("seconds", seconds), ("flops", flops), ("bytes", bytes)]
        self._add("compute", *(word for name, value in words if value for word in (name, value)))

    def expect(self, first: int, count: int, rank: int, position: int) -> None:
        """At the end these elements must equal the initial ones of `rank` from `position` on."""
        self._add("expect", first, count, "from", rank, position)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Steps within start together."""
        self._add("together")
        self._indent = "  "
        yield
        self._indent = ""
        self._add("end")

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def write(self, path: str | os.PathLike[str]) -> str:
        """Write the file; its name as `verify`, `simulate` and `place` take it: "file:PATH"."""
        files.write_whole(Path(path), self.text())
        return f"file:{os.fspath(path)}"

    def _add(self, *words: object) -> None:
        self._lines.append(self._indent + " ".join(map(str, words)))


__all__ = ["AlgorithmRow", "CollectiveProgram", "ProgramWriter", "algorithms", "program"]
