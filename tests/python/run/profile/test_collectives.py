"""What a profile says of collectives, on profiles written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumihimo.run.profile import collectives
from kumihimo.run.profile.collectives import Form
from kumihimo.text.errors import NotApplicable

HEADER = {"kumihimo_profile": 1, "version": "0", "mpi": "an MPI", "ranks": 4, "program": "solver-1", "sync": False}


def call(name="MPI_Allreduce", seconds=1.0, waiting=0.0, size=4096, calls=100, **more):
    row = {"call": name, "site": 0, "communicator": 0, "calls": calls, "bytes": size * calls, "seconds": seconds}
    row |= {"min_seconds": 0.0, "max_seconds": seconds, "apart_seconds": 0.0}
    row |= {"bytes_from": size, "smallest_bytes": size, "largest_bytes": size + size // 2}
    row |= {"type": "float64", "operation": "sum", "in_place": False}
    split = {"split_calls": 10, "split_seconds": seconds, "waiting_seconds": waiting}
    return row | split | {"transferring_seconds": seconds - waiting} | more


def rank(number, *calls, host="here"):
    site = {"file": "/a/solver.py", "line": 3, "function": "solve"}
    return {
        "rank": number,
        "host": host,
        "finalized": True,
        "seconds": 10.0,
        "mpi_seconds": 1.0,
        "calls": list(calls),
        "communicators": [
            {"name": "MPI_COMM_WORLD", "site": None, "size": 4, "inter": False, "leader": 0},
            {"name": "MPI_COMM_SELF", "site": None, "size": 1, "inter": False, "leader": number},
            {"name": "MPI_Intercomm_create", "site": 0, "size": 2, "inter": True, "leader": 0},
        ],
        "sites": [site],
        "sizes": {},
        "partners": [],
        "regions": [],
    }


@pytest.fixture
def profile(tmp_path: Path):
    def of(*ranks: dict) -> collectives.Collectives:
        path = tmp_path / "profile"
        path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *ranks)), encoding="utf-8")
        return collectives.of(path)

    return of


def test_uses_are_summed_and_the_most_transferring_comes_first(profile):
    found = profile(
        *(
            rank(
                number,
                call(seconds=2.0, waiting=0.5),
                call(seconds=1.0, type="int32", in_place=True, size=4096),
                call("MPI_Bcast", seconds=4.0, waiting=3.5, operation=None, apart_seconds=9.0),
                call("MPI_Iallreduce", seconds=0.1, split_seconds=0, waiting_seconds=0),
                call("MPI_Allgather", seconds=0.2, operation=None, size=64),
            )
            for number in range(4)
        )
    )
    assert [(use.collective, use.blocking, use.bytes_from) for use in found.uses] == [
        ("allreduce", True, 4096),
        ("bcast", True, 4096),
        ("allgather", True, 64),
        ("allreduce", False, 4096),
    ]
    first, second, *_ = found.uses
    assert (first.ranks, first.calls, first.seconds, first.smallest, first.largest) == (4, 800, 12.0, 4096, 6144)
    assert first.transferring_seconds == pytest.approx(10.0)
    assert first.forms == {Form("float64", "sum", False): 8.0, Form("int32", "sum", True): 4.0}
    assert second.transferring_seconds == pytest.approx(2.0)
    assert (first.apart, second.apart) == (False, True)
    assert found.share(found.split_seconds) == pytest.approx((3 + 4 + 0.1 + 0.2) / 10)
    assert found.share(found.transferring_seconds) == pytest.approx((2.5 + 0.5 + 0.1 + 0.2) / 10)


def test_calls_that_no_algorithm_concerns_are_left_out(profile):
    found = profile(*(rank(n, call(communicator=1), call(communicator=2), call("MPI_Send")) for n in range(4)))
    assert found.uses == []
    assert found.late == []


@pytest.mark.parametrize("late", range(4))
def test_the_rank_that_is_late_is_named(profile, late):
    found = profile(
        *(rank(n, call(seconds=0.5 if n == late else 2.5, waiting=0.1 if n == late else 2.1)) for n in range(4))
    )
    (site,) = found.late
    assert (site.rank, site.is_one_rank, str(site.place)) == (late, True, "solver.py:3 (solve)")
    assert site.whom == f"for rank {late}"


def test_ranks_that_are_late_by_turns_are_not_named(profile):
    found = profile(*(rank(n, call(seconds=2.5 + n / 100, waiting=2.0)) for n in range(4)))
    assert found.late[0].whom == "for different ranks"


@pytest.mark.parametrize("name", ["MPI_Reduce", "MPI_Gather"])
def test_nobody_is_named_where_the_root_alone_waits(profile, name):
    found = profile(
        *(rank(n, call(name, seconds=2.5 if n == 0 else 0.1, waiting=2.0 if n == 0 else 0.0)) for n in range(4))
    )
    assert not found.late[0].is_known and not found.late[0].is_one_rank
    assert found.late[0].whom == "at the root"


def test_calls_of_other_forms_are_uses_of_their_own(profile):
    found = profile(
        *(
            rank(n, call("MPI_Alltoall"), call("MPI_Alltoallv"), call("MPI_Ialltoallv"), call("MPI_Alltoall_init"))
            for n in range(4)
        )
    )
    assert {(use.start, use.irregular) for use in found.uses} == {
        ("blocking", False),
        ("blocking", True),
        ("non-blocking", True),
        ("persistent", False),
    }


def test_non_blocking_calls_have_the_time_of_their_completion_in_which_they_wait(profile):
    completion = {"completion_seconds": 2.0, "completion_waiting_seconds": 0.5, "overlap_seconds": 4.0}
    begun = call("MPI_Iallreduce", seconds=0.1) | completion
    begun = {name: value for name, value in begun.items() if name not in ("split_calls", "split_seconds")}
    found = profile(*(rank(n, begun, call("MPI_Allreduce_init")) for n in range(4)))
    use, persistent = found.uses
    assert (use.start, use.seconds, use.overlap_seconds) == ("non-blocking", pytest.approx(8.4), 16.0)
    assert (use.waits, use.transferring_seconds) == (pytest.approx(2.0), pytest.approx(6.4))
    assert sum(use.places.values()) == sum(use.forms.values()) == pytest.approx(8.4)
    assert found.late[0].waiting_seconds == pytest.approx(2.0)
    assert persistent.transferring_seconds == 0
    assert found.split_seconds == pytest.approx(8.4)


def test_completion_that_was_not_sampled_counts_as_transfer(profile):
    begun = call("MPI_Ibarrier", seconds=0.1, split_seconds=0.0) | {"completion_seconds": 2.0, "overlap_seconds": 4.0}
    (use,) = profile(*(rank(n, begun) for n in range(4))).uses
    assert (use.waits, use.transferring_seconds) == (0, pytest.approx(8.4))


def test_what_was_not_sampled_counts_as_transfer(profile):
    found = profile(*(rank(n, call(split_calls=0, split_seconds=0.0, waiting_seconds=0.0)) for n in range(4)))
    assert found.transferring_seconds == pytest.approx(4.0)


def test_times_are_of_the_ranks_that_are_there(profile):
    found = profile(rank(0, call()), rank(2, call()))
    assert (found.ranks, found.expected) == (2, 4)
    assert found.share(found.split_seconds) == pytest.approx(0.1)


def test_nodes_are_counted(profile):
    assert profile(*(rank(n, host=f"node{n // 2}") for n in range(4))).hosts == 2


def test_a_profile_of_an_earlier_version_is_refused(profile):
    old = call()
    del old["bytes_from"]
    with pytest.raises(NotApplicable, match="record again"):
        profile(rank(0, old))
