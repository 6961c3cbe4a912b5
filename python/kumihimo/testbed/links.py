"""What the links of a testbed have carried, and faults: links that are cut, healed or slowed, nodes that die."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kumihimo.processes import child_output
from kumihimo.testbed import wiring
from kumihimo.testbed.named import Testbed
from kumihimo.testbed.wiring import HEADERS, Wiring
from kumihimo.text import files
from kumihimo.text.errors import failed, wrong_value

SECONDS = 60.0  # for commands of the system, which take milliseconds
# One process enters one node after another: `nsenter` for each would take as long as the whole command.
READER = """
import ctypes, json, sys
libc, found = ctypes.CDLL(None, use_errno=True), []
for pid in sys.argv[1:]:
    with open(f"/proc/{pid}/ns/net") as namespace:
        if libc.setns(namespace.fileno(), 0):
            sys.exit(f"node of process {pid}: {ctypes.get_errno()}")
    with open("/proc/thread-self/net/dev") as devices:
        rows = [line.replace(":", " ").split() for line in devices if line.strip().startswith("l")]
    found.append({row[0]: [int(row[9]), int(row[10]), int(row[12])] for row in rows if row[0] != "lo"})
print(json.dumps(found))
"""


@dataclass(frozen=True)
class LinkCount:
    """What a directed link has carried since the testbed was made; `bytes` with headers."""

    bytes: int = 0
    packets: int = 0
    drops: int = 0

    @property
    def data(self) -> int:
        """Bytes without the headers of Ethernet, IP and TCP."""
        return max(0, self.bytes - HEADERS * self.packets)

    def since(self, before: LinkCount) -> LinkCount:
        return LinkCount(self.bytes - before.bytes, self.packets - before.packets, self.drops - before.drops)


def performed(command: Sequence[str], given: str = "") -> str:
    done = child_output.run(command, given=given.encode(), seconds=SECONDS)
    if done.returncode:
        raise failed("the testbed did not answer", (done.stderr.strip().splitlines() or [str(done.returncode)])[-1])
    return done.stdout


def counters(testbed: Testbed) -> dict[int, LinkCount]:
    """Of each directed link, by its number."""
    processes = [str(pid) for pid in testbed.processes]
    rows = json.loads(performed(testbed.inside([sys.executable, "-I", "-c", READER, *processes])))
    return {int(name[1:]): LinkCount(*row) for devices in rows for name, row in devices.items()}


def earlier(path: Path) -> dict[int, LinkCount]:
    """What `testbed counters --json` wrote."""
    text = files.read_text(path, "the file of counters")
    try:
        rows = json.loads(text)["results"]
        return {int(row["link"]): LinkCount(int(row["bytes"]), int(row["packets"]), int(row["drops"])) for row in rows}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise wrong_value("--since must name what `testbed counters --json` wrote", path) from None


def vertex_of(wires: Wiring, text: str) -> int:
    """A node by its number or name, a switch by its name."""
    match = re.fullmatch(r"(node|switch)?(\d{1,6})", text)
    number = int(match[2]) if match else -1
    found = number + wires.nodes if match and match[1] == "switch" else number
    limit = wires.vertices if match and match[1] == "switch" else wires.nodes
    if not 0 <= found < limit:
        switches = f" or switch0 to switch{wires.switches - 1}" if wires.switches else ""
        raise wrong_value(f"a node is node0 to node{wires.nodes - 1}{switches}", f"'{text}'")
    return found


def cable_of(wires: Wiring, text: str) -> list[wiring.Cable]:
    """Those between two neighbours: `0-1`, `node0-switch3`."""
    first, dash, second = text.partition("-")
    if not dash:
        raise wrong_value("a link is written as its two ends, such as 0-1 or node0-switch3", f"'{text}'")
    ends = {vertex_of(wires, first), vertex_of(wires, second)}
    found = [cable for cable in wires.cables if {cable.first, cable.second} == ends]
    if not found:
        at = vertex_of(wires, first)
        near = sorted(
            {wires.name(c.second if c.first == at else c.first) for c in wires.cables if at in (c.first, c.second)}
        )
        raise wrong_value(f"{text} must name two neighbours", f"those of {wires.name(at)} are {', '.join(near)}")
    return found


def neighbours(wires: Wiring, vertex: int) -> list[int]:
    return [second for first, second in wires.ends().values() if first == vertex]


def ends_of(cables: Sequence[wiring.Cable]) -> list[tuple[int, int]]:
    """Vertex and link of each end."""
    return [end for cable in cables for end in ((cable.first, cable.out), (cable.second, cable.back))]


def cut(testbed: Testbed, cables: Sequence[wiring.Cable]) -> None:
    for vertex, link in ends_of(cables):
        performed(testbed.at(vertex, ["ip", "-batch", "-"]), f"link set l{link} down\n")


def heal(testbed: Testbed, wires: Wiring, cables: Sequence[wiring.Cable]) -> None:
    """Interfaces first, on both ends, then routes, as they were."""
    for vertex, link in ends_of(cables):
        performed(testbed.at(vertex, ["ip", "-batch", "-"]), f"link set l{link} up\n")
    for vertex, link in ends_of(cables):
        performed(testbed.at(vertex, ["ip", "-batch", "-"]), "\n".join(wiring.starting(wires, vertex, [link])))


def slow(testbed: Testbed, cables: Sequence[wiring.Cable], rate: int) -> None:
    """Both directions at so many bits a second."""
    for vertex, link in ends_of(cables):
        removed = [f"qdisc del dev l{link} root"]
        performed(
            testbed.at(vertex, ["tc", "-batch", "-"]),
            "\n".join([*removed, *wiring.limited(link, rate, testbed.latency)]),
        )


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


def kill(testbed: Testbed, wires: Wiring, node: int) -> None:
    """Its links first, so that its processes cannot say that they end."""
    cut(testbed, [cable for cable in wires.cables if node in (cable.first, cable.second)])
    performed(testbed.inside([sys.executable, "-I", "-c", KILLER, str(testbed.processes[node])]))
