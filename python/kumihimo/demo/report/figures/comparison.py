"""The simulated algorithms at 1 GiB side by side, and how far the paper's is ahead of each."""

from __future__ import annotations

from kumihimo import pages
from kumihimo.demo.report import display
from kumihimo.demo.report.figures.simulated_curves import results_on
from kumihimo.demo.report.style import Styles
from kumihimo.text.json_types import JsonObject


def at_largest(simulated: JsonObject, shape: str | None = None) -> list[JsonObject]:
    """All algorithms on a shape, the paper's if none is named, at the largest length, fastest first."""
    results = results_on(simulated, shape or simulated["paper_shape"])
    largest = max(r["bytes"] for r in results)
    return sorted((r for r in results if r["bytes"] == largest), key=lambda r: r["seconds"])


def subject_of(simulated: JsonObject) -> JsonObject:
    """The paper's algorithm at the largest length."""
    return next(r for r in at_largest(simulated) if r["algorithm"] == simulated["subject"])


def blind(simulated: JsonObject) -> list[JsonObject]:
    """The algorithms that the paper's is compared with, fastest first: all but itself and our own extensions."""
    return [r for r in at_largest(simulated) if not r["extension"] and r["algorithm"] != simulated["subject"]]


def speedup(simulated: JsonObject, styles: Styles) -> pages.BarChart:
    """Bars: the time of each as a multiple of the paper's algorithm, up to a readable multiple."""
    subject = subject_of(simulated)
    rows = []
    for r in blind(simulated):
        times = r["seconds"] / subject["seconds"]
        if times <= 30:
            rows.append(styles.bar(r["algorithm"], [times], display.ratio(times)))
    left_out = [
        f"{display.label(r['algorithm'])} ({display.ratio(r['seconds'] / subject['seconds'])})"
        for r in blind(simulated)
        if r["seconds"] / subject["seconds"] > 30
    ]
    published = simulated["published"]["ratio_to_blind"]["value"]
    caption = []
    if simulated["as_published"]:
        caption.append("The published factor is against the best algorithm of the MPI library of that time.")
    if left_out:
        caption.append(f"Not in the picture: {', '.join(left_out)}.")
    return pages.BarChart(
        f"Time of the other algorithms, {display.bytes_(subject['bytes'])}",
        f"time as a multiple of {display.label(subject['algorithm'])}, {display.shape(subject['shape'])}",
        rows,
        "ratio",
        [{"x": published, "label": f"published: about {published:g}×"}] if simulated["as_published"] else [],
        " ".join(caption),
        "speedup",
    )


def doubtful(simulated: JsonObject) -> list[str]:
    """A line for each algorithm at the largest length whose prediction may be off by more than 20 %: its time, and
    whether its order against the paper's algorithm is sure."""
    found = []
    for shape in dict.fromkeys((simulated["paper_shape"], simulated["full_shape"])):
        results = at_largest(simulated, shape)
        subject = next(r for r in results if r["algorithm"] == simulated["subject"])
        found += [_margin(r, subject) for r in results if r["accuracy"] and r is not subject]
    return found


def _margin(r: JsonObject, subject: JsonObject) -> str:
    ahead = r["seconds"] < subject["seconds"]
    times = subject["seconds"] / r["seconds"] if ahead else r["seconds"] / subject["seconds"]
    needed = times - 1 if ahead else 1 - 1 / times
    name, other = display.label(r["algorithm"]), display.label(subject["algorithm"])
    place = f"{display.ratio(times)} as fast as {other}" if ahead else f"{display.ratio(times)} the time of {other}"
    margin = f"{100 * needed:.{1 if needed > 0.95 else 0}f} % {'longer' if ahead else 'shorter'}"
    order = "their order is not sure" if needed <= 0.2 else f"their order changes only if it is {margin}"
    return (
        f"{name} on {r['ranks']:,} nodes: {display.seconds(r['seconds'])}, {place}; {order}. Reason: {r['accuracy']}."
    )


def left_on_table(simulated: JsonObject, styles: Styles) -> pages.BarChart:
    """Bars of bandwidth: the paper's algorithm, our extensions of it, and other algorithms that use all links."""
    rows = []
    for r in at_largest(simulated):
        if r["extension"] or r["algorithm"] == simulated["subject"]:
            bandwidth = 2 * r["bytes"] / r["seconds"]
            rows.append(styles.bar(r["algorithm"], [bandwidth], display.rate(bandwidth)))
    subject = subject_of(simulated)
    return pages.BarChart(
        f"Bandwidth of the extensions, {display.bytes_(subject['bytes'])}",
        f"2 × bytes / time at the declared segment size, {display.shape(subject['shape'])}",
        rows,
        "rate",
        caption="Not part of the comparison: extensions of Kumihimo, and algorithms that use all links at once.",
        name="left-on-table",
    )
