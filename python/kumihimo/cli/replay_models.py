"""`kumihimo replay`: the model that its options ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kumihimo import _machine
from kumihimo.cli import machines, options
from kumihimo.collectives.given import GivenOption
from kumihimo.predict.replay.request import ReplayModelRequest


@dataclass
class ReplayRequest(ReplayModelRequest):
    """The options of the command line."""

    def loaded_machine(self) -> _machine.Machine:
        return machines.load(self.machine, self.software)

    def explicit(self) -> Iterator[GivenOption]:
        return options.given()
