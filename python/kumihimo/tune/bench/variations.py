"""The parameters that are tried beside an algorithm's own, of those that its row of the registry declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kumihimo import _collectives, _schedule
from kumihimo.text.json_types import JsonObject

SINGLE_COPY = 65536  # bytes of a vector or block from which one copy of a message may beat two
LEAST_STREAMED = 2 * 2**20  # bytes of a rank's result that no core's own cache holds until it is read
SEGMENTS = (65536, 131072, 262144, 1048576)  # beside the default of real ranks
SEGMENTS_BETWEEN_NODES = (16384, 65536, 262144, 1048576)
SHORT_SEGMENT = 16384  # of vectors that are too short for two of those: one is copied in while the other is copied out
SMALLEST_SEGMENTED = 131072  # bytes of a vector: below it few variations pay
RANKS = "RANKS"  # the symbol of parameters that are numbers of a node's ranks
GROUPS = (2, 4, 8, 16, 32)  # of these, beside all of a node


def start(collective: str, name: str, each: int, ranks: int) -> JsonObject:
    """The first parameters to try with an algorithm. One that needs several nodes gets groups where all `ranks` share
    one, that of `each`: of a power of two, at most their root if that is 2 or more. others() goes on from there.
    """
    shared = [p.name for p in declared(collective, name) if p.symbol == RANKS and each >= ranks]
    return {parameter: max((g for g in GROUPS if g * g <= ranks), default=GROUPS[0]) for parameter in shared}


def groups(each: int) -> list[int]:
    """Group sizes below a node's ranks: powers of two, and half of the node."""
    return sorted({g for g in (*GROUPS, each // 2) if 1 < g < each})


@dataclass(frozen=True)
class NodeFill:
    """So many ranks, and how many of them share a node, at most."""

    ranks: int
    each: int


# The collective, the algorithm, the size in bytes, the ranks and what is given already.
Vary = Callable[[str, str, int, NodeFill, JsonObject], Iterator[JsonObject]]


def segments(collective: str, name: str, size: int, on: NodeFill, given: JsonObject) -> Iterator[JsonObject]:
    """As given, and in segments of several sizes."""
    yield given
    if not any(parameter.name == "segment_bytes" for parameter in declared(collective, name)):
        return
    longer = SEGMENTS if on.each >= on.ranks else SEGMENTS_BETWEEN_NODES
    for segment in longer if size >= SMALLEST_SEGMENTED else (SHORT_SEGMENT,):
        if 2 * max(segment, _collectives.REAL_SEGMENT_BYTES) <= size:
            yield {**given, "segment_bytes": segment}


def segments_and_copies(collective: str, name: str, size: int, on: NodeFill, given: JsonObject) -> Iterator[JsonObject]:
    """segments(), and as given with each hint that may pay: other copies of long messages, a matter of real nodes. Not
    each of the segments with them, which would take the time of other questions."""
    yield from segments(collective, name, size, on, given)
    yield from hinted(collective, size, on, given)


def hinted(collective: str, size: int, on: NodeFill, given: JsonObject) -> Iterator[JsonObject]:
    for parameter in _collectives.declared_parameters():
        ungiven = parameter.kind == "hint" and parameter.name not in given
        if ungiven and IN_SCOPE[parameter.tuning_scope](collective, size, on, given):
            yield {**given, parameter.name: True}


def is_copied(collective: str) -> bool:
    """Whether blocks are copied and neither reduced nor, mostly, passed on."""
    meaning = _schedule.meaning(collective)
    return not meaning.reduces and meaning.output[1] in ("block", "each")


def copies_long(collective: str, size: int, on: NodeFill) -> bool:
    """Whether ranks copy what comes to stay, as much as LEAST_STREAMED each. What comes from other nodes the MPI
    library puts in its place. Of neighbours there are two, at least on axes."""
    if on.each == 1 or not is_copied(collective):
        return False
    meaning = _schedule.meaning(collective)
    blocks = 2 if meaning.of_neighbours else on.ranks if meaning.output[1] == "each" else 1
    return size * blocks >= LEAST_STREAMED


# The tuning scopes of parameters.def: by the collective, the size, the ranks and what is given.
IN_SCOPE = {
    "simulator": lambda collective, size, on, given: False,  # nothing here heeds it
    "anywhere": lambda collective, size, on, given: True,
    "segmented": lambda collective, size, on, given: "segment_bytes" in given,
    "long_vectors": lambda collective, size, on, given: size >= SMALLEST_SEGMENTED,
    "long_messages": lambda collective, size, on, given: size >= SINGLE_COPY,
    "long_results": lambda collective, size, on, given: copies_long(collective, size, on),
    "several_nodes": lambda collective, size, on, given: on.ranks > on.each,
}


def others(collective: str, name: str, size: int, on: NodeFill, given: JsonObject) -> Iterator[JsonObject]:
    """As given, and with each other parameter that the algorithm takes, at the values of parameters.def, where it may
    pay; with what is not read from its sender's memory written with non-temporal stores."""
    yield given
    for parameter in declared(collective, name):
        for value in values(parameter, on):
            if IN_SCOPE[parameter.tuning_scope](collective, size, on, given):
                yield {**given, parameter.name: value}
    if "single_copy" in given:
        yield from hinted(collective, size, on, given)


def values(parameter: _collectives.ParameterDeclaration, on: NodeFill) -> list[int | bool]:
    """Values to try beside the default."""
    if parameter.symbol == RANKS:
        return groups(on.each)
    return [True] if parameter.kind == "flag" else parameter.tuning_values


def declared(collective: str, name: str) -> list[_collectives.ParameterDeclaration]:
    """The parameters that the algorithm takes."""
    takes = {parameter.name for parameter in _collectives.find(collective, name).parameters}
    return [parameter for parameter in _collectives.declared_parameters() if parameter.name in takes]
