"""Placements by named orders and as files of launchers, as Python has them."""

from __future__ import annotations

import pytest

from kumihimo import _placement
from kumihimo._placement import Placement, Slots
from kumihimo._topology import Shape
from kumihimo.text.errors import KumihimoError

SLOTS = Slots.of_nodes([4] * 4)
NODES = Shape.parse("2x2")
NAMES = ["a", "b", "c", "d"]


def test_blocks_are_an_order_of_ranks_in_a_grid():
    grid = Shape.parse("4x4")
    simple = _placement.simple_orders(SLOTS, NODES, grid)
    assert simple[:3] == ["block", "round-robin", "folded"]
    assert "blocks:2x2" in simple
    assert "blocks:2x2" not in _placement.simple_orders(SLOTS, NODES)
    boxes = Placement.in_order("blocks:2x2", SLOTS, NODES, grid=grid)
    assert boxes.node_of_rank == [0, 0, 1, 1] * 2 + [2, 2, 3, 3] * 2
    with pytest.raises(KumihimoError, match="needs a grid of ranks"):
        Placement.in_order("blocks:2x2", SLOTS, NODES)


def test_fewer_ranks_than_slots_are_placed():
    assert Placement.in_order("round-robin", SLOTS, NODES, ranks=6).node_of_rank == [0, 1, 2, 3, 0, 1]
    assert "block" in _placement.simple_orders(SLOTS, Shape(), ranks=6)
    with pytest.raises(KumihimoError, match="1 to 16"):
        Placement.in_order("block", SLOTS, NODES, ranks=17)


def test_every_format_is_read_as_it_is_written():
    for name in _placement.simple_orders(SLOTS, NODES):
        placement = Placement.in_order(name, SLOTS, NODES)
        for form in _placement.map_formats():
            text = _placement.write_map(form, placement, NAMES, NODES)
            read = _placement.read_map(form, text, "f", SLOTS, NAMES, NODES)
            assert (read.node_of_rank, read.slot_of_rank) == (placement.node_of_rank, placement.slot_of_rank), form


def test_errors_of_files_name_the_line():
    with pytest.raises(KumihimoError, match=r"^hosts:2: the node must be one of the job, by its name \(got 'x'\)"):
        _placement.read_map("slurm", "a\nx\n", "hosts", SLOTS, NAMES)
    with pytest.raises(KumihimoError, match="a format of maps is one of openmpi4, "):
        _placement.write_map("openmpi", Placement.in_order("block", SLOTS, NODES))
    with pytest.raises(KumihimoError, match="hydra needs nodes with names"):
        _placement.write_map("hydra", Placement.in_order("block", SLOTS, NODES))


def test_a_format_has_its_command_line():
    assert _placement.launch_hint("slurm", "hosts", 16) == "SLURM_HOSTFILE=hosts srun -m arbitrary -n 16 PROGRAM"
    assert _placement.launch_hint("permutation", "p", 16) == ""
