"""Cases of recorded.py: short calls, of which a sample is timed, and what a thread remembers of them."""

import tempfile
from collections import defaultdict

from profiles import DOUBLE, FLOAT, check, equal, has_threads, recorded

SHORT_CALLS = {  # calls and bytes, as corners.c makes them
    "MPI_Win_allocate": (1, 0),
    "MPI_Win_lock_all": (1, 0),
    "MPI_Put": (3000, 2250 * DOUBLE + 750 * FLOAT),
    "MPI_Win_flush_local_all": (3000, 0),
    "MPI_Allreduce": (7, 7 * DOUBLE),
    "MPI_Win_unlock_all": (1, 0),
    "MPI_Win_free": (1, 0),
    "MPI_Irecv": (500, 500 * DOUBLE),
    "MPI_Isend": (500, 500 * DOUBLE),
    "MPI_Waitall": (500, 0),
    "MPI_Iprobe": (3000, 0),
    "MPI_Init": (1, 0),
}


def exact_counts_of_short_calls(profile, ranks):
    for rank in range(ranks):
        for name, counts in SHORT_CALLS.items():
            found = (
                profile.calls(rank, name) + profile.calls(rank, f"{name}_thread"),
                profile.calls(rank, name, "bytes"),
            )
            equal(found, counts, f"calls and bytes of {name} on rank {rank}")
        equal(
            calls_by_size(profile, rank, "MPI_Iprobe"),
            {ranks: 2000, 1: 1000},
            "calls of MPI_Iprobe by size of the communicator",
        )
        messages = {rank: (0, 0, *SHORT_CALLS["MPI_Put"]), 1 - rank: (500, 500 * DOUBLE, 0, 0)}
        equal(profile.matrix(rank), messages, f"partners of rank {rank}")


def calls_by_size(profile, rank, name):
    found = defaultdict(int)
    for row in profile.ranks[rank]["calls"]:
        if row["call"] == name:
            found[profile.ranks[rank]["communicators"][row["communicator"]]["size"]] += row["calls"]
    return dict(found)


def short_calls(arguments):
    """All are counted, with all their bytes. A sample of them is timed, and the profile says so."""
    profile, _ = recorded(arguments)
    exact_counts_of_short_calls(profile, arguments[2])
    for part in profile.ranks.values():
        for row in part["calls"]:
            sampled = "timed_calls" in row
            check(sampled or "seconds_error" not in row, f"an error beside the sample of {row}")
            # One group has no error; it leaves out 15 calls, and a last one that was not ended as many.
            few = not sampled or row["calls"] - row["timed_calls"] <= 2 * 15
            check("seconds_error" in row or few, f"the error of {row}")
            check(not sampled or 64 <= row["timed_calls"] < row["calls"], f"a sample of {row}")
            check(not sampled or row["call"] not in ("MPI_Allreduce", "MPI_Waitall"), f"all are timed of {row}")
            mean = row["seconds"] / row["calls"]
            slack = (16 * row["max_seconds"] + 3 * row.get("seconds_error", 0)) / row["calls"] if sampled else 1e-9
            check(row["min_seconds"] - slack <= mean <= row["max_seconds"] + slack, f"mean of {row}")
    check(any("timed_calls" in row for row in profile.ranks[0]["calls"]), "some function has a sample")


def all_timed(arguments):
    """With a trace all calls are timed."""
    with tempfile.TemporaryDirectory() as folder:
        profile, _ = recorded(arguments, {"KUMIHIMO_RECORD_TRACE": folder})
    exact_counts_of_short_calls(profile, arguments[2])
    for part in profile.ranks.values():
        check(all("timed_calls" not in row for row in part["calls"]), "all calls are timed")


def handles(arguments):
    """A handle that comes back for another communicator is not taken for the former one."""
    profile, _ = recorded(arguments)
    for rank in range(arguments[2]):
        for name in ("MPI_Iprobe", "MPI_Allreduce"):
            equal(calls_by_size(profile, rank, name), {1: 2000, 2: 2000}, f"calls of {name} by size")


def at_once(arguments):
    profile, ended = recorded(arguments)
    for rank in range(arguments[2] if has_threads(ended) else 0):
        equal(profile.calls(rank, "MPI_Iprobe"), 20_000, "calls of all threads")
