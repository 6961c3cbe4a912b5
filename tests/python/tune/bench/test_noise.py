"""Statistics and traces of noise, by hand."""

from __future__ import annotations

import pytest

from kumihimo.tune.bench.noise import Series, histogram, statistics, trace

MS = 10**6  # ns


def two() -> list[Series]:
    """10 ms each: 100 us and 1 ms lost on rank 0, 400 us on rank 1."""
    return [
        Series(0, "a", 10_000, 10 * MS, 890, [(1 * MS, 100_000), (5 * MS, 1 * MS)]),
        Series(1, "b", 10_010, 10 * MS, 960, [(2 * MS, 400_000)]),
    ]


def test_statistics_are_over_all_ranks_and_of_each():
    found = statistics(two())
    assert found["share_lost"] == pytest.approx(1.5 / 20)
    assert found["detours"] == 3
    assert found["detours_per_second"] == pytest.approx(3 / 0.020)
    assert found["longest_seconds"] == pytest.approx(1e-3)
    assert found["median_seconds"] == pytest.approx(400e-6)
    assert found["quantum_seconds"] == pytest.approx(1e-5)
    assert [each["share_lost"] for each in found["ranks"]] == pytest.approx([0.11, 0.04])
    assert [each["node"] for each in found["ranks"]] == ["a", "b"]


def test_without_a_detour_nothing_is_lost():
    found = statistics([Series(0, "a", 10_000, 10 * MS, 1000, [])])
    assert (found["share_lost"], found["detours"], found["longest_seconds"], found["histogram"]) == (0, 0, None, [])


def test_the_histogram_has_powers_of_two():
    bins = histogram([1023, 1024, 2047, 2048], MS)
    assert [(b["from_seconds"] * 1e9, b["detours"]) for b in bins] == [(512, 1), (1024, 2), (2048, 1)]
    assert sum(b["share_lost"] for b in bins) == pytest.approx((1023 + 1024 + 2047 + 2048) / MS)
    assert all(b["below_seconds"] == 2 * b["from_seconds"] for b in bins)


def test_a_trace_ends_with_the_time_that_was_measured():
    """By hand: the last detour ends at 10 + 2 + 0.4 = 12.4 ms of 20, so all come 7.6 ms later."""
    lines = trace(two(), ["host"]).splitlines()
    assert lines[0] == "# host"
    rows = [tuple(map(int, line.split())) for line in lines[1:]]
    assert rows == [(8_600_000, 100_000), (12_600_000, 1 * MS), (19_600_000, 400_000)]
    assert sum(rows[-1]) == 20 * MS
    assert all(next_[0] >= sum(each) for each, next_ in zip(rows, rows[1:]))


def test_a_trace_needs_a_detour():
    with pytest.raises(ValueError, match="needs a detour"):
        trace([Series(0, "a", 10_000, 10 * MS, 1000, [])])
