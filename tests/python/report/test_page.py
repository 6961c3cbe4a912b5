"""The page in a browser: nothing on the console, every figure drawn, nothing wider than the window."""

from __future__ import annotations

import re

import pytest

from kumihimo import report

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
