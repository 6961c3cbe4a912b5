"""`kumihimo replay`: what a recorded program would do on a described machine."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from kumihimo import quantities
from kumihimo.cli import options, output, progress, simulate_faults
from kumihimo.cli.options import argument, option
from kumihimo.errors import wrong_value

if TYPE_CHECKING:
    from kumihimo import _machine, _replay, loggp
    from kumihimo.replay.otf2_reading import Trace
    from kumihimo.replay.study import Change, Prediction

MOST_SITES = 12  # rows of the table
MOST_RANKS = 2**20
ADVICE = {
    "load_balance": "computing is spread unevenly: give ranks equal work",
    "serialisation": "ranks wait for each other in turn: start messages earlier, or wait for them later",
    "transfer": "messages take their time: fewer and longer messages, or another algorithm",
}


def command(
    trace: argument("TRACE", "Folder of record --trace, or its file traces.otf2.", Path),
    machine: option("--machine -m M", "Name of a machine (see `machine list`), or a machine file.") = None,
    loggops: option("--loggops LETTERS", "Parameters of LogGOPS in ns: L=2500,o=1500,g=1000,G=0.2,O=0,S=65535.") = None,
    noise: option("--noise NOISE", "Noise of the operating system, as `simulate` takes it.") = None,
    shape: options.Shape = None,
    ranks: option(
        "--ranks -p P", "Number of ranks, to which the program is extrapolated [default: as recorded].", int
    ) = None,
    ranks_per_node: options.RanksPerNodeOrMachine = None,
    grid: option("--grid GRID", "Grid of the recorded ranks: 4x4 [default: found from the messages].") = None,
    to_grid: option("--to-grid GRID", "Grid of the ranks after extrapolation: 100x100 [default: like --grid].") = None,
    scaling: option(
        "--scaling KIND", "Extrapolation: weak (the same work a rank) or strong (the same in all)."
    ) = "weak",
    algorithm: option(
        "--algorithm -a C=NAME", "Algorithm of a collective: allreduce=ring; repeatable.", list[str]
    ) = None,
    wisdom: option("--wisdom FILE", "Take algorithms from this file of tune.", Path) = None,
    speed: option("--speed X", "Speed of the processors: 2, or of a region: solve=2; repeatable.", list[str]) = None,
    what_if: option("--what-if", "Also predict the time with one thing changed.") = False,
    dies: option("--dies NODE@TIME", "Node that dies, as `simulate` takes it; repeatable.", list[str]) = None,
    page: option("--page FILE", "Write a page with the timeline (HTML).", Path) = None,
    timeline: option("--timeline FILE", "Write a timeline, which ui.perfetto.dev opens.", Path) = None,
    as_json: options.Json = False,
) -> None:
    """Predict what a recorded program would do on another machine, and what would change it.

    \b
    Example:
    kumihimo record --trace trace -- mpirun -n 4 ./program
    kumihimo replay trace --machine fugaku --what-if
    """
    from kumihimo.replay import choices, otf2_reading, study

    for path in filter(None, (page, timeline)):
        output.writable(path)
    read = otf2_reading.read(trace)
    source, new_grid = extrapolated(read, ranks, grid, to_grid, scaling)
    on, name = machine_of(machine, loggops, noise, shape, source.ranks, ranks_per_node, dies or [])
    general, of_regions = speeds(speed or [], read.regions)
    wished = choices.Wished.read(algorithm or [], wisdom)
    question = study.Question(read, source, on, wished, general, of_regions)
    prediction = progress.run_interruptible(lambda: study.predict(question, bool(page or timeline)))
    changes = progress.run_interruptible(lambda: study.changes(prediction)) if what_if else []
    of_faults = progress.run_interruptible(lambda: study.with_faults(prediction))
    result = as_object(prediction, changes, name) | new_grid | ({} if of_faults is None else {"faults": of_faults})
    if page:
        from kumihimo.replay import page as pages

        output.write(page, pages.render(prediction, result))
    if timeline:
        from kumihimo.replay import chrome

        output.write(timeline, chrome.text(prediction))
    if as_json:
        return output.print_results_json([result])
    for line in lines(result, prediction):
        output.print_line(line)
    print_sites(prediction)
    print_changes(prediction, changes)
    simulate_faults.print_faults({(): result})
    output.print_list("Left out:", left_out(read))
    return None


def machine_of(
    name: str | None,
    given: str | None,
    noise: str | None,
    shape: str | None,
    ranks: int,
    ranks_per_node: str | None,
    dies: list[str],
) -> tuple[loggp.Settings, str]:
    """The parameters of a described machine, or those given, with faults, and what to call it."""
    from kumihimo import arguments, faults, loggp, simulation
    from kumihimo.cli import machine as machines

    job = None
    if name is not None:
        each = arguments.ranks_per_node_named(ranks_per_node)
        loaded = machines.load(name)
        shape = shape or shape_for(loaded, ranks, each)
        job = simulation.on(loaded, arguments.Ranks(shape, None if shape else ranks, each))
        if job.slots.size != ranks:
            raise wrong_value("the machine must have as many ranks as the program", f"{job.slots.size} for {ranks}")
    settings = loggp.settings(job, given)
    if noise is not None:
        settings.noise, settings.noise_text = loggp.noise(noise), noise
    settings.dying = faults.dying(dies, job)
    return settings, f"{job.machine.name} {shape or ''}".strip() if job else "a machine"


def shape_for(machine: _machine.Machine, ranks: int, each: int | tuple[int, ...] | None) -> str | None:
    """A part of a torus or mesh with as many nodes as the ranks need, in proportion; None: the machine finds it."""
    from kumihimo import _replay

    each = machine.default_ranks_per_node if each is None else each
    if machine.on_switches or machine.family == "single_node" or isinstance(each, tuple) or ranks % each:
        return None
    return "x".join(map(str, _replay.scaled_grid([axis.length for axis in machine.shape.axes], ranks // each)))


def speeds(words: list[str], regions: list[str]) -> tuple[float, dict[str, float]]:
    """Of all computing, and of some regions."""
    general, of_regions = 1.0, {}
    for word in words:
        region, equals, number = word.rpartition("=")
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", number) is None or not 1e-6 <= float(number) <= 1e6:
            raise wrong_value("--speed must be a number from 1e-6 to 1e6, or REGION= and one", f"'{word}'")
        if not equals:
            general = float(number)
        elif region in regions:
            of_regions[region] = float(number)
        else:
            raise wrong_value("--speed must name a region of the trace", f"'{region}'", f"it has {', '.join(regions)}")
    return general, of_regions


def as_object(prediction: Prediction, changes: list[Change], machine: str) -> dict:
    from kumihimo import loggp

    question, times = prediction.question, prediction.times
    trace = question.trace
    of = prediction.efficiencies
    chosen = zip(question.calls(), question.chosen())
    sites = [vars(site) for site in prediction.sites]
    regions = [
        {"region": name, "seconds": seconds, "most_seconds": most, "slowest_rank": rank}
        for name, (count, seconds, most, rank, _) in zip(trace.regions, times.regions)
        if count > 0
    ]
    return {
        "model": "loggp",
        "machine": machine,
        "loggops": loggp.about(question.machine.parameters),
        **({"noise": question.machine.noise_text} if question.machine.noise_text else {}),
        "ranks": question.source.ranks,
        "recorded_ranks": trace.recording.ranks,
        "recorded_seconds": trace.seconds,
        "seconds": times.total,
        "last_rank": times.last_rank,
        "computing_seconds": sum(times.computing) / len(times.computing),
        "communication_seconds": times.total - sum(times.computing) / len(times.computing),
        "ideal_network_seconds": prediction.ideal.total,
        "efficiencies": vars(of),
        "largest_loss": of.largest_loss(),
        "messages": times.messages,
        "message_bytes": times.bytes,
        "operations": times.operations,
        "graphs": prediction.graphs,
        "sites": sites,
        "regions": regions,
        "collectives": [
            {"collective": c.collective, "ranks": c.ranks, "bytes": c.bytes, "algorithm": variant.name}
            for c, (variant, _) in chosen
        ],
        "changes": [vars(change) for change in changes],
        "left_out": trace.silent,
    }


def lines(result: dict, prediction: Prediction) -> list[str]:
    """The answer, and where the time goes."""
    total, of = result["seconds"], prediction.efficiencies
    share = quantities.share_text
    ranks = quantities.counted(result["ranks"], "rank")
    before = quantities.counted(result["recorded_ranks"], "rank")
    recorded = f"{before} in {quantities.seconds_text(result['recorded_seconds'])}"
    waiting = ratio_of(prediction.ideal.total - result["computing_seconds"], total)
    loss = result["largest_loss"]
    worst = max(prediction.sites, key=site_loss(loss), default=None)
    where = f" Most of it is in {worst.name}." if worst else ""
    if "grid" in result:
        both = ["x".join(map(str, result[key])) for key in ("grid", "recorded_grid")]
        recorded += f", grid {both[1]} extrapolated to {both[0]}, {result['scaling']} scaling"
    return [
        f"{ranks} on {result['machine']}: {quantities.seconds_text(total)} (recorded: {recorded})",
        f"computing {share(ratio_of(result['computing_seconds'], total))}, waiting for other ranks {share(waiting)}, "
        f"transferring {share(1 - of.transfer)}",
        f"parallel efficiency {share(of.parallel)} = load balance {share(of.load_balance)} x serialisation "
        f"{share(of.serialisation)} x transfer {share(of.transfer)}",
        f"The largest loss is {loss.replace('_', ' ')} ({share(1 - getattr(of, loss))}): {ADVICE[loss]}.{where}",
    ]


def site_loss(loss: str):
    """What a site contributes to this loss."""
    return (lambda site: site.transferring) if loss == "transfer" else (lambda site: site.waiting)


def ratio_of(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


SITE_COLUMNS = ("call site", "calls>", "time>", "of all>", "waiting>", "transferring>", "imbalance>")


def print_sites(prediction: Prediction) -> None:
    whole = prediction.seconds * prediction.question.source.ranks
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


def print_changes(prediction: Prediction, changes: list[Change]) -> None:
    if not changes:
        return
    rows = [
        (c.name, quantities.seconds_text(c.seconds), f"{ratio_of(prediction.seconds, c.seconds):.2f}") for c in changes
    ]
    print()
    output.print_table("With one thing changed", ("change", "time>", "times as fast>"), rows)


def left_out(read: Trace) -> list[str]:
    """Calls that the replay gives no time."""
    return [
        f"{quantities.counted(n, 'call')} of {name}, which the trace gives no data" for name, n in read.silent.items()
    ]


def extrapolated(
    read: Trace, ranks: int | None, grid: str | None, to_grid: str | None, scaling: str
) -> tuple[_replay.Source, dict]:
    """The program of as many ranks as are asked for, and what was assumed."""
    from kumihimo import _replay

    if scaling not in ("weak", "strong"):
        raise wrong_value("--scaling must be weak or strong", f"'{scaling}'")
    if to_grid is None and ranks in (None, read.recording.ranks):
        return read.recording, {}
    before = lengths(grid, "--grid") if grid else _replay.grid_of(read.recording)
    if to_grid is None and not 1 <= ranks <= MOST_RANKS:
        raise wrong_value(f"--ranks must be from 1 to {MOST_RANKS}", ranks)
    after = lengths(to_grid, "--to-grid") if to_grid else _replay.scaled_grid(before, ranks)
    if ranks not in (None, prod(after)):
        raise wrong_value("--to-grid must have as many ranks as --ranks", f"{to_grid} for {ranks}")
    source = _replay.extrapolated(read.recording, before, after, scaling == "strong")
    return source, {"scaling": scaling, "recorded_grid": before, "grid": after}


def lengths(text: str, option: str) -> list[int]:
    """ "16x16x8"."""
    if (
        re.fullmatch(r"[1-9][0-9]{0,7}(x[1-9][0-9]{0,7}){0,2}", text) is None
        or prod(map(int, text.split("x"))) > MOST_RANKS
    ):
        raise wrong_value(
            f"{option} must be a grid of up to three axes and {MOST_RANKS} ranks", f"'{text}'", "as in 4x4"
        )
    return [int(length) for length in text.split("x")]
