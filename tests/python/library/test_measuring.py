"""Rounds of launches, which are recorded ones here."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo import mpi
from kumihimo.library import measure as measuring
from kumihimo.library.algorithms import DEFAULT, Algorithm, Catalogue
from kumihimo.library.measure import CALLS, LEAST_LAUNCHES, Effort, measure
from kumihimo.library.tell import Asking

RING = Algorithm("allreduce", "ring", 4, (("FORCED", "4"),))
KNOWN = Catalogue("openmpi", "4.1.4", {"allreduce": (Algorithm("allreduce", DEFAULT), RING)})
ASKING = Asking(mpi.Installation("openmpi", Path("/bin/mpirun"), Path("/lib/libmpi.so.40")), 2, (8, 64))


@pytest.fixture
def launches(monkeypatch):
    """What was launched: (calls, settings). Each takes 10 s by the clock."""
    told: list[tuple] = []

    def launch(asking, calls, settings, **options):
        told.append((tuple(calls), dict(settings)))
        return [{"call": c, "bytes": size, "seconds": len(told) * 1e-6} for c in calls for size in asking.sizes], {}

    monkeypatch.setattr(measuring, "launch_library", launch)
    monkeypatch.setattr(measuring.time, "monotonic", lambda: 10.0 * len(told))
    return told


def test_each_is_launched_as_often_and_the_default_with_all_calls(launches):
    table = measure(ASKING, KNOWN, {("allreduce", "ring", 8): {}, ("allreduce", "ring", 64): {}}, Effort(launches=5))
    assert launches.count((CALLS, {})) == launches.count((("allreduce",), {"FORCED": "4"})) == 5
    assert {len(row.launches) for row in table.rows} == {5}
    assert launches[0::2] != [launches[0]] * 5  # the order changes


def test_rounds_end_with_the_time_but_some_are_made(launches):
    measure(ASKING, KNOWN, {}, Effort(launches=7, seconds=105))
    assert len(launches) == 2 * 5
    launches.clear()
    measure(ASKING, KNOWN, {}, Effort(launches=7, seconds=-1))
    assert len(launches) == 2 * LEAST_LAUNCHES


def test_where_the_library_refuses_an_algorithm_it_has_no_time(launches):
    table = measure(ASKING, KNOWN, {("allreduce", "ring", 64): {}}, Effort(launches=2))
    assert table.row("allreduce", "ring", 8) is None
    assert table.row("allreduce", "ring", 64) is not None
