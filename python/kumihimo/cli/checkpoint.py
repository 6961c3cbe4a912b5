"""`kumihimo checkpoint`: how often a long program should write checkpoints, and what failures cost it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from kumihimo.cli import options, output, progress
from kumihimo.cli.options import argument, option
from kumihimo.predict.checkpoint import model, monte_carlo
from kumihimo.text import files, schema
from kumihimo.text.documents import read_json
from kumihimo.text.durations import duration_text, parse_duration
from kumihimo.text.errors import missing, wrong_value
from kumihimo.text.quantities import counted, rate_text, share_text
from kumihimo.text.sizes import parse_rate, parse_size, with_unit
from kumihimo.tune.file_bench import cost_law

if TYPE_CHECKING:
    from kumihimo.predict.checkpoint.monte_carlo import SimulatedRuns

AUTO = "auto"
LARGEST_FILE = 1 << 30
MOST_NODES = 10**9
MOST_DRAWN = 10**7  # failures that --simulate draws
FACTORS = (1 / 8, 1 / 4, 1 / 2, 2, 4, 8)  # of the best interval, in the table
COLUMNS = ("interval", "work>", "expected time>", "efficiency>", "failures>", "checkpoints>", "lost work>", "restarts>")
DIGITS = 4  # of expected times, which differ little
MOST_DEVIATION = 0.2  # of a measured law, without a word about it
MOST_EXTRAPOLATED = 100  # times the bytes that were measured, likewise
TINIEST = 1e-9  # the least interval, as a share of the work


def command(
    work: argument("WORK", "Time of the program without faults: 24h, 30d; or a prediction's JSON file."),
    times: option("--times N", "How often the program does what the JSON file predicts [default: 1].", int) = None,
    nodes: option("--nodes N", "Number of nodes [default: those of the JSON file].", int) = None,
    node_mtbf: options.duration(
        "--node-mtbf TIME", "Mean time between failures of one node: 5y.", needs_unit=True
    ) = None,
    checkpoint: options.duration("--checkpoint TIME", "Time of one checkpoint: 90s.", needs_unit=True) = None,
    checkpoint_bytes: option(
        "--checkpoint-bytes SIZE", "Checkpoint of a node: 16GiB, with --storage-bandwidth or --measured."
    ) = None,
    storage_bandwidth: option(
        "--storage-bandwidth RATE", "Rate of the file system for all nodes together: 1.5TB/s."
    ) = None,
    measured: option("--measured FILE", "Costs that `bench checkpoint --output` measured.", Path) = None,
    restart: options.duration(
        "--restart TIME",
        "Time of a restart [default: the measured load, or that of one checkpoint].",
        may_be_zero=True,
        needs_unit=True,
    ) = None,
    interval: option("--interval TIME|auto", "Work between two checkpoints: 30m, or the best (auto).") = AUTO,
    simulate: option("--simulate N", "Also run the program N times with failures drawn at random.", int) = None,
    seed: option("--seed N", "Seed of these failures [default: 1].", int) = None,
    weibull: option("--weibull SHAPE", "Draw Weibull times of this shape: 0.7 [default: exponential].", float) = None,
    page: options.written("--page FILE", "Write a page with curves (HTML).") = None,
    as_json: options.Json = False,
) -> None:
    """Predict what checkpoints and failures cost a long program, and the best interval between checkpoints.

    \b
    Example:
    kumihimo checkpoint 24h --nodes 9216 --node-mtbf 5y --checkpoint-bytes 16GiB --storage-bandwidth 1.5TB/s
    """
    asked = question(work, times, nodes)
    costs = None
    if measured is not None:
        for name, value in (("--checkpoint", checkpoint), ("--storage-bandwidth", storage_bandwidth)):
            if value is not None:
                raise wrong_value(f"--measured excludes {name}", value, "leave one out")
        costs = measured_costs(measured, asked.nodes, checkpoint_bytes)
    seconds = costs.save if costs else cost(asked.nodes, checkpoint, checkpoint_bytes, storage_bandwidth)
    if costs and restart is None:
        restart = costs.load
    if node_mtbf is None:
        raise missing("the mean time between failures of a node", "add --node-mtbf 5y")
    case = model.CheckpointCase(
        asked.seconds, node_mtbf / asked.nodes, seconds, seconds if restart is None else restart
    )
    if asked.seconds / case.mtbf > 1e12:
        rule = "--node-mtbf must be so long that so much work meets at most 1e12 failures"
        raise wrong_value(rule, duration_text(node_mtbf))
    intervals = intervals_of(case, interval)
    found = {name: model.expected(case, t) for name, t in intervals.items()}
    simulated = drawn(case, found["asked"], simulate, seed, weibull)
    result = as_object(asked, node_mtbf, case, found, simulated, weibull)
    if costs:
        result["measured"] = {"file": str(measured), "ranks": costs.ranks, "nodes": costs.nodes, "note": costs.note}
    if page is not None:
        output.write(page, page_of(asked, node_mtbf, case, found))
    if as_json:
        return output.print_results_json([result])
    for line in lines(asked, node_mtbf, case, found, simulated, weibull):
        output.print_line(line)
    if costs:
        output.print_line(costs.note)
    print()
    output.print_table("Work between two checkpoints", COLUMNS, rows(found))
    return None


@dataclass(frozen=True)
class CheckpointQuestion:
    seconds: float  # of work
    nodes: int


def question(work: str, times: Optional[int], nodes: Optional[int]) -> CheckpointQuestion:
    """The work and the nodes, from the command line or a prediction."""
    path = Path(work)
    predicted = None
    if path.suffix == ".json" or path.is_file():
        predicted = prediction(path)
        seconds = predicted["seconds"]
        if times is not None and times < 1:
            raise wrong_value("--times must be at least 1", times)
        seconds *= times or 1
    elif times is not None:
        raise wrong_value("--times needs the JSON file of a prediction", f"'{work}'", "leave it out")
    else:
        seconds = parse_duration(work, "WORK", needs_unit=True)
    if nodes is None and predicted is not None:
        nodes = nodes_of(predicted)
    if nodes is None:
        raise missing("the number of nodes", "add --nodes 1024")
    if not 1 <= nodes <= MOST_NODES:
        raise wrong_value(f"--nodes must be from 1 to {MOST_NODES}", nodes)
    return CheckpointQuestion(seconds, nodes)


def prediction(path: Path) -> dict:
    """The only result of a file that `simulate --json` or `replay --json` wrote."""
    rule = f"{path} must be the JSON of one prediction, with its seconds"
    text = files.read_text(path, "the prediction", LARGEST_FILE)
    try:
        results = read_json(text)["results"]
        (only,) = results
        if not 0 < float(only["seconds"]) < math.inf:
            raise wrong_value("the predicted time must be more than 0", only["seconds"])
        return only
    except (ValueError, KeyError, TypeError):
        raise wrong_value(rule, None, "write it with simulate --json, of one algorithm and size") from None


def nodes_of(predicted: dict) -> Optional[int]:
    """Number of nodes: a member of a replay's result, derived from other members of `simulate`."""
    if "nodes" in predicted:
        return predicted["nodes"]
    if predicted.get("node_sizes"):
        return len(predicted["node_sizes"])
    each = predicted.get("ranks_per_node")
    return -(-predicted["ranks"] // each) if each and "ranks" in predicted else None


def cost(nodes: int, seconds: Optional[float], size: Optional[str], bandwidth: Optional[str]) -> float:
    """Cost of one checkpoint, in seconds."""
    if seconds is not None and (size, bandwidth) != (None, None):
        rule = "--checkpoint excludes --checkpoint-bytes and --storage-bandwidth"
        raise wrong_value(rule, "both", "leave one out")
    if seconds is not None:
        return seconds
    if size is None and bandwidth is None:
        raise missing("the cost of a checkpoint", "add --checkpoint 90s, or its bytes and the rate of the storage")
    if size is None:
        raise missing("the size of a checkpoint", "add --checkpoint-bytes 16GiB (of a node)")
    if bandwidth is None:
        raise missing("the rate of the storage", "add --storage-bandwidth 1.5TB/s (for all nodes together)")
    return parse_size(size) * nodes / parse_rate(bandwidth, "--storage-bandwidth")


@dataclass(frozen=True)
class MeasuredCosts:
    """Costs of one checkpoint, in seconds, by the laws of `ranks` on `nodes`. `load`: None if it is not the file
    system's.
    """

    save: float
    load: Optional[float]
    ranks: int
    nodes: int
    note: str


def measured_costs(path: Path, nodes: int, size: Optional[str]) -> MeasuredCosts:
    """Costs by the law of the most ranks: their joint rate is that of the file system."""
    if size is None:
        raise missing("the size of a checkpoint", "add --checkpoint-bytes 16GiB (of a node)")
    text = files.read_text(path, "the measured cost", LARGEST_FILE)
    advice = "write it with bench checkpoint --output"
    try:
        content = read_json(text)
    except ValueError:
        raise wrong_value(f"{path} must be JSON", None, advice) from None
    if wrong := schema.fault(content, "state-cost"):
        raise wrong_value(f"{path} must have costs of saved states", wrong, advice)
    row = max(content["results"], key=lambda each: each["ranks"])
    save = cost_law.law_of(row["save"])
    if row["save"]["source"] != cost_law.STORAGE or save.bytes_per_second is None:
        found = "they were saved in memory" if save.bytes_per_second else "their times do not grow with the bytes"
        raise wrong_value(f"{path} must have saves on a file system, of several sizes", found, "measure again")
    sizes = [point["bytes"] for point in row.get("points", ())]  # those who write the file may leave them out
    if sizes and len(set(sizes)) < 2:
        rule = f"{path} must have saves on a file system, of several sizes"
        raise wrong_value(rule, "one size", "measure with --bytes 16MiB,256MiB or so")
    every = parse_size(size) * nodes
    load = cost_law.law_of(row["load"])
    is_of_storage = row["load"]["source"] == cost_law.STORAGE and load.bytes_per_second is not None
    where = f"{counted(row['ranks'], 'rank')} on {counted(row['nodes'], 'node')}"
    note = (
        f"costs measured with {where}: {duration_text(save.fixed_seconds)} + bytes / {rate_text(save.bytes_per_second)}"
    )
    if save.largest_deviation > MOST_DEVIATION:
        note += f"; this law is off by {share_text(save.largest_deviation)} at most: measure larger --bytes"
    if sizes and every > MOST_EXTRAPOLATED * max(sizes):
        note += f"; {with_unit(every)} are {every / max(sizes):.0f} times the most that was measured"
    if not is_of_storage:
        note += "; loads were not the file system's, so a restart is taken to last as long as a checkpoint"
    if nodes > row["nodes"]:
        note += f"; {counted(nodes, 'node')} are taken to share this rate, as if it were the file system's limit"
    return MeasuredCosts(
        save.seconds(every), load.seconds(every) if is_of_storage else None, row["ranks"], row["nodes"], note
    )


def intervals_of(case: model.CheckpointCase, text: str) -> dict[str, float]:
    """Intervals by name; `asked` first."""
    best = model.best_for(case)
    asked = best if text == AUTO else parse_duration(text, "--interval", needs_unit=True)
    if asked < TINIEST * case.work:
        raise wrong_value(f"--interval must be at least {TINIEST:g} of the work", f"'{text}'")
    if asked > case.work * (1 + TINIEST):
        rule = f"--interval must be at most the work, {duration_text(case.work)}"
        raise wrong_value(rule, f"'{text}'", "leave it out for the best one")
    named = {
        "asked": asked,
        "best": best,
        "Young": model.young(case.mtbf, case.checkpoint),
        "Daly": model.daly(case.mtbf, case.checkpoint),
        **{f"best x {factor:g}" if factor > 1 else f"best / {1 / factor:g}": best * factor for factor in FACTORS},
    }
    return {name: min(t, case.work) for name, t in named.items()}


def drawn(
    case: model.CheckpointCase,
    asked: model.ExpectedRun,
    runs: Optional[int],
    seed: Optional[int],
    shape: Optional[float],
) -> Optional[SimulatedRuns]:
    if runs is None:
        for name, value in (("--seed", seed), ("--weibull", shape)):
            if value is not None:
                raise wrong_value(f"{name} needs --simulate", value, "add --simulate 1000")
        return None
    if shape is not None and not 0.1 <= shape <= 10:
        raise wrong_value("--weibull must be a shape from 0.1 to 10", f"{shape:g}")
    if runs < 2:
        raise wrong_value("--simulate must be at least 2 runs", runs)
    most = int(MOST_DRAWN / max(1.0, asked.failures + 1)) if math.isfinite(asked.failures) else 0
    if runs > most:
        rule = f"--simulate must draw at most {MOST_DRAWN} failures in all"
        advice = f"take at most {most} runs" if most > 1 else "take another interval"
        raise wrong_value(rule, f"{runs} runs with {number_text(asked.failures)} each", advice)
    words = (case, asked.interval, runs, 1 if seed is None else seed, shape, MOST_DRAWN)
    try:
        return progress.run_interruptible(lambda: monte_carlo.simulate(*words))
    except monte_carlo.TooManyFailuresError:  # of another distribution than that of `asked`
        rule = f"--simulate must draw at most {MOST_DRAWN} failures in all"
        raise wrong_value(rule, f"more with --weibull {shape:g}", "take a shorter interval or another shape") from None


def number_text(number: float) -> str:
    if not math.isfinite(number):
        return "more than 1e300"
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}" if number < 1e9 else f"{number:.2e}"


