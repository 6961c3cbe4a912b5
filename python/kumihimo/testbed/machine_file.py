"""The machine file of a testbed, by which `simulate`, `replay` and `place` have the network of its programs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping

from kumihimo import _machine, _topology
from kumihimo.testbed.wiring import MTU, payload_rate
from kumihimo.text.errors import KumihimoError, not_applicable, wrong_value

WITH_PARTS = ("torus", "tofu", "fat_tree", "dragonfly", "dragonfly_plus")  # families of which --shape takes a part

NUMBERS = """
[network]
link_bandwidth = {{ value = "{link} kB/s", assumed = "{rate} Mbit/s less the headers of packets of 9,000 bytes" }}
link_peak = {{ value = "{peak} kB/s", assumed = "{rate} Mbit/s" }}
hop_latency = {{ value = "{hop} us", assumed = "a packet in the kernel, from one node to the next; not measured here" }}
burst_bytes = {{ value = "{mtu} B", assumed = "the longest packet: an idle link passes it at once" }}
engines = {{ value = {ports}, assumed = "one for each link of a node" }}
engine_bandwidth = {{ value = "{link} kB/s", assumed = "that of a link" }}

[node]
ranks_per_node = {{ value = {slots}, assumed = "the slots of a node" }}
cores = {{ value = {cores}, assumed = "of this machine, which all nodes share" }}
memory = {{ value = "1 GiB", assumed = "not counted" }}
memory_bandwidth = {{ value = "5 GB/s", assumed = "not measured; far above the links" }}
reduction_rate = {{ value = "2 GB/s", assumed = "not measured; far above the links" }}
reduction_rate_scalar = {{ value = "1 GB/s", assumed = "not measured; far above the links" }}
shared_memory_bandwidth = {{ value = "2 GB/s", assumed = "not measured; far above the links" }}
shared_memory_latency = {{ value = "5 us", assumed = "not measured" }}

[software]
message_cost = {{ value = "50 us", assumed = "a message by TCP of nodes that share processors; not measured here" }}
relay_latency = {{ value = "50 us", assumed = "as message_cost" }}
segment_bytes = {{ value = "32 KiB", assumed = "as in the measuring programs" }}
"""


def topology_of(machine: _machine.Machine, text: str | None) -> str:
    """The section of its file. `text`: the file's, None: of a shape alone."""
    if text is None or machine.family == "torus":
        return torus_section(machine)
    kept, is_in = [], False
    for line in text.splitlines():
        if header := re.match(r"\s*\[+\s*([\w-]+)", line):
            is_in = header[1] == "topology"
        if is_in:
            kept.append(line)
    if not kept:
        raise not_applicable("the machine file must have a section [topology] of its own", machine.name)
    return "\n".join(kept).rstrip() + "\n"


def torus_section(machine: _machine.Machine) -> str:
    """Section of a torus or mesh, whose routers may have several nodes: these are its last axis."""
    shape, _, each = str(machine.shape).rpartition("x")
    if machine.switches:
        return f'[topology]\nfamily = "torus"\nshape = "{shape}"\nnodes_per_router = {each}\n'
    return f'[topology]\nfamily = "torus"\nshape = "{machine.shape}"\n'


def part_of(machine: _machine.Machine, text: str, shape: str) -> tuple[_machine.Machine, str]:
    """A part of a machine of this file, and the section of a file for the part alone."""
    if machine.family not in WITH_PARTS:
        rule = "--shape is a part of a torus, of Tofu, of a fat tree or of a dragonfly"
        raise wrong_value(rule, machine.network, "leave it out")
    part = machine.with_shape(_topology.Shape.parse(shape))
    if machine.family == "torus":
        return part, torus_section(part)
    if machine.family == "tofu":
        section = tofu_section(machine, part, text)
        whole = _machine.parse(text_of("part", "part", section, 1, 1, 100_000_000, 0.0), "the part")
        if whole.shape != part.shape:
            rule = f"--shape must be the torus of a whole box of Tofu, as a testbed has all nodes of {box_of(part)}"
            raise wrong_value(rule, shape, f"give --shape {whole.shape}")
        return whole, section
    lines = [line for line in topology_of(machine, text).splitlines() if not re.match(r"\s*node(s|_names)\b", line)]
    return part, "\n".join([*lines, f"nodes = {part.nodes}"]) + "\n"


def box_of(part: _machine.Machine) -> str:
    """The lengths of the six axes."""
    return part.network.rpartition(" ")[2]


