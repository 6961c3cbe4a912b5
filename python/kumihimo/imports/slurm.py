"""Slurm's topology.conf and topology.yaml: trees of switches, blocks, 3D tori.

Both say which nodes hang on which switch and no more. How many cables lead up is assumed: as many as nodes below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kumihimo import _machine
from kumihimo.errors import BadInput, wrong_value
from kumihimo.imports import Network
from kumihimo.quantities import counted

MOST_NODES = 2**20


@dataclass
class Switch:
    name: str
    nodes: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)


def read_conf(text: str, source: str) -> Network:
    """topology.conf: SwitchName= or BlockName= lines."""
    switches: list[Switch] = []
    blocks: list[Switch] = []
    for number, line in _numbered(text):
        words = line.partition("#")[0].split()
        keys = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                raise _wrong(source, number, f"'{word}'")
            keys[key.lower()] = value
        where = f"{source}:{number}"
        if "switchname" in keys:
            nodes, children = hosts(keys.get("nodes", ""), where), hosts(keys.get("switches", ""), where)
            switches += [Switch(name, nodes, children) for name in hosts(keys["switchname"], where)]
        elif "blockname" in keys:
            blocks.append(Switch(keys["blockname"], hosts(keys.get("nodes", ""), where)))
        elif keys and "blocksizes" not in keys:
            raise _wrong(source, number, f"'{line.strip()}'")
    return _network(switches, blocks, source)


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines, each with the number of its first: a backslash at its end joins the next one to it."""
    number = 1
    for line in re.findall(r"(?:[^\n]*\\\n)*[^\n]*\n?", text):
        yield number, line.replace("\\\n", " ")
        number += line.count("\n")


def _wrong(source: str, number: int, found: str) -> BadInput:
    return wrong_value(
        f"{source}:{number}: a line must be SwitchName= with Nodes= or Switches=, BlockName= with Nodes=, or "
        "BlockSizes=",
        found,
    )


def read_yaml(text: str, source: str) -> Network:
    """topology.yaml: the topology that is the cluster's default, or the first."""
    import yaml

    try:
        topologies = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}:{mark.line + 1}" if mark else source
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise wrong_value(f"{where}: the file must be YAML, as Slurm's topology.yaml is", problem) from None
    if not isinstance(topologies, list) or not all(isinstance(t, dict) for t in topologies) or not topologies:
        raise wrong_value(f"{source}: the file must be a list of topologies", type(topologies).__name__)
    chosen = next((t for t in topologies if t.get("cluster_default")), topologies[0])
    try:
        if "tree" in chosen:
            return _network([_switch(s, "switch", source) for s in chosen["tree"]["switches"]], [], source)
        if "block" in chosen:
            return _network([], [_switch(b, "block", source) for b in chosen["block"]["blocks"]], source)
        if "torus3d" in chosen:
            return _torus(chosen["torus3d"]["toruses"], source)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise wrong_value(f"{source}: the tree, blocks or 3D torus must have Slurm's format") from None
    raise wrong_value(f"{source}: a topology must have a tree, blocks or a 3D torus", ", ".join(map(str, chosen)))


def _switch(entry: dict, kind: str, source: str) -> Switch:
    nodes, children = (hosts(str(entry.get(key) or ""), source) for key in ("nodes", "children"))
    return Switch(str(entry[kind]), nodes, children)


def _torus(tori: list[dict], source: str) -> Network:
    if len(tori) != 1:
        raise wrong_value(f"{source}: the file must have one torus, as a machine does", len(tori))
    dims = tori[0]["dims"]
    lengths = [int(dims[axis]) for axis in "zyx"]  # nodes run along x first, as they do along our last axis
    shape = "x".join(map(str, lengths))
    names = hosts(str(tori[0].get("nodes") or ""), source)
    if len(names) not in (0, math.prod(lengths)):
        raise wrong_value(f"{source}: nodes: must name {math.prod(lengths)} nodes, as a torus {shape} has", len(names))
    return Network(['family = "torus"', f'shape = "{shape}"', *_named(names)], f"Slurm torus {shape}")


def _named(names: list[str]) -> list[str]:
    """The line of a machine file that names its nodes."""
    return [f'node_names = "{_machine.host_list(names)}"'] if names else []


