"""The parameters that are tried beside an algorithm's own, of those that its row of the registry declares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kumihimo import _collectives, _schedule

SINGLE_COPY = 65536  # bytes of a vector or block from which one copy of a message may beat two
PAST_CACHES = 2 * 2**20  # bytes of a rank's result that no core's own cache holds until it is read
SEGMENTS = (65536, 131072, 262144, 1048576)
SHORT_SEGMENT = 32768  # of vectors that are too short for two of those: one is copied in while the other is copied out
SMALLEST_SEGMENTED = 131072  # bytes of a vector: below it few variations pay
GROUPS = (2, 4, 8, 16, 32)  # ranks that share a leader, beside all of a node


def start(collective: str, name: str, each: int, ranks: int) -> dict:
    """What an algorithm is first tried with. One that needs several nodes gets groups where all `ranks` share one, that
    of `each`: of a power of two, at most their root if that is 2 or more. others() goes on from there."""
    if each < ranks or "group" not in declared(collective, name):
        return {}
    return {"group": max((g for g in GROUPS if g * g <= ranks), default=GROUPS[0])}


def groups(each: int) -> list[int]:
    """Of fewer ranks than a node's: powers of two, and half of the node."""
    return sorted({g for g in (*GROUPS, each // 2) if 1 < g < each})


@dataclass(frozen=True)
class Place:
    """So many ranks, and how many of them share a node, at most."""

    ranks: int
    each: int


# The collective, the algorithm, the size in bytes, the ranks and what is given already.
Vary = Callable[[str, str, int, Place, dict], Iterator[dict]]


def segments(collective: str, name: str, size: int, on: Place, given: dict) -> Iterator[dict]:
    """As given, and in segments of several sizes."""
    yield given
    if "segment_bytes" not in declared(collective, name):
        return
    for segment in SEGMENTS if size >= 2 * SEGMENTS[0] else (SHORT_SEGMENT,):
        if segment * 2 <= size:
            yield {**given, "segment_bytes": segment}


def segments_and_copies(collective: str, name: str, size: int, on: Place, given: dict) -> Iterator[dict]:
    """segments(), and as given with each hint that may pay: other copies of long messages, a matter of real nodes. Not
    each of the segments with them, which would take the time of other questions."""
    yield from segments(collective, name, size, on, given)
    yield from hinted(collective, size, on, given)


def hinted(collective: str, size: int, on: Place, given: dict) -> Iterator[dict]:
    for parameter in _collectives.declared_parameters():
        if parameter.kind == "hint" and parameter.name not in given and may_pay(parameter, collective, size, on, given):
            yield {**given, parameter.name: True}


def is_copied(collective: str) -> bool:
    """Whether blocks are copied and neither reduced nor, mostly, passed on."""
    meaning = _schedule.meaning(collective)
    return not meaning.reduces and meaning.output[1] in ("block", "each")


def copies_long(collective: str, size: int, on: Place) -> bool:
    """Whether ranks copy what comes to stay, as much as PAST_CACHES each. What comes from other nodes the MPI library
    puts in its place. Of neighbours there are two, at least on axes."""
    if on.each == 1 or not is_copied(collective):
        return False
    meaning = _schedule.meaning(collective)
    blocks = 2 if meaning.of_neighbours else on.ranks if meaning.output[1] == "each" else 1
    return size * blocks >= PAST_CACHES


# Of parameters that do not pay everywhere: whether they may, by the collective, the size, the ranks and what is given
# already.
WORTH = {
    "window": lambda collective, size, on, given: "segment_bytes" in given,
    "overlap": lambda collective, size, on, given: size >= SMALLEST_SEGMENTED,
    "trees": lambda collective, size, on, given: size >= SMALLEST_SEGMENTED,
    "single_copy": lambda collective, size, on, given: size >= SINGLE_COPY,
    "streaming_stores": lambda collective, size, on, given: copies_long(collective, size, on),
}


def may_pay(parameter: _collectives.ParameterDeclaration, collective: str, size: int, on: Place, given: dict) -> bool:
    return parameter.name not in WORTH or WORTH[parameter.name](collective, size, on, given)


def others(collective: str, name: str, size: int, on: Place, given: dict) -> Iterator[dict]:
    """As given, and with each other parameter that the algorithm takes, at the values of parameters.def, where it may
    pay; with what is not read from its sender's memory written with non-temporal stores."""
    yield given
    takes = declared(collective, name)
    for parameter in _collectives.declared_parameters():
        if parameter.name in takes and may_pay(parameter, collective, size, on, given):
            for value in values(parameter, on):
                yield {**given, parameter.name: value}
    if "single_copy" in given:
        yield from hinted(collective, size, on, given)


def values(parameter: _collectives.ParameterDeclaration, on: Place) -> list[int | bool]:
    """What is tried beside the default."""
    if parameter.name == "group":
        return groups(on.each)
    return [True] if parameter.kind == "flag" else parameter.tried


def declared(collective: str, name: str) -> set[str]:
    return {parameter.name for parameter in _collectives.find(collective, name).parameters}
