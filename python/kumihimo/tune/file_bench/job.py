"""One launch of the bench driver with a task of files. Whatever ends it, nothing of it stays in the user's folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.processes import launcher_environment, mpi
from kumihimo.processes.interrupts import ignoring_signals
from kumihimo.text.errors import failed
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench import job as bench_job
from kumihimo.tune.bench.job import Launcher
from kumihimo.tune.file_bench import leftovers
from kumihimo.tune.file_bench.cases import FileSteps

REMOVAL_SECONDS = 0.7  # that Ctrl-C waits for


@dataclass
class FileRun:
    """`results`: one for each step, in their order. `in_memory`: the folder is of a file system in memory."""

    about: JsonObject = field(default_factory=dict)
    folder: str = ""
    in_memory: bool = False
    results: list[JsonObject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def run(
    folder: Path,
    asked: FileSteps,
    launcher: Launcher,
    on_result: Callable[[JsonObject], None] = lambda found: None,
    existing: Path | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> FileRun:
    """`existing`: the files are in this folder already, and stay. `say`: to the user, after Ctrl-C. Raises what the
    bench driver says: one sentence."""
    found = FileRun()

    def take(line: JsonObject) -> None:
        if "about" in line:
            found.about = line["about"]
        elif "folder" in line:
            found.folder, found.in_memory = line["folder"], line["in_memory"]
        elif "notes" in line:
            found.notes += line["notes"]
        else:
            found.results.append(line)
            on_result(line)

    installation = launcher.installation or mpi.choose()
    place = {"existing": str(existing)} if existing else {"folder": str(folder.resolve())}
    files = {**place, **asked.as_task()}
    task = {"task": "files", "library": str(installation.library), "cases": [], "files": files}
    is_first = launcher_environment.is_first()
    if is_first and not existing:
        found.notes += leftovers.remove_left(folder)
    try:
        bench_job.start(task, installation, launcher, take)
    finally:
        if is_first and not existing:
            with ignoring_signals():  # its processes have ended, and are the owners of what is left
                if isinstance(sys.exc_info()[1], (KeyboardInterrupt, SystemExit)):
                    if not leftovers.removed_within(REMOVAL_SECONDS, folder):
                        say(f"the files of this run are still being removed from {folder}, in the background")
                else:
                    leftovers.remove_left(folder)
    if len(found.results) != len(asked.steps):
        raise failed(f"the bench driver did {len(found.results)} steps instead of {len(asked.steps)}")
    return found
