"""The bytes that each cable of a small torus carries, for the picture that turns."""

from __future__ import annotations

from kumihimo.demo.report import display
from kumihimo.demo.report.style import Styles


def scene(simulated: dict, styles: Styles) -> dict:
    """One list of cables for all algorithms, and for each the load of every cable in multiples of the data's length."""
    loads = {load["algorithm"]: load for load in simulated["links"]}
    names = styles.order(loads)
    cables = [cable[:2] for cable in loads[names[0]]["cables"]]
    return {
        "first": _first_pair(simulated, loads, names),
        "full_scale": _full_scale(loads),
        "axes": [int(length) for length in simulated["links"][0]["shape"].split("x")],
        "cables": cables,
        "algorithms": [
            {
                "name": name,
                "label": display.label(name),
                "load": [round(cable[2], 5) for cable in loads[name]["cables"]],
                "facts": _facts(loads[name]),
            }
            for name in names
        ],
    }


def _first_pair(simulated: dict, loads: dict[str, dict], names: list[str]) -> list[str]:
    """The two to begin with: the paper's algorithm, and the one whose bytes cross most links."""
    subject = simulated["subject"] if simulated["subject"] in loads else names[0]
    return [subject, max(names, key=lambda name: loads[name]["link_bytes_sum"])]


def _full_scale(loads: dict[str, dict]) -> float:
    """The end of the colours: the second busiest algorithm's, so that one with a single hot link leaves the others
    their colours."""
    busiest = sorted(load["link_bytes_max"] / load["bytes"] for load in loads.values())
    return busiest[-2] if len(busiest) > 1 else busiest[-1]


def _facts(load: dict) -> list[tuple[str, str]]:
    length = load["bytes"]
    return [
        ("busiest link", f"{display.significant(load['link_bytes_max'] / length)} n"),
        ("mean link", f"{display.significant(load['link_bytes_mean'] / length)} n"),
        ("links used", display.percent(load["links_used_share"])),
        ("time here", display.seconds(load["seconds"])),
        ("limited by", load.get("limiting", "")),
    ]
