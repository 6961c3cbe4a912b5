"""Runs a program with the recorder before its MPI library, and compares the profile with what the program does.

recorded.py CASE FAMILY RANKS OBJECT PROGRAM... -- LAUNCHER...
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from profiles import DOUBLE, INT, WORD, Profile, check, compare, equal, has_threads, launch, recorded
from sessions import (
    sessions_alone,
    sessions_around,
    sessions_beside,
)
from short_calls import all_timed, at_once, handles, short_calls
from waiting import begun, gathered, late, many, rooted

EVENTS = ("enter", "leave", "send", "receive", "collective")
EVENTS += tuple(f"{when}_{what}" for when in ("start", "end") for what in ("send", "receive", "collective"))
EVENTS += ("begin_region", "end_region", "begin_program", "end_program")
MESSAGES = {kind for kind in EVENTS if "send" in kind or "receive" in kind}
COLLECTIVES = {kind for kind in EVENTS if "collective" in kind}
NO_SITE = 0xFFFFFFFF


def expected_of_c(rank, ranks):
    """Calls and bytes of each function, as counts.c makes them."""
    root = rank == 0
    triangle = ranks * (ranks + 1) // 2
    one_sided = {
        "MPI_Win_create": (1, 0),
        "MPI_Win_fence": (4, 0),
        "MPI_Put": (1, 5 * DOUBLE),
        "MPI_Accumulate": (1, 2 * DOUBLE),
        "MPI_Get": (1, 3 * DOUBLE),
        "MPI_Win_free": (1, 0),
    }
    return (one_sided if ranks > 1 else {}) | {
        "MPI_Allreduce": (5 + 1 + 200, 3 * 100 * DOUBLE + 2 * 10 * INT + 201 * INT),
        "MPI_Bcast": (2, 7 * INT + 6 * INT),
        "MPI_Reduce": (1, 5 * DOUBLE),
        "MPI_Gather": (1, 3 * INT),
        "MPI_Scatter": (1, 2 * INT * (ranks if root else 1)),
        "MPI_Allgather": (2, 8 * INT),
        "MPI_Alltoall": (1, ranks * INT),
        "MPI_Gatherv": (1, (rank + 1) * INT),
        "MPI_Scatterv": (1, (triangle if root else rank + 1) * INT),
        "MPI_Allgatherv": (1, (rank + 1) * INT),
        "MPI_Reduce_scatter": (1, triangle * INT),
        "MPI_Reduce_scatter_block": (1, 2 * ranks * INT),
        "MPI_Scan": (1, 6 * DOUBLE),
        "MPI_Exscan": (1, 6 * DOUBLE),
        "MPI_Barrier": (1, 0),
        "MPI_Alltoallv": (1, triangle * INT),
        "MPI_Alltoallw": (1, triangle * DOUBLE),
        "MPI_Iallreduce": (1, 8 * DOUBLE),
        "MPI_Ibarrier": (1, 0),
        "MPI_Waitall": (1 + 1 + 3, 0),
        "MPI_Isend": (2, (rank + 1) * INT + 4 * INT),
        "MPI_Recv": (1, ((rank + ranks - 1) % ranks + 1) * INT),
        "MPI_Wait": (1, 0),
        "MPI_Send": (1, 0),
        "MPI_Sendrecv": (2, 2 * INT + 11 * INT),
        "MPI_Sendrecv_replace": (1, 3 * INT),
        "MPI_Irecv": (1, 4 * INT),
        "MPI_Send_init": (1, 0),
        "MPI_Recv_init": (1, 0),
        "MPI_Startall": (3, 3 * 9 * INT),
        "MPI_Request_free": (2, 0),
        "MPI_Comm_split": (1, 0),
        "MPI_Comm_dup": (200, 0),
        "MPI_Comm_free": (201, 0),
        "MPI_Cart_create": (1, 0),
        "MPI_Neighbor_alltoall": (1, 2 * 2 * INT),
        "MPI_Init": (1, 0),
    }


def counts(arguments):
    ranks = arguments[2]
    profile, _ = recorded(arguments)
    compare(profile, ranks, lambda rank: expected_of_c(rank, ranks))
    for rank in range(ranks):
        to = defaultdict(lambda: [0, 0, 0, 0])
        following = to[(rank + 1) % ranks]
        following[0] += 1 + 1 + 1 + 1 + 3
        following[1] += (rank + 1 + 4 + 2 + 3 + 3 * 9) * INT
        if ranks > 1:
            following[2:] = [3, 10 * DOUBLE]
        members = sorted(range(rank % 2, ranks, 2), reverse=True)  # as the keys order them
        partner = to[members[(members.index(rank) + 1) % len(members)]]
        partner[0] += 1
        partner[1] += 11 * INT
        equal(profile.matrix(rank), {p: tuple(t) for p, t in to.items()}, f"partners of rank {rank}")
        sizes = profile.ranks[rank]["sizes"]
        equal(sizes["MPI_Allreduce"], [[4, 201], [32, 2], [512, 3]], "sizes of MPI_Allreduce")
        equal(sizes["MPI_Barrier"], [[0, 1]], "sizes of MPI_Barrier")
        for name, wanted in QUESTIONS_OF_C.items():
            equal(questions(profile, rank, name), wanted, f"what {name} was asked for")
        mean = (ranks + 1) * DOUBLE // 2  # of its blocks
        wanted = {(1 << mean.bit_length() - 1, None, None, False): 1}
        equal(questions(profile, rank, "MPI_Alltoallw"), wanted, "what MPI_Alltoallw was asked for")
        check(all(row.get("apart_seconds", 0) >= 0 for row in profile.ranks[rank]["calls"]), "times between calls")
        made = {c["name"]: c["made"] for c in profile.ranks[rank]["communicators"]}
        equal(made.get("MPI_Comm_dup"), 200, "200 duplicates are one kind in the profile")
        check(len(profile.ranks[rank]["communicators"]) <= 6, "communicators of few kinds")
        dup = [c["name"] for c in profile.ranks[rank]["communicators"]].index("MPI_Comm_dup")
        split = profile.calls(rank, "MPI_Allreduce", "split_calls", lambda row, dup=dup: row["communicator"] == dup)
        equal(split, 200, "each call on a communicator that was freed is split")
        for name in ("MPI_Alltoallw", "MPI_Barrier", "MPI_Gatherv", "MPI_Reduce"):
            equal(profile.calls(rank, name, "split_calls"), 1, f"{name} is split")
        for name in ("MPI_Neighbor_alltoall", "MPI_Scan", "MPI_Exscan"):  # alone a rank waits for nobody
            equal(profile.calls(rank, name, "split_calls"), 1 if ranks == 1 else 0, f"{name} is not split")
            check("split_calls" in the_row(profile, rank, name), f"{name} is told to be a blocking collective")
        check("split_calls" not in the_row(profile, rank, "MPI_Recv"), "MPI_Recv is no collective")
        own = [members.index(rank) if c["name"] == "MPI_Comm_split" else rank for c in communicators_of(profile, rank)]
        equal([c["rank"] for c in communicators_of(profile, rank)], own, "the rank in each communicator")


# Of counts.c: calls by the least bytes of the class of the vector or block, the type, the operation, whether in place.
QUESTIONS_OF_C = {
    "MPI_Allreduce": {
        (512, "float64", "sum", False): 3,
        (32, "int32", "sum", True): 2,
        (4, "int32", "sum", False): 201,
    },
    "MPI_Bcast": {(16, "int32", None, False): 1, (16, None, None, False): 1},  # the second of a derived type
    "MPI_Allgather": {(16, "int32", None, False): 1, (16, "int32", None, True): 1},
    "MPI_Scatter": {(8, "int32", None, False): 1},
    "MPI_Alltoall": {(4, "int32", None, False): 1},
    "MPI_Reduce_scatter_block": {(8, "int32", "sum", False): 1},
    "MPI_Iallreduce": {(64, "float64", "sum", False): 1},
    "MPI_Barrier": {(0, None, None, False): 1},
}


def questions(profile, rank, name):
    found = defaultdict(int)
    for row in profile.ranks[rank]["calls"]:
        if row["call"] == name:
            found[row["bytes_from"], row["type"], row["operation"], row["in_place"]] += row["calls"]
            low, high = row["smallest_bytes"], row["largest_bytes"]
            check(row["bytes_from"] <= low <= high <= max(0, 2 * row["bytes_from"] - 1), f"sizes of {row}")
    return dict(found)


def the_row(profile, rank, name):
    return next(row for row in profile.ranks[rank]["calls"] if row["call"] == name)


def communicators_of(profile, rank):
    return [c for c in profile.ranks[rank]["communicators"] if not c["window"] and c["name"] != "MPI_COMM_SELF"]


def of_program(part, program):
    """Calls are at places in the program, not in its library's binding for Fortran."""
    for row in part["calls"]:
        if row["call"] != "MPI_Init":
            equal(Path(part["sites"][row["site"]]["object"]).name, program.name, f"where {row['call']} is called")


