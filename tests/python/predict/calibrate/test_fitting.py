"""Calibration in this process: what is recovered, what has an influence, what cannot be told apart."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from small_machine import MACHINE, TRUTH

from kumihimo import _machine
from kumihimo.predict.calibrate import cases, fitting, least_squares, numbers, profiles
from kumihimo.text.errors import BadInput

PATH = Path("small.toml")
UNITS = {"GB/s": 1e9, "us": 1e-6}


def true_value(key: str) -> float:
    number, unit = TRUTH[key].split()
    return float(number) * UNITS[unit]


def calibrated(times, wanted=None, condition="nodes > 60"):
    predictor = cases.Predictor(times, _machine.parse(MACHINE, "small.toml"))
    fit, kept, told = fitting.split(predictor.cases, condition)
    return fitting.calibrate(PATH, MACHINE, predictor, fit, wanted), fit, kept, told


def noisy(times, seed: int, deviation: float = 0.05):
    rng = random.Random(seed)
    return [replace(case, seconds=case.seconds * math.exp(rng.gauss(0, deviation))) for case in times]


def test_exact_times_give_the_numbers_back(true_times):
    found, fit, kept, _ = calibrated(true_times)
    assert {each.number.key: each.value for each in found.fitted} == pytest.approx(
        {key: true_value(key) for key in TRUTH}, rel=0.005
    )
    assert found.after == pytest.approx([case.seconds for case in true_times], rel=0.005)
    assert len(fit) + len(kept) == len(true_times) and found.warnings == []


@pytest.mark.parametrize(("samples", "least"), [(3, 9), pytest.param(12, 41, marks=pytest.mark.long)])
def test_intervals_of_noisy_times_cover_the_truth(true_times, samples, least):
    """Four numbers of 12 samples: of 48 intervals of 95 %, 46 hold the truth; 41 in one of 200 such tests or fewer.
    Of 12 intervals at least 9 hold it, in all but one of 400 such tests."""
    covered = 0
    for seed in range(samples):
        found, *_ = calibrated(noisy(true_times, seed))
        assert len(found.fitted) == len(TRUTH)
        for each in found.fitted:
            assert each.value == pytest.approx(true_value(each.number.key), rel=0.3), each.number.key
            covered += each.low <= true_value(each.number.key) <= each.high
    assert covered >= least


@pytest.mark.parametrize(
    ("residuals", "spread"), [((0.1, -0.1), 12.7062 * 0.1), ((0.1, 0.0, -0.1), 4.30265 * 0.1 / math.sqrt(3))]
)
def test_intervals_of_two_and_three_times_of_one_curve(true_times, residuals, spread):
    """The residuals of a mean: their deviation over the root of their number, times Student's quantile in tables."""
    number = numbers.FittedNumber("software", "message_cost", 1e-6, "s", "assumed")
    solution = least_squares.LeastSquaresSolution([0.0], list(residuals), [[1.0]] * len(residuals))
    (found,), _ = fitting.intervals([number], solution, true_times[: len(residuals)], lambda _: None)
    assert math.log(found.high / found.value) == pytest.approx(spread, rel=1e-4)
    assert math.log(found.low / found.value) == pytest.approx(-spread, rel=1e-4)


def test_times_of_validation_have_no_influence(true_times):
    """Absurd ones change nothing but the agreement with them."""
    times = noisy(true_times, 1)
    absurd = [
        replace(case, seconds=case.seconds * 1000 if case.values["shape"] == "4x4x4" else case.seconds)
        for case in times
    ]
    first, fit, kept, _ = calibrated(times)
    second, *_ = calibrated(absurd)
    assert first == second
    assert not {case.at for case in fit} & {case.at for case in kept}
    third, *_ = calibrated(absurd, condition="nodes < 16")
    assert third.fitted != first.fitted, "times that are fitted to do have an influence"


def test_the_largest_job_is_kept_unless_something_else_is_asked_for(true_times):
    predictor = cases.Predictor(true_times, _machine.parse(MACHINE, "small.toml"))
    fit, kept, told = fitting.split(predictor.cases, None)
    assert told == "nodes >= 64"
    assert {case.values["shape"] for case in fit} == {"2x2x2", "4x2x2"}
    assert {case.values["shape"] for case in kept} == {"4x4x4"}


