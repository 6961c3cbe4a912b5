"""Zones of SimGrid's platforms: between any two hosts the latencies, the bandwidth and the shared links of the XML."""

from __future__ import annotations

import json
import random
import re

import pytest

from kumihimo.network.imports import ImportedNetwork, simgrid
from kumihimo.text import documents
from kumihimo.text.errors import BadInput


class Routes:
    """The table of a machine file, read plainly."""

    def __init__(self, network: ImportedNetwork) -> None:
        self.numbers = network.numbers
        text = "\n".join(network.topology)
        assert 'family = "routes"' in text
        self.nodes = int(re.search(r"nodes = (\d+)", text)[1])
        parts = {key: re.findall(r'"(.*)"', body) for key, body in re.findall(r"(\w+) = \[(.*?)\]", text, re.DOTALL)}
        self.links: list[str] = []
        for link in parts["links"]:
            name, *rest = link.split()
            count = int(rest[-1][1:]) if rest and rest[-1].startswith("x") else 1
            self.links += [f"{name} fat" if "fat" in rest else name] * count
        self.rows = [self._row(row) for row in parts["routes"]]

    @staticmethod
    def _row(text: str) -> tuple[range, range, list[str]]:
        ends, links = text.split(": ")
        ranges = []
        for end in ends.split("-"):
            first, _, last = end.partition("..")
            ranges.append(range(int(first), int(last or first) + 1))
        return ranges[0], ranges[1], links.split()

    def links_of(self, src: int, dst: int) -> list[int]:
        rows = [row for row in self.rows if src in row[0] and dst in row[1]]
        assert len(rows) == 1, (src, dst)
        senders, receivers, links = rows[0]
        moved = {"": 0, "a": src - senders.start, "b": dst - receivers.start}
        return [int(number) + moved[moves] for number, _, moves in (link.partition("+") for link in links)]

    def _number(self, key: str, link: int) -> float:
        name = self.links[link].split()[0]
        return float(self.numbers["network", f"{key}_{name}"].strip('"').split()[0])

    def us(self, src: int, dst: int) -> float:
        """The sum of the latencies, in microseconds."""
        return round(sum(self._number("hop_latency", link) for link in self.links_of(src, dst)) / 1e3, 6)

    def mbps(self, src: int, dst: int) -> float:
        """The least bandwidth, in MB/s."""
        return min(self._number("link_bandwidth", link) for link in self.links_of(src, dst)) / 1e6

    def shared(self, first: tuple[int, int], second: tuple[int, int]) -> int:
        """How many links two messages share."""
        both = set(self.links_of(*first)) & set(self.links_of(*second))
        return sum("fat" not in self.links[link] for link in both)


def zone(body: str, routing: str = "Full") -> str:
    return f'<platform version="4.1"><zone id="z" routing="{routing}">{body}</zone></platform>'


def read(text: str) -> Routes:
    return Routes(imported(text))


def imported(text: str) -> ImportedNetwork:
    return simgrid.read(documents.read_xml(text.encode(), "p.xml"))


def link(name: str, mbps: float, us: float, policy: str = "") -> str:
    sharing = f' sharing_policy="{policy}"' if policy else ""
    return f'<link id="{name}" bandwidth="{mbps}MBps" latency="{us}us"{sharing}/>'


def route(src: str, dst: str, links: str, attributes: str = "", tag: str = "route") -> str:
    crossed = "".join(
        f'<link_ctn id="{name}"' + (f' direction="{way}"' if way else "") + "/>"
        for name, _, way in (word.partition(":") for word in links.split())
    )
    return f'<{tag} src="{src}" dst="{dst}" {attributes}>{crossed}</{tag}>'


HOSTS = "".join(f'<host id="{name}" speed="1Gf"/>' for name in "abc")
LINKS = link("1", 100, 10) + link("2", 50, 20) + link("3", 200, 1461.517) + link("bus", 40, 0)


