"""`kumihimo demo` from start to page where a part of it fails: the page shows the others, and why one is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumihimo.cli import demo, report
from kumihimo.demo.experiment import real_runs, unmodified
from kumihimo.text.errors import BadInput, Failed, OutOfTime, failed
from kumihimo.tune import bench

NO_LIBRARY = failed("no MPI library on this machine", advice="install openmpi-bin")


def raising(error: Exception):
    def work(*_args, **_options):
        raise error

    return work


@pytest.fixture
def simulated_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "measure", raising(NO_LIBRARY))
    monkeypatch.setattr(demo, "run_unmodified", raising(Failed("kumihimo tune failed: <no time>")))
    monkeypatch.setattr(demo, "QUICK_SHAPES", ("4x3x2", "4x3x4"))


def test_the_page_says_what_was_left_out_and_is_written_again_alike(tmp_path: Path, capsys, simulated_alone) -> None:
    assert demo.command(tmp_path, quick=True) == 1
    ended = capsys.readouterr()
    assert "the report has no measurements: no MPI library on this machine" in ended.err
    assert "unmodified.json is missing: kumihimo tune failed: <no time>." in ended.out
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "This part was left out:</strong> kumihimo tune failed: &lt;no time&gt;." in page
    assert "This part was left out:</strong> no MPI library on this machine" in page
    report.command(tmp_path, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["left_out"]["unmodified"] == "kumihimo tune failed: <no time>"
    assert "This part was left out" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_without_predictions_there_is_a_page_and_the_job_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simulated_alone
) -> None:
    monkeypatch.setattr(demo, "simulate", raising(failed("no memory")))
    (tmp_path / "simulated.json").write_text("of an earlier demo", encoding="utf-8")
    assert demo.command(tmp_path, quick=True) == 1
    assert not (tmp_path / "simulated.json").exists()
    assert "no memory" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_an_unmodified_program_that_fails_does_not_end_the_main_job(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(demo.golden, "totals", lambda _: (3, 3))
    material = demo.Material({"results": []}, {}, None, {"unmodified": "one launch took 70 s"})
    assert demo.verdict(material) == 0
    assert "the report has no unmodified program: one launch took 70 s" in capsys.readouterr().err


def test_a_wrong_input_is_found_before_the_work(tmp_path: Path, simulated_alone) -> None:
    with pytest.raises((BadInput, Failed), match="no-such-library"):
        demo.command(tmp_path, library="no-such-library", quick=True)


def test_a_launch_that_takes_minutes_leaves_the_program_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 61.0])
    monkeypatch.setattr(unmodified.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(unmodified.mpi, "choose", lambda _: type("Any", (), {"arguments": lambda *_: ["mpirun"]})())
    monkeypatch.setattr(unmodified, "launched", lambda *_: {})
    with pytest.raises(OutOfTime, match="took 61 s"):
        unmodified.run()


def test_the_first_length_is_waited_for_however_busy_the_machine_is() -> None:
    asked = []

    def run(cases, seconds):
        asked.append(([case.bytes for case in cases], seconds))
        if seconds < real_runs.FIRST_SECONDS:
            raise OutOfTime("not one result in time")
        return bench.LaunchResults(results=[{}, {}])

    cases = [bench.BenchCase("allreduce", name, size) for size in (8, 64) for name in ("ring", "binomial")]
    found = real_runs.at_least_one(run, cases, end=0)
    assert asked == [([8, 8, 64, 64], real_runs.LEAST_SECONDS), ([8, 8], real_runs.FIRST_SECONDS)]
    assert found.notes == ["2 of 4 cases measured: this machine is busy"]
