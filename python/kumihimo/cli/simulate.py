"""`kumihimo simulate`: how long a collective would take on a described machine, by each algorithm."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from kumihimo import _machine, allocation, arguments, faults, models, quantities, simulation
from kumihimo import noise as noises
from kumihimo import placement as placements
from kumihimo.arguments import CollectiveArguments, Ranks
from kumihimo.cli import machines, options, output, progress, simulate_faults, simulate_page
from kumihimo.cli.options import option
from kumihimo.errors import NotApplicable, missing, not_applicable, wrong_value
from kumihimo.sizes import parse_sizes, text_of

if TYPE_CHECKING:
    from kumihimo import programs


OF_LOGGP = "Model loggp (LogGOPS)"
GOAL = "goal:"
OF_PACKET = "Model packet"
OF_BACKGROUND = "Model packet, beside other jobs"
FAULTS = "Faults and noise"


@options.with_parameters()
def command(
    collective: options.CollectiveProgramsOrGoal,
    machine: option("--machine -m M", "Name of a machine (see `machine list`), or a machine file.") = None,
    sizes: option("--bytes -b SIZES", "Message sizes: 64KiB, 8,1GiB or 8..16MiB (doubling).") = None,
    shape: options.Shape = None,
    box: options.Box = None,
    dead: options.Dead = None,
    routing: options.Routing = None,
    algorithm: options.AlgorithmOrAll = arguments.ALL,
    ranks: options.RanksOfMachine = None,
    ranks_per_node: options.RanksPerNodeOrMachine = None,
    given: option("--allocation WHAT", "Hosts: env (Slurm, PBS, LSF), a hostfile or a list: node[001-004]:8.") = None,
    order: options.Order = None,
    placement: options.Placement = None,
    model: option(
        "--model MODEL", "Model: flow, exact, packet, loggp, cost (closed form) or bound (lower bound)."
    ) = "flow",
    no_simd: option("--no-simd", "Use the machine's scalar reduction rate.") = False,
    type_: options.Type = "float64",
    operation: options.Operation = "sum",
    root: options.Root = 0,
    parameters: Optional[dict] = None,
    counts: options.Counts = None,
    neighbours: options.Neighbours = None,
    every_round: option("--every-round", "Simulate every round instead of a sample.") = False,
    links: option("--links", "Show the busiest links; with --json the bytes of all links.") = False,
    loggops: option(
        "--loggops L=..,o=..",
        "L, o, g in ns, G, O in ns per byte, S (longest eager message) in bytes [default: the machine's].",
        group=OF_LOGGP,
    ) = None,
    cpus: option("--cpus N", "Processors of a rank [default: the machine's, or 1].", int, OF_LOGGP) = None,
    nics: option("--nics N", "Network interfaces of a rank [default: the machine's, or 1].", int, OF_LOGGP) = None,
    by_rank: option("--by-rank", "Show the ranks that end last; with --json all ranks.", group=OF_LOGGP) = False,
    timeline: options.written(
        "--timeline FILE", "Write a timeline, which ui.perfetto.dev opens.", group=OF_LOGGP
    ) = None,
    packet_bytes: option("--packet-bytes N", "Payload of a packet [default: 2048].", int, OF_PACKET) = None,
    buffer_packets: option(
        "--buffer-packets N",
        "Packets in the buffer of each virtual channel [default: 4, or more on long links].",
        int,
        OF_PACKET,
    ) = None,
    packet_seed: option("--packet-seed N", "Seed of the first turns of arbiters.", int, OF_PACKET) = 1,
    background: option(
        "--background JOB",
        "Another job on nodes that --ranks leave free: uniform, neighbour or alltoall, then "
        ":share=50%,load=30%,bytes=64KiB,spread=scattered, or goal:FILE,share=50%; may be repeated.",
        list[str],
        OF_BACKGROUND,
    ) = None,
    spread: option(
        "--spread NAME", "Nodes of the job watched: compact, scattered or both [default: compact].", str, OF_BACKGROUND
    ) = None,
    repeats: option("--repeats N", "Number of seeds, from --packet-seed on [default: 20].", int, OF_BACKGROUND) = None,
    warm_up: options.duration(
        "--warm-up TIME",
        "Simulated time before the job watched starts, as 500us [default: by rule].",
        may_be_zero=True,
        group=OF_BACKGROUND,
    ) = None,
    page: options.written(
        "--page FILE",
        "Write a page: links over time (--model packet), times beside others (--background), or how noise spreads "
        "(--model loggp).",
    ) = None,
    noise: option(
        "--noise NOISE",
        "Noise of the operating system: periodic:10us/1ms (length/interval; or 1000:10e-6, events per second and "
        "seconds of one), exponential:10us/1ms or trace:FILE; then "
        ",cosched (at the same times on all ranks) ,every=4 (ranks 0, 4, 8 ...) ,ranks=0-7+16 (only these) ,seed=7.",
        group=FAULTS,
    ) = None,
    dies: option(
        "--dies NODE@TIME",
        "Node that dies: 5@20us, or 5@50% of the time without faults; repeatable (--model loggp or packet, and flow "
        "for a GOAL file).",
        list[str],
        FAULTS,
    ) = None,
    slow: option(
        "--slow PART=FACTOR",
        "Slow node 5=0.5, or slow link between neighbours 5-6=0.1; repeatable (--model flow, exact or packet).",
        list[str],
        FAULTS,
    ) = None,
    as_json: options.Json = False,
) -> None:
    """Predict the time of a collective on a described machine.

    \b
    Examples:
    kumihimo simulate allreduce --machine k-computer --shape 48x6x32 --bytes 1GiB
    kumihimo simulate goal:trace.goal --model loggp --loggops L=2500,o=1500,g=1000,G=6,O=0,S=65535
    """
    if models.named(model) is None:
        raise wrong_value(f"--model must be one of {', '.join(each.name for each in models.MODELS)}", f"'{model}'")
    subject = subject_of(collective)
    options.refuse_beside_model(model, subject)
    if not background:
        options.refuse_beside("simulate without --background", *models.BESIDE.split()[1:])
    packets = None
    if model == "packet":
        from kumihimo import packet

        of_packets = routing if routing in packet.ROUTINGS else None
        routing = None if of_packets else routing
        of_links = page is not None and not background  # that page shows the times of repeats
        packets = packet.options(of_packets, packet_bytes, buffer_packets, packet_seed, of_links)
    if model != "loggp" and machine is None:
        raise missing("--machine", "see kumihimo simulate --help")
    beside = None
    if background:
        from kumihimo.cli import simulate_background

        beside = simulate_background.Beside(background, spread, repeats, warm_up, page, order, packets, as_json)
    of_noise = noises.named(noise) if model != "loggp" else None
    part = simulation.Part(box, dead or [], routing, slow or [])
    wanted = placements.wanted(order, placement)
    each = arguments.ranks_per_node_named(ranks_per_node)
    hosts = None if given is None else allocation.read(given, os.environ)
    asked_ranks = Ranks(shape, ranks, each)
    if model == "loggp":
        from kumihimo.cli import simulate_loggp

        of_model = simulate_loggp.Model(loggops, cpus, nics, noise, by_rank, timeline, page, as_json, dies or [])
        if subject == "goal":
            options.refuse_beside("a GOAL file", *simulate_loggp.NOT_OF_GOAL, *(parameters or {}))
        if machine is None:
            options.refuse_beside("the model loggp without --machine", *simulate_loggp.OF_MACHINE)
        if subject == "goal":
            job = machine and simulation.on(machines.load(machine), asked_ranks, part)
            simulate_loggp.simulate_goal(collective, job, asked_ranks, of_model)
            return
    if subject == "goal":
        from kumihimo.cli import simulate_loggp

        options.refuse_beside("a GOAL file", *simulate_loggp.NOT_OF_GOAL, *(parameters or {}))
        if beside:
            graphs = simulate_loggp.read_goal(collective, None)
            beside.simulate_goal(collective, graphs, machines.load(machine), asked_ranks, part)
            return
        job = simulation.on(machines.load(machine), asked_ranks, part, hosts)
        placed_by = simulation.placed(job, wanted, hosts, ranks)
        shown = Shown(links, as_json, page)
        dying = faults.dying(dies or [], job, placed_by)
        if model == "flow":
            from kumihimo import fluid

            on = fluid.Setting(job, placed_by and placed_by.placement, dying, of_noise)
        else:
            on = packet.Setting(job, placed_by and placed_by.placement, packets, links, dying, of_noise, shown.maps)
        result = progress.run_interruptible(lambda: on.of_goal(collective, simulate_loggp.read_goal(collective, job)))
        print_programs(result, job, model, shown)
        return
    if subject == "programs":
        from kumihimo import programs

        options.refuse_beside_programs(*OF_PROGRAMS)
        named = programs.named(collective)
        asked_ranks = asked_ranks if hosts else named.ranks(asked_ranks)
        if beside:
            beside.simulate_programs(named, machines.load(machine), asked_ranks, part)
            return
        job = machine and simulation.on(machines.load(machine), asked_ranks, part, hosts)
        placed_by = job and simulation.placed(job, wanted, hosts, ranks)
        if model == "loggp":
            space = (
                simulation.space_of(job, placed_by) if job else arguments.rank_space(simulate_loggp.alone(asked_ranks))
            )
            simulate_loggp.simulate_programs(named.on(space), job, placed_by, asked_ranks, of_model)
        else:
            shown = Shown(links, as_json, page)
            if model == "packet":
                dying = faults.dying(dies or [], job, placed_by)
                those = named.on(simulation.space_of(job, placed_by))
                on = packet.Setting(job, placed_by and placed_by.placement, packets, links, dying, of_noise, shown.maps)
                result = progress.run_interruptible(lambda: on.of_programs(those))
                print_programs(result, job, model, shown)
            else:
                simulate_programs(named, job, placed_by, model, shown)
        return
    options.refuse_beside_collective(collective)
    if model == "bound" and algorithm == arguments.ALL and parameters:
        given_parameter = f"--{next(iter(parameters)).replace('_', '-')}"
        raise wrong_value("the bound has no parameters", given_parameter, "leave it out, or name an --algorithm")
    on_machine = beside.all_nodes(asked_ranks) if beside else asked_ranks
    job = machine and simulation.on(machines.load(machine), on_machine, part, hosts)
    named = arguments.neighbours_named(neighbours)
    asked = simulation.Asked(
        job,
        CollectiveArguments(collective, type=type_, operation=operation, root=root, counts=counts, neighbours=named),
        algorithm,
        parameters,
        model,
        not no_simd,
        links,
        every_round,
        None if beside else job and simulation.placed(job, wanted, hosts, ranks),
    )
    if model == "loggp":
        asked = of_model.asked(asked, asked_ranks)
    elif model == "packet":
        dying = faults.dying(dies or [], job, asked.placed)
        asked = packet.Asked(**vars(asked), packets=packets, dying=dying, noise=of_noise)
    moves_none = not arguments.moves_data(collective)
    if sizes is None and not moves_none and not arguments.is_listed(counts):
        raise missing("the length of the data", "add --bytes 1MiB")
    lengths = [0] if moves_none else [None] if sizes is None else parse_sizes(sizes)
    if beside:
        beside.simulate_collective(asked, lengths, ranks)
        return
    results, passed_over = progress.run_interruptible(lambda: work(asked, lengths))
    if not results:
        raise none_fits(passed_over)
    if model == "loggp":
        of_model.write_timeline()
        of_model.write_page(results[0], job)
    elif page is not None:
        simulate_page.write(page, results[0], asked.maps, job.machine.network)
    if as_json:
        output.print_results_json(results, passed_over)
    elif model == "loggp":
        simulate_loggp.print_results(asked, results, passed_over)
    else:
        print_results(asked, results, passed_over)


def subject_of(text: str) -> str:
    """Of models.SUBJECTS, by the first argument."""
    if text.startswith(GOAL):
        return "goal"
    return "programs" if arguments.names_programs(text) else "collective"


@dataclass
class Shown:
    """What is shown of programs that are no collective."""

    links: bool
    as_json: bool
    page: Path | None
    maps: list = field(default_factory=list)  # of the page


def simulate_programs(
    named: programs.Named,
    job: _machine.Job,
    placed: simulation.Placed | None,
    model: str,
    shown: Shown,
) -> None:
    """A prediction of programs that are no collective, by flow or exact."""
    from kumihimo import programs

    those = named.on(simulation.space_of(job, placed))
    placement = placed and placed.placement
    result = progress.run_interruptible(lambda: programs.predicted(those, job, placement, model, shown.links))
    print_programs(result, job, model, shown)


def print_programs(result: dict, job: _machine.Job, model: str, shown: Shown) -> None:
    result["machine"] = job.machine.name
    if shown.page is not None:
        simulate_page.write(shown.page, result, shown.maps, job.machine.network)
    if shown.as_json:
        return output.print_results_json([result])
    place = f"{job.machine.name} {simulation.shape_of(job.machine)}".strip()
    took = quantities.seconds_text(result["seconds"])
    ranks = ranks_text(job, result["ranks"])
    output.print_line(f"{result['programs']} on {place}, {ranks}, model {model}: {took}")
    if result["limiting"]:
        output.print_line(f"limited by {result['limiting']}")
    output.print_noise(result)
    simulate_faults.print_faults({(): result})
    if shown.links:
        print_links(job.machine, {(): result})
    output.print_list("May be more than 20 % off:", [result["accuracy"]] if result["accuracy"] else [])
    simulate_page.print_name(result)
    return None


def work(asked: simulation.Asked, sizes: list[int | None]) -> tuple[list[dict], list[dict]]:
    if asked.model == "bound" and asked.algorithm == arguments.ALL:
        return [simulation.bound(asked, size) for size in sizes], []
    results: list[dict] = []
    passed_over: list[dict] = []
    total = len(sizes) * len(arguments.variants(asked.arguments.collective, asked.algorithm))
    with progress.bar("simulating", total) as advance:
        for case, outcome in simulation.predict_all(asked, sizes):
            if isinstance(outcome, NotApplicable):
                passed_over.append({"algorithm": case.variant.name, "bytes": case.bytes, "reason": str(outcome)})
            else:
                results.append(outcome)
            advance(case.variant.name)
    return results, passed_over


def none_fits(passed_over: list[dict]) -> NotApplicable:
    """With the reason that most algorithms share alone, where there is one: that is of the model or the machine."""
    reasons = Counter(each["reason"] for each in passed_over)
    reason, number = reasons.most_common(1)[0] if reasons else ("", 0)
    if number > 1 and len(passed_over) < 2 * number:
        return NotApplicable(reason)
    return not_applicable("no algorithm fits these ranks", "; ".join(output.reasons(passed_over)))


WAITING = ("links_waiting_share", "packets_waiting_share")
OF_PACKETS = ("links waited on>", "packets that waited>")
SLOWDOWN = "slowdown>"
COLUMNS = (
    *("bytes>", "algorithm", "time>", "rate>", "of bound>", "computing>", *OF_PACKETS, SLOWDOWN, "parameters"),
    "limited by",
)
OF_LENGTHS = ("bytes>", "rate>")  # which a barrier has not
OF_PROGRAMS = ("machine", "box", "dead", "routing", "model", *models.understood("programs"))


def print_results(asked: simulation.Asked, results: list[dict], passed_over: list[dict]) -> None:
    """Tables for people: the published algorithms, ours, what did not fit, what to doubt."""
    place = f"{asked.machine.name} {simulation.shape_of(asked.machine)}".strip()
    first = results[0]
    print(f"{first['collective']} on {place}, {ranks_text(asked.job, first['ranks'])}, model {asked.model}")
    if asked.machine.family not in ("torus", "single_node"):
        print(asked.machine.network)
    if "neighbours" in first:
        print(f"neighbours {first['neighbours']}")
    if asked.placed is not None:
        print(f"ranks placed by {asked.placed.name}: {asked.space}")
    if asked.machine.losses:
        print(asked.machine.losses)
    if "noise" in first:
        print(f"noise {first['noise']}")
    lengths = arguments.moves_data(first["collective"])
    limits = any(r["limiting"] for r in results)  # which the models exact and cost do not know
    left_out = ((), OF_LENGTHS)[not lengths] + (() if limits else ("limited by",))
    left_out += ("computing>",) if asked.model in ("cost", "packet") else ()  # which is not known apart
    left_out += () if asked.model == "packet" else OF_PACKETS
    left_out += () if "noise" in first else (SLOWDOWN,)
    shown = [at for at, name in enumerate(COLUMNS) if name not in left_out]
    for title, extension in (("", False), ("Extensions of published algorithms", True)):
        rows = [[row(r)[at] for at in shown] for r in results if r.get("extension", False) == extension]
        if rows:
            print()
            output.print_table(title, [COLUMNS[at] for at in shown], rows)
    named = {(text_of(r["bytes"]), r["algorithm"]): r for r in results}
    simulate_faults.print_faults(named, ("bytes>", "algorithm"))
    if asked.links:
        print_links(asked.machine, named, ("bytes>", "algorithm"))
    output.print_list("May be more than 20 % off:", doubts(results))
    output.print_list("Not applicable:", output.reasons(passed_over))
    simulate_page.print_name(first)


def ranks_text(job: _machine.Job, ranks: int) -> str:
    """ "512 ranks (4 a node)"."""
    nodes = job.slots.nodes
    each = f" ({ranks // nodes} a node)" if nodes > 1 and ranks > nodes and ranks % nodes == 0 else ""
    return quantities.counted(ranks, "rank") + each


def doubts(results: list[dict]) -> list[str]:
    """Each reason once, with the rows that it is of; the one of most rows last where all others have theirs."""
    rows_of: dict[str, dict[str, list[str]]] = {}
    for r in results:
        if r.get("accuracy"):
            rows_of.setdefault(r["accuracy"], {}).setdefault(r["algorithm"], []).append(text_of(r["bytes"]))
    counts = {reason: sum(map(len, rows.values())) for reason, rows in rows_of.items()}
    most = max(counts, key=counts.__getitem__, default=None)
    if sum(counts.values()) < len(results) or most is None or counts[most] < 2:
        most = None
    lines = []
    for reason, rows in rows_of.items():
        named = "; ".join(f"{name} at {', '.join(sizes)}" for name, sizes in rows.items())
        lines += [f"{named}: {reason}"] if reason != most else []
    rest = "all others" if lines else "all"
    return lines if most is None else [*lines, f"{rest}: {most}"]


def row(r: dict) -> tuple[str, ...]:
    share = quantities.share_text(r["bound_seconds"] / r["seconds"]) if r["seconds"] > 0 else ""
    parameters = arguments.parameters_text(r["parameters"])
    rate = quantities.rate_text(r.get("bytes_per_second"))
    computing = quantities.share_text(r["compute_share"]) if "compute_share" in r else ""
    waiting = [
        quantities.share_text(r[name]) if name in r else "" for name in ("links_waiting_share", "packets_waiting_share")
    ]
    time = quantities.seconds_text(r["seconds"])
    slower = f"{r['slowdown']:.3g}" if "slowdown" in r else ""
    return (
        *(text_of(r["bytes"]), r["algorithm"], time, rate, share, computing, *waiting, slower, parameters),
        r["limiting"],
    )


def print_links(
    machine: _machine.Machine, results: dict[tuple[str, ...], dict], columns: tuple[str, ...] = (), most: int = 5
) -> None:
    """The links that carry most in each result; `columns`: what the cells that name it are."""
    rows = []
    for cells, r in results.items():
        loads = sorted(enumerate(r.get("link_bytes", [])), key=lambda item: -item[1])[:most]
        rows += [(*cells, machine.link_name(i), quantities.bytes_text(load)) for i, load in loads]
    if rows:
        print()
        output.print_table("Busiest links", (*columns, "link", "carries>"), rows)
