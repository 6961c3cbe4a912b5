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
from pathlib import Path

from profiles import DOUBLE, FLOAT, INT, WORD, Profile, check, compare, equal, launch, recorded
from sessions import (
    sessions_alone,
    sessions_around,
    sessions_beside,
)

EVENTS = ("enter", "leave", "send", "receive", "collective")


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


def late(arguments):
    """The others wait for the last rank; it waits for nobody. Likewise with clocks put apart, and with barriers. On a
    busy machine any rank may wait for a processor: what is wrong is so in every one of several runs."""
    ranks = arguments[2]
    for more in ({}, {"KUMIHIMO_RECORD_SKEW": "7000000000"}, {"KUMIHIMO_RECORD_SYNC": "1"}):
        for attempt in range(4):
            profile, _ = recorded(arguments, more)
            equal(profile.header["several_nodes"], "KUMIHIMO_RECORD_SKEW" in more and ranks > 1, "nodes")
            for rank in range(ranks):
                equal(profile.calls(rank, "MPI_Allreduce", "split_calls"), 10, "calls split")
            equal(profile.ranks[0]["clock_offset_seconds"], 0.0, "rank 0's clock is the measure")
            wrong = wrong_waits(profile, ranks)
            if not wrong:
                break
            check(attempt < 3, f"{wrong} with {more}")


def wrong_waits(profile, ranks):
    """Who does not wait as the program makes them, or nothing."""
    for rank in range(ranks - 1):
        share = profile.share(rank, "MPI_Allreduce")
        if share <= 0.5:
            return f"rank {rank} waits for the last one, {share:.2f} of the time"
    last = profile.calls(ranks - 1, "MPI_Allreduce", "waiting_seconds")
    others = profile.calls(0, "MPI_Allreduce", "waiting_seconds")
    return "" if ranks == 1 or last < 0.5 * others else f"the last rank waits for nobody, {last} s of {others} s"


def rooted(arguments):
    ranks = arguments[2]
    profile, _ = recorded(arguments)
    equal(profile.calls(0, "MPI_Bcast", "waiting_seconds"), 0.0, "the root's waiting")
    for rank in range(1, ranks):
        check(profile.share(rank, "MPI_Bcast") > 0.5, f"rank {rank} waits for the root")


def gathered(arguments):
    ranks = arguments[2]
    last = ranks - 1
    for attempt in range(4):
        profile, _ = recorded(arguments)
        for rank in range(ranks):
            equal(profile.calls(rank, "MPI_Gather", "split_calls"), 10, "calls of MPI_Gather split")
            equal(profile.calls(rank, "MPI_Reduce", "split_calls"), 5, "calls of MPI_Reduce split")
            equal(profile.calls(rank, "MPI_Scan", "split_calls"), 0, "calls of MPI_Scan split")
        wrong = [f"the root waits, {profile.share(0, 'MPI_Reduce'):.2f} of the time"]
        if profile.share(0, "MPI_Reduce") > 0.5:
            wrong = []
        for rank in range(1, ranks):  # who hands over to a root that is there has not waited, whoever comes later
            waits = profile.calls(rank, "MPI_Reduce", "waiting_seconds")
            if waits > 0.1:
                wrong.append(f"rank {rank} hands over and waits {waits:.3f} s")
        if profile.calls(last, "MPI_Gather", "waiting_seconds") > 0.1:
            wrong.append("the last waits for nobody")
        handed = min((r for r in profile.ranks[0]["calls"] if r["call"] == "MPI_Gather"), key=lambda r: r["seconds"])
        if handed["waiting_seconds"] > 0.5 * handed["split_seconds"]:
            wrong.append(f"rank 0 leaves before the late root comes, and waits {handed['waiting_seconds']} s")
        if not wrong:
            break
        check(attempt < 3, "; ".join(wrong))


def begun(arguments):
    """Non-blocking calls wait in what completes them, for ranks that have not begun; what is computed before is none of
    it."""
    ranks = arguments[2]
    for attempt in range(4):
        profile, _ = recorded(arguments)
        for rank in range(ranks):
            for name, calls in (("Iallreduce", 5), ("Ibcast", 1), ("Ibarrier", 2), ("Iallgather", 1), ("Ireduce", 1)):
                equal(profile.calls(rank, f"MPI_{name}", "calls"), calls, f"calls of MPI_{name}")
                check(profile.calls(rank, f"MPI_{name}", "completion_seconds") > 0, f"MPI_{name} has been completed")
            check(profile.calls(rank, "MPI_Iallreduce", "overlap_seconds") >= 0.1, "the time of the computation")
            check(all(row["calls"] > 0 for row in profile.ranks[rank]["calls"]), "entries have calls")
        wrong = wrong_completions(profile, ranks)
        if not wrong:
            break
        check(attempt < 3, wrong)


