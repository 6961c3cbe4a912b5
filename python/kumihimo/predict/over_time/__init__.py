"""The page of one simulated run over time: how busy each link is, or how late noise makes each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kumihimo import _machine, pages
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted, seconds_text

MOST_ROWS = 384  # of a map; beyond, a row is the highest of several links side by side
BINS = 192  # at most, of the time
UNIT = """Each row is {}, from left to right is the {}. The colour shows {}. Point at it, or use the arrow keys, for
values."""


def of_links(machine: _machine.Machine, utilisation: Sequence[Sequence[float]], bin_seconds: float) -> pages.HeatMap:
    """`utilisation`: by the number of the link, by bin; share of the bin in which the link carries packets. Links that
    carry nothing are left out."""
    named: dict[str, list[tuple[str, Sequence[float]]]] = {}
    for number, _, _, link_class in machine.links:
        if number < len(utilisation) and any(utilisation[number]):
            name = machine.link_name(number)
            named.setdefault(direction(name) or class_of(machine, link_class), []).append((name, utilisation[number]))
    each = -(-sum(map(len, named.values())) // MOST_ROWS) or 1
    rows, groups = [], []
    for name, links in named.items():
        parts = [links[at : at + each] for at in range(0, len(links), each)]
        groups.append((name, len(parts)))
        for part in parts:
            label = part[0][0] if len(part) == 1 else f"{part[0][0]} and the next {len(part) - 1}"
            rows.append((label, [round(max(values), 4) for values in zip(*(of for _, of in part))]))
    row = "a link" if each == 1 else f"the busiest of {each} links"
    unit = UNIT.format(row, "time", "share of the time in which a link is busy")
    return pages.HeatMap("Links over time", unit, "share", bin_seconds, rows, groups)


def direction(name: str) -> str:
    """ "+x at (0,0,1)" -> "+x": what links of tori have, and no others."""
    return name.partition(" at ")[0] if name[:1] in ("+", "-") else ""


def class_of(machine: _machine.Machine, number: int) -> str:
    return machine.link_classes[number] if machine.link_classes else "links"


def of_noise(seconds: Sequence[Sequence[float]], ranks_of_group: int, ranks: int, bin_seconds: float) -> pages.HeatMap:
    """`seconds`: by groups of ranks side by side, by bin of the time without noise; how late the latest one is."""
    rows = []
    for at, values in enumerate(seconds):
        first, last = at * ranks_of_group, min(ranks, (at + 1) * ranks_of_group) - 1
        label = f"rank {first}" if first == last else f"ranks {first} to {last}"
        rows.append((label, [float(f"{value:.4g}") for value in values]))
    row = "a rank" if ranks_of_group == 1 else f"the latest of {ranks_of_group} ranks"
    unit = UNIT.format(row, "time of the run without noise", "how much later than without noise")
    return pages.HeatMap("How noise spreads", unit, "seconds", bin_seconds, rows)


def of_classes(use: JsonObject) -> pages.LineChart:
    """The chart of a packet run's utilisation: {bin_seconds, by_class: {name: {links, shares}}}."""
    series = []
    for at, (name, of) in enumerate(use["by_class"].items()):
        points = pages.points_of(((bin_ + 0.5) * use["bin_seconds"], share) for bin_, share in enumerate(of["shares"]))
        label = f"{name}, {counted(of['links'], 'link')}"
        series.append(pages.LineSeries(name, points, label, **pages.look(at), bare=True))
    unit = "share of the time in which links are busy, by time"
    axes = pages.ChartAxis("seconds"), pages.ChartAxis("share")
    return pages.LineChart("Mean of all links", unit, series, *axes)


def render(
    title: str, about: str, facts: Sequence[tuple[str, str]], shown: pages.HeatMap, chart: pages.LineChart | None = None
) -> str:
    """`facts`: number and name. `chart`: below the map."""
    picture = shown if shown.rows else pages.Prose("No link carried anything.", "absent")
    parts = [pages.KeyFacts(facts), pages.PageSection(shown.title, [picture])]
    if chart:
        parts.append(pages.PageSection(chart.title, [pages.ChartGroup([replace(chart, title="")], legend=True)]))
    footer = pages.markup("Values and options: <code>kumihimo simulate --json</code>.")
    return pages.page(f"{title}, kumihimo simulate", parts, title, about, footer)


def facts_of(result: JsonObject) -> list[tuple[str, str]]:
    """Numbers and what they are."""
    facts = [(seconds_text(result["seconds"]), "from the start to the end of the last rank")]
    if "noise_free_seconds" in result:
        facts.append((seconds_text(result["noise_free_seconds"]), "without noise"))
        facts.append((f"{result['slowdown']:.3g}×", "the time without noise"))
    if "links_waiting_share" in result:
        facts.append((f"{100 * result['links_waiting_share']:.3g} %", "of the links had a packet that waited"))
        facts.append((f"{100 * result['packets_waiting_share']:.3g} %", "of the packets waited for another message"))
    return facts
