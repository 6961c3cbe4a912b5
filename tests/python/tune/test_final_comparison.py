"""The rule that nothing of ours is chosen unless it is faster than the library's own, by all that was measured."""

from __future__ import annotations

from math import exp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.text.errors import OutOfTime
from kumihimo.tune.final_comparison import (
    CONFIRMING,
    FAR_LAUNCHES,
    GROWING,
    LEAST_LAUNCHES,
    MOST_LAUNCHES,
    NARROW,
    Judged,
    judge,
    part_of,
)

RING = ("ring", ())


def result(ours: float, theirs: float = 1e-3) -> dict:
    return {"seconds": ours, "library": {"seconds": theirs}, "bitwise": True}


def judged_by(times) -> tuple[Judged, int]:
    """One size whose launches take these times against 1 ms, and how many launches there were."""
    made = []

    def launch(number, proposals):
        made.append(number)
        return [result(times(number) * 1e-3)] * len(proposals)

    (found,) = judge([(8, RING)], launch)
    return found, len(made)


def test_clearly_faster_ends_early():
    found, launches = judged_by(lambda number: 0.5)
    assert found.faster
    assert launches == LEAST_LAUNCHES + CONFIRMING


@pytest.mark.parametrize(
    ("ours", "launches"), [((0.2, 0.3, 0.2), FAR_LAUNCHES), ((0.2, 0.45, 0.2), LEAST_LAUNCHES + CONFIRMING)]
)
def test_long_calls_that_are_faster_by_far_need_few_launches(ours, launches):
    made = []

    def launch(number, proposals):
        made.append(number)
        return [result(ours[number % len(ours)], 0.5)]

    (found,) = judge([(8, RING)], launch)
    assert found.faster and len(made) == launches


def test_clearly_slower_ends_early():
    found, launches = judged_by(lambda number: 1.5)
    assert not found.faster
    assert launches == LEAST_LAUNCHES


def test_equal_is_not_faster():
    found, launches = judged_by(lambda number: 1.0)
    assert not found.faster
    assert launches == LEAST_LAUNCHES, "an interval of no width needs no more"


def test_doubt_is_not_faster_and_goes_on_to_the_end():
    found, launches = judged_by(lambda number: 0.8 if number % 2 else 1.1)
    assert not found.faster
    assert launches == MOST_LAUNCHES


@pytest.mark.parametrize("slow", range(LEAST_LAUNCHES, LEAST_LAUNCHES + CONFIRMING))
def test_what_is_not_confirmed_is_not_faster(slow):
    found, launches = judged_by(lambda number: 1.01 if number == slow else 0.5)
    assert not found.faster
    assert launches == slow + 1, "and that is the end"


def chosen_of(median: float, tries: int = 3000) -> float:
    """The share that is chosen where launches' ratios lie about `median`; fixed seed."""
    chance = Random(5)

    def launch(number, proposals):
        return [result(median * 1e-3 * exp(chance.gauss(0, 0.1))) for _ in proposals]

    return sum(j.faster for j in judge([(8 * n, RING) for n in range(1, tries + 1)], launch)) / tries


def test_of_equal_ones_few_are_chosen_whatever_the_number_of_looks():
    """By the looks alone it would be 4 %; an interval of 95 % promises no more than 2.5 % on either side."""
    assert 0 < chosen_of(1.0) < 0.02
    assert chosen_of(1.05) < 0.002


def test_what_is_faster_by_twice_the_noise_is_chosen():
    assert chosen_of(0.8) > 0.9


@given(st.lists(st.floats(0.2, 2.0), min_size=MOST_LAUNCHES + CONFIRMING, max_size=MOST_LAUNCHES + CONFIRMING))
def test_never_slower(ratios):
    """What is chosen was slower than the library in less than half of its launches, and by the interval never."""
    found, launches = judged_by(lambda number: ratios[number])
    figures = found.figures
    assert figures["launches"] == launches >= LEAST_LAUNCHES
    assert figures["ratio_low"] <= figures["ratio"] <= figures["ratio_high"]
    if found.faster:
        assert figures["ratio_high"] < 1
        assert sum(ratio >= 1 for ratio in ratios[:launches]) < launches / 2
    if launches < MOST_LAUNCHES and not found.looked:
        narrow = figures["ratio_high"] - figures["ratio_low"] < NARROW
        assert narrow or figures["ratio_low"] > 1


