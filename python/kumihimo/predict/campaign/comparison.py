"""Predicted times beside measured ones, and how far they are apart."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo.predict.campaign.database import MEASURED, OK
from kumihimo.text.json_types import JsonObject


def with_measured(points: Sequence[JsonObject], measured: Sequence[JsonObject]) -> list[JsonObject]:
    """The points, each with `measured`: the row that has its values, or None."""
    names = [name for name in (measured[0] if measured else ()) if name not in MEASURED]
    found = {tuple(row[name] for name in names): row for row in measured}
    return [
        {**point, "measured": found.get(tuple(point.get(name) for name in names)) if names else None}
        for point in points
    ]


@dataclass(frozen=True)
class Agreement:
    """Agreement of the points that have both times. Errors are factors: 1.1 is 10 % too long, or too short."""

    points: int
    median: float
    ninth_decile: float
    worst: JsonObject | None

    @property
    def worst_ratio(self) -> float:
        return ratio(self.worst) if self.worst else 1.0


def agreement(points: Sequence[JsonObject]) -> Agreement | None:
    """None where nothing was measured."""
    both = [point for point in points if has_ratio(point)]
    if not both:
        return None
    errors = sorted(abs(math.log(ratio(point))) for point in both)
    worst = max(both, key=lambda point: abs(math.log(ratio(point))))
    ninth = errors[math.ceil(0.9 * len(errors)) - 1]
    return Agreement(len(both), math.exp(statistics.median(errors)), math.exp(ninth), worst)


def by_value(points: Sequence[JsonObject], name: str) -> dict[object, Agreement]:
    """The agreement of the points with each value of a parameter that something was measured for."""
    values = dict.fromkeys(point[name] for point in points)
    found = {value: agreement([point for point in points if point[name] == value]) for value in values}
    return {value: each for value, each in found.items() if each}


@dataclass(frozen=True)
class Ranking:
    """Pairs of points that differ in one parameter alone, and whose measured times differ by more than CLEAR."""

    pairs: int
    wrong: list[tuple[JsonObject, JsonObject]]  # the slower one is predicted as the faster one


CLEAR = 1.3


def ranking(points: Sequence[JsonObject], name: str, others: Sequence[str]) -> Ranking:
    """`others`: the parameters that must be equal."""
    groups: dict[tuple, list[JsonObject]] = {}
    for point in points:
        if has_ratio(point):
            groups.setdefault(tuple(point[other] for other in others if other != name), []).append(point)
    pairs, wrong = 0, []
    for group in groups.values():
        for a, b in itertools.combinations(sorted(group, key=lambda point: point["measured"]["seconds"]), 2):
            if b["measured"]["seconds"] > CLEAR * a["measured"]["seconds"]:
                pairs += 1
                wrong += [(a, b)] if b["seconds"] <= a["seconds"] else []
    return Ranking(pairs, wrong)


def errors_text(agreed: Agreement) -> list[str]:
    """Median error, that of nine of ten, the worst ratio and its point, as people read them."""
    shares = [f"{100 * (factor - 1):.1f} %" for factor in (agreed.median, agreed.ninth_decile)]
    return [*shares, f"{agreed.worst_ratio:.2f}", str(agreed.worst["place"]) if agreed.worst else ""]


def has_ratio(point: JsonObject) -> bool:
    """A prediction may also be 0 s: that of a broadcast to one rank."""
    return bool(point["status"] == OK and point["measured"] and point["seconds"])


def ratio(point: JsonObject) -> float:
    """Predicted to measured."""
    return point["seconds"] / point["measured"]["seconds"]
