"""What predictions of applications share whose rates are measured here: lu and fft3d on the ranks of a machine, and on
fewer of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _machine, _node
from kumihimo.app import prediction
from kumihimo.cli import app, machines
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import models, simulation
from kumihimo.text.errors import wrong_value

LIMIT_SECONDS = 3600.0  # of the measurement
PEAK = "peak"
PEAK_ROUNDS = 15


@dataclass(frozen=True)
class CoreSpeed:
    """Of a rank of a machine, relative to one thread here; with the peaks that it follows from, in flops a second."""

    speed: float
    peak_here: float | None = None
    peak_there: float | None = None

    @classmethod
    def by_peak(cls, job: _machine.Job) -> CoreSpeed:
        """Kernels reach the share of the peak that they reach here."""
        flops, _ = job.machine.compute_rates
        if not flops:
            raise wrong_value("--speed peak needs a machine file with flop_rate", job.machine.name, "add it")
        return cls.of(peak_here(), flops / max(job.slots.sizes))

    @classmethod
    def of(cls, here: float, there: float) -> CoreSpeed:
        return cls(there / here, here, there)

    def text(self, machine: str) -> str:
        if self.peak_here and self.peak_there:
            return (
                f"kernels reach the same share of the peak on {machine}, {self.peak_there * 1e-9:.4g} GFLOPS of a "
                f"rank, as here, {self.peak_here * 1e-9:.4g} GFLOPS of a thread"
            )
        as_fast = "as fast as" if self.speed == 1 else f"{self.speed:g} times as fast as"
        return f"a core of {machine} is {as_fast} the one here (--speed)"

    def measured(self) -> dict:
        """Members of JSON."""
        return {} if self.peak_here is None else {"peak_gflops": self.peak_here * 1e-9}


def peak_here() -> float:
    """Of one thread, by multiply-adds in registers: the best of some rounds, since other programs only slow it down."""
    return max(_node.measure_peak(1, PEAK_ROUNDS).gflops) * 1e9


@dataclass(frozen=True)
class MeasuredRequest:
    """The options that these applications take."""

    application: str
    machine: str
    ranks: Ranks
    size: str | None
    settings: Sequence[str]
    speed: str | None
    model: str | None

    def checked_model(self) -> str:
        model = self.model or "flow"
        models.check(model, self.application)
        return model

    def speed_of_core(self, jobs: Sequence[_machine.Job]) -> CoreSpeed:
        """Of the jobs' machine, relative to one here."""
        if self.speed == PEAK:
            return CoreSpeed.by_peak(jobs[-1])
        speed = 1.0 if self.speed is None else app.positive(self.speed, "--speed")
        if not 1e-3 <= speed <= 1e3:
            raise wrong_value("--speed must be from 0.001 to 1000, or peak", self.speed)
        return CoreSpeed(speed)

    def jobs(self, alone: bool) -> list[_machine.Job]:
        """On more and more nodes; `alone`: on all that were asked for."""
        loaded = machines.load(self.machine)
        whole = simulation.on(loaded, self.ranks)
        if alone or self.ranks.ranks is not None:
            return [whole]
        return list(prediction.smaller_jobs(loaded, self.ranks)) or [whole]
