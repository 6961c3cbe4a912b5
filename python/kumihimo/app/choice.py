"""`--variant auto --tune`: the fastest variant by measurement, at a fraction of the cost of solving with every one.

1. Every candidate solves a smaller problem to the end, where the size has one. That tells which candidates need about
   the same number of iterations. Its times only rule out the hopeless: its data lie in caches, and its threads wait for
   each other more often.
2. The others run a few iterations of the problem itself: seconds per iteration. Those that may win do it again.
3. The fastest candidates with different numbers of iterations solve the problem to the end, because numbers of the
   smaller problem do not carry over: multigrid may need 1 there and 19 here, and few colours cost more iterations on a
   larger problem. Candidates that needed as many as one of them on the smaller problem are taken to need as many here.
4. Those with the least product of time and iterations solve the problem again, and the fastest right one is chosen.

Other programs only add time, so each step has several turns and the least time of a candidate counts. The choice is
stored, so that one disturbed run must not decide it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, median

from kumihimo.app import launches
from kumihimo.app.catalogue import AppCandidate
from kumihimo.app.figures import key_of
from kumihimo.app.launches import AppProblem, Resources
from kumihimo.text.errors import BadInput, failed
from kumihimo.text.json_types import JsonObject

SAMPLE = 6  # iterations
TURNS_OF_SMALLER, TURNS_OF_WHOLE = 3, 2
HOPELESS = 6.0  # times the least time on the smaller problem
PROMISING = 2.0  # times the least time on the smaller problem, up to which a sample is repeated
UNCERTAIN = 1.3  # times the least product, up to which it is repeated
SAME_NUMBER = 1.02  # ratio of numbers of iterations on the smaller problem that count as one
CARRIES_OVER = 1.5  # ratio of one number to the next up to which both problems compare them about alike
PLAUSIBLE = 1.6  # times the least product among such numbers, up to which a whole solve tells the iterations
FAR = 20.0  # the same among all numbers
COUNTED = 3  # whole solves for such numbers
NEAR = 1.1  # times the least product, up to which only whole solves decide
WHOLE_SOLVES = 8  # about
FINALISTS, FINALISTS_UNCOUNTED = 3, 6  # without a smaller problem nobody knows the iterations


@dataclass
class SearchResult:
    """Outcome of a search: rows of all candidates, the chosen one, and what it cost."""

    chosen: AppCandidate
    rows: list[JsonObject] = field(default_factory=list)
    seconds: float = 0.0
    exhaustive_seconds: float = 0.0  # predicted, of TURNS_OF_WHOLE whole solves with every candidate, at least


@dataclass
class ProblemLauncher:
    """One launch on the problem after another."""

    problem: AppProblem
    resources: Resources
    on_object: Callable[[JsonObject], None]
    run: Callable

    def __call__(self, rows: Sequence[JsonObject], size: str | None = None, **options) -> launches.AppRun:
        problem = self.problem if size is None else replace(self.problem, size=size)
        candidates = [row["candidate"] for row in rows]
        return self.run(problem, candidates, self.resources, on_object=self.on_object, **options)


def search(
    problem: AppProblem,
    candidates: Sequence[AppCandidate],
    resources: Resources,
    smaller: str | None = None,
    on_object: Callable[[JsonObject], None] = lambda found: None,
    run: Callable = launches.run,
) -> SearchResult:
    """`smaller`: a size that tells of iterations (catalogue.shares)."""
    begin = time.monotonic()
    launch = ProblemLauncher(problem, resources, on_object, run)
    rows = [{"candidate": each, **each.as_task()} for each in candidates]
    running = solve_smaller(launch, rows, smaller) if smaller else rows
    sample(launch, running)
    running = [row for row in running if "seconds_per_iteration" in row]
    if not running:
        reason = next((row["not_applicable"] for row in rows if "not_applicable" in row), "")
        raise failed("no variant can solve the problem", reason)
    sample(launch, may_win(running))
    if any("iterations_counted" in row for row in running):
        solve(launch, to_count(running))
        running = [row for row in running if may_be_chosen(row)]
        finalists = near(running, NEAR)[:FINALISTS] if running else []
    else:
        finalists = near(running, UNCERTAIN)[:FINALISTS_UNCOUNTED]
    for turn in range(1, TURNS_OF_WHOLE + 1):
        solve(launch, [row for row in finalists if may_be_chosen(row) and row.get("solves", 0) < turn])
    solved = [row for row in rows if "seconds" in row]
    right = [row for row in solved if row["right"]]
    if not solved:
        raise failed(
            "no variant can solve the problem", next(r["not_applicable"] for r in rows if "not_applicable" in r)
        )
    if not right:
        wrong = ", ".join(row["candidate"].text for row in solved)
        raise failed("the fastest variants give wrong solutions", wrong, "name another --variant")
    chosen = min(right, key=lambda row: row["seconds"])
    return SearchResult(chosen["candidate"], rows, time.monotonic() - begin, exhaustive(rows))


def may_be_chosen(row: JsonObject) -> bool:
    return "not_applicable" not in row and row.get("right", True)


def solve(launch: ProblemLauncher, rows: Sequence[JsonObject]) -> None:
    """Once to the end. The least time of a row's solves counts, and one wrong solution."""
    for row, (run,) in runs_by_row(rows, launch(rows)) if rows else ():
        row["solves"] = row.get("solves", 0) + 1
        row["right"] = row.get("right", True) and run.get("checked", {}).get("right", True)
        row["setup_seconds"] = min(run["setup_seconds"], row["setup_seconds"])
        row["seconds"], row["iterations"] = min(run["seconds"], row.get("seconds", run["seconds"])), run["iterations"]


