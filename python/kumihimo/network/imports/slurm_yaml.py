"""Slurm's topology.yaml: trees of switches, blocks, rings and 3D tori."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kumihimo.network.imports import ImportedNetwork, slurm
from kumihimo.network.imports.slurm import HostLists, Switch
from kumihimo.text import documents
from kumihimo.text.documents import Value
from kumihimo.text.errors import wrong_value

KINDS = ("tree", "block", "ring", "torus3d", "flat")
AXES = ("x", "y", "z")
LONGEST_AXIS = 65535


def read(text: str, source: str) -> ImportedNetwork:
    """The topology that is the cluster's default, or the first."""
    document = documents.read_yaml(text, source, "the file must be YAML, as Slurm's topology.yaml is")
    topologies = document.items("the file, which lists topologies,")
    if not topologies:
        raise wrong_value(f"{source}: the file must be a list of topologies", "none")
    keys = ("topology", "cluster_default", *KINDS)
    described = [each.fields("a topology", keys, ["topology"]) for each in topologies]
    default = [
        each for each in described if "cluster_default" in each and each["cluster_default"].flag("cluster_default")
    ]
    chosen = (default or described)[0]
    name, where = chosen["topology"].text("topology"), chosen["topology"].where
    kinds = [kind for kind in KINDS if kind in chosen]
    if "flat" in kinds and isinstance(chosen["flat"].content, str) and not chosen["flat"].flag("flat"):
        kinds.remove("flat")
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        raise wrong_value(f"{where}: a topology must have one of {', '.join(KINDS)}", f"{found} in '{name}'")
    value, lists = chosen[kinds[0]], HostLists()
    if kinds[0] == "tree":
        switches = list(_listed(value.fields("tree", ["switches"], ["switches"])["switches"], "switches"))
        return slurm.network([_switch(s, lists) for s in switches], [], source)
    if kinds[0] == "block":
        return _blocks(value, source, lists)
    if kinds[0] == "ring":
        return _ring(value, source, lists)
    if kinds[0] == "torus3d":
        return _torus(value, lists)
    raise wrong_value(
        f"{where}: a flat topology does not say how nodes are joined",
        f"'{name}'",
        "write cluster_default: true in the topology to import",
    )


def _listed(value: Value, what: str) -> Iterator[Value]:
    """Slurm takes one object instead of a list of one."""
    yield from [value] if isinstance(value.content, dict) else value.items(what)


def _names(fields: dict[str, Value], key: str, lists: HostLists) -> list[str]:
    return lists.read(fields[key].text(key), fields[key].where) if key in fields else []


def _switch(value: Value, lists: HostLists) -> Switch:
    fields = value.fields("a switch", ("switch", "nodes", "children"), ["switch"])
    nodes, children = (_names(fields, key, lists) for key in ("nodes", "children"))
    return Switch(fields["switch"].text("switch"), value.where, nodes, children)


def _blocks(value: Value, source: str, lists: HostLists) -> ImportedNetwork:
    of_block = value.fields("block", ("block_sizes", "blocks"), ["blocks"])
    if "block_sizes" in of_block:
        for size in of_block["block_sizes"].items("block_sizes"):
            size.count("a size of blocks")
    blocks = []
    for each in _listed(of_block["blocks"], "blocks"):
        fields = each.fields("a block", ("block", "nodes"), ["block"])
        blocks.append(Switch(fields["block"].text("block"), each.where, _names(fields, "nodes", lists)))
    return slurm.network([], blocks, source)


def _ring(value: Value, source: str, lists: HostLists) -> ImportedNetwork:
    rings = list(_listed(value.fields("ring", ["rings"], ["rings"])["rings"], "rings"))
    fields = [each.fields("a ring", ("ring", "nodes"), ("ring", "nodes")) for each in rings]
    switches = [Switch(f["ring"].text("ring"), f["ring"].where, _names(f, "nodes", lists)) for f in fields]
    return slurm.ring(switches, source)


def _axes(value: Value, what: str, least: int) -> tuple[int, int, int]:
    fields = value.fields(what, AXES, AXES)
    x, y, z = (fields[axis].count(f"{axis} of {what}", least) for axis in AXES)
    lengths = (x, y, z)
    if max(lengths) > LONGEST_AXIS:
        raise value.wrong(f"{what} must be at most {LONGEST_AXIS}", "x".join(map(str, lengths)))
    return lengths


def _torus(value: Value, lists: HostLists) -> ImportedNetwork:
    tori = list(_listed(value.fields("torus3d", ["toruses"], ["toruses"])["toruses"], "toruses"))
    if len(tori) != 1:
        raise value.wrong("the topology must have one torus, as a machine does", len(tori), "keep one of them")
    torus = tori[0].fields("a torus", ("name", "dims", "nodes", "regions", "placements"), ("name", "dims"))
    dims = _axes(torus["dims"], "dims", 1)
    if math.prod(dims) > slurm.MOST_NODES:
        raise torus["dims"].wrong(f"a torus must have at most {slurm.MOST_NODES} nodes", math.prod(dims))
    for placement in _listed(torus["placements"], "placements") if "placements" in torus else ():
        keys = ("dims", "anchor_seed", "anchor_spacing")
        for key, axes in placement.fields("a placement", keys, ["dims"]).items():
            _axes(axes, key, 0 if key == "anchor_seed" else 1)
    if "nodes" in torus and "regions" in torus:
        raise torus["regions"].wrong("a torus must have nodes or regions", "both", "leave one of them out")
    if "regions" in torus:
        return slurm.torus(dims, _in_regions(torus["regions"], dims, lists))
    names = _names(torus, "nodes", lists)
    if len(names) not in (0, math.prod(dims)):
        rule = f"nodes must name {math.prod(dims)} nodes, as a torus of {slurm.times(dims)} has"
        raise torus["nodes"].wrong(rule, len(names))
    return slurm.torus(dims, dict(enumerate(names)))


def _in_regions(regions: Value, dims: tuple[int, int, int], lists: HostLists) -> dict[int, str]:
    """The name of each node by its cell. x runs fastest, in a region as in the torus."""
    node_in: dict[int, str] = {}
    for region in _listed(regions, "regions"):
        fields = region.fields("a region", ("anchor", "dims", "nodes"), ("anchor", "dims", "nodes"))
        anchor, lengths = _axes(fields["anchor"], "anchor", 0), _axes(fields["dims"], "dims", 1)
        if any(a + length > whole for a, length, whole in zip(anchor, lengths, dims)):
            found = f"{slurm.times(lengths)} from {','.join(map(str, anchor))} on"
            raise region.wrong(f"a region must be within the torus of {slurm.times(dims)}", found)
        names = _names(fields, "nodes", lists)
        if len(names) != math.prod(lengths):
            rule = f"nodes must name {math.prod(lengths)} nodes, as a region of {slurm.times(lengths)} has"
            raise fields["nodes"].wrong(rule, len(names))
        for place, name in enumerate(names):
            x, rest = place % lengths[0], place // lengths[0]
            y, z = rest % lengths[1], rest // lengths[1]
            cell = anchor[0] + x + dims[0] * (anchor[1] + y + dims[1] * (anchor[2] + z))
            if cell in node_in:
                raise region.wrong("regions must not overlap", f"'{node_in[cell]}' and '{name}' at one place")
            node_in[cell] = name
    return node_in
