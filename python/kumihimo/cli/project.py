"""`kumihimo project`: the machine of another year within limits of power, racks and cost."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Optional

from kumihimo.cli import options, output, progress
from kumihimo.cli.options import option
from kumihimo.cli.paths import WrittenWhole
from kumihimo.predict.projection import files, page, past, study
from kumihimo.predict.projection.files import FLOPS, WATTS, NodeClass
from kumihimo.predict.projection.model import FULL, SIMPLE, Limits
from kumihimo.predict.projection.study import ProjectedRun, Projection, ProjectQuestion
from kumihimo.text.durations import duration_text
from kumihimo.text.errors import missing, not_applicable, wrong_value
from kumihimo.text.quantities import bytes_text, flops_text, share_text

BOTH = "both"
MOST_SAMPLES = 100_000
ENERGIES = (("TJ", 1e12), ("GJ", 1e9), ("MJ", 1e6), ("kJ", 1e3), ("J", 1.0))
MOST_ROWS = 12  # years of the table


def command(
    year: option("--year -y YEAR", "Year of the machine: 2032.", float) = None,
    kind: option("--class -c CLASS", "Class of its nodes (--list), or a file.") = "hybrid-2023",
    by: option(
        "--scaling NAME",
        "How parts grow: a scaling (--list) or a file; history or history:YEAR: as machines up to that year.",
    ) = study.HISTORY,
    power_model: option("--power-model NAME", "Model of power: simple, full or both.") = BOTH,
    power: option("--power LIMIT", "Power of the machine: 20MW [default: 20MW if no limit is given].") = None,
    racks: option("--racks N", "Most racks.", float) = None,
    cost: option("--cost USD", "Most cost in USD: 200M.") = None,
    target: option("--target PEAK", "Peak to reach: 1EF, 500PF.") = "1EF",
    samples: option("--samples N", "Random draws of the assumptions.", int) = 2000,
    seed: option("--seed N", "Seed of the draws.", int) = 1,
    hindcast: option("--hindcast", "Show how far projections of real machines would have been off.") = False,
    list_: option("--list", "List the classes, the scalings and the machines of the past.") = False,
    machine: options.written(
        "--machine-file FILE", "Write the projected machine as a machine file.", WrittenWhole
    ) = None,
    scaling_file: options.written(
        "--write-scaling FILE", "Write the scaling as a file to change.", WrittenWhole
    ) = None,
    replay: option("--replay TRACE", "Replay a recorded program (see `replay`) on the projected machine.") = None,
    ranks: option("--ranks -p P", "Ranks of the replay [default: as recorded].", int) = None,
    speed: option("--speed X", "Speed of the processors in the replay, against the recorded ones.", float) = 1.0,
    out: options.written("--page FILE", "Write a page with the curves (HTML).", WrittenWhole) = None,
    as_json: options.Json = False,
) -> None:
    """Project the machine of another year within limits of power, racks and cost. Each assumption has a range and a
    source in a file; the result has a band, and says which assumption decides it.

    \b
    Examples:
    kumihimo project --year 2032 --power 20MW --page page.html
    kumihimo project --year 2018 --class heavy-2008 --scaling roadmap-2007 --power 20MW --racks 600
    kumihimo project --year 2032 --power 20MW --replay trace
    """
    if list_:
        options.refuse_all_but("--list", "list_", "as_json")
        return list_all(as_json)
    if hindcast:
        options.refuse_all_but("--hindcast", "hindcast", "as_json")
        return show_hindcasts(as_json)
    if replay is None:
        options.refuse_beside("a projection without --replay", "ranks", "speed")
    of = files.node_class(kind)
    asked = ProjectQuestion(
        of,
        study.scaling_of(by),
        models_of(power_model),
        limits_of(of, power, racks, cost),
        files.parse_unit(target, FLOPS, "--target"),
        years_to(year, of),
        checked_samples(samples),
        seed,
    )
    found = progress.run_interruptible(lambda: study.projected(asked))
    result = study.as_object(asked, found)
    if scaling_file is not None:
        output.write(scaling_file, files.to_toml(asked.by))
    replayed = None
    if machine is not None or replay is not None:
        text = study.machine_text(asked, found)
        if machine is not None:
            output.write(machine, text)
        if replay is not None:
            replayed = replay_on(asked, found, text, machine, replay, ranks, speed)
            result["replay"] = replayed[0]
    if out is not None:
        output.write(out, page.render(asked.of, asked.by, asked.target, result, {k: v.bands for k, v in found.items()}))
    if as_json:
        return output.print_results_json([result])
    show(asked, found, result)
    for line in replayed[1] if replayed else ():
        output.print_line(line)
    return None


def models_of(name: str) -> list[str]:
    if name not in (SIMPLE, FULL, BOTH):
        raise wrong_value(f"--power-model must be {SIMPLE}, {FULL} or {BOTH}", f"'{name}'")
    return [SIMPLE, FULL] if name == BOTH else [name]


def years_to(year: Optional[float], of: NodeClass) -> list[float]:
    """From that of the class."""
    if year is None:
        raise missing("the year", "add --year 2032")
    year = files.checked_year(year, "--year")
    if year < of.year:
        rule = f"--year must not be before that of the class {of.name}, {of.year:g}"
        raise wrong_value(rule, f"{year:g}", "name another --class")
    return sorted({of.year, *map(float, range(math.ceil(of.year), math.floor(year) + 1)), year})


def checked_samples(count: int) -> int:
    if not 100 <= count <= MOST_SAMPLES:
        raise wrong_value(f"--samples must be from 100 to {MOST_SAMPLES}", count)
    return count


def limits_of(of: NodeClass, power: Optional[str], racks: Optional[float], cost: Optional[str]) -> Limits:
    if cost is not None and of.cost is None:
        raise not_applicable(f"--cost needs the cost of a node, which the class {of.name} lacks", None, "leave it out")
    if racks is not None and not 0 < racks < math.inf:
        raise wrong_value("--racks must be above 0", racks)
    if power is None and racks is None and cost is None:
        power = "20MW"
    dollars = None if cost is None else files.parse_unit(cost, files.DOLLARS, "--cost")
    return Limits(None if power is None else files.parse_unit(power, WATTS, "--power"), racks, dollars)


def replay_on(
    asked: ProjectQuestion,
    found: dict[str, Projection],
    text: str,
    written: Optional[Path],
    trace: str,
    ranks: Optional[int],
    speed: float,
) -> tuple[dict, list[str]]:
    from kumihimo.cli import replay as replays
    from kumihimo.cli.replay_models import ReplayRequest
    from kumihimo.predict.replay import choices, outcome, sources
    from kumihimo.predict.replay import study as replay_study

    if not 0 < speed < math.inf:
        raise wrong_value("--speed must be above 0", speed)
    with tempfile.TemporaryDirectory() as folder:
        path = written or Path(folder) / "machine.toml"
        if written is None:
            output.write(path, text)
        request = ReplayRequest("flow", str(path))
        request.check()
        of_workload = sources.is_workload(trace)
        read = replays.trace_of_workload(trace, ranks) if of_workload else sources.trace_of(trace, options.given())
        source, grid = sources.extrapolated(read, None if of_workload else ranks, None, None, "weak")
        on = request.on(read.graphs.ranks if source is None else source.ranks)
        question = replay_study.ReplayQuestion(read, source, on, choices.Wished.read([], None), speed, {})
        run = study.run_on(asked, found, on.setting.job.slots.nodes)
        prediction = progress.run_interruptible(lambda: replay_study.predict(question))
    energy = run.power * prediction.seconds
    result = outcome.as_object(prediction, [], trace) | grid | {"run": {**vars(run), "joules": energy}}
    title = "Replay on the projected machine"
    return result, ["", title, *replays.lines(result, prediction), run_line(asked, found, run, energy)]


def run_line(asked: ProjectQuestion, found: dict[str, Projection], run: ProjectedRun, energy: float) -> str:
    every = found[asked.models[0]].bands[-1].middle.nodes
    text = (
        f"{run.nodes:,} of its {every:,} nodes have {bytes_text(run.memory)} and take {megawatts(run.power)}, "
        f"{energy_text(energy)} a run"
    )
    if run.failures is None:
        return f"{text}."
    mtbf, share = duration_text(run.failures["mtbf_seconds"]), share_text(run.failures["efficiency"])
    return f"{text}; one of them fails every {mtbf}, and a day's run with checkpoints keeps {share}."


def megawatts(watts: float) -> str:
    return f"{watts / 1e6:.3g} MW"


def energy_text(joules: float) -> str:
    unit, factor = next((each for each in ENERGIES if joules >= each[1]), ENERGIES[-1])
    return f"{joules / factor:.3g} {unit}"


def factor_text(factor: float) -> str:
    return f"{factor:.3g}x"


def show(asked: ProjectQuestion, found: dict[str, Projection], result: dict) -> None:
    for each in result["models"]:
        last = each["years"][-1]
        output.print_line(
            f"{asked.of.name} in {asked.year:g} by {asked.by.name}, model {each['model']}: "
            f"{flops_text(last['peak_flops'])} ({flops_text(last['peak_low'])} to {flops_text(last['peak_high'])} "
            f"in nine of ten draws), {last['nodes']:,} nodes, {megawatts(last['power_watts'])}, "
            f"{bytes_text(last['memory_bytes'])}; {last['limit']} is the limit"
        )
        output.print_line(target_line(asked, each))
        decides = [f"{one['name']} ({factor_text(one['factor'])})" for one in each["decides"][:4]]
        if decides:
            output.print_line(f"What decides, over its range: {', '.join(decides)}.")
        if each["failures"]:
            share, mtbf = each["failures"]["efficiency"], each["failures"]["mtbf_seconds"]
            output.print_line(
                f"A node fails every {duration_text(mtbf)}; with checkpoints of "
                f"{duration_text(study.CHECKPOINT_SECONDS)} a program on all nodes keeps {share_text(share)}."
            )
        print()
    words = {"memory_bandwidth": "memory bandwidth", "link_bandwidth": "link", "latency": "time of a short message"}
    grown = [f"{words.get(name, name)} {factor_text(each)}" for name, each in result["node_growth"].items()]
    output.print_line(f"A node against one of {asked.of.year:g}: {', '.join(grown)}.")
    if came := result["came"]:
        output.print_line(
            f"What came: {came['machine']} ({came['year']:g}) at this power, by its Linpack per watt: "
            f"{flops_text(came['linpack_flops_at_power'])}, short of {flops_text(asked.target)} "
            f"by {factor_text(came['short_of_target'])}."
        )
    print()
    output.print_table("Peak by year", *table(asked, found))
    print()
    for error in result["hindcast"]:
        output.print_line(hindcast_line(error))


def target_line(asked: ProjectQuestion, of: dict) -> str:
    target, short = flops_text(asked.target), of["short_of_target"]
    if short <= 1:
        when = of["year_of_target"]
        sure = "" if when["low"] is None else f", by the lower edge of the band in {when['low']:.0f}"
        return f"It reaches {target} in {when['middle']:.0f}{sure}."
    highest = "" if of["short_high"] is None else f" to {of['short_high']:.3g}"
    return f"It is short of {target} by {factor_text(short)} ({of['short_low']:.3g}{highest})."


def table(asked: ProjectQuestion, found: dict[str, Projection]) -> tuple[list[str], list[list[str]]]:
    step = max(1, math.ceil((len(asked.years) - 1) / MOST_ROWS))
    rows = sorted({*range(0, len(asked.years), step), len(asked.years) - 1})
    columns = ["year"]
    for kind in found:
        columns += [f"{kind}>", "nine of ten>", "nodes>", "limit"]
    lines = []
    for row in rows:
        cells = [f"{asked.years[row]:g}"]
        for each in found.values():
            band = each.bands[row]
            cells += [
                flops_text(band.middle.peak),
                f"{flops_text(band.low)}..{flops_text(band.high)}",
                f"{band.middle.nodes:,}",
                band.middle.limit,
            ]
        lines.append(cells)
    return columns, lines


def hindcast_line(error: dict) -> str:
    return (
        f"Trends of past machines over {error['horizon']} years were off by {error['typical']:.2g}x in the median and "
        f"{error['worst']:.2g}x at worst, too high for {error['too_high']} of {error['machines']} machines "
        f"(--hindcast)."
    )


def show_hindcasts(as_json: bool) -> None:
    every = {horizon: past.hindcasts(horizon) for horizon in past.HORIZONS}
    if as_json:
        rows = [
            {
                "machine": each.machine.name,
                "year": each.machine.year,
                "horizon": horizon,
                "growth": each.growth,
                "peak_flops": each.machine.peak,
                "projected_flops": each.peak,
                "ratio": each.ratio,
            }
            for horizon, found in every.items()
            for each in found
        ]
        errors = [vars(past.error(found)) for found in every.values()]
        return output.print_json({"hindcasts": rows, "errors": errors, **output.own_cost()})
    for horizon, found in every.items():
        rows = [
            (
                each.machine.name,
                f"{each.machine.year:g}",
                megawatts(each.machine.power),
                flops_text(each.machine.peak),
                flops_text(each.peak),
                factor_text(each.ratio),
                f"{each.growth:.2f}",
            )
            for each in found
        ]
        columns = ("machine", "year", "power>", "peak>", "projected>", "ratio>", "growth>")
        output.print_table(
            f"Projected {horizon} years before, at its power, by the trend of peak per watt", columns, rows
        )
        output.print_line(hindcast_line(vars(past.error(found))))
        print()
    return None


def list_all(as_json: bool) -> None:
    classes = [files.node_class(name) for name in files.shipped("node class")]
    scalings = [files.scaling(name) for name in files.shipped("scaling")]
    machines = files.past_machines()
    if as_json:
        return output.print_json(
            {
                "classes": [{"name": each.name, "summary": each.summary, "year": each.year} for each in classes],
                "scalings": [{"name": each.name, "summary": each.summary} for each in scalings],
                "machines": [vars(each) for each in machines],
                **output.own_cost(),
            }
        )
    output.print_table("", ("class", "what it is"), [(each.name, each.summary) for each in classes])
    print()
    rows = [(each.name, each.summary) for each in scalings]
    rows.append((f"{study.HISTORY}[:YEAR]", "trends of the machines below in the ten years up to a year"))
    output.print_table("", ("scaling", "what it is"), rows)
    print()
    facts = [
        (
            each.name,
            f"{each.year:g}",
            each.kind,
            flops_text(each.peak),
            f"{each.power / 1e6:.3g} MW",
            each.source,
        )
        for each in machines
    ]
    output.print_table("", ("machine", "year", "class", "peak>", "power>", "source"), facts)
    return None
