"""Several MPI libraries compared: launches by turns, statistics, and the command."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev

import pytest

from kumihimo.app import libraries, page
from kumihimo.app.catalogue import AppCandidate, ApplicationRow
from kumihimo.app.launches import AppProblem, AppRun, Resources
from kumihimo.cli import app_libraries
from kumihimo.processes import mpi
from kumihimo.text.errors import BadInput, NotApplicable

APPLICATION = ApplicationRow("fem-cube", "", "", "nodes", "32", "", ("cg",), ({"name": "golden"},), ())
PROBLEM = AppProblem(APPLICATION, "32", {}, "cg")
GOLDEN, FAST = AppCandidate("golden"), AppCandidate("fast", (("block", 2),))


def on(*names: str) -> dict[str, Resources]:
    return {
        name: Resources(2, 1, mpi.Installation(name, Path("/nowhere", name), Path("/nowhere/lib"))) for name in names
    }


@dataclass
class FakeLaunches:
    """A library's launches take 1 s, 2 s, ... for 10 iterations; those of later libraries 100 s more."""

    wrong: str = ""
    order: list[str] = field(default_factory=list)
    options: dict = field(default_factory=dict)

    def __call__(self, problem, candidates, resources, **options) -> AppRun:
        name = resources.installation.family
        self.order.append(name)
        self.options = options
        seconds = self.order.count(name) + 100.0 * (name == "mpich")
        return AppRun(results=[self.result(each, seconds, name) for each in candidates])

    def result(self, candidate: AppCandidate, seconds: float, name: str) -> dict:
        checked = {"checked": {"right": name != self.wrong}} if self.options["check"] else {}
        return {**candidate.as_task(), "seconds": seconds, "iterations": 10, **checked}


def test_launches_alternate_and_the_first_changes() -> None:
    fake = FakeLaunches()
    libraries.compare(PROBLEM, [GOLDEN], on("openmpi", "mpich", "intel"), runs=3, run=fake)
    assert fake.order == ["openmpi", "mpich", "intel", "mpich", "intel", "openmpi", "intel", "openmpi", "mpich"]


def test_statistics_are_of_the_time_of_an_iteration() -> None:
    rows = libraries.compare(PROBLEM, [GOLDEN, FAST], on("openmpi", "mpich"), runs=8, run=FakeLaunches())
    assert [(row["library"], row["variant"]) for row in rows] == [
        *(("openmpi", "golden"), ("mpich", "golden"), ("openmpi", "fast"), ("mpich", "fast"))
    ]
    times = [i / 10 for i in range(1, 9)]
    row = rows[0]
    assert row["runs"] == 8 and row["iterations"] == 10 and row["right"] is True
    assert row["seconds_of_runs"] == times
    assert (row["min"], row["max"]) == (0.1, 0.8)
    assert row["mean"] == pytest.approx(mean(times)) and row["stddev"] == pytest.approx(stdev(times))
    assert row["median"] == pytest.approx(0.45)
    low, high = row["interval"]
    assert 0.1 <= low < 0.45 < high <= 0.8
    assert rows[1]["median"] == pytest.approx(10.45)


def test_one_wrong_solution_makes_its_library_wrong() -> None:
    rows = libraries.compare(PROBLEM, [GOLDEN], on("openmpi", "mpich"), runs=2, run=FakeLaunches(wrong="mpich"))
    assert [row["right"] for row in rows] == [True, False]
    assert "WRONG" in app_libraries.cells_of(rows[1])


def test_of_one_run_there_is_no_deviation() -> None:
    (row,) = libraries.compare(PROBLEM, [GOLDEN], on("openmpi"), runs=1, check=False, run=FakeLaunches())
    assert row["stddev"] is None and row["min"] == row["max"] == row["median"]
    cells = app_libraries.cells_of(row)
    assert len(cells) == len(app_libraries.COLUMNS) and cells[-1] == "no"


