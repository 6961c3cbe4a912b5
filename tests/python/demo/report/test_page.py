"""The page in a browser: nothing on the console, every figure drawn, nothing wider than the window."""

from __future__ import annotations

import re

import pytest

from kumihimo.demo import report
from kumihimo.demo.report import display

SECTIONS = {"measured", "simulated", "agreement", "beyond", "links", "three-trees", "tables", "method"}
pytestmark = pytest.mark.page


def made(material, folder):
    return report.write(folder / "index.html", report.render(material, "kumihimo demo"))


def well(opened) -> None:
    assert opened.console == []
    assert opened.ready == "yes"
    assert opened.wide <= 0, "the page is wider than the window"
    assert opened.charts, "no charts"
    assert all(marks > 0 for marks in opened.charts), opened.charts
    assert all(pixels > 100 for pixels in opened.painted), opened.painted


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (500, False), (1280, True)])
def test_half_a_page_opens_without_errors(half, tmp_path, browser, width, dark):
    opened = browser.open_page(made(half, tmp_path), tmp_path, width, dark)

    well(opened)
    assert len(opened.charts) == 8
    assert len(opened.painted) == 6  # two tori, their scale, three trees


@pytest.mark.mpi
def test_a_whole_page_opens_without_errors(whole, tmp_path, browser):
    opened = browser.open_page(made(whole, tmp_path), tmp_path)

    well(opened)
    assert len(opened.charts) == 12
    for section in SECTIONS:
        assert f'id="{section}"' in opened.dom


@pytest.mark.mpi
def test_a_page_of_real_runs_alone_opens_without_errors(measured, tmp_path, browser):
    opened = browser.open_page(made(report.Material(measured=measured), tmp_path), tmp_path)

    well(opened)
    assert len(opened.charts) == 4
    assert "simulated.json" in opened.dom


# What a hand on the keys does, and what is to be seen then.
KEYS = """() => {
  const press = (on, key) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const section = document.getElementById("simulated"), chart = section.querySelector("svg.chart");
  const tip = () => chart.parentElement.querySelector(".tip");
  const head = () => [tip().querySelector("b").textContent, tip().querySelector("tr.near").textContent];
  const button = section.querySelector(".legend button"), name = button.querySelector("span").textContent;
  const faded = () => chart.querySelectorAll(".series.faded").length;
  const seen = { name, series: chart.querySelectorAll(".series").length, faded: [] };
  button.dispatchEvent(new FocusEvent("focus")); seen.faded.push(faded());
  button.dispatchEvent(new FocusEvent("blur")); seen.faded.push(faded());
  seen.focusable = [chart, ...document.querySelectorAll("canvas[role]")].map((e) => e.tabIndex);
  press(chart, "End"); seen.end = head();
  press(chart, "ArrowLeft"); seen.left = head();
  press(chart, "ArrowDown"); seen.down = head();
  press(chart, "Home"); seen.home = head();
  press(chart, "Escape"); seen.hidden = tip().hidden;
  press(chart, "End"); chart.dispatchEvent(new FocusEvent("blur")); seen.blurred = tip().hidden;
  const views = [drawn["link-load"].view, drawn["tree-scene"].view];
  const before = views.map((v) => [v.yaw, v.pitch]);
  for (const name of ["link-load", "tree-scene"]) for (const key of ["ArrowRight", "ArrowDown"])
    press(document.querySelector(`[data-name="${name}"] canvas[role]`), key);
  seen.turned = views.map((v, i) => [v.yaw > before[i][0], v.pitch > before[i][1], v.turning]);
  seen.theme = document.getElementById("theme").getAttribute("aria-label");
  return seen;
}"""


def test_all_values_can_be_reached_by_keys(half, tmp_path, browser):
    opened = browser.open_page(made(half, tmp_path), tmp_path, act=KEYS)

    well(opened)
    seen = opened.acted
    assert seen["faded"] == [seen["series"] - 1, 0]
    assert seen["focusable"] == [0] * 6  # a chart, two tori, three trees
    lengths = sorted({r["bytes"] for r in half.simulated["results"] if r["shape"] == half.simulated["paper_shape"]})
    last, before, first = (display.bytes_(lengths[i]) for i in (-1, -2, 0))
    assert [seen[key][0] for key in ("end", "left", "down", "home")] == [last, before, before, first]
    assert seen["down"][1] != seen["left"][1]
    assert seen["hidden"] is seen["blurred"] is True
    assert seen["turned"] == [[True, True, False]] * 2
    assert seen["theme"] == "light or dark"


def test_the_browser_sees_a_broken_page(half, tmp_path, browser):
    page = made(half, tmp_path)
    page.write_text(page.read_text().replace("class LineChart", "class LineChart_", 1))

    opened = browser.open_page(page, tmp_path)

    assert opened.console
    assert opened.ready is None


def test_the_page_needs_no_network(half, tmp_path):
    text = made(half, tmp_path).read_text()

    for asked in (" src=", 'rel="stylesheet"', "@import", r"fetch\(", "XMLHttpRequest", r"url\((?!#)"):
        assert not re.search(asked, text), asked
    assert len(text) < 6_000_000
