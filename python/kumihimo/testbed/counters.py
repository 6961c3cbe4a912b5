"""What the links of a testbed have carried."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from kumihimo.testbed.testbeds import Testbed
from kumihimo.testbed.wiring import HEADERS
from kumihimo.text import files
from kumihimo.text.errors import wrong_value

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


def now(testbed: Testbed) -> dict[int, LinkCount]:
    """Of each directed link, by its number."""
    processes = [str(pid) for pid in testbed.processes]
    rows = json.loads(testbed.inside_it([sys.executable, "-I", "-c", READER, *processes]))
    return {int(name[1:]): LinkCount(*row) for devices in rows for name, row in devices.items()}


def earlier(path: Path) -> dict[int, LinkCount]:
    """What `testbed counters --json` wrote."""
    text = files.read_text(path, "the file of counters")
    try:
        rows = json.loads(text)["results"]
        return {int(row["link"]): LinkCount(int(row["bytes"]), int(row["packets"]), int(row["drops"])) for row in rows}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise wrong_value("--since must name what `testbed counters --json` wrote", path) from None
