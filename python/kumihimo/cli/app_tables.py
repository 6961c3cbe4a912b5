"""Output of `kumihimo app`: the list of applications, and the tables of a run."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo.app import catalogue, checkpoints, figures, stepping
from kumihimo.app.catalogue import AppCandidate
from kumihimo.cli import output
from kumihimo.text.quantities import rate_text, seconds_text, share_text

COLUMNS = ("variant", "p×t>", "iters>", "time>", "of bound>", "golden>", "checked")  # 80 characters; page.COLUMNS: all
LONGEST_NAME = 30  # with its parameters, in a table of 80 characters


def list_all(as_json: bool) -> int:
    every = catalogue.applications()
    if as_json:
        rows = [{**vars(each), "variants": list(each.variants), "options": list(each.options)} for each in every]
        output.print_json({"applications": rows, **output.own_cost()})
        return 0
    rows = [(each.name, each.summary, str(len(each.variants)), each.sizes) for each in every]
    output.print_table("", ("application", "what it is", "variants>", "--size"), rows)
    for each in every:
        for title, lines in described(each):
            output.print_list(f"{title}:", [": ".join(line) for line in lines])
    output.print_line("\nkumihimo app NAME --help shows the options of the command and of one application.")
    return 0


def described(application: catalogue.ApplicationRow) -> list[tuple[str, list[tuple[str, str]]]]:
    """Titled lists of its variants, their parameters and its options, each with its meaning."""

    def with_default(meaning: str, default: object) -> str:
        return f"{meaning} [default: {default}]" if default not in ("", None) else meaning

    parameters = {row["name"]: row for variant in application.variants for row in variant["parameters"]}
    return [
        (f"Variants of {application.name}", [(row["name"], row["summary"]) for row in application.variants]),
        (
            f"Parameters of variants of {application.name} (--set NAME=VALUE)",
            [(name, with_default(row["meaning"], row["values"][0])) for name, row in parameters.items()],
        ),
        (
            f"Options of {application.name} (--set NAME=VALUE)",
            [(row["name"], with_default(row["meaning"], row["default"])) for row in application.options],
        ),
    ]


def without_histories(found: dict) -> dict:
    """As --json prints it: histories of the best row alone would be thousands of numbers for each variant."""
    left_out = ("history", "charts", "pictures", "timeline")
    rows = [{name: value for name, value in row.items() if name not in left_out} for row in found["results"]]
    best = figures.best(found["results"])
    kept = {k: v for k, v in found.items() if k not in ("facts", "charts")}
    return {**kept, "history": best["history"], "results": rows}


def cells_of(row: dict) -> list[str]:
    name, on = AppCandidate(row["variant"], tuple(row["parameters"].items())).text, f"{row['ranks']}×{row['threads']}"
    if "not_applicable" in row:
        return [name, on, "", "", "", "", "failed" if row.get("failed") else "n/a"]
    share, ratio = row.get("share_of_bound"), row.get("times_golden")
    return [
        name,
        on,
        str(row["iterations"]),
        seconds_text(row["seconds"]),
        share_text(share) if share else "",
        f"{ratio:.2f}×" if ratio else "",
        {True: "right", False: "WRONG", None: "no"}[row["right"]],
    ]


def places_of(rows: Sequence[dict]) -> set[tuple[int, int]]:
    """Ranks and threads on which something ran."""
    return {(row["ranks"], row["threads"]) for row in rows if "not_applicable" not in row}


def show(found: dict) -> None:
    output.print_table("", *figures.without_empty(COLUMNS, map(cells_of, found["results"])), LONGEST_NAME)
    if steps := stepping.table(found["results"]):
        output.print_line("")
        output.print_table("", *figures.without_empty(stepping.COLUMNS, steps), stepping.LONGEST_NAME)
        output.print_line("lines: changed; pass: one pass over memory / step; by hand: hand-written / step")
    lacking = [f"{row['variant']}: {row['not_applicable']}" for row in found["results"] if "not_applicable" in row]
    output.print_list("Without a result:", list(dict.fromkeys(lacking)))
    for made in found.get("choices", []):
        text = AppCandidate(made["variant"], tuple(made["parameters"].items())).text
        if "search_seconds" in made:
            cost = f"{seconds_text(made['search_seconds'])}, {100 * made['search_seconds'] / made['run_seconds']:.0f} "
            cost += "% of the time of the run"
            if "candidates" in made:
                measured = sum(bool(row["predicted"]) for row in made["tried"])
                cost += f", by {measured} of {made['candidates']} candidates"
            kept = made.get("not_kept") or made.get("from", "no file")
            where = f"the choice is not stored: {kept}" if "not_kept" in made else f"the choice is in {kept}"
            output.print_line(f"chosen: {text} in {cost}; {where}")
        else:
            output.print_line(f"chosen: {text} ({made['from']})")
    if (rates := found["rates"]) and any(row.get("share_of_bound") for row in found["results"]):
        peak = f"{rates['peak_flops'] / 1e9:.3g} GFLOPS"
        on = f"{found['ranks']}×{found['threads']} processors" if len(places_of(found["results"])) > 1 else ""
        output.print_line(
            f"of bound: against triad {rate_text(rates['triad_bytes_per_second'])} and {peak}{on and ' on ' + on}"
        )
    if "checkpoints" in found:
        for text in checkpoints.lines(found["checkpoints"], found["seconds"]):
            output.print_line(text)
    output.print_list("Answer:", [f"{name}: {value}" for name, value in found.get("answer", [])])
    for text in found.get("warnings", []):
        output.print_line(f"warning: {text}")
    for table in found.get("tables", []):
        print()
        columns = [table["columns"][0], *(f"{name}>" for name in table["columns"][1:])]
        title = table["title"] if table.get("of_all") else f"{table['title']}: {found['variant']}"
        output.print_table(title, columns, table["rows"])
        if table.get("of_all"):
            output.print_line(table["caption"])
    if any("times_golden" in row and row["runs"] == 1 for row in found["results"]):
        output.print_line("golden: from one run each, which does not show how far runs differ; use --runs")
