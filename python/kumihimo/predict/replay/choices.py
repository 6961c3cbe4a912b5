"""Which algorithm performs each collective of a recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kumihimo import _collectives, _machine, _plan, _replay, _schedule, _topology
from kumihimo.collectives.arguments import parameters, variants
from kumihimo.text import files
from kumihimo.text.documents import read_json
from kumihimo.text.errors import NotApplicable, errors_at, wrong_value
from kumihimo.text.odd_bytes import to_json
from kumihimo.text.quantities import counted

# By the bytes of the vector or block up to which each serves; None: all lengths. After R. Thakur, R. Rabenseifner,
# W. Gropp, Optimization of Collective Communication Operations in MPICH (2005); of each, the first that fits the ranks.
USUAL: dict[str, list[tuple[int | None, tuple[str, ...]]]] = {
    "barrier": [(None, ("dissemination",))],
    "bcast": [(12288, ("binomial_in_turn",)), (None, ("chain",))],
    "reduce": [(None, ("binomial",))],
    "allreduce": [(2048, ("recursive_doubling",)), (None, ("rabenseifner", "recursive_doubling"))],
    "allgather": [(8192, ("recursive_doubling", "bruck")), (None, ("ring",))],
    "reduce_scatter": [(65536, ("recursive_halving", "pairwise")), (None, ("pairwise",))],
    "alltoall": [(256, ("bruck", "linear")), (32768, ("linear",)), (None, ("pairwise",))],
    "gather": [(None, ("binomial", "linear"))],
    "scatter": [(None, ("binomial", "linear"))],
    "scan": [(None, ("recursive_doubling",))],
    "exscan": [(None, ("recursive_doubling",))],
    "neighbor_allgather": [(None, ("direct",))],
    "neighbor_alltoall": [(None, ("direct",))],
}
# Where Open MPI 4.1 and 5.0 differ by far (coll/tuned, fixed decisions): of fewer ranks than the first number, the
# same. Binomial trees stand in for its trees of four branches, and for its scatter with allgather.
OF_OPEN_MPI: dict[str, list[tuple[int | None, list[tuple[int | None, str]]]]] = {
    "bcast": [
        (4, []),  # it changes with nearly each length; left as MPICH's
        (8, [(2047, "binary"), (8191, "binomial_near"), (1048575, "linear"), (None, "chain")]),
        (16, [(4095, "binomial_near"), (16383, "binary"), (32767, "binomial_near"), (None, "linear")]),
        (None, [(None, "binomial_near")]),
    ],
    "alltoall": [
        (16, [(None, "linear")]),
        (32, [(3, "linear"), (511, "bruck"), (None, "linear")]),
        (64, [(511, "bruck"), (None, "linear")]),
    ],
}

LIBRARIES = {"openmpi": "Open MPI", "mpich": "MPICH"}  # by the names of --mpi


LIBRARY = "library"  # the algorithm of a choice that is the MPI library's own


@dataclass(frozen=True)
class NodesOfRanks:
    """The nodes of a communicator, by which wisdom finds its choices."""

    nodes: int
    ranks_per_node: int  # 0: they differ
    shape: str  # empty: none is known

    @classmethod
    def of(cls, node_of_rank: Sequence[int], machine: _machine.Machine | None) -> NodesOfRanks:
        _, nodes, each = _plan.count_ranks(node_of_rank)
        shape = ""
        if machine is not None and machine.shape.axes:
            shape = _plan.shape_of(_topology.RankSpace.recognise(machine.shape, node_of_rank))
        return cls(nodes, each, shape)


@dataclass(frozen=True)
class Call:
    """A collective of a recording."""

    collective: str
    ranks: int
    bytes: int
    irregular: bool
    of_all: bool = False  # the ranks of the program, in their order
    on: NodesOfRanks | None = field(default=None, compare=False)  # None: unknown, or nobody asks


@dataclass
class Ground:
    """The machine as algorithms see it: the places of all ranks, and the step of pipelines."""

    space: _topology.RankSpace | None = None  # None: nothing is known but the number of ranks
    machine: _machine.Machine | None = None
    mpi: str = ""  # what the library of the recording calls itself
    node_of_rank: Sequence[int] = ()  # of the program; empty: unknown

    def parameters(self, length: int, **given: object) -> _collectives.Parameters:
        """Parameters of a collective of so many bytes."""
        segment = None if self.machine is None else self.machine.segment_bytes_of(length)
        return parameters(**given, default_segment_bytes=segment)


@dataclass
class Wished:
    """The user's request: an algorithm of some collectives, and a file of `tune` for the others."""

    algorithms: dict[str, str]
    wisdom: list[dict]

    @classmethod
    def read(cls, named: Sequence[str], wisdom: Path | None) -> Wished:
        algorithms = {}
        for word in named:
            collective, equals, algorithm = word.partition("=")
            if not equals or collective not in USUAL:
                rule = "--algorithm must be COLLECTIVE=NAME"
                raise wrong_value(rule, f"'{word}'", "as in --algorithm allreduce=ring")
            variants(collective, algorithm)  # or an error that names the nearest
            algorithms[collective] = algorithm
        return cls(algorithms, choices_in(wisdom) if wisdom else [])

    def is_given(self) -> bool:
        return bool(self.algorithms or self.wisdom)

    def of(self, call: Call, ground: Ground) -> tuple[_collectives.Variant, _collectives.Parameters] | None:
        """None: the MPI library's own call."""
        if name := self.algorithms.get(call.collective):
            return variants(call.collective, name)[0], ground.parameters(call.bytes)
        choice = self.choice_for(call)
        if choice is None or choice["algorithm"] == LIBRARY:
            return None
        chosen = ground.parameters(call.bytes, **choice.get("parameters", {}))
        return variants(call.collective, choice["algorithm"])[0], chosen

    def choice_for(self, call: Call) -> dict | None:
        """Of the file; None: it has none."""
        return next((each for each in self.wisdom if fits(each, call)), None)

    def notes(self, calls: Iterable[tuple[Call, int]], ground: Ground) -> list[str]:
        """How many calls the file of tune leaves to the MPI library and why, and how many it has choices for whose
        nodes nobody knows. `calls`: each with how often it is performed."""
        left: Counter[str] = Counter()
        of_all = unknown = 0
        for call, count in calls if self.wisdom else ():
            of_all += count
            if call.collective in self.algorithms:
                continue
            if reason := self._why_left(call, ground):
                left[reason] += count
            elif call.on is None and any(map((self.choice_for(call) or {}).get, ("nodes", "ranks_per_node"))):
                unknown += count
        notes = []
        if left:
            parts = ", ".join(f"{count} {reason}" for reason, count in left.items())
            share = f"{sum(left.values())} of {counted(of_all, 'collective call')}"
            notes.append(f"the wisdom leaves {share} to the MPI library: {parts}")
        if unknown:
            taken = f"the wisdom's choices for {counted(unknown, 'collective call')}"
            notes.append(f"{taken} are for given numbers of nodes, and the nodes of these ranks are unknown")
        return notes

    def _why_left(self, call: Call, ground: Ground) -> str:
        """Empty: it is not."""
        choice = self.choice_for(call)
        if choice is None:
            elsewhere = any(is_about(each, call) for each in self.wisdom)
            return "have choices for other ranks, nodes or shapes" if elsewhere else "have no choice"
        if choice["algorithm"] == LIBRARY:
            return "have the library as their choice"
        return "" if wished_or_none(self, call, ground) else "do not fit the algorithm of their choice"


