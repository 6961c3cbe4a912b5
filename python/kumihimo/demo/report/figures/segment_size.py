"""Bandwidth at 1 GiB by declared segment size, and the gain of tuning it."""

from __future__ import annotations

from kumihimo import pages
from kumihimo.demo.report import display
from kumihimo.demo.report.figures.simulated_curves import results_on
from kumihimo.demo.report.style import Styles
from kumihimo.text.json_types import JsonObject


def chart(simulated: JsonObject, styles: Styles) -> pages.LineChart:
    """Bandwidth by segment size, for every algorithm that pipelines."""
    results = sorted(simulated["segments"], key=lambda r: r["declared_segment_bytes"])
    series = []
    for name in styles.order(r["algorithm"] for r in results):
        mine = (r for r in results if r["algorithm"] == name)
        points = pages.points_of((r["declared_segment_bytes"], 2 * r["bytes"] / r["seconds"]) for r in mine)
        series.append(styles.of(name, points))
    declared = simulated["machine"]["software"]["segment_bytes"]["value"]
    cost = simulated["machine"]["software"]["message_cost_seconds"]["value"]
    return pages.LineChart(
        f"The declared segment size, {display.bytes_(results[0]['bytes'])}",
        f"2 × bytes / time, by bytes of one step; {display.shape(results[0]['shape'])}",
        series,
        pages.ChartAxis("bytes", "log"),
        pages.ChartAxis("rate"),
        tall=True,
        caption=f"The curves above use {display.bytes_(declared)} and {display.seconds(cost)} a message for every "
        "algorithm. Smaller segments pay that cost more often; larger segments fill the pipeline later.",
        name="segment-size",
    )


def tuned_rows(simulated: JsonObject) -> list[tuple[str, ...]]:
    """Rows of the best segment size beside the declared one, by algorithm and length."""
    declared = {(r["algorithm"], r["bytes"]): r["seconds"] for r in results_on(simulated, simulated["paper_shape"])}
    rows: list[tuple[str, ...]] = []
    for r in simulated["tuned"]:
        before = declared.get((r["algorithm"], r["bytes"]))
        rows.append(
            (
                display.label(r["algorithm"]),
                display.bytes_(r["bytes"]),
                display.bytes_(r["declared_segment_bytes"]),
                display.seconds(r["seconds"]),
                display.seconds(before) if before else "",
                display.ratio(before / r["seconds"]) if before else "",
            )
        )
    return rows
