"""`kumihimo bench`: how long a collective takes on this machine's MPI processes, beside the MPI library's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Optional, TypeVar

from kumihimo import _collectives
from kumihimo._plan import SMALLEST_TAG_UPPER_BOUND
from kumihimo.cli import asserts, machines, options, output, progress
from kumihimo.cli.options import option
from kumihimo.collectives import arguments, program_sets
from kumihimo.collectives.arguments import Ranks
from kumihimo.network import placement as placements
from kumihimo.predict.workloads.catalogue import WORKLOAD
from kumihimo.processes import allocation, launcher_environment, mpi
from kumihimo.text import quantities
from kumihimo.text.errors import NotApplicable, not_applicable, wrong_value
from kumihimo.text.sizes import parse_size, parse_sizes, text_of
from kumihimo.tune import bench
from kumihimo.tune.bench import formats, tuned
from kumihimo.tune.bench.cases import NODE, NONE, sizes_of
from kumihimo.tune.bench.job import Launcher
from kumihimo.tune.bench.programs import ProgramCase

ALL, AUTO = "all", "auto"
USUAL_SIZES = "8..16MiB"
SECONDS = 30.0  # what a run with the defaults aims at; a busy machine takes longer
LAUNCH_SECONDS = 4.0  # of starting processes and of the bound
MOST_CASE_SECONDS = 0.1
PROGRAM_SECONDS = 0.5  # of each way to run programs, in one launch
NO_EFFECT = "--{} has no effect in bench: only the simulator heeds it"
OF_PROGRAMS = (
    *(
        "order",
        "placement",
        "machine",
        "software",
        "library",
        "launches",
        "check",
        "pinning",
        "tag_upper_bound",
        "shared_memory",
    ),
    *("format_", "asserts_file", "junit"),
)
T = TypeVar("T")


@options.with_parameters(hints=True)
def command(
    collective: options.CollectiveProgramsOrWorkload,
    sizes: option("--bytes -b SIZES", "Message sizes: 64KiB or 8,64KiB..1MiB [default: 8..16MiB].") = None,
    algorithm: option("--algorithm -a NAME", "Name of an algorithm, all, or auto (choose for each size).") = ALL,
    ranks: option(
        "--ranks -p P", "Number of MPI processes [default: 4, or one for each slot in a testbed].", int
    ) = None,
    shape: option("--shape -s SHAPE", "Shape of the nodes: 2x2, node, node:4 or none.") = NODE,
    ranks_per_node: option("--ranks-per-node G", "Emulate nodes of G ranks, or of 4,3,5 ranks [default: none].") = None,
    order: options.Order = None,
    placement: options.Placement = None,
    machine: option("--machine -m NAME", "Machine whose rates time the compute steps of a program file.") = None,
    software: options.Software = None,
    library: options.Library = None,
    launches: option("--launches N", "Number of launches [default: 1; with --algorithm auto 9].", int) = None,
    type_: options.Type = "float64",
    operation: options.Operation = "sum",
    root: options.Root = 0,
    in_place: options.InPlace = False,
    counts: options.Counts = None,
    neighbours: options.Neighbours = None,
    parameters: Optional[dict] = None,
    check: option("--check", "Compare results bit for bit instead of measuring.") = False,
    pinning: option("--pinning HOW", "Pinning of ranks: auto (one rank per processor) or none.") = "auto",
    tag_upper_bound: option(
        "--tag-upper-bound N", f"Largest MPI tag, at least {SMALLEST_TAG_UPPER_BOUND} [default: MPI_TAG_UB].", int
    ) = None,
    shared_memory: option("--shared-memory SIZE", "Limit of shared memory, 0 for none [default: no limit].") = None,
    format_: option("--format FORMAT", "Output format: table, csv, json, osu or imb.") = "table",
    asserts_file: asserts.File = None,
    junit: asserts.Junit = None,
    as_json: options.Json = False,
) -> int:
    """Measure a collective beside the MPI library's own call. A halo exchange or a program file is measured beside the
    same exchange written by hand in MPI. Of a workload the communication alone is played and checked.

    \b
    Examples:
    kumihimo bench allreduce --ranks 4 --bytes 8..1MiB --shape 2x2
    kumihimo bench workload:rsdft,steps=1 --ranks 4
    kumihimo bench halo:64x64x64,points=27 --shape 2x2 --launches 5
    """
    options.check_software(software, machine)
    arguments.refuse_misspelt_kind(collective, (WORKLOAD, arguments.HALO, arguments.FILE))
    of_workload = collective.startswith(WORKLOAD)
    if not of_workload and not arguments.names_programs(collective):
        options.refuse_beside_collective(collective)
    if machine is not None and not collective.startswith(arguments.FILE):  # a halo exchange computes for seconds
        raise wrong_value("only program files (file:PATH) take --machine", machine, "leave it out")
    if format_ not in formats.FORMATS:
        raise wrong_value(f"--format must be one of {', '.join(formats.FORMATS)}", f"'{format_}'")
    if as_json and format_ not in ("table", "json"):
        raise wrong_value("--json excludes other formats", f"--format {format_}", "leave one of them out")
    if pinning not in ("auto", "none"):
        raise wrong_value("--pinning must be auto or none", f"'{pinning}'")
    if launches is not None and launches < 1:
        raise wrong_value("--launches must be at least 1", launches)
    if tag_upper_bound is not None:
        arguments.within("--tag-upper-bound", tag_upper_bound, 31)
    if tag_upper_bound is not None and tag_upper_bound < SMALLEST_TAG_UPPER_BOUND:
        raise wrong_value(f"--tag-upper-bound must be at least {SMALLEST_TAG_UPPER_BOUND}", tag_upper_bound)
    if check:
        refuse_beside_check(algorithm, launches, format_)
    elif algorithm == AUTO and parameters:
        given = f"--{next(iter(parameters)).replace('_', '-')}"
        raise wrong_value("--algorithm auto chooses the parameters", given, "leave it out, or name an algorithm")
    if arguments.is_listed(counts) and algorithm == AUTO:
        rule = "--algorithm auto takes no list of --counts, because it chooses by one length"
        raise wrong_value(rule, counts, "name an algorithm, or give --counts random:1")
    if check and (asserts_file or junit):
        raise wrong_value("--check measures no times, so it takes no asserts", asserts_file or junit, "leave one out")
    keeps = asserts.AssertCheck.of(asserts_file, junit)
    place = launcher_environment.place()
    if of_workload:
        from kumihimo.cli import bench_workload

        format_ = "json" if as_json else format_
        asked_ranks = ranks if place else ranks_of(ranks, place)
        return bench_workload.run(collective, asked_ranks, library, launches or 1, format_, keeps, place)
    each = arguments.ranks_per_node_named(ranks_per_node)
    if shape.startswith(f"{NODE}:"):
        shape, ranks = NODE, arguments.rank_space(Ranks(shape, ranks, each or 1)).ranks
    run = {
        "pinning": pinning,
        "tag_upper_bound": -1 if tag_upper_bound is None else tag_upper_bound,
        "shared_memory_limit_bytes": -1 if shared_memory is None else parse_size(shared_memory, 0),
    }
    if arguments.names_programs(collective):
        hints = [each.name for each in _collectives.declared_parameters() if each.kind == "hint"]
        options.refuse_beside_programs(*OF_PROGRAMS, *hints)
        if format_ not in ("table", "json"):
            raise wrong_value("--format of a halo exchange or program file must be table or json", f"'{format_}'")
        if place is None:
            ranks = program_sets.named(collective).ranks(Ranks(shape, ranks, each)).ranks
        case = ProgramCase(
            collective,
            ranks_of(ranks, place, each, shape),
            shape,
            each,
            parameters,
            placements.wanted(order, placement),
            machines.load(machine, software).compute_rates if machine else (0.0, 0.0),
        )
        launcher = Launcher(case.ranks, mpi.choose(library or (place.family if place else None)), seconds=600)
        return bench_programs(case, launcher, launches or 1, check, "json" if as_json else format_, run, keeps)
    asked = BenchCommand(
        case=bench.BenchCase(
            collective,
            algorithm,
            type=type_,
            operation=operation,
            root=root,
            in_place=in_place,
            shape=shape,
            ranks_per_node=each,
            neighbours=arguments.neighbours_named(neighbours),
            counts=counts,
            parameters=parameters,
            placement=placements.wanted(order, placement),
        ),
        sizes=sizes_asked(collective, sizes, counts),
        ranks=ranks_of(ranks, place, each),
        installation=mpi.choose(library or (place.family if place else None)),
        launches=launches,
        options=run,
    )
    if check:
        found = {"results": on_real_nodes(checked, asked)}
    elif algorithm == AUTO:
        found = on_real_nodes(chosen_and_measured, asked)
    else:
        found = with_notes_of_no_effect(on_real_nodes(measured, asked), parameters)
    code = keeps.judge_results(found)
    show(found, "json" if as_json else format_)
    return exit_code(found["results"]) or code


def exit_code(results: list[dict]) -> int:
    """1 if a result is wrong, or differs between ranks or calls."""
    return 0 if all(r.get("right", r.get("bitwise", True)) for r in results) else 1


def refuse_beside_check(algorithm: str, launches: int | None, format_: str) -> None:
    """Refuses options about times, which mean nothing where nothing is timed."""
    if launches is not None:
        raise wrong_value("--check takes no --launches", f"--launches {launches}", "leave it out")
    if algorithm == AUTO:
        raise wrong_value("--check needs an algorithm or all", AUTO, "name an algorithm, or leave --algorithm out")
    if format_ not in ("table", "json"):
        raise wrong_value("--check measures no times, so its --format must be table or json", f"'{format_}'")


def bench_programs(
    case: ProgramCase,
    launcher: Launcher,
    launches: int,
    check: bool,
    format_: str,
    run: dict,
    keeps: asserts.AssertCheck,
) -> int:
    """Programs that are no collective, beside the same written by hand."""
    if check:
        found = {"results": bench.programs.check(case, launcher, **run)}
    else:
        if launches > 1 and launcher_environment.place():
            raise wrong_value("under mpirun there is one launch", f"--launches {launches}", "run without mpirun")
        with progress.bar("measuring", launches) as advance:
            found = bench.programs.measure(
                case, launcher, launches, lambda: advance(case.text), case_seconds=PROGRAM_SECONDS, **run
            )
    code = keeps.judge_results(found)
    if format_ == "json":
        output.print_json({**found, **output.own_cost()})
    elif check:
        (result,) = found["results"]
        print(f"{result['programs']} on {result['space']}: {'right' if result['right'] else result['found']}")
    else:
        show_programs(found)
    return exit_code(found["results"]) or code


@dataclass
class BenchCommand:
    """The command line, understood. `case` is what all cases have in common."""

    case: bench.BenchCase
    sizes: list[int]
    ranks: int
    installation: mpi.Installation
    launches: int | None
    options: dict


def sizes_asked(collective: str, sizes: str | None, counts: str | None = None) -> list[int | None]:
    """The sizes given, or the default; none where the counts of all blocks are listed."""
    if arguments.is_listed(counts):
        if sizes is not None:
            raise wrong_value(
                "--counts with a list already gives the length", f"--bytes {sizes}", "leave one of them out"
            )
        return [None]
    return sizes_of(collective, parse_sizes(USUAL_SIZES if sizes is None else sizes))


def ranks_of(
    asked: int | None,
    place: launcher_environment.LaunchPlace | None,
    on_nodes: int | tuple[int, ...] | None = None,
    grid: str = NODE,
) -> int:
    """The ranks of the launcher that started us, or those asked for, all together, node by node, or as a grid."""
    if place and asked not in (None, place.ranks):
        raise wrong_value(f"mpirun has started {place.ranks} ranks", f"--ranks {asked}", "leave --ranks out")
    if place or asked is not None:
        return place.ranks if place else asked
    if grid not in (NODE, NONE):
        return arguments.rank_space(Ranks(grid, None, 1)).ranks
    if isinstance(on_nodes, tuple):
        return sum(on_nodes)
    slots = 0 if on_nodes else allocation.slots_of_hosts(os.environ)
    return slots if slots > 1 else 4


def on_real_nodes(work: Callable[[BenchCommand], T], asked: BenchCommand) -> T:
    """The work; where its first launch comes to several nodes, all of it on these."""
    try:
        return work(asked)
    except bench.OtherNodes as other:
        if asked.case.nodes:
            raise
        return work(replace(asked, case=replace(asked.case, nodes=other.nodes)))


def cases(asked: BenchCommand) -> list[bench.BenchCase]:
    """One algorithm, or all that apply, at every size. Where mpirun started this nobody knows yet on which nodes, so
    that the bench driver says which do, if any does on one node or on as many as ranks."""
    if asked.case.algorithm != ALL:
        return [replace(asked.case, bytes=size) for size in asked.sizes]
    found = fitting(asked)
    if not found and not (launcher_environment.place() and fitting(asked, ranks_per_node=1)):
        raise not_applicable("no algorithm fits these ranks and parameters", None, "leave the parameters out")
    if launcher_environment.place():
        names = [variant.name for variant in arguments.variants(asked.case.collective)]
        return [replace(asked.case, algorithm=name, bytes=size) for size in asked.sizes for name in names]
    return found


def fitting(asked: BenchCommand, **other: object) -> list[bench.BenchCase]:
    return bench.cases_of_all(
        asked.case.collective,
        ranks=asked.ranks,
        sizes=asked.sizes,
        parameters=asked.case.parameters,
        **{**asked.case.shared, **other},
    )


def checked(asked: BenchCommand) -> list[dict]:
    """The results of all cases, also of those that did not fit, unless one that was named had to."""
    wanted = cases(asked)
    with progress.bar("checking", len(wanted)) as advance:
        results = bench.run_check(
            wanted,
            ranks=asked.ranks,
            installation=asked.installation,
            on_result=lambda r: advance(r["algorithm"]),
            seconds=600,
            **asked.options,
        )
    if all(r.get("right", True) for r in results):  # what is wrong is shown first
        applicable(results, asked.case.algorithm)
    return results


def measured(asked: BenchCommand) -> dict:
    """In one launch, or joined over several."""
    wanted = cases(asked)
    launches = asked.launches or 1
    if launches > 1 and launcher_environment.place():
        raise wrong_value("under mpirun there is one launch", f"--launches {launches}", "run without mpirun")
    runs = []
    each = min(MOST_CASE_SECONDS, (SECONDS - LAUNCH_SECONDS) / 3 / len(wanted))
    with progress.bar("measuring", len(wanted) * launches) as advance:
        for _ in range(launches):
            run = bench.run_measure(
                wanted,
                ranks=asked.ranks,
                installation=asked.installation,
                case_seconds=each,
                on_result=lambda r: advance(f"{r['algorithm']}, {text_of(r['bytes'])}"),
                seconds=1200,
                turns_at_least=3,
                **asked.options,
            )
            applicable(run.results, asked.case.algorithm)
            runs.append(run)
    return tuned.joined(wanted, runs)


def with_notes_of_no_effect(found: dict, parameters: dict) -> dict:
    """With a note for each parameter that means nothing to real processes."""
    notes = [NO_EFFECT.format(name) for name in arguments.of_simulator_alone(parameters)]
    return {**found, "notes": [*found.get("notes", []), *notes]} if notes else found


def applicable(results: list[dict], algorithm: str) -> None:
    """Refuses a named algorithm that does not fit, and all if none does."""
    reasons = [result["not_applicable"] for result in results if "not_applicable" in result]
    if reasons and (algorithm != ALL or len(reasons) == len(results)):
        raise NotApplicable(reasons[0])


def chosen_and_measured(asked: BenchCommand) -> dict:
    if launcher_environment.place():
        raise wrong_value("under mpirun --algorithm must be all or a name", AUTO, "run without mpirun")
    effort = tuned.CaseEffort(launches=asked.launches or 9)
    with progress.bar("measuring", tuned.TRAINING + effort.launches) as advance:
        return bench.run_tuned(
            asked.case.collective,
            ranks=asked.ranks,
            sizes=asked.sizes,
            installation=asked.installation,
            effort=effort,
            step=advance,
            options=asked.options,
            **asked.case.shared,
        )


# --- output


def show(found: dict, format_: str) -> None:
    results = found["results"]
    if format_ == "json":
        output.print_json({**found, **output.own_cost()})
    elif "right" in results[0] or "not_applicable" in results[0]:
        show_checked(results)
    elif format_ in formats.WRITERS:
        print(formats.WRITERS[format_](results), end="")
    else:
        show_measured(found)


def show_checked(results: list[dict]) -> None:
    rows = []
    for r in results:
        said = r.get("not_applicable") or ("right" if r["right"] else f"wrong: {r['found']}")
        rows.append((text_of(r["bytes"]) if r["bytes"] else "0", r["algorithm"], r["space"], said))
    output.print_table("Compared with the golden copy, bit for bit", ("bytes>", "algorithm", "ranks", "result"), rows)


def show_programs(found: dict) -> None:
    results, several = found["results"], found["launches"] > 1
    show_heading(f"{results[0]['programs']} on {results[0]['space']}", found["about"])
    rows = [
        [r["library"]["call"], *times_and_ratio(r, several), "" if r["library"]["bitwise"] else "differs"]
        for r in results
    ]
    interval = ("interval>",) if several else ()
    output.print_table("", ("beside", "time>", "its time>", "ratio>", *interval, "result"), rows)
    if several:
        print(f"\n{found['launches']} launches")
    output.print_list("Notes:", found.get("notes", []))


def times_and_ratio(result: dict, several: bool) -> list[str]:
    if "library" not in result:  # MPI has no call for it
        return [quantities.seconds_text(result["seconds"]), "none", "-", *(["-"] if several else [])]
    times = [quantities.seconds_text(seconds) for seconds in (result["seconds"], result["library"]["seconds"])]
    between = [f"{result['ratio_low']:.2f}..{result['ratio_high']:.2f}"] if several else []
    return [*times, f"{result['ratio']:.2f}", *between]


def show_heading(what: str, about: dict) -> None:
    print(f"{what}, {about['mpi'].split(',')[0]}")
    nodes = bench.real_nodes(about)
    if nodes:
        print(f"nodes: {nodes}")
    if "placement" in about:
        processes = ", ".join(map(str, about["process_of_rank"]))
        print(f"ranks placed by {about['placement']}: processes {processes} of the launch (MPI_Comm_split)")
    print(f"pinning: {about['pinning']}; time of a call: that of its slowest rank; median over the calls")
    print()


def show_measured(found: dict) -> None:
    results, first = found["results"], found["results"][0]
    show_heading(f"{first['collective']} of {first['type']} on {first['space']}", found["about"])
    several = found["launches"] > 1
    interval = ("interval>",) if several else ()
    columns = ("bytes>", "algorithm", "time>", "library>", "ratio>", *interval, "parameters")
    rows = []
    for r in results:
        row = [text_of(r["bytes"]), r["algorithm"], *times_and_ratio(r, several)]
        rows.append([*row, arguments.parameters_text(r["parameters"])])
    output.print_table("", columns, rows)
    if several and found["geometric_mean"]:
        print(f"\ngeometric mean of the ratios {found['geometric_mean']:.2f}, {found['launches']} launches")
    output.print_list("Notes:", found.get("notes", []))
    unlike = [f"{r['algorithm']} at {text_of(r['bytes'])}" for r in results if not r["bitwise"]]
    output.print_list("Wrong, results differ between ranks or calls:", unlike)
