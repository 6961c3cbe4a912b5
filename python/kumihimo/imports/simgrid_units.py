"""What SimGrid's XML writes as attributes: rates, times, counts, ranges."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from kumihimo.errors import missing, wrong_value

MOST_NODES = 2**20
_RATE = {"Bps": 1, "bps": 1 / 8}
_PREFIX = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_TIME = {"": 1e9, "s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}


def needed(element: ElementTree.Element, key: str, source: str) -> str:
    value = element.get(key)
    if not value:
        raise missing(f"{source}: {key}= in <{element.tag}>", "add it")
    return value


def written(value: float) -> str:
    """As machine files write numbers: without an exponent."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def rate(text: str, source: str) -> float:
    """Bytes per second."""
    match = re.fullmatch(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(?:([kMGT]i?)?([Bb]ps))?", text.strip())
    try:
        value = float(match[1]) * _PREFIX[match[2] or ""] * _RATE[match[3] or "Bps"]
    except (TypeError, ValueError):
        value = 0
    if not 1 <= value < 1e15:
        raise wrong_value(f"{source}: a bandwidth must be written as 5GBps or 10Gbps", f"'{text}'")
    return value


def latency(text: str, source: str) -> float:
    """Nanoseconds."""
    match = re.fullmatch(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(ns|us|ms|s|)", text.strip())
    try:
        value = float(match[1]) * _TIME[match[2]]
    except (TypeError, ValueError):
        value = -1
    if not 0 <= value < 1e15:
        raise wrong_value(f"{source}: a latency must be written as 100ns", f"'{text}'")
    return value


def count(text: str, source: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text.strip()) or int(text) < 1:
        raise wrong_value(f"{source}: a count must be at least 1", f"'{text}'")
    return int(text)


def counts(text: str, source: str) -> list[int]:
    return [count(word, source) for word in text.split(",")]


def radical(text: str, source: str) -> list[int]:
    """The numbers as written, which is the order in which SimGrid makes the hosts."""
    numbers: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part.strip())
        many = 1 + int(match[2] or match[1]) - int(match[1]) if match else 0
        if many > MOST_NODES:
            raise wrong_value(f"{source}: radical= must have at most {MOST_NODES} numbers", f"{many} in '{text}'")
        if many < 1:
            raise wrong_value(f"{source}: radical= must be written as 0-15,20", f"'{text}'")
        numbers.update(dict.fromkeys(range(int(match[1]), int(match[2] or match[1]) + 1)))
    return list(numbers)
