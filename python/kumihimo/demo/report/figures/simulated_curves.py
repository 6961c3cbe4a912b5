"""Simulated allreduce by length: bandwidth as the paper draws it (2 x bytes / time), and time."""

from __future__ import annotations

from kumihimo.demo.report import display
from kumihimo.demo.report.style import Styles

BYTES = {"quantity": "bytes", "scale": "log"}


def charts(simulated: dict, styles: Styles) -> dict:
    """The group of four charts: two quantities on two shapes, with one legend."""
    shapes = [simulated["paper_shape"], simulated["full_shape"]]
    names = styles.order(r["algorithm"] for r in simulated["results"])
    legend = [styles.of(name) for name in names] + [styles.bound()]
    drawn = [bandwidth(simulated, shape, styles) for shape in shapes]
    drawn += [time(simulated, shape, styles) for shape in shapes]
    return {"charts": drawn, "legend": legend}


def results_on(simulated: dict, shape: str) -> list[dict]:
    """The results of the curves on one shape, by length."""
    return sorted((r for r in simulated["results"] if r["shape"] == shape), key=lambda r: r["bytes"])


def bandwidth(simulated: dict, shape: str, styles: Styles) -> dict:
    """2 x bytes / time; the published figure is marked where its shape was simulated."""
    chart = _chart(simulated, shape, styles, lambda r, seconds: 2 * r["bytes"] / seconds)
    chart.update(
        id=f"bandwidth-{shape}",
        title=f"{_place(simulated, shape)}: bandwidth",
        unit="2 × bytes / time, by length of the data",
        y={"quantity": "rate", "scale": "linear"},
        tall=True,
    )
    published = simulated["published"]["bytes_per_second"]
    marked = simulated["as_published"] and shape == simulated["paper_shape"]
    if marked:
        largest = max(r["bytes"] for r in results_on(simulated, shape))
        chart["marks"] = [{"x": largest, "y": published["value"]}]
        words = f"published at {display.bytes_(largest)}: {published['value'] / 1e9:g} GB/s"
        chart["levels"] = [{"y": published["value"], "label": words}]
    # Nothing sent by a node of which every byte is bounded by latency says anything on a linear scale.
    bound = chart["series"][-1]["points"]
    reached = max(p["y"] for s in chart["series"][:-1] for p in s["points"])
    chart["y"]["most"] = max(reached * 1.25, published["value"] * 1.1 if marked else 0)
    if bound:
        chart["caption"] = (
            f"The bound reaches {display.rate(bound[-1]['y'])}: the limit by links, engines and sums, without "
            "a cost for messages."
        )
    return chart


def time(simulated: dict, shape: str, styles: Styles) -> dict:
    """Time, both axes logarithmic."""
    chart = _chart(simulated, shape, styles, lambda _r, seconds: seconds)
    chart.update(
        id=f"time-{shape}",
        title=f"{_place(simulated, shape)}: time",
        unit="time of one allreduce, by length of the data",
        y={"quantity": "seconds", "scale": "log"},
        tall=True,
        caption="",
    )
    return chart


def _place(simulated: dict, shape: str) -> str:
    nodes = next(r["ranks"] for r in simulated["results"] if r["shape"] == shape)
    return f"{display.shape(shape)}, {nodes:,} nodes"


def _chart(simulated: dict, shape: str, styles: Styles, value) -> dict:
    results = results_on(simulated, shape)
    series = []
    for name in styles.order(r["algorithm"] for r in results):
        mine = [r for r in results if r["algorithm"] == name]
        points = [{"x": r["bytes"], "y": value(r, r["seconds"]), "note": r.get("accuracy", "")} for r in mine]
        series.append({**styles.of(name), "points": points})
    bounds = {r["bytes"]: value(r, r["bound_seconds"]) for r in results if r.get("bound_seconds")}
    series.append({**styles.bound(), "points": [{"x": x, "y": y} for x, y in sorted(bounds.items())]})
    return {"kind": "lines", "x": BYTES, "series": series}
