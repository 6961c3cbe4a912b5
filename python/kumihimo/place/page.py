"""The page of a placement: the load of each link and the ranks on the network, before and after, and what was tried."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from kumihimo import _machine, _mapping, _placement, _topology
from kumihimo.pages import one_file
from kumihimo.place.request import PlaceRequest
from kumihimo.text.quantities import bytes_text, counted, seconds_text, share_text

MOST_NODES = 6000  # of the picture that turns
MOST_CELLS = 20_000  # of the flat pictures; beyond, a cell is the busiest of several links, or one of several nodes
MOST_CANDIDATES = 40  # rows
ORDER = ("average_hops", "link_bytes_max")  # of rows
CURVE = (560, 220)  # of the picture of sorted loads, in pixels
POINTS = 280  # of one of its curves


def render(request: PlaceRequest, result: dict, chosen: _placement.Placement) -> str:
    job, traffic = request.network.job, request.source.traffic
    placements = {"before": request.usual().placement, "after": chosen}
    links = job.machine.links
    loads = {name: _mapping.link_loads(traffic, job, of) for name, of in placements.items()}
    by_link = {name: [of[row[0]] for row in links] for name, of in loads.items()}
    picture = scene(job.machine, links, by_link)
    colours = {name: node_colours(of, request.grid, job.slots.nodes) for name, of in placements.items()}
    if picture:
        picture["colours"] = colours
    cells = None if picture or not links else flat(job.machine, links, by_link, colours)
    return one_file.page(
        Path(__file__).parent,
        {"scene": picture, "cells": cells},
        ("charts.js", "torus.js"),
        result=result,
        before=result["before"],
        gain=gains_of(result),
        facts={name: facts_of(of) for name, of in by_link.items()},
        scene=picture,
        cells=cells,
        hidden=picture["hidden"] if picture else 0,
        curves=curves(used(by_link)),
        curve=CURVE,
        highest=bytes_text(max(map(max, by_link.values()), default=0)) if links else "",
        classes=classes_of(job.machine, links, by_link),
        candidates=rows_of(result),
        predicted=result.get("predicted"),
        doubts=doubts_of(result),
        grid=request.grid,
        link_cap=request.link_cap,
        of_bytes=bytes_text,
        of_seconds=seconds_text,
        counted=counted,
    )


def gains_of(result: dict) -> list[tuple[str, str, str]]:
    """Figure, its name, and an explanation."""
    before = result["before"]
    rows = []
    for key, name in (("hop_bytes", "hop-bytes"), ("link_bytes_max", "on the busiest link")):
        share = 1 - result[key] / before[key] if before[key] else 0.0
        text = f"\u2212{share_text(share)}" if share > 0 else f"+{share_text(-share)}" if share < 0 else "±0 %"
        old, new = (of["average_hops"] for of in (before, result))
        small = f"{old:.4g} → {new:.4g} hops on average"
        if key != "hop_bytes":
            small = f"{bytes_text(before[key])} → {bytes_text(result[key])}"
        rows.append((text, name, small))
    bound = result.get("lower_bound_hops")
    if bound:
        rows.append((f"{result['average_hops'] / bound:.4g} ×", "the lower bound of hops", f"{bound:.4g} hops"))
    link = result.get("lower_bound_link_bytes")
    if link:
        rows.append((f"{result['link_bytes_max'] / link:.4g} ×", "the lower bound of a link", bytes_text(link)))
    return rows


def doubts_of(result: dict) -> list[str]:
    """Why the predicted times may be far off."""
    both = result.get("predicted") or {}
    names = {"before": "Usual order", "after": "This placement"}
    return [f"{names[name]}: {of['accuracy']}" for name, of in both.items() if of["accuracy"]]


def facts_of(loads: list[int]) -> list[tuple[str, str]]:
    if not loads:
        return []
    used = sum(load > 0 for load in loads)
    return [
        ("busiest link", bytes_text(max(loads))),
        ("mean link", bytes_text(sum(loads) / len(loads))),
        ("links used", share_text(used / len(loads))),
    ]


def scene(machine: _machine.Machine, links: list[tuple], loads: dict[str, list[int]]) -> dict | None:
    """Cables between neighbours of a torus or mesh of up to three axes, each with the load of its busier direction;
    None: too many nodes to draw, or another network."""
    axes = [axis.length for axis in machine.shape.axes]
    if not 1 <= len(axes) <= 3 or machine.on_switches or machine.nodes > MOST_NODES or machine.nodes < 2:
        return None
    cables: dict[tuple[int, int], list[int]] = {}
    hidden = set()
    for number, (_, a, b, _) in enumerate(links):
        ends = min(a, b), max(a, b)
        if max(ends) >= machine.nodes or not are_neighbours(machine.shape, *ends):
            hidden.add(ends)
            continue
        carried = cables.setdefault(ends, [0, 0])
        for at, name in enumerate(("before", "after")):
            carried[at] = max(carried[at], loads[name][number])
    both = [each for pair in cables.values() for each in pair]
    return {
        "axes": axes,
        "hidden": len(hidden),
        "cables": [list(ends) for ends in cables],
        "loads": {name: [pair[at] for pair in cables.values()] for at, name in enumerate(("before", "after"))},
        "full_scale": max(both, default=0),
    }


def used(loads: dict[str, list[int]]) -> dict[str, list[int]]:
    """The loads of the links that carry something, before or after. A job is a small part of a large network."""
    pairs = [pair for pair in zip(loads["before"], loads["after"]) if any(pair)]
    return {name: [pair[at] for pair in pairs] for at, name in enumerate(("before", "after"))}


def flat(
    machine: _machine.Machine, links: list[tuple], loads: dict[str, list[int]], colours: dict[str, list]
) -> dict | None:
    """Where no scene can be drawn: the links that carry something, by class and in the order of their numbers, and the
    nodes. Each becomes a cell."""
    classes = []
    for number, name in enumerate(machine.link_classes or ["all links"]):
        of = used({key: [loads[key][at] for at, row in enumerate(links) if row[3] == number] for key in loads})
        if of["before"]:
            classes.append({"name": name, "links": len(of["before"]), **of})
    if not classes:
        return None
    each = -(-sum(of["links"] for of in classes) // MOST_CELLS)
    for of in classes:
        for key in ("before", "after"):
            of[key] = [max(of[key][at : at + each]) for at in range(0, len(of[key]), each)]
    step = -(-len(colours["before"]) // MOST_CELLS)
    return {
        "classes": classes,
        "links_of_cell": each,
        "full_scale": max(max(of[key]) for of in classes for key in ("before", "after")),
        "colours": {name: of[::step] for name, of in colours.items()},
        "nodes_of_cell": step,
        "columns": machine.shape.axes[-1].length if machine.shape.axes and not machine.on_switches else 0,
    }


def are_neighbours(shape: _topology.Shape, a: int, b: int) -> bool:
    steps = [
        min(abs(x - y), axis.length - abs(x - y))
        for x, y, axis in zip(shape.coordinates(a), shape.coordinates(b), shape.axes)
    ]
    return sum(steps) == 1


def node_colours(placement: _placement.Placement, grid: _topology.Shape | None, nodes: int) -> list[list[int] | None]:
    """Of each node the mean of its ranks' colours: by coordinates of the grid, or by the number of the rank. None: the
    node is free."""
    sums = [[0, 0, 0] for _ in range(nodes)]
    counts: Counter[int] = Counter()
    for rank, node in enumerate(placement.node_of_rank):
        counts[node] += 1
        for at, value in enumerate(colour_of(rank, placement.ranks, grid)):
            sums[node][at] += value
    return [[value // counts[node] for value in sums[node]] if counts[node] else None for node in range(nodes)]


def colour_of(rank: int, ranks: int, grid: _topology.Shape | None) -> tuple[int, int, int]:
    if grid is None or len(grid.axes) == 1:
        return along(rank / max(1, ranks - 1))
    shares = [at / max(1, axis.length - 1) for at, axis in zip(grid.coordinates(rank), grid.axes)][:3]
    shares += [0.5] * (3 - len(shares))
    red, green, blue = (round(35 + 205 * share) for share in shares)
    return red, green, blue


STOPS = ((59, 76, 192), (31, 150, 200), (60, 170, 110), (230, 180, 40), (200, 30, 60))


def along(share: float) -> tuple[int, int, int]:
    """From blue over green to red."""
    at = share * (len(STOPS) - 1)
    low = min(int(at), len(STOPS) - 2)
    red, green, blue = (round(a + (b - a) * (at - low)) for a, b in zip(STOPS[low], STOPS[low + 1]))
    return red, green, blue


def curves(loads: dict[str, list[int]]) -> dict[str, str]:
    """The loads of all links, the busiest first, as points of a curve."""
    highest = max((max(of, default=0) for of in loads.values()), default=0) or 1
    width, height = CURVE
    texts = {}
    for name, of in loads.items():
        ordered = sorted(of, reverse=True)
        picked = [i * (len(ordered) - 1) // (POINTS - 1) for i in range(POINTS)] if ordered else []
        places = [(n * width / (POINTS - 1), height * (1 - ordered[i] / highest)) for n, i in enumerate(picked)]
        texts[name] = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return texts


def classes_of(machine: _machine.Machine, links: list[tuple], loads: dict[str, list[int]]) -> list[dict]:
    """For each class of links: how many, and the busiest and the mean load before and after."""
    names = machine.link_classes or ["all links"]
    rows = []
    for number, name in enumerate(names):
        of = [at for at, row in enumerate(links) if row[3] == number]
        if of:
            both = {key: [loads[key][at] for at in of] for key in loads}
            cells = [f(both[key]) for key in ("before", "after") for f in (max, lambda v: sum(v) / len(v))]
            rows.append({"name": name, "links": len(of), "cells": [bytes_text(cell) for cell in cells]})
    return rows


def rows_of(result: dict) -> list[dict]:
    """Candidates, the chosen one first, then those of fewest hops; those that the cap on links refuses are marked."""
    of = {(each["name"], *(each[key] for key in ORDER), each["chosen"]): each for each in result.get("candidates", [])}
    ordered = sorted(of.values(), key=lambda each: (not each["chosen"], *(each[key] for key in ORDER)))
    return [
        {
            "name": each["name"],
            "chosen": each["chosen"],
            "hops": f"{each['average_hops']:.4g}",
            "link": bytes_text(each["link_bytes_max"]),
            "off": bytes_text(each["off_node_bytes"]),
            "seconds": "" if each["seconds"] is None else seconds_text(each["seconds"]),
            "refused": not each["within_cap"],
        }
        for each in ordered[:MOST_CANDIDATES]
    ]
