"""Projected machines: the models of power, their bands, the trends of the past, and machine files."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumihimo import _machine
from kumihimo.predict.projection import files, machine_file, model, past, spread, study
from kumihimo.predict.projection.files import Assumption, Scaling
from kumihimo.predict.projection.model import FULL, SIMPLE, Limits
from kumihimo.text.errors import BadInput

HEAVY = files.node_class("heavy-2008")
ROADMAP = files.scaling("roadmap-2007")
TWENTY = Limits(power=20e6)
SHAPES = (("20x12x24", 27, "3x3x3"), ("4mx4", 10, "4mx3"), ("8", 5, "5"))
UNITS = (
    ("20MW", files.WATTS, 20e6),
    ("1EF", files.FLOPS, 1e18),
    ("1.5 Pflop/s", files.FLOPS, 1.5e15),
    ("16 GB", files.BYTES, 16e9),
)


def growing(**factors: float) -> Scaling:
    """All parts as they are, but for these."""
    return Scaling("test", "test", {name: exactly(factors.get(name, 1.0)) for name in files.GROWTHS})


def exactly(value: float) -> Assumption:
    return Assumption(value, value, value, "assumed: a test")


@pytest.mark.parametrize("kind", (SIMPLE, FULL))
def test_the_year_of_the_class_gives_its_node(kind: str) -> None:
    node = model.node(HEAVY, model.usual(HEAVY, ROADMAP), HEAVY.year, kind)
    assert node.peak == pytest.approx(HEAVY.peak) and node.memory == pytest.approx(HEAVY.memory)
    assert node.watts == pytest.approx(HEAVY.power)
    shares = {part: watts / node.watts for part, watts in node.power.items()}
    assert shares["rest"] == pytest.approx(0.2) and shares["memory"] == pytest.approx(0.15)


def test_the_models_of_power_by_hand() -> None:
    """Ten years, peak 2x a year: processors 0.55, memory 0.15, router 0.10, rest 0.20 of 372 W."""
    by = model.usual(HEAVY, growing(peak=2.0, dram_bits=1.5, dram_access_energy=0.4, link_energy=0.5))
    simple = model.node(HEAVY, by, HEAVY.year + 10, SIMPLE)
    assert simple.watts == pytest.approx(372.0)
    assert simple.memory == pytest.approx(16e9 * 1.5**10)
    full = model.node(HEAVY, by, HEAVY.year + 10, FULL)
    chips = (2.0 / 1.5) ** 10
    memory, router = 0.15 * chips * (2.0 * 0.4) ** 10, 0.10 * (2.0 * 0.5) ** 10
    assert full.watts == pytest.approx(372.0 * (0.55 + memory + router) / 0.8)
    assert full.memory == pytest.approx(16e9 * 2.0**10)
    assert full.peak == simple.peak == pytest.approx(73.6e9 * 2.0**10)


def test_limits_bind_one_by_one() -> None:
    by = model.usual(HEAVY, growing())

    def of(limits: Limits) -> tuple[int, str]:
        found = model.machine(HEAVY, by, HEAVY.year, SIMPLE, limits)
        return found.nodes, found.limit

    assert of(Limits(power=372e3)) == (1000, "power")
    assert of(Limits(power=372e3, racks=2)) == (192, "racks")
    assert of(Limits(power=372e3, racks=2, cost=55e3)) == (10, "cost")
    assert of(Limits(power=100.0)) == (0, "power")


@pytest.mark.parametrize(("kind", "least", "most"), ((SIMPLE, 10, 30), (FULL, 30, 60)))
def test_the_finding_of_2008(kind: str, least: float, most: float) -> None:
    """Short of an exaflop in 2018 by 10 times (simple) to 50 to 60 times (full), with at most 600 racks and 20 MW."""
    limits = Limits(power=20e6, racks=600)
    found = model.machine(HEAVY, model.usual(HEAVY, ROADMAP), 2018.5, kind, limits)
    assert least < 1e18 / found.peak < most


def test_what_came_in_2018() -> None:
    summit = past.came(2018)
    assert summit.name == "Summit" and 1e18 / (summit.linpack / summit.power * 20e6) == pytest.approx(3.6, abs=0.05)
    assert past.came(1950) is None


def test_k_at_twice_its_power_and_a_hundred_times_its_speed_is_an_exaflop_at_20_megawatt() -> None:
    k = next(each for each in files.past_machines() if each.name == "K computer")
    assert 1e18 / k.linpack == pytest.approx(100, rel=0.06) and 20e6 / k.power == pytest.approx(2, rel=0.25)


def test_history_leaves_the_shares_of_a_nodes_power() -> None:
    by = model.usual(HEAVY, past.scaling(2025.0))
    for kind in (SIMPLE, FULL):
        node = model.node(HEAVY, by, 2030, kind)
        for part, share in (("processor", 0.55), ("memory", 0.15), ("router", 0.10), ("rest", 0.20)):
            assert node.power[part] / node.watts == pytest.approx(share)


def test_a_whole_year_has_its_lists() -> None:
    """Tianhe-2 is of June 2013."""
    newest = max(each.year for each in files.past_machines() if each.year < 2014)
    assert past.trend_until(past.end_of(2013), "peak").last == newest > 2013


def test_a_trend_finds_planted_growth() -> None:
    exact = past.trend([(year, 3.0 * 1.4 ** (year - 2000)) for year in range(2000, 2010)])
    assert exact.factor == pytest.approx(1.4) and exact.scatter == pytest.approx(0, abs=1e-9)
    assert exact.at(2015) == pytest.approx(3.0 * 1.4**15)


def test_nine_of_ten_ranges_of_trends_hold_the_truth() -> None:
    source, held = random.Random(7), 0
    for _ in range(1000):
        points = [(float(year), math.exp(0.3 * year + source.gauss(0, 0.5))) for year in range(8)]
        found = past.trend(points)
        held += found.low <= math.exp(0.3) <= found.high
    assert 870 <= held <= 930


@pytest.mark.parametrize(("degrees", "table"), ((2, 2.920), (4, 2.132), (5, 2.015), (10, 1.812), (30, 1.697)))
def test_quantiles_of_student(degrees: int, table: float) -> None:
    assert past.t_quantile(degrees) == pytest.approx(table, rel=0.02 if degrees < 4 else 0.005)


def test_hindcasts_use_no_later_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(name: str) -> float:
        return next(each for each in past.hindcasts(5) if each.machine.name == name).peak

    before = of("Summit")
    every = files.past_machines()
    changed = [each if each.year <= 2013.5 else replace(each, peak=each.peak * 100) for each in every]
    monkeypatch.setattr(past, "past_machines", lambda: changed)
    assert of("Summit") == before
    changed[:] = [replace(each, peak=each.peak * 2) for each in every]
    assert of("Summit") == pytest.approx(2 * before)


@pytest.mark.parametrize("horizon", past.HORIZONS)
def test_the_error_of_hindcasts(horizon: int) -> None:
    found = past.hindcasts(horizon)
    error = past.error(found)
    assert error.machines == len(found) >= 7 and 1 < error.typical <= error.worst
    assert error.too_high == sum(each.ratio > 1 for each in found)


@given(st.floats(1.05, 1.6), st.floats(0.0, 0.3))
@settings(max_examples=25, deadline=None)
def test_a_band_holds_nine_of_ten_draws(factor: float, wide: float) -> None:
    low, high = factor * (1 - wide / 2), factor * (1 + wide / 2)
    peak = Assumption(factor, low, high, "assumed: a test")
    by = replace(growing(), growth=growing().growth | {"peak": peak})
    band = spread.bands(HEAVY, by, [HEAVY.year + 5], SIMPLE, TWENTY, 2000, 3)[0]
    nodes = band.middle.nodes
    assert band.low == pytest.approx(nodes * 73.6e9 * low**5, rel=0.06)
    assert band.high == pytest.approx(nodes * 73.6e9 * high**5, rel=0.06)


def test_the_same_seed_has_the_same_band_and_another_has_not() -> None:
    def of(seed: int) -> tuple[float, float]:
        band = spread.bands(HEAVY, ROADMAP, [2018.0], FULL, TWENTY, 200, seed)[0]
        return band.low, band.high

    assert of(1) == of(1) != of(2)


def test_the_widest_assumption_decides() -> None:
    wide = Assumption(1.3, 1.1, 1.5, "assumed: a test")
    by = replace(growing(), growth=growing().growth | {"peak": wide, "latency": wide})
    of = replace(HEAVY, shares={name: exactly(share.value) for name, share in HEAVY.shares.items()})
    found = spread.influences(of, by, 2018.9, SIMPLE, TWENTY)
    assert [each.name for each in found] == ["peak"]
    assert found[0].factor == pytest.approx((1.5 / 1.1) ** 10, rel=1e-3)


@pytest.mark.parametrize("kind", [*files.shipped("node class")])
def test_every_class_has_a_machine_file_that_loads(kind: str, tmp_path: Path) -> None:
    of = files.node_class(kind)
    by = model.usual(of, past.scaling(2025.0))
    for year in (of.year, of.year + 9):
        found = model.machine(of, by, year, SIMPLE, Limits(power=5e6))
        path = tmp_path / "m.toml"
        path.write_text(machine_file.text(of, found, by, "a test"))
        machine = _machine.load(str(path), [])
        assert machine.nodes >= found.nodes


def test_a_machine_file_scales_times_and_rates_and_keeps_sizes(tmp_path: Path) -> None:
    by = model.usual(HEAVY, growing(link_bandwidth=2.0, latency=0.5, memory_bandwidth=3.0, peak=4.0))
    found = model.machine(HEAVY, by, HEAVY.year + 1, SIMPLE, TWENTY)
    text = machine_file.text(HEAVY, found, by, "a test")
    lines = {line.partition(" = ")[0]: line for line in text.splitlines()}
    assert '"4.34 GB/s"' in lines["engine_bandwidth"] and "projected from hector-2a: 2.17 GB/s" in text
    assert '"1 us"' in lines["message_cost"] and '"64 KiB"' in lines["segment_bytes"]
    assert '"294.4 Gflop/s"' in lines["flop_rate"] and '"3.9 GB/s"' in lines["reduction_rate"]


@pytest.mark.parametrize(("axes", "nodes", "expected"), SHAPES)
def test_shapes_hold_all_nodes(axes: str, nodes: int, expected: str) -> None:
    assert machine_file.shape(axes, nodes) == expected


def test_a_written_scaling_reads_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    by = past.scaling(2025.0)
    path.write_text(files.to_toml(by))
    again = files.scaling(str(path))
    assert again.scatter == pytest.approx(by.scatter, rel=1e-5)
    for name, each in by.growth.items():
        assert again.growth[name].value == pytest.approx(each.value, rel=1e-5)
        assert again.growth[name].source == each.source


def test_failures_cost_more_on_more_nodes() -> None:
    by = model.usual(HEAVY, growing())
    few, many = (model.machine(HEAVY, by, HEAVY.year, SIMPLE, Limits(power=watts)) for watts in (1e6, 100e6))
    assert study.failures(HEAVY, few)["efficiency"] > study.failures(HEAVY, many)["efficiency"] > 0


@pytest.mark.parametrize(
    ("change", "sentence"),
    (
        (("peak = { value = 1.30, low = 1.23", "peak = { value = 1.30, low = 1.43"), "low <= value <= high"),
        (("[growth]", "[grows]"), "has no key 'grows'"),
        (("latency = {", "latncy = {"), "has no key 'latncy'"),
        (('kind = "scaling"', 'kind = "class"'), 'must have kind = "scaling"'),
        (("value = 1.26", 'value = "much"'), "must be a number above 0"),
        ((', assumed = "the study\'s simple model: the same power a chip"', ""), "must have one source"),
        (("[growth]", "[growth"), "must be TOML"),
    ),
)
def test_a_wrong_scaling_is_one_sentence(change: tuple[str, str], sentence: str, tmp_path: Path) -> None:
    text = files.shipped("scaling")["roadmap-2007"].read_text()
    assert change[0] in text
    path = tmp_path / "own.toml"
    path.write_text(text.replace(*change))
    with pytest.raises(BadInput) as caught:
        files.scaling(str(path))
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_roadmap_without_a_needed_number_names_it(tmp_path: Path) -> None:
    lines = files.shipped("scaling")["roadmap-2007"].read_text().splitlines()
    path = tmp_path / "own.toml"
    path.write_text("\n".join(line for line in lines if not line.startswith("link_energy")))
    with pytest.raises(BadInput, match="'link_energy' of"):
        files.scaling(str(path))


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    (
        ("20MW", files.WATTS, 20e6),
        ("1EF", files.FLOPS, 1e18),
        ("1.5 Pflop/s", files.FLOPS, 1.5e15),
        ("16 GB", "B", 16e9),
    ),
)
def test_numbers_with_units(text: str, unit: str, value: float) -> None:
    assert files.parse_unit(text, unit, "it") == pytest.approx(value)


@pytest.mark.parametrize("text", ("", "MW", "0MW", "-3MW", "20", "20 megawatt", "1e6 W"))
def test_numbers_without_a_right_unit_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="a number above 0 with a unit"):
        files.parse_unit(text, files.WATTS, "--power")
