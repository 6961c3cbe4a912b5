"""Units of work dealt to ranks, as operations of a GOAL file."""

from __future__ import annotations

import random
import re

import pytest

from kumihimo import _goal
from kumihimo._base import UnitDeal
from kumihimo.app.dealing import Deal
from kumihimo.predict.prediction import Setting

FREE = "L=0,o=0,g=0,G=0,O=0,S=65535"


def units(count: int) -> tuple[list[float], list[float]]:
    """Costs that fall, and times near them that are all different."""
    source = random.Random(count)
    costs = sorted((source.uniform(1, 100) for _ in range(count)), reverse=True)
    return costs, [1e-6 * (100 * cost * source.uniform(0.5, 2) + i) for i, cost in enumerate(costs)]


def seconds_of(goal: str, parameters: str = FREE) -> float:
    setting = Setting("loggp", options={"loggops": parameters})
    return setting.predict(_goal.read(goal.encode(), "dealt")).seconds


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 40])
@pytest.mark.parametrize("static_share", [0.0, 0.5, 0.9, 1.0])
def test_each_unit_is_computed_once(ranks: int, static_share: float) -> None:
    costs, seconds = units(100)
    deal = Deal(costs, seconds, ranks, static_share, 1e-6)
    computed = sorted(map(int, re.findall(r"calc ([1-9]\d*)", deal.goal())))
    assert computed == sorted(round(each * 1e9) for each in seconds)
    assert sum(rank.computing_ns for rank in deal.ranks) == sum(computed)
    assert seconds_of(deal.goal()) >= max(rank.computing_ns for rank in deal.ranks) * 0.999e-9


def test_each_rank_that_asks_is_answered_until_none_is_left() -> None:
    costs, seconds = units(60)
    deal = Deal(costs, seconds, 5, 0.0, 1e-6)
    sends = re.findall(r"send 16b to (\d+) tag (\d+)", deal.goal())
    receives = re.findall(r"recv 16b from (\d+) tag (\d+)", deal.goal())
    assert len(sends) == len(receives) == 2 * sum(rank.asks for rank in deal.ranks)
    assert all(rank.asks >= 1 for rank in deal.ranks[1:]) and deal.ranks[0].asks == 0
    assert deal.rule.all_dealt and all(rank.complete for rank in deal.ranks)


def test_chunks_shrink_with_the_work_that_is_left() -> None:
    rule = UnitDeal([1.0] * 64, 4, 0.0)
    chunks = []
    while chunk := range(*rule.cut()):
        chunks.append(len(chunk))
    assert chunks[0] == 64 // 8 and chunks == sorted(chunks, reverse=True) and chunks[-1] == 1 and sum(chunks) == 64


def test_all_dealt_beforehand_needs_no_message() -> None:
    deal = Deal([1.0] * 12, [1e-3] * 12, 4, 1.0, 1e-6)
    assert "send" not in deal.goal() and seconds_of(deal.goal()) == pytest.approx(3e-3)


def test_units_dealt_as_ranks_ask_even_out_wrong_costs() -> None:
    costs = [4.0 - i / 1000 for i in range(400)]
    seconds = [3e-3 if i % 4 == 0 else 1e-3 for i in range(400)]  # rank 0 of 4 gets the long ones beforehand
    took = {share: seconds_of(Deal(costs, seconds, 4, share, 0.0).goal()) for share in (0.0, 1.0)}
    best = sum(seconds) / 4
    assert took[1.0] == pytest.approx(0.3) and took[0.0] < 1.05 * best


def test_a_sum_waits_for_the_units_of_its_rank() -> None:
    deal = Deal([1.0] * 4, [1e-3, 1e-3, 1e-3, 5e-3], 2, 1.0, 1e-6)
    sums = "num_ranks 2\n" + "".join(
        f"rank {rank} {{\nl1: send 8b to {1 - rank} tag 0 cpu 1 nic 0\nl2: recv 8b from {1 - rank} tag 0 cpu 1 nic 0\n"
        "l3: calc 1000000 cpu 0\nl3 requires l2\n}\n"
        for rank in range(2)
    )
    deal.then(sums)
    assert seconds_of(deal.goal()) == pytest.approx(6e-3 + 1e-3)
