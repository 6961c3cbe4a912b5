"""`kumihimo record -- mpirun ...`: what an unmodified program does in MPI, by call site, and where it waits."""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Optional

import typer

from kumihimo.cli import asserts, options
from kumihimo.cli.options import argument, option
from kumihimo.cli.output import OwnWork, interrupted, message, write, write_json
from kumihimo.cli.paths import WrittenFolder, WrittenWhole
from kumihimo.text import files
from kumihimo.text.errors import NotApplicable, missing, wrong_value

if TYPE_CHECKING:
    from kumihimo.run.binding.finding import BindingFinding
    from kumihimo.run.profile.totals import Totals

app = typer.Typer()

NOTHING = (
    "nothing was recorded; possible causes: (1) the program did not call MPI_Init (programs that use only MPI sessions "
    "are not recorded); (2) _exit or a signal (as after MPI_Abort) ended it; (3) rank 0 is on a node that does not "
    "share this folder; (4) a wrapper cleared LD_PRELOAD"
)
INTERRUPTED = {  # whether there is a profile: the sentence, after the signals' names
    False: "nothing was recorded: the program ended before its processes wrote their data",
    True: "the profile covers the program until it ended",
}


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def command(
    program: argument("-- COMMAND ...", "Launch command: mpirun -n 4 ./program.", Optional[list[str]]) = None,
    output: options.written("--output -o FILE", "Profile to write, in place of an earlier one.", WrittenWhole) = Path(
        "kumihimo-profile.jsonl"
    ),
    sync: option("--sync", "Add a barrier before each collective to measure waiting.") = False,
    trace: options.written("--trace DIR", "Write all events to this folder, in OTF2 too.", WrittenFolder) = None,
    no_otf2: option("--no-otf2", "Leave out the OTF2 of --trace, which takes longest to write.") = False,
    json_file: options.written("--json FILE", "Write the summary as JSON to this file.") = None,
    mpip: options.written("--mpip FILE", "Write a report in mpiP's format to this file.") = None,
    show: option("--show FILE", "Show this profile and run nothing.", Path) = None,
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    repeat: asserts.Repeat = None,
) -> int:
    """Record the MPI calls of an unmodified program. A summary on standard error shows bytes, waiting and partners.

    The program is not recompiled: its MPI calls are intercepted, in C and in Fortran. It reads standard input and
    writes standard output as usual. This command returns the exit status of the program. If that is 0, it returns 2
    if a performance assert cannot be read, and 1 if one is missed or a file cannot be written."""
    if show is not None:
        if program:
            raise wrong_value("--show runs no command", shlex.join(program), "leave one of them out")
        options.refuse_beside("--show runs no command and", "output", "sync", "trace", "no_otf2", "repeat")
        # The node at hand may not be that of the profile.
        check = asserts.AssertCheck.of(asserts_file, junit, measures_roofs=False)
        return report(show, json_file, mpip, check)
    if not program:
        raise missing("the command that starts the program", "write it after --, as in -- mpirun -n 4 ./program")
    if no_otf2 and trace is None:
        raise wrong_value("--no-otf2 must stand beside --trace", None, "leave it out")
    runs = asserts.checked_repeat(repeat)
    if runs > 1 and trace is not None:
        raise wrong_value("--repeat takes no --trace, because a trace is of one run", trace, "leave one of them out")
    check = asserts.AssertCheck.of(asserts_file, junit)
    files.check_regular_or_new(output, "--output")
    raise SystemExit(recorded(program, files.real(output), sync, trace, not no_otf2, json_file, mpip, check, runs))


OF_A_RUN = ("seconds", "mpi_seconds", "tasks", "calls", "regions")  # of each in `repeats`


def recorded(
    program: list[str],
    output: Path,
    sync: bool,
    trace: Path | None,
    with_otf2: bool,
    json_file: Path | None,
    mpip: Path | None,
    check: asserts.AssertCheck,
    runs: int,
) -> int:
    """The exit status of the program, as it is; of several runs that of the first that fails, which is the last."""
    from kumihimo.processes import launcher_environment
    from kumihimo.run import preload, preload_obstacles
    from kumihimo.run.profile import reading, trace_folder

    first = launcher_environment.is_first()
    if found := preload_obstacles.obstacles(program):
        if first:
            message(preload_obstacles.sentence(found))
        code, signals = preload.run_as_it_is(program)
        if not first:
            return code
        own, outcome = OwnWork(), {"exit_code": code, "signals": signals, "command": shlex.join(program)}
        with own.step("the summary"):
            written({json_file: outcome})
        return own.status(code) or unjudged(check)
    preload.found(program)
    if first:
        files.check_writable(output, "--output")
    settings = {"RECORD": str(output), "RECORD_SYNC": "1" if sync else ""}
    if trace is not None:
        settings["RECORD_TRACE"] = str(trace_folder.prepared(trace))
    own, earlier, judged = OwnWork(), [], 0
    for number in range(1, runs + 1):
        recording = reading.ProfileRecording(output) if first else None
        with tempfile.NamedTemporaryFile("r", prefix="kumihimo-", encoding="utf-8", errors="surrogateescape") as faults:
            settings["RECORD_FAULT"] = faults.name
            code, _, signals = preload.run(program, settings, (preload.RECORDER,))
            not_written = list(dict.fromkeys(faults.read().splitlines()))
        own.failed |= bool(not_written)
        for line in not_written:
            message(line)
        if code or signals or not_written or number == runs:
            break
        if first and recording.gather():
            earlier.append(summed(output, {"command": None}, with_mpip=False)[1])
    if not first:
        return own.status(code)
    outcome = {"exit_code": code, "signals": signals, "command": shlex.join(program)}
    gathered = False
    with own.step("the profile"):
        gathered = recording.gather()
        for line in interrupted(signals, INTERRUPTED[gathered]):
            message(line)
        if gathered:
            lines, as_object, text = summed(output, outcome, with_mpip=mpip is not None)
            every = [*earlier, as_object]
            for line in [*preload.remarks(program, as_object["ranks"]), *lines]:
                message(line)
            judged = judge(check, as_object, every, message)
            message(f"the profile is {output}" + (f", of the last of {runs} runs" if len(every) > 1 else ""))
            if spans_nodes(output):
                message(f"kumihimo place --traffic {shlex.quote(str(output))} finds a better node for each rank")
        else:
            if not signals and not not_written:
                message(preload.launcher_failed(program, code, "nothing was recorded") or NOTHING)
            as_object, text, judged = outcome, "", unjudged(check)
        with own.step("the summary"):
            written({json_file: as_object, mpip: text})
        for path in recording.spawned():
            message(f"processes that the program spawned have their own profile, {path}, and no trace")
    if trace is not None:
        finish_trace(own, trace, output if gathered else None, with_otf2)
    return code or judged or own.status(code)


