"""Which algorithm performs each collective of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _collectives, _machine, _plan, _schedule, _topology
from kumihimo.collectives.arguments import parameters, variants
from kumihimo.text import files
from kumihimo.text.documents import read_json
from kumihimo.text.errors import NotApplicable, errors_at, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.odd_bytes import to_json

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


@dataclass(frozen=True)
class Call:
    """A collective of a recording."""

    collective: str
    ranks: int
    bytes: int
    irregular: bool
    of_all: bool = False  # the ranks of the program, in their order


@dataclass
class Ground:
    """The machine as algorithms see it: the places of all ranks, and the step of pipelines."""

    space: _topology.RankSpace | None = None  # None: nothing is known but the number of ranks
    machine: _machine.Machine | None = None
    mpi: str = ""  # what the library of the recording calls itself

    def parameters(self, length: int, **given: object) -> _collectives.Parameters:
        """Parameters of a collective of so many bytes."""
        segment = None if self.machine is None else self.machine.segment_bytes_of(length)
        return parameters(**given, default_segment_bytes=segment)


@dataclass
class Wished:
    """The user's request: an algorithm of some collectives, and a file of `tune` for the others."""

    algorithms: dict[str, str]
    wisdom: list[JsonObject]

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
        for choice in self.wisdom:
            if fits(choice, call):
                chosen = ground.parameters(call.bytes, **choice.get("parameters", {}))
                return variants(call.collective, choice["algorithm"])[0], chosen
        return None


def choices_in(path: Path) -> list[JsonObject]:
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
    return [each for each in collectives if each["algorithm"] != "library" and each["collective"] in USUAL]


def fits(choice: JsonObject, call: Call) -> bool:
    of_ranks = choice.get("ranks") in (0, None, call.ranks)
    of_length = choice.get("from_bytes", 0) <= call.bytes <= choice.get("to_bytes", call.bytes)
    of_blocks = (choice.get("blocks") == "unequal") == call.irregular
    any_order = choice.get("determinism", "any") == "any"
    return choice["collective"] == call.collective and of_ranks and of_length and of_blocks and any_order


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
    """The algorithm that is wished, or that of the MPI library where none is or it does not fit the call, which `run`
    forwards then."""
    named = wished.of(call, ground)
    if named is not None and is_applicable(named[0], call, ground):
        return named
    return usual(call, ground), ground.parameters(call.bytes)


def alternatives(call: Call, ground: Ground) -> list[_collectives.Variant]:
    """All algorithms that fit."""
    return [each for each in variants(call.collective) if is_applicable(each, call, ground)]