def test_a_route_of_several_links():
    routes = read(
        zone(HOSTS + LINKS + route("a", "b", "1 bus 2") + route("a", "c", "1 bus 3") + route("b", "c", "2 3"))
    )
    assert (routes.us(0, 1), routes.mbps(0, 1)) == (30, 40)
    assert (routes.us(0, 2), routes.mbps(0, 2)) == (1471.517, 40)
    assert (routes.us(1, 2), routes.mbps(1, 2)) == (1481.517, 50)
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        assert routes.links_of(b, a) == routes.links_of(a, b)[::-1], "symmetrical"
    assert routes.shared((0, 1), (0, 2)) == 2
    assert routes.shared((1, 0), (2, 1)) == 1
    assert routes.shared((0, 1), (1, 0)) == 3, "both ways share a link"


def test_a_route_back_may_be_another():
    two = zone(
        HOSTS[: HOSTS.index('<host id="c"')]
        + LINKS
        + route("a", "b", "1", 'symmetrical="NO"')
        + route("b", "a", "2 3", 'symmetrical="NO"')
        + route("a", "a", "bus")
    )
    routes = read(two)
    assert (routes.us(0, 1), routes.us(1, 0)) == (10, 1481.517)
    assert routes.shared((0, 1), (1, 0)) == 0
    assert len(routes.links) == 3, "of a host's way to itself none"


def test_how_links_are_shared():
    links = link("up", 10, 1, "SPLITDUPLEX") + link("pipe", 20, 2, "FATPIPE") + link("down", 30, 4, "FULLDUPLEX")
    body = route("a", "b", "up:UP pipe down:DOWN") + route("a", "c", "up_UP pipe") + route("b", "c", "down_UP up_UP")
    routes = read(zone(HOSTS + links + body))
    assert (routes.us(0, 1), routes.mbps(0, 1)) == (7, 10)
    assert routes.shared((0, 1), (1, 0)) == 0, "two links and a pipe"
    assert routes.shared((0, 1), (0, 2)) == 1
    assert routes.shared((1, 0), (1, 2)) == 1, "down's way up"


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra", "DijkstraCache"])
def test_ways_along_a_tree_of_routers(routing):
    draw = random.Random(5)
    names = [f"r{i}" for i in range(6)] + [f"h{i}" for i in range(9)]
    body = "".join(f'<{"router" if n[0] == "r" else "host"} id="{n}"/>' for n in names)
    parent, cost = {}, {}
    for i, name in enumerate(names[1:], 1):
        parent[name] = names[draw.randrange(min(i, 6))]
        cost[name] = draw.randrange(1, 50)
        body += link(f"l{name}", 100 + cost[name], cost[name])
        body += route(name, parent[name], f"l{name}")
    routes = read(zone(body, routing))

    def up(name):
        return [name, *up(parent[name])] if name in parent else [name]

    for a in range(9):
        for b in range(9):
            if a == b:
                continue
            here, there = up(f"h{a}"), up(f"h{b}")
            crossed = set(here) ^ set(there)
            assert routes.us(a, b) == sum(cost[name] for name in crossed)
            assert routes.mbps(a, b) == min(100 + cost[name] for name in crossed)
            assert len(routes.links_of(a, b)) == len(crossed)


def test_the_shortest_way_has_the_fewest_links():
    links = "".join(link(name, 100, us) for name, us in [("1", 1), ("2", 1), ("3", 90), ("4", 1)])
    body = HOSTS + links + route("a", "b", "1") + route("b", "c", "2")
    assert read(zone(body + route("a", "c", "3"), "Floyd")).us(0, 2) == 90
    assert read(zone(body + route("a", "c", "3 4 1"), "Floyd")).us(0, 2) == 2
    with pytest.raises(
        BadInput, match=r"must have one shortest path.*got several of 2 links from 'a' to 'c'\); write the routes"
    ):
        read(zone(body + route("a", "c", "3 4"), "Floyd"))


def cluster(name: str, attributes: str = "", radical: str = "0-3") -> str:
    return (
        f'<cluster id="{name}" prefix="{name}-" suffix=".x" radical="{radical}" speed="1Gf" bw="100MBps" lat="10us" '
        f"{attributes}/>"
    )


BACKBONE = 'bb_bw="150MBps" bb_lat="3us"'


