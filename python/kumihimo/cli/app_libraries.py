"""`kumihimo app NAME --mpi openmpi,mpich`: the table of several MPI libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kumihimo import launcher_environment
from kumihimo.app import libraries
from kumihimo.app.catalogue import Candidate
from kumihimo.app.launches import Problem, Resources
from kumihimo.cli import output
from kumihimo.errors import not_applicable, wrong_value
from kumihimo.quantities import seconds_text

STATISTICS = ("min", "max", "mean", "stddev", "median")
COLUMNS = ("library", "variant", "runs>", "iterations>", *(f"{name}>" for name in STATISTICS), "interval>", "checked")


def refuse_what_needs_one(library: str, page: object, resources: Sequence[Resources]) -> None:
    """Several libraries run on one number of ranks and threads, and make no page."""
    if page is not None:
        raise not_applicable(
            "--page takes one MPI library", f"--mpi {library}", "leave --page out, or name one library"
        )
    if len(resources) > 1:
        rule = "several MPI libraries are compared on one number of ranks and threads"
        raise wrong_value(rule, f"{len(resources)} combinations", "give one number each to --ranks and --threads")
    place = launcher_environment.place()
    if place is not None and place.ranks > 1:
        rule = "several MPI libraries are not compared under a launcher, which has one"
        raise not_applicable(rule, f"--mpi {library}", "run the command without a launcher")


def run(
    problem: Problem,
    candidates: Sequence[Candidate],
    on: Mapping[str, Resources],
    *,
    runs: int,
    sample: int | None,
    check: bool,
    as_json: bool,
) -> int:
    rows = libraries.compare(problem, candidates, on, runs=runs, sample=sample, check=check)
    resources = next(iter(on.values()))
    if as_json:
        head = {"application": problem.application.name, "size": problem.size, "method": problem.method}
        output.print_json({**head, "ranks": resources.ranks, "results": rows, **output.own_cost()})
    else:
        title = f"Time of an iteration of {problem.application.name}, size {problem.size}, {resources.ranks} ranks"
        output.print_table(title, COLUMNS, [cells_of(row) for row in rows])
        output.print_line("interval: of the median, 95 %, from 6 runs on; the libraries' launches alternate")
    return 1 if any(row.get("right") is False for row in rows) else 0


def cells_of(row: dict) -> list[str]:
    library = f"{row['library']} {row['version']}".strip()
    name = Candidate(row["variant"], tuple(row["parameters"].items())).text
    if "not_applicable" in row:
        return [library, name, *[""] * (len(COLUMNS) - 3), row["not_applicable"]]
    return [
        library,
        name,
        str(row["runs"]),
        str(row["iterations"]),
        *("" if row[each] is None else seconds_text(row[each]) for each in STATISTICS),
        " to ".join(map(seconds_text, row["interval"] or [])),
        {True: "right", False: "WRONG", None: "no"}[row["right"]],
    ]
