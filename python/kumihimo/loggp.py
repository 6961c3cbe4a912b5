"""Predictions by the model LogGOPS (ADR 39): collectives, other programs, and GOAL files."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo import (
    _goal,
    _loggp,
    _machine,
    _placement,
    _simulate,
    _topology,
    arguments,
    doubts,
    faults,
    files,
    programs,
    simulation,
)
from kumihimo.errors import missing, wrong_value
from kumihimo.noise import Noise, members_of, model_of

GOAL = "goal:"  # begins the name of a GOAL file
LARGEST_FILE = 2**36  # bytes
ONE_BY_ONE = "a receiver takes one message each g in LogGOPS, and several at once in flow and packet"
INCAST = 0.75  # of the time, which remains without g where a receiver waits for it
MOST_SHARED = 256  # processors or interfaces of a rank
ALL_LETTERS = "LogGOS"


@dataclass
class Settings:
    """What all results of a command share."""

    parameters: _loggp.Parameters
    rates: _goal.WorkRates
    noise: Noise | None = None
    by_rank: bool = False
    timeline: bool = False
    timelines: list[tuple[str, int]] = field(default_factory=list)  # of the runs, and what each leaves out
    dying: faults.Dying | None = None
    page: bool = False
    derived: bool = False  # all parameters are those of a machine
    maps: list = field(default_factory=list)  # of the runs: over_time.Map


def settings(
    job: _machine.Job | None, given: str | None, simd: bool = True, cpus: int | None = None, nics: int | None = None
) -> Settings:
    """Parameters of a machine's job, or all of them as given; `given` as "L=2500,o=1500,..." in ns (S: bytes)."""
    if job is None and given is None:
        raise missing("the machine", "add --machine, or the parameters: --loggops L=2500,o=1500,g=1000,G=6,O=0,S=65535")
    rates = _goal.WorkRates()
    parameters = _loggp.Parameters()
    if job is not None:
        of_machine = _loggp.parameters_of(job, not simd)
        parameters, rates = of_machine.parameters, of_machine.rates
    elif lacking := [letter for letter in ALL_LETTERS if f"{letter}=" not in given.replace(" ", "")]:
        rule = "--loggops without --machine must give L, o, g, G, O and S"
        raise wrong_value(rule, f"'{given}'", f"add {', '.join(lacking)}")
    if given is not None:
        parameters = _loggp.parse_parameters(given, parameters)
    for name, number in (("cpus", cpus), ("nics", nics)):
        if number is None:
            continue
        if not 1 <= number <= MOST_SHARED:
            raise wrong_value(f"--{name} must be from 1 to {MOST_SHARED}", number)
        setattr(rates, name, number)
    return Settings(parameters, rates, derived=given is None)


def of_incast(graphs: _goal.Graphs, asked: Settings, ran: _loggp.Run) -> str:
    """What is said where one rank receives so many messages that the time is the sum of their gaps."""
    rank, more = ran.busiest_receiver()
    if more * asked.parameters.g * 1e-12 <= ran.seconds / 2:
        return ""
    without = _loggp.run(graphs, _loggp.parse_parameters("g=0", asked.parameters), model_of(asked.noise))
    if without.seconds > INCAST * ran.seconds:
        return ""
    return f"{ONE_BY_ONE}: rank {rank} receives {more} more than it sends"


def read_goal(name: str) -> _goal.Graphs:
    """The graphs of `goal:FILE`."""
    path = name.removeprefix(GOAL)
    return _goal.read(files.read_bytes(Path(path), "the GOAL file", LARGEST_FILE), path)


