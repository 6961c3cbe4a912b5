"""Parts of a SimGrid platform: zones and flat clusters, hosts and routers, links, and routes as they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn

from kumihimo.network.imports import simgrid_units as units
from kumihimo.text.documents import XmlElement
from kumihimo.text.errors import missing, wrong_value

MOST_HOSTS = 2048  # as topology/route_table.hpp
SHORTEST = ("FLOYD", "DIJKSTRA", "DIJKSTRACACHE")
_SPLIT = ("SPLITDUPLEX", "FULLDUPLEX")
_OLD_NAMES = {"AS": "zone", "ASroute": "zoneRoute", "bypassASroute": "bypassZoneRoute"}
_PROGRAMS = ("actor", "process")  # they run on a platform
_WITHOUT_MEANING = ("prop", "config", "storage", "storage_type", "mount", "disk", "random")


@dataclass(frozen=True)
class Link:
    bandwidth: float  # bytes per second
    latency: float  # nanoseconds
    fat: bool = False


@dataclass(frozen=True)
class Crossed:
    """A link of a route, or the first of those that move with the sender (a) or the receiver (b)."""

    link: int
    moves: str = ""

    def text(self) -> str:
        return f"{self.link}+{self.moves}" if self.moves else f"{self.link}"


@dataclass
class Route:
    links: list[int]
    gw_src: str = ""
    gw_dst: str = ""


@dataclass
class Zone:
    name: str
    routing: str
    where: str
    parent: Zone | None = None
    elements: list[str] = field(default_factory=list)
    routes: dict[tuple[str, str], Route] = field(default_factory=dict)
    bypasses: dict[tuple[str, str], Route] = field(default_factory=dict)


@dataclass
class Cluster:
    """Its hosts are numbered from `first`; those of their links that there are, likewise, from these numbers."""

    name: str
    where: str
    router: str
    first: int
    hosts: list[str]
    up: int
    down: int
    limiter: int | None
    backbone: int | None
    parent: Zone | None = None
    elements: list[str] = field(default_factory=list)

    def leaving(self, moves: str, place: int = 0) -> list[Crossed]:
        limit = [] if self.limiter is None else [Crossed(self.limiter + place, moves)]
        bus = [] if self.backbone is None else [Crossed(self.backbone)]
        return [*limit, Crossed(self.up + place, moves), *bus]

    def entering(self, moves: str, place: int = 0) -> list[Crossed]:
        """From the backbone on, without it."""
        limit = [] if self.limiter is None else [Crossed(self.limiter + place, moves)]
        return [Crossed(self.down + place, moves), *limit]


def has_routes_of_links(cluster: XmlElement) -> bool:
    """Whether a flat cluster has more than a cable up and one down for each host."""
    if cluster.get("topology", "FLAT").upper() != "FLAT":
        return False
    more = any(_amount(cluster.get(key)) for key in ("bb_bw", "bb_lat", "limiter_link"))
    return more or cluster.get("sharing_policy", "SPLITDUPLEX").upper() not in _SPLIT


def check_plain(cluster: XmlElement) -> None:
    """Limiters and shared cables have no family here, and where there is a topology there is no backbone."""
    kind = cluster.get("topology", "FLAT")
    for key in ("bb_bw", "limiter_link"):
        if _amount(cluster.get(key)):
            raise cluster.value.wrong(f"a {kind} cluster must have no {key}", f"'{cluster.get(key)}'")
    policy = cluster.get("sharing_policy", "SPLITDUPLEX")
    if policy.upper() not in _SPLIT:
        raise cluster.value.wrong(f"a {kind} cluster must have SPLITDUPLEX cables", f"sharing_policy {policy}")


def _amount(text: str) -> bool:
    return bool(text) and re.fullmatch(r"[0.]+\s*[A-Za-z]*", text.strip()) is None


def modern(root: XmlElement) -> None:
    """Gives the elements of SimGrid 3.15 and before their names of today."""
    for element in root.iter():
        element.tag = _OLD_NAMES.get(element.tag, element.tag)


class Platform:
    def __init__(self, root: XmlElement) -> None:
        self.links: list[Link] = []
        self.named: dict[str, Link] = {}
        self.split: set[str] = set()  # those that are two, which may be named NAME_UP and NAME_DOWN, too
        self.crossed: dict[str, int] = {}  # the numbers of those that a route crosses
        self.hosts: list[str] = []
        self.cores: set[int] = set()
        self.places: dict[str, Zone | Cluster] = {}  # of points: hosts and routers
        self.zones: dict[str, Zone | Cluster] = {}
        self.number: dict[str, int] = {}  # of hosts
        top = [e for e in root.children if e.tag not in (*_WITHOUT_MEANING, *_PROGRAMS)]
        if len(top) != 1 or top[0].tag not in ("zone", "cluster"):
            self.wrong(
                root.where if len(top) < 2 else top[1].where,
                "the platform must be a cluster, or hosts in one zone that contains all others",
                ", ".join(f"<{e.tag}>" for e in top or root.children[:1]) or "nothing",
            )
        for link in root.iter("link"):
            self._add_link(link)
        self.top = self._add(top[0], None)
        if not 2 <= len(self.hosts) <= MOST_HOSTS:
            self.wrong(root.where, f"the platform must have 2 to {MOST_HOSTS} hosts", len(self.hosts))
        for zone in root.iter("zone"):
            for element in zone.children:
                if element.tag in ("route", "zoneRoute", "bypassRoute"):
                    self._add_route(zone.get("id", ""), element)

    @staticmethod
    def wrong(where: str, rule: str, found: object = None, advice: str = "") -> NoReturn:
        raise wrong_value(f"{where}: {rule}", found, advice)

    # What there is.

    def _add_link(self, element: XmlElement) -> None:
        name = units.needed(element, "id")
        policy = element.get("sharing_policy", "SHARED").upper()
        for key in ("bandwidth_file", "latency_file", "state_file"):
            if element.get(key):
                self.wrong(element.where, "links must stay as they are", f"{key} of '{name}'")
        if policy not in ("SHARED", "FATPIPE", *_SPLIT):
            self.wrong(element.where, "links must be SHARED, SPLITDUPLEX or FATPIPE", f"{policy} of '{name}'")
        if name in self.named:
            self.wrong(element.where, "names of links must differ", f"'{name}' twice")
        link = Link(
            units.rate(element, "bandwidth"),
            units.latency(element, "latency", "0"),
            policy == "FATPIPE",
        )
        self.named[name] = link
        if policy in _SPLIT:
            self.split.add(name)

    def _new_links(self, link: Link, count: int = 1) -> int:
        self.links += [link] * count
        return len(self.links) - count

    def _add(self, element: XmlElement, parent: Zone | None) -> Zone | Cluster:
        name = units.needed(element, "id")
        if name in self.zones or name in self.places:
            self.wrong(element.where, "names must differ", f"'{name}' twice")
        listed = element.tag == "zone" and element.get("routing").upper() == "CLUSTER"
        make = self._cluster if element.tag == "cluster" else self._listed_cluster if listed else self._zone
        zone = make(name, element)
        zone.parent = parent
        return zone

    def _zone(self, name: str, element: XmlElement) -> Zone:
        routing = element.get("routing", "Full")
        zone = self.zones[name] = Zone(name, routing.upper(), element.where)
        if zone.routing not in ("FULL", *SHORTEST):
            self.wrong(
                element.where,
                "routing= of a zone must be Full, Floyd, Dijkstra or Cluster",
                f"{routing} of zone '{name}'",
            )
        for child in element.children:
            if child.tag in ("zone", "cluster"):
                self._add(child, zone)
                zone.elements.append(child.get("id", ""))
            elif child.tag in ("host", "router"):
                point = units.needed(child, "id")
                self._add_point(point, zone, child, child.tag == "host")
                zone.elements.append(point)
            elif child.tag not in ("link", "route", "zoneRoute", "bypassRoute", *_WITHOUT_MEANING):
                self.wrong(
                    child.where,
                    "a zone must have hosts, routers, clusters, links and routes only",
                    f"<{child.tag}> in zone '{name}'",
                )
        return zone

    def _add_point(self, name: str, zone: Zone | Cluster, element: XmlElement, host: bool) -> None:
        if name in self.places or (name in self.zones and self.zones[name] is not zone):
            self.wrong(element.where, "names must differ", f"'{name}' twice")
        self.places[name] = zone
        if host:
            if element.get("state_file"):
                self.wrong(element.where, "hosts must stay as they are", f"state_file of '{name}'")
            self.number[name] = len(self.hosts)
            self.hosts.append(name)
            self.cores.add(element.fields["core"].count("core=") if element.get("core") else 1)

    def _cluster(self, name: str, element: XmlElement) -> Cluster:
        kind = element.get("topology", "FLAT").upper()
        if kind != "FLAT":
            self.wrong(
                element.where,
                "clusters beside other hosts must be flat",
                f"'{name}', a {kind} cluster",
                "import it alone",
            )
        prefix, suffix = element.get("prefix", ""), element.get("suffix", "")
        numbers = units.radical(element)
        if len(self.hosts) + len(numbers) > MOST_HOSTS:
            self.wrong(element.where, f"the platform must have at most {MOST_HOSTS} hosts", "more")
        policy = element.get("sharing_policy", "SPLITDUPLEX").upper()
        if policy not in ("SHARED", "FATPIPE", *_SPLIT):
            self.wrong(
                element.where,
                "cables of a cluster must be SHARED, SPLITDUPLEX or FATPIPE",
                f"{policy} of cluster '{name}'",
            )
        cable = Link(units.rate(element, "bw"), units.latency(element, "lat"), policy == "FATPIPE")
        up = self._new_links(cable, len(numbers))
        down = self._new_links(cable, len(numbers)) if policy in _SPLIT else up
        limiter = backbone = None
        if _amount(element.get("limiter_link")):
            limit = Link(units.rate(element, "limiter_link"), 0)
            limiter = self._new_links(limit, len(numbers))
        if _amount(element.get("bb_bw")) or _amount(element.get("bb_lat")):
            backbone = self._new_links(self._backbone(name, element))
        router = element.get("router_id") or f"{prefix}{name}_router{suffix}"
        hosts = [f"{prefix}{n}{suffix}" for n in numbers]
        cluster = Cluster(name, element.where, router, len(self.hosts), hosts, up, down, limiter, backbone)
        self.zones[name] = cluster
        for host in hosts:
            self._add_point(host, cluster, element, True)
        self._add_point(router, cluster, element, False)
        return cluster

    def _listed_cluster(self, name: str, element: XmlElement) -> Cluster:
        """A zone with the routing Cluster, which lists its hosts, the links of each, and maybe a backbone."""
        parts: dict[str, list[XmlElement]] = {tag: [] for tag in ("host_link", "router", "backbone")}
        hosts: list[tuple[str, XmlElement]] = []
        for child in element.children:
            if child.tag == "host":
                hosts.append((units.needed(child, "id"), child))
            elif child.tag == "cabinet":
                hosts += [(f"{child.get('prefix')}{n}{child.get('suffix')}", child) for n in units.radical(child)]
            elif child.tag in parts:
                parts[child.tag].append(child)
            elif child.tag not in ("link", *_WITHOUT_MEANING):
                known = "hosts, cabinets, a router, links and a backbone"
                self.wrong(child.where, f"a zone with the routing Cluster must have {known} only", f"<{child.tag}>")
        for tag in ("router", "backbone"):
            if len(parts[tag]) > 1:
                self.wrong(parts[tag][1].where, f"a zone must have one <{tag}>", len(parts[tag]))
        of_host = {units.needed(each, "id"): each for each in parts["host_link"]}
        ups, downs = ([self._own_link(name, *host, of_host, key) for host in hosts] for key in ("up", "down"))
        shared = [up == down for (up, _), (down, _) in zip(ups, downs)]
        own = [key for key, _ in ups] + [key for (key, _), same in zip(downs, shared) if not same]
        if len(set(own)) < len(own) or len(set(shared)) > 1:
            self.wrong(element.where, f"each host of zone '{name}' must have its own links, all one or all two")
        up = down = len(self.links)
        self.links += [link for _, link in ups]
        if not any(shared):
            down = len(self.links)
            self.links += [link for _, link in downs]
        backbone = None
        for each in parts["backbone"]:
            backbone = self._new_links(Link(units.rate(each, "bandwidth"), units.latency(each, "latency")))
        router = units.needed(parts["router"][0], "id") if parts["router"] else ""
        names = [host for host, _ in hosts]
        cluster = Cluster(name, element.where, router, len(self.hosts), names, up, down, None, backbone)
        self.zones[name] = cluster
        for host, each in hosts:
            self._add_point(host, cluster, each, True)
        for each in parts["router"]:
            self._add_point(router, cluster, each, False)
        return cluster

    def _own_link(
        self, zone: str, host: str, of: XmlElement, of_host: dict[str, XmlElement], key: str
    ) -> tuple[str, Link]:
        """The link and its name."""
        if of.tag == "cabinet":
            return f"{key} {host}", Link(units.rate(of, "bw"), units.latency(of, "lat"))
        if host not in of_host:
            raise missing(f"{of.where}: the <host_link> of host '{host}' in zone '{zone}'", "add it")
        name = units.needed(of_host[host], key)
        link = self._named_or_half(name)
        if link is None:
            self.wrong(of_host[host].where, f"{key}= must be a link of the file", f"'{name}'")
        return name, link

    def _named_or_half(self, name: str) -> Link | None:
        """A link, or one direction of a split-duplex one; none of another name."""
        whole, _, way = name.rpartition("_")
        if whole in self.split and way in ("UP", "DOWN"):
            return self.named[whole]
        return None if name in self.split else self.named.get(name)

    def _backbone(self, name: str, element: XmlElement) -> Link:
        policy = element.get("bb_sharing_policy", "SHARED").upper()
        if policy not in ("SHARED", "FATPIPE"):
            self.wrong(
                element.where, "the backbone of a cluster must be SHARED or FATPIPE", f"{policy} of cluster '{name}'"
            )
        return Link(units.rate(element, "bb_bw"), units.latency(element, "bb_lat", "0"), policy == "FATPIPE")

    def _add_route(self, name: str, element: XmlElement) -> None:
        zone = self.zones[name]
        if isinstance(zone, Cluster):
            self.wrong(element.where, "a cluster has no routes but its own", name)
        src, dst = (units.needed(element, key) for key in ("src", "dst"))
        said = f"from '{src}' to '{dst}'"
        of_zones = element.tag == "zoneRoute"
        for end in (src, dst):
            inner = self.zones.get(end) if of_zones else None
            if (inner.parent if inner else self.places.get(end) if not of_zones else None) is not zone:
                kind = "zones" if of_zones else "hosts and routers"
                self.wrong(element.where, f"the route {said} must be between {kind} of zone '{name}'")
        if src == dst:
            return  # a host's way to itself is its memory
        there, back = Route([]), Route([])
        if of_zones:
            there.gw_src, there.gw_dst = (units.needed(element, key) for key in ("gw_src", "gw_dst"))
            back.gw_src, back.gw_dst = there.gw_dst, there.gw_src
            for end, gateway in ((src, there.gw_src), (dst, there.gw_dst)):
                if end not in self.path(gateway):
                    self.wrong(
                        element.where, f"the gateway of the route {said} must be in zone '{end}'", f"'{gateway}'"
                    )
        for crossed in element.iter("link_ctn"):
            a, b = self._link(crossed, said)
            there.links.append(a)
            back.links.insert(0, b)
        if not there.links:
            self.wrong(element.where, f"the route {said} must cross one link or more")
        bypass = element.tag == "bypassRoute"
        routes = zone.bypasses if bypass else zone.routes
        symmetrical = "symmetrical" not in element.fields or element.fields["symmetrical"].flag("symmetrical=")
        both = not bypass and symmetrical
        for key, route in [((src, dst), there), *([((dst, src), back)] if both else [])]:
            if key in routes:
                self.wrong(
                    element.where,
                    "there must be one route between two ends, which is symmetrical by default",
                    f"two {said}",
                )
            routes[key] = route

    def _link(self, element: XmlElement, said: str) -> tuple[int, int]:
        """The link as it is crossed, and as it is on the way back."""
        name, direction = units.needed(element, "id"), element.get("direction", "NONE").upper()
        if direction not in ("UP", "DOWN", "NONE"):
            self.wrong(element.where, "direction= of a link must be UP, DOWN or NONE", f"'{direction}'")
        whole, _, way = name.rpartition("_")
        if whole in self.split and way in ("UP", "DOWN"):
            return self._number(name, whole), self._number(name, whole)
        if name not in self.named:
            self.wrong(element.where, f"the route {said} must cross links of the file", f"'{name}'")
        if name not in self.split:
            return self._number(name, name), self._number(name, name)
        if direction not in ("UP", "DOWN"):
            self.wrong(
                element.where,
                f"the route {said} must cross a split-duplex link UP or DOWN",
                f"'{name}' without direction=",
            )
        back = "DOWN" if direction == "UP" else "UP"
        return self._number(f"{name}_{direction}", name), self._number(f"{name}_{back}", name)

    def _number(self, crossed: str, name: str) -> int:
        if crossed not in self.crossed:
            self.crossed[crossed] = self._new_links(self.named[name])
        return self.crossed[crossed]

    def path(self, point: str) -> list[str]:
        """The zones that have it, from the innermost on; none of a name that is no point."""
        zone, path = self.places.get(point), []
        while zone is not None:
            path.append(zone.name)
            zone = zone.parent
        return path

    def place(self, cluster: Cluster, host: str) -> int:
        return self.number[host] - cluster.first
