"""`kumihimo app NAME --mpi openmpi,mpich`: the table of several MPI libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kumihimo.app import libraries
from kumihimo.app.catalogue import AppCandidate
from kumihimo.app.launches import AppProblem, Resources
from kumihimo.cli import output
from kumihimo.processes import launcher_environment
from kumihimo.text.errors import not_applicable, wrong_value
from kumihimo.text.quantities import seconds_text

STATISTICS = ("min", "max", "mean", "stddev", "median")
COLUMNS = ("library", *(f"{name}>" for name in STATISTICS), "interval>", "check")  # 79 characters


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
    problem: AppProblem,
    candidates: Sequence[AppCandidate],
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
        where = f"size {problem.size}, {resources.ranks} ranks"
        output.print_line(f"Time of an iteration of {problem.application.name}, {where}; {versions_of(rows)}")
        show(rows)
    return 1 if any(row.get("right") is False or row.get("failed") for row in rows) else 0


def show(rows: Sequence[dict]) -> None:
    """A table for each variant."""
    for name in dict.fromkeys(map(name_of, rows)):
        mine = [row for row in rows if name_of(row) == name]
        measured = [row for row in mine if "runs" in row]
        iterations = " or ".join(map(str, sorted({row["iterations"] for row in measured})))
        counts = f": {iterations} iterations, {measured[0]['runs']} runs" if measured else ""
        output.print_table(f"\n{name}{counts}", COLUMNS, [cells_of(row) for row in mine])
        lacking = [f"{row['library']}: {row['not_applicable']}" for row in mine if "not_applicable" in row]
        output.print_list("Without a result:", lacking)
    output.print_line("interval: of the median, 95 %, from 6 runs on; the libraries' launches alternate")


def versions_of(rows: Sequence[dict]) -> str:
    return ", ".join(dict.fromkeys(f"{row['library']} {row['version']}".strip() for row in rows))


def name_of(row: dict) -> str:
    return AppCandidate(row["variant"], tuple(row["parameters"].items())).text


def cells_of(row: dict) -> list[str]:
    if "not_applicable" in row:
        return [row["library"], *[""] * (len(COLUMNS) - 2), "failed" if row["failed"] else "n/a"]
    return [
        row["library"],
        *("" if row[each] is None else seconds_text(row[each]) for each in STATISTICS),
        " to ".join(map(seconds_text, row["interval"] or [])),
        {True: "right", False: "WRONG", None: "no"}[row["right"]],
    ]
