"""`kumihimo binding -- mpirun ...`: where the threads of an unmodified program run, and the options that mend it."""

from __future__ import annotations

import shlex
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kumihimo.cli.options import argument, duration, written
from kumihimo.cli.output import OwnWork, interrupted, message, write_json

if TYPE_CHECKING:
    from kumihimo.run.binding.finding import BindingFinding
    from kumihimo.run.binding.samples import BindingSamples

app = typer.Typer()

NOTHING = (
    "no thread was looked at; possible causes: (1) the program did not call MPI_Init; (2) _exit or a signal ended it "
    "before --after; (3) rank 0 is on another node: set TMPDIR to a folder that all nodes share; (4) a wrapper cleared "
    "LD_PRELOAD"
)
COVERS = "the report covers the ranks that were looked at before"
BETWEEN_CHECKS = 0.1  # seconds
USUAL_LOOK = 2.0  # seconds from MPI_Init to the second look


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def command(
    program: argument("-- COMMAND ...", "Launch command: mpirun -n 4 ./program.", list[str]),
    after: duration(
        "--after TIME", "Time from MPI_Init to the second look at the threads, or until MPI_Finalize."
    ) = f"{USUAL_LOOK:g}s",
    json_file: written("--json FILE", "Write threads, faults and the proposal as JSON to this file.") = None,
) -> None:
    """Find threads of a program that share cores.

    The program is not recompiled. A report on standard error has the processors of each thread, its share of one, and
    whether it spins. It names cores that threads share by mistake, and proposes options of the launcher and variables.
    Each rank looks at its threads after MPI_Init, and once more after TIME. The report comes as soon as all ranks have
    looked; the program runs on, and can be interrupted. This command returns the exit status of the program. If that is
    0, it returns 1 if a fault was found or the file cannot be written."""
    from kumihimo.processes import launcher_environment
    from kumihimo.run import preload, preload_obstacles

    first = launcher_environment.is_first()
    own, result = OwnWork(), None
    with tempfile.TemporaryDirectory(prefix="kumihimo-binding-") as name:
        looks = BindingLooks(Path(name), program)
        if found := preload_obstacles.obstacles(program):
            reason = preload_obstacles.sentence(found)
            code, signals = preload.run_as_it_is(program)
        else:
            preload.found(program)
            with LooksWatch(looks.report_if_complete if first else None):
                code, _, signals = preload.run(program, looks.settings(after), (preload.RECORDER,))
            reason = preload.launcher_failed(program, code, "no thread was looked at") or NOTHING
        if not first:
            raise SystemExit(code)
        with own.step("the report"):
            for line in interrupted(signals, COVERS):
                message(line)
            result = looks.report_at_end()
            if result is None:
                message(reason)
            if json_file is not None:
                outcome = {"command": shlex.join(program), "exit_code": code, "signals": signals}
                write_json(json_file, {**outcome, **(result.as_object() if result else {})})
    is_right = result is not None and not result.verdict.faults
    raise SystemExit(own.status(code) or int(not is_right))


class BindingLooks:
    """The looks of one run, whose files are in `folder`."""

    def __init__(self, folder: Path, program: Sequence[str]) -> None:
        from kumihimo.run.profile import reading

        self._profile, self._program = folder / "profile.jsonl", program
        self._recording = reading.ProfileRecording(self._profile)
        self._told: BindingFinding | None = None

    def settings(self, after: float) -> dict[str, str]:
        return {
            "RECORD": str(self._profile),
            "RECORD_FAULT": str(self._profile.with_name("not-written")),
            "RECORD_THREADS": str(self._profile.with_name("threads")),
            "RECORD_LOOK": str(int(after * 1e9)),
        }

    def report_if_complete(self) -> bool:
        """Whether all ranks have looked, which is then reported."""
        from kumihimo.processes import launch_lines
        from kumihimo.run.binding import samples

        ranks = launch_lines.read(self._program).ranks
        if not ranks or len(samples.rank_files(self._profile.parent)) < ranks:
            return False
        self._report(samples.of_rank_files(self._profile.parent, ranks))
        return True

    def report_at_end(self) -> BindingFinding | None:
        """The finding, reported earlier or now; None if no rank has looked."""
        from kumihimo.run.binding import samples

        if self._told is None:
            found = samples.of_rank_files(self._profile.parent)
            if self._recording.gather():
                of_profile = samples.of_profile(self._profile)
                found = max(of_profile, found, key=lambda each: len(each.ranks))
            if found.ranks:
                self._report(found)
        return self._told

    def _report(self, found: BindingSamples) -> None:
        from kumihimo.run.binding import finding

        self._told = finding.finding(found, self._program)
        for line in [*self._told.table(), *self._told.fault_lines()]:
            message(line)


class LooksWatch:
    """While a program runs: asks `is_complete` now and then, until it is. None: asks nothing."""

    def __init__(self, is_complete: Callable[[], bool] | None) -> None:
        self._is_complete = is_complete
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        if self._is_complete is not None:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._is_complete is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(BETWEEN_CHECKS):
            if self._is_complete():
                return
