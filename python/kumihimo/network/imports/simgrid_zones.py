"""Zones of SimGrid's platforms as a machine of the family `routes`: for every two hosts the links between them.

Each link is one of the machine's, so that routes which share it in SimGrid share it here: by default both ways over a
link share its bandwidth, a split-duplex link is two, a fat pipe limits each message alone. A route between zones is the
sender's way to its zone's gateway, the links between the zones, and the way from the other gateway.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from kumihimo.network.imports import ImportedNetwork
from kumihimo.network.imports import simgrid_units as units
from kumihimo.network.imports.simgrid_platform import SHORTEST, Cluster, Crossed, Platform, Route, Zone
from kumihimo.text.documents import XmlElement
from kumihimo.text.quantities import counted

MOST_ROWS = 2**18


@dataclass
class Way:
    """Between a range of hosts, whose links may move with the host, and one point."""

    first: int
    last: int
    links: list[Crossed]


def read(root: XmlElement) -> ImportedNetwork:
    platform = Platform(root)
    return _network(platform, TopologyRows(platform).of(platform.top))


class TopologyRows:
    """The rows of the machine file's table."""

    def __init__(self, platform: Platform) -> None:
        self.p = platform
        self.after: dict[str, dict[str, list[str]]] = {}  # of each zone: where its elements have routes to
        self.shortest: dict[tuple[str, str], dict[str, tuple[int, list[str], bool]]] = {}  # of a zone's element

    def _element(self, zone: Zone, point: str) -> str:
        """Element of the zone that is the point, or has it."""
        path = self.p.path(point)
        at = path.index(zone.name)
        return point if at == 0 else path[at - 1]

    def _local(self, zone: Zone, src: str, dst: str) -> Route:
        if (src, dst) in zone.bypasses:
            return zone.bypasses[src, dst]
        if zone.routing in SHORTEST:
            return self._along_shortest(zone, src, dst)
        if (src, dst) not in zone.routes:
            self.p.wrong(
                zone.where, f"any two of zone '{zone.name}' must have a route", f"none from '{src}' to '{dst}'"
            )
        return zone.routes[src, dst]

    def _along_shortest(self, zone: Zone, src: str, dst: str) -> Route:
        links, path, tied = self._shortest(zone, src).get(dst, (0, [], False))
        if not path:
            self.p.wrong(zone.where, f"any two of zone '{zone.name}' must have a path", f"none from '{src}' to '{dst}'")
        if tied:
            self.p.wrong(
                zone.where,
                f"any two of zone '{zone.name}' must have one shortest path, as SimGrid's choice is not in the file",
                f"several of {links} links from '{src}' to '{dst}'",
                "write the routes with routing Full",
            )
        steps = [zone.routes[a, b] for a, b in zip(path, path[1:])]
        whole = Route(list(steps[0].links), steps[0].gw_src, steps[-1].gw_dst)
        for before, step in zip(steps, steps[1:]):
            if before.gw_dst != step.gw_src:
                whole.links += self._between(before.gw_dst, step.gw_src)
            whole.links += step.links
        return whole

    def _shortest(self, zone: Zone, src: str) -> dict[str, tuple[int, list[str], bool]]:
        """For each reachable element: the links, the way, and whether others are as short; by links, as SimGrid."""
        known = self.shortest.get((zone.name, src))
        if known is not None:
            return known
        if zone.name not in self.after:
            after = self.after[zone.name] = {}
            for a, b in zone.routes:
                after.setdefault(a, []).append(b)
        reached: dict[str, tuple[int, list[str], bool]] = {}
        layers: dict[int, dict[str, tuple[int, list[str], bool]]] = {0: {src: (0, [src], False)}}
        while layers:
            links = min(layers)
            for at, (_, path, tied) in layers.pop(links).items():
                if at in reached:
                    continue
                reached[at] = (links, path, tied)
                for to in self.after[zone.name].get(at, []):
                    if to in reached:
                        continue
                    far = links + len(zone.routes[at, to].links)
                    layer = layers.setdefault(far, {})
                    layer[to] = (far, [*path, to], tied or to in layer)
        self.shortest[zone.name, src] = reached
        return reached

    def _between(self, src: str, dst: str) -> list[int]:
        if src == dst:
            return []
        zone = self._common(src, dst)
        if isinstance(zone, Cluster):
            entering = [] if dst == zone.router else zone.entering("", self.p.place(zone, dst))
            bus = [] if zone.backbone is None else [Crossed(zone.backbone)]
            leaving = bus if src == zone.router else zone.leaving("", self.p.place(zone, src))
            return [c.link for c in [*leaving, *entering]]
        a, b = self._element(zone, src), self._element(zone, dst)
        route = self._local(zone, a, b)
        here = self._between(src, route.gw_src) if a != src else []
        there = self._between(route.gw_dst, dst) if b != dst else []
        return [*here, *route.links, *there]

    def _common(self, src: str, dst: str) -> Zone | Cluster:
        theirs = self.p.path(dst)
        return self.p.zones[next(name for name in self.p.path(src) if name in theirs)]

    def _ways(self, element: str, gateway: str, leaving: bool) -> list[Way]:
        """Ways of all hosts of an element to a point in it, or from there."""
        if element in self.p.places:
            return [Way(self.p.number[element], self.p.number[element], [])] if element in self.p.number else []
        zone, moves = self.p.zones[element], "a" if leaving else "b"
        if isinstance(zone, Cluster):
            return self._ways_of_cluster(zone, gateway, moves)
        ways, at = [], self._element(zone, gateway)
        for other in zone.elements:
            if other != at and not self._has_hosts(other):
                continue  # nothing comes from there, so that no way need be
            if other == at:
                ways += self._ways(other, gateway, leaving)
            elif leaving:
                route = self._local(zone, other, at)
                rest = self._between(route.gw_dst, gateway) if at != gateway else []
                for way in self._ways(other, route.gw_src or other, leaving):
                    ways.append(Way(way.first, way.last, [*way.links, *map(Crossed, [*route.links, *rest])]))
            else:
                route = self._local(zone, at, other)
                rest = self._between(gateway, route.gw_src) if at != gateway else []
                for way in self._ways(other, route.gw_dst or other, leaving):
                    ways.append(Way(way.first, way.last, [*map(Crossed, [*rest, *route.links]), *way.links]))
        return ways

    def _ways_of_cluster(self, cluster: Cluster, gateway: str, moves: str) -> list[Way]:
        last = len(cluster.hosts) - 1
        ranges = [(0, last)]
        there: list[Crossed] = []
        bus = [] if cluster.backbone is None else [Crossed(cluster.backbone)]
        ways = []
        if gateway != cluster.router:  # one of its hosts
            place = self.p.place(cluster, gateway)
            ranges = [(0, place - 1), (place + 1, last)]
            there = cluster.entering("", place) if moves == "a" else cluster.leaving("", place)
            ways.append(Way(cluster.first + place, cluster.first + place, []))
        for first, end in ranges:
            if first > end:
                continue
            if moves == "a":
                links = [*cluster.leaving("a", first), *there]
            else:
                links = [*(there or bus), *cluster.entering("b", first)]
            ways.append(Way(cluster.first + first, cluster.first + end, links))
        return ways

    def of(self, zone: Zone | Cluster) -> list[str]:
        if isinstance(zone, Cluster):
            if len(zone.hosts) < 2:
                return []
            every = Way(zone.first, zone.first + len(zone.hosts) - 1, [])
            return [self._row(every, every, [*zone.leaving("a"), *zone.entering("b")])]
        rows: list[str] = []
        for src in zone.elements:
            for dst in zone.elements:
                if src == dst or not self._has_hosts(src) or not self._has_hosts(dst):
                    continue
                route = self._local(zone, src, dst)
                into = self._ways(dst, route.gw_dst or dst, False)
                for way in self._ways(src, route.gw_src or src, True):
                    middle = [*way.links, *map(Crossed, route.links)]
                    rows += [self._row(way, other, [*middle, *other.links]) for other in into]
                if len(rows) > MOST_ROWS:
                    self.p.wrong(
                        zone.where,
                        f"the platform must have at most {MOST_ROWS} routes that are not of whole clusters",
                        "more",
                    )
        for name in zone.elements:
            if name in self.p.zones:
                rows += self.of(self.p.zones[name])
        return rows

    def _has_hosts(self, element: str) -> bool:
        if element in self.p.places:
            return element in self.p.number
        zone = self.p.zones[element]
        return bool(zone.hosts) if isinstance(zone, Cluster) else any(map(self._has_hosts, zone.elements))

    def _row(self, src: Way, dst: Way, links: list[Crossed]) -> str:
        def range_of(way: Way) -> str:
            return f"{way.first}" if way.first == way.last else f"{way.first}..{way.last}"

        return f"{range_of(src)}-{range_of(dst)}: {' '.join(c.text() for c in links)}"


