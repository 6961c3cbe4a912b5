"""`kumihimo tune`: the best algorithm for each length on this machine, kept as wisdom for `kumihimo run`."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Optional

from kumihimo import __version__
from kumihimo.cli import options, output, progress, tuned_tables
from kumihimo.cli.options import argument, option
from kumihimo.cli.paths import WrittenFolder, WrittenWhole
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import Ranks
from kumihimo.processes import allocation, launcher_environment, mpi
from kumihimo.run import wisdom_reading
from kumihimo.run.preload import HANDED_ON
from kumihimo.run.profile import collectives as collectives_of
from kumihimo.run.profile.collectives import Collectives
from kumihimo.testbed import faults
from kumihimo.text import files
from kumihimo.text.errors import Failed, KumihimoError, did_you_mean, not_applicable, wrong_value
from kumihimo.text.sizes import parse_sizes
from kumihimo.tune import library_report, program, rehearsal, targets, time_shares, tuner, wisdom
from kumihimo.tune.bench import RealNodes
from kumihimo.tune.foresight import ALWAYS_TRIED, TRIED_BEFORE_RUNS, Foresight
from kumihimo.tune.journal import FAULTS, Journal
from kumihimo.tune.launches import BudgetClock, Launches, on_this_machine
from kumihimo.tune.mpi_library.algorithms import COLLECTIVES as EXPORTED
from kumihimo.tune.other_cases import USUAL
from kumihimo.tune.targets import ANY, COLLECTIVES, FIXED_ORDER, REDUCTIONS, Target

SETTINGS = (
    "OMPI_MCA_",
    "PRTE_MCA_",
    "PMIX_MCA_",
    "MPIR_CVAR_",
    "UCX_",
    allocation.LINKS,
    *HANDED_ON,
)  # prefixes of settings


def command(
    collectives: argument(
        "[COLLECTIVE...]", "Collectives [default: allreduce bcast reduce].", Optional[list[str]]
    ) = None,
    ranks: option(
        "--ranks -p P[,P..]", "Numbers of ranks [default: 2, 4 and one per processor; in a testbed one per slot]."
    ) = None,
    ranks_per_node: option("--ranks-per-node G", "Emulate nodes of G ranks, or of 4,3,5 ranks [default: none].") = None,
    sizes: option("--bytes -b SIZES", "Message sizes: 64KiB or 8..16MiB (doubling) [default: 8..16MiB].") = None,
    profile: option("--profile FILE", "Tune what this program asked for, as `kumihimo record` wrote it.", Path) = None,
    library: options.Library = None,
    out: options.written(
        "--output -o FILE", "Wisdom file to write [default: the one that `run` finds].", WrittenWhole
    ) = None,
    budget: options.Budget = "5m",
    fresh: option("--fresh", "Discard measurements of earlier tunings.") = False,
    reproducible: option("--reproducible", "Use only algorithms with a fixed order of operands.") = False,
    machine: option("--machine -m M", "Described machine to tune for by simulation.") = None,
    software: options.Software = None,
    shape: options.Shape = None,
    export: options.written("--export DIR", "Folder for files that tune the MPI library itself.", WrittenFolder) = None,
    as_json: options.Json = False,
) -> int:
    """Choose the fastest algorithm for each message size. `kumihimo run` uses the choices. The MPI library's algorithm
    stays where no other is certainly faster.

    Ctrl-C keeps the results so far; run the same command again to continue. A budget that is too short for even one
    message size is exceeded until one is measured. Exit codes: 0 done, also if the MPI library's algorithms stay
    everywhere; 1 if nothing could be measured, a result was wrong, or --export failed, and after Ctrl-C; 143 after
    SIGTERM.

    \b
    Example:
    kumihimo tune allreduce --budget 2m
    """
    options.check_software(software, machine)
    if profile is not None:
        refuse_beside_profile(
            {
                "--ranks": ranks,
                "--ranks-per-node": ranks_per_node,
                "--bytes": sizes,
                "--machine": machine,
                "--shape": shape,
                "--export": export,
                "--reproducible": reproducible or None,
            }
        )
    asked = TuneCommand(
        checked_collectives(collectives, reproducible),
        even(parse_sizes(sizes or "8..16MiB")),
        BudgetClock(budget),
        fresh=fresh,
    )
    if export is not None and not set(asked.collectives) & set(EXPORTED):
        raise not_applicable(
            f"--export is for {', '.join(EXPORTED)}", f"only {', '.join(asked.collectives)}", "leave it out"
        )
    each = arguments.ranks_per_node_named(ranks_per_node)
    if machine is not None:
        refuse_beside_machine(library, reproducible, export)
        found = simulate(asked, machine, software, Ranks(shape, *one_of(ranks), each), out)
    elif profile is not None:
        found = of_program(asked, profile, collectives and asked.collectives, library, out)
    elif shape is not None:
        raise wrong_value("--shape needs --machine", shape, "a job tells its shape by KUMIHIMO_SHAPE")
    else:
        numbers = [sum(each)] if ranks is None and isinstance(each, tuple) else ranks_of(ranks)
        found = of_ranks(asked, library, numbers, each, reproducible, out, export)
    if as_json:
        output.print_json({**found, **output.own_cost()})
    else:
        tuned_tables.show(found)
    if found["interrupted"]:
        so_far = f"the results so far are in {found['wisdom']}" if found["results"] else "there are no results yet"
        output.message(f"interrupted; {so_far}; run the same command again to continue")
    elif found["wisdom"] is None:
        return 0
    elif not found["results"] and not found["not_exported"]:
        output.message("no message size could be measured; run the same command again, or give a larger --budget")
    for line in found["not_exported"]:
        output.message(line)
    troubles = ("interrupted", "wrong", "disobeyed", "not_exported")
    return asked.interruption.code or int(not found["results"] or any(found[trouble] for trouble in troubles))


LISTS = ("left_to_the_library", "wrong", "measured_before", "guidelines", "exports", "disobeyed", "not_exported")
NOTHING_TO_TUNE = {
    "wisdom": None,
    "mpi": None,
    "results": [],
    "notes": [],
    "interrupted": False,
    **dict.fromkeys(LISTS, ()),
}


@dataclass
class TuneCommand:
    """Request for a machine here or a described one. `runs_follow`: whole runs of the program prove the choices. Of
    those, `known` are tried before anything is measured, and at most `beyond` seconds go beyond the budget for one
    size.
    """

    collectives: list[str]
    sizes: list[int]
    clock: BudgetClock
    fresh: bool = False
    runs_follow: bool = False
    known: Sequence[dict] = ()
    beyond: float = tuner.BEYOND
    outcomes: list[tuner.TargetOutcome] = field(default_factory=list)
    interruption: progress.Interruption = field(default_factory=progress.Interruption)

    def take(self, outcome: tuner.TargetOutcome) -> None:
        """In place of an earlier one of the same target, unless that has more."""
        place = next((i for i, earlier in enumerate(self.outcomes) if earlier.target == outcome.target), None)
        if place is None:
            self.outcomes.append(outcome)
            return
        earlier = self.outcomes[place]
        kept = outcome if len(outcome.left) <= len(earlier.left) else earlier
        kept.wrong = list(dict.fromkeys([*earlier.wrong, *outcome.wrong]))  # what was found wrong once stays told
        self.outcomes[place] = kept


# --- the command line


def checked_collectives(names: list[str] | None, reproducible: bool) -> list[str]:
    """In the order of their use; the usual ones that make sense unless some are named."""
    known = REDUCTIONS if reproducible else COLLECTIVES
    names = names or [name for name in known if name in targets.USUAL]
    for name in names:
        if name not in known:
            kind = "a collective that reduces" if reproducible and name in COLLECTIVES else "a collective"
            raise wrong_value(
                f"{kind} must be one of {', '.join(known)}", f"'{name}'", did_you_mean(name, (*known, "kernel"))
            )
    return [name for name in known if name in names]


def ranks_of(text: str | None) -> list[int] | None:
    """In the order given, each once."""
    if text is None:
        return None
    numbers = []
    for word in text.split(","):
        if not re.fullmatch(r"[0-9]{1,9}", word.strip()) or int(word) < 2:
            raise wrong_value("--ranks must be numbers of at least 2, such as 2,4", f"'{text}'")
        numbers.append(int(word))
    return list(dict.fromkeys(numbers))


def one_of(text: str | None) -> tuple[int | None]:
    numbers = ranks_of(text)
    if numbers is not None and len(numbers) > 1:
        raise wrong_value("--machine takes one number of --ranks", text)
    return (numbers[0] if numbers else None,)


def even(sizes: list[int]) -> list[int]:
    """The sizes, sorted; refuses those that are not whole elements, which are measured."""
    for size in sizes:
        if size % 8:
            raise wrong_value("--bytes must be multiples of 8, the size of an element", size)
    return sorted(set(sizes))


def refuse_beside_profile(given: Mapping[str, object]) -> None:
    """Options that ask for what the profile says."""
    for name, value in given.items():
        if value is not None:
            raise wrong_value(
                f"--profile excludes {name}", value if value is not True else None, "leave one of them out"
            )


def refuse_beside_machine(library: str | None, reproducible: bool, export: Path | None) -> None:
    if export is not None:
        raise wrong_value("--machine excludes --export", export, "its files are for an MPI library on this machine")
    if library is not None:
        raise wrong_value("--machine excludes --mpi", library, "the simulator uses no MPI library")
    if reproducible:
        raise wrong_value("--machine excludes --reproducible", None, "tune for a fixed order on the machine itself")


# --- the work


def of_ranks(
    asked: TuneCommand,
    library: str | None,
    ranks: list[int] | None,
    ranks_per_node: int | tuple[int, ...] | None,
    reproducible: bool,
    out: Path | None,
    export: Path | None,
) -> dict:
    installation = own_launches(library)
    numbers = ranks or targets.usual_ranks(installation.family)
    wanted = [
        Target(collective, number, ranks_per_node, FIXED_ORDER if reproducible else ANY)
        for number in numbers
        for collective in asked.collectives
    ]
    for target in wanted:
        tuner.check_target(target)
    here = tuner.probe(installation, numbers)
    check_real_nodes(here.nodes, ranks_per_node, export)
    path = out or wisdom.usual_path(here.mpi)
    wisdom.check_writable(path)
    if export is not None:
        files.check_folder(export, "--export must name a folder that can be written")
    return measure(asked, installation, here, wanted, path, wisdom.existing(path, here.mpi), export)


def of_program(
    asked: TuneCommand,
    path: Path,
    collectives: list[str] | None,
    library: str | None,
    out: Path | None,
    srun_options: Sequence[str] = (),
) -> dict:
    """Tunes the calls of a profile's program, as wisdom of its own. `srun_options`: for processes that srun starts."""
    profile = collectives_of.of(path)
    wanted = program.plan(profile, collectives)
    if not wanted.targets:
        tuned_tables.tell_of(profile, wanted)
        return {**NOTHING_TO_TUNE, "profile": tuned_tables.profile_object(profile, wanted, program.Gain())}
    installation = launches_as_in(profile, library, srun_options)
    here = tuner.probe(installation, [*(target.ranks for target in wanted.targets), profile.expected])
    check_same_place(profile, here, path)
    tuned_tables.tell_of(profile, wanted)
    tuned_tables.tell_budget(wanted, wanted.seconds_needed(here.launch_seconds), asked.clock.seconds)
    place = out or wisdom.usual_path(here.mpi, profile.program)
    wisdom.check_writable(place)
    old = wisdom.existing(place, here.mpi)
    if old is None and out is None and profile.program:  # so that it loses nothing that all programs have
        old = wisdom.existing(wisdom.usual_path(here.mpi), here.mpi)
    found = measure(asked, installation, here, wanted.targets, place, old, None, path)
    gain = program.predicted_gain(profile, found["results"])
    return {**found, "profile": tuned_tables.profile_object(profile, wanted, gain)}


