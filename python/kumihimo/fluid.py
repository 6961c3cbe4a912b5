"""Predictions of GOAL files by the model flow: messages share links as fluids (ADR 50)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _fluid, _goal, _machine, _placement, faults
from kumihimo.noise import Noise, members_of, model_of


@dataclass
class Setting:
    """Where graphs run."""

    job: _machine.Job
    placement: _placement.Placement | None
    dying: faults.Dying | None = None
    noise: Noise | None = None

    def run(self, graphs: _goal.Graphs, deaths: Sequence[tuple[int, int]] = ()) -> _fluid.Outcome:
        return _fluid.simulate(graphs, self.job, self.placement, deaths, model_of(self.noise))

    def of_goal(self, name: str, graphs: _goal.Graphs) -> dict:
        """All but `faults` is of the run without them."""
        started = time.perf_counter()
        found, extra = self.run(graphs), {}
        if self.noise is not None:
            without = _fluid.simulate(graphs, self.job, self.placement)
            extra |= members_of(self.noise, found.seconds, without.seconds)
        if self.dying is not None:
            times = self.dying.times(graphs.ranks, found.seconds)
            extra["faults"] = faults.about(self.run(graphs, times).aftermath, self.dying, times)
        return {
            "programs": name,
            "ranks": graphs.ranks,
            "model": "flow",
            "seconds": found.seconds,
            "last_rank": found.last_rank,
            "operations": found.operations,
            "messages": found.messages,
            "link_classes": use_of(found.classes),
            "limiting": "",
            "accuracy": "",
            **extra,
            "wall_seconds": time.perf_counter() - started,
        }


def use_of(classes: Sequence[_fluid.ClassUse]) -> list[dict]:
    """Of the whole time: `busy` of all links of a class, `busiest` of the one with most bytes."""
    return [{"name": of.name, "links": of.links, "busy": of.mean, "busiest": of.most} for of in classes]