def fortran(arguments):
    ranks = arguments[2]
    profile, _ = recorded(arguments)

    def expected(rank):
        return {
            "MPI_Allreduce": (4, 300 * DOUBLE + INT),
            "MPI_Allgather": (1, 4 * INT),
            "MPI_Bcast": (1, 10 * INT),
            "MPI_Barrier": (1, 0),
            "MPI_Allgatherv": (1, (rank + 1) * INT),
            "MPI_Isend": (2, (rank + 1 + 5) * INT),
            "MPI_Recv": (1, ((rank + ranks - 1) % ranks + 1) * INT),
            "MPI_Irecv": (1, 100 * INT),
            "MPI_Wait": (1, 0),
            "MPI_Waitall": (1, 0),
            "MPI_Sendrecv": (1, 2 * INT),
            "MPI_Comm_split": (1, 0),
            "MPI_Comm_free": (1, 0),
            "MPI_Init": (1, 0),
        }

    compare(profile, ranks, expected)
    for rank in range(ranks):
        of_program(profile.ranks[rank], Path(arguments[4][0]))
        equal(
            profile.matrix(rank), {(rank + 1) % ranks: (3, (rank + 1 + 5 + 2) * INT, 0, 0)}, f"partners of rank {rank}"
        )
        equal(profile.calls(rank, "MPI_Allreduce", "split_calls"), 4, "split, the freed communicator's too")


