"""The page of a placement: the load of each link and the ranks on the network, before and after, and what was tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import fmean as mean

from kumihimo import _machine, _mapping, _placement, _topology, pages
from kumihimo.place.request import PlaceRequest
from kumihimo.text.quantities import bytes_text, counted, seconds_text, share_text

MOST_NODES = 6000  # of the picture that turns
MOST_CELLS = 20_000  # of the flat pictures; beyond, a cell is the busiest of several links, or one of several nodes
MOST_CANDIDATES = 40  # rows
ORDER = ("average_hops", "link_bytes_max")  # of rows
POINTS = 280  # of a curve of sorted loads
TITLES = {"before": "usual order", "after": "this placement"}


def render(request: PlaceRequest, result: dict, chosen: _placement.Placement) -> str:
    job, traffic = request.network.job, request.source.traffic
    placements = {"before": request.usual().placement, "after": chosen}
    links = job.machine.links
    loads = {name: _mapping.link_loads(traffic, job, of) for name, of in placements.items()}
    by_link = {name: [of[row[0]] for row in links] for name, of in loads.items()}
    colours = {name: node_colours(of, request.grid, job.slots.nodes) for name, of in placements.items()}
    picture = scene(job.machine, links, by_link)
    cells = None if picture or not links else flat(job.machine, links, by_link, colours)
    of_links = [*pictures_of_links(picture, cells, by_link), sorted_loads(used(by_link))]
    doubts = doubts_of(result)
    parts = [
        pages.KeyFacts(gains_of(result)),
        pages.Prose(" ".join(["The predicted times may be more than 20 % off.", *doubts]) if doubts else ""),
        pages.Prose("" if result["complete"] else "The search was stopped before its end.", "absent"),
        pages.PageSection("Bytes on each link", [*of_links, classes(job.machine, links, by_link)], "Links"),
        pages.PageSection("Ranks on the network", ranks(request, result, picture, cells, colours), "Ranks"),
        pages.PageSection("What was tried", list(candidates(result, request.link_cap)), "Candidates"),
        pages.PageSection("Map files", [pages.FactList([*map(map_file, result.get("outputs") or [])])]),
        *(pages.Prose(f"{note}.") for note in result["notes"]),
    ]
    machine = f" ({result['machine']})" if result["machine"] else ""
    heading = f"{counted(result['ranks'], 'rank')} on {result['network']}{machine}"
    about = "{}, {}. Placement: <strong>{}</strong>, compared with the usual order ({})."
    names = result["traffic"], bytes_text(result["bytes"]), result["chosen"], result["before"]["name"]
    return pages.page("kumihimo place", parts, heading, pages.markup(about, *names))


OF_SCENE = """Each line is a link between neighbours. Its colour shows the bytes that its busier direction carries.
Stubs are wrap-around links. Both pictures have the same scale and turn together: drag them, or use the arrow keys."""
OF_CELLS = """Each cell is {} that carries something in one of the two placements. Its colour shows the bytes. Cells of
a class are in the order of the links' numbers, the same on both sides."""


def pictures_of_links(picture: dict | None, cells: dict | None, by_link: dict[str, list[int]]) -> list[pages.PagePart]:
    if not (picture or cells):
        return []
    full = (picture or cells)["full_scale"]
    scale = "0 B", bytes_text(full), "on one link"
    if cells:
        each = f"the busiest of {cells['links_of_cell']} links" if cells["links_of_cell"] > 1 else "a link"
        panels = [
            (title, [(f"{of['name']}: {of['links']} links", shares(of[name], full)) for of in cells["classes"]])
            for name, title in TITLES.items()
        ]
        return [pages.Prose(OF_CELLS.format(each)), pages.SquareMap("link-cells", "links", panels, scale=scale)]
    lead, axes, cables = OF_SCENE, picture["axes"], picture["cables"]
    if hidden := picture["hidden"]:
        lead += f" {counted(hidden, 'cable')} between nodes that are no neighbours in this shape are not drawn."
    layers = [
        pages.TorusLayer(name, title, shares(picture["loads"][name], full), facts=facts_of(by_link[name]))
        for name, title in TITLES.items()
    ]
    label = "links coloured by load"
    return [pages.Prose(lead), pages.TorusScene("link-load", label, axes, layers, list(TITLES), cables, scale)]


def shares(loads: list[int], full: int) -> list[float]:
    return [float(f"{load / (full or 1):.4g}") for load in loads]


