"""`kumihimo tune kernel FILE.py` and `kumihimo tune kernel -- ./program`: the kernels of a program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kumihimo.cli import options, output, progress
from kumihimo.kernel import choices, programs, search, session
from kumihimo.processes import package_files
from kumihimo.text import files, quantities
from kumihimo.text.errors import missing, wrong_value
from kumihimo.tune import wisdom
from kumihimo.tune.kernels import candidate_text, is_row_of, reason, row_of
from kumihimo.tune.launches import BudgetClock

WORDS = "kumihimo.tune_program.words"  # of the command line after --
INSTALL = "install it by pip install -r requirements/search.txt"
MOST_SIZE = 2**40


def include_folder() -> Path:
    return package_files.folder("include")


def show_include_folder(as_json: bool) -> None:
    if as_json:
        output.print_json({"include": str(include_folder()), **output.own_cost()})
    else:
        print(include_folder())


def is_wanted(names: Sequence[str]) -> bool:
    return words() is not None or any(map(programs.is_file_name, names))


def words() -> list[str] | None:
    return click.get_current_context().meta.get(WORDS)


def refuse_programs(names: Sequence[str]) -> None:
    """Refuses a program's path in a command line without `--`."""
    for place, name in enumerate(names):
        if "/" in name:
            advice = f"write kumihimo tune kernel -- {' '.join(names[place:])}"
            raise wrong_value("a program must stand after --", f"'{name}'", advice)


def started(names: Sequence[str], only: str | None, budget: float) -> tuple[session.Session, list[str]]:
    """The program, and the names of its kernels that are wanted. It must call a kernel within the budget."""
    start_seconds = min(budget, session.START_SECONDS)
    wanted = [name for name in (only or "").split(",") if name]
    program = words()
    if program is None:
        if len(names) > 1:
            raise wrong_value("a file of kernels must be named alone", " ".join(names))
        path, of_word = programs.of_file(names[0])
        return session.of_file(path, start_seconds), of_word + wanted
    if names:
        raise wrong_value("nothing but options may stand before --", " ".join(names))
    if not program:
        raise missing("the program after --", "write kumihimo tune kernel -- ./program")
    return session.Session(program, start_seconds), wanted


def tune(
    names: Sequence[str],
    only: str | None,
    trips: str | None,
    strategy: str | None,
    budget: float,
    explain: bool,
    as_json: bool,
) -> int:
    options.refuse_beside("a program with kernels", "operation", "kind", "sizes", "out")
    search.strategy_for(strategy or "", 1)
    sizes = parsed_sizes(trips)
    clock = BudgetClock(budget)
    program, wanted = started(names, only, budget)
    folder = choices.folder()
    files.check_folder(folder, "the folder of kernel wisdom must be writable", "set XDG_DATA_HOME")
    found = programs.TunedKernels()
    interruption = progress.Interruption()
    with program, interruption:
        listing, kernels, steps = programs.steps(program, wanted, sizes)
        with progress.bar("tuning", steps, lines=True) as advance:
            made = lambda: wisdom.made_by(clock)  # noqa: E731
            programs.tune(program, listing, kernels, sizes, strategy or "", clock, made, advance, found)
    report = {
        "wisdom": found.files,
        "not_kept": found.not_kept,
        "made": wisdom.made_by(clock),
        "results": found.decisions,
        "choices": found.choices,
        "wrong": refused(found.decisions),
        "unavailable": refused(found.decisions, unavailable=True),
        "left_untuned": found.left,
        "failed": found.failed,
    }
    if as_json:
        output.print_json({**report, "interrupted": interruption.code != 0, **output.own_cost()})
    else:
        show(report, explain)
    if not strategy and any(row["search"] == "random" for row in report["results"]):
        output.message(f"Optuna is not installed: random search instead of bayesian; {INSTALL}")
    if interruption.code:
        output.message("interrupted; the results so far are kept" if found.files else "interrupted")
    return interruption.code or int(any(report[name] for name in ("wrong", "failed", "not_kept")))


