"""What a program does not gain by is not chosen, whatever judging says."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

from kumihimo.processes import mpi
from kumihimo.run.preload import INTERPOSER, OF_PROGRAM, preloaded, suffix_of
from kumihimo.run.profile.collectives import Form
from kumihimo.text.errors import OutOfTime
from kumihimo.tune import rehearsal
from kumihimo.tune.bench import BenchCase
from kumihimo.tune.bench.job import run_rehearsal
from kumihimo.tune.rehearsal import OVER_COMPUTATION, PAIRS, USUAL_WAYS, WAYS, Rehearsed
from kumihimo.tune.targets import FIXED_ORDER, ProgramDemand, Target

FAMILIES = [installation.family for installation in mpi.discover()]
RING = ("ring", ())
PAIR = Target("allreduce", 2)
SIZES = [8, 64, 4096]


def result(back_to_back: float, between: float) -> dict:
    return dict(zip(USUAL_WAYS, (back_to_back, between)))


def stage_of(fake, gain):
    """gain(case, way): by how much calls take longer with the choices."""
    staged = []

    @contextmanager
    def stage(choices):
        staged.append(choices)

        def measured(caught):
            def measure(cases, ranks, seconds, limit, tell):
                for case in cases:
                    fake.time += 4 * seconds
                    found = result(*(1e-5 * (gain(case, way) if caught else 1) for way in USUAL_WAYS))
                    tell({"algorithm": case.algorithm, "bytes": case.bytes, **found})

            return measure

        yield {caught: measured(caught) for caught in (False, True)}

    stage.staged = staged
    return stage


def rehearsed(fake, gain, target: Target = PAIR, budget: float = 1000):
    tuner = fake.tuner(budget)
    tuner.stage = stage_of(fake, gain)
    (outcome,) = tuner.tune([target], SIZES)
    return outcome, tuner.stage.staged


def algorithms(outcome) -> dict[int, str]:
    return {
        size: choice["algorithm"]
        for size in SIZES
        for choice in outcome.choices
        if choice["from_bytes"] <= size <= choice["to_bytes"]
    }


@pytest.mark.parametrize("way", USUAL_WAYS)
def test_a_choice_must_gain_both_ways(fake, way):
    outcome, _ = rehearsed(fake, lambda case, which: 1.1 if case.bytes == 64 and which == way else 0.9)
    chosen = algorithms(outcome)
    assert chosen[64] == "library" and "library" not in (chosen[8], chosen[4096])
    refused = {each["refused"] for c in outcome.choices for each in c["measured"] if each["bytes"] == 64}
    assert refused == {f"no gain in the rehearsal at 64 bytes: {WAYS[way]}"}
    also = [choice["also"] for choice in outcome.choices if choice["algorithm"] != "library"]
    assert also and all({WAYS[way] for way in USUAL_WAYS} <= set(each) for each in also)


def test_a_rehearsal_of_short_calls_says_nothing_of_long_ones(fake):
    def library(case):
        return 1.0 if case.bytes > 4096 else 2e-6

    fake.library, fake.ours = library, lambda case: 0.3 * library(case)
    asked = ProgramDemand((1 << 20, 64), 1.0, Form("float64", "sum", False), (), USUAL_WAYS)
    outcome, _ = rehearsed(fake, lambda case, way: 1.1, Target("allreduce", 2, program=asked))
    by_size = {row["bytes"]: c["algorithm"] for c in outcome.choices for row in c["measured"]}
    assert by_size[64] == "library" != by_size[1 << 20]


BEGUN = Target(
    "allreduce", 2, program=ProgramDemand((64,), 1.0, Form("float64", "sum", False), (), (OVER_COMPUTATION,))
)
BEGUN = replace(BEGUN, program=replace(BEGUN.program, overlap_seconds=1e-4))


@pytest.mark.parametrize("gain, algorithm", [(0.5, "ours"), (1.1, "library")])
def test_non_blocking_calls_are_rehearsed_over_computation(fake, gain, algorithm):
    @contextmanager
    def stage(choices):
        assert {choice["start"] for choice in choices} == {"non-blocking"}

        def measured(caught):
            def measure(cases, ranks, seconds, limit, tell):
                for case in cases:
                    found = {"back_to_back_seconds": 1e-5, OVER_COMPUTATION: 1e-5 * (gain if caught else 1)}
                    tell({"algorithm": case.algorithm, "bytes": case.bytes, **found})

            return measure

        yield {caught: measured(caught) for caught in (False, True)}

    tuner = fake.tuner(1000)
    tuner.stage = stage
    (outcome,) = tuner.tune([BEGUN], ())
    (choice,) = outcome.choices
    assert choice["start"] == "non-blocking" and (choice["algorithm"] == "library") == (algorithm == "library")
    assert algorithm == "library" or choice["measured"][0]["program_ratio"] == gain


def test_non_blocking_calls_that_cannot_be_rehearsed_are_left_to_the_library(fake):
    (outcome,) = fake.tuner(1000).tune([BEGUN], ())
    (choice,) = outcome.choices
    assert choice["algorithm"] == "library"
    assert "cannot be tried in a program" in choice["measured"][0]["refused"]


def test_it_runs_with_what_was_judged_faster(fake):
    _, staged = rehearsed(fake, lambda case, way: 0.9)
    (choices,) = staged
    assert {c["collective"] for c in choices} == {"allreduce"} and "library" not in {c["algorithm"] for c in choices}


def test_a_fixed_order_and_emulated_nodes_are_not_rehearsed(fake):
    _, staged = rehearsed(fake, lambda case, way: 2, Target("allreduce", 2, None, FIXED_ORDER))
    assert staged == []
    _, staged = rehearsed(fake, lambda case, way: 2, Target("allreduce", 4, 2))
    assert staged == []


def test_an_odd_launch_decides_nothing():
    one = Rehearsed(8, RING)
    for number in range(PAIRS):
        slow = 3.0 if number == 1 else 0.8
        one.take(result(slow, 0.8), result(1, 1))
    assert one.refused == ""


def test_the_ratio_in_a_program_is_that_of_its_ways():
    one, both = Rehearsed(8, RING, ways=("between_seconds",)), Rehearsed(8, RING)
    assert one.figures == {}
    for each in (one, both):
        for ratio in (0.7, 0.5, 0.6):
            each.take(result(9.0, ratio), result(1.0, 1.0))
    assert one.figures == {"program_ratio": 0.6, "program_ratio_low": 0.5, "program_ratio_high": 0.7}
    assert both.figures["program_ratio"] == pytest.approx((9.0 + 0.6) / 2)


@pytest.mark.parametrize(("ours", "theirs", "ratio"), [(0.5, 1.0, 0.5), (-1e-7, 1.0, 0.0), (0.5, 0.0, 1.0)])
def test_a_call_may_add_nothing_to_computation(ours, theirs, ratio):
    one = Rehearsed(8, RING, ways=(OVER_COMPUTATION,))
    one.take({OVER_COMPUTATION: ours}, {OVER_COMPUTATION: theirs})
    assert one.figures["program_ratio"] == ratio


def test_a_small_gain_is_none():
    for gain, refused in ((0.1e-6, True), (0.3e-6, False)):
        one = Rehearsed(8, RING)
        for _ in range(PAIRS):
            one.take(result(1e-6 - gain, 5e-7), result(1e-6, 1e-6))
        assert bool(one.refused) == refused


def test_what_there_was_no_time_for_is_refused():
    def launch(number, caught):
        raise OutOfTime("no time for the check")

    (one,) = rehearsal.rehearse([(8, RING)], launch)
    assert one.refused == "no time for the rehearsal in a program"


def test_sizes_that_there_was_no_time_to_rehearse_get_no_choice(fake):
    @contextmanager
    def stage(choices):
        def measure(cases, ranks, seconds, limit, tell):
            raise OutOfTime("interrupted")

        yield {True: measure, False: measure}

    tuner = fake.tuner(1000)
    tuner.stage = stage
    (outcome,) = tuner.tune([PAIR], SIZES)
    assert outcome.choices == [] and outcome.left == SIZES and not outcome.whole


def test_trouble_is_told():
    one = Rehearsed(8, RING)
    one.take({"not_applicable": "a rank died"}, result(1, 1))
    assert one.refused == "a rank died"


@pytest.mark.mpi
@pytest.mark.parametrize("family", FAMILIES)
def test_the_interposer_takes_part(tmp_path, family):
    installation = mpi.choose(family)
    summary = tmp_path / "summary.json"
    given = {
        OF_PROGRAM: preloaded((INTERPOSER,), suffix_of(installation.library)),
        "KUMIHIMO_ALGORITHM": "ring",
        "KUMIHIMO_SUMMARY": str(summary),
    }
    # The first are non-blocking: no blocking call has set up the communicator for them.
    cases = [BenchCase(name, "ring", bytes=64, overlap_seconds=1e-4) for name in ("allreduce", "allgather")]
    cases += [BenchCase("allreduce", "ring", bytes=64), BenchCase("bcast", "binomial", bytes=4096)]
    run = run_rehearsal(cases, ranks=2, installation=installation, of_processes=given, case_seconds=0.002)
    assert [each["bytes"] for each in run.results] == [64, 64, 64, 4096]
    begun, blocking = run.results[:2], run.results[2:]
    assert all(each[way] > 0 for each in blocking for way in USUAL_WAYS)
    assert all(each["back_to_back_seconds"] > 0 and OVER_COMPUTATION in each for each in begun)
    ran = {row["collective"] for row in rehearsal.calls_of(summary) if row["algorithm"] == "ring"}
    assert {"allreduce", "iallreduce", "iallgather"} <= ran


@pytest.mark.parametrize(
    "algorithm, called, overlap, trouble",
    [
        ("ring", "allreduce", None, ""),
        ("library", "allreduce", None, "the MPI library ran"),
        ("ring", "iallreduce", 0.0, ""),
        ("ring", "allreduce", 0.0, "the MPI library ran"),
    ],
)
def test_what_did_not_run_by_ours_was_not_rehearsed(tmp_path, algorithm, called, overlap, trouble):
    summary, told = tmp_path / "summary.json", []
    row = {"collective": called, "bytes_from": 64, "bytes_to": 127, "algorithm": algorithm, "calls": 9}

    def measure(cases, ranks, seconds, limit, tell):
        asked = {"collective": "allreduce", "algorithm": "ring", "bytes": 64, "overlap_seconds": overlap}
        tell({**asked, **result(1, 1)})
        summary.write_text(json.dumps({"calls": [row]}), encoding="utf-8")

    rehearsal.seen(measure, summary)([], 2, 1, 1, told.append)
    (one,) = told
    assert one.get("not_applicable", "").startswith(trouble) and ("not_applicable" in one) == bool(trouble)
