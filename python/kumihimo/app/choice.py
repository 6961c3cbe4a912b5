"""`--variant auto`: the fastest variant by measurement, at a fraction of the cost of solving with every one.

1. Every candidate runs a few iterations of the problem itself, by turns: seconds per iteration.
2. Candidates that may still win solve a smaller problem to the end: iterations relative to each other. Where the size
   has no smaller one, they solve the problem itself.
3. The candidates with the least product solve the problem to the end, and the fastest right one is chosen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kumihimo.app import launches
from kumihimo.app.catalogue import Candidate
from kumihimo.app.figures import key_of
from kumihimo.app.launches import Problem, Resources
from kumihimo.errors import failed

SAMPLE = 8  # iterations
SLOWEST = 2.0  # times the least seconds per iteration, that more iterations of others may make up for
NEAR = 1.06  # times the least predicted time, within which only whole solves decide
FINALISTS = 3


@dataclass
class Search:
    """What was found: rows of all candidates, the chosen one, and what it cost."""

    chosen: Candidate
    rows: list[dict] = field(default_factory=list)
    seconds: float = 0.0
    exhaustive_seconds: float = 0.0  # predicted, of one whole solve with every candidate


def search(
    problem: Problem,
    candidates: Sequence[Candidate],
    resources: Resources,
    on_object: Callable[[dict], None] = lambda found: None,
    run: Callable = launches.run,
) -> Search:
    begin = time.monotonic()
    sampled = run(problem, candidates, resources, sample=SAMPLE, turns=2, on_object=on_object)
    rows = rows_of(candidates, sampled.results)
    running = [row for row in rows if "seconds_per_iteration" in row]
    if not running:
        reason = next((row["not_applicable"] for row in rows if "not_applicable" in row), "")
        raise failed("no variant can solve the problem", reason)
    least = min(row["seconds_per_iteration"] for row in running)
    running = [row for row in running if row["seconds_per_iteration"] <= SLOWEST * least]
    count_iterations(problem, running, resources, sampled.about.get("smaller_size"), on_object, run)
    finalists = finalists_of(running)
    ended = run(problem, [row["candidate"] for row in finalists], resources, on_object=on_object)
    for row, result in zip(finalists, ended.results):
        row |= {
            "seconds": result["seconds"],
            "iterations": result["iterations"],
            "setup_seconds": result["setup_seconds"],
        }
        row["right"] = result.get("checked", {}).get("right")
    right = [row for row in finalists if row["right"] is not False]
    if not right:
        wrong = ", ".join(row["candidate"].text for row in finalists)
        raise failed("the fastest variants give wrong solutions", wrong, "name another --variant")
    chosen = min(right, key=lambda row: row["seconds"])
    seconds = time.monotonic() - begin
    return Search(chosen["candidate"], rows, seconds, exhaustive(rows, chosen))


def rows_of(candidates: Sequence[Candidate], results: Sequence[dict]) -> list[dict]:
    """Seconds per iteration: the least of the turns, since other programs only add."""
    by_key: dict[tuple, list[dict]] = {}
    for result in results:
        by_key.setdefault(key_of(result), []).append(result)
    rows = []
    for candidate in candidates:
        runs = by_key.get((candidate.variant, tuple(sorted(candidate.parameters))), [])
        row: dict = {"candidate": candidate, **candidate.as_task()}
        if refused := next((run["not_applicable"] for run in runs if "not_applicable" in run), None):
            row["not_applicable"] = refused
        elif runs:
            row["seconds_per_iteration"] = min(run["seconds"] / max(1, run["iterations"]) for run in runs)
            row["setup_seconds"] = min(run["setup_seconds"] for run in runs)
        rows.append(row)
    return rows


def count_iterations(
    problem: Problem, rows: list[dict], resources: Resources, smaller: str | None, on_object: Callable, run: Callable
) -> None:
    """The iterations of each, on a smaller problem where there is one. A variant that does not fit it keeps none."""
    if smaller == problem.size:
        smaller = None
    case = replace(problem, size=smaller) if smaller else problem
    counted = run(case, [row["candidate"] for row in rows], resources, check=False, on_object=on_object)
    by_key = {key_of(result): result for result in counted.results}
    for row in rows:
        result = by_key.get((row["candidate"].variant, tuple(sorted(row["candidate"].parameters))), {})
        if "iterations" in result:
            row["iterations_counted"] = result["iterations"]


def finalists_of(rows: list[dict]) -> list[dict]:
    """Those whose product of time and iterations is about the least."""
    counted = [row for row in rows if "iterations_counted" in row] or rows
    for row in counted:
        row["predicted"] = row["seconds_per_iteration"] * row.get("iterations_counted", 1)
    counted.sort(key=lambda row: row["predicted"])
    least = counted[0]["predicted"]
    return [row for row in counted if row["predicted"] <= NEAR * least][:FINALISTS]


def exhaustive(rows: Sequence[dict], solved: dict) -> float:
    """Predicted seconds of whole solves with every candidate, by the iterations of the one that was solved. A candidate
    whose iterations were not counted is taken to need as many as that one."""
    scale = solved["iterations"] / max(1, solved.get("iterations_counted", solved["iterations"]))
    total = 0.0
    for row in rows:
        if "seconds_per_iteration" in row:
            iterations = scale * row.get("iterations_counted", solved.get("iterations_counted", solved["iterations"]))
            total += row["setup_seconds"] + row["seconds_per_iteration"] * iterations
    return total
