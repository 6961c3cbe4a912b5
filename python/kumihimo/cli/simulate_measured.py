"""Shared parts of application predictions whose rates are measured here: lu and fft3d on the ranks of a machine, and on
fewer of its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _machine
from kumihimo.app import prediction
from kumihimo.app.core_speed import CoreSpeed
from kumihimo.cli import app, machines
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import models, simulation
from kumihimo.text.errors import wrong_value

LIMIT_SECONDS = 3600.0  # of the measurement
PEAK = "peak"


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
    variant: str | None = None
    software: str | None = None

    def checked_model(self) -> str:
        model = self.model or "flow"
        models.check(model, self.application)
        return model

    def speed_of_core(self, jobs: Sequence[_machine.Job]) -> CoreSpeed:
        """Speed of a core of the jobs' machine, relative to a core here."""
        if self.speed == PEAK:
            return CoreSpeed.by_peak(jobs[-1])
        speed = 1.0 if self.speed is None else app.positive(self.speed, "--speed")
        if not 1e-3 <= speed <= 1e3:
            raise wrong_value("--speed must be from 0.001 to 1000, or peak", self.speed)
        return CoreSpeed(speed)

    def jobs(self, alone: bool) -> list[_machine.Job]:
        """On more and more nodes; `alone`: on all that were asked for."""
        loaded = machines.load(self.machine, self.software)
        whole = simulation.on(loaded, self.ranks)
        if alone or self.ranks.ranks is not None:
            return [whole]
        return list(prediction.smaller_jobs(loaded, self.ranks)) or [whole]
