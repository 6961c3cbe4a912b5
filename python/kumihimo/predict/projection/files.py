"""The files of projections (TOML, docs/guides/project-a-machine.md): classes of nodes, scalings, machines of the past.
Every number has a source; an assumption has a range, too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.processes.package_files import folder
from kumihimo.text import files
from kumihimo.text.documents import read_toml
from kumihimo.text.durations import parse_duration
from kumihimo.text.errors import did_you_mean, missing, wrong_value
from kumihimo.text.json_types import JsonObject

HISTORY = "history"  # the scaling that is fitted to machines of the past
SOURCES = ("published", "measured", "fitted", "assumed")
PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
FLOPS, WATTS, BYTES, RATE, DOLLARS = "flop/s", "W", "B", "B/s", "USD"
LARGEST_FILE = 1 << 20

# Factors of a year: what each is of.
GROWTHS = {
    "peak": "peak of a processor",
    "processor_power": "power of a processor",
    "dram_bits": "capacity of a memory chip",
    "dram_power": "power of a memory chip (model simple)",
    "dram_access_energy": "energy of a memory access (model full)",
    "link_energy": "energy of a bit on a link (model full)",
    "memory_bandwidth": "memory bandwidth of a node",
    "link_bandwidth": "bandwidth of a link",
    "latency": "time of a message without bytes",
}
SHARES = {"processor": "power of processors", "memory": "power of memory", "router": "power of routers"}
PARTS = (*SHARES, "rest")  # of a node's power
FIRST_YEAR, LAST_YEAR = 1990.0, 2100.0


@dataclass(frozen=True)
class Assumption:
    """A number with the range that holds it in nine of ten cases, and its source."""

    value: float
    low: float
    high: float
    source: str

    def at(self, z: float) -> float:
        """The value at so many standard deviations: a two-sided lognormal through low, value and high."""
        edge = self.high if z > 0 else self.low
        return self.value * (edge / self.value) ** (abs(z) / 1.6449)


@dataclass(frozen=True)
class NodeClass:
    """A node of a known year, and the power of its parts as shares of `power`."""

    name: str
    summary: str
    year: float
    machine: str  # whose network and software it has
    peak: float  # flop/s
    memory: float  # bytes
    memory_bandwidth: float  # bytes/s
    power: float  # W
    shares: dict[str, Assumption]
    nodes_per_rack: float
    cost: Assumption | None  # USD
    node_mtbf: float | None  # seconds
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scaling:
    """How parts grow in a year. `scatter`: standard deviation of the logarithm of a single machine's peak per watt."""

    name: str
    summary: str
    growth: dict[str, Assumption]
    scatter: float = 0.0


@dataclass(frozen=True)
class PastMachine:
    """Public facts of a machine; None: not public. Rates of memory and network are those of a node."""

    name: str
    year: float
    kind: str  # class
    peak: float
    linpack: float
    power: float
    source: str
    nodes: int | None = None
    memory: float | None = None
    memory_bandwidth: float | None = None
    injection: float | None = None

    def per_watt(self, what: str) -> float | None:
        """peak, memory, memory_bandwidth or injection of the whole machine over its power."""
        value = getattr(self, what)
        if value is None:
            return None
        if what in ("memory_bandwidth", "injection"):
            return None if self.nodes is None else value * self.nodes / self.power
        return value / self.power


def parse_unit(text: str, unit: str, where: str) -> float:
    """ "20 MW", "1.5EF": a number, a prefix of 1000 and a unit (flop/s may be written F or Flop/s)."""
    words = str(text).strip()
    if unit == DOLLARS:
        words = words.removesuffix(DOLLARS).rstrip() + DOLLARS
    if unit == FLOPS:
        words = re.sub(r"(?i)f(lop/s|lops|)$", "", words) + "flop/s"
    match = re.fullmatch(rf"([0-9]+(?:\.[0-9]+)?) *([kMGTPE]?){re.escape(unit)}", words)
    value = float(match[1]) * PREFIXES[match[2]] if match else 0.0
    if value <= 0:
        example = {FLOPS: "1.5 Pflop/s", WATTS: "20MW", BYTES: "16 GB", RATE: "25 GB/s", DOLLARS: "200M"}[unit]
        raise wrong_value(f"{where} must be a number above 0 with a unit such as {example}", f"'{text}'")
    return value


