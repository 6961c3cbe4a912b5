"""Converts what a user gives to native values: ranks with their shape, a collective, the parameters of an algorithm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kumihimo import _collectives, _schedule, _topology
from kumihimo.text import files
from kumihimo.text.errors import did_you_mean, missing, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted
from kumihimo.text.sizes import parse_size

MOST_RANKS = 2**31 - 1
MOST_UNEQUAL = 2**20  # nodes that are not alike, which are listed one by one
ALL = "all"
DEFAULT_BYTES = "16MiB"  # of a schedule that is shown or proved
HALO, FILE = "halo:", "file:"  # begin the name of programs that are no collective


def names_programs(text: str | None) -> bool:
    """Whether a verb's first argument names programs, not a collective."""
    return text is not None and text.startswith((HALO, FILE))


def refuse_misspelt_kind(text: str, known: Sequence[str]) -> None:
    """Refuses "wrokload:lans": a colon after a word that is nearly one of `known` ("workload:")."""
    first, colon, rest = text.partition(":")
    if colon and f"{first}:" not in known and (advice := did_you_mean(f"{first}:", known)):
        nearest = advice.removeprefix("did you mean ").removesuffix("?")
        raise wrong_value(f"there is nothing named {first}:", f"'{text}'", f"did you mean {nearest}{rest}?")


@dataclass
class Ranks:
    """Which ranks there are. `shape` is that of the nodes (`48x6x32`, `4x3mx2`), or `none`, `node`, `node:4`.
    `ranks_per_node`: so many on each, the last one the rest; or of each node in its turn."""

    shape: str | None = None
    ranks: int | None = None
    ranks_per_node: int | tuple[int, ...] | None = 1


@dataclass
class CollectiveArguments:
    """A collective as the user asks for it: `count` elements, or `bytes` of them."""

    collective: str
    count: int | None = None
    bytes: int | None = None
    type: str = "float64"
    operation: str = "sum"
    root: int = 0
    in_place: bool = False
    counts: str | None = None  # of irregular blocks: listed, or how they are spread about `count` or `bytes`
    neighbours: str | None = None  # as neighbours_named() has it; by default those of the ranks' shape, or of a ring


def reduces(collective: str) -> bool:
    """Whether it combines the ranks' data by an operation."""
    return _schedule.meaning(collective).reduces


