"""Intervals of predictions: classes, quantiles and how often they hold."""

from __future__ import annotations

import json
import random

import pytest
from small_machine import MACHINE, judged

from kumihimo import _machine
from kumihimo.predict import prediction_errors
from kumihimo.predict.prediction_errors import ErrorRow, JudgedTime
from kumihimo.text import schema

ERRORS = judged(
    ("trees", "short", 40, 0.5, 2.0),
    ("rings", "all", 30, 0.8, 1.25),
    ("rings", "long", 30, 0.7, 1.5),
    ("all", "all", 90, 0.8, 1.25),
)


def test_bounds_are_order_statistics():
    """Of 19 the first and the last: the next one is below, above or between with 1, 1 and 18 of 20."""
    logs = [float(i) for i in range(19)]
    assert prediction_errors.bounds(logs) == (0.0, 18.0)
    assert prediction_errors.bounds(logs[:18]) is None
    assert prediction_errors.bounds([float(i) for i in range(39)]) == (1.0, 37.0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nine_of_ten_new_times_are_within(seed):
    """4,000 times by intervals of 400 alike: 90 %, within four deviations of both samples (1.6 %)."""
    rng = random.Random(seed)

    def drawn(n: int) -> list[JudgedTime]:
        return [JudgedTime("trees", "short", rng.gauss(0.1, 0.2)) for _ in range(n)]

    within, of = prediction_errors.coverage(drawn(4000), prediction_errors.rows(drawn(400)))
    assert of == 4000 and within / of == pytest.approx(0.9, abs=0.064)


def test_classes_without_enough_times_take_those_around_them():
    rng = random.Random(7)
    judged = [JudgedTime("rings", "long", rng.gauss(1, 0.1)) for _ in range(30)]
    judged += [JudgedTime("rings", "short", rng.gauss(0, 0.1)) for _ in range(5)]
    rows = prediction_errors.rows(judged)
    assert prediction_errors.row_for(rows, "rings", "long").times == 30
    assert prediction_errors.row_for(rows, "rings", "short").times == 35, "all rings"
    assert prediction_errors.row_for(rows, "trees", "long").times == 30, "all long ones"
    assert prediction_errors.row_for(rows, "trees", "middle").times == 35
    assert prediction_errors.row_for([], "trees", "middle") is None


def test_a_curve_has_no_influence_on_its_own_interval():
    """Of two curves far apart none is within the interval of the other; together all but the tails are."""
    judged = [JudgedTime("trees", "short", curve + i / 1000, curve) for curve in (0.0, 5.0) for i in range(40)]
    assert prediction_errors.coverage_of_new_curves(judged) == (0, 80)
    assert prediction_errors.coverage(judged, prediction_errors.rows(judged))[0] >= 72


@pytest.mark.parametrize(
    ("collective", "size", "lengths"),
    [
        ("bcast", 4096, "short"),
        ("bcast", 4097, "middle"),
        ("allgather", 4096, "middle"),
        ("barrier", None, "short"),
        ("alltoall", 2**18, "long"),
        ("allreduce", 2**20, "middle"),
    ],
)
def test_lengths_are_of_the_longest_buffer(collective, size, lengths):
    assert prediction_errors.class_of_length(collective, size, 8) == lengths


def test_simulate_shows_the_interval(kumihimo, tmp_path):
    (tmp_path / "small.toml").write_text(MACHINE + ERRORS)
    asked = ("simulate", "bcast", "--machine", "./small.toml", "--shape", "4x2x2", "--bytes", "8")
    results = json.loads(kumihimo(*asked, "-a", "all", "--json").out)["results"]
    by_name = {each["algorithm"]: each for each in results}
    tree, line = by_name["binomial"], by_name["chain"]
    assert tree["interval"]["low_seconds"] == pytest.approx(tree["seconds"] * 0.5)
    assert tree["interval"]["high_seconds"] == pytest.approx(tree["seconds"] * 2)
    assert (tree["interval"]["times"], tree["interval"]["share"]) == (40, 0.9)
    assert line["interval"]["high_seconds"] == pytest.approx(line["seconds"] * 1.25)
    assert "interval" not in by_name["trinaryx3"], "puts have no times of their own"
    assert not tree["interval"]["beyond_measured_jobs"]
    shown = kumihimo(*asked, "-a", "binomial")
    assert "90 % within" in shown.out and " to " in shown.out and "may be wider" not in shown.out
    smaller = kumihimo("simulate", "bcast", "-m", "./small.toml", "-s", "2x2x1", "-b", "8", "-a", "binomial")
    assert "90 % within: of jobs of 8 to 64 nodes, and this one has 4: it may be wider" in smaller.out


def test_the_machine_file_knows_the_same_classes():
    algorithms, lengths = _machine.PredictionErrors.classes
    assert sorted(algorithms) == sorted([*prediction_errors.CLASSES, "other", prediction_errors.ALL])
    assert lengths == [*(name for name, _ in prediction_errors.LENGTHS), prediction_errors.ALL]


def test_results_with_an_interval_follow_the_schema(kumihimo, tmp_path):
    (tmp_path / "small.toml").write_text(MACHINE + ERRORS)
    asked = ("simulate", "bcast", "-m", "./small.toml", "-s", "2x2x2", "-b", "8", "-a", "all", "--json")
    result = next(r for r in json.loads(kumihimo(*asked).out)["results"] if r["algorithm"] == "binomial")
    assert schema.fault(result, "prediction") == ""
    wrong = {**result, "interval": {**result["interval"], "low_seconds": "soon"}}
    assert "low_seconds" in schema.fault(wrong, "prediction")
    assert "fastest_probability" in schema.fault({**result, "fastest_probability": "high"}, "prediction")


def test_disturbed_predictions_and_other_models_have_none(kumihimo, tmp_path):
    (tmp_path / "small.toml").write_text(MACHINE + ERRORS)
    asked = ("simulate", "bcast", "--machine", "./small.toml", "--shape", "2x2x2", "-b", "8", "-a", "binomial")
    noise = ("--model", "exact", "--noise", "periodic:10us/1ms")
    for more in (("--model", "loggp"), ("--model", "packet"), noise, ("--slow", "1=0.5"), ("--slow", "0-1=0.5")):
        ended = kumihimo(*asked, *more, "--json")
        assert ended.code == 0, ended.err
        assert "interval" not in json.loads(ended.out)["results"][0], more
    assert "interval" in json.loads(kumihimo(*asked, "--model", "exact", "--json").out)["results"][0]


def test_counts_in_a_list_have_a_length(kumihimo, tmp_path):
    """Of 8 ranks with 2 MiB each the longest buffer is long, and of 8 B each it is not."""
    (tmp_path / "small.toml").write_text(MACHINE + ERRORS)
    for each, lengths in ((2**18, "long"), (1, "all")):
        counts = ",".join([str(each)] * 8)
        asked = ("simulate", "allgather", "-m", "./small.toml", "-s", "2x2x2", "--counts", counts, "-a", "ring")
        ended = kumihimo(*asked, "--json")
        assert ended.code == 0, ended.err
        assert json.loads(ended.out)["results"][0]["interval"]["lengths"] == lengths


def test_nodes_are_those_that_ranks_use(kumihimo, tmp_path):
    """Four ranks on four nodes of a shape of eight are beyond jobs of 8 to 64 nodes."""
    (tmp_path / "small.toml").write_text(MACHINE + ERRORS)
    (tmp_path / "few.txt").write_text("0\n1\n2\n3\n")
    asked = ("simulate", "bcast", "-m", "./small.toml", "-s", "2x2x2", "-b", "8", "-a", "binomial", "--json")
    few = json.loads(kumihimo(*asked, "--ranks", "4", "--placement", "permutation:few.txt").out)["results"][0]
    assert few["ranks"] == 4 and few["interval"]["beyond_measured_jobs"]
    shown = kumihimo(*asked[:-1], "--ranks", "4", "--placement", "permutation:few.txt").out
    assert "and this one has 4: it may be wider" in shown
    assert not json.loads(kumihimo(*asked).out)["results"][0]["interval"]["beyond_measured_jobs"]


def test_rows_and_sources_come_back_from_the_file():
    from kumihimo import _machine
    from kumihimo.predict.calibrate import fitting

    rows = [ErrorRow("trees", "short", 40, 0.5, 2.0, 1.0), ErrorRow("all", "all", 90, 0.8, 1.25, 1.0)]
    section = fitting.errors_section(rows, 'times of "x"', (8, 64), 1.05)
    text = fitting.with_errors(MACHINE, section, "")
    errors = _machine.parse(text, "small.toml").prediction_errors
    assert prediction_errors.rows_of(errors) == rows
    assert (errors.source, errors.day_to_day) == ("times of 'x'", 1.05)
    again = fitting.with_errors(text, fitting.errors_section(rows[1:], "others", (8, 64), None), "")
    assert again.count("[prediction_errors]") == 1
    assert prediction_errors.rows_of(_machine.parse(again, "small.toml").prediction_errors) == rows[1:]
