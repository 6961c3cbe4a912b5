"""`kumihimo demo`: the main job from start to report: real runs on this machine, an unmodified program, the experiment
on K, one page.

Without an MPI library the simulated half and its page are made all the same; the command says what to install and ends
with 1, as its job is not whole.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kumihimo import experiment, mpi, report
from kumihimo.cli import options
from kumihimo.cli import report as report_verb
from kumihimo.cli.options import option
from kumihimo.cli.output import message
from kumihimo.cli.paths import WrittenFolder
from kumihimo.cli.progress import bars, run_interruptible
from kumihimo.errors import Failed, KumihimoError
from kumihimo.experiment import real_runs, unmodified
from kumihimo.experiment.cases import Progress, silent
from kumihimo.experiment.published import FULL_SHAPE, PAPER_SHAPE
from kumihimo.report import golden
from kumihimo.report.folder import MEASURED, PAGE, SIMULATED, UNMODIFIED, Material, prepare, save

QUICK_SHAPES = ("12x6x8", "16x18x8")


def command(
    output: options.written("--output -o DIR", "Folder of the report.", WrittenFolder) = Path("report"),
    library: options.Library = None,
    quick: option("--quick", "Measure few sizes and simulate small tori (under a minute).") = False,
    as_json: options.Json = False,
) -> int:
    """Measure, tune and simulate, and write a report page. It checks every allreduce on this machine, tunes LAMMPS, and
    predicts an allreduce on the K computer.

    \b
    Example:
    kumihimo demo --output report
    """
    prepare(output)
    words = command_line(output, library, quick)
    with stages() as progress:
        measured, lacking = measure(library, quick, words, progress)
        keep(output, MEASURED, measured)
        program = run_unmodified(quick, words, progress)
        keep(output, UNMODIFIED, program)
        shapes = QUICK_SHAPES if quick else (PAPER_SHAPE, FULL_SHAPE)
        simulated = run_interruptible(lambda: experiment.run(progress, *shapes, command=words))
        keep(output, SIMULATED, simulated)
    material = Material(measured, simulated, program)
    page = report.write(output / PAGE, report.render(material, words))
    report_verb.print_summary((page, material), as_json)
    return verdict(measured, lacking, program)


def command_line(output: Path, library: str | None, quick: bool) -> str:
    """What makes this report again."""
    words = ["kumihimo", "demo", "--output", str(output)]
    if library:
        words += ["--mpi", library]
    return shlex.join(words + ["--quick"] * quick)


def measure(
    library: str | None, quick: bool, words: str, progress: Progress
) -> tuple[dict | None, KumihimoError | None]:
    """The real runs; or, where there is no MPI library, why there are none. One asked for by name must be there."""
    try:
        installation = mpi.choose(library)
    except Failed as lacking:
        if library:
            raise
        return None, lacking
    effort = real_runs.QUICK if quick else real_runs.FULL
    return {**real_runs.measure(installation, progress, effort=effort), "command": words}, None


def run_unmodified(quick: bool, words: str, progress: Progress) -> dict | None:
    """The real program; None where it, or the MPI library that it is linked with, is not on this machine."""
    lacking = unmodified.lacking()
    if lacking:
        message(f"the report has no unmodified program: {lacking}")
        return None
    effort = {"budget_seconds": 15, "launches": 3} if quick else {}
    return unmodified.run(progress, command=words, **effort)


def keep(folder: Path, name: str, part: dict | None) -> None:
    """Write a part of the report, or remove what an earlier demo left of it: a page shows one run."""
    if part is None:
        (folder / name).unlink(missing_ok=True)
    else:
        save(folder, name, part)


def verdict(measured: dict | None, lacking: KumihimoError | None, program: dict | None) -> int:
    """0 if the main job is whole and every check passed."""
    if lacking is not None:
        message(f"the report has no measurements: {lacking}")
        return 1
    right, of = golden.totals(measured)
    if right < of:
        message(f"{of - right} of {of} real runs differ from the golden copy")
        return 1
    if any(r["bitwise"] is False for r in measured["results"]):
        message("a timed call gave different bits on some process or in some run")
        return 1
    if program and not program["same_figures"]:
        message(f"{program['program']} printed different results with the chosen algorithms than without")
        return 1
    return 0


@contextmanager
def stages() -> Iterator[Progress]:
    """A bar a stage on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    with bars("{task.description:<40}") as shown:
        tasks: dict[str, int] = {}

        def show(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(what, total=of)
            shown.update(tasks[what], completed=done, total=of)

        yield show
