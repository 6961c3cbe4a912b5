"""Cases of recorded.py: programs that use MPI by sessions (sessions.c)."""

import tempfile
from pathlib import Path

from profiles import check, equal, launch, recorded


def sessions_alone(arguments):
    """Without MPI_Init nothing is recorded, and the program ends as without us."""
    _, family, ranks, recorder, program, launcher = arguments
    for more in ({}, {"KUMIHIMO_RECORD_SYNC": "1"}):
        with tempfile.TemporaryDirectory() as name:
            ended = launch(Path(name), family, ranks, recorder, program, launcher, more)
            equal(ended.returncode, 0, f"exit status; {ended.stdout}{ended.stderr}")
            equal([path.name for path in Path(name).iterdir()], [], "files")


def sessions_around(arguments):
    """A session that is there before MPI_Init and after MPI_Finalize: calls between the two are recorded."""
    profile, _ = recorded(arguments)
    equal(sorted(profile.ranks), list(range(arguments[2])), "ranks")
    for rank in profile.ranks:
        equal(profile.calls(rank, "MPI_Allreduce"), 2, "calls")
        equal(profile.calls(rank, "MPI_Allreduce", "split_calls"), 1, "calls split: those on MPI_COMM_WORLD")


def sessions_beside(arguments):
    """A rank is in its first call on a communicator as it initialises MPI in another thread."""
    for more in ({}, {"KUMIHIMO_RECORD_SYNC": "1"}):
        profile, _ = recorded(arguments, more)
        for rank in profile.ranks:
            calls = profile.calls(rank, "MPI_Allreduce")
            check(calls in ((2, 3) if rank == 0 else (3,)), f"rank {rank}: {calls} calls")
            equal(profile.calls(rank, "MPI_Allreduce", "split_calls"), 1, "calls split: those on MPI_COMM_WORLD")
