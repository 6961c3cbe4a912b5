"""Measured allreduce by length: time, and the ratio to the MPI library's own call in the same processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kumihimo import pages
from kumihimo.demo.report.style import BOUND, LIBRARY, Styles
from kumihimo.text.json_types import JsonObject

SPACES = {"node": "one node", "2x2": "2×2 torus"}
LARGEST_RATIO = 8.0  # beyond it a curve leaves the picture, not the tables


def spaces(measured: JsonObject) -> list[str]:
    """The spaces that were measured, in the order of the file."""
    return list(dict.fromkeys(space_of(r) for r in measured["results"]))


def space_of(result: JsonObject) -> str:
    return str(result.get("space") or result.get("shape") or "node")


def words_of(space: str, results: Iterable[JsonObject]) -> str:
    """One node, 4 processes."""
    ranks = next((r.get("ranks") for r in results if space_of(r) == space), None)
    words = SPACES.get(space, space.replace("x", "×"))
    return f"{words}, {ranks} processes" if ranks else words


def charts(measured: JsonObject, styles: Styles) -> pages.ChartGroup:
    """The group of charts, with one legend that also shows the check against the golden copy."""
    results = measured["results"]
    legend = []
    for name in styles.order(r["algorithm"] for r in results if r["algorithm"] != LIBRARY):
        checks = [r["bitwise"] for r in results if r["algorithm"] == name and r.get("bitwise") is not None]
        legend.append(styles.of(name, checked=all(checks) if checks else None))
    legend += [styles.library(library_name(measured)), styles.bound()]
    drawn = [draw(measured, space, styles) for draw in (time, ratio) for space in spaces(measured)]
    return pages.ChartGroup([chart for chart in drawn if chart.series], legend, "measured-charts")


def library_name(measured: JsonObject) -> str:
    """The library's name for itself."""
    mpi = measured.get("mpi")
    if isinstance(mpi, dict):
        return " ".join(str(mpi[k]) for k in ("name", "version") if mpi.get(k)) or "MPI library"
    return str(mpi) if mpi else "MPI library"


def time(measured: JsonObject, space: str, styles: Styles) -> pages.LineChart:
    """Median times with 95 % intervals, the library's own call, and the bound."""
    results = _results(measured, space)
    series = [
        styles.of(name, [_time_point(r) for r in results if r["algorithm"] == name])
        for name in styles.order(r["algorithm"] for r in results)
    ]
    own: dict[int, JsonObject] = {}
    for r in results:  # the library was timed beside every algorithm: the run with most samples stands for it
        if r.get("library") and r["library"].get("samples", 0) >= own.get(r["bytes"], {}).get("samples", 0):
            own[r["bytes"]] = {**r["library"], "bytes": r["bytes"]}
    if own:
        series.append(styles.library(library_name(measured), [_time_point(own[x]) for x in sorted(own)]))
    bounds = {r["bytes"]: r["bound_seconds"] for r in results if r.get("bound_seconds")}
    if bounds:
        series.append(styles.bound(pages.points_of(sorted(bounds.items()))))
    unit = "median time of one allreduce, 95 % intervals"
    return _chart(measured, space, "time", unit, series, pages.ChartAxis("seconds", "log"))


def ratio(measured: JsonObject, space: str, styles: Styles) -> pages.LineChart:
    """Time as a multiple of the library's; below 1 is faster."""
    results = [r for r in _results(measured, space) if r.get("library", {}).get("seconds")]
    series = [
        styles.of(name, [_ratio_point(r) for r in results if r["algorithm"] == name])
        for name in styles.order(r["algorithm"] for r in results)
    ]
    name = library_name(measured)
    unit = f"time as a multiple of {name}'s own (dashed), 95 % intervals; below 1 is faster"
    chart = _chart(measured, space, "ratio", unit, series, pages.ChartAxis("ratio", "log", most=LARGEST_RATIO))
    return replace(chart, levels=[{"y": 1.0, "label": ""}])


def _results(measured: JsonObject, space: str) -> list[JsonObject]:
    mine = (r for r in measured["results"] if space_of(r) == space and r["algorithm"] not in (LIBRARY, BOUND))
    return sorted(mine, key=lambda r: r["bytes"])


def _time_point(r: JsonObject) -> JsonObject:
    return {
        "x": r["bytes"],
        "y": r["seconds"],
        "low": r.get("interval_low"),
        "high": r.get("interval_high"),
        "note": f"n = {r['samples']}" if r.get("samples") else "",
    }


def _ratio_point(r: JsonObject) -> JsonObject:
    """With its interval: as measured where launches give one, else from the ends of both intervals, which is wider."""
    own = r["library"]
    low, high = r.get("ratio_low"), r.get("ratio_high")
    if low is None and all(x.get("interval_low") and x.get("interval_high") for x in (r, own)):
        low, high = r["interval_low"] / own["interval_high"], r["interval_high"] / own["interval_low"]
    return {"x": r["bytes"], "y": r.get("ratio") or r["seconds"] / own["seconds"], "low": low, "high": high}


def _chart(
    measured: JsonObject, space: str, what: str, unit: str, series: list[pages.LineSeries], y: pages.ChartAxis
) -> pages.LineChart:
    title = {"time": "time", "ratio": "against the library"}[what]
    return pages.LineChart(
        f"{words_of(space, measured['results'])}: {title}",
        unit,
        [each for each in series if each.points],
        pages.ChartAxis("bytes", "log"),
        y,
        tall=True,
        name=f"measured-{what}-{space}",
    )