def runs_by_row(rows: Sequence[JsonObject], run: launches.AppRun) -> list[tuple[JsonObject, list[JsonObject]]]:
    """Each row with its runs; one that does not fit is marked."""
    by_key: dict[tuple, list[JsonObject]] = {}
    for result in run.results:
        by_key.setdefault(key_of(result), []).append(result)
    found = []
    for row in rows:
        runs = by_key.get((row["candidate"].variant, tuple(sorted(row["candidate"].parameters))), [])
        if unfit := next((each for each in runs if "not_applicable" in each), None):
            row["not_applicable"] = unfit["not_applicable"]
        elif runs:
            found.append((row, runs))
    return found


def solve_smaller(launch: ProblemLauncher, rows: list[JsonObject], size: str) -> list[JsonObject]:
    """The rows that are worth a look at the problem itself. One that does not fit the smaller problem may fit it; all
    are worth it where the smaller problem is too small for the ranks."""
    try:
        ran = launch(rows, size, turns=TURNS_OF_SMALLER, check=False)
    except BadInput:
        return rows
    for row, runs in runs_by_row(rows, ran):
        row["iterations_counted"] = max(1, runs[0]["iterations"])
        row["small_seconds"] = min(run["seconds"] for run in runs)
    for row in rows:
        row.pop("not_applicable", None)
    return within_small(rows, HOPELESS)


def within_small(rows: Sequence[JsonObject], times: float) -> list[JsonObject]:
    """The rows with about the least time on the smaller problem, and those that did not solve it."""
    least = min((row["small_seconds"] for row in rows if "small_seconds" in row), default=0.0)
    return [row for row in rows if row.get("small_seconds", 0.0) <= times * least]


def sample(launch: ProblemLauncher, rows: Sequence[JsonObject]) -> None:
    for row, runs in runs_by_row(rows, launch(rows, sample=SAMPLE)):
        for run in runs:
            seconds = run["seconds"] / max(1, run["iterations"])
            row["seconds_per_iteration"] = min(seconds, row.get("seconds_per_iteration", seconds))
            row["setup_seconds"] = min(run["setup_seconds"], row.get("setup_seconds", run["setup_seconds"]))


def may_win(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """Rows that may win, by the product, or by the smaller problem if a disturbance has spoiled the sample."""
    chosen = {
        id(row) for row in [*near(rows, UNCERTAIN), *(r for r in within_small(rows, PROMISING) if "small_seconds" in r)]
    }
    return [row for row in rows if id(row) in chosen]


def near(rows: Sequence[JsonObject], times: float) -> list[JsonObject]:
    """The rows with about the least product of time and iterations, ascending."""
    iterations = expected_iterations(rows)
    product = {id(row): row["seconds_per_iteration"] * iterations[id(row)] for row in rows}
    ascending = sorted(rows, key=lambda row: product[id(row)])
    return [row for row in ascending if product[id(row)] <= times * product[id(ascending[0])]]


def expected_iterations(rows: Sequence[JsonObject]) -> dict[int, float]:
    """Iterations of each row, by id: its own, where it has solved the problem; else by the row with the nearest number
    on the smaller problem that has. A row whose iterations nobody knows is taken to need as many as the others on
    average.
    """
    solved = [row for row in rows if "iterations" in row and "iterations_counted" in row]

    def of(row: JsonObject) -> float:
        mine: float = row.get("iterations_counted", usual)
        if "iterations" in row or not solved:
            return float(row["iterations"]) if "iterations" in row else mine
        nearest = min(solved, key=lambda one: abs(math.log(one["iterations_counted"] / mine)))
        return float(nearest["iterations"] * mine / nearest["iterations_counted"])

    usual = mean_iterations(rows)
    return {id(row): of(row) for row in rows}


def to_count(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """The rows whose whole solves tell the iterations of the others: of each number of iterations the fastest one,
    where it may win."""
    worth = {id(row) for row in near(rows, FAR)}
    found = []
    for alike in groups([row for row in rows if "iterations_counted" in row], CARRIES_OVER):
        plausible = {id(row) for row in near(alike, PLAUSIBLE)}
        fastest = [near(each, 1.0)[0] for each in groups(alike, SAME_NUMBER)]
        counted = [row for row in near(fastest, PLAUSIBLE) if id(row) in plausible & worth]
        found += counted[:COUNTED]
    return found


def groups(rows: Sequence[JsonObject], ratio: float) -> list[list[JsonObject]]:
    """Rows by their number of iterations on the smaller problem: a group ends where the next one is so much larger."""
    found: list[list[JsonObject]] = []
    for row in sorted(rows, key=lambda row: row["iterations_counted"]):
        if found and row["iterations_counted"] <= ratio * found[-1][-1]["iterations_counted"]:
            found[-1].append(row)
        else:
            found.append([row])
    return found


def mean_iterations(rows: Sequence[JsonObject]) -> float:
    return mean([row["iterations_counted"] for row in rows if "iterations_counted" in row] or [1.0])


def exhaustive(rows: Sequence[JsonObject]) -> float:
    """Predicted seconds of TURNS_OF_WHOLE whole solves with every candidate, at least: every candidate as long as the
    median of those that were tried on the problem itself, which are the faster ones."""
    tried = [row for row in rows if "seconds_per_iteration" in row]
    iterations = expected_iterations(tried)
    of_one = median(row["setup_seconds"] + row["seconds_per_iteration"] * iterations[id(row)] for row in tried)
    untried = sum("small_seconds" in row and "seconds_per_iteration" not in row for row in rows)
    return TURNS_OF_WHOLE * (len(tried) + untried) * of_one