def test_what_it_costs_to_take_a_call_over_must_be_won_back():
    judged = Judged(8, RING, [0.25e-6] * 8, [0.3e-6] * 8)  # 50 ns faster
    assert judged.figures["ratio_high"] < 1
    assert not judged.faster
    assert Judged(8, RING, [0.15e-6] * 8, [0.3e-6] * 8).faster


@pytest.mark.parametrize(
    "bad", [{"not_applicable": "too few elements"}, {**result(1e-9), "bitwise": False}], ids=["unfit", "unlike"]
)
def test_what_does_not_fit_or_differs_between_ranks_is_refused(bad):
    calls = []

    def launch(number, proposals):
        calls.append(len(proposals))
        return [bad if size == 8 else result(1e-4) for size, _ in proposals]

    first, second = judge([(8, RING), (16, RING)], launch)
    assert not first.faster and first.refused
    assert second.faster
    assert calls[1:] == [1] * (LEAST_LAUNCHES + CONFIRMING - 1)


def test_what_time_does_not_reach_is_given_up():
    def launch(number, proposals):
        return [result(1e-4) if place < 2 else None for place, _ in enumerate(proposals)]

    judged = judge([(8, RING), (16, RING), (32, RING)], launch)
    assert [j.faster for j in judged] == [True, True, False]
    assert not judged[2].clear


def test_the_last_are_given_up_where_a_launch_does_not_reach_all():
    calls = []

    def launch(number, proposals):
        calls.append([size for size, _ in proposals])
        return [None if number == 1 and size == 8 else result(1e-4) for size, _ in proposals]

    judged = judge([(8, RING), (16, RING), (32, RING)], launch)
    assert calls[:3] == [[8, 16, 32], [8, 16, 32], [8, 16]]
    assert [j.faster for j in judged] == [True, True, False]


def test_a_launch_that_tells_nothing_does_not_count():
    def launch(number, proposals):
        return [None if number == 2 else result(1e-4)] * len(proposals)

    (found,) = judge([(8, RING)], launch)
    assert found.faster


def test_a_launch_after_one_without_results_has_a_larger_part_of_the_time():
    made = []

    def launch(number, proposals):
        made.append(number)
        return [None if len(made) == 1 else result(1e-4)] * len(proposals)

    judge([(8, RING)], launch)
    assert made[:3] == [0, 1 + GROWING, 2 + GROWING]
    assert part_of(1 + GROWING) > 1.5 * part_of(0)


def test_the_end_of_time_leaves_what_has_too_few_launches():
    def launch(number, proposals):
        if number == LEAST_LAUNCHES - 1:
            raise OutOfTime("no time for the check")
        return [result(1e-4)] * len(proposals)

    (found,) = judge([(8, RING)], launch)
    assert len(found.ours) == LEAST_LAUNCHES - 1
    assert not found.faster and not found.clear


def test_the_end_of_time_before_the_last_launch_that_confirms_leaves_it_open():
    def launch(number, proposals):
        if number == LEAST_LAUNCHES + CONFIRMING - 1:
            raise OutOfTime("no time for the check")
        return [result(1e-4)] * len(proposals)

    (found,) = judge([(8, RING)], launch)
    assert not found.faster and not found.clear


def test_launches_share_the_time_so_that_enough_have_some():
    left = 1.0
    for number in range(LEAST_LAUNCHES + CONFIRMING):
        left -= part_of(number) * left
        assert left > 0.1
    assert part_of(LEAST_LAUNCHES + CONFIRMING) == 1
