"""`kumihimo run -- mpirun ...`: an unmodified program, with the collective algorithms that were chosen for it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import typer

from kumihimo import _schedule
from kumihimo.cli import asserts
from kumihimo.cli.options import argument, duration, option, written
from kumihimo.cli.output import OwnWork, interrupted, message, write_json
from kumihimo.processes import allocation
from kumihimo.processes.signals import LATE_SECONDS, LateStatus
from kumihimo.run import wisdom_reading
from kumihimo.run.program_keys import key_of
from kumihimo.run.start_watch import UnstartedStatus
from kumihimo.text import files
from kumihimo.text.errors import did_you_mean, not_applicable, wrong_value
from kumihimo.text.sizes import with_unit
from kumihimo.tune.targets import REDUCTIONS

HOOKED = tuple(kind for kind in _schedule.collectives() if _schedule.meaning(kind).mpi_calls)

app = typer.Typer()

PROMISES = {  # of what was not said to be otherwise
    "order": "float reductions used a fixed order: same bits in every run and on any placement of these ranks",
    "exact": "float sums in allreduce and reduce were rounded once: same bits on any number of ranks; other float "
    "reductions used a fixed order",
}
REPRODUCIBLE = {"order": "--reproducible", "exact": "--exact-sums"}
NO_SUMMARY = (
    "rank 0 wrote no summary; possible causes: (1) it did not call MPI_Init (the MPI library runs the calls of "
    "programs that use only MPI sessions); (2) _exit, a signal or an MPI error ended it; (3) it is on another node: "
    "set TMPDIR to a folder that all nodes share; (4) a wrapper cleared LD_PRELOAD"
)
INTERRUPTED = {  # whether there is a summary: the sentence, after the signals' names
    False: "the program ended before rank 0 wrote its summary, so no calls can be reported",
    True: "the summary covers the calls until the program ended",
}
LOST = (
    "a process did not load the preload library (does a wrapper clear LD_PRELOAD?); the MPI library ran all calls, and "
    "only those of rank 0 are counted"
)
RANK_0_ALONE = "the ranks could not add up their counts; only the calls of rank 0 are counted"
NO_WISDOM = (
    "no wisdom was found for this machine and MPI library, so the MPI library's algorithms ran; run `kumihimo tune`"
)
NO_EFFECT = "{} in the wisdom has no effect: only the simulator heeds it"
NOT_TAKEN = "the wisdom file was not used; see the message above"
NONE_FOUND = "no wisdom was found"
NO_CHOICES = "the wisdom has no choices; name another file, or run `kumihimo tune`"
NOT_CHOSEN, NOT_LOADED = "not_chosen", "lost"  # ids of reasons: src/preload/interpose/call_counters.cpp
UNCLEAR = "tuning found nothing certainly faster for these calls, or did not measure them"
DEFAULTS = "it has no choices for --reproducible, so reductions use default algorithms"


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def command(
    program: argument("-- COMMAND ...", "Launch command: mpirun -n 4 ./program.", list[str]),
    algorithm: option(
        "--algorithm -a NAME,...",
        "Algorithm for all calls (ring) or by collective (alltoall=bruck); may be repeated.",
        list[str],
    ) = None,
    wisdom: option(
        "--wisdom FILE", "Wisdom file [default: what was found for this program, or on this machine].", Path
    ) = None,
    no_wisdom: option("--no-wisdom", "Ignore what was found for this program and on this machine.") = False,
    shape: option(
        "--shape -s SHAPE", "Shape of the job's nodes, in rank order: 4x3x2 [default: what KUMIHIMO_SHAPE says]."
    ) = None,
    network: option(
        "--network NAME",
        "Network between nodes: mpi (messages of the MPI library) or fabric (libfabric) "
        "[default: what KUMIHIMO_NETWORK says, else mpi].",
    ) = None,
    reproducible: option("--reproducible", "Fix the order of float reductions: same bits in every run.") = False,
    exact_sums: option("--exact-sums", "Round float sums once: same bits on any number of ranks.") = False,
    no_reorder: option("--no-reorder", "Leave the ranks of topologies as the MPI library orders them.") = False,
    timeout: duration("--timeout TIME", "Time limit of a waiting call: 60s, 5m; 0 for none.", may_be_zero=True) = "0",
    json_file: written("--json FILE", "Write a summary of all calls as JSON to this file.") = None,
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    repeat: asserts.Repeat = None,
) -> None:
    """Run an unmodified program with chosen algorithms. A summary on standard error shows which algorithms ran.

    The program is not recompiled: its MPI collectives are intercepted, in C and in Fortran. It reads standard input and
    writes standard output as usual. This command returns the exit status of the program, or 1 if that is 0 and the
    summary cannot be written. With --asserts, --junit or --repeat it records the program too, as `record` does, and
    checks its performance asserts: 1 if one is missed, 2 if one cannot be read."""
    from kumihimo.processes import launcher_environment
    from kumihimo.run import networks, preload, preload_obstacles

    mode = "exact" if exact_sums else "order" if reproducible else ""
    settings = {
        "ALGORITHM": checked_algorithm(",".join(algorithm) if algorithm else None, mode),
        "SHAPE": checked_shape(os.environ.get(allocation.SHAPE, "") if shape is None else shape),
        "NETWORK": networks.checked(network),
        "WISDOM": wisdom_for(wisdom, no_wisdom or bool(algorithm)),
        "KERNELS": wisdom_for(wisdom, no_wisdom),
        "REPRODUCIBLE": mode,
        "REORDER": "off" if no_reorder else "",
        "TIMEOUT": str(timeout) if timeout else "",
    }
    first = launcher_environment.is_first()  # whose program writes what ran on all ranks
    runs = asserts.checked_repeat(repeat)
    check = asserts.AssertCheck.of(asserts_file, junit)
    recorded: list[dict] = []
    if found := preload_obstacles.obstacles(program):
        if first:
            message(preload_obstacles.sentence(found))
        (code, signals), summary = preload.run_as_it_is(program), None
    elif check.asked or repeat is not None:
        code, summary, signals = run_recorded(program, settings, runs, recorded)
    else:
        code, summary, signals = preload.run(program, settings)
    if not first:
        raise SystemExit(code)
    own = OwnWork()
    if isinstance(code, UnstartedStatus):
        message(f"no rank had started {LATE_SECONDS:g} s after the time limit of {timeout:g} s; the launcher was ended")
    elif isinstance(code, LateStatus):
        message(f"the launcher did not end within {LATE_SECONDS:g} s after ranks had given up, and was ended")
    if not found:
        with own.step("the summary"):
            messages = interrupted(signals, INTERRUPTED[summary is not None])
            if summary is not None:
                summary["wisdom"] = wisdom_of(summary, wisdom, program)
                without = without_choices(summary, wisdom, bool(algorithm), no_wisdom, program)
                messages += preload.remarks(program, summary["ranks"])
                messages += lines(summary, named=wisdom is not None, without=without)
            for line in messages or [preload.launcher_failed(program, code, "nothing was counted") or NO_SUMMARY]:
                message(line)
    judged, verdicts = 0, {}
    if check.asked or repeat is not None:
        with own.step("the verdicts"):
            judged, verdicts = judge(check, recorded)
    if json_file is not None:
        with own.step("the summary"):
            write_json(json_file, {"exit_code": code, "signals": signals, **(summary or {}), **verdicts})
    raise SystemExit(code or judged or own.status(code))  # as it is: the border has meanings of its own for some


def run_recorded(
    program: Sequence[str], settings: dict[str, str], runs: int, recorded: list[dict]
) -> tuple[int, dict | None, tuple[str, ...]]:
    """The program with both preload libraries, several times; what `record` sums up of each run goes to `recorded`. The
    last run, or the first that fails."""
    from kumihimo.cli import record
    from kumihimo.run import preload

    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        for number in range(runs):
            profile = Path(folder) / f"profile{number}.jsonl"
            both = (preload.RECORDER, preload.INTERPOSER)
            ended = preload.run(program, {**settings, "RECORD": str(profile)}, both)
            if profile.is_file():
                recorded.append(record.summed(profile, {"command": None}, with_mpip=False)[1])
            if ended.code or ended.signals:
                break
    return ended.code, ended.summary, ended.signals


def judge(check: asserts.AssertCheck, recorded: list[dict]) -> tuple[int, dict]:
    """The exit code of the asserts, and what the summary says of them."""
    from kumihimo.cli import record

    if not recorded:
        return record.unjudged(check), {}
    verdicts: dict = {}
    return record.judge(check, verdicts, recorded, message), verdicts


def wisdom_of(summary: dict, named: Path | None, program: Sequence[str]) -> str | None:
    """The path of the wisdom that rank 0 took. A path that is not UTF-8 has U+FFFD in the summary."""
    path = summary.get("wisdom")
    if path and "\ufffd" in path:
        return str(files.real(named) if named else wisdom_reading.found_by_itself(summary["mpi"], key_of(program)))
    return path


def without_choices(
    summary: dict, wisdom: Path | None, by_algorithm: bool, no_wisdom: bool, program: Sequence[str]
) -> str:
    """Why the run had no choices of a file; empty where it had."""
    if by_algorithm:
        return "--algorithm names no algorithm for this collective"
    if no_wisdom:
        return "--no-wisdom"
    if summary.get("wisdom"):
        return ""
    there = wisdom_reading.found_by_itself(summary["mpi"], key_of(program)).is_file()
    return NOT_TAKEN if wisdom or there else NONE_FOUND


def lines(summary: dict, named: bool = True, without: str = "") -> list[str]:
    """The wisdom file; a line for each collective, size class and algorithm, with the reason for calls of the MPI
    library; a line for each reason if a collective has several. `named`: the user named the wisdom. `without`: why
    there was none."""
    path = summary.get("wisdom")
    choices = wisdom_reading.choices_in(path, named)
    finalized, of_all = summary.get("finalized", True), summary.get("of_all_ranks", True)
    reported = summary.get("ranks_reported")  # where MPI_Abort ended the program
    whose = "all ranks" if of_all and (finalized or reported) else "rank 0"
    if reported and not of_all:
        whose = f"{len(reported)} of {summary['ranks']} ranks"
    forwarded: dict[str, list[dict]] = {}
    for row in summary["forwarded"]:
        forwarded.setdefault(row["collective"], []).append(row)
    ran = []
    for row in summary["calls"]:
        is_library = row["algorithm"] == "library"
        one = forwarded.get(row["collective"], []) if is_library else []
        more = reason_text(one[0], summary, choices, without, row) if len(one) == 1 else ""
        ran.append(
            f"{row['collective']}{lengths(row)}: {'MPI library' if is_library else row['algorithm']}, "
            f"{row['calls']} calls of {whose}{more}{in_tuning(row, summary, choices)}"
        )
    by_size = {row["collective"] for row in summary["calls"] if row["algorithm"] == "library"}
    left = [
        f"{row['collective']}: MPI library, {row['calls']} calls{reason_text(row, summary, choices, without)}"
        for collective, rows in forwarded.items()
        if len(rows) > 1 or collective not in by_size
        for row in rows
    ]
    others = ", ".join(f"{number} of {name}" for name, number in (summary.get("others") or {}).items())
    never = [f"`kumihimo run` does not handle these calls, the MPI library ran them: {others}"] if others else []
    packed = summary.get("packed_from_device", 0)
    packs = [f"{packed} calls had GPU buffers, whose data were copied through host memory"] if packed else []
    unheeded = [NO_EFFECT.format(name) for name in unheeded_parameters(choices)]
    topologies = [reordered(row) for row in summary.get("reordered") or ()]
    shapes = ", ".join(f"{name} ({number})" for name, number in (summary["communicators"] or {}).items())
    bits = [promised(summary)] if summary.get("reproducible") else []
    about = [f"communicators of rank {reported[0] if reported else 0}: {shapes}"] if shapes else []
    ended = []
    if reported:
        ended = [f"MPI_Abort ended the program; only the calls of {whose}, which called it, are counted"]
    if not finalized and not reported:
        ended = ["the program ended without MPI_Finalize; only the calls of rank 0 are counted"]
    if finalized and not of_all and reported is None:
        is_lost = any(row["reason_id"] == NOT_LOADED for row in summary["forwarded"])
        ended += [LOST if is_lost else RANK_0_ALONE]
    is_default = summary.get("reproducible") == "order" and not any(has_fixed_order(choice) for choice in choices)
    source = [NO_WISDOM] if without == NONE_FOUND else []
    if path:
        source = [f"wisdom: {path}" + (f"; {DEFAULTS}" if is_default else "")]
    source += [NO_CHOICES] if path and named and not choices else []
    return [*source, *unheeded, *ended, *ran, *left, *never, *packs, *topologies, *bits, *about]


def reason_text(row: dict, summary: dict, choices: list[dict], without: str, size: dict | None = None) -> str:
    """The end of a line about calls that the MPI library ran."""
    reason = f"; reason: {why(row, summary, choices, without, size)}"
    return reason + ("" if row.get("reproducible", True) else "; not reproducible")


def why(row: dict, summary: dict, choices: list[dict], without: str, size: dict | None = None) -> str:
    """Why the MPI library ran these calls. The processes know only that no algorithm was chosen; the choices say why.
    `size`: the row of the calls of one size class, if all of them have this reason."""
    if row["reason_id"] != NOT_CHOSEN:
        return row["reason"]
    found = ""
    with contextlib.suppress(KeyError, TypeError, AttributeError):  # people may have written them
        found = wisdom_reading.why_library(row["collective"], summary, choices, size) if choices else ""
    return without or found or (UNCLEAR if choices else row["reason"])


def has_fixed_order(choice: dict) -> bool:
    return isinstance(choice, dict) and choice.get("determinism") == "fixed_order"


def unheeded_parameters(choices: list[dict]) -> list[str]:
    """The parameters of the wisdom that only the simulator heeds."""
    from kumihimo.collectives import arguments

    with contextlib.suppress(TypeError, AttributeError):  # people may have written them
        return arguments.of_simulator_alone(dict.fromkeys(name for c in choices for name in c.get("parameters", {})))
    return []


def lengths(row: dict) -> str:
    """Lengths of the calls of a line; a barrier has none."""
    if not _schedule.meaning(row["collective"].removeprefix("i")).moves_data:
        return ""
    return f" from {with_unit(row['bytes_from'])} to under {with_unit(row['bytes_to'] + 1)}"


def reordered(row: dict) -> str:
    """A line about the topologies of one call for which the program lets ranks be reordered."""
    whole = f"{row['call']}: {row['reordered']} of {row['communicators']} communicators reordered"
    traffic = "hop-bytes" if row["measure"] == "hop_bytes" else "traffic between nodes"
    if row["reordered"]:
        share = f": {row['after'] / row['before']:.0%} of that in the original order" if row["before"] else ": none"
        if row["packages_before"]:
            share += f"; between packages of a node {row['packages_after'] / row['packages_before']:.0%}"
        return f"{whole}; their {traffic}{share}"
    if row["on_one_node"] == row["communicators"]:
        return f"{whole}; reason: all their ranks are on one node"
    return f"{whole}; reason: no order was found with at least 2 % less {traffic}"


def promised(summary: dict) -> str:
    """Promise of equal bits, with its exceptions: persistent and one-sided calls."""
    unhooked = summary.get("unhooked_reductions", 0)
    but = f"; the MPI library ran {unhooked} reductions of other kinds, which may not be reproducible"
    return PROMISES[summary["reproducible"]] + (but if unhooked else "")


def in_tuning(calls: dict, summary: dict, choices: list[dict]) -> str:
    """How much faster than the library's own."""
    if calls["algorithm"] == "library":
        return ""
    found = None
    with contextlib.suppress(KeyError, TypeError, AttributeError):  # figures are for people, who may have written them
        order = bool(summary.get("reproducible")) and calls["collective"] in REDUCTIONS
        shapes = wisdom_reading.shapes_of_communicators(summary)
        found = wisdom_reading.speedup(calls, summary["ranks"], choices, order, shapes)
    if found is None:
        return ""
    low, high = (f"{times:.2f}" for times in found)
    return f", {low if low == high else f'{low} to {high}'} times as fast as the MPI library in tuning"


