"""The law of saved states: what it is fitted to, it gives back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.text import schema
from kumihimo.tune.file_bench import cost_law, state_cost

SIZES = [1 << 20, 4 << 20, 16 << 20, 64 << 20]


@given(st.floats(1e-4, 10), st.floats(1e6, 1e12))
def test_an_exact_law_is_found(fixed, rate):
    law = cost_law.fitted(SIZES, [fixed + size / rate for size in SIZES])
    for size in SIZES:
        assert law.seconds(size) == pytest.approx(fixed + size / rate, rel=1e-6)
    assert law.largest_deviation < 1e-6


@given(st.lists(st.floats(1e-6, 100), min_size=4, max_size=4))
def test_neither_part_is_negative_and_no_other_law_of_such_is_nearer(seconds):
    law = cost_law.fitted(SIZES, seconds)
    each = 1 / law.bytes_per_second if law.bytes_per_second else 0.0
    assert law.fixed_seconds >= 0 and each >= 0

    def squares(a: float, b: float) -> float:
        return sum(((a + b * size) / time - 1) ** 2 for size, time in zip(SIZES, seconds))

    least = squares(law.fixed_seconds, each)
    for a, b in ((1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99)):
        assert squares(a * law.fixed_seconds, b * each) >= least * (1 - 1e-9) - 1e-12


def test_one_size_has_no_fixed_part():
    law = cost_law.fitted([1000], [2.0])
    assert (law.fixed_seconds, law.bytes_per_second) == (0.0, 500.0)


def test_times_that_do_not_grow_have_no_bandwidth():
    law = cost_law.fitted(SIZES, [0.4, 0.3, 0.2, 0.1])
    assert law.bytes_per_second is None and law.fixed_seconds > 0


def test_steps_take_all_sizes_by_turns_with_rising_generations():
    asked = state_cost.steps([8, 16], 3, "evict", 1)
    saves = [step["state"] for step in asked.steps if step["do"] == "save"]
    assert [each["bytes"] for each in saves] == [8, 16] * 3
    assert [each["generation"] for each in saves] == [1, 2, 3, 4, 5, 6]
    assert asked.bytes(2) == 3 * 16 * 2


def test_the_schema_refuses_what_is_no_law():
    row = {"ranks": 1, "nodes": 1}
    law = {"fixed_seconds": 0.0, "bytes_per_second": None, "source": "storage"}
    right = {"form": cost_law.FORM, "results": [{**row, "save": law, "load": law}]}
    assert schema.fault(right, "state-cost") == ""
    assert "fixed_seconds" in schema.fault(
        {**right, "results": [{**row, "save": {**law, "fixed_seconds": -1}, "load": law}]}, "state-cost"
    )
    assert schema.fault({**right, "form": "other"}, "state-cost")
    assert schema.fault({**right, "results": []}, "state-cost")