@pytest.mark.parametrize(("first", "failed", "code"), [(1, False, 0), (2, False, 0), (2, True, 1)])
def test_a_variant_without_a_result_says_so(
    first: int, failed: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    launches = FakeLaunches()

    def run(*words, **options) -> AppRun:
        ran = launches(*words, **options)
        if len(launches.order) >= first:
            ran.results[0] = {**GOLDEN.as_task(), "not_applicable": "no matrix", "failed": failed}
        return ran

    compare = libraries.compare
    monkeypatch.setattr(libraries, "compare", lambda *words, **options: compare(*words, **options, run=run))
    asked = {"runs": 2, "sample": None, "check": True, "as_json": False}
    assert app_libraries.run(PROBLEM, [GOLDEN, FAST], on("openmpi"), **asked) == code
    shown = capsys.readouterr().out
    assert "openmpi: no matrix" in shown and ("failed" if failed else "n/a") in shown and "right" in shown


def test_the_table_fits_80_columns(capsys: pytest.CaptureFixture) -> None:
    row = {
        "library": "openmpi",
        "version": "4.1.4",
        "variant": "simd_avx512",
        "parameters": {"block": 128, "layers": 8},
    }
    row |= {"runs": 8, "iterations": 100, "right": None, "interval": [1.23e-3, 1.25e-3]}
    app_libraries.show([{**row, **dict.fromkeys(app_libraries.STATISTICS, 1.23e-3)}])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_run_without_iterations_has_its_own_time() -> None:
    assert libraries.seconds_per_iteration({"seconds": 3.0, "iterations": 0}) == 3.0


def test_names() -> None:
    assert libraries.names_of("openmpi, mpich") == ["openmpi", "mpich"]
    assert libraries.are_several("openmpi,mpich") and not libraries.are_several("openmpi")
    with pytest.raises(BadInput, match="--mpi takes each library once"):
        libraries.names_of("mpich,mpich")
    with pytest.raises(BadInput, match="the name of an MPI library in --mpi is missing"):
        libraries.names_of("mpich,")


def test_what_several_libraries_do_not_take() -> None:
    (one,) = on("openmpi").values()
    app_libraries.refuse_what_needs_one("openmpi,mpich", None, [one])
    with pytest.raises(NotApplicable, match="--page takes one MPI library"):
        app_libraries.refuse_what_needs_one("openmpi,mpich", "page.html", [one])
    with pytest.raises(BadInput, match=r"one number of ranks and threads \(got 2 combinations\)"):
        app_libraries.refuse_what_needs_one("openmpi,mpich", None, [one, one])


def test_an_assembly_alone_makes_a_page_without_convergence() -> None:
    kernel = {"name": "assembly", "calls": 1, "seconds": 1.0, "bytes": 1e6, "flops": 1e9, "bytes_per_second": 1e6}
    row = {"variant": "golden", "parameters": {}, "ranks": 1, "threads": 1, "runs": 1, "seconds": 1.0, "iterations": 0}
    row |= {"setup_seconds": 0.0, "residual": None, "history": [], "right": True, "kernels": [kernel]}
    found = {"application": "fem-cube", "size": "8", "options": {}, "method": "cg", "tolerance": 1e-8, "command": ""}
    found |= {"results": [row], "rates": None, "facts": {}, **{name: row[name] for name in ("seconds", "residual")}}
    text = page.render(found, APPLICATION)
    assert "convergence-chart" not in text and "time-0-chart" in text
    assert page.cells_of(row)[6] == ""


@pytest.mark.mpi
def test_both_libraries_in_one_command(kumihimo) -> None:
    families = {each.family for each in mpi.discover()}
    if not {"openmpi", "mpich"} <= families:
        pytest.skip("needs Open MPI and MPICH")
    asked = ("app", "fem-cube", "--size", "6", "--variant", "type_a", "--ranks", "2", "--threads", "1")
    ended = kumihimo(*asked, "--mpi", "openmpi,mpich", "--runs", "2", "--json")
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["results"]
    assert [row["library"] for row in rows] == ["openmpi", "mpich"]
    assert all(
        row["runs"] == 2 and row["right"] is True and 0 < row["min"] <= row["mean"] <= row["max"] for row in rows
    )
    assert rows[0]["iterations"] == rows[1]["iterations"] > 0
