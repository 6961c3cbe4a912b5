"""Counters of the links of a testbed."""

from __future__ import annotations

import fcntl
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from kumihimo.testbed import faults, link_reader
from kumihimo.testbed.testbeds import Testbed
from kumihimo.testbed.wiring import HEADERS
from kumihimo.text import files
from kumihimo.text.errors import failed, wrong_value


@dataclass(frozen=True)
class LinkCount:
    """Traffic of a directed link since the testbed was made; `bytes` with headers. `drops`: since its queue was made,
    which `cut`, `slow` and `heal` do again.
    """

    bytes: int = 0
    packets: int = 0
    drops: int = 0

    @property
    def data(self) -> int:
        """Bytes without the headers of Ethernet, IP and TCP. Acknowledgements have headers alone. So the difference is
        the data, but for the options of connections that open and of acknowledgements of what came out of order."""
        return max(0, self.bytes - HEADERS * self.packets)

    def since(self, before: LinkCount) -> LinkCount:
        drops = max(0, self.drops - before.drops)
        return LinkCount(self.bytes - before.bytes, self.packets - before.packets, drops)


@dataclass(frozen=True)
class LinkReading:
    """Counts of each directed link, by its number; `seconds`: time of reading, on the system's clock."""

    seconds: float
    links: dict[int, LinkCount]

    def since(self, before: dict[int, LinkCount]) -> LinkReading:
        links = {link: count.since(before.get(link, LinkCount())) for link, count in self.links.items()}
        return LinkReading(self.seconds, links)


def now(testbed: Testbed) -> LinkReading:
    reader = [sys.executable, "-I", link_reader.__file__, *map(str, testbed.processes)]
    try:
        with faults.locked(testbed, fcntl.LOCK_SH):  # not of links that a command such as `kill` is changing
            found = json.loads(testbed.inside_it(reader))
    except FileNotFoundError:
        raise failed(f"testbed {testbed.name} was removed") from None
    links = {link: LinkCount() for link in sorted(testbed.wiring.ends)}
    return LinkReading(found["seconds"], links | {int(link): LinkCount(*row) for link, row in found["links"].items()})


def earlier(path: Path, option: str, testbed: Testbed) -> dict[int, LinkCount]:
    """Counts that `testbed counters --json` wrote for this testbed. Refuses those of another, or of an earlier one of
    this name.
    """
    text = files.read_text(path, "the file of counters")
    try:
        found = json.loads(text)
        name, started = found["testbed"], found.get("testbed_started", testbed.started)
        rows = [[number(row[key]) for key in ("link", "bytes", "packets", "drops")] for row in found["results"]]
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        raise wrong_value(f"{option} must name what `testbed counters --json` wrote", path) from None
    if (name, started) != (testbed.name, testbed.started):
        other = "an earlier testbed of this name" if name == testbed.name else f"testbed {name}"
        raise wrong_value(f"{option} must name counters of testbed {testbed.name}", f"those of {other}")
    return {link: LinkCount(*counts) for link, *counts in rows}


def number(found: object) -> int:
    """No counter has more than 64 bits."""
    if not isinstance(found, (int, float, str)):
        raise TypeError
    value = int(found)
    if abs(value) >> 64:
        raise OverflowError
    return value
