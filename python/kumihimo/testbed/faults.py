"""Faults of a testbed: links that are cut, slowed and healed, nodes that die."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence

from kumihimo.testbed import wiring as wires
from kumihimo.testbed.testbeds import Testbed
from kumihimo.testbed.wiring import Wiring
from kumihimo.text.errors import wrong_value


def vertex_of(wiring: Wiring, text: str) -> int:
    """A node by its number or name, a switch by its name."""
    match = re.fullmatch(r"(node|switch)?(\d{1,6})", text)
    number = int(match[2]) if match else -1
    found = number + wiring.nodes if match and match[1] == "switch" else number
    limit = wiring.vertices if match and match[1] == "switch" else wiring.nodes
    if not 0 <= found < limit:
        switches = f" or switch0 to switch{wiring.switches - 1}" if wiring.switches else ""
        raise wrong_value(f"a node is node0 to node{wiring.nodes - 1}{switches}", f"'{text}'")
    return found


def links_between(wiring: Wiring, text: str) -> list[int]:
    """The links of both directions between two neighbours: `0-1`, `node0-switch3`."""
    first, dash, second = text.partition("-")
    if not dash:
        raise wrong_value("a link is written as its two ends, such as 0-1 or node0-switch3", f"'{text}'")
    at, to = vertex_of(wiring, first), vertex_of(wiring, second)
    found = [link for link in wiring.leaving[at] if wiring.ends[link][1] == to]
    if not found:
        near = dict.fromkeys(wiring.name(wiring.ends[link][1]) for link in wiring.leaving[at])
        raise wrong_value(f"{text} must name two neighbours", f"those of {wiring.name(at)} are {', '.join(near)}")
    return both_ways(wiring, found)


def both_ways(wiring: Wiring, links: Sequence[int]) -> list[int]:
    return [*links, *(wiring.back[link] for link in links)]


def cut(testbed: Testbed, links: Iterable[int]) -> None:
    changed(testbed, {link: wires.broken(link) for link in links})


def slow(testbed: Testbed, links: Iterable[int], rate: int) -> None:
    """To so many bits a second."""
    changed(testbed, {link: wires.relimited(link, rate, testbed.plan.latency) for link in links})


def heal(testbed: Testbed, links: Iterable[int]) -> None:
    """As they were first."""
    slow(testbed, links, testbed.plan.rate)


def changed(testbed: Testbed, lines: dict[int, Iterable[str]]) -> None:
    """Lines for `tc -batch` of each link, performed where it begins."""
    by_vertex: dict[int, list[str]] = {}
    for link, of_link in lines.items():
        by_vertex.setdefault(testbed.wiring.ends[link][0], []).extend(of_link)
    for vertex, of_vertex in by_vertex.items():
        testbed.at_it(vertex, ["tc", "-batch", "-"], "\n".join(of_vertex))


# Ends the processes of a node's network, but those that hold its namespaces.
KILLER = """
import os, signal, sys
mine = os.stat(f"/proc/{sys.argv[1]}/ns/net").st_ino
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        if os.stat(f"/proc/{pid}/ns/net").st_ino == mine and pid not in (sys.argv[1], str(os.getpid())):
            os.kill(int(pid), signal.SIGKILL)
    except OSError:
        pass
"""


def kill(testbed: Testbed, node: int) -> None:
    """Its links first, so that its processes cannot say that they end."""
    cut(testbed, both_ways(testbed.wiring, testbed.wiring.leaving[node]))
    testbed.inside_it([sys.executable, "-I", "-c", KILLER, str(testbed.processes[node])])