def own_launches(library: str | None) -> mpi.Installation:
    refuse_as_rank()
    return mpi.choose(library)


def refuse_as_rank() -> None:
    if launcher_environment.place():
        raise wrong_value("kumihimo tune starts its processes itself", "mpirun kumihimo tune", "leave mpirun out")


def launches_as_in(profile: Collectives, library: str | None, srun_options: Sequence[str]) -> mpi.Installation:
    """Launches by the launcher that started the program."""
    if library is not None or profile.srun_mpi is None:
        return own_launches(library or mpi.family_of(profile.mpi))
    refuse_as_rank()
    kind = [f"--mpi={profile.srun_mpi}"] if profile.srun_mpi else []
    return mpi.by_srun(profile.mpi, profile.library, [*srun_options, *kind])


def check_same_place(profile: Collectives, here: tuner.Probe, path: Path) -> None:
    """Refuses a profile recorded on another machine: it does not show which algorithm is fast here."""
    if profile.mpi != here.mpi:
        raise not_applicable(
            f"the profile must be of the MPI library that is tuned, {here.mpi}",
            f"{path} of {profile.mpi}",
            "name that library with --mpi, or record again",
        )
    nodes = here.nodes.get(profile.expected)
    several = nodes.counts[1] if nodes else 1
    if profile.hosts != several:
        raise not_applicable(
            f"{profile.expected} ranks must be on as many nodes as in the profile, {profile.hosts}",
            several,
            "run kumihimo tune in a job on as many nodes",
        )


