"""Rounds of launches, which are recorded ones here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo.processes import mpi
from kumihimo.tune.mpi_library import fingerprints
from kumihimo.tune.mpi_library import measure as measuring
from kumihimo.tune.mpi_library.algorithms import AUTO, DEFAULT, Algorithm, Catalogue
from kumihimo.tune.mpi_library.fingerprints import Setup, fingerprints_of, references
from kumihimo.tune.mpi_library.measure import CALLS, LEAST_LAUNCHES, Effort, measure

RING = Algorithm("allreduce", "ring", 4, (("FORCED", "4"),))
KNOWN = Catalogue("openmpi", "4.1.4", {"allreduce": (Algorithm("allreduce", DEFAULT), RING)})
EVERYWHERE = {("allreduce", "ring", size): {} for size in (8, 64)}
SETUP = Setup(mpi.Installation("openmpi", Path("/bin/mpirun"), Path("/lib/libmpi.so.40")), 2, (8, 64))


@pytest.fixture
def launches(monkeypatch):
    """What was launched: (calls, settings). Each takes 10 s by the clock."""
    seen: list[tuple] = []

    def launch(setup, calls, settings, **options):
        seen.append((tuple(calls), dict(settings)))
        return [{"call": c, "bytes": size, "seconds": len(seen) * 1e-6} for c in calls for size in setup.sizes], {}

    monkeypatch.setattr(measuring, "launch_library", launch)
    monkeypatch.setattr(measuring.time, "monotonic", lambda: 10.0 * len(seen))
    return seen


def test_each_is_launched_as_often_and_the_default_with_all_calls(launches):
    table = measure(SETUP, KNOWN, {("allreduce", "ring", 8): {}, ("allreduce", "ring", 64): {}}, Effort(launches=5))
    assert launches.count((CALLS, {})) == launches.count((("allreduce",), {"FORCED": "4"})) == 5
    assert {len(row.launches) for row in table.rows} == {5}
    assert launches[0::2] != [launches[0]] * 5  # the order changes


def test_rounds_end_with_the_time_but_some_are_made(launches):
    measure(SETUP, KNOWN, {}, Effort(launches=9, seconds=150))
    assert len(launches) == 2 * 7
    launches.clear()
    table = measure(SETUP, KNOWN, EVERYWHERE, Effort(launches=7, seconds=-1))
    assert launches.count((CALLS, {})) == LEAST_LAUNCHES, "of the default, which all are compared with"
    assert len(table.row("allreduce", DEFAULT, 64).launches) == LEAST_LAUNCHES


def test_where_the_library_refuses_an_algorithm_it_has_no_time(launches):
    table = measure(SETUP, KNOWN, {("allreduce", "ring", 64): {}}, Effort(launches=2))
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

    def start(task, installation, launcher, take):
        started.append(launcher.seconds)
        take({"about": {"mpi": "one"}})
        for question in task["library_calls"]:
            for call in question["calls"]:
                marks = (
                    {"fingerprint": {"sum": "a"}} if task.get("measures") is False else {"seconds": 1e-6 * len(started)}
                )
                take({"call": call, "bytes": 8 * question["count"], **marks})

    monkeypatch.setattr(fingerprints, "start", start)
    return started


def test_what_was_launched_is_not_launched_again(processes):
    remembering = replace(SETUP, memory=Memory())
    reference = references(remembering, KNOWN)
    table = measure(remembering, KNOWN, reference, Effort(launches=6))
    launched = len(processes)
    assert launched == 2 + 2 * 6
    assert references(remembering, KNOWN) == reference
    again = measure(remembering, KNOWN, reference, Effort(launches=7))
    assert len(processes) == launched + 2, "the seventh round alone is new"
    for row, longer in zip(table.rows, again.rows):
        assert set(row.launches) < set(longer.launches)
    fingerprints_of(remembering, {})
    assert len(processes) == launched + 3, "a check is made anew"


def test_a_launch_has_no_more_time_than_is_left(processes):
    fingerprints_of(replace(SETUP, seconds=100, left=lambda: 7.0), {})
    fingerprints_of(replace(SETUP, seconds=5, left=lambda: 7.0), {})
    assert processes == [7.0, 5]


class Library:
    """By a formula: `times` of (algorithm, bytes) in a launch of this number; an empty launch takes 0.3 s, and each of
    its sizes 0.2 s more, all by the clock."""

    def __init__(self, monkeypatch, times):
        self.now, self.times, self.launched = 0.0, times, []
        monkeypatch.setattr(measuring, "launch_library", self.launch)
        monkeypatch.setattr(measuring.time, "monotonic", lambda: self.now)

    def launch(self, setup, calls, settings, name, forced, **options):
        self.launched.append(([a.name for a in forced.values()], tuple(setup.sizes)))
        self.now += 0.3 + 0.2 * len(setup.sizes)
        setup.pace.made.append(0.3 + 0.2 * len(setup.sizes))
        names = {call: forced[call].name if call in forced else DEFAULT for call in calls}
        number = int(name.split(".")[1])
        return [
            {"call": call, "bytes": size, "seconds": self.times(names[call], size, number)}
            for call in calls
            for size in setup.sizes
        ], {}

    def rounds_of(self, name):
        return sum(name in names for names, _ in self.launched)


NAMES = "abcdefgh"
MANY = Catalogue(
    "openmpi",
    "4.1.4",
    {"bcast": (Algorithm("bcast", DEFAULT), *(Algorithm("bcast", name, settings=(("F", name),)) for name in NAMES))},
)


def asking_of(*sizes):
    return Setup(SETUP.installation, 4, sizes, collectives=("bcast",))


def reference_of(*sizes):
    return {("bcast", name, size): {} for name in NAMES for size in sizes}


def times(name, size, number):
    """The default takes 10 us; a is better at 64 bytes, b nearly, and the others are not."""
    own = {"a": 5e-6 if size == 64 else 12e-6, "b": 8e-6 if number < 3 else 11e-6}
    return own.get(name, 10e-6 if name == DEFAULT else 12e-6)


def test_where_time_is_short_what_can_win_no_more_is_launched_no_more(monkeypatch):
    """The same algorithms win as with all the time: 9 times 6 launches, 38 s, have 20 s."""
    whole = Library(monkeypatch, times)
    expected = measuring.best(measure(asking_of(8, 64), MANY, reference_of(8, 64)), "openmpi")
    assert len(whole.launched) == 9 * 7
    short = Library(monkeypatch, times)
    table = measure(asking_of(8, 64), MANY, reference_of(8, 64), Effort(seconds=20))
    assert measuring.best(table, "openmpi") == expected
    assert expected["bcast"] == {8: DEFAULT, 64: "a"}
    assert short.now < 20
    assert (short.rounds_of("a"), short.rounds_of("b"), short.rounds_of("c")) == (6, 4, 1)
    assert short.rounds_of(DEFAULT) == LEAST_LAUNCHES


def test_where_that_is_not_enough_sizes_are_given_up(monkeypatch):
    """All are better than the default, so that none falls out: 9 times 6 launches of 6 sizes would take 81 s."""
    sizes = (8, 16, 32, 64, 128, 256)
    library = Library(monkeypatch, lambda name, size, number: 10e-6 if name == DEFAULT else 5e-6)
    table = measure(asking_of(*sizes), MANY, reference_of(*sizes), Effort(seconds=55))
    assert library.now < 55
    assert library.launched[0][1] == sizes
    assert 1 <= len(table.sizes) < len(sizes)
    assert table.sizes[-1] == 256
    assert all(len(row.launches) == LEAST_LAUNCHES for row in table.rows), "and of those that stay nothing lacks"


def test_of_mpich_what_it_selects_with_its_device_aside_stays(monkeypatch):
    candidates = tuple(Algorithm("bcast", name) for name in (DEFAULT, AUTO, "a", "b"))
    known = Catalogue("mpich", "4.0.2", {"bcast": candidates})
    samples = {("bcast", name, 8): [t] for name, t in ((DEFAULT, 1.0), (AUTO, 3.0), ("a", 2.0), ("b", 3.5))}
    kept = measuring.still_open(known, samples, (8,)).candidates["bcast"]
    assert [a.name for a in kept] == [DEFAULT, AUTO, "a"]


def test_the_first_launches_are_of_the_sizes_that_the_time_may_do():
    assert measuring.affordable(asking_of(8, 64, 512), MANY, 3600) == (8, 64, 512)
    assert measuring.affordable(asking_of(8, 64, 512), MANY, 20) == (64, 512)
    assert measuring.affordable(asking_of(8, 64, 512), MANY, 1) == (512,)


def test_sizes_that_are_given_up_are_from_all_over_the_range():
    assert measuring.spread_over(range(7), 7) == tuple(range(7))
    assert measuring.spread_over(range(7), 4) == (1, 3, 5, 6)
    assert measuring.spread_over(range(7), 2) == (3, 6)


def test_a_launch_of_fewer_sizes_or_others_beside_it_finds_what_was_launched(processes):
    remembering = replace(SETUP, memory=Memory())
    reference = references(remembering, KNOWN)
    measure(remembering, KNOWN, reference, Effort(launches=6))
    launched = len(processes)
    smaller = replace(remembering, sizes=(64,))
    assert references(smaller, KNOWN) == {key: marks for key, marks in reference.items() if key[2] == 64}
    chain = Algorithm("bcast", "chain", 2, (("OTHER", "2"),))
    both = replace(KNOWN, candidates={**KNOWN.candidates, "bcast": (Algorithm("bcast", DEFAULT), chain)})
    measure(smaller, KNOWN, reference, Effort(launches=6))
    assert len(processes) == launched
    measure(smaller, both, reference, Effort(launches=6))
    assert len(processes) == launched + 6, "for the chain"
    assert references(replace(remembering, sizes=(8, 64, 128)), KNOWN).keys() > reference.keys()
    assert len(processes) == launched + 6 + 2, "for the third size"
