"""`--variant auto`: the fastest variant by measurement, at a fraction of the cost of solving with every one.

1. Every candidate solves a smaller problem to the end, where the size has one. That tells how many iterations each
   needs relative to the others. Its times only rule out the hopeless: its data lie in caches, and its threads wait for
   each other more often.
2. The others run a few iterations of the problem itself: seconds per iteration. Those that may win do it again.
3. The candidates with the least product of time and iterations solve the problem to the end, and the fastest right one
   is chosen. Iterations of the smaller problem compare only what needs about as many of them: multigrid may need 1
   there and 19 here. So the best of each class of iterations are solved.

Other programs only add time, so each step has several turns and the least time of a candidate counts. The choice is
stored, so that one disturbed run must not decide it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, median

from kumihimo.app import launches
from kumihimo.app.catalogue import Candidate
from kumihimo.app.figures import key_of
from kumihimo.app.launches import Problem, Resources
from kumihimo.errors import BadInput, failed

SAMPLE = 6  # iterations
TURNS_OF_SMALLER, TURNS_OF_WHOLE = 3, 2
HOPELESS = 6.0  # times the least time on the smaller problem
PROMISING = 2.0  # times the least time on the smaller problem, up to which a sample is repeated
UNCERTAIN = 1.3  # times the least product, up to which it is repeated
NEAR = 1.06  # times the least product of a class, up to which only whole solves decide
FAR = 20.0  # times the least product, beyond which another class is hopeless
SAME_CLASS = 1.5  # ratio of one number of iterations to the next in a class
FINALISTS, FINALISTS_UNCOUNTED = 3, 6  # of a class; without a smaller problem nobody knows the iterations


@dataclass
class Search:
    """What was found: rows of all candidates, the chosen one, and what it cost."""

    chosen: Candidate
    rows: list[dict] = field(default_factory=list)
    seconds: float = 0.0
    exhaustive_seconds: float = 0.0  # predicted, of TURNS_OF_WHOLE whole solves with every candidate, at least


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
    sample(launch, may_win(running))
    finalists = finalists_of(running)
    for row, runs in runs_by_row(finalists, launch(finalists, turns=TURNS_OF_WHOLE)):
        fastest = min(runs, key=lambda run: run["seconds"])
        row |= {name: fastest[name] for name in ("seconds", "iterations", "setup_seconds")}
        row["right"] = all(run["checked"]["right"] for run in runs if "checked" in run)
    right = [row for row in finalists if row.get("right")]
    if not right:
        wrong = ", ".join(row["candidate"].text for row in finalists)
        raise failed("the fastest variants give wrong solutions", wrong, "name another --variant")
    chosen = min(right, key=lambda row: row["seconds"])
    return Search(chosen["candidate"], rows, time.monotonic() - begin, exhaustive(rows))


def runs_by_row(rows: Sequence[dict], run: launches.Run) -> list[tuple[dict, list[dict]]]:
    """Each row with its runs; one that does not fit is marked."""
    by_key: dict[tuple, list[dict]] = {}
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


def solve_smaller(launch: Launcher, rows: list[dict], size: str) -> list[dict]:
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


def within_small(rows: Sequence[dict], times: float) -> list[dict]:
    """The rows with about the least time on the smaller problem, and those that did not solve it."""
    least = min((row["small_seconds"] for row in rows if "small_seconds" in row), default=0.0)
    return [row for row in rows if row.get("small_seconds", 0.0) <= times * least]


def sample(launch: Launcher, rows: Sequence[dict]) -> None:
    for row, runs in runs_by_row(rows, launch(rows, sample=SAMPLE)):
        for run in runs:
            seconds = run["seconds"] / max(1, run["iterations"])
            row["seconds_per_iteration"] = min(seconds, row.get("seconds_per_iteration", seconds))
            row["setup_seconds"] = min(run["setup_seconds"], row.get("setup_seconds", run["setup_seconds"]))


def may_win(rows: Sequence[dict]) -> list[dict]:
    """By the product, or by the smaller problem if a disturbance has spoiled the sample."""
    chosen = {id(row) for row in [*near(rows, UNCERTAIN), *within_small(rows, PROMISING)]}
    return [row for row in rows if id(row) in chosen]


def near(rows: Sequence[dict], times: float) -> list[dict]:
    """The rows with about the least product of time and iterations, ascending. A row whose iterations nobody knows is
    taken to need as many as the others on average."""
    usual = mean_iterations(rows)
    product = {id(row): row["seconds_per_iteration"] * row.get("iterations_counted", usual) for row in rows}
    ascending = sorted(rows, key=lambda row: product[id(row)])
    return [row for row in ascending if product[id(row)] <= times * product[id(ascending[0])]]


def finalists_of(rows: Sequence[dict]) -> list[dict]:
    classes = classes_of(rows)
    if not classes:
        return near(rows, UNCERTAIN)[:FINALISTS_UNCOUNTED]
    worth = {id(row) for row in near(rows, FAR)}
    uncounted = [row for row in rows if "iterations_counted" not in row]
    found = []
    for each in [*classes, uncounted]:
        found += [row for row in near(each, NEAR)[:FINALISTS] if id(row) in worth] if each else []
    return found


def classes_of(rows: Sequence[dict]) -> list[list[dict]]:
    """Rows that need about as many iterations on the smaller problem."""
    counted = sorted((row for row in rows if "iterations_counted" in row), key=lambda row: row["iterations_counted"])
    found: list[list[dict]] = []
    for row in counted:
        if found and row["iterations_counted"] <= SAME_CLASS * found[-1][-1]["iterations_counted"]:
            found[-1].append(row)
        else:
            found.append([row])
    return found


def mean_iterations(rows: Sequence[dict]) -> float:
    return mean([row["iterations_counted"] for row in rows if "iterations_counted" in row] or [1.0])


def exhaustive(rows: Sequence[dict]) -> float:
    """Predicted seconds of TURNS_OF_WHOLE whole solves with every candidate, at least: iterations as those of the
    solved ones of the class, and every candidate as long as the median of those that were tried on the problem itself,
    which are the faster ones."""
    usual = mean_iterations(rows)
    of_class = {id(row): scale_of(each, usual) for each in classes_of(rows) for row in each}
    every = scale_of(rows, usual)
    tried = [row for row in rows if "seconds_per_iteration" in row]
    of_one = median(
        row["setup_seconds"]
        + row["seconds_per_iteration"] * row.get("iterations_counted", usual) * (of_class.get(id(row)) or every)
        for row in tried
    )
    untried = sum("small_seconds" in row and "seconds_per_iteration" not in row for row in rows)
    return TURNS_OF_WHOLE * (len(tried) + untried) * of_one


def scale_of(rows: Sequence[dict], usual: float) -> float:
    """Iterations of the problem for one of the smaller problem, by the rows that solved both; 0: none did."""
    found = [row["iterations"] / row.get("iterations_counted", usual) for row in rows if "iterations" in row]
    return median(found) if found else 0.0
