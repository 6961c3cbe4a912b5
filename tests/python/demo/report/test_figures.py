"""What the figures, tables and numbers show is what was simulated."""

from __future__ import annotations

import base64
import csv
import io
import math

import pytest

from kumihimo.demo.report import Material, display, model_against_paper, numbers, render, tables
from kumihimo.demo.report.figures import comparison, extensions, link_load, segment_size, simulated_curves, trees
from kumihimo.demo.report.style import Styles


@pytest.fixture
def styles(half) -> Styles:
    return Styles(half)


def test_every_algorithm_has_a_look_of_its_own(half, styles):
    names = {r["algorithm"] for r in half.simulated["results"]}
    looks = [styles.of(name) for name in names]

    assert len({(look.colour, look.marker, look.dash) for look in looks}) == len(names)
    assert {look.name for look in looks if look.dash} == {
        r["algorithm"] for r in half.simulated["results"] if r["extension"]
    }


def test_curves_hold_every_result(half, styles):
    chart = simulated_curves.time(half.simulated, half.simulated["paper_shape"], styles)

    drawn = {(s.name, p["x"]): p["y"] for s in chart.series for p in s.points if s.name != "bound"}

    results = [r for r in half.simulated["results"] if r["shape"] == half.simulated["paper_shape"]]
    assert drawn == {(r["algorithm"], r["bytes"]): r["seconds"] for r in results}


def test_nothing_is_below_the_bound(half, styles):
    chart = simulated_curves.time(half.simulated, half.simulated["paper_shape"], styles)
    bound = {p["x"]: p["y"] for s in chart.series if s.name == "bound" for p in s.points}

    for series in chart.series:
        for point in series.points:
            assert point["y"] >= bound[point["x"]] * (1 - 1e-9), series.name


def test_link_load_conserves_the_bytes(half, styles):
    scene = link_load.scene(half.simulated, styles)

    nodes = math.prod(scene.axes)
    assert len(scene.cables) == 3 * nodes  # a torus of three axes of 3 or more
    low, high = link_load.ends(half.simulated)
    assert [link_load.level(load, low, high) for load in (0, low, high, 2 * high)] == [0, link_load.LEAST, 1, 1]
    for layer in scene.layers:
        load = next(r for r in half.simulated["links"] if r["algorithm"] == layer.name)
        busiest = load["link_bytes_max"] / load["bytes"]
        assert max(layer.loads) == pytest.approx(link_load.level(busiest, low, high), rel=1e-3)
        assert sum(load > 0 for load in layer.loads) == sum(cable[2] > 0 for cable in load["cables"])


def test_the_trees_span_the_torus_and_share_no_link(half):
    for shape in trees.scene(half.simulated).shapes:
        used = set()
        assert len(shape["parents"]) == 3
        for parents, depths in zip(shape["parents"], shape["depths"]):
            assert [node for node, parent in enumerate(parents) if parent < 0] == [shape["root"]]
            assert max(depths) == sum(shape["axes"]) - 3 + 1
            links = {(parent, node) for node, parent in enumerate(parents) if parent >= 0}
            assert not links & used
            used |= links


def test_segment_sizes_are_declared_to_all_alike(half, styles):
    chart = segment_size.chart(half.simulated, styles)

    sizes = {tuple(p["x"] for p in s.points) for s in chart.series}
    assert len(sizes) == 1
    assert len(chart.series) >= 3


def test_agreement_compares_every_published_figure(half):
    rows = model_against_paper.rows({**half.simulated, "as_published": True})

    assert len(rows) == len(half.simulated["published"])
    assert all(len(row) == 5 and all(row) for row in rows)


def test_another_shape_is_not_compared_with_the_publication(half):
    assert not half.simulated["as_published"] and not half.simulated["whole_machine"]
    assert model_against_paper.rows(half.simulated) == []
    for number in numbers.numbers(half):
        assert "published" not in number.how
        assert "whole K" not in number.meaning
    text = render(half)
    assert "this page does not compare with it" in text
    assert "published at" not in text


def test_the_page_says_what_is_assumed(half):
    published = Material(simulated={**half.simulated, "as_published": True})

    text = render(published)

    assert "no independent evidence" in text
    assert "same for every algorithm" in text


def test_a_doubtful_prediction_states_its_margin(half):
    subject = comparison.subject_of(half.simulated)
    slow = {
        **subject,
        "algorithm": "slow",
        "seconds": 4 * subject["seconds"],
        "accuracy": "It is shared",
        "extension": False,
    }
    near = {**slow, "algorithm": "near", "seconds": 0.9 * subject["seconds"]}
    firm = [{**r, "accuracy": ""} for r in half.simulated["results"]]

    found = comparison.doubtful({**half.simulated, "results": [*firm, slow, near]})

    assert len(found) == 2
    assert "changes only if it is 75 % shorter" in found[1]
    assert "their order is not sure" in found[0]


def test_the_words_on_extensions_follow_the_figures(half):
    by_segment = half.simulated["segments"]
    name = next(r["algorithm"] for r in by_segment if r["extension"])
    slower = [{**r, "seconds": r["seconds"] * (1e3 if r["algorithm"] == name else 1)} for r in by_segment]

    found = extensions.sentences({**half.simulated, "segments": slower})

    assert len(found) == len({r["algorithm"] for r in by_segment if r["extension"]})
    assert "not faster at any" in next(sentence for sentence in found if sentence.startswith(display.label(name) + ":"))


def test_the_comparison_leaves_our_extensions_out(half):
    blind = comparison.blind(half.simulated)

    assert blind
    assert not any(r["extension"] for r in blind)
    assert half.simulated["subject"] not in {r["algorithm"] for r in blind}


def test_csv_links_hold_every_row(half):
    for table in tables.tables(half):
        head, _, content = table.data_link().partition(",")
        rows = list(csv.reader(io.StringIO(base64.b64decode(content).decode())))
        assert head == "data:text/csv;base64"
        assert rows[0] == table.columns
        assert len(rows) == 1 + len(table.rows)


def test_numbers_say_what_they_are(half):
    found = numbers.numbers(half)

    assert 3 <= len(found) <= 5
    assert all(number.value and number.meaning and number.how for number in found)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0123456, "12.3 ms"), (1.5e-6, "1.50 µs"), (75.04, "75.0 s"), (0.9999, "1.00 s")]
)
def test_seconds_in_words(value, text):
    assert display.seconds(value) == text


def test_sizes_in_words():
    assert [display.bytes_(n) for n in (8, 65536, 3 * 2**20, 2**30, 1000)] == [
        "8 B",
        "64 KiB",
        "3 MiB",
        "1 GiB",
        "1000 B",
    ]