def sorted_loads(loads: dict[str, list[int]]) -> pages.ChartGroup:
    """The loads of all links, the busiest first."""
    series = []
    for at, (name, title) in enumerate(TITLES.items()):
        ordered = sorted(loads[name], reverse=True)
        picked = sorted({i * (len(ordered) - 1) // (POINTS - 1) for i in range(POINTS)}) if ordered else []
        points = pages.points_of((i + 1, ordered[i]) for i in picked)
        series.append(pages.LineSeries(name, points, title, f"s{1 - at}", bare=True, dash="" if at else "6 4"))
    title, unit = "Links that carry something, the busiest first", "bytes on a link, by its place in this order"
    chart = pages.LineChart(title, unit, series, y=pages.ChartAxis("bytes"))
    return pages.ChartGroup([chart] if loads["before"] else [], legend=True)


def ranks(
    request: PlaceRequest, result: dict, picture: dict | None, cells: dict | None, colours: dict[str, list]
) -> list[pages.PagePart]:
    if not (picture or cells):
        return []
    lead = "Each dot is a node."
    if cells:
        each = f"the first of {cells['nodes_of_cell']} nodes" if cells["nodes_of_cell"] > 1 else "a node"
        lead = f"Each cell is {each}, in the order of their numbers"
        lead += "; a row is a ring or line of the last axis." if cells["columns"] else "."
    if request.grid:
        lead += f""" Its colour is the place of its ranks in the grid {request.grid}: red, green and blue grow along its
            first three axes."""
    else:
        lead += f" Its colour is the number of its rank, from blue (rank 0) to red (rank {result['ranks'] - 1})."
    lead += """ A node with several ranks has their mean colour. Where neighbours have similar colours, ranks that
        communicate are near."""
    if cells:
        panels = [(title, [("", cells["colours"][name])]) for name, title in TITLES.items()]
        return [pages.Prose(lead), pages.SquareMap("rank-cells", "nodes", panels, cells["columns"])]
    layers = [pages.TorusLayer(name, title, nodes=colours[name]) for name, title in TITLES.items()]
    label = "nodes coloured by rank"
    return [pages.Prose(lead), pages.TorusScene("rank-places", label, picture["axes"], layers, list(TITLES))]


def candidates(result: dict, link_cap: bool) -> Iterator[pages.PagePart]:
    """The chosen one first, then those of fewest hops; those that the cap on links refuses are marked."""
    of = {(each["name"], *(each[key] for key in ORDER), each["chosen"]): each for each in result.get("candidates", [])}
    ordered = sorted(of.values(), key=lambda each: (not each["chosen"], *(each[key] for key in ORDER)))[
        :MOST_CANDIDATES
    ]
    if not ordered:
        return
    lead = f"Recognised in the traffic: {'; '.join(result['recognised'])}. " if result["recognised"] else ""
    lead += "Candidates that load a link more than the usual order does are not chosen." if link_cap else ""
    yield pages.Prose(lead)
    timed = any(each["seconds"] is not None for each in ordered)
    rows = []
    for each in ordered:
        loads = (bytes_text(each[name]) for name in ("link_bytes_max", "off_node_bytes"))
        time = ["" if each["seconds"] is None else seconds_text(each["seconds"])] if timed else []
        note = "chosen" if each["chosen"] else "" if each["within_cap"] else "loads a link too much"
        rows.append((each["name"], f"{each['average_hops']:.4g}", *loads, *time, note))
    columns = ("placement", "average hops>", "busiest link>", "between nodes>", *(["time>"] if timed else []), "note")
    yield pages.PageTable(columns, rows, strong=[at for at, each in enumerate(ordered) if each["chosen"]])
    hops, links = "No placement has fewer than {:.4g} average hops ({}): {}.", "Some link carries at least {} ({}): {}."
    bounds = [hops.format(of["average_hops"], of["name"], of["why"]) for of in result["bounds"]]
    bounds += [links.format(bytes_text(of["bytes"]), of["name"], of["why"]) for of in result["link_bounds"]]
    yield pages.BulletList(bounds)


def map_file(file: dict) -> tuple[str, str]:
    text = pages.markup("<code>{}</code>", file["file"])
    text += pages.markup("<br><code>{}</code>", file["launch"]) if file.get("launch") else ""
    return file["format"], text + (pages.markup("<br>{}", file["warning"]) if file.get("warning") else "")


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
    if predicted := result.get("predicted"):
        doubt = ", may be more than 20 % off" if doubts_of(result) else ""
        name = f"for one exchange of all traffic (flow model{doubt})"
        usual = f"{seconds_text(predicted['before']['seconds'])} in the usual order"
        rows.append((seconds_text(predicted["after"]["seconds"]), name, usual))
    return rows


def doubts_of(result: dict) -> list[str]:
    """Why the predicted times may be far off."""
    both = result.get("predicted") or {}
    names = {"before": "Usual order", "after": "This placement"}
    return [f"{names[name]}: {of['accuracy']}." for name, of in both.items() if of["accuracy"]]


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


def classes(machine: _machine.Machine, links: list[tuple], loads: dict[str, list[int]]) -> pages.PageTable:
    """For each class of links: how many, and the busiest and the mean load before and after."""
    rows = []
    for number, name in enumerate(machine.link_classes or ["all links"]):
        of = [at for at, row in enumerate(links) if row[3] == number]
        if of:
            cells = [f([loads[key][at] for at in of]) for f in (max, mean) for key in TITLES]
            rows.append((name, len(of), *map(bytes_text, cells)))
    columns = ("class", "links>", "busiest>", "after>", "mean>", "after>")
    return pages.PageTable(columns, rows, "Classes of links", "Bytes in the usual order, and in this placement.")
