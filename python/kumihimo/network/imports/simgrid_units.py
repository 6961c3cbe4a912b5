"""Attributes of SimGrid's XML: which an element may have, and rates, times, counts and ranges as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kumihimo.text.documents import XmlElement
from kumihimo.text.errors import missing

MOST_NODES = 2**20
_RATE = {"Bps": 1, "bps": 1 / 8}
_LETTERS = "kMGTPEZY"
_PREFIX = {"": 1, **{letter: 1000 ** (i + 1) for i, letter in enumerate(_LETTERS)}}
_PREFIX |= {f"{letter.upper()}i": 1024 ** (i + 1) for i, letter in enumerate(_LETTERS)}
_TIME = {"w": 6048e11, "d": 864e11, "h": 36e11, "m": 6e10, "s": 1e9, "": 1e9, "ms": 1e6, "us": 1e3, "ns": 1, "ps": 1e-3}
_NUMBER = r"([0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?)\s*"
LARGEST_RATE, LARGEST_TIME = 1e27, 1e12  # bytes per second, nanoseconds: 1000 s as in machine files
SMALLEST = 1e-6  # as written() writes it

# As simgrid.dtd of version 4, with names of version 3. Speeds, disks and properties say nothing of the network.
_ROUTE = ("src", "dst")
_GATEWAYS = (*_ROUTE, "gw_src", "gw_dst")
_HOST = ("id", "speed", "power", "core", "coordinates", "pstate", "speed_file", "availability_file", "state_file")
ATTRIBUTES = {
    "platform": ("version",),
    "zone": ("id", "routing"),
    "host": _HOST,
    "router": ("id", "coordinates"),
    "link": ("id", "bandwidth", "latency", "sharing_policy", "bandwidth_file", "latency_file", "state_file"),
    "cluster": (
        *("id", "prefix", "suffix", "radical", "speed", "power", "core", "bw", "lat", "sharing_policy", "topology"),
        *("topo_parameters", "bb_bw", "bb_lat", "bb_sharing_policy", "router_id", "limiter_link", "loopback_bw"),
        "loopback_lat",
    ),
    "route": (*_ROUTE, "symmetrical"),
    "zoneRoute": (*_GATEWAYS, "symmetrical"),
    "bypassRoute": _ROUTE,
    "link_ctn": ("id", "direction"),
    "host_link": ("id", "up", "down"),
    "cabinet": ("id", "prefix", "suffix", "radical", "speed", "power", "bw", "lat"),
    "backbone": ("id", "bandwidth", "latency"),
}


def check_attributes(root: XmlElement) -> None:
    """Checks the attributes of all elements that are read."""
    for element in root.iter():
        if element.tag in ATTRIBUTES:
            element.value.fields(f"<{element.tag}>", ATTRIBUTES[element.tag])


def needed(element: XmlElement, key: str) -> str:
    value = element.get(key)
    if not value:
        raise missing(f"{element.where}: {key}= in <{element.tag}>", "add it")
    return value


def written(value: float) -> str:
    """As machine files write numbers: without an exponent."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def rate(element: XmlElement, key: str) -> float:
    """Bytes per second."""
    text = needed(element, key)
    match = re.fullmatch(_NUMBER + r"(?:([kMGTPEZY]|[KMGTPEZY]i)?([Bb]ps))?", text.strip())
    value = float(match[1]) * _PREFIX[match[2] or ""] * _RATE[match[3] or "Bps"] if match else 0
    if not SMALLEST <= value < LARGEST_RATE:
        raise element.value.wrong(f"{key}= must be a bandwidth such as 5GBps or 10Gbps", f"'{text}'")
    return value


def latency(element: XmlElement, key: str, otherwise: str = "") -> float:
    """Nanoseconds."""
    text = element.get(key) or otherwise or needed(element, key)
    match = re.fullmatch(_NUMBER + "(w|d|h|m|s|ms|us|ns|ps|)", text.strip())
    value = float(match[1]) * _TIME[match[2]] if match else -1
    if not 0 <= value <= LARGEST_TIME:
        raise element.value.wrong(f"{key}= must be a time such as 100ns", f"'{text}'")
    return value


def remarks_on(latencies: Iterable[float]) -> list[str]:
    """Machine files have none of 0."""
    return [] if all(each >= SMALLEST for each in latencies) else ["A latency of 0 is written as 0.000001 ns."]


def counts(element: XmlElement, key: str, text: str) -> list[int]:
    """Numbers in a part of an attribute."""
    found = []
    for word in text.split(","):
        if re.fullmatch(r"[0-9]{1,9}", word.strip()) is None or int(word) < 1:
            raise element.value.wrong(f"a count in {key}= must be at least 1", f"'{word}'")
        found.append(int(word))
    return found


def radical(element: XmlElement) -> list[int]:
    """The numbers as written, which is the order in which SimGrid makes the hosts."""
    text = needed(element, "radical")
    numbers: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part.strip())
        many = 1 + int(match[2] or match[1]) - int(match[1]) if match else 0
        if many > MOST_NODES:
            raise element.value.wrong(f"radical= must have at most {MOST_NODES} numbers", f"{many} in '{text}'")
        if many < 1 or match is None:
            raise element.value.wrong("radical= must be written as 0-15,20", f"'{text}'")
        numbers.update(dict.fromkeys(range(int(match[1]), int(match[2] or match[1]) + 1)))
        if len(numbers) > MOST_NODES:
            raise element.value.wrong(f"radical= must have at most {MOST_NODES} numbers", f"more in '{text}'")
    return list(numbers)