def python(arguments):
    ranks = arguments[2]
    profile, _ = recorded(arguments)
    for rank in range(ranks):
        (row,) = (r for r in profile.ranks[rank]["calls"] if r["call"] == "MPI_Allreduce")
        equal((row["calls"], row["bytes"]), (3, 300 * DOUBLE), "MPI_Allreduce")
        site = profile.ranks[rank]["sites"][row["site"]]
        equal((Path(site["file"]).name, site["function"]), ("counts.py", "reduce_all"), "its place")
        text = Path(site["file"]).read_text().splitlines()[site["line"] - 1]
        check("world.Allreduce" in text, f"the line of the call, not {text}")
        equal(profile.matrix(rank), {(rank + 1) % ranks: (1, (rank + 1) * DOUBLE, 0, 0)}, "partners")
        equal(profile.calls(rank, "MPI_Comm_free"), 1, "calls of MPI_Comm_free")


def endless(arguments):
    """Code that a program makes without end is not kept without end; what it does is counted all the same."""
    profile, ended = recorded(arguments)
    for rank in range(arguments[2]):
        sites = profile.ranks[rank]["sites"]
        named = {sites[row["site"]]["file"]: row["calls"] for row in profile.ranks[rank]["calls"] if row["site"]}
        equal(named.get("made anew"), 6000, "calls from what is one place by its text")
    alive = [int(told.split(";")[0]) for told in ended.stdout.split("alive ")[1:]]  # lines of two ranks may mix
    equal(len(alive), arguments[2], "ranks that told")
    check(all(4000 < number < 4200 for number in alive), f"code that was kept, {alive}")


