"""A node of another year, and the machine of such nodes within limits.

Two models of power (P. Kogge, ed., ExaScale Computing Study, 2008; as its readers summarise them):

- simple: a processor's power goes by the roadmap, that of memory with the number of chips, and routers keep their share
  of the whole. A node keeps its number of memory chips.
- full: memory grows with peak; its power goes with chips times performance times the energy of an access, and that of
  routers with performance times the energy of a bit.

The rest of a node's power (conversion, fans, disks) keeps its share in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

from kumihimo.predict.projection.files import GROWTHS, SHARES, NodeClass, Scaling

SIMPLE, FULL = "simple", "full"


@dataclass(frozen=True)
class AssumedValues:
    """One value for each assumption. `luck`: factor of this machine's peak at the same power, beside the trend."""

    growth: dict[str, float]
    shares: dict[str, float]
    cost: float | None
    luck: float = 1.0


@dataclass(frozen=True)
class Limits:
    """Limits of a machine: W, racks and USD; None: no limit."""

    power: float | None = None
    racks: float | None = None
    cost: float | None = None


@dataclass(frozen=True)
class ProjectedNode:
    year: float
    peak: float  # flop/s
    memory: float  # bytes
    memory_bandwidth: float  # bytes/s
    power: dict[str, float]  # W of each of PARTS

    @property
    def watts(self) -> float:
        return sum(self.power.values())


@dataclass(frozen=True)
class ProjectedMachine:
    node: ProjectedNode
    nodes: int  # 0: not even one fits
    limit: str  # "power", "racks" or "cost": the one that binds

    @property
    def peak(self) -> float:
        return self.nodes * self.node.peak

    @property
    def power(self) -> float:
        return self.nodes * self.node.watts

    @property
    def memory(self) -> float:
        return self.nodes * self.node.memory


def usual(of: NodeClass, by: Scaling) -> AssumedValues:
    """The values that the files name."""
    return drawn(of, by, lambda name: 0.0)


def drawn(of: NodeClass, by: Scaling, z: Callable[[str], float]) -> AssumedValues:
    """Each assumption at z(name) standard deviations; of "luck" that of the scaling's scatter."""
    return AssumedValues(
        {name: by.growth[name].at(z(name)) for name in GROWTHS},
        {name: of.shares[name].at(z(share_name(name))) for name in SHARES},
        None if of.cost is None else of.cost.at(z("cost")),
        exp(by.scatter * z("luck")),
    )


def share_name(share: str) -> str:
    return f"{share} share"


def node(of: NodeClass, by: AssumedValues, year: float, model: str) -> ProjectedNode:
    t = year - of.year
    grown = {name: factor**t for name, factor in by.growth.items()}
    peak = grown["peak"] * by.luck
    rest = 1.0 - sum(by.shares.values())
    processor = by.shares["processor"] * grown["processor_power"]
    if model == SIMPLE:
        chips = 1.0
        memory = by.shares["memory"] * grown["dram_power"]
        whole = (processor + memory) / (1.0 - by.shares["router"] - rest)
        router = by.shares["router"] * whole
    else:
        chips = peak / grown["dram_bits"]
        memory = by.shares["memory"] * chips * peak * grown["dram_access_energy"]
        router = by.shares["router"] * peak * grown["link_energy"]
        whole = (processor + memory + router) / (1.0 - rest)
    power = {"processor": processor, "memory": memory, "router": router, "rest": rest * whole}
    return ProjectedNode(
        year,
        of.peak * peak,
        of.memory * chips * grown["dram_bits"],
        of.memory_bandwidth * grown["memory_bandwidth"],
        {part: of.power * share for part, share in power.items()},
    )


def machine(of: NodeClass, by: AssumedValues, year: float, model: str, limits: Limits) -> ProjectedMachine:
    """The largest one within the limits, of which there must be at least one."""
    one = node(of, by, year, model)
    most = {}
    if limits.power is not None:
        most["power"] = limits.power / one.watts
    if limits.racks is not None:
        most["racks"] = limits.racks * of.nodes_per_rack
    if limits.cost is not None and by.cost is not None:
        most["cost"] = limits.cost / by.cost
    limit = min(most, key=lambda name: most[name])
    return ProjectedMachine(one, int(most[limit]), limit)
