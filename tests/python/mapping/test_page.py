"""The page of a placement: its pictures, in light and dark, wide and narrow."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kumihimo import _placement, _topology
from kumihimo.cli.machines import load
from kumihimo.cli.place import simulation
from kumihimo.mapping import page, request


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


def test_a_cell_is_the_first_of_several_nodes(monkeypatch):
    on = request.network(load("reedbush-u"), "12", simulation.PartOfMachine(), None, None)
    asked = SimpleNamespace(network=on, grid=None)
    monkeypatch.setattr(page, "MOST_CELLS", 5)
    colours = {name: [[node, 2, 3] for node in range(12)] for name in page.TITLES}
    prose, shown = page.ranks(asked, {"ranks": 12}, {"before": [1], "after": [0]}, colours)
    assert "the first of 3 nodes" in prose.text
    assert shown.panels[0] == ("usual order", [("", [[node, 2, 3] for node in (0, 3, 6, 9)])])
    assert not list(page.ranks(asked, {"ranks": 12}, {"before": [0], "after": [0]}, colours))