def run(graphs: _goal.Graphs, asked: Settings, *, loggopsim_order: bool = False, with_doubts: bool = False) -> dict:
    """The members of a result that the model gives. `loggopsim_order`: of operations that may start at once. Times are
    those without faults; `faults` and the timeline are of the run with them. `with_doubts`: whether `accuracy` says
    where flow and packet would say another time."""
    started = time.perf_counter()
    whole_timeline = asked.timeline and asked.dying is None
    noise = model_of(asked.noise)
    ran = _loggp.run(graphs, asked.parameters, noise, whole_timeline, loggopsim_order)
    mean = ran.mean()
    members = {
        "model": "loggp",
        "seconds": ran.seconds,
        "last_rank": ran.last_rank,
        "operations": mean.operations,
        "messages": ran.messages,
        "message_bytes": ran.bytes,
        "mean": _times(mean),
        "compute_share": mean.computing / ran.seconds if ran.seconds else 0.0,
        "waiting_share": mean.waiting / ran.seconds if ran.seconds else 0.0,
        "loggops": about(asked.parameters),
        "cpus": graphs.cpus,
        "nics": graphs.nics,
        "accuracy": of_incast(graphs, asked, ran) if with_doubts else "",
    }
    if asked.noise is not None:
        free = _loggp.run(graphs, asked.parameters, loggopsim_order=loggopsim_order).seconds
        members |= members_of(asked.noise, ran.seconds, free)
    if asked.by_rank:
        each = map(ran.of_rank, range(graphs.ranks))
        members["by_rank"] = [{**_times(of), "operations": of.operations} for of in each]
    if asked.dying is not None:
        times = asked.dying.times(graphs.ranks, ran.seconds)
        deaths = asked.dying.of_ranks(graphs.ranks, times)
        ran = _loggp.run(graphs, asked.parameters, noise, asked.timeline, loggopsim_order, deaths)
        members["faults"] = faults.about(ran.aftermath, asked.dying, times)
    if asked.timeline:
        asked.timelines.append((ran.timeline, ran.left_out))
    if asked.page:
        from kumihimo import over_time

        sizes = over_time.MOST_ROWS, over_time.BINS
        late = _loggp.delays(graphs, asked.parameters, noise, *sizes, loggopsim_order)
        asked.maps.append(over_time.of_noise(late.seconds, late.ranks_of_group, graphs.ranks, late.bin_seconds))
    return {**members, "wall_seconds": time.perf_counter() - started}


def _times(of: _loggp.RankSeconds) -> dict:
    names = ("end", "computing", "overhead", "noise", "waiting")
    return {f"{name}_seconds": getattr(of, name) for name in names}


def about(p: _loggp.Parameters) -> dict:
    times = {f"{letter}_seconds": getattr(p, letter) * 1e-12 for letter in "Log"}
    rates = {f"{letter}_seconds_per_byte": getattr(p, letter) * 1e-15 for letter in "GO"}
    agreeing = {"R_seconds": p.R * 1e-12} if p.R else {}
    agreeing |= {"shared_processors": p.processors} if p.processors else {}
    return {**times, **rates, "S_bytes": p.S, **agreeing}


@dataclass
class Asked(simulation.Asked):
    """A collective in this model, which needs no machine: `ranks` then say which ranks there are."""

    ranks: arguments.Ranks | None = None
    settings: Settings | None = None

    @property
    def machine(self) -> _machine.Machine | None:
        return self.job and self.job.machine

    @property
    def space(self) -> _topology.RankSpace:
        return arguments.rank_space(self.ranks) if self.job is None else super().space

    def predict(self, case: simulation.Case) -> dict:
        return predict(self, case)


NO_LINKS = "LogGOPS knows no links, which limit this case"


def predict(asked: Asked, case: simulation.Case) -> dict:
    """The result of one case. Raises NotApplicable where the algorithm does not fit."""
    collective, _, schedule = simulation.built(asked, case)
    graphs = _goal.graphs_of(schedule, asked.settings.rates)
    result = {"limiting": "", **run(graphs, asked.settings, with_doubts=asked.job is not None)}
    members = simulation.result_of(asked, case, collective, schedule, result)
    if asked.job is not None:
        bounds = json.loads(_simulate.simulate_bound(collective, asked.job, asked.placement, not asked.simd).to_json())
        members |= {"bound_seconds": bounds["bound_seconds"], "bounds": bounds["bounds"]}
        members["accuracy"] = doubt(schedule, result, asked.job, asked.placement, asked.settings, simd=asked.simd)
        if result["seconds"] < bounds["bound_seconds"]:
            below = f"{NO_LINKS}: it is below the bound ({bounds['limiting']})"
            members["accuracy"] = "; ".join(filter(None, (below, members["accuracy"])))
    return members


def doubt(
    sets: object,
    result: dict,
    job: _machine.Job,
    placement: _placement.Placement | None,
    asked: Settings,
    *,
    simd: bool = True,
) -> str:
    """How far off the time without noise may be, of parameters that the machine has; else what `result` says."""
    if not asked.derived:
        return result["accuracy"]
    seconds = result.get("noise_free_seconds", result["seconds"])
    found = doubts.of_loggp(seconds, doubts.by_flow(sets, job, placement, simd=simd))
    return "; ".join(filter(None, (result["accuracy"], found)))


def predict_programs(
    those: programs.Programs,
    asked: Settings,
    job: _machine.Job | None = None,
    placement: _placement.Placement | None = None,
) -> dict:
    with programs.unchanged(those.sets):
        graphs = _goal.graphs_of(those.sets, asked.rates)
        result = run(graphs, asked)
        if job is not None:
            result["accuracy"] = doubt(those.sets, result, job, placement, asked)
    return {**those.result(), **result}


def predict_goal(name: str, graphs: _goal.Graphs, asked: Settings) -> dict:
    return {"programs": name, "ranks": graphs.ranks, **run(graphs, asked, loggopsim_order=True)}
