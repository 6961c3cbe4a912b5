"""Pictures of the loads of a network's links: those of two placements, or measured and predicted ones.

Loads are lists in the order of `Machine.links`, by name; `titles` has a title for each name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean as mean

from kumihimo import _machine, _topology, pages
from kumihimo.text.quantities import bytes_text, counted, share_text

MOST_NODES = 6000  # of the picture that turns
MOST_CELLS = 20_000  # of the flat pictures; beyond, a cell is the busiest of several links
POINTS = 280  # of a curve of sorted loads
OF_SCENE = """Each line is a link between neighbours. Its colour shows the bytes that its busier direction carries.
Stubs are wrap-around links."""
OF_CELLS = """Each cell is {} that carries something{}. Its colour shows the bytes. Cells of a class are in the order of
the links' numbers{}."""
Loads = Mapping[str, Sequence[float]]


@dataclass
class TorusLoads:
    """Loads of a torus or mesh of up to three axes. Each cable is two nodes, with the load of its busier direction;
    `hidden` ones are between nodes that are no neighbours in the shape.
    """

    axes: list[int]
    cables: list[tuple[int, int]]
    loads: dict[str, list[float]]
    hidden: int = 0

    @property
    def full_scale(self) -> float:
        return max((load for each in self.loads.values() for load in each), default=0)


@dataclass
class ClassLoads:
    """Loads of the links of a class that carry something: how many, and their loads by cells."""

    name: str
    links: int
    cells: dict[str, list[float]]


@dataclass
class CellLoads:
    """Loads of networks that are no torus."""

    classes: list[ClassLoads]
    links_of_cell: int

    @property
    def full_scale(self) -> float:
        return max(max(cells) for each in self.classes for cells in each.cells.values())


def pictures(
    machine: _machine.Machine, loads: Loads, titles: Mapping[str, str], of: str, name: str = "link"
) -> list[pages.PagePart]:
    """The loads side by side: a torus that turns, or else a cell for each link. `of`: what there are several of;
    `name`: of these pictures on their page."""
    picture = scene(machine, loads)
    if picture is None:
        cells = flat(machine, loads)
        if cells is None:
            return []
        scale = "0 B", bytes_text(cells.full_scale), "on one link"
        return [
            cells_lead(cells, titles, of),
            pages.SquareMap(f"{name}-cells", "links", panels(cells, titles), scale=scale),
        ]
    full = picture.full_scale
    scale = "0 B", bytes_text(full), "on one link"
    lead = OF_SCENE
    if len(titles) > 1:
        lead += " Both pictures have the same scale and turn together."
    lead += " Drag to turn, or use the arrow keys."
    if picture.hidden:
        lead += f" {counted(picture.hidden, 'cable')} between nodes that are no neighbours in this shape are not drawn."
    layers = [
        pages.TorusLayer(name, title, shares(picture.loads[name], full), facts=facts_of(loads[name]))
        for name, title in titles.items()
    ]
    label = "links coloured by load"
    turning = pages.TorusScene(f"{name}-load", label, picture.axes, layers, list(titles), picture.cables, scale)
    return [pages.Prose(lead), turning]


def cells_lead(cells: CellLoads, titles: Mapping[str, str], of: str) -> pages.Prose:
    each = f"the busiest of {cells.links_of_cell} links" if cells.links_of_cell > 1 else "a link"
    where, sides = (f" in one of the two {of}", ", the same on both sides") if len(titles) > 1 else ("", "")
    return pages.Prose(OF_CELLS.format(each, where, sides))


def panels(cells: CellLoads, titles: Mapping[str, str]) -> list[tuple[str, list[tuple[str, list]]]]:
    rows = {
        name: [(f"{of.name}: {of.links} links", shares(of.cells[name], cells.full_scale)) for of in cells.classes]
        for name in titles
    }
    return [(title, rows[name]) for name, title in titles.items()]


def shares(loads: Sequence[float], full: float) -> list[float]:
    return [float(f"{load / (full or 1):.4g}") for load in loads]


