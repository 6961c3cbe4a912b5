"""The page of a checkpoint interval: the share of the time for each use, by the interval."""

from __future__ import annotations

import math
from pathlib import Path

from kumihimo.pages import one_file
from kumihimo.predict.checkpoint import model

POINTS = 61  # of a curve
SPAN = 32.0  # from the best interval divided by this to it times this
CURVES = (
    ("efficiency", "work (efficiency)", "s0"),
    ("checkpoints", "checkpoints", "s1"),
    ("lost", "lost work", "s2"),
    ("restarts", "restarts", "s3"),
)


def shares(of: model.ExpectedRun) -> dict[str, float]:
    """Of the expected time."""
    return {
        "efficiency": of.efficiency,
        "checkpoints": of.checkpoints / of.seconds,
        "lost": of.lost / of.seconds,
        "restarts": of.restarts / of.seconds,
    }


def data_of(case: model.CheckpointCase, marks: dict[str, float]) -> dict:
    """`marks`: intervals that the picture names."""
    best = marks["best"]
    low, high = min(best / SPAN, *marks.values()), max(best * SPAN, *marks.values())
    high = min(high, max(case.work, *marks.values()))
    low = min(low, high / 2)
    every = {low * (high / low) ** (i / (POINTS - 1)) for i in range(POINTS)} | set(marks.values())
    known = [found for t in sorted(every) if math.isfinite((found := model.expected(case, t)).seconds)]
    series = [
        {
            "name": name,
            "label": label,
            "colour": colour,
            "marker": at,
            "bare": True,
            "strong": at == 0,
            "points": [{"x": of.interval / 60, "y": shares(of)[name]} for of in known],
        }
        for at, (name, label, colour) in enumerate(CURVES)
    ]
    circles = [
        {"x": t / 60, "y": found.efficiency}
        for t in marks.values()
        if math.isfinite((found := model.expected(case, t)).seconds)
    ]
    return {
        "kind": "lines",
        "title": "Where the time goes",
        "unit": "share of the expected time, by the minutes of work between two checkpoints",
        "x": {"quantity": "number", "scale": "log"},
        "y": {"quantity": "share", "scale": "linear"},
        "series": series,
        "marks": circles,
        "tall": True,
    }


def render(case: model.CheckpointCase, marks: dict[str, float], **values: object) -> str:
    return one_file.page(Path(__file__).parent, data_of(case, marks), ("charts.js",), **values)
