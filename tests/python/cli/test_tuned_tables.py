"""What `kumihimo tune` prints for people."""

import errno
import os

import pytest

from kumihimo.cli import progress, tuned_tables
from kumihimo.run.profile.collectives import Collectives, Form, Use
from kumihimo.run.profile.summary import counters_advice
from kumihimo.text.sizes import parse_sizes

LIBRARY = {"collective": "bcast", "ranks": 2, "nodes": 1, "ranks_per_node": 2, "algorithm": "library", "parameters": {}}
FOUND = {
    "wisdom": "w.json",
    **dict.fromkeys(("notes", "measured_before", "left_to_the_library", "guidelines", "exports", "wrong"), ()),
}


@pytest.mark.parametrize("text", ["8", "8,16", "8..64", "8,16,64..1KiB", "24,48,100", "8,64,512..4KiB,1MiB"])
def test_sizes_are_listed_as_the_option_takes_them(text):
    sizes = parse_sizes(text)
    assert parse_sizes(tuned_tables.sizes_text(sizes)) == sizes
    assert len(tuned_tables.sizes_text(sizes)) <= len(text)


def test_a_gap_between_two_ranges_was_not_measured():
    rows = tuned_tables.rows_of(
        [
            {**LIBRARY, "from_bytes": 1, "to_bytes": 63},
            {**LIBRARY, "from_bytes": 64, "to_bytes": 512, "algorithm": "ring"},
            {**LIBRARY, "from_bytes": 65536, "to_bytes": 65536},
            {**LIBRARY, "from_bytes": 131072, "to_bytes": 131072, "ranks": 4},
        ]
    )
    assert [row[1:5] for row in rows] == [
        ("2", "1", "63", "library"),
        ("2", "64", "512", "ring"),
        ("2", "513", "65535", "not measured"),
        ("2", "64KiB", "64KiB", "library"),
        ("4", "128KiB", "128KiB", "library"),
    ]
    assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("algorithm", ["library", "ring"])
def test_says_that_the_library_stays(capsys, algorithm):
    tuned_tables.show({**FOUND, "results": [{**LIBRARY, "from_bytes": 1, "to_bytes": 8, "algorithm": algorithm}]})
    assert ("No algorithm was certainly faster" in capsys.readouterr().out) == (algorithm == "library")


def test_counters_that_a_user_may_turn_on():
    assert "perf_event_paranoid" in counters_advice(os.strerror(errno.EACCES))
    assert counters_advice(os.strerror(errno.ENOENT)) == ""


def test_a_log_has_a_line_for_each_case(capsys):
    with progress.bar("tuning", 5, lines=True) as advance:
        for what in ("bcast of 2 ranks: survey", "bcast of 2 ranks: checking results", "reduce of 2 ranks: survey"):
            advance(what)
    assert capsys.readouterr().err.splitlines() == [
        "kumihimo: tuning: bcast of 2 ranks",
        "kumihimo: tuning: reduce of 2 ranks",
    ]


@pytest.mark.parametrize(("ranks", "hosts", "told"), [(4, 1, True), (4, 2, False), (2, 1, False)])
def test_ranks_that_share_processors_are_told_of(monkeypatch, ranks, hosts, told):
    monkeypatch.setattr(tuned_tables.mpi, "available_processors", lambda: 2)
    profile = Collectives("an MPI", "a-1", ranks, ranks, hosts, 1.0, [], [])
    lines = tuned_tables.shared_processors(profile)
    assert [line.partition(":")[0] for line in lines] == ["4 ranks share 2 processors"] * told


def test_what_is_tuned_with_another_operation_is_told_of():
    reduce = Use("reduce", "blocking", False, 4, 64, 64, 64, seconds=0.25)
    reduce.forms[Form(None, "user", False)] = 0.25
    barrier = Use("barrier", "blocking", False, 4, 0, 0, 0, seconds=0.75)
    (line,) = tuned_tables.stand_in_lines(Collectives("an MPI", "a-1", 4, 4, 1, 4.0, [reduce, barrier], []))
    assert line.startswith("25 % of the time in collectives is in user-defined operations: they are tuned as sums")
    assert tuned_tables.stand_in_lines(Collectives("an MPI", "a-1", 4, 4, 1, 4.0, [barrier], [])) == []