def test_a_cluster_with_a_backbone():
    routes = read(f'<platform version="4.1">{cluster("c", BACKBONE)}</platform>')
    assert routes.nodes == 4
    assert (routes.us(0, 3), routes.mbps(0, 3)) == (23, 100)
    assert routes.shared((0, 1), (2, 3)) == routes.shared((0, 1), (1, 0)) == 1, "the backbone"
    assert routes.shared((0, 1), (0, 2)) == routes.shared((1, 0), (2, 0)) == 2
    pipe = read(
        f'<platform version="4.1">{cluster("c", BACKBONE + " bb_sharing_policy=" + chr(34) + "FATPIPE" + chr(34))}'
        "</platform>"
    )
    assert pipe.shared((0, 1), (2, 3)) == 0
    assert (pipe.us(0, 3), pipe.mbps(0, 3)) == (23, 100)


def test_limiters_and_shared_cables_of_a_cluster():
    limited = read(f'<platform version="4.1">{cluster("c", "limiter_link=" + chr(34) + "70MBps" + chr(34))}</platform>')
    assert (limited.us(1, 2), limited.mbps(1, 2)) == (20, 70)
    assert limited.shared((0, 1), (1, 0)) == 2, "each host's limiter, both ways"
    shared = read(
        f'<platform version="4.1">{cluster("c", "sharing_policy=" + chr(34) + "SHARED" + chr(34))}</platform>'
    )
    assert shared.shared((0, 1), (1, 0)) == 2
    assert len(shared.links) == 4


def listed_cluster(links: str, up: str, down: str, more: str = "") -> str:
    hosts = "".join(
        f'<host id="h{i}"/><host_link id="h{i}" up="{up.format(i)}" down="{down.format(i)}"/>' for i in "012"
    )
    return f'<zone id="l" routing="Cluster"><router id="r"/>{links}{hosts}{more}</zone>'


BUS = '<backbone id="bb" bandwidth="150MBps" latency="3us"/>'
OWN = "".join(link(f"l{i}", 100 + 10 * i, 10 * (i + 1)) for i in range(3))


def test_a_zone_that_lists_the_links_of_its_hosts():
    split = "".join(link(f"l{i}", 100 + 10 * i, 10 * (i + 1), "SPLITDUPLEX") for i in range(3))
    for links, up, down, both in [(split, "l{}_UP", "l{}_DOWN", 1), (OWN, "l{}", "l{}", 3)]:
        inner = listed_cluster(links, up, down, BUS)
        routes = read(f'<platform version="4.1">{inner}</platform>')
        assert (routes.us(0, 2), routes.mbps(0, 2)) == (10 + 3 + 30, 100)
        assert (routes.us(2, 1), routes.mbps(2, 1)) == (30 + 3 + 20, 110)
        assert routes.shared((0, 1), (1, 0)) == both, "the backbone, and links of one for both ways"
        gateways = 'gw_src="r" gw_dst="h"'
        outside = f'<zone id="o" routing="Full"><host id="h"/></zone>{link("wan", 90, 500)}'
        routes = read(zone(inner + outside + route("l", "o", "wan", gateways, "zoneRoute")))
        assert routes.us(1, 3) == routes.us(3, 1) == 20 + 3 + 500


def test_cabinets_of_a_zone():
    cabinets = "".join(
        f'<cabinet id="{name}" prefix="h" suffix="" radical="{radical}" speed="1Gf" bw="{mbps}MBps" lat="10us"/>'
        for name, radical, mbps in [("c0", "0-2", 100), ("c1", "3,5", 200)]
    )
    routes = read(f'<platform version="4.1"><zone id="z" routing="Cluster">{cabinets}{BUS}</zone></platform>')
    assert (routes.nodes, routes.us(0, 4), routes.mbps(0, 4), routes.mbps(3, 4)) == (5, 23, 100, 150)
    assert routes.shared((0, 1), (1, 0)) == 1, "the backbone"


def test_zones_with_gateways():
    routers = 'gw_src="a-a_router.x" gw_dst="b-b_router.x"'
    text = zone(
        cluster("a", BACKBONE, "0-2")
        + cluster("b", "", "5,7")
        + link("wan", 30, 500)
        + route("a", "b", "wan", routers, "zoneRoute")
    )
    routes = read(text)
    assert routes.nodes == 5
    assert (routes.us(0, 4), routes.mbps(0, 4)) == (10 + 3 + 500 + 10, 30)
    assert (routes.us(3, 2), routes.mbps(3, 2)) == (10 + 500 + 3 + 10, 30)
    assert (routes.us(3, 4), routes.us(0, 2)) == (20, 23)
    assert routes.shared((0, 3), (4, 1)) == 2, "the link between and a's backbone"
    assert routes.shared((0, 1), (2, 3)) == 1
    old = text.replace("<zone ", "<AS ").replace("</zone>", "</AS>").replace("zoneRoute", "ASroute")
    assert read(old).rows == routes.rows


