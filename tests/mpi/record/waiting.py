"""Cases of recorded.py: who waits for whom, and in which call."""

from profiles import check, equal, recorded


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
