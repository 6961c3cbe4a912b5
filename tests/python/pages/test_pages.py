"""The toolkit of result pages: what a page of some parts holds, and what it looks like in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kumihimo import pages
from kumihimo.pages import parts as all_parts
from kumihimo.pages.rendering import FOLDER

KINDS = [
    each
    for each in vars(all_parts).values()
    if isinstance(each, type) and issubclass(each, pages.DrawnPart) and each is not pages.DrawnPart
]
CHART = pages.LineChart("Time", "by ranks", [pages.LineSeries("ring", pages.points_of([(1, 2.0), (2, 1.0)]))])


def data_of(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_texts_are_escaped_and_markup_is_not() -> None:
    parts = [
        pages.Prose("a <b> & c"),
        pages.Prose(pages.markup("<code>{}</code>", "<x>")),
        pages.PageTable(("name", "n>"), [("<y>", pages.markup('<span class="ok">{}</span>', "<z>"))]),
        pages.PageSection("<s>", [pages.FactList([("<k>", "<v>")]), pages.Listing("<l>"), pages.BulletList(["<i>"])]),
    ]
    text = pages.page("<t>", parts, about="<about>")
    for word in ("b", "x", "y", "z", "s", "k", "v", "l", "i", "t", "about"):
        assert f"&lt;{word}&gt;" in text and f"<{word}>" not in text
    assert "<code>&lt;x&gt;</code>" in text and '<td class=""><span class="ok">&lt;z&gt;</span></td>' in text


def test_a_page_holds_the_scripts_of_its_parts_alone() -> None:
    plain, lines = pages.page("p", []), pages.page("p", [pages.ChartGroup([CHART])])
    assert "class LineChart" in lines and "class LineChart" not in plain
    assert "class Scene" not in lines and "RowsOverTime" not in lines
    assert data_of(plain) == {}


def test_values_cannot_end_the_script_element() -> None:
    series = [pages.LineSeries("</script><b>", [{"x": 1, "y": 1, "note": "</script>"}])]
    text = pages.page("p", [pages.ChartGroup([pages.LineChart("", "", series)])])
    assert text.count("</script>") == 2
    (chart,) = data_of(text)["chart-group"]["charts"]
    assert chart["series"][0]["name"] == "</script><b>"


def test_parts_with_one_name_are_refused() -> None:
    with pytest.raises(AssertionError, match="one name"):
        pages.page("p", [pages.PageSection("s", [pages.ChartGroup([CHART])]), pages.ChartGroup([CHART])])


def test_sections_are_linked_by_their_short_names() -> None:
    listing = [pages.Listing("a")]
    text = pages.page(
        "p", [pages.PageSection("A long title", listing, "Short one"), pages.PageSection("Plain", listing)]
    )
    assert re.findall('<a href="#(.*?)">(.*?)</a>', text) == [("short-one", "Short one"), ("plain", "Plain")]
    assert re.findall('<section id="(.*?)">', text) == ["short-one", "plain"]


def test_no_section_takes_the_name_of_what_every_page_has() -> None:
    text = pages.page("p", [pages.PageSection(title, [pages.Listing("a")]) for title in ("Data", "Theme")])
    assert text.count('id="data"') == text.count('id="theme"') == 1 and 'id="data-section"' in text


def test_what_has_nothing_to_show_is_left_out() -> None:
    empty = [pages.PageTable(("a",), []), pages.BulletList([]), pages.ChartGroup([]), pages.FactList([])]
    full = [pages.PageTable(("a",), [("<x>",)]), *empty]
    parts = [pages.PageSection("Empty", [pages.Prose("lead"), *empty]), pages.PageSection("Full", full)]
    text = pages.page("p", [*parts, pages.PageSection("Absent", [pages.Prose("no figures", "absent")])])
    assert re.findall("<h2>(.*?)</h2>", text) == ["Full", "Absent"] and text.count("<table") == 1
    assert data_of(text) == {} and "<dl" not in text and '<ul class="method"' not in text


def test_zeros_and_decisions_are_kept_in_the_data() -> None:
    series = pages.LineSeries("a", [{"x": 0, "y": 0.0}], marker=0, checked=False)
    (chart,) = data_of(pages.page("p", [pages.ChartGroup([pages.LineChart("", "", [series])])]))["chart-group"][
        "charts"
    ]
    (found,) = chart["series"]
    assert found["marker"] == 0 and found["checked"] is False and found["points"] == [{"x": 0, "y": 0.0}]
    assert "strong" not in found and "dash" not in found


def test_every_kind_is_drawn_by_a_script_and_every_script_is_used() -> None:
    scripts = {file.stem: file.read_text(encoding="utf-8") for file in (FOLDER / "scripts").glob("*.js")}
    code = "".join(scripts.values())
    charts = pages.PageChart.__subclasses__()
    assert all(f'CHARTS["{chart.kind}"] = ' in scripts[chart.kind] for chart in charts)
    assert all(f'PARTS["{part.kind}"] = class' in code for part in KINDS)
    needed = {"base", "charts"} | {each.kind for each in [*charts, *KINDS]} & set(scripts)
    for part in KINDS:
        needed |= set() if part is pages.ChartGroup else set(part.scripts)
    assert needed == set(scripts)


def test_a_page_of_many_parts_in_a_browser(browser, tmp_path: Path) -> None:
    layer = pages.TorusLayer("a", "first", [0.2, 1.0], facts=[("busiest", "2")])
    squares = [("left", [("", [0.5, None, [1, 2, 3]])])]
    row = {"name": "one", "colour": "s2", "points": [{"x": 1.0, "label": "first"}, {"x": 2.0, "label": "b"}]}
    dots = pages.DotChart("Runs", "", [row])
    bars = pages.BarChart("Parts", "", [pages.ChartBar("a", [1, 2])], "seconds", [{"x": 2, "label": "mark"}])
    parts = [
        pages.KeyFacts([("1 s", "time", "how"), ("2", "numbers")]),
        pages.PageSection("Charts", [pages.ChartGroup([CHART, bars, dots])]),
        pages.HeatMap("Map", "by time", "share", 0.5, [("rank 0", [0.0, 0.5, 1.0])]),
        pages.TorusScene("links", "torus", [2, 1], [layer], ["a"], [[0, 1], [1, 0]], ("0", "1", "load")),
        pages.SquareMap("cells", "squares", squares, scale=("0", "1", "load")),
        pages.RawTable("raw", "All numbers", ["a", "b"], [[1, "x"], [2.123456789, None]]),
        pages.FoldedParts("More", [pages.Prose("hidden")]),
    ]
    (tmp_path / "page.html").write_text(pages.page("All", parts), encoding="utf-8")
    act = """() => {
      document.querySelector("details").open = true;
      document.querySelector("svg.chart .dot").dispatchEvent(new Event("pointerenter"));
      const theme = () => getComputedStyle(document.documentElement).getPropertyValue("color-scheme").trim();
      const before = theme();
      document.getElementById("theme").click();
      const map = drawn["heat-map"]; map.bin = 2; map.tell();
      return [before, theme(), map.told.textContent, document.querySelectorAll(".legend button").length];
    }"""
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=500, act=act)
    assert (seen.ready, seen.console) == ("yes", []) and seen.wide <= 0
    assert (seen.charts, min(seen.painted) > 50) == ([2, 2, 2], True), seen.painted
    assert seen.acted == ["light", "dark", "rank 0, from 1 s to 1.5 s: 100 %", 0]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_part_says_what_it_takes(kind: type) -> None:
    assert kind.__doc__ and not kind.__doc__.startswith(f"{kind.__name__}(")
