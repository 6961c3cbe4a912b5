"""hwloc's XML (lstopo --of xml) of the versions 1 to 3: one node with its packages, NUMA nodes and caches.

The file is read here and not by the hwloc library, which crashes on some files that are cut or damaged, and reads only
the versions that it knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kumihimo import _machine
from kumihimo.network.imports import ImportedNetwork
from kumihimo.text.documents import XmlElement
from kumihimo.text.errors import missing
from kumihimo.text.quantities import counted

KINDS = {
    "Package": "package",
    "Socket": "package",  # of hwloc 1
    "Die": "die",
    "Group": "group",
    "Tile": "group",
    "Module": "group",
    "Cluster": "group",
    "NUMANode": "numa",
    "L3Cache": "l3",
    "L2Cache": "l2",
    "L1Cache": "l1",
    "Core": "core",
    "PU": "unit",
}
OTHERS = (
    *("Machine", "System", "Misc", "Bridge", "PCIDev", "OSDev"),
    *("L1iCache", "L2iCache", "L3iCache", "L4Cache", "L5Cache", "MemCache"),
)
CACHES_OF_1 = {"1": "l1", "2": "l2", "3": "l3"}  # by the depth of <object type="Cache">
INSTRUCTIONS = "2"  # cache_type
PARTS_OF_OBJECTS = ("info", "userdata", "distances", "page_type")
VERSIONS = ("1", "2", "3")
MOST_UNITS = 2**20
MOST_BYTES = 2**53
ADVICE = "write one with lstopo --of xml"


@dataclass
class HwlocNode:
    """Content of the file about one node."""

    version: str
    parts: list[tuple[str, int, list[int]]] = field(default_factory=list)  # kind, bytes of a cache, units
    memory: int = 0
    processor: str = ""
    usable: set[int] | None = None  # units; None: all
    usable_memory: set[int] | None = None  # NUMA nodes
    units: set[int] = field(default_factory=set)
    absent: set[int] = field(default_factory=set)  # units that are offline or forbidden
    kinds: list[tuple[str, set[int]]] = field(default_factory=list)  # of cores, with their units

    @property
    def host(self) -> _machine.Host:
        return _machine.host_of(self.processor, self.memory, self.parts)


def read_node(root: XmlElement) -> HwlocNode:
    """Reads the element <topology>."""
    if root.tag != "topology":
        raise root.value.wrong("the file must be a <topology> of hwloc", f"<{root.tag}>", ADVICE)
    version = root.get("version", "1").partition(".")[0]
    if version not in VERSIONS:
        raise root.value.wrong(
            "the file must be XML of hwloc 1, 2 or 3",
            f"version {root.get('version')}",
            "write one with lstopo of hwloc 3",
        )
    machines = [child for child in root.children if child.tag == "object"]
    if len(machines) != 1:
        raise root.value.wrong("a topology of hwloc must have one outer <object>", len(machines), ADVICE)
    node, machine = HwlocNode(version), machines[0]
    for key in ("allowed_cpuset", "online_cpuset"):  # the latter of hwloc 1
        usable = _set(machine, key)
        if usable is not None:
            node.usable = usable if node.usable is None else node.usable & usable
    node.usable_memory = _set(machine, "allowed_nodeset")
    _read(machine, node)
    if not node.units:
        raise root.value.wrong("a topology of hwloc must have objects of type PU that may be used", "none", ADVICE)
    node.absent |= (_set(machine, "complete_cpuset") or set()) - node.units
    for kind in root.children:
        if kind.tag == "cpukind":
            node.kinds.append((_info(kind, "CoreType"), (_set(kind, "cpuset") or set()) & node.units))
    if node.memory >= MOST_BYTES:
        raise machine.value.wrong("the memory of a node must be below 2^53 bytes", node.memory)
    return node


def _read(element: XmlElement, node: HwlocNode) -> list[int]:
    """Adds the objects, outer ones first; the result are the units in this one."""
    kind, name = _kind(element, node), element.get("type")
    place = len(node.parts)
    if kind:
        node.parts.append((kind, 0, []))
    units: list[int] = _unit(element, node) if kind == "unit" else []
    beside: list[tuple[int, set[int] | None]] = []  # NUMA nodes: they hang beside cores from hwloc 2 on
    for child in element.children:
        if child.tag == "object":
            below = len(node.parts)
            units += _read(child, node)
            if node.version != "1" and child.get("type") in ("NUMANode", "MemCache"):
                cores = [_set(each, "cpuset") for each in child.iter("object") if _kind(each, node) == "numa"]
                beside += zip((i for i in range(below, len(node.parts)) if node.parts[i][0] == "numa"), cores)
        elif child.tag not in PARTS_OF_OBJECTS:
            raise child.value.wrong(f"<object> of hwloc has no element <{child.tag}>", None, ADVICE)
    if kind == "core" and not any(child.get("type") == "PU" for child in element.iter("object")):
        raise element.value.wrong("an object of type Core must have objects of type PU", "none", ADVICE)
    for i, served in beside:
        node.parts[i] = ("numa", 0, [unit for unit in units if served is None or unit in served])
    if kind == "numa" or name in ("Machine", "System"):  # the latter in hwloc 1, where there are no NUMA nodes
        node.memory += _bytes(element, "local_memory")
    if name in ("Package", "Socket", "Machine"):
        node.processor = node.processor or _info(element, "CPUModel")
    if kind:
        node.parts[place] = (kind, _bytes(element, "cache_size") if kind in ("l1", "l2", "l3") else 0, units)
    return units


def _kind(element: XmlElement, node: HwlocNode) -> str:
    """Empty for objects that hold no cores of their own, caches of instructions, and forbidden NUMA nodes."""
    name = element.get("type")
    if name == "NUMANode" and node.usable_memory is not None and "os_index" in element.fields:
        return "numa" if element.fields["os_index"].count("os_index", 0) in node.usable_memory else ""
    if name == "Cache":
        return "" if element.get("cache_type") == INSTRUCTIONS else CACHES_OF_1.get(element.get("depth"), "")
    if name not in KINDS and name not in OTHERS:
        raise element.value.wrong("the type of an <object> must be one of hwloc's", f"'{name}'", ADVICE)
    return KINDS.get(name, "")


def _unit(element: XmlElement, node: HwlocNode) -> list[int]:
    if "os_index" not in element.fields:
        raise missing(f"{element.where}: os_index= of an object of type PU", ADVICE)
    unit = element.fields["os_index"].count("os_index", 0)
    if unit >= MOST_UNITS:
        raise element.value.wrong(f"os_index must be below {MOST_UNITS}", unit)
    if unit in node.units or unit in node.absent:
        raise element.value.wrong("each PU must have its own os_index", f"{unit} twice")
    usable = node.usable is None or unit in node.usable
    (node.units if usable else node.absent).add(unit)
    return [unit] if usable else []


def _bytes(element: XmlElement, key: str) -> int:
    text = element.get(key, "0")
    if re.fullmatch("[0-9]{1,15}", text) is None:
        raise element.value.wrong(f"{key} must be a number of bytes", f"'{text}'", ADVICE)
    return int(text)


def _info(element: XmlElement, name: str) -> str:
    return next(
        (child.get("value") for child in element.children if child.tag == "info" and child.get("name") == name), ""
    )


def _set(element: XmlElement, key: str) -> set[int] | None:
    """0x00000001,0xffffffff: words of 32 bits, the last one has the lowest numbers. None: not said, or without end."""
    text = element.get(key)
    if not text or text.startswith("0xf...f"):
        return None
    words = text.split(",")
    if len(words) > MOST_UNITS // 32 or any(re.fullmatch("(0x[0-9a-fA-F]{1,8})?", word) is None for word in words):
        raise element.value.wrong(f"{key} must be a bitmap of hwloc, such as 0x000000ff", f"'{text}'", ADVICE)
    found: set[int] = set()
    for place, word in enumerate(reversed(words)):
        bits = int(word or "0", 16)
        found.update(32 * place + bit for bit in range(32) if bits >> bit & 1)
    return found


def read(root: XmlElement) -> ImportedNetwork:
    node = read_node(root)
    host = node.host
    levels = ", ".join(f'"{name} {cores}"' for name, cores in host.levels)
    numbers = {("node", "cores"): str(host.cores), ("node", "ranks_per_node"): str(host.cores)}
    if host.memory_bytes:
        numbers["node", "memory"] = f'"{host.memory_bytes} B"'
    if host.last_level_cache_bytes:
        numbers["node", "last_level_cache"] = f'"{host.last_level_cache_bytes} B"'
    lines = ['family = "single_node"', *([f"levels = [{levels}]"] if levels else [])]
    summary = f"{node.processor or 'one node'}, {counted(host.cores, 'core')}"
    names = [name for name, _ in host.levels]
    return ImportedNetwork(lines, summary, numbers, _remarks(node, host), one_node=True, levels=names)


def _remarks(node: HwlocNode, host: _machine.Host) -> list[str]:
    remarks = []
    if host.levels:
        remarks.append(
            "hwloc does not know the speed of levels: without shared_memory_bandwidth_LEVEL and "
            "shared_memory_latency_LEVEL every level has the node's numbers."
        )
    for left_out, reason in [
        (host.uneven, "their parts have different numbers of cores"),
        (host.not_nested, "they do not divide the level around them evenly"),
        (host.unnamed, "only packages, NUMA nodes and shared caches are levels"),
    ]:
        if left_out:
            found = ", ".join(f"{name} of {counted(cores, 'core')}" for name, cores in left_out)
            remarks.append(f"Left out, because {reason}: {found}.")
    if node.absent:
        remarks.append(
            f"Left out, because they are offline or forbidden: {counted(len(node.absent), 'processing unit')} of "
            f"{len(node.absent) + len(node.units)}."
        )
    kinds = [(name or "without a name", len(units)) for name, units in node.kinds if units]
    if len(kinds) > 1:
        found = ", ".join(f"{name} ({counted(units, 'processing unit')})" for name, units in kinds)
        remarks.append(f"The node has several kinds of cores: {found}. The numbers of a node hold for all its cores.")
    return remarks