def unfinished(arguments):
    """Each rank writes by itself when it leaves; MPI libraries may take it for a failure."""
    _, family, ranks, recorder, program, launcher = arguments
    with tempfile.TemporaryDirectory() as name:
        launch(Path(name), family, ranks, recorder, program, launcher)
        profile = Profile(Path(name))
        check(not (Path(name) / "profile").exists(), "no profile of all ranks")
        check(profile.ranks, "what some ranks knew")
        for rank, part in profile.ranks.items():
            equal(part["finalized"], False, "finalized")
            equal(profile.calls(rank, "MPI_Allreduce"), 1, "calls")
            equal(profile.calls(rank, "MPI_Allreduce", "split_calls"), 0 if ranks > 1 else 1, "calls split")


def aborted(arguments):
    _, family, ranks, recorder, program, launcher = arguments
    with tempfile.TemporaryDirectory() as name:
        ended = launch(Path(name), family, ranks, recorder, program, launcher)
        equal(ended.returncode, 7, "exit status")
        profile = Profile(Path(name))
        check(0 in profile.ranks, "the rank that ended the job wrote what it knew")
        equal(profile.calls(0, "MPI_Allreduce"), 1, "calls")


def threads(arguments):
    ranks = arguments[2]
    profile, ended = recorded(arguments)
    for rank in range(ranks if has_threads(ended) else 0):
        equal(profile.ranks[rank]["threads"], 4, "threads")
        equal(profile.calls(rank, "MPI_Isend"), 400, "calls of all threads")
        equal(profile.matrix(rank), {(rank + 1) % ranks: (400, 400 * INT, 0, 0)}, "partners")


def leaving(arguments):
    """A process that leaves while its threads call MPI: it writes what it can, and its status is its own.

    A shell around each rank keeps the status of its process. Hydra's own is another matter: it was seen to be 1,
    without a word, once in some thousand launches. Open MPI ends the shells of a job whose ranks leave, so there
    mpirun's status is looked at.
    """
    _, family, ranks, recorder, program, launcher = arguments
    for _ in range(int(os.environ.get("KUMIHIMO_LAUNCHES", "3"))):
        with tempfile.TemporaryDirectory() as name:
            statuses = Path(name) / "statuses"
            kept = ["sh", "-c", f'"$@"; s=$?; echo $s >> {statuses}; exit $s', "sh", *program]
            ended = launch(Path(name), family, ranks, recorder, kept if family == "mpich" else program, launcher)
            if ended.returncode == 0:
                return  # a library without threads
            found = {int(each) for each in statuses.read_text().split()} if family == "mpich" else {ended.returncode}
            equal(found, {9}, f"exit statuses; {ended.returncode}: {ended.stdout}{ended.stderr}")
            profile = Profile(Path(name))
            check(profile.ranks, "what some ranks knew")
            for part in profile.ranks.values():
                check(0 <= part["threads_left_out"] <= 3, "threads that were at work")


def streams(arguments):
    _, ended = recorded(arguments, code=5)
    equal(ended.stdout, f"read {WORD}", "standard output")
    check("kumihimo" not in ended.stderr, "no word of ours while the program runs")


def regions(arguments):
    ranks = arguments[2]
    profile, _ = recorded(arguments)
    for rank in range(ranks):
        found = {r["name"]: r for r in profile.ranks[rank]["regions"]}
        equal(set(found), {"by control", "kept", "missed", "no sense"}, "regions")
        equal({r["passages"] for r in found.values()}, {1, 2}, "passages")
        check(found["missed"]["max_seconds"] >= 0.005, "as long as the pause within")
        check(found["kept"]["seconds"] >= found["missed"]["seconds"], "one within the other")
        equal(found["missed"]["expectation"], "bytes 1e9 rate >= 1e12", "what was expected")
        equal(profile.ranks[rank]["regions_without_beginning"], ["never begun"], "without beginning")
        equal(profile.calls(rank, "MPI_Barrier"), 3, "calls while recording was not off")


def lost(arguments):
    """A wrapper clears LD_PRELOAD for one rank, whichever: the program runs as without us, and one sentence says it."""
    _, family, ranks, recorder, program, launcher = arguments
    for rank in range(ranks):
        clears = f'test "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = {rank} && unset LD_PRELOAD; exec "$@"'
        with tempfile.TemporaryDirectory() as name:
            ended = launch(Path(name), family, ranks, recorder, ["sh", "-c", clears, "sh", *program], launcher)
            equal(ended.returncode, 0, f"exit status; {ended.stdout}{ended.stderr}")
            equal(ended.stderr.count("processes of this node that did not load the recorder: 1;"), 1, "sentences")
            equal(list(Path(name).iterdir()), [], "files")


