"""The bytes that each cable of a small torus carries, for the picture that turns."""

from __future__ import annotations

import math

from kumihimo import pages
from kumihimo.demo.report import display
from kumihimo.demo.report.style import Styles
from kumihimo.text.json_types import JsonObject

LEAST = 0.1  # share of the colours: of the least load
RANGE = 300  # of the loads with different colours


def scene(simulated: JsonObject, styles: Styles) -> pages.TorusScene:
    """A layer for each algorithm, with the load of every cable on one logarithmic scale."""
    loads = {load["algorithm"]: load for load in simulated["links"]}
    names = styles.order(loads)
    low, high = ends(simulated)
    layers = []
    for name in names:
        levels = [level(cable[2], low, high) for cable in loads[name]["cables"]]
        layers.append(pages.TorusLayer(name, display.label(name), levels, facts=_facts(loads[name])))
    texts = f"{display.significant(low, 2)} n", f"{display.significant(high, 2)} n and more"
    return pages.TorusScene(
        "link-load",
        "torus with links coloured by load",
        [int(length) for length in simulated["links"][0]["shape"].split("x")],
        layers,
        _first_pair(simulated, loads, names),
        [cable[:2] for cable in loads[names[0]]["cables"]],
        (*texts, "bytes on one link, logarithmic; all pictures have the same scale", LEAST),
        choice=True,
    )


def level(load: float, low: float, high: float) -> float:
    """The share of the colours for a load; 0 for none."""
    if load <= 0:
        return 0.0
    share = math.log(max(load, low) / low) / math.log(high / low) if high > low else 1.0
    return round(min(1.0, LEAST + (1 - LEAST) * share), 4)


def ends(simulated: JsonObject) -> tuple[float, float]:
    """The ends of the colours, in multiples of the data's length. The upper one is the second busiest algorithm's, so
    that one with a single hot link leaves the others their colours."""
    busiest = sorted(load["link_bytes_max"] / load["bytes"] for load in simulated["links"])
    high = busiest[-2] if len(busiest) > 1 else busiest[-1]
    least = min(cable[2] for load in simulated["links"] for cable in load["cables"] if cable[2] > 0)
    return max(least, high / RANGE), high


def _first_pair(simulated: JsonObject, loads: dict[str, JsonObject], names: list[str]) -> list[str]:
    """The two to begin with: the paper's algorithm, and the one whose bytes cross most links."""
    subject = simulated["subject"] if simulated["subject"] in loads else names[0]
    return [subject, max(names, key=lambda name: loads[name]["link_bytes_sum"])]


def _facts(load: JsonObject) -> list[tuple[str, str]]:
    length = load["bytes"]
    return [
        ("busiest link", f"{display.significant(load['link_bytes_max'] / length)} n"),
        ("mean link", f"{display.significant(load['link_bytes_mean'] / length)} n"),
        ("links used", display.percent(load["links_used_share"])),
        ("time here", display.seconds(load["seconds"])),
        ("limited by", load.get("limiting", "")),
    ]
