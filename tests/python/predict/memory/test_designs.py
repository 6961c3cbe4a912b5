"""Memory of channels: published figures, the designs' limits, patterns."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo.predict.memory import designs, patterns
from kumihimo.predict.memory.designs import PatternOfRank
from kumihimo.text.errors import BadInput

WHOLE_K = PatternOfRank(82_944, 82_943, 1_024)


def test_the_figures_of_k_come_out() -> None:
    assert designs.ORDINARY_PER_RANK == 148_480
    assert designs.ordinary(WHOLE_K) == pytest.approx(12.3e9, rel=0.005)
    small = designs.two_modes(PatternOfRank(82_944, 82_944, 0))
    assert small == 162 * 2**20
    assert designs.two_modes(WHOLE_K) - designs.two_modes(PatternOfRank(82_944, 82_943, 0)) == 2**30


def test_ours_stay_below_the_goals() -> None:
    assert designs.two_modes(WHOLE_K) <= 1.3e9
    assert designs.few_large(WHOLE_K) <= 200 * 2**20
    assert designs.pooled(WHOLE_K) + designs.state(WHOLE_K) <= 64 * 2**20


@pytest.mark.parametrize("name", ["two modes", "32 large", "pooled"])
def test_nothing_before_the_first_contact(name: str) -> None:
    assert designs.DESIGNS[name](PatternOfRank(10**6, 0, 0)) == 0


def test_the_sizes_are_those_of_the_code() -> None:
    source = Path(__file__).parents[4] / "src/run/fabric/channel_sizes.hpp"
    text = source.read_text(encoding="utf-8")
    assert "small_slots = 16, small_slot_bytes = 128" in text
    assert "large_slots = 64, large_slot_bytes = 16 << 10" in text
    assert f"promoted_after = {designs.PROMOTED_AFTER};" in text
    assert f"most_large = {designs.MOST_LARGE};" in text


def test_patterns_have_their_peers() -> None:
    assert patterns.by_name("all", 100, 15) == PatternOfRank(100, 99, 99)
    assert patterns.by_name("all", 100, 14) == PatternOfRank(100, 99, 0)
    assert patterns.by_name("recursive_doubling", 1_000_000, 15).peers == 20
    assert patterns.by_name("halo:26", 8, 1).peers == 7
    assert patterns.by_name("12", 100, 1).peers == 12
    with pytest.raises(BadInput, match=r"--pattern must be one of all.*'ringg'.*ring"):
        patterns.by_name("ringg", 4, 1)


def test_traffic_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "traffic.txt"
    path.write_text("0 1 100 20\n2 1 100 3\n1 0 8 1\n", encoding="utf-8")
    assert patterns.of_file(path) == PatternOfRank(3, 2, 1)