def time_text(seconds: float) -> str:
    return duration_text(seconds, DIGITS) if seconds < 1e15 else "never"


def row(name: str, of: model.ExpectedRun) -> tuple[str, ...]:
    if of.seconds >= 1e15:
        return (name, duration_text(of.interval), "never", share_text(0), "", "", "", "")
    parts = (of.checkpoints, of.lost, of.restarts)
    return (
        name,
        duration_text(of.interval),
        time_text(of.seconds),
        share_text(of.efficiency),
        number_text(of.failures),
        *(share_text(part / of.seconds) for part in parts),
    )


def rows(found: dict[str, model.ExpectedRun]) -> list[tuple[str, ...]]:
    """Rows by interval, each once. The one that was asked for has a name of its own if it is another one."""
    named: dict[float, list[str]] = {}
    for name, of in found.items():
        named.setdefault(of.interval, []).append(name)
    by_interval = {of.interval: of for of in found.values()}
    lines = []
    for t in sorted(named):
        names = [name for name in named[t] if not name.startswith("best ")] or named[t][:1]
        names = [name for name in names if name != "asked" or len(names) == 1]
        lines.append(row(", ".join(names), by_interval[t]))
    return lines


def title_of(asked: CheckpointQuestion, node_mtbf: float, case: model.CheckpointCase) -> str:
    return (
        f"{duration_text(case.work)} of work on {counted(asked.nodes, 'node')}, a failure every "
        f"{duration_text(case.mtbf)} ({duration_text(node_mtbf)} a node)"
    )


