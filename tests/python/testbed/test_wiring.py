"""The wiring of testbeds: every packet goes the way that the project's own routing says."""

from __future__ import annotations

import pytest

from kumihimo import _machine
from kumihimo.cli.machines import load
from kumihimo.testbed import machine_file, wiring
from kumihimo.text.errors import NotApplicable


def walked(wires: wiring.Wiring, source: int, to: int) -> list[int]:
    """The links of a packet, as the tables of the vertices send it on."""
    at, links, ends = source, [], wires.ends()
    while at != to:
        own = {(sender, node): link for sender, node, link in wires.by_source[at]}
        link = own.get((source, to), wires.next_link[at].get(to))
        links.append(link)
        at = ends[link][1]
        assert len(links) <= wires.vertices
    return links


def check_routes(machine: _machine.Machine) -> wiring.Wiring:
    wires = wiring.of_machine(machine)
    for source in range(machine.nodes):
        for to in range(machine.nodes):
            assert walked(wires, source, to) == list(machine.route(source, to))
    return wires


@pytest.mark.parametrize("shape", ["3x3x3", "4x4", "2x2x2", "4mx3", "5m", "2", "1x2", "6x2mx2"])
def test_packets_take_the_routes_of_tori_and_meshes(shape):
    wires = check_routes(machine_file.of_shape(shape))
    assert not any(wires.by_source)
    links = [link for cable in wires.cables for link in (cable.out, cable.back)]
    assert sorted(links) == sorted(set(links)) == sorted(wires.ends())


def test_packets_take_the_routes_of_switches():
    wires = check_routes(load("reedbush-h"))
    assert wires.switches > 0


def test_a_wrong_table_is_noticed():
    machine = machine_file.of_shape("3x3")
    wires = wiring.of_machine(machine)
    wires.next_link[0][4] = next(link for link in wiring.interfaces(wires, 0) if link != wires.next_link[0][4])
    assert walked(wires, 0, 4) != list(machine.route(0, 4))


def test_routes_that_depend_on_the_sender_have_tables_of_their_own():
    text = machine_file.text_of("square", "graph", "", 2, 1, 10**8, 0.0).replace(
        "[network]", '[topology]\nfamily = "torus"\nshape = "4"\n\n[network]', 1
    )
    wires = wiring.of_machine(_machine.parse(text, "square"))
    other = [list(each) for each in wires.by_source]
    other[1].append((0, 2, wires.next_link[1][0]))
    changed = wiring.Wiring(
        wires.nodes, wires.switches, wires.cables, wires.next_link, tuple(map(tuple, other)), wires.class_of_link
    )
    lines = [*wiring.rules(changed, 1), *wiring.starting(changed, 1, wiring.interfaces(changed, 1))]
    assert any(line.startswith("rule add from 10.77.0.0/32 lookup 1000") for line in lines)
    assert any(line.endswith(" table 1000") and "10.77.0.2/32" in line for line in lines)


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
        wiring.of_machine(machine)


def test_the_machine_file_of_a_shape_is_one():
    topology = machine_file.topology_of(machine_file.of_shape("3x3x3"), None)
    machine = _machine.parse(machine_file.text_of("t", "torus 3x3x3", topology, 6, 2, 50_000_000, 1e-4), "t")
    assert (machine.nodes, str(machine.shape), machine.default_ranks_per_node) == (27, "3x3x3", 2)


def test_headers_take_their_share_of_a_link():
    assert wiring.payload_rate(80_000_000) == pytest.approx(10e6 * (9014 - 66) / 9014)