def _network(switches: list[Switch], blocks: list[Switch], source: str) -> Network:
    if (switches and blocks) or not (switches or blocks):
        raise wrong_value(f"{source}: the file must describe switches or blocks", "both" if switches else "neither")
    if blocks:  # what joins them is not said
        top = Switch("", children=[b.name for b in blocks])
        switches = [top, *blocks]
    by_name = {s.name: s for s in switches}
    if len(by_name) != len(switches):
        raise wrong_value(
            f"{source}: each switch must be described once", f"'{_twice([s.name for s in switches])}' twice"
        )
    order = _from_the_top(switches, by_name, source)
    nodes = [node for s in order for node in s.nodes]
    if not nodes or len(nodes) > MOST_NODES:
        raise wrong_value(f"{source}: the switches must have 1 to {MOST_NODES} nodes", str(len(nodes)))
    if len(set(nodes)) != len(nodes):
        node = _twice(nodes)
        on = [s.name for s in order for n in s.nodes if n == node]
        found = f"'{node}' twice on '{on[0]}'" if on[0] == on[1] else f"'{node}' on '{on[0]}' and '{on[1]}'"
        advice = "name it once" if on[0] == on[1] else "describe rails by [topology] edges"
        raise wrong_value(f"{source}: each node must be on one switch", found, advice)
    number = {s.name: len(nodes) + i for i, s in enumerate(order)}
    below: dict[str, int] = {}
    for s in reversed(order):
        below[s.name] = len(s.nodes) + sum(below[child] for child in s.children)
    edges, first = [], 0
    for s in order:
        if s.nodes:
            edges.append(f"{first}..{first + len(s.nodes) - 1}-{number[s.name]} node")
        first += len(s.nodes)
        edges += [f"{number[c]}-{number[s.name]} uplink x{below[c]}" for c in s.children if below[c]]
    lines = ['family = "graph"', f"nodes = {len(nodes)}", f"switches = {len(order)}", "edges = ["]
    lines += [f'    "{edge}",' for edge in edges] + ["]"] + _named(nodes)
    kind = counted(len(blocks), "block") if blocks else f"a tree of {counted(len(order), 'switch')}"
    remark = "Assumed: a switch has as many uplinks as nodes below it (the file does not say)."
    joined = ["Assumed: one switch joins the blocks."] if blocks else []
    return Network(lines, f"Slurm cluster of {counted(len(nodes), 'node')}, {kind}", remarks=[remark, *joined])


def _from_the_top(switches: list[Switch], by_name: dict[str, Switch], source: str) -> list[Switch]:
    """Each switch before those below it, so that nodes of a switch and its subtrees are numbered side by side."""
    lower = [child for s in switches for child in s.children]
    for child in lower:
        if child not in by_name:
            raise wrong_value(f"{source}: every switch below another must be described", f"'{child}', which is not")
    if len(set(lower)) != len(lower):
        child = _twice(lower)
        above = [s.name for s in switches for c in s.children if c == child]
        found = f"'{child}' twice below '{above[0]}'" if above[0] == above[1] else None
        found = found or f"'{child}' below '{above[0]}' and '{above[1]}'"
        raise wrong_value(f"{source}: the switches must be a tree, each below one other", found)
    roots = [s for s in switches if s.name not in set(lower)]
    order: list[Switch] = []
    stack = list(reversed(roots))
    while stack:
        s = stack.pop()
        order.append(s)
        stack += [by_name[child] for child in reversed(s.children)]
    if len(order) != len(switches):
        raise wrong_value(f"{source}: the switches must be a tree", f"a cycle: {_circle(switches, order)}")
    if len(roots) > 1:
        raise wrong_value(
            f"{source}: the switches must be one tree",
            f"nothing above {roots[0].name} and {roots[1].name} that joins them",
            "add the switch that does",
        )
    return order


def _twice(names: list[str]) -> str:
    """The first that was there before."""
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))


def _circle(switches: list[Switch], reached: list[Switch]) -> str:
    """Those that no root is above have one above each, so that the way up ends in a circle."""
    above = {child: s.name for s in switches for child in s.children}
    known = {s.name for s in reached}
    way = [next(s.name for s in switches if s.name not in known)]
    while above[way[-1]] not in way:
        way.append(above[way[-1]])
    circle = way[way.index(above[way[-1]]) :]
    shown = circle if len(circle) <= 4 else [*circle[:3], "...", circle[-1]]
    return " below ".join(name if name == "..." else f"'{name}'" for name in [*shown, circle[0]])


def hosts(text: str, where: str = "") -> list[str]:
    """The names of a host list: n[01-03,7],login1. `where` it is written is said with what is wrong."""
    try:
        return _machine.parse_host_list(text)
    except BadInput as error:
        if not where:
            raise
        raise BadInput(f"{where}: {error.problem}", error.advice) from None
