"""`simulate` and `best`: how long collectives and programs take on a described machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kumihimo import _collectives, _machine
from kumihimo.api.common import Progress, ResultList, Size, counter, sizes_text
from kumihimo.api.machines import Job, On, job_of
from kumihimo.collectives import arguments
from kumihimo.predict import chances, subjects
from kumihimo.predict.request import SimulationRequest, predict_all
from kumihimo.predict.simulation import none_fits
from kumihimo.text.errors import wrong_value
from kumihimo.text.records import ResultRecord


@dataclass(frozen=True)
class PredictedTime(ResultRecord):
    """The time of one algorithm and one length, or of programs. `to_dict()` has all that the model tells."""

    what: str  # the collective, or the name of the programs
    algorithm: str | None  # None: of programs
    parameters: Mapping[str, int | str | bool]
    machine: str | None
    shape: str | None  # of the nodes
    ranks: int
    bytes: int | None  # of the vector or of one block; None: of programs
    model: str
    seconds: float
    bytes_per_second: float | None  # as the literature counts them
    bound_seconds: float | None  # no schedule is faster; None: the model knows no bound
    limiting: str  # what the time is spent on
    interval: tuple[float, float] | None  # seconds, for nine of ten measured times; None: nothing was calibrated
    fastest_probability: float | None  # among the predictions of this length; None: nothing was calibrated
    accuracy: str  # why the time may be more than a fifth off; empty: no reason is known
    members: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> PredictedTime:
        get, interval = members.get, members.get("interval")
        return cls(
            what=members["collective"] if "collective" in members else members["programs"],
            algorithm=get("algorithm"),
            parameters=get("parameters") or {},
            machine=get("machine"),
            shape=get("shape"),
            ranks=members["ranks"],
            bytes=get("bytes"),
            model=members["model"],
            seconds=members["seconds"],
            bytes_per_second=get("bytes_per_second"),
            bound_seconds=get("bound_seconds"),
            limiting=get("limiting") or "",
            interval=interval and (interval["low_seconds"], interval["high_seconds"]),
            fastest_probability=get("fastest_probability"),
            accuracy=get("accuracy") or "",
            members=members,
        )

    def to_dict(self) -> dict[str, Any]:
        """As `kumihimo simulate --json` has it (schemas/prediction.schema.json)."""
        return dict(self.members)


class Predictions(ResultList[PredictedTime]):
    """One prediction for each algorithm and length; `not_applicable` has the other algorithms with the reason."""

    @property
    def fastest(self) -> PredictedTime:
        """The prediction with the least time; of equals the first."""
        return min(self, key=lambda each: each.seconds)


@dataclass
class LibraryRequest(SimulationRequest):
    """The options as arguments of functions."""

    job: Job | None = None

    def loaded_machine(self) -> _machine.Machine:
        assert self.job is not None, "a request with a machine has a job"
        return self.job.machine.native


def simulate(
    what: str,
    on: On | None = None,
    *,
    bytes: Size | Sequence[Size] | None = None,
    algorithm: str = arguments.ALL,
    model: str = "flow",
    type: str = "float64",
    operation: str = "sum",
    root: int = 0,
    counts: str | None = None,
    neighbours: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    ranks: int | None = None,
    simd: bool = True,
    noise: str | None = None,
    dies: Sequence[str] = (),
    loggops: str | None = None,
    cpus: int | None = None,
    nics: int | None = None,
    packet_bytes: int | None = None,
    buffer_packets: int | None = None,
    packet_seed: int = 1,
    links: bool = False,
    by_rank: bool = False,
    progress: Progress | None = None,
) -> Predictions:
    """Predict times on a described machine, as `kumihimo simulate` does.

    `what`: a collective, "halo:16x16x16", "file:PATH" or "goal:PATH". `on`: a job, a machine (all its nodes) or a
    machine's name; None: only in the model "loggp" with `loggops` and `ranks`. `bytes`: one length or several, in
    bytes or with a unit. `algorithm`: a name, or "all". `model`: bound, cost, flow, exact, loggp or packet.
    `parameters`: of algorithms, by the names in docs/algorithms.md. `links`, `by_rank`: tell bytes of all links and
    times of all ranks, as members of `to_dict()`.

    Native code computes without Python's lock, so calls on several threads run in parallel. Raises BadInput for wrong
    arguments and NotApplicable where no algorithm fits.
    """
    kind = subjects.kind_of(what)
    if kind == "recording":
        raise wrong_value("simulate() takes no workload", what, "call replay()")
    job = None if on is None else job_of(on)
    request = LibraryRequest(
        job=job,
        sizes=sizes_text(bytes),
        algorithm=algorithm,
        model=model,
        no_simd=not simd,
        type_=type,
        operation=operation,
        root=root,
        parameters=dict(parameters or {}),
        counts=counts,
        neighbours=neighbours,
        links=links,
        by_rank=by_rank,
        loggops=loggops,
        cpus=cpus,
        nics=nics,
        packet_bytes=packet_bytes,
        buffer_packets=buffer_packets,
        packet_seed=packet_seed,
        noise=noise,
        dies=list(dies) or None,
        **options_of(job, ranks),
    )
    request.check(kind)
    subject, setting = request.question(what)
    cases = subject.cases(setting)
    found = predict_all(subject, setting, cases, counter(progress, len(cases)))
    return Predictions([PredictedTime.of(each) for each in found.results], found.passed_over)


def options_of(job: Job | None, ranks: int | None) -> dict[str, Any]:
    """The options of a request that a job stands for."""
    if job is None:
        return {"ranks": ranks}
    if ranks is not None:
        raise wrong_value("ranks is for simulations without a machine", ranks, "give the ranks to Machine.job()")
    asked = job.asked
    return {
        "machine": job.machine.name,
        "shape": asked.shape,
        "ranks": asked.ranks,
        "ranks_per_node": asked.ranks_per_node,
        "box": asked.box,
        "dead": list(asked.dead) or None,
        "routing": asked.routing,
        "slow": list(asked.slow) or None,
        "given": asked.allocation,
        "order": asked.order,
        "placement": asked.placement,
    }


def best(
    collective: str,
    on: On,
    bytes: Size | None = None,
    *,
    runnable: bool = True,
    model: str = "flow",
    type: str = "float64",
    operation: str = "sum",
    root: int = 0,
    progress: Progress | None = None,
) -> PredictedTime:
    """The fastest algorithm of a collective on a machine for a length, by prediction.

    `runnable`: leave out algorithms that need the network's own engine, which programs cannot run. The other arguments
    are those of `simulate()`. `fastest_probability` of the result says how sure the choice is. Raises BadInput for
    wrong arguments and NotApplicable where no algorithm fits.
    """
    job = job_of(on)
    found = simulate(
        collective, job, bytes=bytes, model=model, type=type, operation=operation, root=root, progress=progress
    )
    offloaded = {each.name for each in _collectives.variants(collective) if each.offloads} if runnable else set()
    left = [each for each in found if each.algorithm not in offloaded]
    if not left:
        raise none_fits([dict(each) for each in found.not_applicable])
    members = [dict(each.members) for each in left]
    chances.add_to(members, job.machine.native.prediction_errors)
    return PredictedTime.of(min(members, key=lambda each: each["seconds"]))


__all__ = ["LibraryRequest", "PredictedTime", "Predictions", "best", "simulate"]
