"""A profile in a few lines for people, and as one object for programs."""

from __future__ import annotations

from errno import EACCES, EPERM
from os import strerror

from kumihimo.run.profile.totals import Calls, Region, Totals
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import bytes_text, counted, seconds_text, share_text
from kumihimo.text.sizes import with_unit

MOST_SITES = 8
MOST_PAIRS = 3
MOST_SIZED, MOST_CLASSES = 3, 6
REGION = ("name", "expectation", "passages", "seconds", "mpi_seconds", "waiting_seconds", "max_seconds", "max_rank")


def lines(totals: Totals) -> list[str]:
    return [
        overall(totals),
        *split(totals),
        *[
            site(calls, totals)
            for calls in totals.by_time()[:MOST_SITES]
            if calls.call not in ("MPI_Init", "MPI_Init_thread")
        ],
        *([f"{len(totals.calls) - MOST_SITES} more call sites"] if len(totals.calls) > MOST_SITES else []),
        *sizes(totals),
        *partners(totals),
        *[region(r) for r in totals.regions.values()],
        *notes(totals),
    ]


def overall(totals: Totals) -> str:
    ranks = len(totals.tasks)
    longest = max((task[2] for task in totals.tasks), default=0.0)
    share = totals.mpi_seconds / totals.seconds if totals.seconds else 0.0
    threads = totals.most_threads
    together = f", summed over {threads} threads of a rank" if threads > 1 else ""
    return f"{counted(ranks, 'rank')} for {seconds_text(longest)}, {share_text(share)} of it in MPI{together}"


def split(totals: Totals) -> list[str]:
    whole = [c for c in totals.calls.values() if c.blocking_collective]
    calls, all_calls = sum(c.split_calls for c in whole), sum(c.calls for c in whole)
    if not calls:
        if any(c.completion_is_split for c in totals.calls.values()):
            return []
        of = "whose ranks all called MPI_Finalize"
        return [f"waiting and transferring are not separated: no blocking collective {of}"] if totals.calls else []
    took = sum(c.split_seconds for c in whole)
    waiting = sum(c.waiting_seconds for c in whole)
    sampled = f"estimated from {share_text(calls / all_calls)} of the calls"
    how = "by a barrier before each" if totals.header["sync"] else sampled
    share = waiting / took if took else 0.0
    return [
        f"blocking collectives: {share_text(share)} waiting for others, {share_text(1 - share)} transferring, {how}"
    ]


def site(calls: Calls, totals: Totals) -> str:
    on = f" on {calls.communicator}" if calls.communicator else ""
    share = calls.seconds / totals.seconds if totals.seconds else 0.0
    text = (
        f"{calls.call} at {calls.place}{on}: {counted(calls.calls, 'call')}, {bytes_text(calls.bytes)}, "
        f"{seconds_text(calls.seconds)} of {counted(calls.ranks, 'rank')} ({share_text(share)})"
    )
    if calls.timed_calls < calls.calls:
        text += ", estimated"
        if calls.seconds_error and calls.seconds:
            text += f" ± {share_text(calls.seconds_error / calls.seconds)}"
    if calls.split_seconds:
        text += f", {share_text(calls.waiting_seconds / calls.split_seconds)} waiting"
    if calls.imbalance_share >= 0.1:
        text += f", imbalance {share_text(calls.imbalance_share)} (rank {calls.most_rank} most)"
    if calls.completion_seconds:
        text += f"; completed in {seconds_text(calls.completion_seconds)}"
        if calls.completion_is_split:
            text += f", {share_text(calls.completion_waiting_seconds / calls.completion_seconds)} waiting"
    return text


def sizes(totals: Totals) -> list[str]:
    """Sizes to tune for: the classes of sizes with the most calls, of the collectives with the most calls."""
    most = sorted(totals.sizes.items(), key=lambda each: -sum(each[1].values()))[:MOST_SIZED]
    found = []
    for call, classes in most:
        shown = sorted(classes.most_common(MOST_CLASSES))
        rest = f", {len(classes) - len(shown)} more size classes" if len(classes) > len(shown) else ""
        listed = ", ".join(f"{counted(calls, 'call')} {class_text(least)}" for least, calls in shown)
        found += [f"sizes of {call}: {listed}{rest}"] if any(classes) else []
    return found


def class_text(least: int) -> str:
    return f"from {with_unit(least)} to under {with_unit(2 * least)}" if least else "of 0 bytes"


def partners(totals: Totals) -> list[str]:
    return [
        f"rank {a} to {b}: {bytes_text(size)} in {n} {'one-sided accesses' if one_sided else 'messages'}"
        for size, n, a, b, one_sided in totals.largest_pairs(MOST_PAIRS)
    ]


