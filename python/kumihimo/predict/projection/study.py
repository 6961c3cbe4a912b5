"""One question to the projection, its answer by each model of power, and that answer as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kumihimo.predict.checkpoint import model as checkpoints
from kumihimo.predict.projection import files, machine_file, model, past, spread
from kumihimo.predict.projection.files import HISTORY, NodeClass, Scaling
from kumihimo.predict.projection.model import Limits
from kumihimo.predict.projection.spread import ProjectedBand
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject

OF_A_NODE = ("peak", "memory_bandwidth", "link_bandwidth", "latency")
CHECKPOINT_SECONDS = 300.0  # of the checkpoint whose cost by failures is told


@dataclass(frozen=True)
class ProjectQuestion:
    of: NodeClass
    by: Scaling
    models: list[str]
    limits: Limits
    target: float  # flop/s
    years: list[float]  # to the one asked for
    samples: int
    seed: int

    @property
    def year(self) -> float:
        return self.years[-1]


@dataclass(frozen=True)
class Projection:
    """Projection by one model of power."""

    bands: list[ProjectedBand]  # of each year
    influences: list[spread.Influence]


def scaling_of(name: str) -> Scaling:
    if name != HISTORY and not name.startswith(f"{HISTORY}:"):
        return files.scaling(name)
    last = max(each.year for each in files.past_machines())
    if name == HISTORY:
        return past.scaling(last)
    word = name.partition(":")[2]
    try:
        year = float(word)
    except ValueError:
        raise wrong_value("--scaling history:YEAR must name a year", f"'{word}'") from None
    return past.scaling(files.checked_year(year, "--scaling history:YEAR"))


def projected(asked: ProjectQuestion) -> dict[str, Projection]:
    found = {}
    for each in asked.models:
        bands = spread.bands(asked.of, asked.by, asked.years, each, asked.limits, asked.samples, asked.seed)
        if bands[-1].middle.nodes == 0:
            one = bands[-1].middle
            needs = f" ({one.node.watts:.0f} W)" if one.limit == "power" else ""
            rule = f"the limit of {one.limit} must let one node of {asked.of.name} through{needs}"
            raise wrong_value(rule, None, "raise the limit")
        found[each] = Projection(bands, spread.influences(asked.of, asked.by, asked.year, each, asked.limits))
    return found


def machine_text(asked: ProjectQuestion, found: dict[str, Projection]) -> str:
    """Machine file by the first of the models."""
    kind = asked.models[0]
    about = f"Written by kumihimo project: class {asked.of.name}, scaling {asked.by.name}, model {kind} of power."
    return machine_file.text(asked.of, found[kind].bands[-1].middle, model.usual(asked.of, asked.by), about)


def as_object(asked: ProjectQuestion, found: dict[str, Projection]) -> JsonObject:
    errors = [past.error(past.hindcasts(horizon)) for horizon in past.HORIZONS]
    return {
        "class": asked.of.name,
        "scaling": asked.by.name,
        "year": asked.year,
        "limits": vars(asked.limits),
        "target_flops": asked.target,
        "assumptions": {name: vars(each) for name, each in asked.by.growth.items()},
        "models": [model_object(asked, kind, each) for kind, each in found.items()],
        "hindcast": [vars(each) for each in errors],
        "node_growth": node_growth(asked),
        "came": came_object(asked),
    }


def came_object(asked: ProjectQuestion) -> JsonObject | None:
    """The real machine of about that year, at the limit of power; None: there is none, or no such limit."""
    real = past.came(asked.year)
    if real is None or asked.limits.power is None:
        return None
    linpack = real.linpack / real.power * asked.limits.power
    return {
        "machine": real.name,
        "year": real.year,
        "linpack_flops_at_power": linpack,
        "short_of_target": asked.target / linpack,
    }


def model_object(asked: ProjectQuestion, kind: str, of: Projection) -> JsonObject:
    peaks = {
        "middle": [band.middle.peak for band in of.bands],
        "low": [band.low for band in of.bands],
        "high": [band.high for band in of.bands],
    }
    last = of.bands[-1]
    return {
        "model": kind,
        "years": [band_object(band) for band in of.bands],
        "short_of_target": asked.target / last.middle.peak,
        "short_low": asked.target / last.high,
        "short_high": asked.target / last.low if last.low else None,
        "year_of_target": {name: spread.year_of(asked.target, asked.years, each) for name, each in peaks.items()},
        "decides": [vars(each) | {"factor": each.factor} for each in of.influences],
        "failures": failures(asked.of, last.middle),
    }


def band_object(band: ProjectedBand) -> JsonObject:
    one = band.middle
    return {
        "year": one.node.year,
        "peak_flops": one.peak,
        "peak_low": band.low,
        "peak_high": band.high,
        "nodes": one.nodes,
        "limit": one.limit,
        "power_watts": one.power,
        "memory_bytes": one.memory,
        "node": {
            "peak_flops": one.node.peak,
            "memory_bytes": one.node.memory,
            "memory_bytes_per_second": one.node.memory_bandwidth,
            "power_watts": one.node.power,
        },
    }


@dataclass(frozen=True)
class ProjectedRun:
    """A program on so many nodes of a projected machine."""

    nodes: int
    power: float  # W
    memory: float  # bytes
    failures: JsonObject | None


def run_on(asked: ProjectQuestion, found: dict[str, Projection], nodes: int) -> ProjectedRun:
    """Run on the machine by the first of the models. BadInput: the limits allow fewer nodes."""
    machine = found[asked.models[0]].bands[-1].middle
    if nodes > machine.nodes:
        rule = f"the limits let {machine.nodes:,} nodes of {asked.of.name} through"
        raise wrong_value(rule, f"a program on {nodes:,}", "raise the limits, or give fewer --ranks")
    part = replace(machine, nodes=nodes)
    return ProjectedRun(nodes, part.power, part.memory, failures(asked.of, part))


def node_growth(asked: ProjectQuestion) -> dict[str, float]:
    """Factors from a node of the class to a projected one, by GROWTHS."""
    return {name: asked.by.growth[name].value ** (asked.year - asked.of.year) for name in OF_A_NODE}


def failures(of: NodeClass, machine: model.ProjectedMachine) -> JsonObject | None:
    """Share of the time that failures leave a program on all nodes; None: the class has no MTBF of a node."""
    if of.node_mtbf is None or machine.nodes == 0:
        return None
    mtbf = of.node_mtbf / machine.nodes
    case = checkpoints.CheckpointCase(86400.0, mtbf, CHECKPOINT_SECONDS, CHECKPOINT_SECONDS)
    expected = checkpoints.expected(case, min(checkpoints.best_interval(mtbf, CHECKPOINT_SECONDS), 86400.0))
    return {"mtbf_seconds": mtbf, "checkpoint_seconds": CHECKPOINT_SECONDS, "efficiency": expected.efficiency}
