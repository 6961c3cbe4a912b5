"""Cases of recorded.py: programs that use MPI by sessions alone (sessions.c); each rank writes its own part."""

import os
import tempfile
from pathlib import Path

from profiles import INT, Profile, check, compare, equal, launch, recorded


def expected_of_sessions(rank):
    """Calls and bytes of each function, as sessions.c makes them in two sessions at one time."""
    more = rank > 0  # has a communicator of its own
    sets = 41 + more
    return {
        "MPI_Session_init": (2, 0),
        "MPI_Session_finalize": (1, 0),  # of the first; with the last one the profile is written
        "MPI_Comm_create_from_group": (3 + more, 0),
        "MPI_Comm_split": (1, 0),
        "MPI_Comm_disconnect": (2, 0),
        "MPI_Comm_free": (2 + more, 0),
        "MPI_Allreduce": (sets, sets * 1000 * INT),
        "MPI_Bcast": (sets + 1, sets * 1000 * INT + 100 * INT),
        "MPI_Iallreduce": (sets, sets * INT),
        "MPI_Wait": (sets, 0),
        "MPI_Sendrecv": (1, INT),
    }


def each_part(profile, ranks):
    """Each rank's own, as no call brings them together."""
    equal((profile.header["sessions"], profile.header["several_nodes"]), (True, None), "header")
    equal(profile.header["ranks"], ranks, "ranks")
    equal({rank: part["finalized"] for rank, part in profile.ranks.items()}, dict.fromkeys(range(ranks), True), "ended")


def sessions_several(arguments):
    """MPI by sessions alone: everything is recorded, and what is freed is split, where the ranks read one clock."""
    ranks = arguments[2]
    for more, split in (({}, True), ({"KUMIHIMO_RECORD_SYNC": "1"}, True), ({"KUMIHIMO_RECORD_SKEW": "7000"}, False)):
        profile, _ = recorded(arguments, more)
        each_part(profile, ranks)
        compare(profile, ranks, expected_of_sessions)
        for rank in range(ranks):
            equal(profile.matrix(rank), {(rank + 1) % ranks: (1, INT, 0, 0)}, f"partners of rank {rank}")
            alone = 10 + (ranks == 2 and rank == 1)  # waits for nobody, whatever its clock
            for name in ("MPI_Allreduce", "MPI_Bcast"):
                wanted = expected_of_sessions(rank)[name][0] if split else alone
                equal(profile.calls(rank, name, "split_calls"), wanted, f"{name} is split, {more}")
            names = [(c["name"], c["size"], c["made"]) for c in profile.ranks[rank]["communicators"]]
            check(("MPI_Comm_split", ranks, 1) in names, f"communicators: {names}")
            check(any(name == ("MPI_Comm_create_from_group", ranks, 2) for name in names), f"communicators: {names}")


def sessions_left(arguments):
    """Communicators that end with the session: nobody is waited for, and nothing is split."""
    profile, _ = recorded(arguments)
    each_part(profile, arguments[2])
    for rank in profile.ranks:
        equal(profile.calls(rank, "MPI_Allreduce"), 2, "calls")
        equal(profile.calls(rank, "MPI_Allreduce", "split_calls"), 0, "calls split")


def sessions_around(arguments):
    """A session that is there before MPI_Init and after MPI_Finalize: one profile, of all ranks, as at MPI_Finalize."""
    _, family, ranks, recorder, program, launcher = arguments
    with tempfile.TemporaryDirectory() as name:
        ended = launch(Path(name), family, ranks, recorder, program, launcher)
        equal(ended.returncode, 0, f"exit status; {ended.stdout}{ended.stderr}")
        equal([path.name for path in Path(name).iterdir()], ["profile"], "files")
        profile = Profile(Path(name))
    equal(sorted(profile.ranks), list(range(ranks)), "ranks")
    for rank in range(ranks):
        equal(profile.calls(rank, "MPI_Allreduce"), 3, "calls")
        equal(profile.calls(rank, "MPI_Allreduce", "split_calls"), 3, "calls split")


def sessions_beside(arguments):
    """A rank is in its first call on a communicator as it initialises MPI in another thread."""
    profile, _ = recorded(arguments)
    for rank in profile.ranks:
        equal(profile.calls(rank, "MPI_Allreduce"), 3, "calls")
        equal(profile.calls(rank, "MPI_Allreduce", "split_calls"), 3, "calls split")


def sessions_unfinished(arguments):
    """Who leaves writes. Hydra may end the others as soon as one has left, with a status of its own, as without us."""
    profile, _ = recorded(arguments, code=None)
    left = len(profile.ranks)
    check(1 <= left <= arguments[2], f"of {arguments[2]} ranks {left} wrote")
    equal([part["finalized"] for part in profile.ranks.values()], [False] * left, "finalized")
    equal([profile.calls(rank, "MPI_Allreduce") for rank in profile.ranks], [1] * left, "calls")


def sessions_lost(arguments):
    """One rank has not the recorder: the others write, compare nothing with it, and one says it."""
    _, family, ranks, recorder, program, launcher = arguments
    for rank in range(ranks):
        clears = f'test "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = {rank} && unset LD_PRELOAD; exec "$@"'
        for more in ({}, {"KUMIHIMO_RECORD_SYNC": "1"}):
            words = ["sh", "-c", clears, "sh", *program]
            profile, ended = recorded((_, family, ranks, recorder, words, launcher), more)
            equal(ended.stderr.count("processes of a communicator that did not load the recorder: 1;"), 1, "sentences")
            equal(sorted(profile.ranks), [r for r in range(ranks) if r != rank], "ranks that wrote")
            for other in profile.ranks:
                equal(profile.calls(other, "MPI_Allreduce", "split_calls"), 0, "calls split")


def sessions_refused(arguments):
    """The library opens no session of the recorder's on one rank, which writes nothing: the others compare nothing with
    it, or compare times as ever where no list says who is here."""
    _, family, ranks, recorder, program, launcher = arguments
    objects = f"{recorder}:{os.environ['WITHOUT']}"
    for rank in range(ranks):
        for unset, alone in (("NONE", True), ("MPI_LOCALNRANKS OMPI_COMM_WORLD_LOCAL_SIZE", False)):
            for more in ({}, {"KUMIHIMO_RECORD_SYNC": "1"}):
                words = ["sh", "-c", f'unset {unset}; exec "$@"', "sh", *program]
                given = {"NO_SESSION": str(rank), **more}
                profile, ended = recorded((_, family, ranks, objects, words, launcher), given)
                equal(ended.stderr.count("refuses to open another session; nothing is recorded"), 1, "sentences")
                equal(sorted(profile.ranks), [r for r in range(ranks) if r != rank], "ranks that wrote")
                for other in profile.ranks:
                    own = 10 + other  # on communicators of its own
                    wanted = own if alone else expected_of_sessions(other)["MPI_Allreduce"][0]
                    equal(profile.calls(other, "MPI_Allreduce", "split_calls"), wanted, f"calls split, {unset}, {more}")
