"""Shared parts of the predictions of published figures: machines, rates of kernels, each measured once, and the time of
a collective or a workload.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from kumihimo import _machine
from kumihimo.app import fft_prediction, lu_prediction
from kumihimo.app.core_speed import CoreSpeed, peak_here
from kumihimo.app.fft_prediction import LineRate
from kumihimo.app.lu_prediction import LuQuestion, LuRates
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.kernel import identity
from kumihimo.network.placement import Placed, wanted
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.predict.replay.choices import Wished
from kumihimo.predict.replay.models import ReplayModel
from kumihimo.predict.replay.study import ReplayQuestion
from kumihimo.predict.workloads.catalogue import WorkloadCall
from kumihimo.processes.package_files import folder
from kumihimo.text.json_types import JsonObject

COMMITTED = Path(__file__).with_name("kernel_rates.json")
ABOUT = ("processor", "date")
LIMIT_SECONDS = 3600.0  # of a measurement
BLOCK, TRIES = 192, 5


class KernelRates:
    """Rates of one thread: as they were measured once (kernel_rates.json), so that predictions do not change with the
    machine that computes them, or `here`.
    """

    def __init__(self, here: bool = False) -> None:
        self.known = {} if here else json.loads(COMMITTED.read_text(encoding="utf-8"))

    @cached_property
    def peak(self) -> float:
        return self.known["peak"] if self.known else peak_here()

    @cached_property
    def lu(self) -> LuRates:
        """With blocks of BLOCK; the best of TRIES where other programs seem to run here."""
        if self.known:
            return LuRates(**self.known["lu"])
        found: list[LuRates] = []
        while len(found) < TRIES and not (found and found[-1].updates >= lu_prediction.BUSY_SHARE * self.peak):
            found.append(lu_prediction.measure(LuQuestion(10 * BLOCK, BLOCK, None), LIMIT_SECONDS))
        return max(found, key=lambda rates: rates.updates)

    @cached_property
    def lines(self) -> LineRate:
        return LineRate(**self.known["lines"]) if self.known else fft_prediction.measure(LIMIT_SECONDS)

    @cached_property
    def long_lines(self) -> LineRate:
        known = self.known.get("long_lines")
        return LineRate(**known) if known else fft_prediction.measure_long_lines(LIMIT_SECONDS)

    def speed_of(self, job: _machine.Job) -> CoreSpeed:
        """Kernels reach the same share of the peak there."""
        flops, _ = job.machine.compute_rates
        return CoreSpeed.of(self.peak, flops / max(job.slots.sizes))

    def used(self) -> JsonObject:
        """Rates taken until now, in the form of kernel_rates.json."""
        taken = {name: value for name, value in vars(self).items() if name in ("peak", "lu", "lines", "long_lines")}
        if not taken:
            return {}
        processor, date = identity.this_machine()["processor"], datetime.now(timezone.utc).date().isoformat()
        about = {"processor": processor, "date": date, **{name: self.known[name] for name in ABOUT if self.known}}
        return about | {name: value if name == "peak" else kept(value) for name, value in taken.items()}


def kept(rates: LuRates | LineRate) -> JsonObject:
    """Without what says how quiet the machine was."""
    return {name: value for name, value in vars(rates).items() if name != "spread"}


@cache
def machine(name: str) -> _machine.Machine:
    return _machine.load(name, [folder("machines")])


def job_on(name: str, shape: str | None, each: int | None = 1) -> _machine.Job:
    return simulation.on(machine(name), Ranks(shape, None, each))


def collective_result(
    job: _machine.Job,
    kind: str,
    algorithm: str,
    size: int,
    model: str = "flow",
    type_: str = "float64",
    **given: object,
) -> JsonObject:
    """Result of `simulate`. `given`: parameters of the algorithm."""
    asked = simulation.CollectiveQuestion(
        Setting(model, job), CollectiveArguments(kind, type=type_), algorithm, dict(given)
    )
    return simulation.predict(asked, simulation.Case(arguments.variants(kind, algorithm)[0], size))


def collective_seconds(job: _machine.Job, kind: str, algorithm: str, size: int, **given: Any) -> float:
    return collective_result(job, kind, algorithm, size, **given)["seconds"]


def replay_question(
    call: WorkloadCall, job: _machine.Job, placed: Placed | None = None, choices: Sequence[JsonObject] = ()
) -> ReplayQuestion:
    """In the model flow. `choices`: as a wisdom file has them."""
    trace = call.trace()
    model = ReplayModel(Setting("flow", job, placed), job.machine.name)
    return ReplayQuestion(trace, trace.recording, model, Wished({}, list(choices)))


def in_order(job: _machine.Job, name: str) -> Placed | None:
    return simulation.placed(job, wanted(name, None))