def test_one_job_size_needs_a_condition(true_times):
    with pytest.raises(BadInput, match=r"all cases have 8 nodes.*add --validate-on"):
        fitting.split([case for case in true_times if case.values["shape"] == "2x2x2"], None)


@pytest.mark.parametrize(("condition", "part"), [("nodes > 0", "fitted to"), ("nodes > 99", "validated on")])
def test_both_parts_need_cases(true_times, condition, part):
    with pytest.raises(BadInput, match=f"must leave cases that the machine is {part}"):
        fitting.split(true_times, condition)


def test_a_case_measured_twice_is_not_in_both_parts(true_times):
    again = replace(true_times[0], at="times.csv:999", cells={**true_times[0].cells, "run": 2})
    times = [replace(case, cells={**case.cells, "run": 1}) for case in true_times] + [again]
    with pytest.raises(BadInput, match=r"times\.csv:2 and times\.csv:999 are the same case"):
        fitting.split(times, "run == 2")


def test_says_which_numbers_the_data_cannot_tell_apart(true_times):
    """In one binomial tree, each message pays the cost and the latency once."""
    times = [case for case in true_times if case.values["algorithm"] == "recursive_doubling"]
    with pytest.raises(BadInput, match="the data cannot tell relay_latency from message_cost"):
        calibrated(times, ["message_cost", "relay_latency"])
    found, *_ = calibrated(times)
    assert "relay_latency" not in {each.number.key for each in found.fitted}
    assert any(each.startswith("the data cannot tell relay_latency from") for each in found.warnings)


def test_says_which_numbers_have_no_effect(true_times):
    times = [case for case in true_times if case.values["collective"] == "bcast"]
    with pytest.raises(BadInput, match="the data do not depend on reduction_rate"):
        calibrated(times, ["reduction_rate"])
    found, *_ = calibrated(times)
    assert "the data do not depend on reduction_rate" in found.warnings


def test_an_unknown_number_is_refused_with_the_nearest_one(true_times):
    with pytest.raises(BadInput, match=r"--fit must name a time or a rate.*did you mean message_cost"):
        calibrated(true_times, ["mesage_cost"])
    with pytest.raises(BadInput, match="--fit must name a time or a rate"):
        calibrated(true_times, ["network.message_cost"])


def test_numbers_that_contradict_each_other_are_not_tried(true_times):
    """Links of 9 GB/s would be faster than their peak of 5."""
    fast = [replace(case, seconds=case.seconds / 3) for case in true_times if case.values["bytes"] > 10**6]
    found, *_ = calibrated(fast, ["link_bandwidth"])
    assert found.fitted[0].value <= 5e9


def test_the_new_file_differs_in_the_fitted_numbers_alone(true_times):
    found, *_ = calibrated(true_times)
    text = fitting.machine_file(found, 'times of "mine"', ["Fitted."])
    machine = _machine.parse(text, "new.toml")
    before, after = MACHINE.splitlines(), text.splitlines()
    changed = [line for line, old in zip(after, before) if line != old]
    assert len(changed) == len(TRUTH) and all("fitted = " in line for line in changed)
    assert "} # and what it is" in text
    assert after[len(before) :] == ["", "# Fitted."]
    assert "times of 'mine'; 95 % within" in machine.to_text().replace("\n      ", " ")


def test_a_few_times_that_no_number_explains_do_not_decide(true_times):
    """One of ten is ten times as long."""
    odd = [replace(case, seconds=case.seconds * (10 if i % 10 == 5 else 1)) for i, case in enumerate(true_times)]
    found, *_ = calibrated(odd)
    for each in found.fitted:
        assert each.value == pytest.approx(true_value(each.number.key), rel=0.15), each.number.key


def test_far_errors_count_by_their_size():
    far = fitting.FAR
    assert fitting.less_where_far(far) == far and fitting.less_where_far(-far / 2) == -far / 2
    squares = [fitting.less_where_far(-k * far) ** 2 for k in (2, 3, 4)]
    assert squares[1] - squares[0] == pytest.approx(squares[2] - squares[1]) == pytest.approx(2 * far**2)
    assert fitting.less_where_far(-2 * far) < 0


