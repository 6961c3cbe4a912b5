"""Which interface of which node leads where: the links and routes of a described machine as commands of `ip` and `tc`.

Pure: nothing is run here. Vertices are the nodes, then the switches, as the topology numbers them. The directed link
`n` leaves its first end by the interface `l<n>`, so that what this interface has sent is what the link has carried.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kumihimo import _machine
from kumihimo.text.errors import not_applicable

MTU = 9000  # bytes: longest packet, without the Ethernet header
HEADERS = 66  # bytes of a packet that carry no data: Ethernet 14, IP 20, TCP 20 with time stamps 12
ETHERNET = 14
LEAST_BURST = 1_000  # bytes that a link may send before their time
LEAST_SENT = 65_536  # bytes that a socket takes before they have left
QUEUE = 4_000_000  # bytes that wait for a link; what is more is lost
OWN_INTERFACE = "node0"  # has the address of a node; on no link, so that a cut leaves it
MOST_VERTICES = 4096  # nodes and switches; more do not fit the numbers of interfaces and addresses


@dataclass(frozen=True)
class Hops:
    """Link by which each vertex sends on: `usual[v][d]` to the node `d`; `of_sender[v]`: (sender, node, link), where
    that depends on who sent it.
    """

    usual: tuple[dict[int, int], ...]
    of_sender: tuple[tuple[tuple[int, int, int], ...], ...]


class Wiring:
    """The cables of a machine's topology, and its routes: messages between two nodes take one."""

    def __init__(self, machine: _machine.Machine) -> None:
        if machine.family == "single_node":
            rule = "a testbed needs a network between nodes"
            raise not_applicable(rule, f"{machine.name}, a single node", "give a shape such as 3x3x3")
        self.nodes, self._switches = machine.nodes, switches_of(machine)
        if self.vertices > MOST_VERTICES:
            rule = f"a testbed has at most {MOST_VERTICES} nodes and switches"
            raise not_applicable(rule, self.vertices, "give a smaller shape, or --shape for a part of the machine")
        self._machine = machine
        vertex = {of_machine: number for number, of_machine in enumerate([*range(self.nodes), *self._switches])}
        self.ends = {
            link: (vertex[first], vertex[second])
            for link, first, second, _ in machine.links
            if first in vertex and second in vertex
        }
        self.back: dict[int, int] = {}
        waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        for link, (first, second) in self.ends.items():
            if waiting[second, first]:
                other = waiting[second, first].pop(0)
                self.back[link], self.back[other] = other, link
            else:
                waiting[first, second].append(link)
        if len(self.back) < len(self.ends):
            raise not_applicable("a testbed needs links in both directions between neighbours", machine.network)

    @property
    def switches(self) -> int:
        return len(self._switches)

    @property
    def vertices(self) -> int:
        return self.nodes + self.switches

    def name(self, vertex: int) -> str:
        """Name of a vertex and of its host. Switches have their numbers in the machine."""
        return f"node{vertex}" if vertex < self.nodes else f"switch{self._switches[vertex - self.nodes] - self.nodes}"

    @cached_property
    def by_name(self) -> dict[str, int]:
        """The vertices."""
        return {self.name(vertex): vertex for vertex in range(self.vertices)}

    @cached_property
    def leaving(self) -> tuple[tuple[int, ...], ...]:
        """The links that leave each vertex."""
        found: list[list[int]] = [[] for _ in range(self.vertices)]
        for link, (first, _) in self.ends.items():
            found[first].append(link)
        return tuple(map(tuple, found))

    @cached_property
    def hops(self) -> Hops:
        """Walks the routes of all pairs of nodes, to one node after another: all at once would take gigabytes."""
        usual: list[dict[int, int]] = [{} for _ in range(self.vertices)]
        of_sender: list[list[tuple[int, int, int]]] = [[] for _ in range(self.vertices)]
        for to in range(self.nodes):
            passed = [
                (self.ends[link][0], sender, link)
                for sender in range(self.nodes)
                for link in self._machine.route(sender, to)
            ]
            messages: dict[int, Counter] = defaultdict(Counter)
            for at, _, link in passed:
                messages[at][link] += 1
            for at, links in messages.items():
                usual[at][to] = links.most_common(1)[0][0]
            for at, sender, link in passed:
                if usual[at][to] != link:
                    of_sender[at].append((sender, to, link))
        return Hops(tuple(usual), tuple(map(tuple, of_sender)))

    def crossing(self, links: set[int]) -> Iterator[tuple[tuple[int, int], int]]:
        """The pairs of nodes whose route has one of these links, with the least such link."""
        for sender in range(self.nodes):
            for to in range(self.nodes):
                crossed = links.intersection(self._machine.route(sender, to))
                if crossed:
                    yield (sender, to), min(crossed)