def _network(platform: Platform, rows: list[str]) -> ImportedNetwork:
    kinds = list(dict.fromkeys((link.bandwidth, link.latency) for link in platform.links))
    names = {kind: f"class{i}" for i, kind in enumerate(kinds, 1)}
    texts: list[str] = []
    for first, run in groupby(platform.links):
        name, length = names[first.bandwidth, first.latency], sum(1 for _ in run)
        texts.append(f"{name}{' fat' if first.fat else ''}{f' x{length}' if length > 1 else ''}")
    lines = ['family = "routes"', f"nodes = {len(platform.hosts)}", *_list("links", texts), *_list("routes", rows)]
    hosts, links = counted(len(platform.hosts), "host"), counted(len(platform.links), "link")
    summary = f"SimGrid platform of {hosts} and {links}"
    remarks = units.remarks_on([latency for _, latency in kinds])
    if len(platform.cores) > 1:
        found = ", ".join(map(str, sorted(platform.cores)))
        remarks.append(f"Left out, because a machine has one kind of node: the numbers of cores of the hosts, {found}.")
    return ImportedNetwork(lines, summary, _numbers(platform, kinds, names), remarks)


def _numbers(
    platform: Platform, kinds: list[tuple[float, float]], names: dict[tuple[float, float], str]
) -> dict[tuple[str, str], str]:
    """Hosts are limited by their links alone, as in SimGrid: engines take all that the links of a platform do."""
    rates = [rate for rate, _ in kinds]
    at_once = len(platform.hosts) if any(link.fat for link in platform.links) else 1
    total = sum(link.bandwidth for link in platform.links) * at_once
    numbers = {("network", "link_bandwidth"): max(rates), ("network", "link_peak"): max(rates)}
    numbers.update({("network", key): total for key in ("engine_bandwidth", "injection_bandwidth")})
    numbers.update({("network", f"link_bandwidth_{names[kind]}"): kind[0] for kind in kinds})
    texts = {key: f'"{units.written(rate)} B/s"' for key, rate in numbers.items()}
    latencies = {("network", "hop_latency"): max(latency for _, latency in kinds)}
    latencies.update({("network", f"hop_latency_{names[kind]}"): kind[1] for kind in kinds})
    texts.update({key: f'"{units.written(max(ns, units.SMALLEST))} ns"' for key, ns in latencies.items()})
    if len(platform.cores) == 1 and platform.cores != {1}:
        texts["node", "cores"] = str(*platform.cores)
    return texts


def _list(key: str, texts: list[str]) -> list[str]:
    return [f"{key} = [", *[f'    "{text}",' for text in texts], "]"]