class _Section:
    """A table of a file, whose keys are taken one by one; what is left is unknown."""

    def __init__(self, content: object, where: str, known: Sequence[str]) -> None:
        if not isinstance(content, dict):
            raise wrong_value(f"{where} must be a table", type(content).__name__)
        for key in content:
            if key not in known:
                raise wrong_value(f"{where} has no key '{key}'", None, did_you_mean(key, known, "remove it"))
        self.content, self.where = content, where

    def value(self, key: str) -> object:
        if key not in self.content:
            raise missing(f"'{key}' of {self.where}", "add it")
        return self.content[key]

    def text(self, key: str) -> str:
        value = self.value(key)
        if not isinstance(value, str) or not value.strip():
            raise wrong_value(f"'{key}' of {self.where} must be a text", value)
        return value

    def year(self, key: str) -> float:
        return checked_year(self.value(key), f"'{key}' of {self.where}")

    def unit(self, key: str, unit: str) -> float:
        return parse_unit(self.text(key), unit, f"'{key}' of {self.where}")

    def optional(self, key: str, unit: str) -> float | None:
        return self.unit(key, unit) if key in self.content else None

    def quantity(self, key: str, unit: str) -> tuple[float, str]:
        """{ value = "372 W", published = "..." }: the value and its source."""
        inner = _Section(self.value(key), f"'{key}' of {self.where}", ("value", *SOURCES))
        return inner.unit("value", unit), inner.source()

    def source(self) -> str:
        found = [key for key in SOURCES if key in self.content]
        if len(found) != 1:
            raise wrong_value(f"{self.where} must have one source of {', '.join(SOURCES)}", f"{len(found)} sources")
        return f"{found[0]}: {self.text(found[0])}"

    def number(self, key: str) -> float:
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            raise wrong_value(f"'{key}' of {self.where} must be a number above 0", value)
        return float(value)

    def assumption(self, key: str) -> Assumption:
        where = f"'{key}' of {self.where}"
        inner = _Section(self.value(key), where, ("value", "low", "high", *SOURCES))
        value = inner.number("value")
        low = inner.number("low") if "low" in inner.content else value
        high = inner.number("high") if "high" in inner.content else value
        if not low <= value <= high:
            raise wrong_value(f"{where} must have low <= value <= high", f"{low:g}, {value:g}, {high:g}")
        return Assumption(value, low, high, inner.source())


