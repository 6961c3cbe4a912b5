"""The page of a placement: the load of each link and the ranks on the network, before and after, and what was tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kumihimo import _mapping, _placement, _topology, pages
from kumihimo.mapping.request import PlaceRequest
from kumihimo.network import link_loads
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import bytes_text, counted, seconds_text, share_text

MOST_CELLS = 20_000  # of the flat picture of nodes; beyond, a cell is the first of several
MOST_CANDIDATES = 40  # rows
ORDER = ("average_hops", "link_bytes_max")  # of rows
TITLES = {"before": "usual order", "after": "this placement"}
OF_CLASSES = ("busiest>", "after>", "mean>", "after>")


def render(request: PlaceRequest, result: JsonObject, chosen: _placement.Placement) -> str:
    job, traffic = request.network.job, request.source.traffic
    placements = {"before": request.usual().placement, "after": chosen}
    loads = {name: _mapping.link_loads(traffic, job, of) for name, of in placements.items()}
    by_link = {name: [of[row[0]] for row in job.machine.links] for name, of in loads.items()}
    of_links = [
        *link_loads.pictures(job.machine, by_link, TITLES, "placements"),
        link_loads.sorted_loads(by_link, TITLES),
        link_loads.classes(job.machine, by_link, OF_CLASSES, "Bytes in the usual order, and in this placement."),
    ]
    colours = {name: node_colours(of, request.grid, job.slots.nodes) for name, of in placements.items()}
    doubts = doubts_of(result)
    parts = [
        pages.KeyFacts(gains_of(result)),
        pages.Prose(" ".join(["The predicted times may be more than 20 % off.", *doubts]) if doubts else ""),
        pages.Prose("" if result["complete"] else "The search was stopped before its end.", "absent"),
        pages.PageSection("Bytes on each link", of_links, "Links"),
        pages.PageSection("Ranks on the network", list(ranks(request, result, by_link, colours)), "Ranks"),
        pages.PageSection("What was tried", list(candidates(result, request.link_cap)), "Candidates"),
        pages.PageSection("Map files", [pages.FactList([*map(map_file, result.get("outputs") or [])])]),
        *(pages.Prose(f"{note}.") for note in result["notes"]),
    ]
    machine = f" ({result['machine']})" if result["machine"] else ""
    heading = f"{counted(result['ranks'], 'rank')} on {result['network']}{machine}"
    about = "{}, {}. Placement: <strong>{}</strong>, compared with the usual order ({})."
    names = result["traffic"], bytes_text(result["bytes"]), result["chosen"], result["before"]["name"]
    return pages.page("kumihimo place", parts, heading, pages.markup(about, *names))


def ranks(
    request: PlaceRequest, result: JsonObject, loads: link_loads.Loads, colours: dict[str, list]
) -> Iterator[pages.PagePart]:
    machine = request.network.job.machine
    axes = link_loads.axes_of(machine)
    if not axes and not any(map(any, loads.values())):
        return
    step = -(-len(colours["before"]) // MOST_CELLS)
    columns = machine.shape.axes[-1].length if machine.shape.axes and not machine.on_switches else 0
    lead = "Each dot is a node."
    if not axes:
        each = f"the first of {step} nodes" if step > 1 else "a node"
        lead = f"Each cell is {each}, in the order of their numbers"
        lead += "; a row is a ring or line of the last axis." if columns else "."
    if request.grid:
        lead += f""" Its colour is the place of its ranks in the grid {request.grid}: red, green and blue grow along its
            first three axes."""
    else:
        lead += f" Its colour is the number of its rank, from blue (rank 0) to red (rank {result['ranks'] - 1})."
    lead += """ A node with several ranks has their mean colour. Where neighbours have similar colours, ranks that
        communicate are near."""
    yield pages.Prose(lead)
    if axes:
        layers = [pages.TorusLayer(name, title, nodes=colours[name]) for name, title in TITLES.items()]
        yield pages.TorusScene("rank-places", "nodes coloured by rank", axes, layers, list(TITLES))
    else:
        panels = [(title, [("", colours[name][::step])]) for name, title in TITLES.items()]
        yield pages.SquareMap("rank-cells", "nodes", panels, columns)


def candidates(result: JsonObject, link_cap: bool) -> Iterator[pages.PagePart]:
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


def map_file(file: JsonObject) -> tuple[str, str]:
    text = pages.markup("<code>{}</code>", file["file"])
    text += pages.markup("<br><code>{}</code>", file["launch"]) if file.get("launch") else ""
    return file["format"], text + (pages.markup("<br>{}", file["warning"]) if file.get("warning") else "")


def gains_of(result: JsonObject) -> list[tuple[str, str, str]]:
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


def doubts_of(result: JsonObject) -> list[str]:
    """Why the predicted times may be far off."""
    both = result.get("predicted") or {}
    names = {"before": "Usual order", "after": "This placement"}
    return [f"{names[name]}: {of['accuracy']}." for name, of in both.items() if of["accuracy"]]


def node_colours(placement: _placement.Placement, grid: _topology.Shape | None, nodes: int) -> list[list[int] | None]:
    """Colour of each node, the mean of its ranks' colours: by coordinates of the grid, or by the number of the rank.
    None: the node is free.
    """
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
