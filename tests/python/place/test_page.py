"""The page of a placement: its pictures, in light and dark, wide and narrow."""

from __future__ import annotations

import pytest

from kumihimo import _placement, _topology
from kumihimo.cli.place import simulation
from kumihimo.place import page, request


def test_cables_carry_what_their_busier_direction_carries():
    on = request.network(None, "4x3", simulation.PartOfMachine(), None, None)
    links = on.job.machine.links
    loads = {"before": [row[0] for row in links], "after": [1] * len(links)}
    seen = page.scene(on.job.machine, links, loads)
    assert seen["axes"] == [4, 3] and len(seen["cables"]) == 24 and seen["hidden"] == 0
    for (a, b), load in zip(seen["cables"], seen["loads"]["before"]):
        assert load == max(row[0] for row in links if {row[1], row[2]} == {a, b})
    assert set(seen["loads"]["after"]) == {1} and seen["full_scale"] == max(loads["before"])


def test_colours_follow_the_grid_and_the_number_of_the_rank():
    slots = _placement.Slots.of_nodes([1] * 9)
    placement = _placement.Placement.in_order("block", slots, _topology.Shape.parse("9"), None, 8)
    colours = page.node_colours(placement, _topology.Shape.parse("2x2x2"), 9)
    assert colours[0] == [35, 35, 35] and colours[4] == [240, 35, 35] and colours[8] is None
    ends = page.node_colours(placement, None, 9)
    assert ends[0] == list(page.STOPS[0]) and ends[7] == list(page.STOPS[-1])


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (420, True)])
def test_a_page_in_a_browser(kumihimo, browser, tmp_path, width, dark):
    ended = kumihimo("place", "-t", "halo:4x4x4:27", "-s", "2x4x8", "--effort", "fast", "--page", "page.html")
    assert ended.code == 0 and "page: page.html" in ended.out
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=width, dark=dark)
    assert (seen.ready, seen.console) == ("yes", [])
    assert seen.wide <= 0 and len(seen.painted) == 5 and all(n > 500 for n in seen.painted[:2])


@pytest.mark.parametrize("options", [(), ("--no-link-cap",)])
def test_the_limit_on_links_is_stated_where_it_holds(kumihimo, tmp_path, options):
    asked = ("place", "-t", "halo:4x4:5", "-s", "4x4", "--effort", "fast", "--page", "page.html")
    assert kumihimo(*asked, *options).code == 0
    text = (tmp_path / "page.html").read_text()
    assert ("Candidates that load a link more" in text) == (not options)


def test_a_network_without_axes_has_cells(kumihimo, browser, tmp_path):
    asked = ("place", "-t", "halo:4x4:5", "-m", "reedbush-u", "-s", "16", "--ranks-per-node", "1", "--effort", "fast")
    assert kumihimo(*asked, "--page", "page.html").code == 0
    text = (tmp_path / "page.html").read_text()
    assert 'data-part="chart-group"' in text and 'data-name="rank-places"' not in text
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=1000, dark=False)
    assert (seen.ready, seen.console) == ("yes", []) and seen.wide <= 0
    assert all(n > 100 for n in seen.painted)


def test_cells_are_the_used_links_by_class_and_the_busiest_of_several(monkeypatch):
    on = request.network(None, "4x3", simulation.PartOfMachine(), None, None)
    links = on.job.machine.links
    loads = {"before": [n % 3 for n in range(len(links))], "after": [0] * len(links)}
    colours = {name: [[1, 2, 3]] * 12 for name in loads}
    cells = page.flat(on.job.machine, links, loads, colours)
    assert sum(of["links"] for of in cells["classes"]) == sum(load > 0 for load in loads["before"])
    assert all(min(of["before"]) > 0 for of in cells["classes"]) and cells["full_scale"] == 2
    monkeypatch.setattr(page, "MOST_CELLS", 5)
    few = page.flat(on.job.machine, links, loads, colours)
    assert len(few["colours"]["before"]) == 4 and few["nodes_of_cell"] == 3
    assert sum(len(of["before"]) for of in few["classes"]) <= 5 + len(few["classes"])
    assert page.flat(on.job.machine, links, {name: [0] * len(links) for name in loads}, colours) is None