def measure(
    asked: TuneCommand,
    installation: mpi.Installation,
    here: tuner.Probe,
    wanted: Sequence[Target],
    path: Path,
    old: dict | None,
    export: Path | None,
    profile: Path | None = None,
) -> dict:
    """`old`: the choices that the file at `path` keeps where the new ones say nothing."""
    wanted = [replace(target, on=here.nodes[target.ranks]) for target in wanted]
    version = here.mpi
    head = {
        "machine": wisdom.machine_object(),
        "mpi": version,
        "kumihimo": __version__,
        **measurement_conditions(os.environ),
    }
    journal = Journal(state_of(path), head, asked.fresh)
    launches = Launches(on_this_machine(installation), journal, asked.clock)
    stage, unrehearsed = stage_on(installation)
    launches.overhead = here.launch_seconds
    foresight = foresight_here(TRIED_BEFORE_RUNS if asked.runs_follow else ALWAYS_TRIED)

    def save() -> dict:
        choices = [choice for outcome in asked.outcomes for choice in outcome.choices]
        made = {**wisdom.made_by(asked.clock), "launches": journal.launches, "launches_now": launches.made}
        made |= {"question": USUAL} if profile is None else {"profile": str(profile)}
        new = wisdom.document(choices, made, machine=wisdom.machine_object(), mpi=version)
        wisdom.extend(path, old, new)
        return {"wisdom": str(path), "mpi": version, "made": made, "results": choices}

    report = library_report.LibraryReport()
    try:
        with asked.interruption, progress.bar("tuning", tuner.steps(wanted), lines=True) as advance:
            exported = [] if profile else [name for name in asked.collectives if name in EXPORTED]
            study = library_report.LibraryStudy(installation, asked.sizes, asked.clock, journal, advance, exported)
            study.launch_seconds, study.nodes = lambda: launches.overhead, here.nodes
            work = tuner.CollectiveTuner(
                launches,
                tuner.by_golden_copy(installation),
                journal,
                advance,
                stage,
                foresight,
                asked.runs_follow,
                asked.known,
            )
            whole = time_shares.outcomes(work, study, wanted, export, report)
            for outcome in whole if profile is None else work.tune(wanted, ()):
                asked.take(outcome)
                save()
            found_one = any(outcome.choices for outcome in asked.outcomes)
            if not launches.interrupted and not found_one and asked.beyond > 0:
                advance("the budget was too short for even one size; tuning goes on until it has one")
                asked.take(work.one_size(wanted[0], asked.sizes, asked.beyond))
    except KumihimoError:
        save()
        raise
    finally:
        journal.close()
    found = save()
    reached = {outcome.target for outcome in asked.outcomes}
    left = [{"target": str(o.target), "bytes": o.left} for o in asked.outcomes if o.left]
    left += [{"target": str(target), "bytes": target.sizes(asked.sizes)} for target in wanted if target not in reached]
    return {
        **found,
        "left_to_the_library": left,
        "wrong": [wrong for outcome in asked.outcomes for wrong in outcome.wrong],
        "measured_before": [str(outcome.target) for outcome in asked.outcomes if outcome.again],
        "guidelines": report.violations,
        "exports": report.exports,
        "disobeyed": report.disobeyed,
        "not_exported": report.undelivered,
        "notes": [
            *(f"{number} ranks on several nodes: {nodes}" for number, nodes in here.nodes.items() if nodes),
            *notes_of(journal),
            *unrehearsed,
            *collectives_without_rules(asked, export),
            *(line for line in report.lacking if line not in report.undelivered),
            *(foresight.notes if foresight else ()),
            *notes_on(asked, launches),
        ],
        "interrupted": asked.interruption.code != 0 or launches.interrupted,
    }