def composed(arguments):
    """With the interposer after the recorder: it runs the calls, and they are recorded all the same."""
    case, family, ranks, recorder, program, launcher = arguments
    with tempfile.TemporaryDirectory() as name:
        more = {"KUMIHIMO_ALGORITHM": "ring", "KUMIHIMO_SUMMARY": f"{name}/summary"}
        both = f"{recorder} {os.environ['INTERPOSER']}"
        profile, _ = recorded((case, family, ranks, both, program, launcher), more)
        compare(profile, ranks, lambda rank: expected_of_c(rank, ranks))
        summary = json.loads((Path(name) / "summary").read_text())
    ours = sum(row["calls"] for row in summary["calls"] if row["algorithm"] == "ring")
    check(ours >= 200 * ranks, f"the interposer ran the calls of MPI_Allreduce, {ours} of them")


@dataclass
class Event:
    """As docs/profile-format.md has it; None: its kind has no such value."""

    kind: str
    call: int
    request: int
    bytes: int = None
    partner: int = None  # of a collective the root
    site: int = None
    parts: list = None


def events_of(folder, rank, ranks):
    """The events of a rank. The first and the last are those of the program."""
    content = (folder / f"rank{rank}.events").read_bytes()
    magic, version, size, of_rank, of_ranks, count, lists, sizes, _, _ = struct.unpack_from("<8sIIIIQQQQQ", content)
    equal((magic, version, size, of_rank, of_ranks), (b"\x89KUMITR\n", 1, 40, rank, ranks), "what the file begins with")
    list_ends = struct.unpack_from(f"<{lists}Q", content, 64 + 40 * count)
    list_sizes = struct.unpack_from(f"<{sizes}q", content, 64 + 40 * count + 8 * lists)
    equal(len(content), 64 + 40 * count + 8 * (lists + sizes), "bytes of the file")
    all_parts = [None, *(list(list_sizes[begin:end]) for begin, end in zip((0, *list_ends), list_ends))]
    events = []
    for at in range(64, 64 + 40 * count, 40):
        time, what, call, _, request = struct.unpack_from("<qBBHI", content, at)
        check(time > 0, "a time")
        event = Event(EVENTS[what], call, request)
        if event.kind in MESSAGES:
            event.bytes, event.partner = struct.unpack_from("<qi", content, at + 16)
        elif event.kind in COLLECTIVES:
            event.bytes, event.partner, _, parts = struct.unpack_from("<qiII", content, at + 16)
            event.parts = all_parts[parts]
        elif event.kind == "enter":
            event.site = struct.unpack_from("<I", content, at + 32)[0]
        events.append(event)
    ends = events.pop(0), events.pop()
    equal([event.kind for event in ends], ["begin_program", "end_program"], "first and last")
    recorder_ns = struct.unpack_from("<q", content, 64 + 40 * (count - 1) + 16)[0]
    check(recorder_ns > 0, "the recorder's time before MPI_Finalize")
    return events


def traced(arguments):
    """One message to the other rank and one from it, in the trace too, whatever is asked on the way."""
    with tempfile.TemporaryDirectory() as name:
        recorded(arguments, {"KUMIHIMO_RECORD_TRACE": name})
        for rank in range(arguments[2]):
            events = events_of(Path(name), rank, arguments[2])
            for what in ("send", "receive"):
                ends = (what, f"start_{what}" if what == "send" else f"end_{what}")
                found = [(e.partner, e.bytes) for e in events if e.kind in ends]
                equal(found, [(1 - rank, INT)], f"{what} events of rank {rank}")


