"""Pairs of runs: what is compared, checked, kept and run again."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo.cli import optimise, tune
from kumihimo.run.profile.collectives import Collectives, Form, Use
from kumihimo.text.errors import Failed, OutOfTime
from kumihimo.tune.journal import Journal
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.optimise.program_runs import JudgedRun, OptimisedProgram

CHOICE = {"collective": "allreduce", "ranks": 2, "algorithm": "ring", "parameters": {}, "from_bytes": 8, "to_bytes": 64}


@pytest.fixture
def work(tmp_path: Path, monkeypatch):
    """With a program whose runs write what `results` says, by their names."""

    def of(results: dict[str, list[bytes]]) -> optimise.OptimiseWork:
        made = optimise.OptimiseWork(
            OptimisedProgram(("mpirun", "./a"), tmp_path, checked=(tmp_path / "out",)), BudgetClock(100)
        )
        made.journal = Journal(None, {})
        made.profile = Collectives("an MPI", "a-1", 2, 2, 1, 1.0, [], [])
        made.candidates = [CHOICE]
        made.names = []

        def run(
            program: OptimisedProgram, name: str, wisdom: Path | None = None, profile: Path | None = None
        ) -> JudgedRun:
            made.names.append(name)
            assert (wisdom is not None) == (name == "run-with-choices")
            return JudgedRun(name, tmp_path, 0, (), 1.0 if wisdom else 2.0, (results[name].pop(0),))

        monkeypatch.setattr(optimise, "run", run)
        return made

    return of


def test_which_run_is_first_changes_and_what_was_run_is_not_run_again(work):
    made = work({"run-with-choices": [b"1"] * 2, "run-without": [b"1"] * 2})
    assert [made.pair((0,), number) for number in (0, 1)] == [(1.0, 2.0)] * 2
    assert made.names == ["run-with-choices", "run-without", "run-without", "run-with-choices"]
    assert made.pair((0,), 1) == (1.0, 2.0)
    assert len(made.names) == 4


@pytest.mark.parametrize("pair", [0, 1])
def test_results_that_differ_with_the_choices_end_it(work, pair):
    made = work({"run-with-choices": [b"1"] * pair + [b"2"], "run-without": [b"1"] * 2})
    with pytest.raises(Failed, match=r"the results differ with the choices: .*out differs"):
        for number in range(2):
            made.pair((0,), number)
    assert len(made.names) == 2 * (pair + 1)


def test_results_that_differ_without_choices_cannot_be_checked(work):
    made = work({"run-with-choices": [b"1", b"2"], "run-without": [b"1", b"2"]})
    made.pair((0,), 0)
    with pytest.raises(Failed, match="--check cannot be used"):
        made.pair((0,), 1)


def test_no_pair_is_begun_that_would_not_end_in_time(work):
    made = work({"run-with-choices": [], "run-without": []})
    made.pair_seconds = 200
    with pytest.raises(OutOfTime):
        made.pair((0,), 0)
    assert made.names == []


@pytest.mark.parametrize(("high", "metric", "tried"), [(0.004, None, False), (0.006, None, True), (0.0, "t", True)])
def test_a_gain_that_runs_cannot_show_is_not_looked_for(work, monkeypatch, high, metric, tried):
    made = work({})
    made.program = replace(made.program, metric=metric and re.compile(metric))
    made.journal.keep("record", [({}, {"seconds": 0.1})])
    gain = {"share": high / 2, "low": 0.0, "high": high}
    found = {"profile": {"predicted_gain": gain}, "results": [CHOICE], "interrupted": False, "left_to_the_library": []}
    monkeypatch.setattr(tune, "of_program", lambda *_: found)
    assert bool(made.tuned()) == tried
    assert bool(made.why_nothing) != tried


@pytest.mark.parametrize(("spent", "told"), [(90.0, "10 s are left"), (120.0, "no time is left")])
def test_a_budget_that_is_too_short_is_one_sentence(work, spent, told):
    made = work({})
    made.pair_seconds = 50.0
    made.clock = BudgetClock(100, now=lambda: spent)
    made.clock.started = 0.0
    made.profile.uses.append(
        Use(
            "allreduce",
            "blocking",
            False,
            2,
            8,
            8,
            8,
            calls=9,
            seconds=1.0,
            forms=Counter({Form("float64", "sum", False): 1.0}),
        )
    )
    with pytest.raises(Failed, match=told):
        made.tuned()
