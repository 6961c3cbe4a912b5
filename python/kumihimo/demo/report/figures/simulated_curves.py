"""Simulated allreduce by length: bandwidth as the paper draws it (2 x bytes / time), and time."""

from __future__ import annotations

from collections.abc import Callable

from kumihimo import pages
from kumihimo.demo.report import display
from kumihimo.demo.report.style import Styles
from kumihimo.text.json_types import JsonObject


def charts(simulated: JsonObject, styles: Styles) -> pages.ChartGroup:
    """The group of four charts: two quantities on two shapes, with one legend."""
    shapes = [simulated["paper_shape"], simulated["full_shape"]]
    names = styles.order(r["algorithm"] for r in simulated["results"])
    legend = [styles.of(name) for name in names] + [styles.bound()]
    drawn = [bandwidth(simulated, shape, styles) for shape in shapes]
    drawn += [time(simulated, shape, styles) for shape in shapes]
    return pages.ChartGroup(drawn, legend, "simulated-charts")


def results_on(simulated: JsonObject, shape: str) -> list[JsonObject]:
    """The results of the curves on one shape, by length."""
    return sorted((r for r in simulated["results"] if r["shape"] == shape), key=lambda r: r["bytes"])


def bandwidth(simulated: JsonObject, shape: str, styles: Styles) -> pages.LineChart:
    """2 x bytes / time; the published figure is marked where its shape was simulated."""
    series = _series(simulated, shape, styles, lambda r, seconds: 2 * r["bytes"] / seconds)
    published = simulated["published"]["bytes_per_second"]["value"]
    marked = simulated["as_published"] and shape == simulated["paper_shape"]
    marks, levels = [], []
    if marked:
        largest = max(r["bytes"] for r in results_on(simulated, shape))
        marks = [{"x": largest, "y": published}]
        levels = [{"y": published, "label": f"published at {display.bytes_(largest)}: {published / 1e9:g} GB/s"}]
    # Nothing sent by a node of which every byte is bounded by latency says anything on a linear scale.
    bound = series[-1].points
    reached = max(p["y"] for s in series[:-1] for p in s.points)
    caption = (
        f"The bound reaches {display.rate(bound[-1]['y'])}: the limit by links, engines and sums, without a cost for "
        "messages."
        if bound
        else ""
    )
    return pages.LineChart(
        f"{_place(simulated, shape)}: bandwidth",
        "2 × bytes / time, by length of the data",
        series,
        pages.ChartAxis("bytes", "log"),
        pages.ChartAxis("rate", most=max(reached * 1.25, published * 1.1 if marked else 0)),
        caption,
        f"bandwidth-{shape}",
        True,
        levels,
        marks,
    )


def time(simulated: JsonObject, shape: str, styles: Styles) -> pages.LineChart:
    """Time, both axes logarithmic."""
    return pages.LineChart(
        f"{_place(simulated, shape)}: time",
        "time of one allreduce, by length of the data",
        _series(simulated, shape, styles, lambda _, seconds: seconds),
        pages.ChartAxis("bytes", "log"),
        pages.ChartAxis("seconds", "log"),
        tall=True,
        name=f"time-{shape}",
    )


def _place(simulated: JsonObject, shape: str) -> str:
    nodes = next(r["ranks"] for r in simulated["results"] if r["shape"] == shape)
    return f"{display.shape(shape)}, {nodes:,} nodes"


def _series(
    simulated: JsonObject, shape: str, styles: Styles, value: Callable[[JsonObject, float], float]
) -> list[pages.LineSeries]:
    """A curve for each algorithm, then the bound."""
    results = results_on(simulated, shape)
    series = []
    for name in styles.order(r["algorithm"] for r in results):
        mine = [r for r in results if r["algorithm"] == name]
        points = [{"x": r["bytes"], "y": value(r, r["seconds"]), "note": r.get("accuracy", "")} for r in mine]
        series.append(styles.of(name, points))
    bounds = {r["bytes"]: value(r, r["bound_seconds"]) for r in results if r.get("bound_seconds")}
    return [*series, styles.bound(pages.points_of(sorted(bounds.items())))]