def foresight_here(always: int) -> Foresight | None:
    """Where the job's surroundings name a machine file, as those of a testbed do."""
    from kumihimo.cli import machines

    file = machines.of_job()
    if file is None:
        return None
    from kumihimo.tune.simulated import seconds_on

    machine = machines.load(file)
    return Foresight(machine.name, seconds_on(machine), always)


def check_real_nodes(nodes: Mapping[int, RealNodes | None], ranks_per_node: object, export: Path | None) -> None:
    """Refuses options for one node where ranks are on several."""
    several = next((f"{number} ranks on {nodes[number]}" for number in nodes if nodes[number]), None)
    if several and ranks_per_node is not None:
        raise wrong_value("--ranks-per-node emulates nodes on one real node", several, "leave it out")
    if several and export is not None:
        raise not_applicable("--export is for ranks on one node", several, "leave it out")


def stage_on(installation: mpi.Installation) -> tuple[rehearsal.Stage | None, list[str]]:
    """Where choices are rehearsed, or why they cannot be."""
    try:
        return rehearsal.on_this_machine(installation), []
    except Failed as reason:
        return None, [f"the choices were not tested in a program (rehearsal): {reason}"]


def simulate(asked: TuneCommand, name: str, software: str | None, ranks: Ranks, out: Path | None) -> dict:
    from kumihimo.cli import machines
    from kumihimo.predict import simulation
    from kumihimo.tune.simulated import Simulated, asked_of, predict

    job = simulation.on(machines.load(name, software), ranks)
    machine = job.machine
    shape = simulation.shape_of(machine)
    state = {"software": machine.software_state} if machine.software_state else {}
    place = {"machine": machine.name, **state, "shape": shape, "model": "flow"}
    name = "-".join(["simulated", machine.name, *state.values(), shape]).replace("/", "-")
    path = out or wisdom_reading.folder() / f"{name}.json"
    wisdom.check_writable(path)
    old = wisdom.existing(path, "", simulated=place)
    # Predictions of another content of the machine file would mix two machines.
    content = hashlib.sha256(machine.to_json().encode()).hexdigest()
    journal = Journal(state_of(path), {**place, "machine_content": content, "kumihimo": __version__}, asked.fresh)
    choices: list[dict] = []
    left: list[dict] = []
    with asked.interruption, progress.bar("tuning", 3 * len(asked.collectives) * len(asked.sizes)) as advance:
        work = Simulated(
            asked_of(job),
            journal,
            asked.clock,
            lambda asked, size: progress.run_interruptible(lambda: predict(asked, size)),
            advance,
        )
        try:
            for collective in asked.collectives:
                found, without = work.tune(collective, asked.sizes)
                choices += found
                left += [{"target": collective, "bytes": without}] if without else []
        finally:
            journal.close()
    made = {**wisdom.made_by(asked.clock), "simulated": place}
    wisdom.extend(path, old, wisdom.document(choices, made))
    return {
        "wisdom": str(path),
        "mpi": None,
        "made": made,
        "results": choices,
        "left_to_the_library": left,
        **dict.fromkeys(LISTS[1:], ()),
        "notes": ["all times are predictions of the simulator", *notes_of(journal)],
        "interrupted": asked.interruption.code != 0,
    }


