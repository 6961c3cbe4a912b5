"""Output of `kumihimo simulate --dies` and `kumihimo replay --dies`."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo.cli import output
from kumihimo.text.quantities import seconds_text, share_text

COLUMNS = (
    *("died at>", "complete>", "until>", "waiting>", "for the dead>", "for others>"),
    *("stuck from>", "work done>", "lost>"),
)
MOST_LINKS = 6  # of a chain that is printed


def print_faults(results: dict[tuple[str, ...], dict], columns: Sequence[str] = ()) -> None:
    """A row for each result, under `columns` that name it; the chain of waits where there is one result."""
    known = {cells: result["faults"] for cells, result in results.items() if "faults" in result}
    if not known:
        return
    first = next(iter(known.values()))
    who = ", ".join(f"node {each['node']}" for each in first["dies"])
    print()
    output.print_table(
        f"Ranks if {who} {'dies' if len(first['dies']) == 1 else 'die'}",
        (*columns, *COLUMNS),
        [(*cells, *row(each)) for cells, each in known.items()],
    )
    if len(known) == 1:
        output.print_list("The lowest rank that waits:", chain(first))


def row(of: dict) -> tuple[str, ...]:
    done, every = of["operations_done"], of["operations"] or 1
    return (
        ", ".join(seconds_text(each["seconds"]) for each in of["dies"]),
        str(of["ranks_complete"]),
        seconds_text(of["complete_seconds"]) if of["ranks_complete"] else "",
        str(of["ranks_waiting"]),
        str(of["waiting_directly"]),
        str(of["waiting_indirectly"]),
        seconds_text(of["stuck_seconds"]) if of["ranks_waiting"] else "",
        share_text(done / every),
        share_text(of["operations_lost"] / every),
    )


def chain(of: dict) -> list[str]:
    """Each operation that waits for the next one."""
    links = of["chain"]
    if not links:
        return []
    told = [f"{each} waits" for each in links]
    if len(told) > MOST_LINKS:
        told[MOST_LINKS - 1 : -1] = [f"... {len(told) - MOST_LINKS} more ranks"]
    return [*told, f"rank {of['chain_ends_at_rank']} died"]
