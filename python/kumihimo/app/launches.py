"""Launches of an application: one process by itself, or ranks by a launcher. Nothing is left running."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.app.catalogue import PROGRAM, AppCandidate, ApplicationRow
from kumihimo.app.checkpoints import CheckpointRequest
from kumihimo.processes import child_output, children, launcher_environment, mpi
from kumihimo.processes.interrupts import ending_by_signal, ignoring_signals
from kumihimo.processes.package_files import program
from kumihimo.run import launch
from kumihimo.run.wisdom_reading import folder
from kumihimo.text.errors import OutOfTime, failed
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench import under_mpirun

OnObject = Callable[[JsonObject], None]


@dataclass(frozen=True)
class AppProblem:
    """Problem to solve, whatever the number of ranks and the variant."""

    application: ApplicationRow
    size: str
    options: dict[str, str]
    method: str
    tolerance: float = 1e-8
    most_iterations: int = 100_000

    @property
    def file(self) -> str | None:
        """The file that holds the problem in place of a size."""
        named = [row["name"] for row in self.application.options if row.get("replaces_size")]
        return next((self.options[name] for name in named if name in self.options), None)

    @property
    def subject(self) -> str:
        """Problem for people: the size or the file."""
        return self.file or self.size


@dataclass(frozen=True)
class Resources:
    """Resources that solve a problem. `installation`: None without MPI, for one rank alone."""

    ranks: int
    threads: int  # of a rank; 0: its share of the processors
    installation: mpi.Installation | None
    grid: str | None = None
    sums: str | None = None
    seconds: float = 3600.0  # of a launch


@dataclass
class AppRun:
    """Output of a launch."""

    about: JsonObject = field(default_factory=dict)
    results: list[JsonObject] = field(default_factory=list)
    seconds: float = 0.0  # of the whole launch


def installation_of(launcher: str | None, wanted: str | None, ranks: Sequence[int]) -> mpi.Installation | None:
    """The MPI library, if several ranks need one, with what starts the ranks."""
    if max(ranks) == 1 and launcher is None and wanted is None:
        return None
    place = launcher_environment.place()
    return mpi.choose(wanted or (place.family if place else None), launcher)


def run(
    problem: AppProblem,
    candidates: Sequence[AppCandidate],
    resources: Resources,
    *,
    turns: int = 1,
    sample: int | None = None,
    check: bool = True,
    in_order: bool = False,
    rates: bool = False,
    checkpoints: CheckpointRequest | None = None,
    on_object: OnObject = lambda found: None,
) -> AppRun:
    """All candidates by turns in one launch. `in_order`: as they are given, not by what their set-ups share. `sample`:
    stop each run after so many iterations. Raises what the program says: one sentence."""
    task = {
        "application": problem.application.name,
        "size": problem.size,
        "options": problem.options,
        "method": problem.method,
        "tolerance": problem.tolerance,
        "most_iterations": problem.most_iterations if sample is None else sample,
        "may_stop_early": sample is not None,
        "check": check and sample is None,
        "candidates": [each.as_task() for each in candidates],
        "turns": turns,
        "in_order": in_order,
        "threads": resources.threads,
        "rates": rates,
        "wisdom_folder": str(folder().absolute()),
        **({"grid": resources.grid} if resources.grid else {}),
        **({"sums": resources.sums} if resources.sums else {}),
        **({"checkpoints": checkpoints.as_task()} if checkpoints else {}),
        **({"library": str(resources.installation.library)} if resources.installation else {}),
    }
    if problem.method == "":
        del task["method"]
    found = AppRun()

    def take(line: JsonObject) -> None:
        if "about" in line:
            found.about |= line["about"]  # once more where a run went on without a rank that died
        elif "result" in line:
            found.results = [each for each in found.results if not is_again(each, line["result"])] + [line["result"]]
        on_object(line)

    begin = time.monotonic()
    start(task, resources, take)
    found.seconds = time.monotonic() - begin
    if not found.results:
        raise failed(f"{PROGRAM} printed no result", *why_none(found, checkpoints))
    return found


def why_none(found: AppRun, checkpoints: CheckpointRequest | None) -> tuple[str, str]:
    """Why a launch that ended without an error has no result, and what to do. It may have lost ranks."""
    if not checkpoints or not checkpoints.spares:
        return "", ""
    if not found.about:
        return "a rank may have died while MPI started", ""
    lost = "mpirun of Open MPI may have ended the job, as when it loses the daemon (prted) of a node"
    files = "restart from the files" if checkpoints.saves else "add every=N to --checkpoint to restart from files"
    return lost, f"spare ranks replace ranks, not nodes: {files}"


def is_again(result: JsonObject, later: JsonObject) -> bool:
    """Whether the run of `later` is that of `result`, repeated because a rank died at its end."""
    return all(result[name] == later[name] for name in ("variant", "parameters", "turn"))


def start(task: JsonObject, resources: Resources, take: OnObject) -> None:
    text = json.dumps(task, ensure_ascii=False)
    spares = task.get("checkpoints", {}).get("spares", 0)
    place = launcher_environment.place()
    if place is not None and place.ranks > 1:
        return under_mpirun.run(place, program(PROGRAM), text, resources.seconds, take)
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as temporary:
        path = Path(temporary, "task.json")
        path.write_text(text, encoding="utf-8")
        command = [program(PROGRAM), path]
        if resources.installation is None:
            run_alone(command, resources.seconds, take)
        else:
            ranks = resources.ranks + spares
            options: JsonObject = {"seconds": resources.seconds, "on_object": take, "outlives_deaths": spares > 0}
            launch.run(resources.installation, ranks, command, **options)
    return None


def run_alone(command: Sequence[str | Path], seconds: float, on_object: OnObject) -> None:
    """One process, in a session of its own: Ctrl-C comes to this process, which ends it."""
    ended_before = launch.ended_for_memory()
    process = children.start(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
        start_new_session=True,
    )
    name = Path(command[0]).name
    try:
        with ending_by_signal():
            output = launch.Output(process)
            output.read(time.monotonic() + seconds, on_object)
            if not launch.ended(process, launch.LAST_SECONDS):
                raise failed(f"{name} did not exit within {launch.LAST_SECONDS:.3g} s after it had closed its output")
    except child_output.TimedOut:
        raise OutOfTime(
            f"{name} did not end within {seconds:.3g} s", "use a smaller --size or a longer --timeout"
        ) from None
    finally:
        with ignoring_signals():
            if process.poll() is None:
                process.kill()
            process.wait()
            child_output.close(process)
    if process.returncode != 0:
        if launch.ended_for_memory() > ended_before:
            raise failed(
                f"{name} needs more memory", "the system killed it when memory ran out", "use a smaller --size"
            )
        raise failed(f"{name} failed", launch.what_happened(output, process.returncode, "it"))
