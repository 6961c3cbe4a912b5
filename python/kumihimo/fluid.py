"""Predictions of GOAL files by the model flow: messages share links as fluids (ADR 50)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _fluid, _goal, _machine, _placement, faults


@dataclass
class Setting:
    """Where graphs run."""

    job: _machine.Job
    placement: _placement.Placement | None
    dying: faults.Dying | None = None

    def of_goal(self, name: str, graphs: _goal.Graphs) -> dict:
        """All but `faults` is of the run without them."""
        started = time.perf_counter()
        found = _fluid.simulate(graphs, self.job, self.placement)
        of_faults = {}
        if self.dying is not None:
            times = self.dying.times(graphs.ranks, found.seconds)
            dead = _fluid.simulate(graphs, self.job, self.placement, times)
            of_faults = {"faults": faults.about(dead.aftermath, self.dying, times)}
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
            **of_faults,
            "wall_seconds": time.perf_counter() - started,
        }


def use_of(classes: Sequence[_fluid.ClassUse]) -> list[dict]:
    """Of the whole time: `busy` of all links of a class, `busiest` of the one with most bytes."""
    return [{"name": of.name, "links": of.links, "busy": of.mean, "busiest": of.most} for of in classes]
