"""`replay`: what a recorded program would do on a described machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumihimo import _machine
from kumihimo.api.common import given_of
from kumihimo.api.machines import Job, On, job_of
from kumihimo.collectives.given import refuse
from kumihimo.predict.replay import choices, outcome, sources, study
from kumihimo.predict.replay.request import ReplayModelRequest
from kumihimo.predict.replay.study import Change, Efficiencies, Site
from kumihimo.predict.workloads import catalogue
from kumihimo.text.records import ResultRecord, frame_of

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ReplayPrediction(ResultRecord):
    """The time of a program and where it goes, in seconds. `to_dict()` has all that `kumihimo replay --json` tells."""

    what: str
    machine: str
    model: str
    ranks: int
    seconds: float
    computing_seconds: float  # mean of a rank
    communication_seconds: float  # the rest
    interval: tuple[float, float] | None  # seconds, for nine of ten measured times; None: nothing was calibrated
    ideal_network_seconds: float  # on a network that takes no time
    efficiencies: Efficiencies  # as the POP Centre of Excellence defines them
    sites: tuple[Site, ...] = field(repr=False)  # call sites, most time first
    changes: tuple[Change, ...] = field(repr=False)  # of `what_if`, the best first
    warnings: tuple[str, ...]
    members: Mapping[str, Any] = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """As `kumihimo replay --json` has it."""
        return dict(self.members)

    def to_frame(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row for each call site. Raises Failed where pandas is not installed."""
        return frame_of(self.members["sites"])


@dataclass
class LibraryReplayRequest(ReplayModelRequest):
    """The options as arguments of a function."""

    on_job: Job | None = None

    def loaded_machine(self) -> _machine.Machine:
        assert self.on_job is not None, "a request with a machine has a job"
        return self.on_job.machine.native


def replay(
    trace: str | os.PathLike[str],
    on: On | None = None,
    *,
    model: str = "loggp",
    ranks: int | None = None,
    grid: str | None = None,
    to_grid: str | None = None,
    scaling: str = "weak",
    algorithms: Mapping[str, str] | None = None,
    wisdom: str | os.PathLike[str] | None = None,
    speed: float = 1.0,
    region_speed: Mapping[str, float] | None = None,
    loggops: str | None = None,
    noise: str | None = None,
    dies: Sequence[str] = (),
    what_if: bool = False,
    by_rank: bool = False,
) -> ReplayPrediction:
    """Predict what a recorded program would do on another machine, as `kumihimo replay` does.

    `trace`: a folder of `kumihimo record --trace`, an OTF2 trace, "goal:FILE" or "workload:NAME". `on`: a job, a
    machine (a part of as many nodes as the ranks need) or its name; None: the model "loggp" with `loggops`.
    `ranks`: to which the program is extrapolated. `algorithms`: {"allreduce": "ring"}. `speed`: of processors,
    `region_speed`: of regions of the program. `what_if`: also predict the time with one thing changed.

    Raises BadInput for wrong arguments or files.
    """
    name = os.fspath(trace)
    job = None if on is None else job_of(on)
    asked = request_of(job, model, loggops, noise, list(dies))
    asked.check()
    extrapolation = {"ranks": ranks, "grid": grid, "to_grid": to_grid, "scaling": scaling}
    given = given_of(replay, {**extrapolation, "algorithms": dict(algorithms or {}), "wisdom": wisdom})
    ranks = ranks if ranks is not None or job is None else job.asked.ranks
    is_workload = sources.is_workload(name)
    if is_workload:
        refuse(given, "a workload takes", sources.NOT_OF_WORKLOAD)
        read = catalogue.asked(name, ranks or asked.slots()).trace()
    else:
        read = sources.trace_of(name, given)
    source, new_grid = sources.extrapolated(read, None if is_workload else ranks, grid, to_grid, scaling)
    model_of = asked.on(source.ranks if source is not None else read.graphs.ranks if read.graphs is not None else 0)
    words = [f"{speed:.12g}", *(f"{region}={value:.12g}" for region, value in (region_speed or {}).items())]
    general, of_regions = sources.speeds(words, read)
    by_collective = [f"{kind}={algorithm}" for kind, algorithm in (algorithms or {}).items()]
    wished = choices.Wished.read(by_collective, None if wisdom is None else Path(wisdom))
    found = study.predict(study.ReplayQuestion(read, source, model_of, wished, general, of_regions))
    changes = study.changes(found) if what_if else []
    faults = study.with_faults(found)
    members = {**outcome.as_object(found, changes, name), **new_grid, **({} if faults is None else {"faults": faults})}
    return prediction_of(name, found, changes, {**members, **(outcome.ranks_of(found) if by_rank else {})})


def request_of(
    job: Job | None, model: str, loggops: str | None, noise: str | None, dies: list[str]
) -> LibraryReplayRequest:
    if job is None:
        return LibraryReplayRequest(model, loggops=loggops, noise=noise, dies=dies)
    of = job.asked
    return LibraryReplayRequest(
        model,
        machine=job.machine.name,
        shape=of.shape,
        box=of.box,
        dead=list(of.dead),
        routing=of.routing,
        ranks_per_node=of.ranks_per_node,
        given=of.allocation,
        order=of.order,
        placement=of.placement,
        loggops=loggops,
        noise=noise,
        dies=dies,
        slow=list(of.slow),
        on_job=job,
    )


def prediction_of(
    name: str, found: study.Replay, changes: Sequence[Change], members: Mapping[str, Any]
) -> ReplayPrediction:
    interval = members.get("interval")
    return ReplayPrediction(
        name,
        members["machine"],
        members["model"],
        members["ranks"],
        members["seconds"],
        members["computing_seconds"],
        members["communication_seconds"],
        interval and (interval["low_seconds"], interval["high_seconds"]),
        members["ideal_network_seconds"],
        found.efficiencies,
        tuple(found.sites),
        tuple(changes),
        tuple(members["warnings"]),
        members,
    )


__all__ = ["Change", "Efficiencies", "ReplayPrediction", "Site", "replay"]
