"""Rounds of launches, which are recorded ones here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo import mpi
from kumihimo.library import measure as measuring
from kumihimo.library import tell as telling
from kumihimo.library.algorithms import DEFAULT, Algorithm, Catalogue
from kumihimo.library.measure import CALLS, LEAST_LAUNCHES, Effort, measure
from kumihimo.library.tell import Asking, references, tell

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
    measure(ASKING, KNOWN, {}, Effort(launches=9, seconds=150))
    assert len(launches) == 2 * 7
    launches.clear()
    measure(ASKING, KNOWN, {}, Effort(launches=7, seconds=-1))
    assert len(launches) == 2 * LEAST_LAUNCHES


def test_where_the_library_refuses_an_algorithm_it_has_no_time(launches):
    table = measure(ASKING, KNOWN, {("allreduce", "ring", 64): {}}, Effort(launches=2))
    assert table.row("allreduce", "ring", 8) is None
    assert table.row("allreduce", "ring", 64) is not None


class Memory(dict):
    """Of launches, by their keys."""

    def finished(self, target):
        return self.get(json.dumps(target))

    def finish(self, target, outcome):
        self[json.dumps(target)] = outcome


@pytest.fixture
def processes(monkeypatch):
    """Limits of the launches that were started; each tells of one call."""
    started: list[float] = []

    def start(text, installation, launcher, take):
        started.append(launcher.seconds)
        task = json.loads(text)
        take({"about": {"mpi": "one"}})
        for question in task["questions"]:
            for call in question["calls"]:
                marks = {"fingerprint": {"sum": "a"}} if "delay_seconds" in task else {"seconds": 1e-6 * len(started)}
                take({"call": call, "bytes": 8 * question["count"], **marks})

    monkeypatch.setattr(telling, "start", start)
    return started


def test_what_was_launched_is_not_launched_again(processes):
    remembering = replace(ASKING, memory=Memory())
    reference = references(remembering, KNOWN)
    table = measure(remembering, KNOWN, reference, Effort(launches=6))
    launched = len(processes)
    assert launched == 2 + 2 * 6
    assert references(remembering, KNOWN) == reference
    again = measure(remembering, KNOWN, reference, Effort(launches=7))
    assert len(processes) == launched + 2, "the seventh round alone is new"
    for row, longer in zip(table.rows, again.rows):
        assert set(row.launches) < set(longer.launches)
    tell(remembering, {})
    assert len(processes) == launched + 3, "a check is made anew"


def test_a_launch_has_no_more_time_than_is_left(processes):
    tell(replace(ASKING, seconds=100, left=lambda: 7.0), {})
    tell(replace(ASKING, seconds=5, left=lambda: 7.0), {})
    assert processes == [7.0, 5]
