"""Algorithms that a described machine takes for far slower than the best are not tried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumihimo import _machine, _topology
from kumihimo.processes.package_files import folder
from kumihimo.tune.bench.cases import cases_of_all
from kumihimo.tune.foresight import ALWAYS_TRIED, FAR_SLOWER, LONG_SECONDS, Foresight
from kumihimo.tune.simulated import seconds_on
from kumihimo.tune.targets import Target

CASES = list(cases_of_all("allreduce", ranks=8, sizes=[2**20]))
NAMES = [case.algorithm for case in CASES]


def by_place(best: float, step: float):
    """The first algorithm takes `best` seconds, each further one `step` times the best more; others take very long."""
    place = {name: number for number, name in enumerate(NAMES)}
    return lambda case, ranks: best * (1 + step * place.get(case.algorithm, 1000))


def tried(foresight: Foresight) -> list[str]:
    return [case.algorithm for case in foresight.worth_trying(CASES, 8)]


def test_those_within_the_factor_are_tried():
    within = int((FAR_SLOWER - 1) / 1.5) + 1
    assert ALWAYS_TRIED < within < len(NAMES)
    assert tried(Foresight("m", by_place(LONG_SECONDS / 2, 1.5))) == NAMES[:within]


def test_of_long_calls_only_the_best_few_are_tried():
    foresight = Foresight("m", by_place(LONG_SECONDS, 0.25))
    assert tried(foresight) == NAMES[:ALWAYS_TRIED]
    assert {algorithm for _, algorithm, _ in foresight.left_out} == set(NAMES[ALWAYS_TRIED:])
    assert NAMES[-1] in foresight.notes[0] and NAMES[0] + "," not in foresight.notes[0]


def test_the_best_few_are_tried_however_slow():
    assert tried(Foresight("m", by_place(1e-6, 100))) == NAMES[:ALWAYS_TRIED]


def test_what_is_not_predicted_is_tried():
    some = by_place(LONG_SECONDS, 1)
    foresight = Foresight("m", lambda case, ranks: None if case.algorithm == NAMES[-1] else some(case, ranks))
    assert tried(foresight) == [*NAMES[:ALWAYS_TRIED], NAMES[-1]]
    silent = Foresight("m", lambda case, ranks: None)
    assert tried(silent) == NAMES and silent.notes == []


@pytest.fixture
def tofu():
    return _machine.load("k-computer", [folder("machines")]).with_shape(_topology.Shape.parse("2x2x2"))


def test_predictions_are_of_jobs_that_fill_the_machine(tofu):
    seconds = seconds_on(tofu)
    by = {case.algorithm: seconds(case, 8) for case in CASES}
    assert by["linear"] > by["ring"] > 0
    assert seconds(CASES[0], 7) is None
    assert seconds(replace(CASES[0], counts="ramp"), 8) is None


def test_a_tuning_tries_no_others(fake):
    fake.ours = lambda case: 1e-6
    tuner = fake.tuner(1000)
    tuner.foresight = Foresight("m", by_place(LONG_SECONDS, 1))
    list(tuner.tune([Target("allreduce", 8)], [2**20]))
    assert {case.algorithm for launch in fake.launched for case in launch} <= set(NAMES[:ALWAYS_TRIED])