def region(r) -> str:
    share = r.mpi_seconds / r.seconds if r.seconds else 0.0
    text = (
        f"region {r.name}: {counted(r.passages, 'passage')} of {counted(r.ranks, 'rank')}, "
        f"{seconds_text(r.seconds)}, longest "
        f"{seconds_text(r.max_seconds)} (rank {r.max_rank}), {share_text(share)} in MPI"
    )
    if r.unended:
        text += f", {r.unended} not ended"
    counters = ", ".join(f"{value:.3g} {name.replace('_', ' ')}" for name, value in sorted(r.counters.items()))
    return f"{text}; {counters}" if counters else text


def notes(totals: Totals) -> list[str]:
    found = []
    expected = totals.header["ranks"]
    if totals.unfinished:
        found.append(
            f"{len(totals.unfinished)} of {counted(expected, 'rank')} did not call MPI_Finalize: "
            "their data end at their exit"
        )
    if len(totals.tasks) < expected:
        found.append(
            f"{expected - len(totals.tasks)} of {counted(expected, 'rank')} wrote nothing: "
            "they were killed or did not reach MPI_Finalize"
        )
    if totals.unbegun:
        found.append(f"regions that were ended but never begun: {', '.join(sorted(totals.unbegun))}")
    if totals.threads_left_out:
        found.append(f"{totals.threads_left_out} threads are missing: they were in MPI calls when their process ended")
    if totals.events_left_out:
        found.append(f"the trace buffer was full: {totals.events_left_out} events are missing")
    if totals.header.get("counters_reason"):
        advice = counters_advice(totals.header["counters_reason"])
        found.append(f"no hardware counters: the kernel provides none{advice}")
    return found


def counters_advice(reason: str) -> str:
    """Advice for a reason that a user can change; missing counters of a virtual machine are none."""
    return " (see kernel.perf_event_paranoid)" if reason in map(strerror, (EACCES, EPERM)) else ""


def as_object(totals: Totals) -> JsonObject:
    """The object of --json."""
    return {
        "mpi": totals.header["mpi"],
        "ranks": totals.header["ranks"],
        "ranks_recorded": len(totals.tasks),
        "ranks_unfinished": totals.unfinished,
        "sync": totals.header["sync"],
        "seconds": totals.seconds,
        "mpi_seconds": totals.mpi_seconds,
        "tasks": [{"rank": r, "host": h, "seconds": s, "mpi_seconds": m} for r, h, s, m in totals.tasks],
        "calls": [call_object(calls) for calls in totals.by_time()],
        "sizes": {
            call: [{"bytes_from": size, "calls": n} for size, n in sorted(classes.items())]
            for call, classes in sorted(totals.sizes.items())
        },
        "traffic": dict(totals.traffic),
        "largest_partners": [
            {"from": a, "to": b, "bytes": size, "messages": n, "one_sided": bool(one_sided)}
            for size, n, a, b, one_sided in totals.largest_pairs(len(totals.pairs))
        ],
        "regions": [region_object(region) for region in totals.regions.values()],
        "counters": dict(totals.counters),
        "notes": notes(totals),
    }


def region_object(region: Region) -> JsonObject:
    place = region.place
    return {
        **{name: getattr(region, name) for name in REGION},
        "expectation": region.expectation or None,
        "counters": dict(region.counters),
        "file": (place and place.file) or None,
        "line": (place and place.line) or None,
        "passage_seconds": region.passage_seconds.values,
    }


def call_object(calls: Calls) -> JsonObject:
    found: dict[str, object] = {"call": calls.call, "place": str(calls.place)}
    found |= {name: getattr(calls.place, name) or None for name in ("file", "line", "function")}
    found |= {"communicator": calls.communicator or None}
    found |= {name: getattr(calls, name) for name in ("ranks", "calls", "bytes", "seconds")}
    found |= {"timed_calls": calls.timed_calls, "seconds_error": calls.seconds_error}
    found |= {"mean_seconds_of_rank": calls.mean_seconds, "max_seconds_of_rank": calls.most_seconds}
    found |= {"max_seconds_of_call": calls.max_seconds, "imbalance_seconds": calls.imbalance_seconds}
    found |= {"imbalance_share": calls.imbalance_share}
    if calls.completion_seconds:
        waiting = calls.completion_waiting_seconds if calls.completion_is_split else None
        found |= {"completion_seconds": calls.completion_seconds, "completion_waiting_seconds": waiting}
        found |= {"overlap_seconds": calls.overlap_seconds}
    divided = bool(calls.split_calls)
    found |= {"split_share_of_calls": calls.split_calls / calls.calls if divided else None}
    names = ("split_seconds", "waiting_seconds", "transferring_seconds")
    return found | {name: getattr(calls, name) if divided else None for name in names}
