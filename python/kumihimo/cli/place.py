"""`kumihimo place`: which rank goes to which node."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kumihimo import _mapping, _placement
from kumihimo.cli import machines, options, output, progress, terminal
from kumihimo.cli.options import option
from kumihimo.collectives import arguments
from kumihimo.mapping import outcome, outputs, page, request, search
from kumihimo.mapping.request import PlaceRequest
from kumihimo.network.placement import Placed
from kumihimo.predict import simulation
from kumihimo.processes import allocation
from kumihimo.text import odd_bytes, quantities
from kumihimo.text.errors import KumihimoError, wrong_value

NETWORK, SEARCH, OUTPUT = "Traffic and network", "Search", "Output"
MOST_SHOWN = 6  # candidates


def command(
    traffic: option(
        "--traffic -t WHAT",
        "Folder of `record --trace`, OTF2 trace or goal:FILE; profile of `record`, without collectives; lines 'src "
        "dst bytes messages', METIS or Scotch graph, halo:16x16x16:27, file:PROGRAM, workload:NAME (see `workload`), "
        "or a collective: allgather:bruck:1KiB.",
        group=NETWORK,
    ),
    wisdom: option(
        "--wisdom FILE",
        "Of a trace: its collectives by this file of tune [default: by the usual algorithms of its MPI library].",
        Path,
        NETWORK,
    ) = None,
    machine: option(
        "--machine -m M",
        "Name of a machine, or a machine file [default: a torus of --shape, or what KUMIHIMO_MACHINE says].",
        group=NETWORK,
    ) = None,
    software: option(
        "--software NAME", "State of the machine's software; base: none [default: the file's].", group=NETWORK
    ) = None,
    shape: option(
        "--shape -s SHAPE",
        "Shape of the nodes: 32x32 (m for a mesh axis: 4x3mx2), or a number of nodes on switches [default: what "
        "KUMIHIMO_SHAPE says].",
        group=NETWORK,
    ) = None,
    box: option("--box BOX", "Box of Tofu nodes: 4x3x8x2x3x2, or 4x3x8x2x3x2@0,0,1.", group=NETWORK) = None,
    dead: option(
        "--dead PART",
        "Node without ranks by its coordinates, 5,0,3; on Tofu a cable, too: 5,0,3-6,0,3; may be repeated.",
        list[str],
        NETWORK,
    ) = None,
    routing: option(
        "--routing NAME", "Routing: minimal or valiant (dragonfly), d_mod_k or ecmp (fat tree).", group=NETWORK
    ) = None,
    ranks_per_node: option(
        "--ranks-per-node G",
        "Slots of each node, or of each in turn: 4,3,5 [default: the machine's, or 1]. Also of hosts of --allocation "
        "that have no number.",
        group=NETWORK,
    ) = None,
    given: option(
        "--allocation WHAT",
        "Hosts: env (Slurm, Flux, PBS, LSF), a hostfile or a list: node[001-004]:8. They are the places of --shape "
        "in row-major order if the machine has no node names.",
        group=NETWORK,
    ) = None,
    within_node: option(
        "--within-node FILE",
        "Machine file or hwloc XML of a node: place ranks on its packages and caches, too.",
        Path,
        NETWORK,
    ) = None,
    grid: option(
        "--grid SHAPE",
        "Grid of the ranks in row-major order, if the program has one [default: recognised].",
        group=NETWORK,
    ) = None,
    objective: option("--objective NAME", "hop-bytes, links, time (flow model) or off-node.", group=SEARCH) = (
        "hop-bytes"
    ),
    effort: option("--effort NAME", "fast, standard or thorough.", group=SEARCH) = "standard",
    no_link_cap: option(
        "--no-link-cap", "Allow the busiest link to carry more than in the usual order.", group=SEARCH
    ) = False,
    seed: option("--seed N", "Equal seeds give equal placements on any number of threads.", int, SEARCH) = 1,
    threads: option("--threads T", "Number of threads [default: all processors].", int, SEARCH) = None,
    budget: options.duration(
        "--budget TIME", "Stop after this time with the best placement so far: 10s, 2m.", group=SEARCH
    ) = None,
    order: option("--order NAME", "Search from this order, too (see `simulate --help`).", group=SEARCH) = None,
    placement: option(
        "--placement FILE", "Search from the placement in this map file (or FORMAT:FILE), too.", Path, SEARCH
    ) = None,
    evaluate: option(
        "--evaluate WHAT",
        "Only measure this map file (or FORMAT:FILE), or this order: block, snake ...",
        group=SEARCH,
    ) = None,
    files: option(
        "--output -o FORMAT[:FILE]",
        "Map file to write: openmpi4, openmpi5 (or rankfile), hydra (or hostfile), mpich5, slurm, cray, vcoord, "
        "permutation, placement; may be repeated.",
        list[str],
        OUTPUT,
    ) = None,
    page_file: options.written(
        "--page FILE", "HTML page: link loads before and after, ranks on the network.", group=OUTPUT
    ) = None,
    as_json: option("--json", "Print one JSON object.", group=OUTPUT) = False,
) -> int:
    """Choose the node of each rank for a communication pattern and a network. With --objective hop-bytes the result is
    never worse than the usual order, neither in hop-bytes nor in the load of the busiest link.

    Ctrl-C ends the search with the best placement so far. Exit codes: 0 done; 1 after Ctrl-C; 2 wrong input; 143 after
    SIGTERM.

    \b
    Examples:
    kumihimo place --traffic halo:16x16x16:27 --shape 8x8x64
    kumihimo place --traffic trace --wisdom kumihimo-wisdom.json --machine fugaku --shape 4x4x4
    kumihimo place --traffic kumihimo-profile.jsonl --machine k-computer --shape 12x6x16 --output vcoord
    kumihimo place --traffic graph.txt --shape 8x8x8 --ranks-per-node 8 --allocation hosts --output openmpi5:map.txt
    """
    if threads is not None and not 1 <= threads <= arguments.MOST_RANKS:
        raise wrong_value("--threads must be 1 or more", threads, "leave it out for all processors")
    if seed < 0:
        raise wrong_value("--seed must be 0 or more", seed)
    if not (machine or shape or box) and (machine := machines.of_job()):
        given = given or machines.hosts_of_job()
    if machine is None:
        options.refuse_beside("place without --machine", "software")
    asked = outputs.wanted(files or [])
    outputs.check_files(asked, page_file)
    on = request.network(
        None if machine is None else machines.load(machine, software),
        shape if machine else shape or os.environ.get(allocation.SHAPE) or None,
        simulation.PartOfMachine(box, dead or [], routing),
        arguments.ranks_per_node_named(ranks_per_node),
        request.environment_hosts(given, os.environ),
    )
    request.check_choices(objective, effort, on)
    source = request.traffic_on(traffic, on, wisdom)
    of_ranks = request.grid_of(grid, source)
    ranks = source.traffic.ranks
    starts = [] if order is None else [(order, request.in_order(order, on, ranks, of_ranks))]
    if placement is not None:
        starts.append((odd_bytes.printable(str(placement)), request.from_file(placement, on, ranks)))
    wanted = PlaceRequest(
        source,
        on,
        objective,
        effort,
        seed,
        of_ranks,
        not no_link_cap,
        threads or 0,
        starts,
        request.levels_of(within_node, on),
    )
    outputs.check(asked, wanted.usual().placement, on, not wanted.within_node)
    judged = None
    if evaluate is not None:
        options.refuse_beside("--evaluate makes no search and", "budget", "effort", "order", "placement", "no_link_cap")
        judged = request.evaluated(evaluate, on, ranks, of_ranks)
    for note in source.notes:
        output.message(note)
    if judged is not None:
        return show_evaluation(wanted, judged, asked, page_file, as_json)
    code, found, seconds = searched(wanted, budget)
    result = {**outcome.of_search(wanted, found), **seconds}
    return finish(wanted, result, found.placement, asked, page_file, as_json, print_search, code)


def searched(wanted: PlaceRequest, limit: float | None) -> tuple[int, _mapping.Mapping, dict]:
    """The exit code, what was found, and how long it took."""
    run = search.MappingSearch(wanted)
    interruption = progress.Interruption()
    with interruption, search_bar() as shown:
        run.wait(limit, shown)
    if interruption.code:
        run.stop()
        output.message("interrupted; the best placement so far is kept")
    found = progress.run_interruptible(run.result)
    return interruption.code, found, run.seconds()


@contextmanager
def search_bar() -> Iterator[Callable[[_mapping.Progress], None]]:
    """On a terminal: the phase, the best placement so far, and the bound."""
    if not sys.stderr.isatty():
        yield lambda seen: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TimeElapsedColumn())
    with Progress(*columns, console=terminal.console(), transient=True) as bars:
        task = bars.add_task("placing", total=1.0)
        yield lambda seen: bars.update(task, completed=seen.done, description=phase_text(seen))


def phase_text(seen: _mapping.Progress) -> str:
    text = seen.phase or "placing"
    if seen.average_hops > 0:
        link = quantities.bytes_text(seen.link_bytes_max)
        text += f": {seen.average_hops:.4g} hops (at least {seen.least_hops:.4g}), link {link}"
    return text


def finish(
    wanted: PlaceRequest,
    result: dict,
    chosen: _placement.Placement,
    asked: list[outputs.WantedFile],
    page_file: Path | None,
    as_json: bool,
    printed: Callable[[dict], None],
    code: int = 0,
) -> int:
    """Files, prediction, page and what is printed. If one format cannot express the placement, or the page cannot be
    written, the others are still written and the result is printed."""
    result["predicted"], result["outputs"], errors = None, [], []
    for each in asked:
        try:
            written = outputs.written(each, chosen, wanted.network, not wanted.within_node)
            result["outputs"].append(written)
        except KumihimoError as error:
            errors.append(error)
    with progress.Interruption() as interruption:
        result["predicted"] = progress.run_interruptible(lambda: outcome.predicted(wanted, chosen))
    if interruption.code:
        output.message("interrupted; the prediction is left out")
    if page_file is not None:
        try:
            output.write(page_file, page.render(wanted, result, chosen))
            result["page"] = str(page_file)
        except KumihimoError as error:
            errors.append(error)
    if as_json:
        output.print_json({**result, **output.own_cost()})
    else:
        printed(result)
        print_files(result)
    for error in errors:
        output.message(f"{error}")
    return code or interruption.code or (1 if errors else 0)


def show_evaluation(
    wanted: PlaceRequest, given: Placed, asked: list[outputs.WantedFile], page_file: Path | None, as_json: bool
) -> int:
    result = outcome.of_evaluation(wanted, given)
    return finish(wanted, result, given.placement, asked, page_file, as_json, print_evaluation)


def print_head(result: dict, wanted: str) -> None:
    output.print_line(f"{result['traffic']}, {quantities.bytes_text(result['bytes'])}")
    output.print_line(f"on {wanted}")


COLUMNS = ("placement", "hops>", "busiest link>", "off-node>", "time>")


def rows_of(candidates: list[dict]) -> tuple[tuple[str, ...], list[list[str]]]:
    rows = [
        [
            each["name"],
            f"{each['average_hops']:.4g}",
            quantities.bytes_text(each["link_bytes_max"]),
            quantities.bytes_text(each["off_node_bytes"]),
            quantities.seconds_text(each["seconds"]) if each.get("seconds") is not None else "",
        ]
        for each in candidates
    ]
    has_time = any(row[-1] for row in rows)
    return (COLUMNS, rows) if has_time else (COLUMNS[:-1], [row[:-1] for row in rows])


def print_candidates(candidates: list[dict]) -> None:
    columns, rows = rows_of(candidates)
    print()
    output.print_table("", columns, rows)


def shown_of(result: dict) -> list[dict]:
    """The chosen one, the usual order, and the best of each other origin."""
    usual, name = result["before"]["name"], result["chosen"]
    is_usual = name == usual
    note = "usual order" if is_usual else "chosen" if "candidates" in result else "evaluated"
    chosen = {"name": f"{name} ({note})", **{k: result[k] for k in MEASURES}, "seconds": seconds_of(result)}
    before = {**result["before"], "name": f"{usual} (usual order)"}
    candidates = result.get("candidates", [])
    before["seconds"] = next((each["seconds"] for each in candidates if each["name"] == usual), None)
    others = [each for each in candidates if each["name"] not in (name, usual) and each["within_cap"]]
    others.sort(key=lambda each: (each["average_hops"], each["link_bytes_max"]))
    best: dict[str, dict] = {}
    for each in others:
        best.setdefault(origin_of(each["name"]), each)
    best.pop(origin_of(name), None)
    return [chosen, *([] if is_usual else [before]), *list(best.values())[: MOST_SHOWN - 2]]


def origin_of(name: str) -> str:
    """snake:xyz -> snake, Scotch 3 -> Scotch."""
    return re.split(r"[:, ]", name, maxsplit=1)[0]


MEASURES = ("average_hops", "hop_bytes", "link_bytes_max", "off_node_bytes")


def seconds_of(result: dict) -> float | None:
    return next((each["seconds"] for each in result.get("candidates", []) if each["chosen"]), None)


def print_evaluation(result: dict) -> None:
    print_head(result, result["network"])
    print_candidates(shown_of(result))
    print_prediction(result)


def print_search(result: dict) -> None:
    print_head(result, result["network"])
    if result["recognised"]:
        output.print_line(f"recognised: {result['recognised'][0]}")
    print_candidates(shown_of(result))
    print_bounds(result)
    for level in result["levels"]:
        before, after = quantities.bytes_text(level["bytes_before"]), quantities.bytes_text(level["bytes"])
        output.print_line(f"between groups of level {level['name']} within nodes: {after}, before {before}")
    print_prediction(result)
    if not result["partitioners"]:
        output.print_line("neither Scotch nor METIS is installed; graphs were cut by Kumihimo's own method")
    if not result["complete"]:
        output.print_line("the search was stopped before its end; another run may find another placement")


def print_bounds(result: dict) -> None:
    print()
    if result["bounds"] and result["lower_bound_hops"] > 0:
        first = result["bounds"][0]
        times = result["average_hops"] / first["average_hops"]
        near = "this one has no more" if times < 1.0005 else f"this one has {times_text(times)} times as many"
        output.print_line(
            f"no placement has fewer than {first['average_hops']:.4g} average hops (bound: {first['name']}); {near}"
        )
    if result["link_bounds"] and result["lower_bound_link_bytes"] > 0:
        first = result["link_bounds"][0]
        times = result["link_bytes_max"] / first["bytes"]
        near = "this one has no more" if times < 1.0005 else f"this one has {times_text(times)} times as many"
        least = quantities.bytes_text(first["bytes"])
        output.print_line(f"some link carries at least {least} in any placement (bound: {first['name']}); {near}")
    before = result["before"]
    of_hops = result["objective"] == "hop-bytes"
    beyond = [each for each in result["candidates"] if of_hops and not each["within_cap"]]
    if any(each["hop_bytes"] < result["hop_bytes"] for each in beyond):
        fewest = min(each["average_hops"] for each in beyond)
        output.print_line(
            f"a placement with {fewest:.4g} hops was left out since its busiest link would carry more than in the "
            "usual order or in a library's placement; --no-link-cap takes it"
        )
    if result["hop_bytes"] < before["hop_bytes"]:
        less = quantities.share_text(1 - result["hop_bytes"] / before["hop_bytes"])
        output.print_line(f"{less} fewer hop-bytes than the usual order")


def times_text(times: float) -> str:
    """1.003 is not 1: a user stops at the bound."""
    return f"{times:.3f}" if times < 1.1 else f"{times:.3g}"


def print_prediction(result: dict) -> None:
    both = result["predicted"]
    if not both:
        return
    before, after = both["before"], both["after"]
    texts = [quantities.seconds_text(each["seconds"]) for each in (after, before)]
    output.print_line(f"one exchange of this traffic takes {texts[0]}, {texts[1]} in the usual order (flow model)")
    reasons = [f"{name}: {of['accuracy']}" for name, of in both.items() if of["accuracy"]]
    output.print_list("May be more than 20 % off:", reasons)


def print_files(result: dict) -> None:
    for each in result["outputs"]:
        print()
        output.print_line(f"{each['format']}: {each['file']}")
        if each["launch"]:
            print(f"  {each['launch']}")
        if each["warning"]:
            output.print_line(each["warning"], "  ")
    if "page" in result:
        print(f"\npage: {result['page']}")
