"""`kumihimo replay`: what a recorded program would do on a described machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kumihimo.cli import machines, options, output, progress, simulate_faults
from kumihimo.cli.options import argument, option
from kumihimo.text import quantities

if TYPE_CHECKING:
    from kumihimo.predict.replay.study import Change, Replay, ReplayQuestion
    from kumihimo.predict.replay.trace import Trace

MOST_SITES = 12  # rows of the table
LEAST_LOSS = 0.005  # for which there is advice
LATEST = 10  # ranks that --by-rank shows
ADVICE = {
    "load_balance": "computing is spread unevenly: give ranks equal work",
    "serialisation": "ranks wait for each other in turn: start messages earlier, or wait for them later",
    "transfer": "messages take their time: fewer and longer messages, or another algorithm",
}


OF_LOGGP, OF_PACKET = "Model loggp (LogGOPS)", "Model packet"


def command(
    trace: argument(
        "TRACE",
        "Folder of record --trace, OTF2 trace of Score-P, TAU or others, GOAL file (goal:FILE), or workload "
        "(workload:NAME, see `workload`).",
    ),
    machine: option(
        "--machine -m M",
        "Name of a machine (see `machine list`), or a machine file [default: what KUMIHIMO_MACHINE says].",
    ) = None,
    software: options.Software = None,
    model: option("--model MODEL", "Model: loggp, flow, exact or packet.") = "loggp",
    shape: options.Shape = None,
    box: options.Box = None,
    dead: options.Dead = None,
    routing: options.Routing = None,
    ranks: option(
        "--ranks -p P", "Number of ranks, to which the program is extrapolated [default: as recorded].", int
    ) = None,
    ranks_per_node: options.RanksPerNodeOrMachine = None,
    given: option(
        "--allocation WHAT", "Hosts: env (Slurm, Flux, PBS, LSF), a hostfile or a list: node[001-004]:8."
    ) = None,
    order: options.Order = None,
    placement: options.Placement = None,
    grid: option("--grid GRID", "Grid of the recorded ranks: 4x4 [default: found from the messages].") = None,
    to_grid: option("--to-grid GRID", "Grid of the ranks after extrapolation: 100x100 [default: like --grid].") = None,
    scaling: option(
        "--scaling KIND", "Extrapolation: weak (the same work a rank) or strong (the same in all)."
    ) = "weak",
    algorithm: option(
        "--algorithm -a C=NAME", "Algorithm of a collective: allreduce=ring; repeatable.", list[str]
    ) = None,
    wisdom: option("--wisdom FILE", "Take algorithms from this file of tune.", Path) = None,
    library: option(
        "--mpi NAME",
        "MPI library whose usual algorithms run the other collectives: openmpi or mpich [default: that of the "
        "recording, or mpich].",
    ) = None,
    speed: option("--speed X", "Speed of the processors: 2, or of a region: solve=2; repeatable.", list[str]) = None,
    what_if: option("--what-if", "Also predict the time with one thing changed.") = False,
    dies: option("--dies NODE@TIME", "Node that dies, as `simulate` takes it; repeatable.", list[str]) = None,
    slow: option("--slow PART=X", "Slow node or link, as `simulate` takes it; repeatable.", list[str]) = None,
    by_rank: option("--by-rank", "Show the ranks that end last; with --json all ranks.") = False,
    page: options.written("--page FILE", "Write a page with the timeline (HTML).") = None,
    timeline: options.written("--timeline FILE", "Write a timeline, which ui.perfetto.dev opens.") = None,
    goal: options.written("--goal FILE", "Write what the ranks do as a GOAL file.") = None,
    loggops: option(
        "--loggops LETTERS", "Parameters of LogGOPS in ns: L=2500,o=1500,g=1000,G=0.2,O=0,S=65535.", group=OF_LOGGP
    ) = None,
    noise: option("--noise NOISE", "Noise of the operating system, as `simulate` takes it.") = None,
    packet_bytes: option("--packet-bytes N", "Payload of a packet [default: 2048].", int, OF_PACKET) = None,
    buffer_packets: option(
        "--buffer-packets N",
        "Packets in the buffer of each virtual channel [default: 4, or more on long links].",
        int,
        OF_PACKET,
    ) = None,
    packet_seed: option("--packet-seed N", "Seed of the first turns of arbiters.", int, OF_PACKET) = 1,
    as_json: options.Json = False,
) -> None:
    """Predict what a recorded program would do on another machine, and what would change it.

    \b
    Example:
    kumihimo record --trace trace -- mpirun -n 4 ./program
    kumihimo replay trace --machine fugaku --what-if
    """
    from kumihimo.cli.replay_models import ReplayRequest
    from kumihimo.predict.replay import choices, sources, study

    of_job = None if machine or loggops or shape or box or ranks_per_node else machines.of_job()
    machine, whole = machine or of_job, of_job is not None and ranks is None
    if of_job and placement:
        given = given or machines.hosts_of_job()
    asked = ReplayRequest(
        model, machine, shape, box, dead or [], routing, ranks_per_node, given, order, placement, loggops, noise,
        packet_bytes, buffer_packets, packet_seed, dies or [], slow or [], software, whole,
    )  # fmt: skip
    asked.check()
    read, ranks = (
        (trace_of_workload(trace, ranks), None)
        if sources.is_workload(trace)
        else (sources.trace_of(trace, options.given()), ranks)
    )
    if library is not None:
        read = replace(read, mpi=choices.library_named(library))
    source, new_grid = sources.extrapolated(read, ranks, grid, to_grid, scaling)
    on = asked.on(read.graphs.ranks if source is None else source.ranks)
    general, of_regions = sources.speeds(speed or [], read)
    wished = choices.Wished.read(algorithm or [], wisdom)
    question = study.ReplayQuestion(read, source, on, wished, general, of_regions)
    wanted = ReplayOutputs(what_if, by_rank, page, timeline, goal, as_json)
    answer(question, trace, wanted, new_grid)


@dataclass
class ReplayOutputs:
    """Outputs of a replay, beside its time."""

    what_if: bool = False
    by_rank: bool = False
    page: Path | None = None
    timeline: Path | None = None
    goal: Path | None = None
    as_json: bool = False


def answer(question: ReplayQuestion, name: str, wanted: ReplayOutputs, new_grid: Mapping[str, object]) -> None:
    """Predicts, writes files, and prints. `name`: of the program; `new_grid`: members of an extrapolation."""
    from kumihimo.predict.replay import outcome, study

    with_intervals = bool(wanted.page or wanted.timeline)
    prediction = progress.run_interruptible(lambda: study.predict(question, with_intervals))
    changes = progress.run_interruptible(lambda: study.changes(prediction)) if wanted.what_if else []
    of_faults = progress.run_interruptible(lambda: study.with_faults(prediction))
    result = (
        outcome.as_object(prediction, changes, name) | new_grid | ({} if of_faults is None else {"faults": of_faults})
    )
    write_files(prediction, result, wanted)
    if wanted.as_json:
        return output.print_results_json([result | (outcome.ranks_of(prediction) if wanted.by_rank else {})])
    for line in lines(result, prediction):
        output.print_line(line)
    output.print_list("Warnings:", result["warnings"])
    print_sites(prediction)
    print_links(result)
    print_changes(prediction, changes)
    simulate_faults.print_faults({(): result})
    if wanted.by_rank:
        print_ranks(prediction)
    output.print_list("Left out:", left_out(question.trace))
    return None


def write_files(prediction: Replay, result: dict, wanted: ReplayOutputs) -> None:
    if wanted.page:
        from kumihimo.predict.replay import page as pages

        output.write(wanted.page, pages.render(prediction, result))
    if wanted.timeline:
        from kumihimo.predict.replay import chrome

        output.write(wanted.timeline, chrome.text(prediction))
    if wanted.goal:
        text = progress.run_interruptible(lambda: prediction.question.program().graphs.to_text())
        output.write(wanted.goal, text)


def trace_of_workload(name: str, ranks: int | None) -> Trace:
    """On any number of ranks, without extrapolation."""
    from kumihimo.predict.replay import sources
    from kumihimo.predict.workloads import catalogue

    options.refuse_beside("a workload", *sources.NOT_OF_WORKLOAD)
    return progress.run_interruptible(catalogue.asked(name, ranks).trace)


def lines(result: dict, prediction: Replay) -> list[str]:
    """The answer, and where the time goes."""
    total, of = result["seconds"], prediction.efficiencies
    share = quantities.share_text
    ranks = quantities.counted(result["ranks"], "rank")
    origin = result.get("programs")
    if origin is None:
        before = quantities.counted(result["recorded_ranks"], "rank")
        origin = f"recorded: {before} in {quantities.seconds_text(result['recorded_seconds'])}"
    waiting = ratio_of(prediction.ideal.total - result["computing_seconds"], total)
    loss = result["largest_loss"]
    worst = max(prediction.sites, key=site_loss(loss), default=None)
    where = f" Most of it is in {worst.name}." if worst and len(prediction.sites) > 1 else ""
    if "grid" in result:
        both = ["x".join(map(str, result[key])) for key in ("grid", "recorded_grid")]
        origin += f", grid {both[1]} extrapolated to {both[0]}, {result['scaling']} scaling"
    lost = 1 - getattr(of, loss)
    advice = [f"The largest loss is {loss.replace('_', ' ')} ({share(lost)}): {ADVICE[loss]}.{where}"]
    if total == 0 or lost < LEAST_LOSS:
        advice = []
    packets = []
    if "packets" in result:
        waited = f"{share(result['packets_waiting_share'])} waited for a link that another message had"
        links = f"at {share(result['links_waiting_share'])} of the links a packet waited"
        packets = [f"{quantities.counted(result['packets'], 'packet')}: {waited}; {links}"]
    return [
        f"{ranks} on {result['machine']}, model {result['model']}: {quantities.seconds_text(total)} ({origin})",
        *interval_lines(result),
        f"computing {share(ratio_of(result['computing_seconds'], total))}, waiting for other ranks {share(waiting)}, "
        f"transferring {share(1 - of.transfer)}",
        f"parallel efficiency {share(of.parallel)} = load balance {share(of.load_balance)} x serialisation "
        f"{share(of.serialisation)} x transfer {share(of.transfer)}",
        *advice,
        *packets,
    ]


def interval_lines(result: dict) -> list[str]:
    """Between which times nine of ten measured ones are expected."""
    from kumihimo.predict import prediction_errors

    found = result.get("interval")
    if found is None:
        return []
    beyond = "; the job is beyond those measured: it may be wider" if found["beyond_measured_jobs"] else ""
    ends = prediction_errors.text_of(found)
    return [f"90 % within {ends}, by the errors of collectives, with computing taken as exact{beyond}"]


def site_loss(loss: str):
    """Function that gives a site's part of this loss."""
    return (lambda site: site.transferring) if loss == "transfer" else (lambda site: site.waiting)


