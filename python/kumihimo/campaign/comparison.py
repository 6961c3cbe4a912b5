"""Predicted times beside measured ones, and how far they are apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo.campaign.database import MEASURED, OK


def with_measured(points: Sequence[dict], measured: Sequence[dict]) -> list[dict]:
    """The points, each with `measured`: the row that has its values, or None."""
    names = [name for name in (measured[0] if measured else ()) if name not in MEASURED]
    found = {tuple(row[name] for name in names): row for row in measured}
    return [
        {**point, "measured": found.get(tuple(point.get(name) for name in names)) if names else None}
        for point in points
    ]


@dataclass(frozen=True)
class Agreement:
    """Of the points that have both times. Errors are factors: 1.1 is 10 % too long, or too short."""

    points: int
    median: float
    ninth_decile: float
    worst: dict | None

    @property
    def worst_ratio(self) -> float:
        return ratio(self.worst) if self.worst else 1.0


def agreement(points: Sequence[dict]) -> Agreement | None:
    """None where nothing was measured."""
    both = [point for point in points if point["status"] == OK and point["measured"]]
    if not both:
        return None
    errors = sorted(abs(math.log(ratio(point))) for point in both)
    worst = max(both, key=lambda point: abs(math.log(ratio(point))))
    ninth = errors[math.ceil(0.9 * len(errors)) - 1]
    return Agreement(len(both), math.exp(statistics.median(errors)), math.exp(ninth), worst)


def ratio(point: dict) -> float:
    """Predicted to measured."""
    return point["seconds"] / point["measured"]["seconds"]
