"""`kumihimo demo`: the main job from start to report: real runs on this machine, an unmodified program, the experiment
on K, one page.

A part that fails is left out; the page and the command say why. Without the measurements or the predictions, as where
there is no MPI library, the command ends with 1, as its job is not whole.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kumihimo.cli import options
from kumihimo.cli import report as report_verb
from kumihimo.cli.options import option
from kumihimo.cli.output import message
from kumihimo.cli.paths import WrittenFolder
from kumihimo.cli.progress import bars, run_interruptible
from kumihimo.demo import experiment, report
from kumihimo.demo.experiment import real_runs, unmodified
from kumihimo.demo.experiment.cases import Progress, silent
from kumihimo.demo.experiment.published import FULL_SHAPE, PAPER_SHAPE
from kumihimo.demo.report import golden
from kumihimo.demo.report.folder import LEFT_OUT, PAGE, Material, prepare, save
from kumihimo.processes import mpi
from kumihimo.text.errors import Failed, KumihimoError

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
    if library:
        mpi.choose(library)  # one asked for by name must be there
    words = command_line(output, library, quick)
    parts = Parts(output)
    with stages() as progress:
        parts.make("measured", lambda: measure(library, quick, words, progress))
        parts.make("unmodified", lambda: run_unmodified(quick, words, progress))
        parts.make("simulated", lambda: simulate(quick, words, progress))
    save(output, LEFT_OUT, {"form": "kumihimo-left-out-1", "parts": parts.left_out})
    material = Material(**parts.made, left_out=parts.left_out)
    page = report.write(output / PAGE, report.render(material, words))
    report_verb.print_summary((page, material), as_json)
    return verdict(material)


class Parts:
    """The parts of a report, each made by itself: whatever becomes of one, the page shows the others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.made: dict[str, dict] = {}
        self.left_out: dict[str, str] = {}  # the reasons

    def make(self, name: str, work: Callable[[], dict]) -> None:
        """Write a part, or remove what an earlier demo left of it: a page shows one run."""
        file = f"{name}.json"
        try:
            self.made[name] = work()
        except (KumihimoError, OSError, ValueError) as reason:
            self.left_out[name] = str(reason)
            (self._folder / file).unlink(missing_ok=True)
            return
        save(self._folder, file, self.made[name])


def command_line(output: Path, library: str | None, quick: bool) -> str:
    """Command that makes this report again."""
    words = ["kumihimo", "demo", "--output", str(output)]
    if library:
        words += ["--mpi", library]
    return shlex.join(words + ["--quick"] * quick)


def measure(library: str | None, quick: bool, words: str, progress: Progress) -> dict:
    """The real runs. Errors: Failed where there is no MPI library, or its launches fail."""
    effort = real_runs.QUICK if quick else real_runs.FULL
    return {**real_runs.measure(mpi.choose(library), progress, effort=effort), "command": words}


def run_unmodified(quick: bool, words: str, progress: Progress) -> dict:
    """The real program. Errors: Failed where it, or the MPI library that it is linked with, is not on this machine, and
    where it or its tuning does not end well."""
    lacking = unmodified.lacking()
    if lacking:
        raise Failed(lacking)
    effort = {"budget_seconds": 15, "launches": 3} if quick else {}
    return unmodified.run(progress, command=words, **effort)


def simulate(quick: bool, words: str, progress: Progress) -> dict:
    """The predictions for K."""
    shapes = QUICK_SHAPES if quick else (PAPER_SHAPE, FULL_SHAPE)
    return run_interruptible(lambda: experiment.run(progress, *shapes, command=words))


def verdict(material: Material) -> int:
    """0 if the main job is whole and every check passed. The unmodified program is an extra: without it the job is
    whole."""
    names = {"measured": "measurements", "unmodified": "unmodified program", "simulated": "predictions"}
    for name, reason in material.left_out.items():
        message(f"the report has no {names[name]}: {reason}")
    measured, program = material.measured, material.unmodified
    if measured is None or material.simulated is None:
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