def wrong_completions(profile, ranks):
    """What waits otherwise than the program makes it, or nothing."""

    def of(rank, name, key):
        return profile.calls(rank, f"MPI_{name}", key)

    for rank in range(ranks - 1):
        whole, waiting = (of(rank, "Iallreduce", f"completion_{key}") for key in ("seconds", "waiting_seconds"))
        if not 0.15 < whole < 0.4:  # 5 times 60 ms less the 20 that it computes
            return f"rank {rank} completes its calls in {whole} s"
        if waiting < 0.8 * whole:
            return f"rank {rank} waits for the last one {waiting} s of {whole} s"
        third = of(rank, "Ibcast", "completion_seconds")
        if not 0.01 < third < 0.04:  # of 60 ms, which three requests share
            return f"rank {rank} completes a call and two others in 3 times {third} s"
    whole, waiting = (of(0, "Ireduce", f"completion_{key}") for key in ("seconds", "waiting_seconds"))
    if ranks > 1 and waiting < 0.8 * whole:
        return f"the root waits in another thread {waiting} s of {whole} s"
    last = of(ranks - 1, "Iallreduce", "completion_waiting_seconds")
    return f"the last rank waits for nobody, {last} s" if last > 0.05 and ranks > 1 else ""


def many(arguments):
    profile, _ = recorded(arguments)
    counts_of_split = {profile.calls(rank, "MPI_Allreduce", "split_calls") for rank in profile.ranks}
    equal(len(counts_of_split), 1, "the ranks sample the same calls")
    (number,) = counts_of_split
    check(number == 5000 if arguments[2] == 1 else 256 < number < 1000, f"a bounded sample, {number}")
    for rank in profile.ranks:
        (row,) = (r for r in profile.ranks[rank]["calls"] if r["call"] == "MPI_Allreduce")
        told = row["waiting_seconds"] + row["transferring_seconds"]
        check(abs(told - row["split_seconds"]) < 1e-6, "what is split is all of what was looked at")


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


def has_threads(ended):
    """By the program's own word: a library may give it none."""
    return "threads\n" in ended.stdout


def leaving(arguments):
    """A process that leaves while its threads call MPI: it writes what it can, and its status is its own."""
    _, family, ranks, recorder, program, launcher = arguments
    for _ in range(10):
        with tempfile.TemporaryDirectory() as name:
            ended = launch(Path(name), family, ranks, recorder, program, launcher)
            check(ended.returncode in (0, 9), f"exit status, {ended.returncode}: {ended.stderr}")
            if ended.returncode == 0:
                return  # a library without threads
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


def events_of(folder, rank):
    """The raw events of a rank, as src/record/trace.hpp has them: what, call, partner, bytes."""
    form = struct.Struct("<qqBBHiIiq")
    for at, size, what, call, _, partner, _, _, _ in form.iter_unpack((folder / f"rank{rank}.events").read_bytes()):
        check(at > 0, "a time")
        yield EVENTS[what], call, partner, size


def traced(arguments):
    """One message to the other rank and one from it, in the trace too, whatever is asked on the way."""
    with tempfile.TemporaryDirectory() as name:
        recorded(arguments, {"KUMIHIMO_RECORD_TRACE": name})
        for rank in range(arguments[2]):
            events = list(events_of(Path(name), rank))
            for what in ("send", "receive"):
                found = [(partner, size) for kind, _, partner, size in events if kind == what]
                equal(found, [(1 - rank, INT)], f"{what} events of rank {rank}")


def full(arguments):
    """A trace that ends where its buffer does: with whole calls, and the rest is counted."""
    for most in range(10, 14):
        with tempfile.TemporaryDirectory() as name:
            profile, _ = recorded(arguments, {"KUMIHIMO_RECORD_TRACE": name, "KUMIHIMO_RECORD_EVENTS": str(most)})
            for rank in range(arguments[2]):
                kinds = [kind for kind, *_ in events_of(Path(name), rank)]
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
        # Its 0, or now and then what Hydra makes of a rank that left without MPI_Finalize while others had not.
        check(ended.returncode in (0, 1, alone.returncode), f"the exit status; {ended.stderr}")
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
            check("seconds_error" in row or row["calls"] < 64 + 3 * 16 or not sampled, f"the error of {row}")
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
            check(list(events_of(Path(name), rank)), "their events")
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
        left,
        between,
        reused,
        chain,
        short_calls,
        all_timed,
        handles,
        at_once,
        one_by_one,
        spawned,
    )
}

if __name__ == "__main__":
    case, mpi_family, number, shared_object, *words = sys.argv[1:]
    at = words.index("--")
    os.environ.pop("LD_PRELOAD", None)
    CASES[case]((case, mpi_family, int(number), shared_object, words[:at], words[at + 1 :]))
