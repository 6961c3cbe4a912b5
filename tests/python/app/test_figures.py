"""Figures of runs: medians, shares of the bound, speed-ups, and the page that shows them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo.app import figures, page
from kumihimo.app.catalogue import ApplicationRow
from kumihimo.text.errors import Failed

VARIANTS = ({"name": "golden", "parameters": []}, {"name": "fast", "parameters": []})
APPLICATION = ApplicationRow("toy", "a <toy>", "", "", "64", "abc", ("cg",), VARIANTS, ())
RATES = {"triad_bytes_per_second": 10e9, "peak_flops": 50e9}


def result(variant: str, seconds: float, right: bool | None = True, **other) -> dict:
    found = {
        "variant": variant,
        "parameters": {},
        "turn": 0,
        "seconds": seconds,
        "setup_seconds": 0.1,
        "iterations": 3,
        "residual": 1e-9,
        "history": [1.0, 0.1, 1e-3, 1e-9],
        "kernels": [
            {"name": "product", "calls": 3, "seconds": 0.4, "bytes": 2e9, "flops": 1e9},
            {"name": "dense", "calls": 3, "seconds": 0.2, "bytes": 1e6, "flops": 5e9},
            {"name": "sums", "calls": 3, "seconds": 0.0, "bytes": 0.0, "flops": 0.0},
        ],
    }
    return {**found, **({} if right is None else {"checked": {"right": right, "error": 1e-9, "bound": 1e-8}}), **other}


def about(ranks: int = 1, threads: int = 1, rates: dict | None = RATES) -> dict:
    return {"ranks": ranks, "threads": threads, **({"rates": rates} if rates else {})}


def test_a_row_is_the_median_of_its_runs() -> None:
    rows = figures.summary([result("golden", 3), result("fast", 1), result("golden", 1), result("golden", 2)], about())
    assert [(row["variant"], row["seconds"], row["runs"]) for row in rows] == [("golden", 2, 3), ("fast", 1, 1)]
    assert rows[0]["seconds_of_runs"] == [3, 1, 2]


def test_of_an_even_number_of_runs_all_figures_are_of_one_run() -> None:
    slow, fast = result("fast", 3, seconds_per_step=0.3), result("fast", 1, seconds_per_step=0.1)
    (row,) = figures.summary([slow, fast], about())
    assert (row["seconds"], row["seconds_per_step"]) == (1, 0.1)
    assert row["share_of_bound"] == pytest.approx(row["bound_seconds"] / row["seconds"])


def test_one_wrong_run_makes_a_row_wrong() -> None:
    assert figures.summary([result("fast", 1), result("fast", 1, False)], about())[0]["right"] is False
    assert figures.summary([result("fast", 1, None)], about())[0]["right"] is None


def test_the_bound_is_the_higher_roof() -> None:
    (row,) = figures.summary([result("fast", 1.0)], about())
    product, dense, sums = row["kernels"]
    assert product["bound_seconds"] == pytest.approx(0.2) and product["share_of_bound"] == pytest.approx(0.5)
    assert dense["bound_seconds"] == pytest.approx(0.1) and dense["share_of_bound"] == pytest.approx(0.5)
    assert sums["share_of_bound"] is None
    assert row["share_of_bound"] == pytest.approx(0.3)
    assert "share_of_bound" not in figures.summary([result("fast", 1.0)], about(rates=None))[0]


def test_a_kernel_of_the_setup_is_not_in_the_bound_of_the_solve() -> None:
    plain = result("fast", 1.0)
    assembly = {"name": "assembly", "calls": 1, "seconds": 5.0, "bytes": 1e10, "flops": 1e11, "setup": True}
    (row,) = figures.summary([{**plain, "kernels": [*plain["kernels"], assembly]}], about())
    assert row["share_of_bound"] == pytest.approx(0.3)
    assert row["kernels"][-1]["share_of_bound"] == pytest.approx(0.4)
    (chart,) = [each for each in page.kernels([row], RATES, APPLICATION) if each.name == "time-0-chart"]
    assert "assembly" not in [bar.label for bar in chart.rows]


def test_speed_ups_are_over_the_golden_copy_and_over_fewer_processors() -> None:
    rows = figures.summary([result("golden", 4), result("fast", 2)], about())
    rows += figures.summary([result("golden", 3), result("fast", 1.25)], about(2, 1))
    rows = figures.with_ratios(rows, APPLICATION)
    assert [row["times_golden"] for row in rows] == [1, 2, 1, pytest.approx(2.4)]
    assert rows[3]["speedup"] == pytest.approx(1.6) and rows[3]["efficiency"] == pytest.approx(0.8)


def test_the_best_is_right_where_any_is() -> None:
    rows = figures.summary([result("golden", 4), result("fast", 2, False)], about())
    assert figures.best(rows)["variant"] == "golden"
    rows = figures.summary([{"variant": "x", "parameters": {}, "not_applicable": "no"}, result("fast", 2)], about())
    assert figures.best(rows)["variant"] == "fast"


def test_a_variant_that_fails_once_has_no_figures() -> None:
    unfit = {"variant": "x", "parameters": {}, "not_applicable": "it failed", "failed": True}
    rows = figures.summary([{**result("fast", 1), "variant": "x"}, result("golden", 2), unfit], about())
    assert rows[0]["not_applicable"] == "it failed" and "seconds" not in rows[0]
    assert figures.best(rows)["variant"] == "golden"
    with pytest.raises(Failed, match="no variant solved the problem: it failed"):
        figures.best(rows[:1])


def found_of(rows: list[dict], rates: dict | None = RATES) -> dict:
    rows = figures.with_ratios(rows, APPLICATION)
    return {
        "application": "toy",
        "size": "64",
        "method": "cg",
        "tolerance": 1e-8,
        "command": "kumihimo app toy",
        "rates": rates,
        "facts": {"ranks": 1},
        "results": rows,
    }


def data_of(text: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_has_all_figures_and_needs_nothing_else(tmp_path: Path) -> None:
    rows = figures.summary([result("golden", 4), result("fast", 2)], about())
    rows += figures.summary(
        [result("fast", 1.25), {"variant": "x", "parameters": {}, "not_applicable": "no"}], about(2)
    )
    path = tmp_path / "page.html"
    page.write(path, found_of(rows), APPLICATION)
    text = path.read_text()
    data = data_of(text)
    assert set(data) == {"convergence", "kernels", "roofline", "scaling"}
    for name, group in data.items():
        assert f'data-part="chart-group" data-name="{name}"' in text and group["charts"]
    charts = [chart for group in data.values() for chart in group["charts"]]
    assert len({chart["name"] for chart in charts}) == len(charts)
    assert not re.search(r'(src|href)="http', text)
    assert "a &lt;toy&gt;" in text and "<toy>" not in text
    assert data["convergence"]["charts"][0]["series"][0]["points"][-1] == {"x": 3, "y": 1e-9}


def test_the_page_shows_the_answer_of_an_application() -> None:
    unknown = [{"name": "G matrix", "calls": 3, "seconds": 0.4, "bytes": 0.0, "flops": 0.0}]
    rows = figures.summary([result("golden", 4, kernels=unknown)], about())
    points = [{"x": 1, "y": -20.5}, {"x": 2, "y": 0.5}]
    answer = {
        "answer": [["energy", "<-74.9>"]],
        "tables": [{"name": "classes", "title": "Classes", "columns": ["class", "time"], "rows": [["(ss,ss)", "<7>"]]}],
        "charts": [
            {
                "name": "levels",
                "title": "Levels",
                "unit": "hartree",
                "scale": "signed",
                "series": [{"name": "a", "points": points}, {"name": "none", "points": []}],
            }
        ],
    }
    scf = replace(APPLICATION, methods=(), residual="commutator")
    text = page.render({**found_of(rows), **answer, "method": ""}, scf)
    assert "&lt;-74.9&gt;" in text and "&lt;7&gt;" in text and 'id="table-classes"' in text
    groups = data_of(text)
    assert "roofline" not in groups
    assert groups["convergence"]["charts"][0]["unit"] == "commutator by iteration"
    headings = re.findall("<h2[^>]*>(.*?)</h2>", text)
    assert sorted(set(headings)) == sorted(headings)
    (chart,) = groups["answer"]["charts"]
    assert chart["name"] == "answer-levels-chart" and chart["y"]["scale"] == "signed"
    assert [series["points"] for series in chart["series"]] == [points]


def test_the_page_explains_shares_above_the_bound_where_there_are_any() -> None:
    def captions(seconds: float) -> list[str]:
        kernel = {"name": "product", "calls": 1, "seconds": seconds, "bytes": 2e9, "flops": 1e9}  # bound: 0.2 s
        data = data_of(
            page.render(found_of(figures.summary([result("fast", 4, kernels=[kernel])], about())), APPLICATION)
        )
        return [c.get("caption", "") for c in data["kernels"]["charts"] if c["name"].startswith("bound-")]

    (within,), (above,) = captions(0.4), captions(0.1)
    assert within == "" and above.startswith("Above 100 %")


def test_a_kernel_without_known_traffic_shows_its_operations() -> None:
    kernels = [
        {"name": "update", "calls": 1, "seconds": 2.0, "bytes": 0.0, "flops": 50e9},
        {"name": "copy", "calls": 1, "seconds": 2.0, "bytes": 10e9, "flops": 0.0},
    ]
    rows = figures.summary([result("fast", 4, kernels=kernels)], about())
    (chart,) = [each for each in page.kernels(rows, RATES, APPLICATION) if each.name == "bound-0-chart"]
    assert [bar.note for bar in chart.rows] == ["50 %, 25 GFLOPS", "50 %, 5 GB/s"]


def test_a_page_without_rates_has_no_roofline() -> None:
    rows = figures.summary([result("golden", 4)], about(rates=None))
    assert set(data_of(page.render(found_of(rows, None), APPLICATION))) == {"convergence", "kernels"}


def test_long_histories_are_thinned_to_their_ends() -> None:
    history = [10.0**-k for k in range(8)] + [1e-8] * 5000 + [0.0, 1e-9]
    rows = figures.summary([result("golden", 4, history=history)], about())
    (chart,) = data_of(page.render(found_of(rows), APPLICATION))["convergence"]["charts"]
    points = chart["series"][0]["points"]
    assert len(points) <= page.MOST_POINTS + 1
    assert points[0] == {"x": 0, "y": 1.0} and points[-1] == {"x": len(history) - 1, "y": 1e-9}


def test_no_rows_have_no_best() -> None:
    with pytest.raises(Failed, match="no variant solved the problem"):
        figures.best([])
    with pytest.raises(Failed, match="it does not fit"):
        figures.best([{"failed": "x"}, {"not_applicable": "it does not fit"}])


def test_a_table_has_no_columns_without_text() -> None:
    rows = [["a", "", "1", ""], ["b", "", "", "x"]]
    assert figures.without_empty(("name", "none", "some", "last"), rows) == (
        ["name", "some", "last"],
        [["a", "1", ""], ["b", "", "x"]],
    )
    assert figures.without_empty(("name", "none"), iter([])) == (["name", "none"], [])