def switches_of(machine: _machine.Machine) -> Sequence[int]:
    """The switches, as ends of the machine's links. Of a part of a machine, with more switches than nodes, only those
    on routes."""
    every = range(machine.nodes, machine.nodes + machine.switches)
    if machine.nodes > MOST_VERTICES or machine.nodes >= machine.switches:
        return every
    used = {
        link for sender in range(machine.nodes) for to in range(machine.nodes) for link in machine.route(sender, to)
    }
    ends = {end for link, *both, _ in machine.links if link in used for end in both}
    return [switch for switch in every if switch in ends]


def address(vertex: int) -> str:
    return f"10.77.{vertex >> 8}.{vertex & 255}"


def hardware_address(link: int) -> str:
    return "02:4b:" + ":".join(f"{link >> shift & 255:02x}" for shift in (24, 16, 8, 0))


def joining(wiring: Wiring) -> Iterator[str]:
    """Lines for `ip -batch`: the cables. `@7@` stands for a process in the namespaces of vertex 7."""
    for link, back in wiring.back.items():
        if link < back:
            first, second = wiring.ends[link]
            yield (
                f"link add name l{link} mtu {MTU} address {hardware_address(link)} netns @{first}@ type veth "
                f"peer name l{back} mtu {MTU} address {hardware_address(back)} netns @{second}@"
            )


def own_interface(vertex: int) -> Iterator[str]:
    yield "link set lo up"
    yield f"link add {OWN_INTERFACE} type bridge"  # every kernel for containers has bridges; few have dummies
    yield f"addr add {address(vertex)}/32 dev {OWN_INTERFACE}"
    yield f"link set {OWN_INTERFACE} up"


def interfaces(wiring: Wiring, vertex: int) -> Iterator[str]:
    """Lines for `ip -batch`: the ends of its cables, and the routes by them."""
    for link in wiring.leaving[vertex]:
        yield f"link set l{link} gso_max_segs 1 up"
        peer = address(wiring.ends[link][1])
        yield f"neigh replace {peer} lladdr {hardware_address(wiring.back[link])} dev l{link} nud permanent"
    source = f" src {address(vertex)}" if vertex < wiring.nodes else ""

    def route(to: int, link: int) -> str:
        peer = address(wiring.ends[link][1])
        return f"route replace {address(to)}/32 via {peer} dev l{link} onlink{source} rto_min 20ms"

    for to, link in wiring.hops.usual[vertex].items():
        yield route(to, link)
        # UCX from 1.18 on takes a node for unreachable if no route to it leaves by its interface; none is taken.
        yield f"route replace {address(to)}/32 dev {OWN_INTERFACE} metric 9999"
    for sender, to, link in wiring.hops.of_sender[vertex]:
        yield f"{route(to, link)} table {1000 + sender}"
    for sender in sorted({sender for sender, _, _ in wiring.hops.of_sender[vertex]}):
        yield f"rule add from {address(sender)}/32 lookup {1000 + sender} pref {1000 + sender}"


def broken(link: int) -> Iterator[str]:
    """Lines for `tc -batch`: nothing gets through. Its routes stay, as on a network whose cable is cut."""
    yield f"qdisc replace dev l{link} root blackhole"


def limited(link: int, rate: int, latency: float) -> Iterator[str]:
    """Lines for `tc -batch`: a rate in bits a second, and seconds that a packet is late.

    Acknowledgements without data pass before data: behind the data of the other direction they would hold it up (ACK
    compression; ADR 58 has the figures).
    """
    # Enough for timers that are late by 0.1 ms. More carries messages ahead of the rate: an idle link passed two
    # packets at once, and five with segmentation offload (packets of 64 KiB, which `gso_max_segs` prevents).
    burst = max(LEAST_BURST, rate // 8 // 10_000)
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
    yield f"filter add {device} parent 1: protocol ip u32 match ip protocol 6 0xff match u16 0 0xffc0 at 2 flowid 1:3"


def settings(rate: int, latency: float) -> dict[str, str]:
    """Settings of a node's network, under /proc/sys/net. What a program hands to a socket leaves in its order, and an
    answer to the other end behind it: so a socket takes 5 ms of a link's rate at once, at least 64 KiB. With a latency
    it must have all that is on its way: the kernel's own limits.
    """
    if latency:
        return {}
    most = max(LEAST_SENT, rate // 8 // 200)
    return {"ipv4/tcp_wmem": f"4096 {most // 2} {most}"}


def relimited(link: int, rate: int, latency: float) -> Iterator[str]:
    """The same for a link that was limited or broken."""
    yield f"qdisc del dev l{link} root"
    yield from limited(link, rate, latency)


def payload_rate(rate: int) -> float:
    """Bytes a second of data on a link of so many bits a second, in packets of full length."""
    return rate / 8 * (MTU + ETHERNET - HEADERS) / (MTU + ETHERNET)
