"""One launch of the bench driver: a task file in, a dict for every case out."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.collectives import arguments
from kumihimo.processes import launcher_environment, mpi
from kumihimo.processes.package_files import program
from kumihimo.run import launch
from kumihimo.text import odd_bytes
from kumihimo.text.errors import OutOfTime, failed, not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench import under_mpirun
from kumihimo.tune.bench.cases import BenchCase, as_task, process_of_rank
from kumihimo.tune.bench.nodes import OtherNodes, real_nodes

BENCH_DRIVER = "kumihimo-bench-driver"
OnResult = Callable[[JsonObject], None]


@dataclass
class LaunchResults:
    """Findings of one launch: `about` describes where and how it ran, `notes` are for the user; `results`: by case."""

    about: JsonObject = field(default_factory=dict)
    results: list[JsonObject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Launcher:
    """Where the processes come from: `installation` starts `ranks` of them, unless this process is one already. After
    `seconds` they are ended; then `partial` asks for what they had found until then rather than for an error."""

    ranks: int
    installation: mpi.Installation | None = None
    seconds: float = 120
    partial: bool = False
    settings: dict[str, str] = field(default_factory=dict)  # of the environment, for the MPI library
    of_processes: dict[str, str] = field(default_factory=dict)  # not of the launcher: what is loaded before it


def run_check(
    cases: Sequence[BenchCase],
    *,
    ranks: int,
    installation: mpi.Installation | None = None,
    repeats: int = 3,
    on_result: OnResult | None = None,
    seconds: float = 120,
    **options,
) -> list[JsonObject]:
    """Run each case `repeats` times and compare bit for bit with the golden copy: results with `right` and `found`."""
    task = {"task": "check", "repeats": repeats, **options}
    return run_task(task, cases, Launcher(ranks, installation, seconds), on_result).results


def run_measure(
    cases: Sequence[BenchCase],
    *,
    ranks: int,
    installation: mpi.Installation | None = None,
    case_seconds: float = 0.05,
    library: bool = True,
    on_result: OnResult | None = None,
    seconds: float = 150,
    partial: bool = False,
    **options,
) -> LaunchResults:
    """Measure each case, and the library's own call beside it. Consecutive cases that differ in the algorithm alone
    share the library's calls."""
    task = {"task": "measure", "case_seconds": case_seconds, "compare": library, **options}
    return run_task(task, cases, Launcher(ranks, installation, seconds, partial), on_result)


def run_rehearsal(
    cases: Sequence[BenchCase],
    *,
    ranks: int,
    installation: mpi.Installation,
    of_processes: dict[str, str],
    case_seconds: float,
    on_result: OnResult | None = None,
    seconds: float = 150,
) -> LaunchResults:
    """Each case as a program calls it, by the MPI library's names: results with `back_to_back_seconds` and
    `between_seconds` (bench_driver/tasks.hpp). What `of_processes` loads before the library takes part."""
    task = {"task": "rehearse", "case_seconds": case_seconds}
    launcher = Launcher(ranks, installation, seconds, partial=True, of_processes=of_processes)
    return run_task(task, cases, launcher, on_result)


def run_task(
    task: JsonObject, cases: Sequence[BenchCase], launcher: Launcher, on_result: OnResult | None = None
) -> LaunchResults:
    """One launch. Raises Failed or BadInput with one sentence, OtherNodes where the ranks are not on the nodes that the
    cases are for, and leaves nothing running."""
    described = [as_task(case, launcher.ranks) for case in cases]
    installation = launcher.installation or mpi.choose()
    run = LaunchResults(about={"launcher": str(installation.launcher)})

    def take(found: JsonObject) -> None:
        if "about" in found:
            run.about.update(found["about"])
            check_nodes(cases, run.about)
        elif "notes" in found:
            run.notes += found["notes"]
        else:
            run.results.append(finish(found, run.about))
            if on_result:
                on_result(run.results[-1])

    order = order_of(cases, launcher.ranks)
    if order is not None:
        task = {**task, "process_of_rank": order}
        run.about["placement"] = str(cases[0].placement)
    task = {**task, "library": str(installation.library), "cases": described}
    try:
        start(task, installation, launcher, take)
    except OutOfTime:
        if not launcher.partial or not run.results:
            raise
        run.notes.append(f"{len(run.results)} of {len(cases)} cases measured in the limit of {launcher.seconds:.0f} s")
        return run
    if len(run.results) != len(cases) + len(task.get("programs", ())):
        raise failed(f"the bench driver wrote {len(run.results)} results instead of {len(cases)}")
    return run


def order_of(cases: Sequence[BenchCase], ranks: int) -> list[int] | None:
    """The process of each rank, the same in all cases; None: they are in the order of the processes."""
    if not cases or cases[0].placement is None:
        return None
    if launcher_environment.place() is not None:
        raise wrong_value("--order and --placement need processes that this command starts", "those of mpirun")
    return process_of_rank(cases[0], ranks)


def check_nodes(cases: Sequence[BenchCase], about: JsonObject) -> None:
    """Not where mpirun started us: each rank has made its task before any knew, and the bench driver says what fits."""
    found = real_nodes(about)
    for case in cases:
        if case.nodes != found and (case.nodes or case.goes_by_real_nodes) and launcher_environment.place() is None:
            raise OtherNodes(case.nodes, found)


def start(task: JsonObject, installation: mpi.Installation, launcher: Launcher, take: OnResult) -> None:
    """The bench driver on all ranks, with this task."""
    text = text_of(task)
    place = launcher_environment.place()
    if place is not None and launcher.settings:
        raise not_applicable(
            "processes that mpirun started cannot take settings of the MPI library", None, "run without mpirun"
        )
    if place is not None:
        return under_mpirun.run(place, program(BENCH_DRIVER), text, launcher.seconds, take)
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        path = Path(folder, "task.json")
        path.write_text(text, encoding="utf-8")
        command = [program(BENCH_DRIVER), path]
        launch.run(
            installation,
            launcher.ranks,
            command,
            seconds=launcher.seconds,
            on_object=take,
            settings=launcher.settings,
            of_processes=launcher.of_processes,
        )
    return None


def text_of(task: JsonObject) -> str:
    """JSON for the bench driver, which opens the paths in it: none can be written in another way."""
    text = json.dumps(task, ensure_ascii=False)
    if odd := re.search(f'"[^"]*{odd_bytes.SURROGATES.pattern}[^"]*"', text):
        raise wrong_value("paths that all ranks open must be UTF-8", odd[0], "rename the folder")
    return text


def finish(result: JsonObject, about: JsonObject) -> JsonObject:
    """A bench driver's result with the keys that all of the command's results have."""
    text = result.pop("parameters_text")
    placement = {"placement": about["placement"]} if "placement" in about else {}
    return {**result, **placement, "parameters": arguments.parameters_of(text), "mpi": about.get("mpi", "")}
