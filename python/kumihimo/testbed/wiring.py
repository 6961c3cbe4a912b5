"""Which interface of which node leads where: the links and routes of a described machine as commands of `ip` and `tc`.

Pure: nothing is run here. Vertices are the nodes, then the switches, as the topology numbers them. The directed link
`n` leaves its first end by the interface `l<n>`, so that what this interface has sent is what the link has carried.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from kumihimo import _machine
from kumihimo.text.errors import not_applicable

MTU = 9000  # bytes: longest packet, without the Ethernet header
HEADERS = 66  # bytes of a packet that carry no data: Ethernet 14, IP 20, TCP 20 with time stamps 12
ETHERNET = 14
LEAST_BURST = 18_000  # bytes that a link may send at once: two packets
QUEUE = 4_000_000  # bytes that wait for a link; what is more is lost
OWN_INTERFACE = "node0"  # has the address of a node; on no link, so that a cut leaves it
MOST_VERTICES = 4096  # nodes and switches; more do not fit the numbers of interfaces and addresses


@dataclass(frozen=True)
class Cable:
    """Both directions between two neighbours: the link from `first`, and that from `second`."""

    first: int
    second: int
    out: int
    back: int


@dataclass(frozen=True)
class Wiring:
    """`next_link[v][d]`: the link by which `v` sends what goes to the node `d`; `by_source[v]`: (source, node, link),
    where that depends on who sent it."""

    nodes: int
    switches: int
    cables: tuple[Cable, ...]
    next_link: tuple[dict[int, int], ...]
    by_source: tuple[tuple[tuple[int, int, int], ...], ...]
    class_of_link: dict[int, int]

    @property
    def vertices(self) -> int:
        return self.nodes + self.switches

    def name(self, vertex: int) -> str:
        """Of the host, too."""
        return f"node{vertex}" if vertex < self.nodes else f"switch{vertex - self.nodes}"

    def ends(self) -> dict[int, tuple[int, int]]:
        """Of each directed link: from, to."""
        found = {}
        for cable in self.cables:
            found[cable.out] = (cable.first, cable.second)
            found[cable.back] = (cable.second, cable.first)
        return found


def of_machine(machine: _machine.Machine) -> Wiring:
    """Of its topology, with the routes that its routing takes. Messages between two nodes take one route."""
    if machine.family == "single_node":
        rule = "a testbed needs a network between nodes"
        raise not_applicable(rule, f"{machine.name}, a single node", "give a shape such as 3x3x3")
    vertices = machine.nodes + machine.switches
    if vertices > MOST_VERTICES:
        rule = f"a testbed has at most {MOST_VERTICES} nodes and switches"
        raise not_applicable(rule, vertices, "give a smaller shape, or --shape for a part of the machine")
    waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
    ends, classes, cables = {}, {}, []
    for link, first, second, class_ in machine.links:
        ends[link], classes[link] = (first, second), class_
        if waiting[second, first]:
            back = waiting[second, first].pop(0)
            cables.append(Cable(second, first, back, link))
        else:
            waiting[first, second].append(link)
    if any(waiting.values()):
        raise not_applicable("a testbed needs links in both directions between neighbours", machine.network)
    ways: list[dict[int, Counter]] = [defaultdict(Counter) for _ in range(vertices)]
    routes: list[tuple[int, int, int, int]] = []
    for source in range(machine.nodes):
        for to in range(machine.nodes):
            for link in machine.route(source, to):
                at = ends[link][0]
                ways[at][to][link] += 1
                routes.append((at, source, to, link))
    usual = tuple({to: links.most_common(1)[0][0] for to, links in at.items()} for at in ways)
    others: list[list[tuple[int, int, int]]] = [[] for _ in range(vertices)]
    for at, source, to, link in routes:
        if usual[at][to] != link:
            others[at].append((source, to, link))
    return Wiring(machine.nodes, machine.switches, tuple(cables), usual, tuple(tuple(each) for each in others), classes)


def address(vertex: int) -> str:
    return f"10.77.{vertex >> 8}.{vertex & 255}"


def hardware_address(link: int) -> str:
    return "02:4b:" + ":".join(f"{link >> shift & 255:02x}" for shift in (24, 16, 8, 0))


def joining(wiring: Wiring, process_of: dict[int, int]) -> Iterator[str]:
    """Lines for `ip -batch`: the cables. `process_of`: a process in the namespaces of each vertex."""
    for cable in wiring.cables:
        yield (
            f"link add name l{cable.out} mtu {MTU} address {hardware_address(cable.out)} "
            f"netns {process_of[cable.first]} type veth peer name l{cable.back} mtu {MTU} "
            f"address {hardware_address(cable.back)} netns {process_of[cable.second]}"
        )


def own_interface(vertex: int) -> Iterator[str]:
    yield "link set lo up"
    yield f"link add {OWN_INTERFACE} type bridge"  # every kernel for containers has bridges; few have dummies
    yield f"addr add {address(vertex)}/32 dev {OWN_INTERFACE}"
    yield f"link set {OWN_INTERFACE} up"


def interfaces(wiring: Wiring, vertex: int) -> list[int]:
    """The links that leave it."""
    return [link for link, (first, _) in wiring.ends().items() if first == vertex]


def starting(wiring: Wiring, vertex: int, links: list[int]) -> Iterator[str]:
    """Lines for `ip -batch` at a vertex: these of its interfaces, and the routes by them, which the kernel forgets when
    an interface is down."""
    ends = wiring.ends()
    back = {cable.out: cable.back for cable in wiring.cables} | {cable.back: cable.out for cable in wiring.cables}
    source = f" src {address(vertex)}" if vertex < wiring.nodes else ""
    for link in links:
        peer = ends[link][1]
        yield f"link set l{link} up"
        yield f"neigh replace {address(peer)} lladdr {hardware_address(back[link])} dev l{link} nud permanent"
    by = f" via {{}} dev l{{}} onlink{source} rto_min 20ms"
    for to, link in wiring.next_link[vertex].items():
        if link in links:
            yield f"route replace {address(to)}/32" + by.format(address(ends[link][1]), link)
    for sender, to, link in wiring.by_source[vertex]:
        if link in links:
            yield (
                f"route replace {address(to)}/32" + by.format(address(ends[link][1]), link) + f" table {1000 + sender}"
            )


def rules(wiring: Wiring, vertex: int) -> Iterator[str]:
    """Lines for `ip -batch`: which senders have routes of their own here."""
    for sender in sorted({sender for sender, _, _ in wiring.by_source[vertex]}):
        yield f"rule add from {address(sender)}/32 lookup {1000 + sender} pref {1000 + sender}"


def limited(link: int, rate: int, latency: float) -> Iterator[str]:
    """Lines for `tc -batch`: a rate in bits a second, and seconds that a packet is late.

    Acknowledgements without data pass before data: behind the data of the other direction both directions together
    would reach about half of the rate (ACK compression).
    """
    burst = max(LEAST_BURST, rate // 8 // 1000)  # at least a millisecond, the grain of slow kernels' clocks
    limit = f"rate {{}} ceil {rate}bit burst {burst} cburst {burst} quantum 20000"
    device = f"dev l{link}"
    yield f"qdisc add {device} root handle 1: htb default 2"
    yield f"class add {device} parent 1: classid 1:1 htb " + limit.format(f"{rate}bit")
    yield f"class add {device} parent 1:1 classid 1:2 htb prio 1 " + limit.format(f"{rate // 2}bit")
    yield f"class add {device} parent 1:1 classid 1:3 htb prio 0 " + limit.format(f"{rate // 2}bit")
    queue = f"netem delay {latency * 1e6:.0f}us limit {QUEUE // MTU}" if latency else f"bfifo limit {QUEUE}"
    yield f"qdisc add {device} parent 1:2 {queue}"
    if latency:
        yield f"qdisc add {device} parent 1:3 {queue}"
    yield (f"filter add {device} parent 1: protocol ip u32 match ip protocol 6 0xff match u16 0 0xffc0 at 2 flowid 1:3")


def payload_rate(rate: int) -> float:
    """Bytes a second of data on a link of so many bits a second, in packets of full length."""
    return rate / 8 * (MTU + ETHERNET - HEADERS) / (MTU + ETHERNET)
