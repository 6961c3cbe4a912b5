"""Figures of runs: medians over turns, shares of what memory and processor allow, scaling."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from kumihimo.app.catalogue import ApplicationRow
from kumihimo.text.errors import failed
from kumihimo.text.json_types import JsonObject


def key_of(result: JsonObject) -> tuple:
    return (result["variant"], tuple(sorted(result["parameters"].items())))


def summary(results: Iterable[JsonObject], about: JsonObject) -> list[JsonObject]:
    """One row a candidate, in the order in which they ran first: the run of median time (of an even
    number of runs the faster of the two in the middle), with the spread of all."""
    by_candidate: dict[tuple, list[JsonObject]] = {}
    for result in results:
        by_candidate.setdefault(key_of(result), []).append(result)
    return [row_of(runs, about) for runs in by_candidate.values()]


def row_of(runs: Sequence[JsonObject], about: JsonObject) -> JsonObject:
    if unfit := next((run for run in runs if "not_applicable" in run), None):
        return {**unfit, "ranks": about["ranks"], "threads": about["threads"]}
    ordered = sorted(runs, key=lambda run: run["seconds"])
    middle = ordered[(len(ordered) - 1) // 2]
    row = {
        **{name: value for name, value in middle.items() if name != "turn"},
        "ranks": about["ranks"],
        "threads": about["threads"],
        "runs": len(runs),
        "seconds_of_runs": [run["seconds"] for run in runs],
        "setup_seconds": median(run["setup_seconds"] for run in runs),
    }
    checks = [run["checked"]["right"] for run in runs if "checked" in run]
    row["right"] = all(checks) if checks else None
    row["kernels"] = [{**kernel, **against_roof(kernel, about.get("rates"))} for kernel in middle["kernels"]]
    if about.get("rates"):
        row["rates"] = about["rates"]
        bounds = [kernel["bound_seconds"] for kernel in row["kernels"] if not kernel.get("setup")]
        row["bound_seconds"] = sum(bounds)
        row["share_of_bound"] = sum(bounds) / middle["seconds"] if middle["seconds"] > 0 else None
    return row


def against_roof(kernel: JsonObject, rates: JsonObject | None) -> JsonObject:
    """Rates of a kernel and what the roofs allow: it cannot take less time than its traffic or its operations. With
    arrays that fit in a cache the share exceeds 1."""
    seconds, traffic, flops = kernel["seconds"], kernel["bytes"], kernel["flops"]
    found: JsonObject = {"bytes_per_second": traffic / seconds if seconds > 0 else None}
    found["flops_per_second"] = flops / seconds if seconds > 0 else None
    if rates:
        bound = max(traffic / rates["triad_bytes_per_second"], flops / rates["peak_flops"])
        found["bound_seconds"] = bound
        found["share_of_bound"] = bound / seconds if seconds > 0 and bound > 0 else None
    return found


def without_empty(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """A table without the columns that have no text in any row."""
    rows = list(rows)
    kept = [i for i in range(len(columns)) if not rows or any(row[i] for row in rows)]
    return [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]


def with_ratios(rows: list[JsonObject], application: ApplicationRow) -> list[JsonObject]:
    """Each with its speed-up over the golden copy on the same ranks and threads, where that ran, and over itself on the
    least of them."""
    golden = {(r["ranks"], r["threads"]): r["seconds"] for r in rows if is_golden(r, application) and "seconds" in r}
    first: dict[tuple, JsonObject] = {}
    for row in rows:
        if "seconds" not in row:
            continue
        base = golden.get((row["ranks"], row["threads"]))
        if base and row["seconds"] > 0:
            row["times_golden"] = base / row["seconds"]
        least = first.setdefault(key_of(row), row)
        workers = row["ranks"] * row["threads"] / (least["ranks"] * least["threads"])
        if row["seconds"] > 0:
            row["speedup"] = least["seconds"] / row["seconds"]
            row["efficiency"] = row["speedup"] / workers
    return rows


def is_golden(row: JsonObject, application: ApplicationRow) -> bool:
    return row["variant"] == application.golden


def best(rows: Sequence[JsonObject]) -> JsonObject:
    """The fastest that is right; of rows none of which is, the fastest."""
    measured = [row for row in rows if "seconds" in row]
    if not measured:
        raise failed(
            "no variant solved the problem",
            next((row["not_applicable"] for row in rows if "not_applicable" in row), ""),
        )
    right = [row for row in measured if row["right"] is not False]
    return min(right or measured, key=lambda row: row["seconds"])