def costs_of(case: model.CheckpointCase) -> str:
    return f"a checkpoint takes {duration_text(case.checkpoint)}, a restart {duration_text(case.restart)}"


def lines(
    asked: CheckpointQuestion,
    node_mtbf: float,
    case: model.CheckpointCase,
    found: dict[str, model.ExpectedRun],
    simulated: Optional[SimulatedRuns],
    shape: Optional[float],
) -> list[str]:
    of, best = found["asked"], found["best"]
    told = [title_of(asked, node_mtbf, case), costs_of(case)]
    if of.seconds >= 1e15:
        told.append(f"a checkpoint every {duration_text(of.interval)} of work: the program practically never ends")
    else:
        told += [
            f"a checkpoint every {duration_text(of.interval)} of work: {time_text(of.seconds)} expected, "
            f"efficiency {share_text(of.efficiency)}, {number_text(of.failures)} failures",
            f"checkpoints {share_text(of.checkpoints / of.seconds)}, lost work {share_text(of.lost / of.seconds)}, "
            f"restarts {share_text(of.restarts / of.seconds)} of the time",
        ]
    if simulated is not None:
        times = [duration_text(t, DIGITS) for t in (simulated.seconds, simulated.low, simulated.high)]
        kind = "" if shape is None else f" (Weibull, shape {shape:g})"
        text = f"{simulated.runs} simulated runs{kind}: {times[0]} on average (95 % interval {times[1]} to {times[2]})"
        if simulated.quantile_5 is not None:
            low, high = (duration_text(t) for t in (simulated.quantile_5, simulated.quantile_95))
            text += f", nine of ten within {low} to {high}"
        told.append(text)
    estimates = ", ".join(f"{name} {duration_text(found[name].interval)}" for name in ("Young", "Daly"))
    told.append(f"best interval {duration_text(best.interval)} (estimates: {estimates})")
    return told