def tofu_section(machine: _machine.Machine, part: _machine.Machine, text: str) -> str:
    """Section of the box of the part: an axis of which it has not all is no ring. I/O nodes are not in it."""
    whole = re.search(r'^\s*axes\s*=\s*"([^"]*)"', topology_of(machine, text), re.MULTILINE)
    if whole is None:
        raise not_applicable("the machine file must have a line with the axes of Tofu", machine.name)
    axes = [
        axis if int(axis.rstrip("m")) == int(length) else length if length == "1" else f"{length}m"
        for axis, length in zip(whole[1].split("x"), box_of(part).split("x"))
    ]
    return f'[topology]\nfamily = "tofu"\naxes = "{"x".join(axes)}"\n'


def example_part(machine: _machine.Machine) -> str:
    """A small --shape of a machine; empty: it has no parts."""
    if machine.family == "tofu":
        return "4x3x2"
    if machine.family in WITH_PARTS and machine.on_switches:
        return str(min(machine.nodes, 27))
    for most in (3, 4, 8, 16) if machine.family == "torus" else ():
        axes = [min(axis.length, most) for axis in machine.shape.axes]
        with contextlib.suppress(KumihimoError):
            return str(machine.with_shape(_topology.Shape.parse("x".join(map(str, axes)))).shape).replace("m", "")
    return ""


def text_of(name: str, network: str, topology: str, ports: int, slots: int, rate: int, latency: float) -> str:
    numbers = NUMBERS.format(
        link=f"{payload_rate(rate) / 1000:.0f}",
        peak=f"{rate / 8000:.0f}",
        rate=f"{rate / 1e6:g}",
        mtu=MTU,
        hop=f"{20 + latency * 1e6:g}",
        ports=max(ports, 1),
        slots=slots,
        cores=max(slots, len(os.sched_getaffinity(0))),
    )
    return f'name = "{name}"\nsummary = "testbed of network namespaces: {network}"\n\n{topology}{numbers}'


def of_shape(shape: str) -> _machine.Machine:
    """A torus or mesh of which only the links are known yet."""
    _topology.Shape.parse(shape)  # an error that names no line of a file
    topology = f'[topology]\nfamily = "torus"\nshape = "{shape}"\n'
    return _machine.parse(text_of("testbed", shape, topology, 1, 1, 100_000_000, 0.0), f"the shape {shape}")


def with_step(text: str, seconds: float, ranks: int) -> str:
    """The file with the measured time of a step of a ring, half of it the cost of a message and half what follows its
    arrival: their sum is what counts in every algorithm. In it the processors of this machine work at both ends of the
    messages of all ranks."""
    said = "half a step of a ring of all ranks at once, 8 bytes each, by kumihimo's engine over MPI"
    (found,) = re.findall(r'^hop_latency = { value = "([\d.e+-]+) us"', text, re.MULTILINE)
    hop = float(found)
    cost = max(0.5, (seconds * 1e6 - hop) / 2)
    row = f'{{ value = "{cost:.3g} us", measured = "{said}" }}'
    text = re.sub(r"^(message_cost|relay_latency) = .*", lambda match: f"{match[1]} = {row}", text, flags=re.MULTILINE)
    processors = min(ranks, len(os.sched_getaffinity(0)))
    share = f'{{ value = "{cost * processors / ranks:.3g} us", measured = "{said}, by {processors} processors" }}'
    text = re.sub(r"^(processors|processor_time) = .*\n", "", text, flags=re.MULTILINE)
    said = "of this machine, which all nodes share"
    return f'{text}processors = {{ value = {processors}, assumed = "{said}" }}\nprocessor_time = {share}\n'


def neighbours_of(shape: str) -> str:
    """The nodes of a torus or mesh as `bench --neighbours` has them, each link once: both neighbours along an axis of
    two are one node, which has one link."""
    return "cart:" + re.sub(r"(?<!\d)([12])(?=x|$)", r"\1m", shape)


def with_total(text: str, rate: float) -> str:
    """The file with what the links carry together, in bytes a second: nodes share the processors of this machine."""
    said = "each node sends 32 KiB to each neighbour at once, by kumihimo's engine over MPI"
    row = f'total_bandwidth = {{ value = "{rate / 1000:.0f} kB/s", measured = "{said}" }}\n'
    kept = re.sub(r"^total_bandwidth = .*\n", "", text, flags=re.MULTILINE)
    return kept.replace("burst_bytes = ", f"{row}burst_bytes = ", 1)


def with_slow_links(text: str, factors: Mapping[tuple[int, int], float]) -> str:
    """The file with these links slow, by their ends, and no others. `factors`: of the links' rate, each below 1."""
    kept = text.partition("\n[[slow_link]]")[0]
    return kept + "".join(
        f"\n[[slow_link]]\nfrom = {first}\nto = {second}\nfactor = {factor:.6g}\n"
        for (first, second), factor in sorted(factors.items())
    )