def test_a_host_as_gateway():
    hosts = 'gw_src="a-1.x" gw_dst="h"'
    inner = f'<zone id="b" routing="Full"><host id="h"/><host id="i"/>{link("in", 80, 7)}{route("h", "i", "in")}</zone>'
    text = zone(
        cluster("a", BACKBONE, "0-2") + inner + link("wan", 30, 500) + route("a", "b", "wan", hosts, "zoneRoute")
    )
    routes = read(text)
    assert routes.us(1, 3) == 500, "from gateway to gateway"
    assert routes.us(0, 3) == 10 + 3 + 10 + 500
    assert routes.us(2, 4) == 10 + 3 + 10 + 500 + 7
    assert routes.us(4, 1) == 7 + 500
    assert routes.us(4, 2) == 7 + 500 + 10 + 3 + 10
    assert routes.shared((2, 4), (0, 1)) == 2, "the backbone, and the cable down to the gateway"


def test_zones_in_zones():
    def leaf(name: str, us: float) -> str:
        body = f'<host id="{name}0"/><host id="{name}1"/><router id="{name}r"/>'
        body += "".join(link(f"{name}l{i}", 100, us) + route(f"{name}{i}", f"{name}r", f"{name}l{i}") for i in (0, 1))
        return f'<zone id="{name}" routing="Floyd">{body}</zone>'

    def gateways(src: str, dst: str) -> str:
        return f'gw_src="{src}r" gw_dst="{dst}r"'

    pair = leaf("p", 1) + leaf("q", 2) + link("pq", 90, 10) + route("p", "q", "pq", gateways("p", "q"), "zoneRoute")
    text = zone(
        f'<zone id="pair" routing="Full">{pair}</zone>'
        + leaf("s", 4)
        + link("top", 50, 100)
        + route("pair", "s", "top", gateways("q", "s"), "zoneRoute")
    )
    routes = read(text)
    assert [routes.us(0, 1), routes.us(0, 2), routes.us(4, 5)] == [2, 1 + 10 + 2, 8]
    assert routes.us(2, 4) == 2 + 100 + 4
    assert routes.us(0, 5) == routes.us(5, 0) == 1 + 10 + 100 + 4, "by the gateway of the zone beside"
    assert routes.shared((0, 5), (1, 3)) == 1
    assert routes.shared((0, 5), (2, 4)) == 1


@pytest.mark.parametrize("routing", ["Full", "Floyd"])
def test_a_zone_of_two_gateways_needs_no_way_between_them(routing):
    inner = '<host id="h0"/><host id="h1"/><router id="r"/><router id="s"/>' + link("h", 100, 1000)
    for gateway, us in [("r", 1), ("s", 2)]:
        inner += "".join(
            link(f"{gateway}{i}", 100, us + 4 * i) + route(f"h{i}", gateway, f"{gateway}{i}") for i in (0, 1)
        )
    inner += route("h0", "h1", "h")
    alone = "".join(f'<zone id="z{name}" routing="Full"><host id="{name}"/></zone>' for name in "xy")
    between = "".join(
        link(name, 50, us) + route(src, dst, name, f'gw_src="{here}" gw_dst="{there}"', "zoneRoute")
        for name, us, src, dst, here, there in [
            ("bx", 10, "b", "zx", "r", "x"),
            ("by", 20, "b", "zy", "s", "y"),
            ("xy", 40, "zx", "zy", "x", "y"),
        ]
    )
    routes = read(zone(f'<zone id="b" routing="{routing}">{inner}</zone>' + alone + between))
    assert routes.us(0, 1) == routes.us(1, 0) == 1000
    assert [routes.us(0, 2), routes.us(1, 2), routes.us(2, 1)] == [1 + 10, 5 + 10, 10 + 5], "by the one"
    assert [routes.us(0, 3), routes.us(1, 3), routes.us(3, 0)] == [2 + 20, 6 + 20, 20 + 2], "by the other"


