"""The published machine of unequal nodes (Shi et al., Cluster'13): what nodes with GPUs and nodes without reach
together, from what either kind reached alone.

The paper gives 16 nodes with GPUs and 64 without, their peaks of 670 and 202 GFLOPS, 4 processes and 1 process a node
by the rule of peaks, and 40 % of a node's memory for the matrix; in the strong series a matrix of 100,000 rows. Alone
the kinds reached 6,480 and 13,210 GFLOPS. Which is which follows from the peaks: 13,210 are more than the 10,720 of 16
nodes with GPUs. They are more than the 12,928 of 64 nodes without, too: one of these figures is not exact."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import sqrt

from kumihimo import _lu, _machine
from kumihimo.app import lu_prediction
from kumihimo.app.lu_prediction import LuQuestion, LuRates
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject

GPU_PEAK, CPU_PEAK = 670.0, 202.0  # GFLOPS of a node
GPU_ALONE, CPU_ALONE = 6_480.0, 13_210.0  # GFLOPS of 16 and of 64 nodes
GPU_NODES, CPU_NODES = 16, 64
PEAK_EXCEEDED = (
    f"the published {CPU_ALONE:,.0f} GFLOPS exceed the peak of the {CPU_NODES} nodes without GPUs, "
    f"{CPU_NODES * CPU_PEAK:,.0f}: one of the published figures is not exact"
)
STRONG_ROWS = 100_000
MEMORY_SHARE = 0.4
BLOCK = 192


@dataclass(frozen=True)
class HybridNodes:
    gpu: int
    cpu: int

    @property
    def peaks(self) -> list[float]:
        return [GPU_PEAK] * self.gpu + [CPU_PEAK] * self.cpu


@dataclass(frozen=True)
class KindRates:
    """GFLOPS of updates of a node, at which either kind alone reaches what was published."""

    gpu: float
    cpu: float


class HybridMachine:
    """`rates`: of one thread here, for what a panel costs beside updates."""

    def __init__(self, machine: _machine.Machine, rates: LuRates):
        self.machine, self.rates = machine, rates
        self.memory_bytes: int = json.loads(machine.to_json())["node"]["memory_bytes"]["value"]
        self.costs = lu_prediction.message_costs(Setting("loggp", _machine.Job(machine)))
        self.kinds = KindRates(
            self.updates_of(HybridNodes(GPU_NODES, 0), GPU_ALONE), self.updates_of(HybridNodes(0, CPU_NODES), CPU_ALONE)
        )

    def rows(self, nodes: HybridNodes) -> int:
        """40 % of the memory of each node, in whole blocks."""
        share = MEMORY_SHARE * self.memory_bytes * (nodes.gpu + nodes.cpu)
        return int(sqrt(share / 8)) // BLOCK * BLOCK

    def processes(self, nodes: HybridNodes) -> tuple[list[int], str]:
        """Processes by the published rule, also where a kind is alone."""
        both = HybridNodes(max(1, nodes.gpu), max(1, nodes.cpu))
        found, rule = _lu.processes_of_nodes(both.peaks, [self.machine.cores] * len(both.peaks))
        of_gpu, of_cpu = found[0], found[-1]
        return [of_gpu] * nodes.gpu + [of_cpu] * nodes.cpu, rule

    def gflops(self, nodes: HybridNodes, gpu: float, cpu: float, rows: int | None = None) -> float:
        """Rate of nodes whose updates reach `gpu` and `cpu` GFLOPS. `rows`: None: as many as their memory has."""
        processes, _ = self.processes(nodes)
        rates = [gpu] * nodes.gpu + [cpu] * nodes.cpu
        speeds = lu_prediction.speeds_of_ranks(rates, processes, self.rates.updates)
        asked = LuQuestion(rows or self.rows(nodes), BLOCK, None)
        times = lu_prediction.by_recurrence(asked, self.rates, self.costs, speeds, len(speeds))
        return lu_prediction.operations_of(asked.rows) * 1e-9 / times.seconds

    def updates_of(self, alone: HybridNodes, published: float) -> float:
        """Bisection: more GFLOPS of updates never give less."""
        low, high = 1.0, 1e5
        if self.gflops(alone, high, high) < published:
            raise wrong_value("the network of the machine is too slow for what was published", self.machine.name)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.gflops(alone, middle, middle) < published else (low, middle)
        return high

    def result(self, nodes: HybridNodes, rows: int | None = None) -> JsonObject:
        """`rows`: of the matrix, also where a kind is alone; None: as many as their memory has."""
        processes, rule = self.processes(nodes)
        together = self.gflops(nodes, self.kinds.gpu, self.kinds.cpu, rows)
        parts = {
            "gpu": self.gflops(HybridNodes(nodes.gpu, 0), self.kinds.gpu, self.kinds.cpu, rows),
            "cpu": self.gflops(HybridNodes(0, nodes.cpu), self.kinds.gpu, self.kinds.cpu, rows),
        }
        return {
            "application": "lu",
            "gpu_nodes": nodes.gpu,
            "cpu_nodes": nodes.cpu,
            "ranks": sum(processes),
            "grid": list(_lu.usual_grid(sum(processes))),
            "rows": rows or self.rows(nodes),
            "gflops": together,
            "gpu_gflops": parts["gpu"],
            "cpu_gflops": parts["cpu"],
            "efficiency": together / sum(parts.values()),
            "processes": rule,
            "machine": self.machine.name,
        }


def nodes_of(text: str) -> list[HybridNodes]:
    """ "4+4,4+8": nodes with GPUs and without."""
    found = []
    for word in text.split(","):
        match = re.fullmatch(r"([1-9][0-9]{0,4})\+([1-9][0-9]{0,4})", word.strip())
        if not match:
            raise wrong_value("nodes must be nodes with GPUs + nodes without, such as 16+64", f"'{text}'")
        found.append(HybridNodes(int(match[1]), int(match[2])))
    return found