def ratio_of(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


SITE_COLUMNS = ("call site", "calls>", "time>", "of all>", "waiting>", "transferring>", "imbalance>")


def print_sites(prediction: Replay) -> None:
    whole = prediction.seconds * prediction.question.ranks
    rows = [
        (
            site.name,
            str(site.calls),
            quantities.seconds_text(site.seconds),
            quantities.share_text(ratio_of(site.seconds, whole)),
            quantities.seconds_text(site.waiting),
            quantities.seconds_text(site.transferring),
            quantities.share_text(site.imbalance),
        )
        for site in prediction.sites[:MOST_SITES]
    ]
    if rows:
        print()
        output.print_table("Call sites, in the time of all ranks", SITE_COLUMNS, rows)


def print_links(result: dict) -> None:
    """How busy the links of each class were."""
    from kumihimo.predict.replay.page import links

    share = quantities.share_text
    rows = [(name, str(number), share(mean), share(most)) for name, number, mean, most in links(result)]
    if rows:
        print()
        output.print_table("Links", ("class", "links>", "busy>", "at most>"), rows)


def print_ranks(prediction: Replay) -> None:
    ends, computing = prediction.times.end, prediction.times.computing
    latest = sorted(range(len(ends)), key=lambda rank: -ends[rank])[:LATEST]
    rows = [(str(r), *map(quantities.seconds_text, (ends[r], computing[r], ends[r] - computing[r]))) for r in latest]
    print()
    output.print_table("Ranks that end last", ("rank>", "end>", "computing>", "in calls>"), rows)


def print_changes(prediction: Replay, changes: list[Change]) -> None:
    if not changes:
        return
    times = [(c.name, c.seconds) for c in changes] + [("nothing changed", prediction.seconds)]
    rows = [
        (name, quantities.seconds_text(seconds), f"{ratio_of(prediction.seconds, seconds):.2f}")
        for name, seconds in sorted(times, key=lambda of: of[1])
    ]
    print()
    output.print_table("With one thing changed", ("change", "time>", "times as fast>"), rows)


def left_out(read: Trace) -> list[str]:
    """Calls that the replay gives no time."""
    return [
        f"{quantities.counted(n, 'call')} of {name}, which the trace gives no data" for name, n in read.silent.items()
    ]
