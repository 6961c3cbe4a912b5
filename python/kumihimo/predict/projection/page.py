"""The page of a projection: curves with their bands, the real machines, what decides, and the power of the parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from kumihimo import pages
from kumihimo.predict.projection import files, past
from kumihimo.predict.projection.files import NodeClass, Scaling
from kumihimo.predict.projection.spread import ProjectedBand
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import bytes_text, flops_text, rate_text, share_text

MOST_BARS = 8
EARLIER_WATTS = 20e6


def render(
    of: NodeClass, by: Scaling, target: float, result: JsonObject, bands: Mapping[str, Sequence[ProjectedBand]]
) -> str:
    last = {name: each[-1] for name, each in bands.items()}
    facts = [
        (flops_text(band.middle.peak), f"peak in {band.middle.node.year:g}, model {name}", band_words(band))
        for name, band in last.items()
    ]
    facts += [
        (f"{error['typical']:.2g}x", f"typical error over {error['horizon']} years", f"{error['machines']} machines")
        for error in result["hindcast"]
    ]
    parts = [
        pages.KeyFacts(facts),
        pages.PageSection("Curves", [pages.Prose(LEAD), curves(target, bands)]),
        pages.PageSection("Projections of earlier years", [pages.Prose(EARLIER), earlier(), hindcasts()]),
        pages.PageSection("What decides", [pages.Prose(DECIDES), decides(result)]),
        pages.PageSection("Power of a node", [power(bands)]),
        pages.PageSection("Assumptions", [assumptions(of, by)]),
    ]
    about = f"{of.summary}, by {by.summary}"
    return pages.page("Projected machine, by kumihimo", parts, "Projected machine", about)


LEAD = """Peak of the largest machine within the limits. Dashed lines hold nine of ten random draws of all assumptions.
Circles are real machines, each scaled by its peak per watt to the power of the projected one."""

EARLIER = """Peak per watt, at 20 MW, as the trends up to an earlier year would have projected it for ten years. Circles
are the real machines. The table has each machine as it would have been projected at its own power."""

DECIDES = "Peak in the last year with one assumption at either end of its range, over that with the usual values."


def band_words(band: ProjectedBand) -> str:
    return f"{flops_text(band.low)} to {flops_text(band.high)} in nine of ten draws"


def curves(target: float, bands: Mapping[str, Sequence[ProjectedBand]]) -> pages.ChartGroup:
    series = []
    for at, (name, each) in enumerate(bands.items()):
        colour = pages.look(at)["colour"]
        lines: dict[str, list[tuple[float, float]]] = {"middle": [], "low": [], "high": []}
        for band in each:
            year = band.middle.node.year
            for key, peak in (("middle", band.middle.peak), ("low", band.low), ("high", band.high)):
                if peak > 0:
                    lines[key].append((year, peak))
        series.append(
            pages.LineSeries(name, pages.points_of(lines["middle"]), f"model {name}", colour, bare=True, strong=True)
        )
        for key in ("low", "high"):
            points = pages.points_of(lines[key])
            series.append(pages.LineSeries(f"{name} {key}", points, "", colour, bare=True, dash="4 3"))
    first = next(iter(bands.values()))
    power = first[-1].middle.power
    from_year, to_year = first[0].middle.node.year, first[-1].middle.node.year
    real = real_machines(power, from_year - 12, to_year)
    chart = by_year("Peak within the limits", "by year", series, real, [{"y": target, "label": "target"}])
    return pages.ChartGroup([chart], [each for each in series if each.strong], "curves")


def real_machines(watts: float, first: float, last: float = inf) -> list[JsonObject]:
    """Circles: the peak of each of these years, at a power by its peak per watt."""
    return [
        {"x": each.year, "y": each.peak / each.power * watts, "label": each.name}
        for each in files.past_machines()
        if first <= each.year <= last
    ]


def by_year(
    title: str,
    caption: str,
    series: Sequence[pages.LineSeries],
    marks: list[JsonObject],
    levels: Sequence[JsonObject] = (),
) -> pages.LineChart:
    axes = pages.ChartAxis("year", "signed"), pages.ChartAxis("flops", "log")
    return pages.LineChart(title, caption, list(series), *axes, marks=marks, levels=levels, tall=True)


def earlier() -> pages.ChartGroup:
    series = []
    for at, year in enumerate(past.EARLIER_YEARS):
        line = past.trend_until(past.end_of(year), "peak")
        points = [(float(y), line.at(y) * EARLIER_WATTS) for y in range(year, year + 11)] if line else []
        series.append(
            pages.LineSeries(
                str(year), pages.points_of(points), f"from {year}", pages.look(at)["colour"], bare=True, strong=True
            )
        )
    real = real_machines(EARLIER_WATTS, past.EARLIER_YEARS[0])
    chart = by_year("Trends of earlier years, and what came", "peak at 20 MW, by year", series, real)
    return pages.ChartGroup([chart], series, "earlier")


def hindcasts() -> pages.PageTable:
    found = {horizon: {each.machine.name: each.ratio for each in past.hindcasts(horizon)} for horizon in past.HORIZONS}
    rows = [
        (each.name, f"{each.year:g}", *(f"{of[each.name]:.3g}x" if each.name in of else "" for of in found.values()))
        for each in files.past_machines()
        if any(each.name in of for of in found.values())
    ]
    columns = ("machine~", "year>", *(f"projected over real, {horizon} years before>" for horizon in found))
    return pages.PageTable(columns, rows)


def decides(result: JsonObject) -> pages.ChartGroup:
    charts = []
    for at, each in enumerate(result["models"]):
        peak = each["years"][-1]["peak_flops"]
        rows = [
            pages.ChartBar(
                words_of(one["name"]),
                [one["factor"] - 1],
                pages.look(at)["colour"],
                f"{one['at_low'] / peak:.2f} to {one['at_high'] / peak:.2f}",
            )
            for one in each["decides"][:MOST_BARS]
        ]
        charts.append(pages.BarChart(f"Model {each['model']}", "largest peak over smallest, less 1", rows, "number"))
    return pages.ChartGroup(charts, name="decides")


def words_of(assumption: str) -> str:
    """As in the table of assumptions."""
    known = {**files.GROWTHS, **{f"{share} share": words for share, words in files.SHARES.items()}}
    return {"luck": "a machine about the trend", "cost": "cost of a node"}.get(assumption) or known[assumption]


def power(bands: Mapping[str, Sequence[ProjectedBand]]) -> pages.PageTable:
    rows = []
    for name, each in bands.items():
        for label, band in (("first", each[0]), ("last", each[-1])):
            node = band.middle.node
            shares = [share_text(node.power[part] / node.watts) for part in files.PARTS]
            rows.append((name, f"{label}: {node.year:g}", f"{node.watts:.0f} W", *shares))
    return pages.PageTable(("model", "year", "node>", *(f"{part}>" for part in files.PARTS)), rows)


def assumptions(of: NodeClass, by: Scaling) -> pages.PageTable:
    rows = [
        (files.GROWTHS[name], f"{each.value:.3g}", f"{each.low:.3g} to {each.high:.3g}", each.source)
        for name, each in by.growth.items()
    ]
    rows += [
        (files.SHARES[name], share_text(each.value), f"{share_text(each.low)} to {share_text(each.high)}", each.source)
        for name, each in of.shares.items()
    ]
    known = {
        "peak": flops_text(of.peak),
        "memory": bytes_text(of.memory),
        "memory_bandwidth": rate_text(of.memory_bandwidth),
        "power": f"{of.power:.4g} W",
    }
    node = [
        (f"{name.replace('_', ' ')} of a node of {of.year:g}", text, "", of.sources[name])
        for name, text in known.items()
    ]
    rows = [*node, *rows]
    return pages.PageTable(("assumption", "a year, or share>", "range>", "source~"), rows)
