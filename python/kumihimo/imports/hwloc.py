"""hwloc's XML (lstopo --of xml): one node with its packages, NUMA nodes and caches."""

from __future__ import annotations

from pathlib import Path

from kumihimo import _machine
from kumihimo.imports import Network


def read(path: Path) -> Network:
    host = _machine.read_host(str(path))
    levels = ", ".join(f'"{name} {cores}"' for name, cores in host.levels)
    numbers = {("node", "cores"): str(host.cores), ("node", "ranks_per_node"): str(host.cores)}
    if host.memory_bytes:
        numbers["node", "memory"] = f'"{host.memory_bytes} B"'
    if host.last_level_cache_bytes:
        numbers["node", "last_level_cache"] = f'"{host.last_level_cache_bytes} B"'
    lines = ['family = "single_node"', *([f"levels = [{levels}]"] if levels else [])]
    remarks = []
    if levels:
        remarks.append(
            "hwloc does not know the speed of levels: without shared_memory_bandwidth_LEVEL and "
            "shared_memory_latency_LEVEL every level has the node's numbers."
        )
    if host.not_nested:
        left_out = ", ".join(f"{name} of {cores} cores" for name, cores in host.not_nested)
        remarks.append(f"Left out, because they do not divide the level around them evenly: {left_out}.")
    if host.unnamed:
        left_out = ", ".join(f"{name} of {cores} cores" for name, cores in host.unnamed)
        remarks.append(f"Left out, because only packages, NUMA nodes and shared caches are levels: {left_out}.")
    name = "".join(c for c in host.processor if c.isprintable() and c not in '"\\') or "one node"
    summary = f"{name}, {host.cores} cores"
    return Network(lines, summary, numbers, remarks, one_node=True, levels=[name for name, _ in host.levels])
