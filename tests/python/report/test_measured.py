"""The figures of real runs."""

from __future__ import annotations

import pytest

from kumihimo import mpi
from kumihimo.errors import KumihimoError, OutOfTime
from kumihimo.experiment import real_runs
from kumihimo.report import Material, chosen, golden, numbers, wording
from kumihimo.report.figures import measured_curves
from kumihimo.report.style import Styles

pytestmark = pytest.mark.mpi


def test_every_case_was_compared_with_the_golden_copy(measured):
    assert {check["type"] for check in measured["checks"]} == set(real_runs.TYPES)
    assert all(check["right"] for check in measured["checks"])
    assert all(result["bitwise"] is True for result in measured["results"])


def test_what_was_not_compared_is_named(measured):
    sizes = sorted({result["bytes"] for result in measured["results"]})
    lengths = f"3 lengths from {wording.bytes_(sizes[0])} to {wording.bytes_(sizes[-1])}"
    assert golden.coverage(measured) == [f"double: {lengths}", f"float: {lengths}"]

    fewer = [c for c in measured["checks"] if c["bytes"] != sizes[-1] or c["type"] != real_runs.TIMED_TYPE]
    said = golden.coverage({**measured, "checks": [c for c in fewer if c["bytes"] != sizes[-1]]})

    assert said[-1] == f"timed but not, or not everywhere, compared with it: {wording.bytes_(sizes[-1])}"


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 22])
def test_every_beginning_of_the_sizes_spans_them(count):
    sizes = list(range(count))
    order = real_runs.spanning(sizes)

    assert sorted(order) == sizes
    assert set(order[:2]) == {0, count - 1}


def test_no_time_gives_fewer_cases_and_says_so(monkeypatch):
    monkeypatch.setattr(real_runs, "LEAST_SECONDS", 1.5)
    late = real_runs.Effort([2**e for e in range(3, 23)], [1 << 16], 5.0, real_runs.QUICK.chosen, (0.0, 0.0, 0.0))
    try:
        installation = mpi.choose()
        run = real_runs.timings(installation, effort=late, progress=lambda *_: None, end=0.0)
    except OutOfTime:
        return  # not one case: the demo says that
    except KumihimoError as lacking:
        pytest.skip(str(lacking))

    assert 0 < len(run.results) < 20 * 29
    assert " cases in the " in run.notes[-1]


def test_both_spaces_and_the_library_are_shown(measured):
    styles = Styles(Material(measured))
    group = measured_curves.charts(measured, styles)

    assert [c["id"] for c in group["charts"]] == [
        f"measured-{what}-{space}" for what in ("time", "ratio") for space in ("node", "2x2")
    ]
    for chart in group["charts"]:
        for point in (p for s in chart["series"] if s["name"] != "bound" for p in s["points"]):
            assert point["low"] <= point["y"] <= point["high"]


def test_the_choice_was_judged_on_fresh_launches(measured):
    rows = chosen.rows(measured)

    assert measured["chosen"]["launches"] == 9
    assert len(rows) == len(measured["chosen"]["results"]) == 1


def test_one_wrong_bit_is_shown(measured):
    first, *rest = measured["checks"]
    wrong = {**measured, "checks": [{**first, "right": False}, *rest]}

    table = golden.rows(wrong, Styles(Material(wrong)))

    assert sum(done < of for row in table.rows for done, of in filter(None, row.cells)) == 1
    total = len(measured["checks"])
    assert any(number.value == f"{total - 1} of {total}" for number in numbers.numbers(Material(wrong)))


def test_calls_that_differ_are_marked_in_the_legend(measured):
    first, *rest = measured["results"]
    wrong = {**measured, "results": [{**first, "bitwise": False}, *rest]}

    legend = measured_curves.charts(wrong, Styles(Material(wrong)))["legend"]

    assert [entry["name"] for entry in legend if entry.get("checked") is False] == [first["algorithm"]]
