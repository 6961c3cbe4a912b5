"""The wiring of testbeds: every packet goes the way that the project's own routing says."""

from __future__ import annotations

from math import prod

import pytest

from kumihimo import _machine
from kumihimo.cli.machines import load
from kumihimo.testbed import machine_file
from kumihimo.testbed import wiring as wires
from kumihimo.testbed.wiring import Wiring
from kumihimo.text.errors import NotApplicable


def walked(wiring: Wiring, sender: int, to: int) -> list[int]:
    """The links of a packet, as the tables of the vertices send it on."""
    at, links, hops = sender, [], wiring.hops
    while at != to:
        own = {(of, node): link for of, node, link in hops.of_sender[at]}
        link = own.get((sender, to), hops.usual[at].get(to))
        links.append(link)
        at = wiring.ends[link][1]
        assert len(links) <= wiring.vertices
    return links


def check_routes(machine: _machine.Machine) -> Wiring:
    wiring = Wiring(machine)
    for sender in range(machine.nodes):
        for to in range(machine.nodes):
            assert walked(wiring, sender, to) == list(machine.route(sender, to))
    return wiring


def of_topology(lines: str) -> _machine.Machine:
    return _machine.parse(machine_file.text_of("t", "t", f"[topology]\n{lines}\n", 1, 1, 10**8, 0.0), "t")


def test_a_socket_takes_little_more_than_what_a_link_needs():
    assert wires.settings(50_000_000, 0.0) == {"ipv4/tcp_wmem": "4096 32768 65536"}
    assert wires.settings(1_000_000_000, 0.0) == {"ipv4/tcp_wmem": "4096 312500 625000"}
    assert wires.settings(50_000_000, 1e-3) == {}


def test_a_measured_total_of_all_links_is_kept_once():
    text = machine_file.text_of("t", "t", '[topology]\nfamily = "torus"\nshape = "3x3"\n', 4, 1, 10**8, 0.0)
    once = machine_file.with_total(text, 5e8)
    assert once.count("total_bandwidth") == 1 and "500000 kB/s" in once
    twice = machine_file.with_total(once, 4e8)
    assert twice.count("total_bandwidth") == 1 and "400000 kB/s" in twice
    assert _machine.parse(twice, "t").shape == _machine.parse(text, "t").shape


@pytest.mark.parametrize("shape", ["3x3x3", "4mx3", "2x2", "3x2x1", "12x2", "2mx22"])
def test_a_message_to_each_neighbour_crosses_each_link_once(shape):
    axes = machine_file.neighbours_of(shape).removeprefix("cart:").split("x")
    lengths = [int(axis.rstrip("m")) for axis in axes]
    on_a_line = [2 * (length - axis.endswith("m")) for axis, length in zip(axes, lengths)]  # messages
    sent = sum(on_line * prod(lengths) // length for on_line, length in zip(on_a_line, lengths))
    assert sent == len(Wiring(machine_file.of_shape(shape)).ends)


@pytest.mark.parametrize("shape", ["3x3x3", "4x4", "2x2x2", "4mx3", "5m", "2", "1x2", "6x2mx2"])
def test_packets_take_the_routes_of_tori_and_meshes(shape):
    wiring = check_routes(machine_file.of_shape(shape))
    assert not any(wiring.hops.of_sender)
    assert all(wiring.back[back] == link and back != link for link, back in wiring.back.items())


def test_packets_take_the_routes_of_switches():
    wiring = check_routes(load("reedbush-h"))
    assert wiring.switches > 0


ECMP = 'family = "fat_tree"\narity = "4x4"\nparents = "1x4"\nrouting = "ecmp"'


@pytest.mark.parametrize(
    "topology",
    [
        ECMP,
        'family = "dragonfly"\ngroups = 4\nrouters_per_group = 3\nnodes_per_router = 2',
        'family = "dragonfly"\ngroups = 4\nrouters_per_group = 3\nnodes_per_router = 2\nrouting = "valiant"',
        'family = "graph"\nnodes = 6\nswitches = 3\nedges = ["0..2-6", "3..5-7", "6-8 x2", "7-8 x2"]',
        'family = "graph"\nnodes = 4\nedges = ["0-1", "1-2", "2-3", "3-0"]',
    ],
)
def test_packets_take_the_routes_of_other_families(topology):
    check_routes(of_topology(topology))


def test_routes_that_depend_on_the_sender_have_tables_of_their_own():
    wiring = check_routes(of_topology(ECMP))
    at = next(vertex for vertex, others in enumerate(wiring.hops.of_sender) if others)
    sender, to, link = wiring.hops.of_sender[at][0]
    lines = list(wires.interfaces(wiring, at))
    table = f"table {1000 + sender}"
    assert any(line.startswith(f"route replace {wires.address(to)}/32") and line.endswith(table) for line in lines)
    assert f"rule add from {wires.address(sender)}/32 lookup {1000 + sender} pref {1000 + sender}" in lines
    assert wiring.hops.usual[at][to] != link  # so that without the table the packet went another way


def test_each_node_has_a_route_by_its_own_interface_that_no_packet_takes():
    wiring = Wiring(machine_file.of_shape("3x3"))
    for vertex in range(wiring.nodes):
        lines = list(wires.interfaces(wiring, vertex))
        for other in set(range(wiring.nodes)) - {vertex}:
            taken, spare = (line for line in lines if line.startswith(f"route replace {wires.address(other)}/32"))
            assert " via " in taken and "metric" not in taken
            assert spare.endswith(f"dev {wires.OWN_INTERFACE} metric 9999")


def test_a_wrong_table_is_noticed():
    machine = machine_file.of_shape("3x3")
    wiring = Wiring(machine)
    right = wiring.hops.usual[0][4]
    wiring.hops.usual[0][4] = next(link for link in wiring.leaving[0] if link != right)
    assert walked(wiring, 0, 4) != list(machine.route(0, 4))


def test_a_single_node_has_no_network():
    machine = _machine.parse(
        machine_file.text_of("one", "node", '[topology]\nfamily = "single_node"\n', 1, 1, 10**8, 0.0)
        .replace("[network]", "[unknown]")
        .split("[unknown]")[0]
        + "[node]"
        + machine_file.text_of("one", "node", "", 1, 1, 10**8, 0.0).split("[node]")[1],
        "one",
    )
    with pytest.raises(NotApplicable, match="needs a network between nodes"):
        Wiring(machine)


def test_the_machine_file_of_a_shape_is_one():
    topology = machine_file.topology_of(machine_file.of_shape("3x3x3"), None)
    machine = _machine.parse(machine_file.text_of("t", "torus 3x3x3", topology, 6, 2, 50_000_000, 1e-4), "t")
    assert (machine.nodes, str(machine.shape), machine.default_ranks_per_node) == (27, "3x3x3", 2)


def test_headers_take_their_share_of_a_link():
    assert wires.payload_rate(80_000_000) == pytest.approx(10e6 * (9014 - 66) / 9014)


def test_links_of_one_direction_are_refused():
    with pytest.raises(NotApplicable, match="both directions"):
        Wiring(of_topology('family = "routes"\nnodes = 2\nlinks = ["a"]\nroutes = ["0-1: 0", "1-0: 0"]'))