def parsed_sizes(text: str | None) -> list[int]:
    sizes = []
    for word in (text or "").split(",") if text else []:
        is_number = word.strip().isdecimal() and len(word.strip()) <= len(str(MOST_SIZE))
        if not is_number or not 1 <= int(word) <= MOST_SIZE:
            rule = f"--size must be whole numbers of trips such as 100,1000, each at most {MOST_SIZE}"
            raise wrong_value(rule, f"'{word.strip()}'")
        sizes.append(int(word))
    return sizes


def refused(decisions: Sequence[dict], unavailable: bool = False) -> list[str]:
    """Variants that are wrong, each with the input; or those that this machine cannot run, each with the reason."""
    found = [
        f"{decision['kernel']}: {candidate_text(row)}: {row['refused']}"
        for decision in decisions
        for row in decision["tried"]
        if "refused" in row and row.get("unavailable", False) == unavailable
    ]
    return list(dict.fromkeys(found))


def show(report: dict, explain: bool) -> None:
    if explain:
        show_candidates(report["results"])
    columns = ("kernel", "size>", "variant", "time>", "golden>", "check", "why")
    if report["results"]:
        output.print_table("", columns, [summary(row) for row in report["results"]])
    output.print_list("Wrong or failing, never chosen:", report["wrong"])
    output.print_list("Not available on this machine:", report["unavailable"])
    output.print_list("Searched in part, for lack of time:", cut_short(report["results"]))
    output.print_list("Left untuned:", [left_text(each) for each in report["left_untuned"]])
    output.print_list("Choices that could not be written:", report["not_kept"])
    for path in report["wisdom"]:
        print()
        output.print_line(f"The choices are in {path}; the program uses them.")


def cut_short(decisions: Sequence[dict]) -> list[str]:
    """Exhaustive searches that the budget ended."""
    return [
        f"{row['kernel']} of size {row['size']}: searched {row['measured']} of {row['candidates']} candidates"
        for row in decisions
        if row["search"] == "exhaustive" and row["measured"] < row["candidates"]
    ]


def summary(row: dict) -> list[str]:
    times = [row_of(row, row[which])["seconds"] for which in ("chosen", "untuned")]
    why = reason(row)
    return [
        row["kernel"],
        str(row["size"]),
        candidate_text(row["chosen"]),
        *map(quantities.seconds_text, times),
        row["check"],
        why,
    ]


def show_candidates(rows: Sequence[dict]) -> None:
    lines = []
    for row in rows:
        for each in row["tried"]:
            time = quantities.seconds_text(each["seconds"]) if "seconds" in each else ""
            ratio = f"{each['ratio']:.2f}" if "ratio" in each else ""
            interval = f"[{each['ratio_low']:.2f}, {each['ratio_high']:.2f}]" if "ratio" in each else ""
            note = f"refused: {each['refused']}" if "refused" in each else ""
            note = note or (f"dropped: {each['dropped']}" if each.get("dropped") else "")
            mark = "*" if is_row_of(each, row["chosen"]) else ""
            head = [row["kernel"], str(row["size"]), candidate_text(each), mark]
            lines.append([*head, time, ratio, interval, note])
    if lines:
        columns = ("kernel", "size>", "variant", "", "time>", "of golden>", "interval", "")
        output.print_table("All candidates that were tried; * was chosen", columns, lines)
        for kernel, search_of in {row["kernel"]: row for row in rows}.items():
            tried = f"{search_of['measured']} of {search_of['candidates']} candidates"
            output.print_line(f"{kernel}: {search_of['search']} search, {tried} per size")
        print()


def left_text(left: dict) -> str:
    sizes = ", ".join(map(str, left["sizes"]))
    return f"{left['kernel']}{' of size ' + sizes if sizes else ''}: {left['reason']}"
