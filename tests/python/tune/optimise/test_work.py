"""Pairs of runs: what is compared, checked, kept and run again."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kumihimo.cli import optimise, tune
from kumihimo.run.profile.collectives import Collectives, Form, Use
from kumihimo.testbed import machine_file
from kumihimo.testbed.counters import LinkCount, LinkReading
from kumihimo.text.errors import Failed, OutOfTime
from kumihimo.tune.journal import Journal
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.optimise import page
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
    monkeypatch.setattr(tune, "of_program", lambda *_: found_by_tuning(high))
    assert bool(made.tuned()) == tried
    assert bool(made.why_nothing) != tried


def found_by_tuning(high: float, low: float = 0.0, left: tuple = ()) -> dict:
    """What `tune` finds for a program of 10 s."""
    gain = {"share": (low + high) / 2, "low": low, "high": high}
    profile = {"predicted_gain": gain, "seconds": 10.0}
    found = {"profile": profile, "results": [CHOICE], "interrupted": False, "measured_before": []}
    return {**found, "left_to_the_library": list(left)}


def test_the_same_command_again_goes_on_with_the_runs_of_the_same_candidates(work, monkeypatch):
    """Though another tuning would measure other times; with a larger budget it may find other candidates."""
    made = work({"run-with-choices": [b"1"], "run-without": [b"1"]})
    made.pair_seconds = 26.0
    monkeypatch.setattr(tune, "of_program", lambda *_: found_by_tuning(0.9, low=0.5))
    made.candidates = made.tuned()
    assert made.pair_seconds == 21.0, "the run with the choices is expected to take half of its 10 s"
    made.pair((0,), 0)
    again = work({})
    again.journal, again.pair_seconds = made.journal, 26.0
    monkeypatch.setattr(tune, "of_program", None)
    assert again.tuned() == made.candidates and again.pair_seconds == 21.0
    again.candidates = [{**CHOICE, "ratio": 0.3, "measured": []}]
    assert again.pair((0,), 0) == (1.0, 2.0) and again.names == []
    again.clock = BudgetClock(200)
    monkeypatch.setattr(tune, "of_program", lambda *_: found_by_tuning(0.9))
    assert again.tuned() == [CHOICE]


def test_choices_that_run_uses_now_are_tried_before_any_is_measured(work, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    made, asked = work({}), []
    made.pair_seconds = 1.0
    monkeypatch.setattr(tune, "of_program", lambda command, *_: asked.append(command) or found_by_tuning(0.9))
    monkeypatch.setattr(optimise.wisdom, "existing", lambda path, mpi: {"choices": [CHOICE]} if path == usual else None)
    usual = optimise.wisdom.usual_path("an MPI")
    made.tuned_now()
    made.fresh = True
    made.tuned_now()
    assert [list(each.known) for each in asked] == [[CHOICE], []]
    assert all(each.runs_follow for each in asked)


@pytest.mark.parametrize(
    ("spent", "told"),
    [(90.0, r"3 pairs of runs take 150 s, .*10 s are left; give --budget \d+m"), (120.0, "no time is left")],
)
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


def test_the_page_shows_what_links_carried_without_the_choices_and_with_them(work, monkeypatch, tmp_path):
    machine = machine_file.of_shape("2x2")
    links = [row[0] for row in machine.links]
    readings = iter(range(7))  # before and after each run

    def now(testbed):
        reading = next(readings)
        there = links[:-1]  # a testbed of a part of a machine lacks links of its machine
        return LinkReading(0.0, {link: LinkCount(bytes=1000 * reading * (link + 1)) for link in there})

    monkeypatch.setattr(optimise.counters, "now", now)
    made = work({"run-with-choices": [b"1"], "run-without": [b"1"]})
    made.testbed = SimpleNamespace(plan=SimpleNamespace(described=machine))
    made.pair((0,), 0)
    expected = [*(1000 * (link + 1) for link in links[:-1]), 0]
    assert made.link_bytes == dict.fromkeys(("with", "without"), expected)
    again = work({})
    again.journal = made.journal
    again.pair((0,), 0)
    assert again.link_bytes == made.link_bytes, "what was run is not run again"
    interrupted = work({"run-with-choices": [b"1"], "run-without": []})
    interrupted.testbed = made.testbed
    with pytest.raises(IndexError):  # the second run does not end, as after Ctrl-C
        interrupted.pair((0,), 0)
    assert interrupted.link_bytes == {}, "a page has both runs or none"
    parts = list(page.loads_of(machine, made.link_bytes))
    assert [type(part).__name__ for part in parts[:2]] == ["Prose", "TorusScene"]
    titles = [layer.label for layer in parts[1].layers]
    assert titles == [f"measured in a run {name} the choices" for name in ("without", "with")]
    made.told = {**found_by_tuning(0.9)["profile"], "program": "a-1"}
    for predicted, told in (
        (([100.0] * len(links), expected), ("predicted, with the choices", "measured, without the choices")),
        ("it was too long", ("There is no prediction: it was too long.",)),
    ):
        monkeypatch.setattr(optimise.predicted_loads, "both", lambda trace, plan, choices, found=predicted: found)
        file = tmp_path / "page.html"
        found = {**made.found(), "nothing_to_gain": "no time", "candidates": []}
        page.write(file, found, made.profile, made.links())
        text = file.read_text(encoding="utf-8")
        assert all(each in text for each in ("measured in a run without the choices", *told))
    assert made.link_choices == again.link_choices == [CHOICE]
    assert interrupted.links() is None