def choices_in(path: Path) -> list[dict]:
    """Checked as a preload library checks them, but for the machine and the MPI library, which may be others."""
    text = files.read_text(path, "the wisdom file")
    try:
        file = read_json(text)
        of_any = {name: file[name] for name in ("kumihimo_wisdom", "choices")}
    except (ValueError, KeyError, TypeError):
        raise wrong_value("--wisdom must name a file of kumihimo tune", path) from None
    with errors_at(str(path)):
        _plan.read_wisdom(to_json(of_any), _plan.this_machine(), "")
    collectives = [each for each in of_any["choices"] if "kernel" not in each]
    return [each for each in collectives if each["collective"] in USUAL]


def fits(choice: dict, call: Call) -> bool:
    """As in `run`, but where the nodes are unknown any number of them fits."""
    return is_about(choice, call) and is_for_ranks(choice, call)


def is_about(choice: dict, call: Call) -> bool:
    """Whether it is for such a call on some ranks. A recording does not tell which calls block."""
    of_length = choice.get("from_bytes", 0) <= call.bytes <= choice.get("to_bytes", call.bytes)
    of_blocks = (choice.get("blocks") == "unequal") == call.irregular
    is_usual = choice.get("determinism", "any") == "any" and choice.get("start", "blocking") == "blocking"
    return choice["collective"] == call.collective and of_length and of_blocks and is_usual


