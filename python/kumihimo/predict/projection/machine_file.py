"""The machine file of a projected machine: that of its class's machine, with each number scaled and its source."""

from __future__ import annotations

import re
from math import ceil
from pathlib import Path

from kumihimo.predict.projection.files import LARGEST_FILE, NodeClass
from kumihimo.predict.projection.model import AssumedValues, ProjectedMachine
from kumihimo.processes.package_files import folder
from kumihimo.text import files
from kumihimo.text.documents import read_toml
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject

UNITS: dict[str, tuple[tuple[str, float], ...]] = {"s": (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))}
for _base in ("B", "B/s", "flop/s"):
    _prefixes = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))
    UNITS[_base] = tuple((prefix + _base, factor) for prefix, factor in _prefixes)
BINARY = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
FACTORS = {name: (base, factor) for base, units in UNITS.items() for name, factor in units}
FACTORS |= {name: ("B", factor) for name, factor in BINARY.items()}
FACTORS |= {f"{name}/s": ("B/s", factor) for name, factor in BINARY.items()}
FACTORS |= {name.replace("flop", "Flop"): found for name, found in FACTORS.items() if "flop" in name}
FACTORS |= {f"{prefix}flop/s": ("flop/s", factor) for prefix, factor in (("G", 1e9), ("T", 1e12))}
SOURCES = ("published", "measured", "fitted", "assumed")
OF_LINKS = {"lane_bandwidth"}  # rates of the network outside [network]
NOT_PROJECTED = {"topology", "prediction_errors"}  # the first is made anew, the second is of the machine as it is
PER_BYTE = {"G", "O"}  # times of [loggops]


def text(of: NodeClass, machine: ProjectedMachine, by: AssumedValues, about: str) -> str:
    """`about`: one line that says how it was projected."""
    content = read_toml(files.read_text(path_of(of), "a machine file", LARGEST_FILE))
    t = machine.node.year - of.year
    link, memory, latency = (by.growth[name] ** t for name in ("link_bandwidth", "memory_bandwidth", "latency"))
    fixed = {
        "flop_rate": quantity(machine.node.peak, "flop/s"),
        "memory": quantity(machine.node.memory, "B"),
        "memory_bandwidth": quantity(machine.node.memory_bandwidth, "B/s"),
    }

    def grown(section: str, key: str, value: object) -> object:
        if section == "node" and key in fixed:
            return fixed[key]
        match = re.fullmatch(r"([0-9.]+) *([A-Za-zµμ/]+)", value) if isinstance(value, str) else None
        if match is None or (unit := match[2].replace("µ", "u").replace("μ", "u")) not in FACTORS:
            return value
        base, factor = FACTORS[unit]
        number = float(match[1]) * factor
        if base == "s":
            return quantity(number / link if key in PER_BYTE else number * latency, "s")
        if base == "B/s":
            return quantity(number * (link if section == "network" or key in OF_LINKS else memory), "B/s")
        return value

    name = f"{of.name}-in-{machine.node.year:.0f}"
    lines = [
        f"# {about}",
        f'name = "{name}"',
        f'summary = "{machine.nodes:,} nodes as {of.name} would be in {machine.node.year:.0f}"',
        "",
        "[topology]",
        *topology(content["topology"], machine.nodes, of),
    ]
    for section, table in content.items():
        if section in NOT_PROJECTED or not isinstance(table, dict):
            continue
        lines += ["", f"[{section}]"]
        for key, entry in table.items():
            if not isinstance(entry, dict):
                lines.append(f"{key} = {toml(entry)}")
                continue
            if "value" not in entry:  # a state of the software
                continue
            value = grown(section, key, entry["value"])
            kind = next(each for each in SOURCES if each in entry)
            words = entry[kind]
            if value != entry["value"]:
                kind, words = "assumed", f"projected from {of.machine}: {entry['value']}"
                if section == "node" and key in fixed:
                    words = f"projected from {of.name}"
            lines.append(f"{key} = {{ value = {toml(value)}, {kind} = {toml(words)} }}")
    return "\n".join(lines) + "\n"


def path_of(of: NodeClass) -> Path:
    found = folder("machines") / f"{of.machine}.toml"
    path = found if found.is_file() else Path(of.machine)
    if not path.is_file():
        raise wrong_value(f"'machine' of {of.name} must name a shipped machine or a machine file", f"'{of.machine}'")
    return path


def toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return str(value)


def quantity(value: float, base: str) -> str:
    """In the unit in which it needs no exponent: "12.5 GB/s"."""
    name, factor = next(((n, f) for n, f in reversed(UNITS[base]) if value >= f), UNITS[base][0])
    digits = f"{value / factor:.5f}".rstrip("0").rstrip(".")
    return f"{digits if float(digits) > 0 else '0.00001'} {name}"


def topology(of: JsonObject, nodes: int, node: NodeClass) -> list[str]:
    """A network of the same family with at least so many nodes."""
    family = of["family"]
    keep = {key: value for key, value in of.items() if key not in ("jobs", "node_names", "relays", "nodes", "name")}
    if family == "torus":
        keep["shape"] = shape(of["shape"], ceil(nodes / of.get("nodes_per_router", 1)))
    elif family == "tofu":
        outer, inner = of["axes"].split("x")[:3], of["axes"].split("x")[3:]
        group = 1
        for axis in inner:
            group *= int(axis.rstrip("m"))
        keep["axes"] = "x".join([shape("x".join(outer), ceil(nodes / group)), *inner])
    elif family == "dragonfly_plus":
        places = of["leaves_per_group"] * of["nodes_per_leaf"]
        keep |= {"groups": max(2, ceil(nodes / places)), "nodes": nodes}
    elif family == "dragonfly":
        places = of["routers_per_group"] * of["nodes_per_router"]
        keep |= {"groups": max(2, ceil(nodes / places)), "nodes": nodes}
    else:
        rule = f"a projected machine needs a torus, tofu, dragonfly or dragonfly_plus: 'machine' of {node.name}"
        raise wrong_value(rule, f"{node.machine}, a {family}", "name another machine in the class's file")
    return [f"{key} = {toml(value)}" for key, value in keep.items()]


def shape(of: str, nodes: int) -> str:
    """As many axes of about the same length, each a mesh or a ring as before, with the fewest places that suffice."""
    axes = of.split("x")
    lengths: list[int] = []
    left = nodes
    for at in range(len(axes)):
        length = max(1, ceil(left ** (1 / (len(axes) - at)) - 1e-9))
        lengths.append(length)
        left = ceil(left / length)
    return "x".join(f"{length}{'m' if axis.endswith('m') else ''}" for length, axis in zip(lengths, axes))