def checked_algorithm(text: str | None, mode: str) -> str:
    """Each of at least one of the collectives that are hooked, or of the one that is named before it; where an order is
    to be kept, one that keeps it."""
    from kumihimo import _collectives

    for item in [] if text is None else text.split(","):
        kind, equals, name = item.rpartition("=")
        if equals and kind not in HOOKED:
            rule = f"the word before = must be one of {', '.join(HOOKED)}"
            raise wrong_value(rule, repr(kind), did_you_mean(kind, HOOKED))
        among = (kind,) if equals else HOOKED
        all_of = [(kind, v) for kind in among for v in _collectives.variants(kind)]
        known = [(kind, v) for kind, v in all_of if v.name == name]
        if not known:
            rule = f"--algorithm must name one of docs/algorithms.md{' for ' + kind if equals else ''}"
            before, colon, after = name.partition(":")
            by_equals = f"write {before}={after}" if colon and not equals else ""
            raise wrong_value(rule, repr(name), by_equals or did_you_mean(name, [v.name for _, v in all_of]))
        if all(v.offloads for _, v in known):
            raise not_applicable(f"{name} needs an offload engine in the network, which MPI libraries do not offer")
        kept = all(v.rounding["independent_of_placement"] for kind, v in known if kind in REDUCTIONS)
        if mode and not kept:
            rule = f"{REPRODUCIBLE[mode]} needs an algorithm with the same order on all placements"
            raise wrong_value(rule, name, f"leave {REPRODUCIBLE[mode]} out or use ring")
    return text or ""


def checked_shape(text: str) -> str:
    if text:
        from kumihimo import _topology

        _topology.Shape.parse(text)
    return text


def wisdom_for(wisdom: Path | None, none: bool) -> str:
    """The path as every process sees it: a file, or the folder of what tune found, in which the processes look for that
    of their machine and MPI library."""
    if wisdom is None:
        usual = wisdom_reading.folder()
        return "" if none or not usual.is_dir() else str(usual)
    if none:
        raise wrong_value("--wisdom excludes --no-wisdom and --algorithm", wisdom, "leave one of them out")
    with files.refused("--wisdom must name a file", wisdom):
        found = files.kind(wisdom)
    if found != "a file":
        raise wrong_value("--wisdom must name a file", f"{wisdom}, {found or 'no file'}")
    return str(files.real(wisdom))