def test_finds_numbers_whatever_their_source_is():
    found = numbers.read(fitting.parsed(MACHINE, PATH))
    assert found["message_cost"].value == pytest.approx(2e-6) and found["message_cost"].unit == "s"
    assert found["hop_latency"].provenance == "published"
    assert "cores" not in found and "segment_bytes" not in found


@pytest.mark.parametrize("value", [1.23456e-9, 9.9999e-7, 3.3e-6, 0.25, 12.0])
def test_times_are_written_as_machine_files_have_them(value):
    number = numbers.FittedNumber("software", "message_cost", 1.0, "s", "assumed")
    text = numbers.with_values(MACHINE, {number: number.text(value)})
    assert numbers.read(fitting.parsed(text, PATH))["message_cost"].value == pytest.approx(value, rel=1e-4)


K_COMPUTER = (Path(__file__).parents[4] / "machines" / "k-computer.toml").read_text()
IN_RINGS_AND_TREES = (("bcast", "binomial"), ("allreduce", "recursive_doubling"), ("allreduce", "ring"))
SIZES = (8, 1024, 32768, 2**20)
OF_MANY_MESSAGES = (("bcast", "linear"), ("alltoall", "linear"))


def with_costs(message_cost: str, relay_latency: str) -> str:
    known = numbers.read(fitting.parsed(K_COMPUTER, Path("k.toml")))
    values = {known["message_cost"]: message_cost, known["relay_latency"]: relay_latency}
    return numbers.with_values(K_COMPUTER, values)


def times_of(algorithms) -> list[cases.TimedCase]:
    """Of a machine whose message costs 8 us and relay 2 us, with 2 % of noise."""
    machine = _machine.parse(with_costs("8 us", "2 us"), "k.toml")
    every = [
        cases.TimedCase(f"k.csv:{line}", dict(zip(("collective", "algorithm", "shape", "bytes"), values)), 1.0, {})
        for line, values in enumerate(
            ((*each, shape, size) for each in algorithms for shape in ("2x2x2", "4x2x2") for size in SIZES), start=2
        )
    ]
    predictor = cases.Predictor(every, machine)
    for case, seconds in zip(every, predictor.seconds(machine, every)):
        case.seconds = seconds
    return noisy(every, 3, 0.02)


def fit_of_costs(times, start):
    text = with_costs(*start)
    predictor = cases.Predictor(times, _machine.parse(text, "k.toml"))
    found = fitting.calibrate(Path("k.toml"), text, predictor, times, ["message_cost", "relay_latency"])
    return {each.number.key: each for each in found.fitted}


@pytest.mark.parametrize(
    "start",
    [("3 us", "1 us"), *(pytest.param(each, marks=pytest.mark.long) for each in (("1 us", "8 us"), ("8 us", "2 us")))],
)
def test_numbers_are_refused_from_every_start_where_only_their_sum_is_told(start):
    """On one side of a kink of the model their derivatives differ, and not on the other, where times are as near."""
    with pytest.raises(BadInput, match="the data cannot tell relay_latency from message_cost"):
        fit_of_costs(times_of(IN_RINGS_AND_TREES), start)


def test_of_numbers_that_nobody_named_one_is_left_out_where_only_their_sum_is_told():
    text = with_costs("3 us", "1 us")
    times = times_of(IN_RINGS_AND_TREES)
    found = fitting.calibrate(Path("k.toml"), text, cases.Predictor(times, _machine.parse(text, "k.toml")), times, None)
    assert [each.number.key for each in found.fitted] == ["message_cost"]
    assert found.warnings.count("the data cannot tell relay_latency from message_cost") == 1


@pytest.mark.parametrize("start", [("3 us", "1 us"), ("1 us", "8 us")])
def test_numbers_that_the_data_tell_apart_have_intervals_by_derivatives_alone(start, monkeypatch):
    found = fit_of_costs(times_of((*IN_RINGS_AND_TREES, *OF_MANY_MESSAGES)), start)
    for key, truth in (("message_cost", 8e-6), ("relay_latency", 2e-6)):
        assert found[key].low <= truth <= found[key].high < 1.3 * found[key].low
    monkeypatch.setattr(profiles, "weak", lambda solution: [])
    assert fit_of_costs(times_of((*IN_RINGS_AND_TREES, *OF_MANY_MESSAGES)), start) == found