def sorted_loads(loads: Loads, titles: Mapping[str, str], name: str = "") -> pages.ChartGroup:
    """The loads of all links that carry something, the busiest first. `name`: of the charts on their page."""
    loads = used(loads)
    series = []
    for at, (of, title) in enumerate(titles.items()):
        ordered = sorted(loads[of], reverse=True)
        picked = sorted({i * (len(ordered) - 1) // (POINTS - 1) for i in range(POINTS)}) if ordered else []
        points = pages.points_of((i + 1, ordered[i]) for i in picked)
        series.append(pages.LineSeries(of, points, title, f"s{1 - at}", bare=True, dash="" if at else "6 4"))
    title, unit = "Links that carry something, the busiest first", "bytes on a link, by its place in this order"
    chart = pages.LineChart(title, unit, series, y=pages.ChartAxis("bytes"))
    return pages.ChartGroup([chart] if series[0].points else [], legend=True, name=name)


def facts_of(loads: Sequence[float]) -> list[tuple[str, str]]:
    if not loads:
        return []
    return [
        ("busiest link", bytes_text(max(loads))),
        ("mean link", bytes_text(sum(loads) / len(loads))),
        ("links used", share_text(sum(load > 0 for load in loads) / len(loads))),
    ]


def axes_of(machine: _machine.Machine) -> list[int]:
    """Axes of the picture that turns; none: too many nodes to draw, or another network."""
    axes = [axis.length for axis in machine.shape.axes]
    drawn = 1 <= len(axes) <= 3 and not machine.on_switches and 2 <= machine.nodes <= MOST_NODES
    return axes if drawn else []


def scene(machine: _machine.Machine, loads: Loads) -> TorusLoads | None:
    if not (axes := axes_of(machine)):
        return None
    cables: dict[tuple[int, int], dict[str, float]] = {}
    hidden = set()
    for number, (_, a, b, _) in enumerate(machine.links):
        ends = min(a, b), max(a, b)
        if max(ends) >= machine.nodes or not are_neighbours(machine.shape, *ends):
            hidden.add(ends)
            continue
        carried = cables.setdefault(ends, dict.fromkeys(loads, 0))
        for name in loads:
            carried[name] = max(carried[name], loads[name][number])
    return TorusLoads(
        axes, list(cables), {name: [carried[name] for carried in cables.values()] for name in loads}, len(hidden)
    )


def are_neighbours(shape: _topology.Shape, a: int, b: int) -> bool:
    steps = [
        min(abs(x - y), axis.length - abs(x - y))
        for x, y, axis in zip(shape.coordinates(a), shape.coordinates(b), shape.axes)
    ]
    return sum(steps) == 1


def used(loads: Loads) -> Loads:
    """The loads of the links that carry something by any of the names. A job is a small part of a large network."""
    rows = [row for row in zip(*loads.values()) if any(row)]
    return {name: [row[at] for row in rows] for at, name in enumerate(loads)}


def of_classes(machine: _machine.Machine) -> list[tuple[str, list[int]]]:
    """The classes of links, with the places of theirs."""
    classes = [row[3] for row in machine.links]
    return [
        (name, [at for at, each in enumerate(classes) if each == number])
        for number, name in enumerate(machine.link_classes or ["all links"])
    ]


def flat(machine: _machine.Machine, loads: Loads) -> CellLoads | None:
    """The links that carry something, by class and in the order of their numbers; None: there are none."""
    found = [
        (name, used({key: [of[at] for at in places] for key, of in loads.items()}))
        for name, places in of_classes(machine)
    ]
    found = [(name, of) for name, of in found if any(of.values())]
    if not found:
        return None
    counts = [len(next(iter(of.values()))) for _, of in found]
    each = -(-sum(counts) // MOST_CELLS)
    classes = [
        ClassLoads(name, number, {key: cells_of(values, each) for key, values in of.items()})
        for (name, of), number in zip(found, counts)
    ]
    return CellLoads(classes, each)


def cells_of(values: Sequence[float], each: int) -> list[float]:
    return [max(values[at : at + each]) for at in range(0, len(values), each)]


def classes(machine: _machine.Machine, loads: Loads, columns: Sequence[str], lead: str) -> pages.PageTable:
    """For each class of links how many it has, then the busiest load by each name, then the mean loads."""
    rows = []
    for name, places in of_classes(machine):
        if places:
            cells = [f([of[at] for at in places]) for f in (max, mean) for of in loads.values()]
            rows.append((name, len(places), *map(bytes_text, cells)))
    return pages.PageTable(("class", "links>", *columns), rows, "Classes of links", lead)
