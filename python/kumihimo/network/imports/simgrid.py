"""SimGrid's platforms: one cluster with a topology, or zones of hosts whose routes list links (simgrid_zones.py)."""

from __future__ import annotations

from itertools import combinations
from math import comb, prod

from kumihimo.network.imports import ImportedNetwork, simgrid_zones
from kumihimo.network.imports import simgrid_units as units
from kumihimo.network.imports.simgrid_platform import check_plain, has_routes_of_links, modern
from kumihimo.network.imports.slurm import MOST_SWITCHES, graph_lines, times
from kumihimo.text.documents import XmlElement
from kumihimo.text.quantities import counted

TOPOLOGY = "topo_parameters"
MOST_EDGES = 2**20  # of routers, 100 bytes each


def read(root: XmlElement) -> ImportedNetwork:
    modern(root)
    units.check_attributes(root)
    clusters = list(root.iter("cluster"))
    alone = len(clusters) == 1 and next(root.iter("host"), None) is None
    plain = alone and not has_routes_of_links(clusters[0])
    network = _cluster(clusters[0]) if plain else simgrid_zones.read(root)
    if next(root.iter("config"), None) is not None:
        network.remarks.append("The <config> of the file, which is of SimGrid's models, is left out.")
    return network


def _cluster(cluster: XmlElement) -> ImportedNetwork:
    nodes = len(units.radical(cluster))
    kind, words = cluster.get("topology", "FLAT").upper(), cluster.get("topo_parameters")
    check_plain(cluster)
    numbers = _link_numbers(cluster)
    if cluster.get("core"):
        numbers["node", "cores"] = str(cluster.fields["core"].count("core="))
    make = {"TORUS": _torus, "FAT_TREE": _fat_tree, "DRAGONFLY": _dragonfly, "FLAT": _flat}.get(kind)
    if make is None:
        raise cluster.value.wrong("topology= must be TORUS, FAT_TREE, DRAGONFLY or FLAT", kind)
    lines, places = make(words, nodes, cluster)
    if places != nodes:
        raise cluster.value.wrong(f"radical= must have {places} nodes, as {kind} {words} has", nodes)
    remarks = units.remarks_on([units.latency(cluster, "lat")])
    return ImportedNetwork(lines, f"SimGrid {kind.lower()} of {counted(nodes, 'node')}", numbers, remarks)


def _torus(words: str, nodes: int, cluster: XmlElement) -> tuple[list[str], int]:
    lengths = list(reversed(units.counts(cluster, TOPOLOGY, words)))  # the first runs fastest there, the last here
    return ['family = "torus"', f'shape = "{times(lengths)}"'], prod(lengths)


def _fat_tree(words: str, nodes: int, cluster: XmlElement) -> tuple[list[str], int]:
    levels, *lists = [units.counts(cluster, TOPOLOGY, part) for part in words.split(";")]
    if len(levels) != 1 or len(lists) != 3 or any(len(counts) != levels[0] for counts in lists):
        raise cluster.value.wrong(
            "topo_parameters= of a fat tree must be its levels and three lists of as many counts",
            f"'{words}'",
        )
    children, parents, cables = lists
    keys = [f'arity = "{times(children)}"', f'parents = "{times(parents)}"', f'cables = "{times(cables)}"']
    return ['family = "fat_tree"', *keys], prod(children)


def _dragonfly(words: str, nodes: int, cluster: XmlElement) -> tuple[list[str], int]:
    """Cray's: routers of a chassis are joined by green links, those at the same place of a group's chassis by black
    ones, router j of group i and router i of group j by blue ones."""
    parts = [units.counts(cluster, TOPOLOGY, part) for part in words.split(";")]
    if [len(p) for p in parts] != [2, 2, 2, 1]:
        raise cluster.value.wrong(
            "topo_parameters= of a dragonfly must be groups,links;chassis,links;routers,links;nodes",
            f"'{words}'",
        )
    (groups, blue), (chassis, black), (blades, green), (each,) = parts
    of_group = chassis * blades
    if groups > of_group:
        raise cluster.value.wrong(
            f"a dragonfly must have at most as many groups as a group has routers, {of_group}", groups
        )
    count = groups * of_group * each
    if count > units.MOST_NODES or groups * of_group > MOST_SWITCHES:
        raise cluster.value.wrong(
            f"a dragonfly must have at most {MOST_SWITCHES} routers and {units.MOST_NODES} nodes", f"'{words}'"
        )
    joined = groups * (chassis * comb(blades, 2) + blades * comb(chassis, 2)) + comb(groups, 2)
    if joined > MOST_EDGES:
        raise cluster.value.wrong(f"a dragonfly must have at most {MOST_EDGES} pairs of joined routers", joined)
    edges = [f"{r * each}..{(r + 1) * each - 1}-{count + r}" for r in range(groups * of_group)]
    for g in range(groups):
        base = count + g * of_group
        for c in range(chassis):
            edges += [
                f"{base + c * blades + i}-{base + c * blades + j} green x{green}"
                for i, j in combinations(range(blades), 2)
            ]
        for b in range(blades):
            edges += [
                f"{base + i * blades + b}-{base + j * blades + b} black x{black}"
                for i, j in combinations(range(chassis), 2)
            ]
    edges += [
        f"{count + i * of_group + j}-{count + j * of_group + i} blue x{blue}" for i, j in combinations(range(groups), 2)
    ]
    return graph_lines(count, groups * of_group, edges), count


def _flat(words: str, nodes: int, cluster: XmlElement) -> tuple[list[str], int]:
    return graph_lines(nodes, 1, [f"0..{nodes - 1}-{nodes}"]), nodes


def _link_numbers(cluster: XmlElement) -> dict[tuple[str, str], str]:
    rate = f'"{units.written(units.rate(cluster, "bw"))} B/s"'
    numbers = {("network", "link_bandwidth"): rate, ("network", "link_peak"): rate}
    latency = max(units.SMALLEST, units.latency(cluster, "lat"))
    numbers["network", "hop_latency"] = f'"{units.written(latency)} ns"'
    return numbers
