"""A binding as lines: a table of threads as xthi prints them, faults, notes and the proposal."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from kumihimo.run.binding import judge, runtimes
from kumihimo.run.binding.judge import BindingVerdict
from kumihimo.run.binding.proposal import BindingProposal
from kumihimo.run.binding.samples import BindingSamples, SampledNode, SampledRank, SampledThread, list_text
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted, share_text

MOST_ROWS = 64
COLUMNS = ("rank", "node", "thread", "may run on", "ran on", "busy", "")


def table(samples: BindingSamples) -> list[str]:
    """A line for each thread that needs a core; idle threads are counted."""
    rows = [COLUMNS, *(row_of(rank, thread) for rank in samples.ranks for thread in shown(rank))]
    left_out = len(rows) - 1 - MOST_ROWS
    rows = rows[: MOST_ROWS + 1]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    if left_out > 0:
        lines.append(f"{left_out} more threads are in --json")
    idle = Counter(thread.runtime for rank in samples.ranks for thread in rank.threads if thread not in shown(rank))
    if idle:
        parts = ", ".join(f"{number} of {judge.runtime_text(runtime)}" for runtime, number in sorted(idle.items()))
        lines.append(f"idle threads, which need no core: {parts}")
    return lines


def shown(rank: SampledRank) -> list[SampledThread]:
    return [
        thread
        for thread in rank.threads
        if thread.runtime == runtimes.RANK or (thread.runtime in judge.ORDER and judge.needs_core(thread, rank))
    ]


def row_of(rank: SampledRank, thread: SampledThread) -> tuple[str, ...]:
    started = runtimes.library_text(thread.library) or thread.name or "unknown"
    kind = "main" if thread.runtime == runtimes.RANK else started
    doing = f"spins in {runtimes.spin_text(thread.spins_in, thread.library)}" if thread.spins_in else ""
    mask, ran = list_text(thread.processors), str(thread.processor)
    return (str(rank.rank), rank.host, kind, mask, ran, share_text(thread.busy), doing)


def node_line(node: SampledNode) -> str:
    more = f", {counted(len(node.processors), 'hardware thread')}" if len(node.processors) > len(node.cores) else ""
    quota = "" if node.quota is None else f", of which control groups leave the time of {node.quota:g}"
    return f"{node.host}: {counted(len(node.cores), 'core')}{more} ({list_text(node.processors)}){quota}"


def fault_lines(found: BindingVerdict) -> list[str]:
    return [f"fault: {fault.text}" for fault in found.faults] or ["no fault was found"]


def proposal_lines(found: BindingProposal | None, command: Sequence[str]) -> Iterator[str]:
    """`command`: with the proposal in it; empty if it is not known, or is that command already."""
    if found is None:
        return
    if command:
        yield f"try: {shlex.join(command)}"
    elif found.launcher == "":
        yield "try: " + " ".join(f"{name}={value}" for name, value in found.variables.items())
    yield from (f"note: {remark}" for remark in found.remarks)


def as_object(
    samples: BindingSamples, found: BindingVerdict, proposed: BindingProposal | None, command: Sequence[str]
) -> JsonObject:
    """The object of --json."""
    return {
        "ranks": samples.ranks_of_job,
        "ranks_sampled": len(samples.ranks),
        "nodes": [node_object(node) for node in samples.nodes],
        "threads": [thread_object(rank, thread) for rank in samples.ranks for thread in rank.threads],
        "environment": {str(rank.rank): dict(rank.environment) for rank in samples.ranks},
        "faults": [fault.as_object() for fault in found.faults],
        "notes": list(found.notes),
        "proposal": proposed and {**proposed.as_object(), "command": shlex.join(command) or None},
    }


def node_object(node: SampledNode) -> JsonObject:
    return {"host": node.host, "cores": [list_text(core) for core in node.cores], "quota": node.quota}


def thread_object(rank: SampledRank, thread: SampledThread) -> JsonObject:
    masks: Mapping = {name: list_text(getattr(thread, name)) for name in ("processors", "at_first")}
    return {"rank": rank.rank, "host": rank.host, **asdict(thread), **masks}