def unjudged(check: asserts.AssertCheck) -> int:
    """Where nothing was recorded: no assert of the file can be judged."""
    return check.tell(check.unjudged("nothing was recorded"), message)


def judge(check: asserts.AssertCheck, summary: dict, runs: list[dict], say: Callable[[str], None]) -> int:
    """The exit code of all asserts; puts the verdicts, and what they are judged by, into the summary."""
    from kumihimo.keep import observed

    if len(runs) > 1:
        summary["repeats"] = [{name: run[name] for name in OF_A_RUN} for run in runs]
    regions = [region for run in runs for region in run["regions"]]
    found = check.verdicts(observed.rows_of_recordings(runs), regions)
    summary["asserts"] = [each.as_object() for each in found]
    return check.tell(found, say)


def finish_trace(own: OwnWork, folder: Path, profile: Path | None, with_otf2: bool) -> None:
    """Puts to the events of the ranks what a replay and other tools need."""
    from kumihimo.run.profile import otf2_writing, trace_folder

    events = 0
    with own.step("the trace"):
        events = trace_folder.finish(folder, profile)
        lost = "no trace was written: no rank called MPI_Finalize, or none could write its events"
        message(f"the trace is {folder}, {events} events" if events else lost)
    if events and with_otf2:
        with own.step("OTF2", "kumihimo replay reads the trace without it"):
            if otf2_writing.is_possible():
                message(f"for other tools it is {otf2_writing.write(folder)}")
            else:
                message(
                    "the trace is not written as OTF2, which other tools read: install python3-otf2 and python3-six"
                )


def spans_nodes(profile: Path) -> bool:
    from kumihimo.run.profile import reading

    with reading.explained(profile):
        lines = reading.lines(profile)
        next(lines)
        return len({rank.get("host") for rank in lines}) > 1


def report(path: Path, json_file: Path | None, mpip: Path | None, check: asserts.AssertCheck) -> int:
    """Prints a profile, writes the files that were asked for, and judges the asserts: their exit code."""
    lines, as_object, text = summed(path, {"command": None}, with_mpip=mpip is not None)
    for line in lines:
        print(line)
    code = judge(check, as_object, [as_object], print)
    written({json_file: as_object, mpip: text})
    return code


def summed(path: Path, outcome: dict, with_mpip: bool) -> tuple[list[str], dict, str]:
    """A profile as lines, as an object, and in the form of mpiP's report."""
    from kumihimo.cli import tuned_tables
    from kumihimo.run.profile import collectives, reading, summary, totals
    from kumihimo.run.profile import mpip as mpip_text

    with reading.explained(path):
        sums = totals.of(path)
        as_object, lines = summary.as_object(sums), summary.lines(sums)
        text = mpip_text.text(sums, outcome["command"] or "[unknown]") if with_mpip else ""
        bound = binding_of(sums, outcome["command"])
    lines += bound.fault_lines() if bound.verdict.faults else []
    as_object["binding"] = bound.faults_as_object()
    with contextlib.suppress(NotApplicable):  # of an earlier version
        lines += tuned_tables.forwarded_lines(collectives.of(path))
    return lines, {**outcome, **as_object}, text


def binding_of(sums: Totals, command: str | None) -> BindingFinding:
    """Binding of the threads that ranks looked at; without faults if there are no looks, as in profiles of earlier
    versions.
    """
    from kumihimo.processes import mpi
    from kumihimo.run.binding import finding, proposal, samples

    looks = samples.of_lines(sums.looks, sums.header["ranks"])
    if command is not None:
        return finding.finding(looks, shlex.split(command))
    by_srun = sums.header.get("srun_mpi") is not None
    return finding.finding(looks, [], proposal.SRUN if by_srun else mpi.family_of(sums.header["mpi"]))


def written(wanted: dict[Path | None, dict | str]) -> None:
    """Writes each to its file, if one was asked for."""
    for path, what in wanted.items():
        if path is not None and what:
            write(path, what) if isinstance(what, str) else write_json(path, what)
