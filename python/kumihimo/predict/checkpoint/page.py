"""The page of a checkpoint interval: the share of the time for each use, by the interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kumihimo import pages
from kumihimo.predict.checkpoint import model

POINTS = 61  # of a curve
SPAN = 32.0  # from the best interval divided by this to it times this
CURVES = (
    ("efficiency", "work (efficiency)"),
    ("checkpoints", "checkpoints"),
    ("lost", "lost work"),
    ("restarts", "restarts"),
)


def shares(of: model.ExpectedRun) -> dict[str, float]:
    """Shares of the expected time."""
    return {
        "efficiency": of.efficiency,
        "checkpoints": of.checkpoints / of.seconds,
        "lost": of.lost / of.seconds,
        "restarts": of.restarts / of.seconds,
    }


def chart(case: model.CheckpointCase, marks: dict[str, float]) -> pages.LineChart:
    """`marks`: intervals that the picture names."""
    best = marks["best"]
    low, high = min(best / SPAN, *marks.values()), max(best * SPAN, *marks.values())
    high = min(high, max(case.work, *marks.values()))
    low = min(low, high / 2)
    every = {low * (high / low) ** (i / (POINTS - 1)) for i in range(POINTS)} | set(marks.values())
    known = [found for t in sorted(every) if math.isfinite((found := model.expected(case, t)).seconds)]
    named = [found for t in marks.values() if math.isfinite((found := model.expected(case, t)).seconds)]
    series = []
    for at, (name, label) in enumerate(CURVES):
        points = pages.points_of((of.interval / 60, shares(of)[name]) for of in known)
        series.append(pages.LineSeries(name, points, label, **pages.look(at), bare=True, strong=at == 0))
    return pages.LineChart(
        "Where the time goes",
        "share of the expected time, by the minutes of work between two checkpoints",
        series,
        x=pages.ChartAxis(scale="log"),
        y=pages.ChartAxis("share"),
        marks=pages.points_of((of.interval / 60, of.efficiency) for of in named),
        tall=True,
    )


LEAD = """Expected values of Daly's complete model (2006): failures come at exponentially distributed intervals, also
during checkpoints and restarts. Circles mark the best interval, that which was asked for, and the estimates of Young
and Daly."""


def render(
    case: model.CheckpointCase,
    marks: dict[str, float],
    about: str,
    facts: Sequence[Sequence[str]],
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> str:
    parts = [
        pages.KeyFacts(facts),
        pages.PageSection("Curves", [pages.Prose(LEAD), pages.ChartGroup([chart(case, marks)], legend=True)]),
        pages.PageSection("Table", [pages.PageTable(columns, rows)]),
    ]
    return pages.page("Checkpoint interval, by kumihimo", parts, "Checkpoint interval", about)
