"""The page of one simulated run over time: how busy each link is, or how late noise makes each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kumihimo import _machine
from kumihimo.text.quantities import counted, seconds_text

MOST_ROWS = 384  # of a map; beyond, a row is the highest of several links side by side
BINS = 192  # at most, of the time


@dataclass
class MapRow:
    label: str
    values: list[float]  # by bin


@dataclass
class Map:
    """Rows by time, as colours."""

    title: str
    unit: str  # what the colour shows
    quantity: str  # of the values: "share" or "seconds"
    row: str  # what a row is
    time: str  # what runs along x
    bin_seconds: float
    rows: list[MapRow]
    groups: list[tuple[str, int]]  # of rows one below the other: name, and how many

    @property
    def highest(self) -> float:
        return max((value for row in self.rows for value in row.values), default=0.0)


def of_links(machine: _machine.Machine, utilisation: Sequence[Sequence[float]], bin_seconds: float) -> Map:
    """`utilisation`: by the number of the link, by bin; share of the bin in which the link carries packets. Links that
    carry nothing are left out."""
    named = {}
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
            rows.append(MapRow(label, [round(max(values), 4) for values in zip(*(of for _, of in part))]))
    row = "a link" if each == 1 else f"the busiest of {each} links"
    return Map(
        "Links over time", "share of the time in which a link is busy", "share", row, "time", bin_seconds, rows, groups
    )


def direction(name: str) -> str:
    """ "+x at (0,0,1)" -> "+x": what links of tori have, and no others."""
    return name.partition(" at ")[0] if name[:1] in ("+", "-") else ""


def class_of(machine: _machine.Machine, number: int) -> str:
    return machine.link_classes[number] if machine.link_classes else "links"


def of_noise(seconds: Sequence[Sequence[float]], ranks_of_group: int, ranks: int, bin_seconds: float) -> Map:
    """`seconds`: by groups of ranks side by side, by bin of the time without noise; how late the latest one is."""
    rows = []
    for at, values in enumerate(seconds):
        first, last = at * ranks_of_group, min(ranks, (at + 1) * ranks_of_group) - 1
        label = f"rank {first}" if first == last else f"ranks {first} to {last}"
        rows.append(MapRow(label, [float(f"{value:.4g}") for value in values]))
    row = "a rank" if ranks_of_group == 1 else f"the latest of {ranks_of_group} ranks"
    unit = "how much later than without noise"
    return Map("How noise spreads", unit, "seconds", row, "time of the run without noise", bin_seconds, rows, [])


def of_classes(use: dict) -> dict:
    """The chart of a packet run's utilisation: {bin_seconds, by_class: {name: {links, shares}}}."""
    bins = use["bin_seconds"]
    series = []
    for at, (name, of) in enumerate(use["by_class"].items()):
        points = [{"x": (bin_ + 0.5) * bins, "y": share} for bin_, share in enumerate(of["shares"])]
        label = f"{name}, {counted(of['links'], 'link')}"
        look = {"colour": f"s{at % 16}", "marker": at % 5, "strong": False, "bare": True}
        series.append({"name": name, "label": label, **look, "points": points})
    return {
        "id": "classes",
        "kind": "lines",
        "title": "Mean of all links",
        "unit": "share of the time in which links are busy, by time",
        "x": {"quantity": "seconds", "scale": "linear"},
        "y": {"quantity": "share", "scale": "linear"},
        "series": series,
    }


def render(title: str, about: str, facts: Sequence[tuple[str, str]], shown: Map, chart: dict | None = None) -> str:
    """`facts`: number and name. `chart`: of the report's charts, below the map."""
    from kumihimo.pages import one_file

    data = {"map": {**asdict(shown), "highest": shown.highest}, "chart": chart}
    return one_file.page(
        Path(__file__).parent,
        data,
        ("charts.js", "torus.js"),
        title=title,
        about=about,
        facts=facts,
        shown=shown,
        chart=chart,
    )


def facts_of(result: dict) -> list[tuple[str, str]]:
    """Numbers and what they are."""
    facts = [(seconds_text(result["seconds"]), "from the start to the end of the last rank")]
    if "noise_free_seconds" in result:
        facts.append((seconds_text(result["noise_free_seconds"]), "without noise"))
        facts.append((f"{result['slowdown']:.3g}×", "the time without noise"))
    if "links_waiting_share" in result:
        facts.append((f"{100 * result['links_waiting_share']:.3g} %", "of the links had a packet that waited"))
        facts.append((f"{100 * result['packets_waiting_share']:.3g} %", "of the packets waited for another message"))
    return facts
