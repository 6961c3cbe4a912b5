"""Where the time of the paper's algorithm goes: computing, and communication that computing does not hide."""

from __future__ import annotations

from kumihimo import pages
from kumihimo.demo.report import display
from kumihimo.demo.report.style import Styles
from kumihimo.text.json_types import JsonObject


def chart(simulated: JsonObject, styles: Styles) -> pages.BarChart:
    """Stacked bars: bcast, reduce and allreduce, with SIMD and without."""
    rows = []
    cases = [r for r in simulated["parts"] if r["simd"] or r["collective"] != "bcast"]  # bcast has no sums
    for r in sorted(cases, key=lambda r: (not r["simd"], r["seconds"])):
        computing = min(r["compute_seconds"], r["seconds"])
        note = f"{display.seconds(r['seconds'])}, {display.percent(r['compute_share'])} computing"
        name = f"{r['collective']}{'' if r['simd'] else ', no SIMD'}"
        rows.append(styles.bar(r["algorithm"], [computing, r["seconds"] - computing], note, name))
    some = simulated["parts"][0]
    return pages.BarChart(
        f"Where the time of {display.label(some['algorithm'])} goes, {display.bytes_(some['bytes'])}",
        "dark: sums on the busiest node; pale: communication not hidden by sums; " + display.shape(some["shape"]),
        rows,
        "seconds",
        caption="The sums run at the published rate of one thread. They overlap with communication of other segments; "
        "only the time that they do not hide counts as communication.",
        name="parts",
    )
