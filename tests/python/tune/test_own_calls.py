"""What tuning says of the MPI library's own calls, with launches that are recorded ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo import mpi
from kumihimo.errors import BadInput, Failed
from kumihimo.tune import own_calls
from kumihimo.tune.launches import Clock

OPEN_MPI = mpi.Installation("openmpi", Path("/there/bin/mpirun"), Path("/there/lib/libmpi.so.40"))
MICROSECONDS = {"allreduce": 20, "reduce": 12, "bcast": 10, "reduce+bcast": 22}


@pytest.fixture
def launched(monkeypatch):
    """Launches that were asked for; `slow` calls take ten times as long."""
    told = {"launches": [], "slow": (), "fails": False}

    def launch(asking, calls, settings, **options):
        if told["fails"]:
            raise Failed("all 4 processes to end well", "rank 1 died")
        told["launches"].append((asking.ranks, tuple(asking.sizes)))
        results = []
        for size in asking.sizes:
            for call in calls:
                once = MICROSECONDS[call.removeprefix("2 ")] * (1 + len(told["launches"]) / 100)
                seconds = once * 1e-6 * (1.5 if call.startswith("2 ") else 1) * (10 if call in told["slow"] else 1)
                results.append({"call": call, "bytes": size, "seconds": seconds * (1 + size / 1e6)})
        return results, {}

    monkeypatch.setattr(own_calls, "launch_library", launch)
    return told


def look(budget: float = 600, ranks: tuple[int, ...] = (2, 4)) -> own_calls.OwnCalls:
    return own_calls.look_at(OPEN_MPI, ranks, [8, 1024], Clock(budget), lambda what: None, None)


def test_guidelines_are_checked_on_all_numbers_of_ranks(launched):
    found = look()
    assert found.checked == [2, 4]
    assert found.violations == []
    assert found.exports == []
    assert [ranks for ranks, _ in launched["launches"]].count(2) == 7


def test_a_violation_names_the_ranks(launched):
    launched["slow"] = ("allreduce", "2 allreduce")
    found = look()
    assert {(v["ranks"], v["left"], v["right"]) for v in found.violations} == {
        (2, "allreduce", "reduce+bcast"),
        (4, "allreduce", "reduce+bcast"),
    }
    assert all(v["line"].startswith(f"{v['ranks']} ranks: allreduce of ") for v in found.violations)


def test_for_want_of_time_nothing_is_launched_and_that_is_said(launched):
    found = look(budget=20)
    assert launched["launches"] == []
    assert found.checked == []
    assert len(found.notes) == 2
    assert "want of time" in found.notes[0]


def test_a_launch_that_fails_is_a_note(launched):
    launched["fails"] = True
    found = look()
    assert found.checked == []
    assert "rank 1 died" in found.notes[0]


def test_sizes_are_thinned_over_their_span():
    assert own_calls.thinned([8, 64]) == [8, 64]
    sizes = [8 * 2**n for n in range(22)]
    assert own_calls.thinned(sizes)[0] == 8
    assert len(own_calls.thinned(sizes)) <= own_calls.MOST_SIZES
    assert own_calls.thinned(sizes)[-1] >= sizes[-4]


def test_files_want_a_budget():
    with pytest.raises(BadInput, match="budget"):
        own_calls.check_budget(Clock(30))
    own_calls.check_budget(Clock(own_calls.LEAST_BUDGET))