def test_a_path_through_zones_takes_them_from_gateway_to_gateway():
    def leaf(name: str) -> str:
        body = f'<host id="{name}0"/><host id="{name}1"/>{link(name, 100, 7)}{route(f"{name}0", f"{name}1", name)}'
        return f'<zone id="{name}" routing="Full">{body}</zone>'

    def joined(src: str, dst: str, name: str) -> str:
        return link(name, 50, 100) + route(src, dst, name, f'gw_src="{src}1" gw_dst="{dst}0"', "zoneRoute")

    routes = read(zone(leaf("a") + leaf("b") + leaf("c") + joined("a", "b", "ab") + joined("b", "c", "bc"), "Floyd"))
    assert routes.us(0, 4) == 7 + 100 + 7 + 100
    assert routes.us(5, 1) == 7 + 100 + 7 + 100


def test_a_bypass_holds_one_way():
    body = HOSTS + LINKS + route("a", "b", "1") + route("b", "c", "2") + route("a", "c", "1 2")
    routes = read(zone(body + route("a", "c", "3", tag="bypassRoute")))
    assert (routes.us(0, 2), routes.us(2, 0)) == (1461.517, 30)


def test_unequal_numbers_of_cores_are_left_out_and_said():
    routes = LINKS + route("a", "b", "1") + route("a", "c", "3") + route("b", "c", "2 3")
    equal, unequal = (imported(zone(HOSTS.replace('"1Gf"', '"1Gf" core="4"', count) + routes)) for count in (3, 1))
    assert equal.numbers["node", "cores"] == "4" and not any("cores" in remark for remark in equal.remarks)
    assert ("node", "cores") not in unequal.numbers
    assert any(remark.startswith("Left out, ") and "cores of the hosts, 1, 4" in remark for remark in unequal.remarks)


def test_hosts_are_limited_by_links_alone():
    numbers = read(zone(HOSTS + LINKS + route("a", "b", "1") + route("a", "c", "3") + route("b", "c", "2 3"))).numbers
    rate = {key: float(numbers["network", key].strip('"').split()[0]) for key in ("link_peak", "engine_bandwidth")}
    assert rate == {"link_peak": 200e6, "engine_bandwidth": 350e6}
    assert numbers["network", "injection_bandwidth"] == numbers["network", "engine_bandwidth"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (zone(HOSTS + LINKS + route("a", "b", "1")), "any two of zone 'z' must have a route (got none from 'a' to 'c'"),
        (zone(HOSTS + LINKS + route("a", "b", "1"), "Floyd"), "any two of zone 'z' must have a path"),
        (zone(HOSTS + LINKS + route("a", "b", "9")), "the route from 'a' to 'b' must cross links of the file (got '9'"),
        (
            zone(HOSTS + LINKS + route("a", "d", "1")),
            "the route from 'a' to 'd' must be between hosts and routers of zone 'z'",
        ),
        (zone(HOSTS + LINKS + route("a", "b", "")), "the route from 'a' to 'b' must cross one link or more"),
        (zone(HOSTS + LINKS + route("a", "b", "1") + route("b", "a", "2")), "symmetrical by default"),
        (zone(HOSTS + LINKS + LINKS), "'1' twice"),
        (zone(HOSTS + HOSTS), "'a' twice"),
        (zone(HOSTS + link("w", 1, 1, "WIFI")), "(got WIFI of 'w')"),
        (
            zone(HOSTS + link("w", 1, 1, "SPLITDUPLEX") + route("a", "b", "w")),
            "UP or DOWN (got 'w' without direction=)",
        ),
        (zone(HOSTS + '<link id="t" bandwidth="1MBps" bandwidth_file="t"/>'), "bandwidth_file of 't'"),
        (zone(HOSTS, "Vivaldi"), "Vivaldi of zone 'z'"),
        (zone(HOSTS + '<peer id="p"/>'), "<peer> in zone 'z'"),
        (zone(HOSTS + '<bypassZoneRoute src="a" dst="b"/>'), "<bypassZoneRoute> in zone 'z'"),
        (zone(HOSTS + cluster("k", 'topology="TORUS" topo_parameters="2,2"')), "a TORUS cluster); import it alone"),
        (zone(cluster("c", "", "0-4000") + HOSTS), "at most 2048 hosts"),
        (zone(cluster("a") + cluster("b") + link("l", 1, 1) + route("a", "b", "l", tag="zoneRoute")), "gw_src= in"),
        (
            zone(
                cluster("a")
                + cluster("b")
                + link("l", 1, 1)
                + route("a", "b", "l", 'gw_src="b-0.x" gw_dst="b-1.x"', "zoneRoute")
            ),
            "must be in zone 'a' (got 'b-0.x'",
        ),
        (zone('<host id="a"/>'), "2 to 2048 hosts (got 1)"),
        (zone('<link id="l" bandwidth="1GBps" latency="1e300s"/>'), "must be a time such as 100ns (got '1e300s'"),
        (zone(listed_cluster(OWN, "l{}", "l{}", "<peer/>")), "routing Cluster must have hosts, cabinets, a router"),
        (zone(listed_cluster(OWN, "l0", "l{}")), "each host of zone 'l' must have its own links, all one or all two"),
        (zone(listed_cluster(OWN, "l{}", "x{}")), "down= must be a link of the file (got 'x0')"),
        (zone(listed_cluster(OWN, "l{}", "l{}", BUS + BUS)), "a zone must have one <backbone> (got 2)"),
        ("<platform/>", "the platform must be a cluster, or hosts in one zone that contains all others (got nothing"),
        (f"<platform>{cluster('c', BACKBONE)}{cluster('d')}</platform>", "(got <cluster>, <cluster>"),
        (
            f"<platform>{cluster('c', 'sharing_policy=' + chr(34) + 'WIFI' + chr(34))}</platform>",
            "(got WIFI of cluster 'c')",
        ),
        (f"<platform>{cluster('c', 'bb_lat=' + chr(34) + '1us' + chr(34))}</platform>", "bb_bw= in <cluster>"),
    ],
)
def test_what_cannot_be_said_is_one_sentence(text, words):
    with pytest.raises(BadInput) as refused:
        imported(text)
    sentence = str(refused.value)
    assert words in sentence
    assert sentence.startswith("p.xml:1: ")
    assert "\n" not in sentence


