"""Tuning for a program: what is tuned, in which order, with which questions, and what is predicted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from kumihimo.run.profile.collectives import Collectives, Form, Use
from kumihimo.tune import program, wisdom
from kumihimo.tune.final_comparison import Judged
from kumihimo.tune.other_cases import others_of
from kumihimo.tune.targets import ProgramDemand, Target

DOUBLES = Form("float64", "sum", False)


def use(collective="allreduce", seconds=1.0, size=4096, ranks=2, forms=(DOUBLES,), apart=0.0, waiting=0.0, **more):
    found = Use(
        collective, "blocking", False, ranks, size, size, size, calls=100, seconds=seconds, split_seconds=1.0, **more
    )
    found.waiting_seconds, found.apart_seconds = waiting, apart
    found.forms.update({form: seconds / (n + 1) for n, form in enumerate(forms)})
    return found


def profile(*uses: Use) -> Collectives:
    return Collectives("an MPI", "solver-1", 4, 4, 1, 10.0, list(uses), [])


def test_what_may_save_the_most_comes_first_until_too_little_is_left():
    found = program.plan(
        profile(
            use(seconds=0.5),
            use("bcast", seconds=3.0, waiting=0.5),
            use(seconds=0.4, size=64),
            use("alltoall", seconds=0.02, ranks=4),
            use("gather", seconds=0.02),
        )
    )
    assert [(target.collective, target.ranks) for target in found.targets] == [("bcast", 2), ("allreduce", 2)]
    assert found.targets[0].program.seconds == pytest.approx(1.5)
    assert found.savable_seconds == pytest.approx(1.5 + 0.9 + 0.04)
    assert found.targets[1].program.sizes == (4096, 64)
    assert {(each.collective, why) for each, why in found.left} == {
        ("alltoall", "too little time to be measured"),
        ("gather", "too little time to be measured"),
    }


def test_what_cannot_be_tuned_has_its_reason():
    persistent, irregular = replace(use(), start="persistent"), replace(use("gather"), irregular=True)
    begun = replace(use("bcast"), start="non-blocking", irregular=True)
    derived, of_pair = (Form(*form, False) for form in ((None, "sum"), ("float64_int32", "minloc")))
    found = program.plan(
        profile(
            persistent,
            begun,
            use("neighbor_alltoall"),
            use(forms=(derived,)),
            use("bcast", waiting=1.0),
            use("reduce", forms=(of_pair,)),
            use("scan"),
            irregular,
            use("alltoall"),
        ),
        ["allreduce", "bcast", "reduce", "gather", "alltoall"],
    )
    reasons = {each.collective + ("" if each.blocking else "'"): why for each, why in found.left}
    assert "persistent" in reasons["allreduce'"]
    assert reasons["bcast'"] == "non-blocking calls with blocks of different sizes"
    assert "leaves to the MPI library" in reasons["allreduce"]
    assert "is waiting" in reasons["bcast"]
    assert "named" in reasons["scan"] and "named" in reasons["neighbor_alltoall"]
    assert "leaves to the MPI library" in reasons["reduce"]
    assert [str(target) for target in found.targets] == [
        "gather of 2 ranks, blocks of different sizes",
        "alltoall of 2 ranks",
    ]
    assert found.savable_seconds == pytest.approx(2.0)


def test_sizes_that_take_most_of_the_time_come_first_and_those_that_take_hardly_any_are_left():
    long, short, rare = use("bcast", 3.0, 1 << 22), use("bcast", 0.5, 8), use("bcast", 0.01, 1 << 23)
    found = program.plan(profile(rare, short, long))
    (target,) = found.targets
    assert target.program.sizes == (1 << 22, 8)
    assert [(each.smallest, why) for each, why in found.left] == [(1 << 23, "too little time to be measured")]
    assert program.plan(profile(rare, short)).targets[0].program.sizes == (8,)
    between = use("bcast", 0.01, 512)
    found = program.plan(profile(between, short, long))
    assert found.targets[0].program.sizes == (1 << 22, 8, 512) and not found.left, "a choice for both would be its, too"


def test_only_forms_that_run_takes_over_can_save_time():
    mixed = use(seconds=3.0, forms=(DOUBLES, Form(None, "sum", False)))  # of 3 seconds and 1.5
    mixed.seconds = 4.5
    assert program.savable_seconds(mixed) == pytest.approx(3.0)
    (target,) = program.plan(profile(mixed)).targets
    assert (target.program.form, target.program.others) == (DOUBLES, ())
    choice = {"collective": "allreduce", "ranks": 2, "algorithm": "ring", "from_bytes": 1, "to_bytes": 4096}
    choice["measured"] = [{"bytes": 4096, "ratio": 0.5, "ratio_low": 0.5, "ratio_high": 0.5}]
    assert program.predicted_gain(profile(mixed), [choice]).share == pytest.approx(0.15)


def test_user_defined_operations_are_measured_as_sums_of_as_many_bytes():
    by_user, in_place = Form("float64", "user", False), Form("float32", "user", True)
    found = profile(use(seconds=2.0, forms=(by_user, in_place)))
    (target,) = program.plan(found).targets
    assert (target.program.form, target.program.others) == (DOUBLES, (replace(DOUBLES, in_place=True),))
    assert not target.program.one_element
    assert program.stood_in_for(found) == pytest.approx(3.0)


def test_elements_of_unknown_size_are_sent_whole():
    own = Form(None, "user", False)
    (target,) = program.plan(profile(use(seconds=2.0, ranks=4, forms=(DOUBLES, own)))).targets
    assert target.program.one_element
    assert [target.allows(name) for name in ("recursive_doubling", "binomial", "chain")] == [True, True, True]
    assert [target.allows(name) for name in ("ring", "rabenseifner", "double_binary")] == [False, False, False]
    (blocks,) = program.plan(profile(use("reduce_scatter", seconds=2.0, ranks=4, forms=(own,)))).targets
    assert blocks.allows("ring") and not blocks.allows("rotated_rings")
    rare = use(seconds=2.0, ranks=4)
    rare.forms[own] = 0.1
    (target,) = program.plan(profile(rare)).targets
    assert target.allows("ring")


def test_sizes_are_those_of_the_calls_in_whole_elements():
    odd = use(size=1000)
    odd.smallest, odd.largest = 1001, 1021
    assert program.sizes_of([odd], DOUBLES) == (1000, 1024)
    assert program.sizes_of([use(size=3)], DOUBLES) == (8,)
    assert program.sizes_of([use(size=4096)], DOUBLES) == (4096,)
    assert program.sizes_of([use("barrier", size=0)], Form("float64", None, False)) == (0,)


def test_the_question_is_the_programs():
    floats, in_place = Form("float32", "max", False), Form("float32", "max", True)
    (target,) = program.plan(profile(use(forms=(floats, in_place)))).targets
    assert (target.program.form, target.program.others) == (floats, (in_place,))
    assert (target.case.type, target.case.operation, target.case.in_place) == ("float32", "max", False)
    others = others_of(replace(target.case, algorithm="ring", bytes=4096), ("ring", ()), 2, target.program.others)
    assert [(each.label, each.case.in_place) for each in others] == [("float32 max, in place", True)]


@pytest.mark.parametrize(
    ("apart", "ways"),
    [
        (0.0, ("back_to_back_seconds",)),
        (5.0, ("between_seconds",)),
    ],
)
def test_calls_are_rehearsed_as_the_program_makes_them(apart, ways):
    (target,) = program.plan(profile(use(apart=apart))).targets
    assert target.program.ways == ways


def test_choices_say_whether_the_program_reduces_by_operations_of_its_own():
    (plain,), (own,) = (
        program.plan(profile(use(forms=forms))).targets for forms in ((DOUBLES,), (DOUBLES, Form(None, "user", False)))
    )
    assert (wisdom.for_user_operations(plain), wisdom.for_user_operations(own)) == ({}, {"user_operations": True})


def begun(seconds=1.0, overlap=0.0) -> Use:
    return replace(use(seconds=seconds), start="non-blocking", completion_seconds=seconds, overlap_seconds=overlap)


@pytest.mark.parametrize(("overlap", "way"), [(0.0, "back_to_back_seconds"), (0.0123, "over_computation_seconds")])
def test_non_blocking_calls_are_a_target_of_their_own(overlap, way):
    found = program.plan(profile(use(seconds=2.0), begun(overlap=overlap))).targets
    assert [str(target) for target in found] == ["allreduce of 2 ranks", "non-blocking allreduce of 2 ranks"]
    blocking, other = found
    assert (blocking.case.overlap_seconds, other.case.overlap_seconds) == (None, pytest.approx(overlap / 100, rel=0.3))
    assert other.program.ways == (way,)
    assert (blocking.key.get("start"), other.key["start"]) == (None, "non-blocking")
    assert wisdom.key_of({**blocking.key, "algorithm": "ring"}) != wisdom.key_of({**other.key, "algorithm": "ring"})


def test_what_is_predicted_for_non_blocking_calls_is_measured_with_them():
    choice = {"collective": "allreduce", "ranks": 2, "algorithm": "ring", "from_bytes": 1, "to_bytes": 4096}
    choice["measured"] = [{"bytes": 4096, "ratio": 0.5, "ratio_low": 0.5, "ratio_high": 0.5}]
    asked = profile(begun(seconds=2.0))
    assert program.predicted_gain(asked, [choice]).share == 0
    assert program.predicted_gain(asked, [{**choice, "start": "non-blocking"}]).share == pytest.approx(0.1)


def test_tuning_asks_nothing_but_what_the_program_does(fake):
    asked = ProgramDemand((64, 4096, 5000), 1.0, Form("int32", "max", True))
    (outcome,) = fake.tuner(1000).tune([Target("allreduce", 2, program=asked)], ())
    assert outcome.whole
    assert {(c.bytes, c.type, c.operation, c.in_place) for launch in fake.launched for c in launch} == {
        (size, "int32", "max", True) for size in asked.sizes
    }
    chosen = [(c["from_bytes"], c["to_bytes"]) for c in outcome.choices if c["algorithm"] != "library"]
    assert chosen[0][0] == 64 and chosen[-1][1] == 5000


def test_the_elements_around_an_odd_length_are_judged_as_one(fake):
    asked = ProgramDemand((7_741_112, 7_741_120, 64), 1.0, DOUBLES)
    (outcome,) = fake.tuner(1000).tune([Target("allreduce", 2, program=asked)], ())
    judged = {case.bytes for launch in fake.launched[-3:] for case in launch}
    assert 7_741_112 not in judged and 7_741_120 in judged
    ours = [each for each in outcome.choices if each["algorithm"] != "library"]
    assert any(each["from_bytes"] <= 7_741_112 and each["to_bytes"] == 7_741_120 for each in ours)
    assert outcome.whole


def test_time_goes_to_what_may_save_more(fake):
    targets = [
        Target(name, 2, program=ProgramDemand((4096,), seconds, DOUBLES))
        for name, seconds in (("allreduce", 9.0), ("bcast", 1.0))
    ]
    outcomes = list(fake.tuner(8).tune(targets, ()))
    assert [bool(outcome.left) for outcome in outcomes] == [False, True]


def test_the_predicted_gain_is_of_what_transfers():
    row = {"bytes": 4096, "ratio": 0.5, "ratio_low": 0.4, "ratio_high": 0.6}
    choice = {"collective": "allreduce", "ranks": 2, "algorithm": "ring", "from_bytes": 64, "to_bytes": 4096}
    choice["measured"] = [row, {**row, "bytes": 64, "ratio": 0.9, "ratio_low": 0.9, "ratio_high": 0.9}]
    asked = profile(use(seconds=2.0, waiting=0.25), use("bcast", seconds=5.0))
    gain = program.predicted_gain(asked, [choice])
    assert (gain.share, gain.low, gain.high) == pytest.approx((0.075, 0.06, 0.09))
    assert program.predicted_gain(asked, [{**choice, "algorithm": "library"}]).share == 0
    in_program = {"program_ratio": 0.8, "program_ratio_low": 0.7, "program_ratio_high": 0.9}
    choice["measured"] = [{**row, **in_program}]
    gain = program.predicted_gain(asked, [choice])
    assert (gain.share, gain.low, gain.high) == pytest.approx((0.03, 0.015, 0.045))


def unequal_target(*sizes: int) -> Target:
    return Target("alltoall", 2, program=ProgramDemand(sizes, 1.0, Form("float64", None, False), unequal=True))


def test_blocks_of_different_sizes_get_one_choice_for_all_sizes(fake):
    (outcome,) = fake.tuner(1000).tune([unequal_target(64, 65536)], ())
    assert outcome.whole
    cases = [case for launch in fake.launched for case in launch]
    assert {case.counts for case in cases} == {"ramp"}
    assert {case.algorithm for case in cases}.isdisjoint({"bruck", "hierarchical"})  # need to know all sizes
    (choice,) = outcome.choices
    assert (choice["blocks"], choice["from_bytes"], "to_bytes" in choice) == ("unequal", 0, False)
    assert [row["bytes"] for row in choice["measured"]] == [64, 65536]


@pytest.mark.parametrize(
    ("ratios", "algorithm"),
    [((0.5, 0.5), "linear"), ((0.5, 0.96), "linear"), ((0.5, 1.1), "library"), ((0.5, 1.5), "library")],
)
def test_one_choice_for_all_sizes_is_slower_at_none(ratios, algorithm):
    judged = [
        Judged(size, ("linear", ()), ours=[ratio * 1e-5 * (1 + n / 100) for n in range(8)], theirs=[1e-5] * 8)
        for size, ratio in zip((64, 4096), ratios)
    ]
    (choice,) = wisdom.choices_of(unequal_target(64, 4096), judged)
    assert choice["algorithm"] == algorithm


def test_what_is_predicted_for_blocks_of_different_sizes_is_measured_with_them():
    row = {"bytes": 4096, "ratio": 0.5, "ratio_low": 0.5, "ratio_high": 0.5}
    choice = {"collective": "alltoall", "ranks": 2, "algorithm": "linear", "from_bytes": 0, "measured": [row]}
    asked = profile(replace(use("alltoall", seconds=2.0), irregular=True))
    assert program.predicted_gain(asked, [{**choice, "blocks": "unequal"}]).share == pytest.approx(0.1)
    assert program.predicted_gain(asked, [choice]).share == 0


def test_what_run_always_leaves_to_the_library_is_told_by_reason():
    by_user = Form(None, "user", False)
    forms = (DOUBLES, by_user, Form(None, "sum", False), Form("float64_int32", "minloc", False))
    mixed = use(seconds=1.0, forms=forms)  # of 1, 1/2, 1/3 and 1/4 seconds
    non_blocking = replace(use(), start="non-blocking", forms=Counter({by_user: 1 / 2}))
    found = profile(
        mixed, non_blocking, replace(use("bcast"), start="persistent"), use("bcast", forms=(Form(None, None, False),))
    )
    found.others["intercommunicators"] = 0.2
    assert program.forwarded(found) == pytest.approx(
        {
            "non-blocking calls with user-defined operations": 1 / 2,
            "derived types in reductions": 1 / 3,
            "types or operations without a reduction kernel": 1 / 4,
            "persistent calls": 1.0,
            "intercommunicators": 0.2,
        }
    )


def test_what_is_predicted_is_of_the_sizes_that_a_choice_has():
    row = {"ratio": 0.5, "ratio_low": 0.5, "ratio_high": 0.5}
    choice = {"collective": "allreduce", "ranks": 2, "algorithm": "ring", "from_bytes": 4096, "to_bytes": 4096}
    choice["measured"] = [{"bytes": 4096, **row}]
    varied = use(seconds=2.0)
    varied.smallest, varied.largest = 2048, 4096  # 2049 sizes, of which the choice has one
    assert program.predicted_gain(profile(varied), [choice]).share == pytest.approx(0.1 / 2049)
    choice |= {"from_bytes": 1, "to_bytes": 3072, "measured": [{"bytes": 2048, **row}, {"bytes": 3072, **row}]}
    assert program.predicted_gain(profile(varied), [choice]).share == pytest.approx(0.1 * 1025 / 2049)
    barrier = {**choice, "collective": "barrier", "from_bytes": 0, "to_bytes": 0, "measured": [{"bytes": 0, **row}]}
    assert program.predicted_gain(profile(use("barrier", size=0, seconds=2.0)), [barrier]).share == pytest.approx(0.1)