def requests(arguments):
    """What non-blocking and persistent requests of counts.c begin, and the calls that complete them."""
    with tempfile.TemporaryDirectory() as name:
        profile, _ = recorded(arguments, {"KUMIHIMO_RECORD_TRACE": name})
        ranks = arguments[2]
        for rank in range(ranks):
            events = events_of(Path(name), rank, ranks)
            after, before = (rank + 1) % ranks, (rank - 1) % ranks
            sent, got = [(rank + 1) * INT, 4 * INT, *[9 * INT] * 3], [4 * INT, *[9 * INT] * 3]
            bytes_of = {what: [(e.partner, e.bytes) for e in events if e.kind == what] for what in EVENTS}
            equal(bytes_of["start_send"], [(after, size) for size in sent], "what begins to be sent")
            equal(bytes_of["end_receive"], [(before, size) for size in got], "what has been received")
            equal(bytes_of["end_collective"], [(-1, 8 * DOUBLE), (-1, 0)], "non-blocking collectives")
            for what in ("send", "receive", "collective"):
                begun = [e.request for e in events if e.kind == f"start_{what}"]
                equal(begun, [e.request for e in events if e.kind == f"end_{what}"], f"requests of {what}s")
                check(all(begun), "numbers from 1 on")
            check(not any(e.request for e in events if "_" not in e.kind), "blocking calls have no request")
            parts = [[(i + 1) * size for i in range(ranks)] for size in (INT, DOUBLE)]
            found = [e.parts for e in events if e.parts]
            equal(found, parts, "what MPI_Alltoallv and MPI_Alltoallw send to each rank")
            trace, sites = profile.ranks[rank]["trace"], profile.ranks[rank]["sites"]
            places = [trace["sites"][e.site] for e in events if e.kind == "enter" and e.site != NO_SITE]
            check(all(place is not None and place < len(sites) for place in places), "call sites of the profile")
            check(len(set(places)) > 20, "call sites of their own")


def polled(arguments):
    """The tests of a thread that has ended with them are one call of the trace."""
    with tempfile.TemporaryDirectory() as name:
        profile, ended = recorded(arguments, {"KUMIHIMO_RECORD_TRACE": name})
        for rank in range(arguments[2] if has_threads(ended) else 0):
            number = next(n for n, call in profile.header["trace"]["calls"].items() if call == "MPI_Test")
            events = events_of(Path(name), rank, arguments[2])
            found = [event.kind for event in events if event.call == int(number)]
            equal(found, ["enter", "leave"], "events of MPI_Test")
            equal(profile.calls(rank, "MPI_Test"), 1000, "calls of MPI_Test")


def full(arguments):
    """A trace that ends where its buffer does: with whole calls, and the rest is counted."""
    for most in range(10, 14):
        with tempfile.TemporaryDirectory() as name:
            profile, _ = recorded(arguments, {"KUMIHIMO_RECORD_TRACE": name, "KUMIHIMO_RECORD_EVENTS": str(most)})
            for rank in range(arguments[2]):
                kinds = [event.kind for event in events_of(Path(name), rank, arguments[2])]
                trace = profile.ranks[rank]["trace"]
                check(len(kinds) <= most and len(kinds) == trace["events"], f"at most {most} events, {len(kinds)}")
                check(trace["left_out"] > 0, "that there were more")
                equal(kinds.count("enter"), kinds.count("leave"), f"calls whose end is told, of {most} events")


def left(arguments):
    """A process that leaves within regions: its status is its own, and they are told."""
    _, family, ranks, recorder, program, launcher = arguments
    with tempfile.TemporaryDirectory() as name:
        alone = subprocess.run([*launcher, "-n", str(ranks), *program], capture_output=True, timeout=100, check=False)
        ended = launch(Path(name), family, ranks, recorder, program, launcher)
        # Its 0, or now and then what Hydra makes of a rank that left without MPI_Finalize while others had not: 1, or 9
        # where it killed these.
        check(ended.returncode in (0, 1, 9, alone.returncode), f"exit status {ended.returncode}; {ended.stderr}")
        profile = Profile(Path(name))
        check(profile.ranks, "what some ranks knew")
        for part in profile.ranks.values():
            equal([r["unended"] for r in part["regions"]], [1, 1], "regions without end")
            equal([r["counters"] for r in part["regions"] if r["passages"] == 0], [{}, {}], "counters of no passage")


