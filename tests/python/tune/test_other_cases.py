"""What is chosen does not lose where it is taken too: in place, with another root, of a narrow type."""

from __future__ import annotations

import pytest

from kumihimo.tune.bench.cases import BenchCase
from kumihimo.tune.other_cases import others_of
from kumihimo.tune.targets import FIXED_ORDER, Target

SIZES = [2**e for e in range(3, 21)]
RING = ("ring", ())
SLOW = {
    "in place": lambda case: case.in_place,
    "int8 max": lambda case: (case.type, case.operation) == ("int8", "max"),
    "root 3": lambda case: case.root == 3,
}
ASKED = {"allreduce": {"in place", "int8 max"}, "reduce": {"in place", "int8 max", "root 3"}, "bcast": {"root 3"}}


def covered(choices: list[dict], size: int) -> dict:
    (found,) = [choice for choice in choices if choice["from_bytes"] <= size <= choice["to_bytes"]]
    return found


@pytest.mark.parametrize("collective", ASKED)
def test_what_is_asked_more(collective):
    found = others_of(BenchCase(collective, "binomial", bytes=64), ("binomial", ()), 4)
    assert {other.label for other in found} == ASKED[collective]
    assert all(SLOW[other.label](other.case) for other in found)
    assert all(other.case.bytes == 64 for other in found)


@pytest.mark.parametrize(
    ("collective", "algorithm", "labels"),
    [
        ("alltoall", "linear", {"in place"}),
        ("scatter", "binomial", {"in place", "root 3"}),
        ("scan", "chain", {"in place", "int8 max"}),
        ("barrier", "dissemination", set()),
    ],
)
def test_others_are_asked_what_they_have(collective, algorithm, labels):
    found = others_of(BenchCase(collective, algorithm, bytes=64), (algorithm, ()), 4)
    assert {other.label for other in found} == labels


@pytest.mark.parametrize("collective", ASKED)
def test_what_loses_nowhere_is_chosen_and_says_what_was_tried(fake, collective):
    (outcome,) = fake.tuner(2000).tune([Target(collective, 4)], SIZES)
    assert outcome.whole
    for choice in outcome.choices:
        assert choice["algorithm"] != "library"
        assert set(choice["also"]) == ASKED[collective]


@pytest.mark.parametrize(
    ("collective", "label"), [(c, label) for c, labels in ASKED.items() for label in sorted(labels)]
)
def test_what_loses_for_another_question_is_refused_near_there(fake, collective, label):
    """It loses from 64 KiB on; the longest length that is tried is 1 MiB."""
    fake.ours = lambda case: 9e-6 if SLOW[label](case) and case.bytes >= 65536 else 1e-6
    fake.library = lambda case: 2e-6
    (outcome,) = fake.tuner(2000).tune([Target(collective, 4)], SIZES)
    assert covered(outcome.choices, 8)["algorithm"] != "library"
    last = covered(outcome.choices, 2**20)
    assert last["algorithm"] == "library"
    (measured,) = [each for each in last["measured"] if each["bytes"] == 2**20]
    assert measured["ratio"] == 0.5
    assert f"at {2**20} bytes: {label}" in measured["refused"]


def test_without_time_for_them_the_tuning_is_not_whole(fake, journal):
    tuner = fake.tuner(2000, journal())
    measure = fake.measure

    def no_time(cases, ranks, seconds, limit, tell):
        if any(case.in_place for case in cases):
            fake.time += 5000
        measure(cases, ranks, seconds, limit, tell)

    fake.measure = tuner.launches._measure = no_time
    (outcome,) = tuner.tune([Target("allreduce", 4)], SIZES)
    assert not outcome.whole and not outcome.left
    assert all(choice["also"] == [] for choice in outcome.choices if choice["algorithm"] != "library")
    fake.measure = measure
    (after,) = fake.tuner(2000, journal()).tune([Target("allreduce", 4)], SIZES)
    assert after.whole
    assert all(choice["also"] for choice in after.choices if choice["algorithm"] != "library")


def test_what_keeps_an_order_is_not_asked(fake):
    (outcome,) = fake.tuner(2000).tune([Target("allreduce", 4, determinism=FIXED_ORDER)], SIZES)
    assert outcome.choices
    assert not any(case.type == "int8" for launch in fake.launched for case in launch)