def checked_year(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not FIRST_YEAR <= value <= LAST_YEAR:
        found = f"{value:g}" if isinstance(value, float) else value
        raise wrong_value(f"{where} must be a year from {FIRST_YEAR:.0f} to {LAST_YEAR:.0f}", found)
    return float(value)


def shipped(kind: str) -> dict[str, Path]:
    """The files of the package of this kind, by name."""
    found = {path.stem: path for path in sorted(folder("projections").glob("*.toml"))}
    return {name: path for name, path in found.items() if content_of(path).get("kind") == kind}


def content_of(path: Path) -> JsonObject:
    try:
        return read_toml(files.read_text(path, "a projection's file", LARGEST_FILE))
    except ValueError as error:
        raise wrong_value(f"{path} must be TOML", error, "docs/guides/project-a-machine.md shows the form") from None


def find(name: str, kind: str, option: str, others: Sequence[str] = ()) -> tuple[JsonObject, str]:
    """Content and name of a shipped file, or of the file at this path. `others`: names that the option takes, too."""
    known = shipped(kind)
    path = known.get(name) or Path(name)
    if name not in known and not (name.endswith(".toml") or "/" in name):
        raise wrong_value(
            f"{option} must name a {kind} or a file",
            f"'{name}'",
            did_you_mean(name, [*known, *others], f"use {', '.join([*known, *others])}"),
        )
    content = content_of(path)
    if content.get("kind") != kind:
        raise wrong_value(f'{path} must have kind = "{kind}"', content.get("kind"))
    return content, str(path) if name not in known else name


def node_class(name: str) -> NodeClass:
    content, where = find(name, "node class", "--class")
    top = _Section(content, where, ("kind", "name", "summary", "year", "machine", "node", "power", "limits"))
    node = _Section(top.value("node"), f"[node] of {where}", ("peak", "memory", "memory_bandwidth", "power"))
    units = {"peak": FLOPS, "memory": BYTES, "memory_bandwidth": RATE, "power": WATTS}
    numbers = {key: node.quantity(key, unit) for key, unit in units.items()}
    power = _Section(top.value("power"), f"[power] of {where}", tuple(SHARES))
    shares = {key: power.assumption(key) for key in SHARES}
    if sum(share.value for share in shares.values()) >= 1:
        raise wrong_value(
            f"the shares in [power] of {where} must leave a rest", f"{sum(s.value for s in shares.values()):g}"
        )
    limits = _Section(top.value("limits"), f"[limits] of {where}", ("nodes_per_rack", "cost", "node_mtbf"))
    mtbf = None
    if "node_mtbf" in limits.content:
        words = _Section(limits.value("node_mtbf"), f"'node_mtbf' of {where}", ("value", *SOURCES))
        mtbf = parse_duration(words.text("value"), f"'node_mtbf' of {where}")
        words.source()
    return NodeClass(
        top.text("name"),
        top.text("summary"),
        top.year("year"),
        top.text("machine"),
        numbers["peak"][0],
        numbers["memory"][0],
        numbers["memory_bandwidth"][0],
        numbers["power"][0],
        shares,
        limits.assumption("nodes_per_rack").value,
        limits.assumption("cost") if "cost" in limits.content else None,
        mtbf,
        {key: source for key, (_, source) in numbers.items()},
    )


def scaling(name: str) -> Scaling:
    content, where = find(name, "scaling", "--scaling", (HISTORY,))
    top = _Section(content, where, ("kind", "name", "summary", "scatter", "growth"))
    growth = _Section(top.value("growth"), f"[growth] of {where}", tuple(GROWTHS))
    scatter = top.number("scatter") if "scatter" in top.content else 0.0
    return Scaling(top.text("name"), top.text("summary"), {key: growth.assumption(key) for key in GROWTHS}, scatter)


def to_toml(of: Scaling) -> str:
    """A scaling as a file that --scaling reads."""
    lines = [
        "# Written by kumihimo project --write-scaling. Factors of a year; low and high hold nine of ten cases.",
        'kind = "scaling"',
        f'name = "{of.name}"',
        f'summary = "{of.summary}"',
        *([f"scatter = {of.scatter:.6g} # of the logarithm of a machine's peak per watt"] if of.scatter else []),
        "",
        "[growth]",
    ]
    for name, each in of.growth.items():
        kind, _, words = each.source.partition(": ")
        lines.append(
            f'{name} = {{ value = {each.value:.6g}, low = {each.low:.6g}, high = {each.high:.6g}, {kind} = "{words}" }}'
        )
    return "\n".join(lines) + "\n"


def past_machines() -> list[PastMachine]:
    """Past machines of the package, by year."""
    content, where = find(HISTORY, HISTORY, "--scaling")
    found = []
    for number, each in enumerate(content.get("machine", []), 1):
        of = f"machine {number} of {where}"
        keys = ("name", "year", "class", "nodes", "peak", "linpack", "power", "memory", "memory_bandwidth", "injection")
        row = _Section(each, of, (*keys, "source"))
        found.append(
            PastMachine(
                row.text("name"),
                row.year("year"),
                row.text("class"),
                row.unit("peak", FLOPS),
                row.unit("linpack", FLOPS),
                row.unit("power", WATTS),
                row.text("source"),
                int(row.number("nodes")) if "nodes" in row.content else None,
                row.optional("memory", BYTES),
                row.optional("memory_bandwidth", RATE),
                row.optional("injection", RATE),
            )
        )
    return sorted(found, key=lambda each: each.year)