def is_for_ranks(choice: dict, call: Call) -> bool:
    pairs = [("ranks", call.ranks)]
    if call.on is not None:
        pairs += [("nodes", call.on.nodes), ("ranks_per_node", call.on.ranks_per_node)]
    of_shape = True
    if shape := choice.get("shape"):
        of_shape = call.on is not None and str(_topology.Shape.parse(shape)) == call.on.shape
    return of_shape and all(choice.get(name) in (0, None, there) for name, there in pairs)


def calls_of(source: _replay.Source, ground: Ground) -> list[Call]:
    """The collectives of a program, with the nodes of their ranks where these are known."""
    calls = [Call(*each) for each in source.calls]
    if not ground.node_of_rank:
        return calls
    on_all = NodesOfRanks.of(ground.node_of_rank, ground.machine)

    def on(number: int) -> NodesOfRanks:
        nodes = [ground.node_of_rank[rank] for rank in source.members(number)]
        return NodesOfRanks.of(nodes, ground.machine)

    return [replace(call, on=on_all if call.of_all else on(number)) for number, call in enumerate(calls)]


def library_named(name: str) -> str:
    """The name that the library of --mpi gives itself."""
    if name not in LIBRARIES:
        raise wrong_value(f"--mpi must be one of {', '.join(LIBRARIES)}", f"'{name}'")
    return LIBRARIES[name]


def usual(call: Call, ground: Ground) -> _collectives.Variant:
    names = next(names for most, names in USUAL[call.collective] if most is None or call.bytes <= most)
    if ground.mpi.startswith("Open MPI"):
        names = (*of_open_mpi(call), *names)
    for name in names[:-1]:
        if is_applicable(found := variants(call.collective, name)[0], call, ground):
            return found
    return variants(call.collective, names[-1])[0]


def of_open_mpi(call: Call) -> tuple[str, ...]:
    for ranks, by_bytes in OF_OPEN_MPI.get(call.collective, []):
        if ranks is None or call.ranks < ranks:
            return tuple(name for most, name in by_bytes if most is None or call.bytes <= most)[:1]
    return ()


def collective_of(call: Call) -> _schedule.Collective:
    """Collective of the call, of float64 where it reduces."""
    size = 1 if call.bytes % 8 or not _schedule.meaning(call.collective).reduces else 8
    type_ = "float64" if size == 8 else "uint8"
    return _schedule.Collective(call.collective, call.ranks, call.bytes // size, type_, "sum", 0, False)


def is_applicable(variant: _collectives.Variant, call: Call, ground: Ground) -> bool:
    if variant.offloads or (call.irregular and variant.equal_counts):
        return False
    ranks = ground.space if ground.space is not None and call.of_all else _topology.RankSpace.row(call.ranks)
    try:
        variant.build(collective_of(call), ranks, ground.parameters(call.bytes))
    except NotApplicable:
        return False
    return True


def chosen_or_usual(wished: Wished, call: Call, ground: Ground) -> tuple[_collectives.Variant, _collectives.Parameters]:
    """The algorithm that is wished, or that of the MPI library where none is. A choice of tune that does not fit the
    call leaves it to the library, as in `run`."""
    return wished_or_none(wished, call, ground) or (usual(call, ground), ground.parameters(call.bytes))


def wished_or_none(
    wished: Wished, call: Call, ground: Ground
) -> tuple[_collectives.Variant, _collectives.Parameters] | None:
    """None: the MPI library's own call. An algorithm that the user names must fit: errors say why it does not."""
    found = wished.of(call, ground)
    is_named = call.collective in wished.algorithms
    return found if found is None or is_named or is_applicable(found[0], call, ground) else None


def alternatives(call: Call, ground: Ground) -> list[_collectives.Variant]:
    """All algorithms that fit."""
    return [each for each in variants(call.collective) if is_applicable(each, call, ground)]
