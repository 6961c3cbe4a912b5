"""`--variant auto`: the fastest variant by measurement, at a fraction of the cost of solving with every one.

1. Every candidate solves a smaller problem to the end, where the size has one. That tells how many iterations each
   needs relative to the others, and which are hopeless.
2. The others run a few iterations of the problem itself: seconds per iteration. Those near the least product of time
   and iterations do it again, as other programs only add time.
3. The candidates with the least product solve the problem to the end, and the fastest right one is chosen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from kumihimo.app import launches
from kumihimo.app.catalogue import Candidate
from kumihimo.app.figures import key_of
from kumihimo.app.launches import Problem, Resources
from kumihimo.errors import failed

SAMPLE = 6  # iterations
HOPELESS = 3.0  # times the least time on the smaller problem, whose data may lie in a cache
UNCERTAIN = 1.3  # times the least product, up to which it is measured again
NEAR = 1.06  # times the least product, up to which only whole solves decide
FINALISTS, FINALISTS_UNCOUNTED = 3, 6  # without a smaller problem nobody knows the iterations


@dataclass
class Search:
    """What was found: rows of all candidates, the chosen one, and what it cost."""

    chosen: Candidate
    rows: list[dict] = field(default_factory=list)
    seconds: float = 0.0
    exhaustive_seconds: float = 0.0  # predicted, of one whole solve with every candidate, at least


@dataclass
class Launcher:
    """One launch on the problem after another."""

    problem: Problem
    resources: Resources
    on_object: Callable[[dict], None]
    run: Callable

    def __call__(self, rows: Sequence[dict], size: str | None = None, **options) -> launches.Run:
        problem = self.problem if size is None else replace(self.problem, size=size)
        candidates = [row["candidate"] for row in rows]
        return self.run(problem, candidates, self.resources, on_object=self.on_object, **options)


def search(
    problem: Problem,
    candidates: Sequence[Candidate],
    resources: Resources,
    smaller: str | None = None,
    on_object: Callable[[dict], None] = lambda found: None,
    run: Callable = launches.run,
) -> Search:
    """`smaller`: a size that tells of iterations (catalogue.smaller_size)."""
    begin = time.monotonic()
    launch = Launcher(problem, resources, on_object, run)
    rows = [{"candidate": each, **each.as_task()} for each in candidates]
    running = solve_smaller(launch, rows, smaller) if smaller else rows
    sample(launch, running)
    running = [row for row in running if "seconds_per_iteration" in row]
    if not running:
        reason = next((row["not_applicable"] for row in rows if "not_applicable" in row), "")
        raise failed("no variant can solve the problem", reason)
    sample(launch, near(running, UNCERTAIN))
    finalists = near(running, NEAR)[:FINALISTS] if smaller else near(running, UNCERTAIN)[:FINALISTS_UNCOUNTED]
    ended = launch(finalists)
    for row, result in results_by_row(finalists, ended):
        row |= {name: result[name] for name in ("seconds", "iterations", "setup_seconds")}
        row["right"] = result.get("checked", {}).get("right")
    right = [row for row in finalists if "seconds" in row and row["right"] is not False]
    if not right:
        wrong = ", ".join(row["candidate"].text for row in finalists)
        raise failed("the fastest variants give wrong solutions", wrong, "name another --variant")
    chosen = min(right, key=lambda row: row["seconds"])
    return Search(chosen["candidate"], rows, time.monotonic() - begin, exhaustive(rows, chosen))


def results_by_row(rows: Sequence[dict], run: launches.Run) -> list[tuple[dict, dict]]:
    """Each row with its result; one that does not fit is marked."""
    by_key = {key_of(result): result for result in run.results}
    found = []
    for row in rows:
        result = by_key.get((row["candidate"].variant, tuple(sorted(row["candidate"].parameters))), {})
        if "not_applicable" in result:
            row["not_applicable"] = result["not_applicable"]
        elif result:
            found.append((row, result))
    return found


def solve_smaller(launch: Launcher, rows: list[dict], size: str) -> list[dict]:
    """The rows that are worth a look at the problem itself. One that does not fit the smaller problem may fit it."""
    counted = results_by_row(rows, launch(rows, size, check=False))
    for row, result in counted:
        row["iterations_counted"] = max(1, result["iterations"])
        row["small_seconds"] = result["seconds"]
    least = min((row["small_seconds"] for row, _ in counted), default=0.0)
    for row in rows:
        row.pop("not_applicable", None)
    return [row for row in rows if row.get("small_seconds", 0.0) <= HOPELESS * least]


def sample(launch: Launcher, rows: Sequence[dict]) -> None:
    for row, result in results_by_row(rows, launch(rows, sample=SAMPLE)):
        seconds = result["seconds"] / max(1, result["iterations"])
        row["seconds_per_iteration"] = min(seconds, row.get("seconds_per_iteration", seconds))
        row["setup_seconds"] = min(result["setup_seconds"], row.get("setup_seconds", result["setup_seconds"]))


def near(rows: Sequence[dict], times: float) -> list[dict]:
    """The rows with about the least product of time and iterations, ascending. A row whose iterations nobody knows is
    taken to need as many as the others on average."""
    usual = mean_iterations(rows)
    product = {id(row): row["seconds_per_iteration"] * row.get("iterations_counted", usual) for row in rows}
    ascending = sorted(rows, key=lambda row: product[id(row)])
    return [row for row in ascending if product[id(row)] <= times * product[id(ascending[0])]]


def mean_iterations(rows: Sequence[dict]) -> float:
    return mean([row["iterations_counted"] for row in rows if "iterations_counted" in row] or [1.0])


def exhaustive(rows: Sequence[dict], solved: dict) -> float:
    """Predicted seconds of one whole solve with every candidate, at least: iterations by those of the one that was
    solved, and candidates that were not tried on the problem itself, being slower, as long as the others on average."""
    usual = mean_iterations(rows)
    scale = solved["iterations"] / solved.get("iterations_counted", usual)
    tried = [row for row in rows if "seconds_per_iteration" in row]
    of_one = [
        row["setup_seconds"] + row["seconds_per_iteration"] * scale * row.get("iterations_counted", usual)
        for row in tried
    ]
    untried = sum("small_seconds" in row and "seconds_per_iteration" not in row for row in rows)
    return sum(of_one) + untried * mean(of_one)