def between(arguments):
    """One rank and the others, as two groups: a part of the result for each rank of one's own."""
    ranks = arguments[2]
    profile, _ = recorded(arguments)
    for rank in range(ranks):
        for name in ("MPI_Reduce_scatter", "MPI_Reduce_scatter_block"):
            equal(profile.calls(rank, name, "bytes"), 2 * (ranks - 1) * DOUBLE, f"bytes of {name} on rank {rank}")


def reused(arguments):
    """Ten messages by MPI_Send, and none by a request that is of a receive now."""
    profile, _ = recorded(arguments)
    for rank in range(arguments[2]):
        equal(profile.matrix(rank), {1 - rank: (10, 10 * INT, 0, 0)}, f"partners of rank {rank}")
        equal(profile.calls(rank, "MPI_Start", "bytes"), 0, f"bytes of MPI_Start on rank {rank}")


def elsewhere(arguments):
    """The end of a message is not taken for that of a sum that had the same handle."""
    profile, _ = recorded(arguments)
    for rank in range(arguments[2]):
        equal(profile.calls(rank, "MPI_Iallreduce", "calls"), 20, f"sums of rank {rank}")
        for key in ("completion_seconds", "overlap_seconds"):
            equal(profile.calls(rank, "MPI_Iallreduce", key), 0, f"{key} of rank {rank}")


def chain(arguments):
    """What one line makes, each of the one before, is one kind."""
    profile, _ = recorded(arguments)
    for rank in range(arguments[2]):
        made = sorted(c["made"] for c in profile.ranks[rank]["communicators"] if c["name"] == "MPI_Comm_dup")
        check(len(made) <= 3, f"few kinds, not {len(made)}")
        check(sum(made) >= 50, f"all are counted, {made}")
        equal(profile.calls(rank, "MPI_Barrier"), 50, "calls of MPI_Barrier")


def one_by_one(arguments):
    """What threads have counted stays, and the next goes on with it: rows of two at most."""
    profile, ended = recorded(arguments)
    for rank in range(arguments[2] if has_threads(ended) else 0):
        equal(profile.calls(rank, "MPI_Send"), 50, "calls of all threads")
        equal(profile.ranks[rank]["threads"], 51, "threads")
        rows = [row for row in profile.ranks[rank]["calls"] if row["call"] == "MPI_Send"]
        equal(len(rows), 1, "rows of threads that were never there at once")


def spawned(arguments):
    """The processes that the program has started write a profile of their own, beside that of the program."""
    _, family, ranks, recorder, program, launcher = arguments
    with tempfile.TemporaryDirectory() as name:
        more = {"KUMIHIMO_RECORD_TRACE": name}
        ended = launch(Path(name), family, ranks, recorder, program, launcher, more)
        equal(ended.returncode, 0, f"exit status; {ended.stdout}{ended.stderr}")
        profile = Profile(Path(name))
        equal(sorted(profile.ranks), list(range(ranks)), "ranks of the program")
        for rank in range(ranks):
            equal(profile.calls(rank, "MPI_Barrier"), 6, "calls of MPI_Barrier")
            check(events_of(Path(name), rank, arguments[2]), "their events")
        (path,) = Path(name).glob("profile.spawned-*")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        equal([line["rank"] for line in lines[1:]], [0, 1], "ranks that were spawned")
        for line in lines[1:]:
            equal([r["calls"] for r in line["calls"] if r["call"] == "MPI_Barrier"], [1], "their calls")


CASES = {
    f.__name__: f
    for f in (
        counts,
        fortran,
        python,
        late,
        rooted,
        gathered,
        begun,
        many,
        unfinished,
        aborted,
        lost,
        sessions_alone,
        sessions_around,
        sessions_beside,
        threads,
        leaving,
        endless,
        full,
        streams,
        regions,
        composed,
        traced,
        requests,
        left,
        between,
        reused,
        elsewhere,
        chain,
        short_calls,
        all_timed,
        handles,
        at_once,
        one_by_one,
        polled,
        spawned,
    )
}

if __name__ == "__main__":
    case, mpi_family, number, shared_object, *words = sys.argv[1:]
    at = words.index("--")
    os.environ.pop("LD_PRELOAD", None)
    CASES[case]((case, mpi_family, int(number), shared_object, words[:at], words[at + 1 :]))