def test_shared_links_slow_messages_down(kumihimo, tmp_path):
    """Of 8 hosts each sends to one other over a backbone of 400 MB/s: half of what their cables take."""

    def seconds(policy: str) -> float:
        path, made = tmp_path / "p.xml", tmp_path / f"{policy}.toml"
        attributes = f'bb_bw="400MBps" bb_lat="3us" bb_sharing_policy="{policy}"'
        path.write_text(f'<platform version="4.1">{cluster("c", attributes, "0-7")}</platform>', encoding="utf-8")
        ended = kumihimo("machine", "import", str(path), "--like", "reedbush-u", "--out", str(made))
        assert (ended.code, ended.err) == (0, "")
        command = ["simulate", "alltoall", "-a", "pairwise", "--ranks-per-node", "1", "--bytes", "8MiB", "--json"]
        ended = kumihimo(*command, "--machine", str(made))
        assert ended.code == 0, ended.err
        return json.loads(ended.out)["results"][0]["seconds"]

    alone, shared = seconds("FATPIPE"), seconds("SHARED")
    assert alone == pytest.approx(7 * 2**23 / 100e6, rel=0.01)
    assert shared == pytest.approx(2 * alone, rel=0.01)


def of_cluster(latency: str) -> ImportedNetwork:
    cluster = f'<cluster id="c" radical="0-7" speed="1Gf" bw="1GBps" lat="{latency}"/>'
    return simgrid.read(documents.read_xml(f'<platform version="4.1">{cluster}</platform>'.encode(), "p.xml"))


def test_a_latency_of_0_is_no_missing_one_also_in_a_cluster():
    network = of_cluster("0us")
    assert network.numbers["network", "hop_latency"] == '"0.000001 ns"'
    assert network.remarks == ["A latency of 0 is written as 0.000001 ns."]


def test_a_latency_is_at_most_that_of_a_machine_file():
    with pytest.raises(BadInput, match=r"lat= must be a time such as 100ns \(got '1d'\)"):
        of_cluster("1d")