def measurement_conditions(environment: Mapping[str, str]) -> dict:
    """Other conditions of times: how many processors processes may run on, settings of the MPI library, which kernels
    were tuned, and faults of a testbed.
    """
    settings = {name: environment[name] for name in sorted(environment) if name.startswith(SETTINGS)}
    kernels = wisdom.kernel_path()
    chosen = hashlib.sha256(kernels.read_bytes()).hexdigest()[:16] if kernels.is_file() else None
    conditions = {"processors_allowed": mpi.available_processors(), "settings": settings, "kernels": chosen}
    return {**conditions, FAULTS: faults.in_force()}


def notes_of(journal: Journal) -> list[str]:
    return [note for note in (journal.replaced, journal.unlocked) if note]


def collectives_without_rules(asked: TuneCommand, export: Path | None) -> list[str]:
    """Collectives for which the files have no rules."""
    left = [name for name in asked.collectives if name not in EXPORTED]
    return [f"--export writes no rules for {', '.join(left)}"] if export is not None and left else []


def notes_on(asked: TuneCommand, launches: Launches) -> list[str]:
    """Further notes about a tuning, for people."""
    notes = []
    if any(choice.get("emulated") for outcome in asked.outcomes for choice in outcome.choices):
        notes.append("the nodes are emulated; `kumihimo run` uses these choices only with --wisdom FILE")
    if cut := [str(outcome.target) for outcome in asked.outcomes if not outcome.thorough]:
        notes.append(
            f"the search is not complete for {', '.join(cut)}: choices are valid, but more time may find faster ones; "
            "run the same command again, or give a larger --budget"
        )
    return [*notes, *(f"a launch failed; tuning continued without {what}" for what in launches.failures)]


def state_of(path: Path) -> Path:
    return path.with_name(path.name + ".state")
