"""`kumihimo compare`: results of two machines, libraries, dates or commits side by side, and their history."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Optional

from kumihimo.cli import options, output
from kumihimo.cli.asserts import GROUP as OF_ASSERTS
from kumihimo.cli.options import argument, option, written
from kumihimo.cli.paths import WrittenWhole
from kumihimo.keep import comparison, observed, outputs, page
from kumihimo.keep.checks import AssertVerdict
from kumihimo.keep.comparison import FASTER, SLOWER, UNKNOWN, ComparedFigure, ComparedFiles
from kumihimo.keep.history import HistoryRun, HistorySeries, LevelChange, ResultHistory
from kumihimo.keep.judge import MET, MISSED, Estimate
from kumihimo.processes import child_output
from kumihimo.text.errors import missing, wrong_value
from kumihimo.text.quantities import counted, rate_text, seconds_text

GIT_SECONDS = 10
GROUP = "History"


def command(
    results: argument("[FILE...]", "JSON of any command's --json; the first is the base.", Optional[list[Path]]) = None,
    least: option("--least PERCENT", "Smallest change that counts, in percent.") = "2",
    without: option("--without NAMES", "Members of results that may differ: machine,ranks.") = None,
    history: option("--history FILE", "Add the files to this database, and look for changes.", Path, GROUP) = None,
    commit: option("--commit NAME", "Commit of the results [default: HEAD of the folder at hand].", str, GROUP) = None,
    date: option("--date DATE", "Date of the results: 2026-11-29T21:00 [default: of the file].", str, GROUP) = None,
    machine: option("--machine -m NAME", "Machine of the results [default: this one].", str, GROUP) = None,
    accept: option("--accept", "Accept the present level: earlier changes raise no alarm.", group=GROUP) = False,
    out: written("--page FILE", "Write a page that plots the history.", WrittenWhole, GROUP) = None,
    junit: written("--junit FILE", "Write the verdicts as JUnit XML to this file.", group=OF_ASSERTS) = None,
    as_json: options.Json = False,
) -> int:
    """Compare results of two or more machines, libraries, dates or commits, or of a history.

    The exit code is 1 if a result is slower than in the first file, or if the last change of a history is a regression
    that --accept has not accepted.

    \b
    Examples:
    kumihimo compare before.json after.json
    kumihimo compare k.json fugaku.json --without machine
    kumihimo compare today.json --history results.sqlite --page history.html
    """
    files = results or []
    threshold = checked_least(least)
    members = [word.strip() for word in without.split(",")] if without else []
    if history is None:
        options.refuse_beside("a comparison without --history", "commit", "date", "machine", "accept", "out")
        if len(files) < 2:
            raise missing("the file to compare with", "name two files, or add --history FILE")
    if history is not None and len(files) != 1:
        options.refuse_beside(f"--history with {counted(len(files), 'file')}", "commit", "date")
    refuse_results([*files, *([history] if history else [])], page=out, junit=junit)
    rows = [observed.rows_in(path, members) for path in files]
    found: dict = {"command": shlex.join(["kumihimo", *sys.argv[1:]])}
    told: list[tuple[Path, ComparedFiles]] = []
    if len(files) > 1:
        told = [(path, comparison.compared(rows[0], other, threshold)) for path, other in zip(files[1:], rows[1:])]
        found["comparisons"] = [as_object(files[0], path, each) for path, each in told]
    judged: list[tuple[HistorySeries, list[LevelChange]]] = []
    if history is not None:
        runs = [run_of(path, commit, date, machine, len(files)) for path in files]
        with ResultHistory(history, new=bool(files)) as database:
            for run, each in zip(runs, rows):
                database.add(run, each)
            if accept:
                database.accept()
            judged = [(series, series.changes(threshold)) for series in database.series()]
        if not judged:
            raise wrong_value("a history must have a run", history, "name a file of results to add")
        found["history"] = [series_object(*each) for each in judged]
    if as_json:
        output.print_json({**found, **output.own_cost()})
    else:
        show(files, told, judged)
    if junit is not None:
        verdicts = [figure.as_assert(files[0].name) for _, each in told for figure in each.figures]
        verdicts += [verdict_of(*each) for each in judged]
        output.write(junit, outputs.junit(verdicts, found["command"]))
    if out is not None:
        output.write(out, page.render(judged, str(history)))
        if not as_json:
            output.print_line(f"page: {out}")
    slower = any(each.count(SLOWER) for _, each in told)
    return int(slower or any(series.alarm(changes) for series, changes in judged))


def checked_least(text: str) -> float:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text.rstrip("% ")) or float(text.rstrip("% ")) >= 100:
        raise wrong_value("--least must be a percentage below 100", f"'{text}'")
    return float(text.rstrip("% ")) / 100


# --- a run of the history


def run_of(path: Path, commit: str | None, date: str | None, machine: str | None, files: int) -> HistoryRun:
    when = checked_date(date) if date else datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
    version = commit or (head() if files == 1 else "")
    return HistoryRun(when.strftime("%Y-%m-%d %H:%M:%S"), version, machine or this_machine(), str(path))


def checked_date(text: str) -> datetime:
    with contextlib.suppress(ValueError):
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)
    raise wrong_value("--date must be a date and perhaps a time, as 2026-11-29T21:00", f"'{text}'")


def head() -> str:
    """The commit of the folder at hand, short; empty where there is none."""
    with contextlib.suppress(OSError, child_output.TimedOut):
        done = child_output.run(["git", "rev-parse", "--short", "HEAD"], seconds=GIT_SECONDS)
        return done.stdout.strip() if done.returncode == 0 else ""
    return ""


def this_machine() -> str:
    """Name of this machine, by its processor and their number, as wisdom has it."""
    from kumihimo.kernel import identity

    found = identity.this_machine()
    return ", ".join(str(value) for value in found.values() if value)


# --- output


def verdict_of(series: HistorySeries, changes: Sequence[LevelChange]) -> AssertVerdict:
    """Missed by a regression that nobody has accepted."""
    alarm = series.alarm(changes)
    told = alarm or (changes[-1] if changes else None)
    return AssertVerdict(
        "no regression in the history",
        page.name_of(series, several=True),
        MISSED if alarm else MET,
        found=page.change_text(series, told) if told else f"no change in {counted(len(series.runs), 'run')}",
        ratio=Estimate.exactly(told.times) if told else None,
        runs=len(series.runs),
    )


def refuse_results(results: Sequence[Path], **written: Path | None) -> None:
    """Refuses to write over what is compared."""
    for option_name, path in written.items():
        if path is not None and path.exists() and any(each.exists() and each.samefile(path) for each in results):
            raise wrong_value(f"--{option_name} must be another file than those that are read", path, "name a new file")


def as_object(first: Path, other: Path, found: ComparedFiles) -> dict:
    return {
        "first": str(first),
        "other": str(other),
        "results": [each.as_object() for each in found.figures],
        "regressions": found.count(SLOWER),
        "only_first": found.only_first,
        "only_other": found.only_other,
    }


def series_object(series: HistorySeries, changes: Sequence[LevelChange]) -> dict:
    alarm = series.alarm(changes)
    return {
        "key": series.key,
        "figure": series.figure,
        "machine": series.machine,
        "runs": len(series.runs),
        "changes": [
            {
                "date": series.runs[change.at].date,
                "commit": series.runs[change.at].version or None,
                "run": change.at,
                "times_as_slow": change.times,
                "chance": change.chance,
            }
            for change in changes
        ],
        "regression": alarm is not None,
    }


def show(
    files: Sequence[Path],
    told: Sequence[tuple[Path, ComparedFiles]],
    judged: Sequence[tuple[HistorySeries, list[LevelChange]]],
) -> None:
    for path, found in told:
        show_comparison(files[0], path, found)
    if judged:
        show_history(judged)


COLUMNS = ("result", "first>", "other>", "times as slow>", "interval>", "verdict")
LONGEST_NAME = 44


def show_comparison(first: Path, other: Path, found: ComparedFiles) -> None:
    rows = [
        [
            named(each),
            value_text(each.figure, each.first),
            value_text(each.figure, each.other),
            f"{each.times.value:.3f}",
            f"{each.times.low:.2f}..{each.times.high:.2f}",
            each.verdict,
        ]
        for each in comparison.worst(found)
    ]
    output.print_table(f"{other} beside {first}", COLUMNS, rows, LONGEST_NAME)
    counts = {verdict: found.count(verdict) for verdict in (SLOWER, FASTER, UNKNOWN)}
    numbers = f"{counts[SLOWER]} slower, {counts[FASTER]} faster, {counts[UNKNOWN]} cannot be told"
    output.print_line(f"{counted(len(found.figures), 'result')}: {numbers}")
    output.print_list(f"Only in {first}:", shortened(found.only_first))
    output.print_list(f"Only in {other}:", shortened(found.only_other))


def named(each: ComparedFigure) -> str:
    name = each.key or "whole run"
    return name if each.figure == "seconds" else f"{name}, {each.figure.replace('_', ' ')}"


def value_text(figure: str, found: Estimate) -> str:
    if figure == "seconds":
        return seconds_text(found.value)
    return rate_text(found.value) if figure == "bytes_per_second" else f"{found.value:.3g}"


def shortened(keys: Sequence[str], most: int = 10) -> list[str]:
    return [*keys[:most], *([f"{len(keys) - most} more"] if len(keys) > most else [])]


def show_history(judged: Sequence[tuple[HistorySeries, list[LevelChange]]]) -> None:
    for line in history_lines(judged):
        output.print_line(line)


def history_lines(judged: Sequence[tuple[HistorySeries, list[LevelChange]]]) -> Iterator[str]:
    several = len({series.machine for series, _ in judged}) > 1
    longest = max(len(series.runs) for series, _ in judged)
    changed = sum(bool(changes) for _, changes in judged)
    yield f"history: {counted(len(judged), 'result')}, at most {counted(longest, 'run')}; {changed} changed"
    for series, changes in judged:
        for change in changes:
            alarm = series.alarm(changes) == change
            what = page.name_of(series, several)
            yield f"{'regression: ' if alarm else ''}{what}: {page.change_text(series, change)}"