def ranks_per_node_named(text: str | None) -> int | tuple[int, ...] | None:
    """`4`: on each node. `4,3,5`: on each of three nodes."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(r"-?[0-9]{1,18}", word) for word in words):
        raise wrong_value("--ranks-per-node must be a number, or a list such as 4,3,5", f"'{text}'")
    numbers = tuple(map(int, words))
    return numbers[0] if len(numbers) == 1 else numbers


def node_sizes(asked: Ranks) -> list[int]:
    """How many ranks each node has, in their order: those listed; or ranks / ranks per node, the last one the rest."""
    each = asked.ranks_per_node
    if isinstance(each, tuple):
        if min(each) < 1:
            raise wrong_value("each node must have at least 1 rank", min(each), "leave nodes without ranks out")
        if asked.ranks not in (None, sum(each)):
            raise wrong_value(f"the ranks of all nodes must add up to {asked.ranks}", sum(each), "leave --ranks out")
        if sum(each) > MOST_RANKS:
            raise wrong_value(f"there can be at most {MOST_RANKS} ranks", f"{sum(each)} on {len(each)} nodes")
        return list(each)
    assert each is not None and asked.ranks is not None, "one number of ranks a node divides a number of ranks"
    if not 1 <= each <= asked.ranks:
        raise wrong_value(f"the ranks per node must be from 1 to the {counted(asked.ranks, 'rank')}", each)
    whole, rest = divmod(asked.ranks, each)
    if rest and whole >= MOST_UNEQUAL:
        raise wrong_value(f"there can be at most {MOST_UNEQUAL} nodes if the last has fewer ranks", whole + 1)
    return [each] * whole + [rest] * (rest > 0)


def moves_data(collective: str) -> bool:
    """Whether it has a length: a barrier has none."""
    return _schedule.meaning(collective).moves_data


def rank_space(asked: Ranks) -> _topology.RankSpace:
    if asked.ranks is not None and not 1 <= asked.ranks <= MOST_RANKS:
        raise wrong_value(f"the number of ranks must be from 1 to {MOST_RANKS}", asked.ranks)
    if isinstance(asked.ranks_per_node, int) and asked.ranks_per_node < 1:
        raise wrong_value("a node must have at least 1 rank", asked.ranks_per_node, "leave --ranks-per-node out for 1")
    if asked.shape is None or asked.shape == "none":
        return _row(asked)
    if asked.shape.partition(":")[0] == "node":
        return _node(asked, asked.shape)
    return _box(asked, _topology.Shape.parse(asked.shape))


def _row(asked: Ranks) -> _topology.RankSpace:
    each = asked.ranks_per_node
    if asked.shape == "none" and each != 1:
        raise wrong_value("ranks on nodes have a shape", "--shape none and --ranks-per-node", "leave one of them out")
    if isinstance(each, tuple):
        return _topology.RankSpace.of_nodes(node_sizes(asked))
    if asked.ranks is None:
        raise missing("the shape or the number of ranks", "add --shape 4x3x2, or --ranks 24 for ranks without a shape")
    if each == 1:
        return _topology.RankSpace.row(asked.ranks)
    if each is not None and asked.ranks % each == 0:
        nodes = _topology.Shape.parse(f"{asked.ranks // each}m")
        return _box(asked, nodes) if nodes.places > 1 else _topology.RankSpace.node(asked.ranks)
    return _topology.RankSpace.of_nodes(node_sizes(asked))


def _node(asked: Ranks, shape: str) -> _topology.RankSpace:
    number = shape.partition(":")[2]
    if number and not number.isdecimal():
        raise wrong_value("a node must be written node:4, with its number of ranks", f"'{shape}'")
    each = asked.ranks_per_node
    if isinstance(each, tuple):
        raise wrong_value("one node has one number of ranks", f"{len(each)} numbers", "leave --shape out")
    each = 1 if each is None else each
    ranks = int(number) if number else asked.ranks or (each if each > 1 else None)
    if ranks is None:
        raise missing("the number of ranks on the node", "write node:4")
    if not 1 <= ranks <= MOST_RANKS or (asked.ranks or ranks) != ranks or each not in (1, ranks):
        given = [shape] if number else []
        given += [] if asked.ranks is None else [counted(asked.ranks, "rank")]
        given += [] if each == 1 else [f"{counted(each, 'rank')} a node"]
        raise wrong_value(f"the node must have one number of ranks, from 1 to {MOST_RANKS}", ", ".join(given))
    return _topology.RankSpace.node(ranks)


def _box(asked: Ranks, shape: _topology.Shape) -> _topology.RankSpace:
    each = asked.ranks_per_node
    if isinstance(each, tuple) and len(each) != shape.places:
        rule = f"--ranks-per-node must list the ranks of all {shape.places} nodes of {shape}"
        raise wrong_value(rule, f"{len(each)} numbers")
    if isinstance(each, tuple) and min(each) == max(each):
        return _box(Ranks(str(shape), asked.ranks, each[0]), shape)
    if isinstance(each, tuple):
        return _topology.RankSpace.of_nodes(node_sizes(asked))
    each = 1 if each is None else each
    if asked.ranks and asked.ranks % each and -(-asked.ranks // each) == shape.places:
        return _topology.RankSpace.of_nodes(node_sizes(asked))
    ranks = shape.places * each
    if asked.ranks is not None and asked.ranks != ranks:
        raise wrong_value(
            f"the shape must hold {counted(asked.ranks, 'rank')}{f' / {each} a node' if each > 1 else ''}",
            f"{shape} with {counted(shape.places, 'node')}",
            f"give a --shape of {counted(-(-asked.ranks // each), 'node')}",
        )
    if ranks > MOST_RANKS:
        raise wrong_value(f"there can be at most {MOST_RANKS} ranks", f"{shape.places} nodes x {each} ranks")
    return _topology.RankSpace.box(shape, each)


def about_nodes(ranks_per_node: int | Sequence[int] | None, space: _topology.RankSpace) -> JsonObject:
    """As results tell it: `ranks_per_node`, or 0 and `node_sizes` where nodes have unequal numbers of ranks."""
    if not space.node_sizes:
        return {"ranks_per_node": ranks_per_node[0] if isinstance(ranks_per_node, Sequence) else ranks_per_node}
    return {"ranks_per_node": 0, "node_sizes": space.node_sizes}


def collective(asked: CollectiveArguments, space: _topology.RankSpace) -> _schedule.Collective:
    """The collective on these ranks. Numbers beyond 64 bits are refused here, all others by the native side."""
    listed = is_listed(asked.counts)
    if listed and (asked.count, asked.bytes) != (None, None):
        raise wrong_value(
            "--counts with a list already gives the length", "--count or --bytes too", "leave one of them out"
        )
    regular = _schedule.Collective(
        asked.collective,
        space.ranks,
        0 if listed else elements(asked),
        asked.type,
        asked.operation,
        within("the root", asked.root, 31),
        asked.in_place,
    )
    regular = _with_neighbours(regular, asked.neighbours, space)
    if asked.counts is None:
        return regular
    if listed:
        return regular.with_counts(listed_counts(asked.counts, asked.type, space.ranks))
    return regular.with_counts(regular.spread_counts(asked.counts))


def _with_neighbours(
    regular: _schedule.Collective, asked: str | None, space: _topology.RankSpace
) -> _schedule.Collective:
    if regular.neighbours is None and asked is not None:
        raise wrong_value(
            "only neighbor_allgather and neighbor_alltoall have neighbours", regular.kind, "leave --neighbours out"
        )
    if regular.neighbours is None:
        return regular
    if asked is None:
        return _collectives.with_neighbours(regular, f"cart:{space.shape}") if space.has_shape else regular
    return _collectives.with_neighbours(regular, asked)


def neighbours_named(text: str | None) -> str | None:
    """`graph:FILE` as the edges that the file lists, `from to` a line; the other names (`cart:4x3m`, `random:7`,
    `edges:0>1,1>0`) as they are."""
    family, _, name = (text or "").partition(":")
    if family != "graph":
        return text
    if not name:
        raise missing("the path after graph:", "write for example graph:edges.txt")
    lines = files.read_text(Path(name), "the list of edges").splitlines()
    edges = [words for words in (line.partition("#")[0].split() for line in lines) if words]
    wrong = next((words for words in edges if len(words) != 2 or not all(map(str.isdecimal, words))), None)
    if wrong is not None:
        raise wrong_value(f"each line of {name} must be two ranks, from and to", f"'{' '.join(wrong)}'")
    return "edges:" + ",".join(f"{from_}>{to}" for from_, to in edges)


def is_listed(counts: str | None) -> bool:
    """Whether irregular counts are given one by one."""
    return counts is not None and counts[:1].isdecimal()


def listed_counts(counts: str, type_: str, ranks: int) -> list[int]:
    """`0,5,1MiB`: elements, or bytes where there is a unit. `1,2/3,4`: a row for each rank, which alltoall has."""
    rows = counts.split("/")
    if len(rows) > 1 and [row.count(",") + 1 for row in rows] != [ranks] * ranks:
        rule = (
            f"--counts with slashes must have a row for each of the {ranks} ranks, with {counted(ranks, 'count')} each"
        )
        raise wrong_value(rule, counts)
    return [_count(word, type_) for row in rows for word in row.split(",")]


def _count(word: str, type_: str) -> int:
    if re.fullmatch(r"\s*-?[0-9]+\s*", word):
        if int(word) < 0:
            raise wrong_value("a count of --counts must be at least 0", f"'{word}'")
        return within("a count", int(word), 63)
    return _elements_in(parse_size(word, 0), type_)


def elements(asked: CollectiveArguments) -> int:
    """The length of the data, in elements of its type; 0 of a barrier, whatever is asked."""
    if not moves_data(asked.collective):
        return 0
    if asked.count is not None and asked.bytes is not None:
        raise wrong_value("the length must be given once", "--count and --bytes", "leave one of them out")
    if asked.count is not None:
        return within("the count", asked.count, 63)
    if asked.bytes is None:
        raise missing("the length of the data", "add --bytes 1MiB or --count 1000")
    return _elements_in(asked.bytes, asked.type)


def _elements_in(size: int, type_: str) -> int:
    each = _schedule.type_bytes(type_)
    if each == 0:
        raise wrong_value("the element type must have a known size", type_, "choose another type")
    if size % each:
        raise wrong_value(
            f"the bytes must be a multiple of {each}, the size of one {type_}", size, "change it, or give --type uint8"
        )
    return size // each


def about_collective(of: _schedule.Collective) -> JsonObject:
    """The members of results that only some collectives have."""
    about: dict[str, object] = {}
    if of.reduces:
        about["operation"] = of.operation
    if of.has_root:
        about["root"] = of.root
    if of.neighbours is not None:
        about["neighbours"] = of.neighbours
    return about


def variants(kind: str, algorithm: str = ALL) -> list[_collectives.Variant]:
    """The algorithms of a collective that are asked for: one by name, or all. There is at least one."""
    found = _collectives.variants(kind) if algorithm == ALL else []
    return found or [_collectives.find(kind, algorithm)]


def parameters(**given: object) -> _collectives.Parameters:
    """The parameters of an algorithm, by the names of parameters.def; what is None takes its default."""
    for name, value in given.items():
        if isinstance(value, int):
            within(name, value, 63)
    return _collectives.Parameters(**{name: value for name, value in given.items() if value is not None})


def of_simulator_alone(given: Iterable[str]) -> list[str]:
    """The names of those parameters that an execution does not heed."""
    declared = {each.name for each in _collectives.declared_parameters() if each.tuning_scope == "simulator"}
    return [name for name in given if name in declared]


def parameters_of(text: str) -> JsonObject:
    """A schedule's parameters, written "trees=3 overlap", by name."""
    named = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        named[name] = (int(value) if value.isdecimal() else value) if equals else True
    return named


def parameters_text(named: JsonObject) -> str:
    return " ".join(name if value is True else f"{name}={value}" for name, value in named.items())


def rank_of(number: int, ranks: int) -> int:
    if not 0 <= number < ranks:
        raise wrong_value(f"a rank must be from 0 to {ranks - 1}", number)
    return number


def within(what: str, number: int, bits: int) -> int:
    if not -(2**bits) <= number < 2**bits:
        raise wrong_value(f"{what} must fit in {bits + 1} bits", number)
    return number