def as_object(
    asked: CheckpointQuestion,
    node_mtbf: float,
    case: model.CheckpointCase,
    found: dict[str, model.ExpectedRun],
    simulated: Optional[SimulatedRuns],
    shape: Optional[float],
) -> dict:
    def members(of: model.ExpectedRun) -> dict:
        finite = math.isfinite(of.seconds)
        told = {
            "interval_seconds": of.interval,
            "seconds": of.seconds if finite else None,
            "efficiency": of.efficiency,
            "failures": of.failures if finite else None,
            "pieces": of.pieces,
        }
        parts = {"checkpoint": of.checkpoints, "lost": of.lost, "restart": of.restarts}
        return told | {f"{name}_share": part / of.seconds if finite else None for name, part in parts.items()}

    result = {
        "work_seconds": case.work,
        "nodes": asked.nodes,
        "node_mtbf_seconds": node_mtbf,
        "mtbf_seconds": case.mtbf,
        "checkpoint_seconds": case.checkpoint,
        "restart_seconds": case.restart,
        **members(found["asked"]),
        "best_interval_seconds": found["best"].interval,
        "long_run_best_interval_seconds": model.best_interval(case.mtbf, case.checkpoint),
        "young_interval_seconds": model.young(case.mtbf, case.checkpoint),
        "daly_interval_seconds": model.daly(case.mtbf, case.checkpoint),
        "intervals": [{"name": name, **members(of)} for name, of in found.items() if name != "asked"],
    }
    if simulated is not None:
        named = {
            f"{name}_seconds" if name not in ("runs", "failures") else name: v for name, v in asdict(simulated).items()
        }
        named["mean_seconds"] = named.pop("seconds_seconds")
        result["simulated"] = {**named, "distribution": "exponential" if shape is None else f"Weibull, shape {shape:g}"}
    return result


def page_of(
    asked: CheckpointQuestion, node_mtbf: float, case: model.CheckpointCase, found: dict[str, model.ExpectedRun]
) -> str:
    from kumihimo.predict.checkpoint import page

    of = found["asked"]
    numbers = [
        (time_text(of.seconds), "expected time", f"with a checkpoint every {duration_text(of.interval)} of work"),
        (share_text(of.efficiency), "efficiency", "work as a share of the expected time"),
        (number_text(of.failures), "failures expected", f"one every {duration_text(case.mtbf)}"),
        (duration_text(found["best"].interval), "best interval", "exact in this model"),
    ]
    return page.render(
        case,
        {name: found[name].interval for name in ("best", "asked", "Young", "Daly")},
        f"{title_of(asked, node_mtbf, case)}. {costs_of(case).capitalize()}.",
        numbers,
        COLUMNS,
        rows(found),
    )
