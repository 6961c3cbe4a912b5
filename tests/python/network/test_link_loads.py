"""The loads of links as pictures."""

from __future__ import annotations

from kumihimo.network import link_loads
from kumihimo.testbed.machine_file import of_shape


def test_cables_carry_what_their_busier_direction_carries():
    machine = of_shape("4x3")
    links = machine.links
    loads = {"before": [row[0] for row in links], "after": [1] * len(links)}
    seen = link_loads.scene(machine, loads)
    assert seen.axes == [4, 3] and len(seen.cables) == 24 and seen.hidden == 0
    for ends, load in zip(seen.cables, seen.loads["before"]):
        assert load == max(row[0] for row in links if {row[1], row[2]} == set(ends))
    assert set(seen.loads["after"]) == {1} and seen.full_scale == max(loads["before"])


def test_cells_are_the_used_links_by_class_and_the_busiest_of_several(monkeypatch):
    machine = of_shape("4x3")
    number = len(machine.links)
    loads = {"before": [n % 3 for n in range(number)], "after": [0] * number}
    cells = link_loads.flat(machine, loads)
    assert sum(of.links for of in cells.classes) == sum(load > 0 for load in loads["before"])
    assert all(min(of.cells["before"]) > 0 for of in cells.classes) and cells.full_scale == 2
    monkeypatch.setattr(link_loads, "MOST_CELLS", 5)
    few = link_loads.flat(machine, loads)
    assert sum(len(of.cells["before"]) for of in few.classes) <= 5 + len(few.classes)
    assert link_loads.flat(machine, {name: [0] * number for name in loads}) is None


def test_a_single_load_has_one_picture():
    machine = of_shape("4x3")
    prose, scene = link_loads.pictures(machine, {"measured": [1] * len(machine.links)}, {"measured": "measured"}, "")
    assert scene.shown == ["measured"] and "Both" not in prose.text
