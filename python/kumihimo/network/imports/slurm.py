"""Machines from Slurm's topology.conf and topology.yaml: trees of switches, blocks, rings, 3D tori.

Both say which nodes hang on which switch and no more. How many cables lead up is assumed: as many as nodes below,
shared among the switches above. Parts that nothing joins are joined by a switch that is assumed, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo import _machine
from kumihimo.network.imports import ImportedNetwork, toml_text
from kumihimo.text.errors import BadInput, wrong_value
from kumihimo.text.quantities import counted

MOST_NODES = 2**20
MOST_NAMES = 4 * MOST_NODES  # of all host lists of a file, about 60 bytes each
MOST_SWITCHES = 4096  # as topology/graph.cpp
PLURALS = {"SwitchName": "switches", "BlockName": "blocks", "RingName": "rings"}


@dataclass
class Switch:
    name: str
    where: str  # file and line
    nodes: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)

    def wrong(self, rule: str, found: object = None, advice: str = "") -> BadInput:
        return wrong_value(f"{self.where}: {rule}", found, advice)


def read_conf(text: str, source: str, folder: Path | None = None) -> ImportedNetwork:
    """topology.conf. `folder`: of the files that it includes."""
    from kumihimo.network.imports.slurm_conf import ConfReader

    found: dict[str, list[Switch]] = {kind: [] for kind in PLURALS}
    lists = HostLists()
    for kind, fields, where in ConfReader(folder).lines(text, source):
        if kind == "BlockSizes":
            for size in fields[kind].split(","):
                _count(size, "a size of blocks", where)
            continue
        for key in ("LinkSpeed", "Level", "BlockIndex", "BlockSize"):
            if key in fields:
                _count(fields[key], key, where)
        nodes, children = (lists.read(fields[k], where) if k in fields else [] for k in ("Nodes", "Switches"))
        if children and "Level" in fields:  # `scontrol show topology` lists all nodes below
            nodes = []
        if kind == "AggregatedBlock":
            continue
        name = fields[kind]
        names = lists.read(name, where) if "[" in name else [name]
        if (count := len(found[kind]) + len(names)) >= MOST_SWITCHES:  # one more may join them
            raise wrong_value(f"{where}: the file must have fewer than {MOST_SWITCHES} {PLURALS[kind]}", count)
        lists.count((len(names) - 1) * (len(nodes) + len(children)), where)  # each switch has all of them
        found[kind] += [Switch(name, where, nodes, children) for name in names]
    if found["RingName"]:
        if found["SwitchName"] or found["BlockName"]:
            raise found["RingName"][0].wrong("the file must describe rings, or switches and blocks", "both")
        return ring(found["RingName"], source)
    return network(found["SwitchName"], found["BlockName"], source)


def _count(text: str, what: str, where: str) -> None:
    if re.fullmatch(r"[0-9]{1,10}", text.strip()) is None:
        raise wrong_value(f"{where}: {what} must be a whole number", f"'{text}'")


def named(names: list[str]) -> list[str]:
    """The line of a machine file that names its nodes."""
    return [f"node_names = {toml_text(_machine.host_list(names))}"] if names else []


def times(lengths: Iterable[int]) -> str:
    return "x".join(map(str, lengths))


def ring(rings: list[Switch], source: str) -> ImportedNetwork:
    if not rings:
        raise wrong_value(f"{source}: the file must have one ring, as a machine does", "none", "add it")
    if len(rings) > 1:
        raise rings[1].wrong("the file must have one ring, as a machine does", len(rings), "keep one of them")
    _check_nodes(rings, rings[0].where)
    nodes = rings[0].nodes
    return ImportedNetwork(
        ['family = "torus"', f'shape = "{len(nodes)}"', *named(nodes)], f"Slurm ring of {counted(len(nodes), 'node')}"
    )


def torus(dims: tuple[int, int, int], node_in: dict[int, str]) -> ImportedNetwork:
    """`node_in`: the names by cell, x fastest; none: the nodes have no names."""
    shape = times(reversed(dims))  # nodes run along x first, as they do along our last axis
    cells = math.prod(dims)
    names = [node_in[cell] for cell in sorted(node_in)]
    if len(set(names)) != len(names):
        raise wrong_value("each node must be at one place of the torus", f"'{_twice(names)}' twice")
    if len(names) in (0, cells):
        return ImportedNetwork(['family = "torus"', f'shape = "{shape}"', *named(names)], f"Slurm torus {shape}")
    if cells > MOST_SWITCHES:
        raise wrong_value(f"a torus with places without nodes must have at most {MOST_SWITCHES} places", cells)
    router = len(names)
    edges = [f"{node}-{router + cell} node" for node, cell in enumerate(sorted(node_in))]
    stride = 1
    for length in dims:
        for cell in range(cells):
            at = cell // stride % length
            if at + 1 < length or length > 2:
                edges.append(f"{router + cell}-{router + cell + ((at + 1) % length - at) * stride} torus")
        stride *= length
    remark = (
        f"Approximated: {cells - len(names)} of the {cells} places of the torus have no node. So each place is a "
        "router, each node has a cable to its own, and messages take a shortest way."
    )
    lines = graph_lines(len(names), cells, edges) + named(names)
    return ImportedNetwork(lines, f"Slurm torus {shape} with {counted(len(names), 'node')}", remarks=[remark])


def graph_lines(nodes: int, switches: int, edges: list[str]) -> list[str]:
    head = ['family = "graph"', f"nodes = {nodes}", f"switches = {switches}", "edges = ["]
    return [*head, *[f'    "{edge}",' for edge in edges], "]"]


def network(switches: list[Switch], blocks: list[Switch], source: str) -> ImportedNetwork:
    remarks = ["Assumed: a switch has as many uplinks as nodes below it (the file does not say)."]
    if switches and blocks:
        remarks.append("The file has switches and blocks, two views of the same network; the blocks are left out.")
    elif not switches and not blocks:
        raise wrong_value(f"{source}: the file must describe switches or blocks", "neither")
    kind = "tree" if switches else "blocks"
    switches = switches or blocks
    if len(switches) >= MOST_SWITCHES:  # one more may join them
        raise wrong_value(f"{source}: the file must have fewer than {MOST_SWITCHES} switches", len(switches))
    by_name = _by_name(switches)
    order = _from_the_top(switches, by_name)
    number_of = _check_nodes(order, source)
    above: dict[str, list[str]] = {s.name: [] for s in order}
    for s in order:
        for child in s.children:
            above[child].append(s.name)
    below = _nodes_below(order)
    parts = _parts(order, above, below)
    top = Switch("", source)
    if len(parts) > 1:
        order.append(top)
        what = "the blocks" if kind == "blocks" else f"the {len(parts)} parts of the file that nothing joins"
        remarks.append(f"Assumed: one switch joins {what}.")
        for roots in parts:
            top.children += roots
            above.update({root: [""] for root in roots})
    share = {root: len(roots) for roots in parts for root in roots}
    if any(len(parents) > 1 for parents in above.values()):
        remarks.append("Assumed: a switch below several others shares its uplinks evenly among them.")
    if sum(len(s.nodes) for s in order) > len(number_of):
        remarks.append("Nodes on several switches have a cable to each.")
    place = {s.name: len(number_of) + i for i, s in enumerate(order)}
    edges = []
    for s in order:
        edges += [f"{nodes}-{place[s.name]} node" for nodes in _ranges(sorted(number_of[n] for n in s.nodes))]
        for child in s.children:
            if below[child]:
                ways = share[child] if s is top else len(above[child])
                edges.append(f"{place[child]}-{place[s.name]} uplink x{-(-below[child] // ways)}")
    tree = counted(len(blocks), "block") if kind == "blocks" else f"a tree of {counted(len(switches), 'switch')}"
    summary = f"Slurm cluster of {counted(len(number_of), 'node')}, {tree}"
    return ImportedNetwork(
        graph_lines(len(number_of), len(order), edges) + named(list(number_of)), summary, remarks=remarks
    )


def _by_name(switches: list[Switch]) -> dict[str, Switch]:
    by_name: dict[str, Switch] = {}
    for s in switches:
        if s.name in by_name:
            raise s.wrong("each switch must be described once", f"'{s.name}' as in {by_name[s.name].where}")
        by_name[s.name] = s
    for s in switches:
        if s.nodes and s.children:
            raise s.wrong("a switch must have nodes or switches below it, as in Slurm", f"both of '{s.name}'")
        for child in s.children:
            if child not in by_name:
                raise s.wrong("every switch below another must be described", f"'{child}', which is not")
        if len(set(s.children)) != len(s.children):
            raise s.wrong("a switch must be named once below another", f"'{_twice(s.children)}' twice below '{s.name}'")
    return by_name


def _check_nodes(switches: list[Switch], where: str) -> dict[str, int]:
    """The number of each node: those of a switch and its subtrees side by side."""
    number_of: dict[str, int] = {}
    for s in switches:
        if len(set(s.nodes)) != len(s.nodes):
            raise s.wrong("a node must be named once on a switch", f"'{_twice(s.nodes)}' twice on '{s.name}'")
        for node in s.nodes:
            number_of.setdefault(node, len(number_of))
        if len(number_of) > MOST_NODES:
            break
    if not 0 < len(number_of) <= MOST_NODES:
        raise wrong_value(f"{where}: the file must have 1 to {MOST_NODES} nodes", len(number_of) or "none")
    return number_of


def _from_the_top(switches: list[Switch], by_name: dict[str, Switch]) -> list[Switch]:
    """Each switch once, before those below it that nothing else named before."""
    lower = {child for s in switches for child in s.children}
    order: dict[str, Switch] = {}
    stack = [s for s in reversed(switches) if s.name not in lower]
    while stack:
        s = stack.pop()
        if s.name not in order:
            order[s.name] = s
            stack += [by_name[child] for child in reversed(s.children)]
    circle = _circle(switches, by_name)
    if circle:
        shown = circle if len(circle) <= 4 else [*circle[:3], "...", circle[-1]]
        found = " below ".join(name if name == "..." else f"'{name}'" for name in [*shown, circle[0]])
        raise by_name[circle[0]].wrong("no switch may be below itself", f"a cycle: {found}")
    return list(order.values())


def _circle(switches: list[Switch], by_name: dict[str, Switch]) -> list[str]:
    """Switches each of which is below the next one; none in a tree."""
    left = {s.name: len(s.children) for s in switches}
    above: dict[str, list[str]] = {s.name: [] for s in switches}
    for s in switches:
        for child in s.children:
            above[child].append(s.name)
    done = [name for name, count in left.items() if count == 0]
    while done:
        for parent in above[done.pop()]:
            left[parent] -= 1
            if left[parent] == 0:
                done.append(parent)
    way = [name for name, count in left.items() if count > 0][:1]
    while way and (lower := next(child for child in by_name[way[-1]].children if left[child] > 0)) not in way:
        way.append(lower)
    return [lower, *reversed(way[way.index(lower) + 1 :])] if way else []


def _nodes_below(order: list[Switch]) -> dict[str, int]:
    """Number of nodes below each switch, each node once."""
    leaves = [s for s in order if s.nodes]
    bit = {s.name: 1 << i for i, s in enumerate(leaves)}
    of_switch: dict[str, int] = {}
    pending = list(reversed(order))
    while pending:
        later = []
        for s in pending:
            if all(child in of_switch for child in s.children):
                of_switch[s.name] = bit.get(s.name, 0)
                for child in s.children:
                    of_switch[s.name] |= of_switch[child]
            else:
                later.append(s)
        pending = later
    return {name: sum(len(leaves[i].nodes) for i in _bits(mask)) for name, mask in of_switch.items()}


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _parts(order: list[Switch], above: dict[str, list[str]], below: dict[str, int]) -> list[list[str]]:
    """The uppermost switches of each part of the network that has nodes."""
    part = {s.name: s.name for s in order}

    def head(name: str) -> str:
        while part[name] != name:
            part[name] = name = part[part[name]]
        return name

    for s in order:
        for child in s.children:
            part[head(child)] = head(s.name)
    roots: dict[str, list[str]] = {}
    for s in order:
        if not above[s.name] and below[s.name]:
            roots.setdefault(head(s.name), []).append(s.name)
    return list(roots.values())


def _ranges(numbers: list[int]) -> list[str]:
    texts: list[str] = []
    first = 0
    for i, number in enumerate(numbers):
        if i + 1 == len(numbers) or numbers[i + 1] != number + 1:
            texts.append(f"{numbers[first]}..{number}")
            first = i + 1
    return texts


def _twice(names: list[str]) -> str:
    """The first that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    raise ValueError("each name is there once")


class HostLists:
    """Reads the host lists of one file. A short line can have a million names, so all lists share one limit."""

    def __init__(self) -> None:
        self._names = 0

    def read(self, text: str, where: str) -> list[str]:
        names = hosts(text, where)
        self.count(len(names), where)
        return names

    def count(self, names: int, where: str) -> None:
        self._names += names
        if self._names > MOST_NAMES:
            raise wrong_value(f"{where}: the host lists of a file must have at most {MOST_NAMES} names", self._names)


def hosts(text: str, where: str = "") -> list[str]:
    """The names of a host list: n[01-03,7],login1; blanks separate names as commas do. `where` it is written is said
    with what is wrong."""
    separated = re.sub(r"\[[^\]]*\]?|\s+", lambda part: part[0] if part[0][0] == "[" else ",", text.strip())
    try:
        return _machine.parse_host_list(separated)
    except BadInput as error:
        if not where:
            raise
        raise BadInput(f"{where}: {error.problem}", error.advice) from None
