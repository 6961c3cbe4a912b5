"""The figures of real runs."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from kumihimo.demo.experiment import real_runs
from kumihimo.demo.report import Material, chosen, display, golden, numbers, render
from kumihimo.demo.report.figures import measured_curves
from kumihimo.demo.report.style import Styles
from kumihimo.processes import mpi
from kumihimo.text.errors import KumihimoError, OutOfTime
from kumihimo.tune import bench
from kumihimo.tune.bench import tuned

pytestmark = pytest.mark.mpi


def test_every_case_was_compared_with_the_golden_copy(measured):
    assert {check["type"] for check in measured["checks"]} == set(real_runs.TYPES)
    assert all(check["right"] for check in measured["checks"])
    assert all(result["bitwise"] is True for result in measured["results"])


def test_what_was_not_compared_is_named(measured):
    sizes = sorted({result["bytes"] for result in measured["results"]})
    lengths = f"3 lengths from {display.bytes_(sizes[0])} to {display.bytes_(sizes[-1])}"
    assert golden.coverage(measured) == [f"double: {lengths}", f"float: {lengths}"]

    fewer = [c for c in measured["checks"] if c["bytes"] != sizes[-1] or c["type"] != real_runs.TIMED_TYPE]
    said = golden.coverage({**measured, "checks": [c for c in fewer if c["bytes"] != sizes[-1]]})

    assert said[-1] == f"timed without a comparison for all algorithms: {display.bytes_(sizes[-1])}"


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 22])
def test_every_beginning_of_the_sizes_spans_them(count):
    sizes = list(range(count))
    order = real_runs.spanning(sizes)

    assert sorted(order) == sizes
    assert set(order[:2]) == {0, count - 1}


def test_no_time_gives_fewer_cases_and_says_so(monkeypatch):
    monkeypatch.setattr(real_runs, "LEAST_SECONDS", 1.5)
    late = real_runs.ExperimentEffort(
        [2**e for e in range(3, 23)], [1 << 16], 5.0, real_runs.QUICK.chosen, (0.0, 0.0, 0.0)
    )
    try:
        installation = mpi.choose()
        run = real_runs.timings(installation, effort=late, progress=lambda *_: None, end=0.0)
    except OutOfTime:
        return  # not one case: the demo says that
    except KumihimoError as lacking:
        pytest.skip(str(lacking))

    assert 0 < len(run.results) < 20 * 29
    # Of the driver, which knows the limit, or of the demo, which ended it.
    assert re.search(r" of \d+ cases measured(: this machine is busy| in the limit of )", run.notes[-1])


def test_every_launch_of_the_choice_is_a_step_of_its_progress(monkeypatch):
    """With launches that take no time, and an installation that nobody starts."""

    def measure(_tuning, cases, _seconds, **_):
        found = {"seconds": 1.0, "ratio": 1.0}
        return bench.LaunchResults(
            results=[{"algorithm": case.algorithm, "bytes": case.bytes, **found} for case in cases]
        )

    monkeypatch.setattr(tuned, "measure", measure)
    monkeypatch.setattr(tuned, "joined", lambda choice, runs: len(runs))
    told = []
    effort = real_runs.QUICK
    launches = effort.chosen.launches
    installation = mpi.Installation("mpich", Path("none"), Path("none"))

    judged = real_runs.chosen(installation, lambda *step: told.append(step[1:]), effort, time.monotonic() + 100)

    assert judged == launches
    assert told == [(done, tuned.TRAINING + launches) for done in range(1, tuned.TRAINING + launches + 1)]


def test_both_spaces_and_the_library_are_shown(measured):
    styles = Styles(Material(measured))
    group = measured_curves.charts(measured, styles)

    assert [chart.name for chart in group.charts] == [
        f"measured-{what}-{space}" for what in ("time", "ratio") for space in ("node", "2x2")
    ]
    for chart in group.charts:
        for point in (p for s in chart.series if s.name != "bound" for p in s.points):
            assert point["low"] <= point["y"] <= point["high"]


def test_the_choice_was_judged_on_fresh_launches(measured):
    rows = chosen.rows(measured)

    assert measured["chosen"]["launches"] == 9
    assert len(rows) == len(measured["chosen"]["results"]) == 1


def test_one_wrong_bit_is_shown(measured):
    first, *rest = measured["checks"]
    wrong = {**measured, "checks": [{**first, "right": False}, *rest]}

    table = golden.rows(wrong, Styles(Material(wrong)))

    assert sum(done < of for cells in table.values() for done, of in filter(None, cells)) == 1
    total = len(measured["checks"])
    assert any(number.value == f"{total - 1} of {total}" for number in numbers.numbers(Material(wrong)))


def test_what_has_no_comparison_gets_no_mark(measured):
    name = measured["results"][0]["algorithm"]
    fewer = [check for check in measured["checks"] if check["algorithm"] != name]
    results = [real_runs.with_check({**r, "bitwise": True}, fewer) for r in measured["results"]]
    without = {**measured, "checks": fewer, "results": results}
    styles = Styles(Material(without))

    legend = {entry.name: entry for entry in measured_curves.charts(without, styles).legend}
    table = golden.rows(without, styles)

    assert legend[name].checked is None
    assert sum(entry.checked is True for entry in legend.values()) == len(table) - 1
    assert all(cell in (None, (0, 0)) for cell in table[display.label(name)])
    assert golden.coverage(without)[:2] == ["double: none", "float: none"]
    page = render(Material(without))
    assert "not compared" in page
    assert page.count("✓ 0 of 0") == 0


def test_repeated_calls_alone_make_nothing_right_but_may_make_it_wrong():
    timed = {"shape": "node", "algorithm": "ring", "bytes": 8}

    for bitwise, checks, expected in (
        (True, [], None),
        (True, [{**timed, "not_applicable": "no"}], None),
        (False, [], False),
        (True, [{**timed, "right": True}], True),
        (True, [{**timed, "right": False}], False),
        (False, [{**timed, "right": True}], False),
    ):
        assert real_runs.with_check({**timed, "bitwise": bitwise}, checks)["bitwise"] is expected


def test_the_numbers_say_of_what_they_are(measured):
    doubles = {**measured, "checks": [c for c in measured["checks"] if c["type"] == "float64"]}
    both, one = ({number.meaning: number.how for number in numbers.numbers(Material(m))} for m in (measured, doubles))

    assert any("MPI processes, in double and float, values" in how for how in both.values())
    assert any("MPI processes, in double, values" in how for how in one.values())
    assert any("geometric mean over 1 length, 9 launches each" in how for how in both.values())


def test_comparisons_that_the_deadline_left_out_are_told(measured):
    cut = {**measured, "checks": measured["checks"][:-3]}
    said = [[number.meaning for number in numbers.numbers(Material(m))] for m in (measured, cut)]

    assert not any("were planned" in meaning for meaning in said[0])
    assert any("; 3 more were planned but did not start in time" in meaning for meaning in said[1])


def test_calls_that_differ_are_marked_in_the_legend(measured):
    first, *rest = measured["results"]
    wrong = {**measured, "results": [{**first, "bitwise": False}, *rest]}

    legend = measured_curves.charts(wrong, Styles(Material(wrong))).legend

    assert [entry.name for entry in legend if entry.checked is False] == [first["algorithm"]]


def test_the_page_says_what_the_worker_does(whole):
    page = render(whole)

    for said in (
        "more candidates get a new random order in each turn",  # bench_driver/measure_task.cpp, take_turn
        "The schedule is built before and is not timed",  # first_call and enter there
        "each input is read once, each output is written once",  # bench_driver/bound.cpp
    ):
        assert said in page
    assert "The same algorithms were simulated" in page  # each by the schedule of other nodes
