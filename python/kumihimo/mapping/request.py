"""Input of a search for a placement: the job, the traffic, and placements to start with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kumihimo import _machine, _mapping, _placement, _schedule, _topology
from kumihimo.collectives.arguments import Ranks
from kumihimo.mapping import sources
from kumihimo.network import placement as placements
from kumihimo.network.imports import hwloc
from kumihimo.predict import simulation
from kumihimo.predict.workloads.catalogue import WORKLOAD
from kumihimo.processes import allocation
from kumihimo.text import documents, files, odd_bytes
from kumihimo.text.errors import BadInput, missing, wrong_value
from kumihimo.text.quantities import counted

OBJECTIVES = ("hop-bytes", "links", "time", "off-node")
EFFORTS = ("fast", "standard", "thorough")
USUAL = "block"  # the order that launchers use without a map

# A torus without a machine: only its links count, so that these numbers serve no prediction.
TORUS = """
name = "torus"
summary = "a torus of --shape"
[topology]
family = "torus"
shape = "{shape}"
jobs = "own"
[network]
link_bandwidth = {{ value = "1 GB/s", assumed = "not used" }}
link_peak = {{ value = "1 GB/s", assumed = "not used" }}
hop_latency = {{ value = "1 us", assumed = "not used" }}
engines = {{ value = 1, assumed = "not used" }}
engine_bandwidth = {{ value = "1 GB/s", assumed = "not used" }}
[node]
ranks_per_node = {{ value = 1, assumed = "not used" }}
cores = {{ value = 1, assumed = "not used" }}
memory = {{ value = "64 GB", assumed = "not used" }}
memory_bandwidth = {{ value = "1 GB/s", assumed = "not used" }}
reduction_rate = {{ value = "1 GB/s", assumed = "not used" }}
reduction_rate_scalar = {{ value = "1 GB/s", assumed = "not used" }}
shared_memory_bandwidth = {{ value = "1 GB/s", assumed = "not used" }}
shared_memory_latency = {{ value = "1 us", assumed = "not used" }}
[software]
message_cost = {{ value = "1 us", assumed = "not used" }}
relay_latency = {{ value = "1 us", assumed = "not used" }}
segment_bytes = {{ value = "1 MiB", assumed = "not used" }}
"""


@dataclass(frozen=True)
class JobNetwork:
    """The job, as --machine, --shape and --allocation describe it."""

    job: _machine.Job
    is_described: bool  # by a machine; False: only a shape is known
    names: tuple[str, ...]  # of the nodes, or none
    usual: placements.Placed | None  # the order of the hosts, where it is not that of the nodes

    @property
    def shape(self) -> _topology.Shape:
        return self.job.machine.shape

    def __str__(self) -> str:
        machine, slots = self.job.machine, self.job.slots
        name = machine.name if self.is_described else ""
        where = simulation.shape_of(machine) if self.is_described else machine.network
        each = "1 slot each" if slots.size == slots.nodes else counted(slots.size, "slot")
        return f"{name} {where}".strip() + f", {counted(slots.nodes, 'node')}, {each}"

    def cores_per_node(self) -> int:
        """0: a core is not known, or each slot has one at most."""
        cores = self.job.machine.cores
        return cores if self.is_described and cores >= max(self.job.slots.sizes) else 0


@dataclass(frozen=True)
class PlaceRequest:
    """All that a search depends on."""

    source: sources.TrafficSource
    network: JobNetwork
    objective: str = "hop-bytes"
    effort: str = "standard"
    seed: int = 1
    grid: _topology.Shape | None = None
    link_cap: bool = True
    threads: int = 0
    starts: list[tuple[str, _placement.Placement]] = field(default_factory=list)
    within_node: list[tuple[str, int]] = field(default_factory=list)

    def usual(self) -> placements.Placed:
        """The placement without any map: in the order of the hosts, or of the nodes."""
        if self.network.usual is not None:
            return self.network.usual
        return placements.Placed(USUAL, in_order(USUAL, self.network, self.source.traffic.ranks))

    def start(self) -> _mapping.Run:
        usual = self.network.usual
        return _mapping.start(
            self.source.traffic,
            self.network.job,
            objective=self.objective,
            effort=self.effort,
            seed=self.seed,
            grid=self.grid,
            link_cap=self.link_cap,
            threads=self.threads,
            usual=None if usual is None else (usual.name, usual.placement),
            starts=self.starts,
            within_node=self.within_node,
        )


def network(
    machine: _machine.Machine | None,
    shape: str | None,
    part: simulation.PartOfMachine,
    each: int | tuple[int, ...] | None,
    given: allocation.Allocation | None,
) -> JobNetwork:
    """`machine`: None where only a shape is asked for."""
    described = machine is not None
    if machine is None:
        if shape is None:
            raise missing("the network", "add --machine M or --shape 8x8x8")
        parsed = _topology.Shape.parse(shape)
        machine, shape = _machine.parse(TORUS.format(shape=parsed), "--shape"), None
    if given is not None and each is not None:
        if set(given.ranks) != {1}:
            rule = "--ranks-per-node must be left out where hosts of --allocation have numbers of slots"
            raise wrong_value(rule, each if isinstance(each, int) else ",".join(map(str, each[:8])))
        given, each = with_slots(given, each), None
    holes = [] if machine.family == "tofu" else part.dead
    job = simulation.on(machine, Ranks(shape, None, each), replace(part, dead=[]) if holes else part, given)
    if holes:
        if given is not None:
            raise wrong_value("--allocation excludes --dead", "both", "list only hosts that ranks may use")
        job = _machine.Job.with_node_sizes(job.machine, sizes_without(holes, job))
    order = None if given is None else allocation.placement_on(job, given)
    names = job.machine.node_names or (given.hosts if given else ())
    return JobNetwork(job, described, tuple(names), None if order is None else placements.Placed("--allocation", order))


def with_slots(given: allocation.Allocation, each: int | tuple[int, ...]) -> allocation.Allocation:
    """Hosts without numbers of slots, with those of --ranks-per-node."""
    slots = each if isinstance(each, tuple) else (each,) * len(given.hosts)
    if len(slots) != len(given.hosts) or min(slots) < 1:
        rule = f"--ranks-per-node must be 1 or more, on each of the {counted(len(given.hosts), 'host')} of --allocation"
        raise wrong_value(rule, ",".join(map(str, slots[:8])))
    return replace(given, ranks=tuple(slots))


def sizes_without(holes: list[str], job: _machine.Job) -> list[int]:
    """The slots of each node, none on those that --dead names. The network goes on without ranks there; on Tofu, dead
    nodes change routes, too, and are parts of the machine."""
    lengths = [job.slots.nodes] if job.machine.on_switches else [axis.length for axis in job.machine.shape.axes]
    sizes = list(job.slots.sizes)
    for text in holes:
        words = text.split(",")
        fits = len(words) == len(lengths) and all(re.fullmatch(r"[0-9]{1,9}", word) for word in words)
        if not fits or any(int(word) >= length for word, length in zip(words, lengths)):
            ends = ",".join(str(length - 1) for length in lengths)
            rule = f"--dead must be a node of {job.machine.network} by its coordinates, from {zeros(lengths)} to {ends}"
            raise wrong_value(rule, f"'{text}'", "dead cables need a machine of the tofu family" if "-" in text else "")
        node = 0
        for word, length in zip(words, lengths):
            node = node * length + int(word)
        sizes[node] = 0
    return sizes


def zeros(lengths: list[int]) -> str:
    return ",".join("0" for _ in lengths)


def traffic_on(text: str, on: JobNetwork, wisdom: Path | None = None) -> sources.TrafficSource:
    """Traffic that --traffic names; a collective or a workload is that of as many ranks as there are slots. `wisdom`:
    a file of tune, by which the collectives of a trace are performed.
    """
    kind, colon, _ = text.partition(":")
    slots = on.job.slots.size
    fills = colon and (kind in _schedule.collectives() or text.startswith(WORKLOAD))
    source = sources.traffic_from(text, slots if fills else None, wisdom, on.job)
    if source.traffic.ranks > slots:
        where = simulation.shape_of(on.job.machine) or on.job.machine.name
        least = -(-source.traffic.ranks // on.job.slots.nodes)
        raise BadInput(
            f"{where} has {counted(slots, 'slot')} for {counted(source.traffic.ranks, 'rank')}",
            f"take a larger shape or --ranks-per-node {least}",
        )
    return source


def in_order(order: str, on: JobNetwork, ranks: int, grid: _topology.Shape | None = None) -> _placement.Placement:
    return _placement.Placement.in_order(order, on.job.slots, on.shape, grid, ranks)


def from_file(path: Path, on: JobNetwork, ranks: int) -> _placement.Placement:
    """FILE or FORMAT:FILE, of any format of maps."""
    placement = placements.read_wanted(path).place(on.job.slots, on.shape, list(on.names), on.cores_per_node())
    if placement.ranks != ranks:
        raise wrong_value(f"{path} must place the {counted(ranks, 'rank')} of the traffic", placement.ranks)
    return placement


def evaluated(text: str, on: JobNetwork, ranks: int, grid: _topology.Shape | None) -> placements.Placed:
    """Placement that --evaluate names: a map file, or an order."""
    if placements.format_and_file(text)[0] or Path(text).exists() or "/" in text:
        return placements.Placed(text, from_file(Path(text), on, ranks))
    try:
        return placements.Placed(text, in_order(text, on, ranks, grid))
    except BadInput as error:
        rule = "--evaluate must be a map file or the name of an order"
        raise wrong_value(rule, f"'{text}'", error.advice or error.problem.partition(" (got")[0]) from None


def grid_of(text: str | None, source: sources.TrafficSource) -> _topology.Shape | None:
    if text is None:
        return source.grid
    grid = _topology.Shape.parse(text)
    if grid.places != source.traffic.ranks:
        rule = f"--grid must have the {counted(source.traffic.ranks, 'rank')} of the traffic"
        raise wrong_value(rule, f"{text}, {counted(grid.places, 'place')}")
    return grid


def levels_of(path: Path | None, on: JobNetwork) -> list[tuple[str, int]]:
    """Levels of the slots of a node, outermost first, from hwloc's XML or a machine file. Sizes are in slots."""
    if path is None:
        return []
    sizes = on.job.slots.sizes
    each = max(sizes)
    if any(size not in (0, each) for size in sizes) or each < 2:
        raise wrong_value("--within-node needs the same number of slots on each node, 2 or more", f"{min(sizes)}")
    data = files.read_bytes(path, "the description of a node")
    if documents.is_xml(data):
        host = hwloc.read_node(documents.read_xml(data, odd_bytes.printable(path.name))).host
        levels, cores = host.levels, host.cores
    else:
        machine = _machine.parse(files.decoded(data, path, "the description of a node"), odd_bytes.printable(str(path)))
        if machine.family != "single_node":
            raise wrong_value("--within-node must describe a single node", f"{path}, family {machine.family}")
        levels, cores = _machine.Job.with_ranks_per_node(machine, machine.cores).rank_space.levels, machine.cores
    scaled = [(name, size * each // cores) for name, size in levels if size * each % cores == 0]
    fitting = [(name, size) for name, size in scaled if 1 < size < each]
    if not fitting:
        rule = f"--within-node needs levels that divide the {each} slots of a node"
        raise wrong_value(rule, f"{path}, {counted(cores, 'core')}", "give another --ranks-per-node")
    return fitting


def environment_hosts(given: str | None, environment: Mapping[str, str]) -> allocation.Allocation | None:
    return None if given is None else allocation.read(given, environment)


def check_choices(objective: str, effort: str, on: JobNetwork) -> None:
    for name, value, known in (("--objective", objective, OBJECTIVES), ("--effort", effort, EFFORTS)):
        if value not in known:
            raise wrong_value(f"{name} must be one of {', '.join(known)}", f"'{value}'")
    if objective == "time" and not on.is_described:
        raise missing("the machine for --objective time", "add --machine M")
