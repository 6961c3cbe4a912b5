"""SimGrid's platforms: one cluster with a topology, or hosts, routers and links.

Of routes between hosts only those of one link are taken, as cables: a longer one lists links without saying what they
join.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

from kumihimo.errors import BadInput
from kumihimo.imports import Network

MOST_NODES = 2**20
_RATE = {"Bps": 1, "bps": 1 / 8}
_PREFIX = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_TIME = {"": 1e9, "s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}


def read(text: str, source: str) -> Network:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise BadInput(f"{source}: expected XML", str(error)) from None
    clusters = list(root.iter("cluster"))
    if len(clusters) > 1:
        raise BadInput(f"{source}: expected one cluster, since a machine is one", f"{len(clusters)}")
    return _cluster(clusters[0], source) if clusters else _graph(root, source)


def _cluster(cluster: ElementTree.Element, source: str) -> Network:
    nodes = len(_radical(_needed(cluster, "radical", source), source))
    kind, words = cluster.get("topology", "FLAT").upper(), cluster.get("topo_parameters", "")
    if cluster.get("bb_bw"):
        raise BadInput(
            f"{source}: expected a cluster without a backbone", "bb_bw", "describe the switches above its nodes"
        )
    numbers = _link_numbers(cluster, source)
    if cluster.get("core"):
        numbers["node", "cores"] = str(_count(cluster.get("core", ""), source))
    make = {"TORUS": _torus, "FAT_TREE": _fat_tree, "DRAGONFLY": _dragonfly, "FLAT": _flat}.get(kind)
    if make is None:
        raise BadInput(f"{source}: expected a topology of TORUS, FAT_TREE, DRAGONFLY or FLAT", kind)
    lines, places = make(words, nodes, source)
    if places != nodes:
        raise BadInput(f"{source}: expected as many nodes as {kind} {words} has, {places}", f"{nodes} in radical")
    return Network(lines, f"SimGrid {kind.lower()} of {nodes} nodes", numbers)


def _torus(words: str, nodes: int, source: str) -> tuple[list[str], int]:
    lengths = list(reversed(_counts(words, source)))  # the first runs fastest there, the last here
    return ['family = "torus"', f'shape = "{_times(lengths)}"'], _product(lengths)


def _fat_tree(words: str, nodes: int, source: str) -> tuple[list[str], int]:
    levels, *lists = [_counts(part, source) for part in words.split(";")]
    if len(lists) != 3 or any(len(counts) != levels[0] for counts in lists):
        raise BadInput(f"{source}: expected the levels of a fat tree and three lists of as many counts", f"'{words}'")
    children, parents, cables = lists
    keys = [f'arity = "{_times(children)}"', f'parents = "{_times(parents)}"', f'cables = "{_times(cables)}"']
    return ['family = "fat_tree"', *keys], _product(children)


def _dragonfly(words: str, nodes: int, source: str) -> tuple[list[str], int]:
    """Cray's: routers of a chassis are joined by green links, those at the same place of a group's chassis by black
    ones, router j of group i and router i of group j by blue ones."""
    parts = [_counts(part, source) for part in words.split(";")]
    if [len(p) for p in parts] != [2, 2, 2, 1]:
        raise BadInput(
            f"{source}: expected groups,links;chassis,links;routers,links;nodes of a dragonfly", f"'{words}'"
        )
    (groups, blue), (chassis, black), (blades, green), (each,) = parts
    of_group = chassis * blades
    if groups > of_group:
        raise BadInput(f"{source}: expected at most as many groups as a group has routers, {of_group}", f"{groups}")
    count = groups * of_group * each
    if count > MOST_NODES or groups * of_group > 4096:
        raise BadInput(f"{source}: expected a dragonfly of at most 4096 routers and {MOST_NODES} nodes", f"'{words}'")
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
    return _graph_lines(count, groups * of_group, edges), count


def _flat(words: str, nodes: int, source: str) -> tuple[list[str], int]:
    return _graph_lines(nodes, 1, [f"0..{nodes - 1}-{nodes}"]), nodes


def _graph(root: ElementTree.Element, source: str) -> Network:
    """Hosts and routers as vertices, links of routes between two of them as cables."""
    hosts = [_needed(h, "id", source) for h in root.iter("host")]
    routers = [_needed(r, "id", source) for r in root.iter("router")]
    number = {name: i for i, name in enumerate([*hosts, *routers])}
    if not hosts or len(number) != len(hosts) + len(routers):
        raise BadInput(f"{source}: expected a cluster, or hosts and routers of different names", f"{len(hosts)} hosts")
    links = {_needed(link, "id", source): link for link in root.iter("link")}
    edges, numbers, used = [], {}, {}
    for route in root.iter("route"):
        names = [_needed(c, "id", source) for c in route.iter("link_ctn")]
        ends = [_needed(route, key, source) for key in ("src", "dst")]
        if any(end not in number for end in ends) or any(name not in links for name in names):
            raise BadInput(
                f"{source}: expected routes between hosts and routers over links of the file", " to ".join(ends)
            )
        if len(names) != 1:
            raise BadInput(
                f"{source}: expected routes of one link, which is a cable between their ends",
                f"{len(names)} from {ends[0]} to {ends[1]}",
                "describe the cables as [topology] edges of a graph",
            )
        cable = (names[0], *sorted(number[end] for end in ends))
        if used.setdefault(names[0], cable) != cable:
            raise BadInput(f"{source}: expected each link between two ends", f"'{names[0]}' between others too")
    classes: dict[str, str] = {}
    for name, (_, a, b) in used.items():
        rate = f'"{_rate(_needed(links[name], "bandwidth", source), source):.0f} B/s"'
        link_class = classes.setdefault(rate, f"class{len(classes) + 1}")
        edges.append(f"{a}-{b} {link_class}")
        numbers["network", "link_bandwidth"] = numbers["network", "link_peak"] = max(classes, key=_value)
    numbers.update({("network", f"link_bandwidth_{c}"): rate for rate, c in classes.items()})
    latencies = {_latency(links[name].get("latency", "0"), source) for name in used}
    if len(latencies) == 1 and (latency := latencies.pop()) > 0:
        numbers["network", "hop_latency"] = f'"{latency:g} ns"'
    lines = _graph_lines(len(hosts), len(routers), edges)
    return Network(lines, f"SimGrid platform of {len(hosts)} hosts and {len(routers)} routers", numbers)


def _graph_lines(nodes: int, switches: int, edges: list[str]) -> list[str]:
    lines = ['family = "graph"', f"nodes = {nodes}", *([f"switches = {switches}"] if switches else []), "edges = ["]
    return [*lines, *[f'    "{edge}",' for edge in edges], "]"]


def _link_numbers(cluster: ElementTree.Element, source: str) -> dict[tuple[str, str], str]:
    rate = f'"{_rate(_needed(cluster, "bw", source), source):.0f} B/s"'
    numbers = {("network", "link_bandwidth"): rate, ("network", "link_peak"): rate}
    latency = _latency(_needed(cluster, "lat", source), source)
    if latency > 0:
        numbers["network", "hop_latency"] = f'"{latency:g} ns"'
    return numbers


def _value(rate: str) -> float:
    return float(rate.strip('"').split()[0])


def _needed(element: ElementTree.Element, key: str, source: str) -> str:
    value = element.get(key)
    if not value:
        raise BadInput(f"{source}: expected {key}= in <{element.tag}>", "none")
    return value


def _rate(text: str, source: str) -> float:
    match = re.fullmatch(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(?:([kMGT]i?)?([Bb]ps))?", text.strip())
    try:
        rate = float(match[1]) * _PREFIX[match[2] or ""] * _RATE[match[3] or "Bps"]
    except (TypeError, ValueError):
        rate = 0
    if not 1 <= rate < 1e15:
        raise BadInput(f"{source}: expected a bandwidth such as 5GBps or 10Gbps", f"'{text}'")
    return rate


def _latency(text: str, source: str) -> float:
    match = re.fullmatch(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(ns|us|ms|s|)", text.strip())
    try:
        return float(match[1]) * _TIME[match[2]]
    except (TypeError, ValueError):
        raise BadInput(f"{source}: expected a latency such as 100ns", f"'{text}'") from None


def _count(text: str, source: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text.strip()) or int(text) < 1:
        raise BadInput(f"{source}: expected counts of at least 1", f"'{text}'")
    return int(text)


def _counts(text: str, source: str) -> list[int]:
    return [_count(word, source) for word in text.split(",")]


def _radical(text: str, source: str) -> set[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part.strip())
        if match is None or int(match[2] or match[1]) - int(match[1]) not in range(MOST_NODES):
            raise BadInput(f"{source}: expected radical as 0-15,20", f"'{text}'")
        numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return numbers


def _times(counts: list[int]) -> str:
    return "x".join(map(str, counts))


def _product(counts: list[int]) -> int:
    product = 1
    for count in counts:
        product *= count
    return product
