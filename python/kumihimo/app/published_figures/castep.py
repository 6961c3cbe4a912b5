"""CASTEP on HECToR phase 2a: its alltoallv through leaders of nodes, and its ranks in another order.

A step is what workload:castep computes, its allreduce, and its transpositions, each an alltoall of the ranks of a
k-point in a job of their own. "multicore": gathered to a leader, exchanged and scattered by messages. "shm": ranks
write into their leader's memory and read from it, so that only the leaders' exchange is left.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo.app.published_figures.figure import PublishedFigure
from kumihimo.app.published_figures.kernel_rates import (
    KernelRates,
    collective_seconds,
    in_order,
    job_on,
    replay_question,
)
from kumihimo.predict.replay import study
from kumihimo.predict.workloads import catalogue
from kumihimo.predict.workloads.catalogue import WorkloadCall
from kumihimo.predict.workloads.steps import CollectiveStep, ComputingStep, ExchangeStep
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject

HECTOR, CORES, CORE_FLOPS = "hector-2a", 4, 9.2e9
SOURCE = "CASTEP on quad-core nodes of HECToR"
ALL_AT_ONCE = "linear"  # MPICH's alltoallv, of which Cray's library is made
ORDERED = "bands=2"  # of a step that is replayed: bands do the same
AL1X1 = f"waves={88184 // 9},grid={108 * 108 * 54 // 9},k_points=1"


@dataclass(frozen=True)
class CastepCase:
    """`nodes`: of the ranks of a k-point."""

    text: str
    ranks: int
    nodes: str

    def call(self, rates: KernelRates) -> WorkloadCall:
        """Lines reach the share of a core's peak that they reach where they were measured."""
        return catalogue.asked(f"{self.text},rate={CORE_FLOPS * rates.lines.flops / rates.peak}", self.ranks)


AL3X3_256 = CastepCase("workload:castep", 256, "4x4x2")
ONE_STEP = CastepCase(f"workload:castep,{ORDERED}", 256, "4x4x4")
AL1X1_16 = CastepCase(f"workload:castep,{AL1X1}", 16, "2x2x1")
AL1X1_32 = CastepCase(f"workload:castep,{AL1X1}", 32, "2x2x2")


def padded(size: int) -> int:
    return max(8, -(-size // 8) * 8)


def step_seconds(case: CastepCase, exchange: str, rates: KernelRates) -> float:
    """`exchange`: plain, multicore or shm."""
    each = 1 if exchange == "shm" else CORES
    job, found = job_on(HECTOR, case.nodes, each), 0.0
    for step in case.call(rates).steps(0):
        if isinstance(step, ComputingStep):
            found += step.seconds
        elif isinstance(step, ExchangeStep):
            raise wrong_value("a step of CASTEP must be computing or a collective", step.what)
        elif step.collective == "allreduce":
            found += times_of(job_on(HECTOR, case.nodes, CORES), step, "rabenseifner")
        else:
            found += exchange_seconds(job, step, exchange)
    return found


def times_of(job, step: CollectiveStep, algorithm: str) -> float:
    return collective_seconds(job, step.collective, algorithm, padded(step.bytes))


def exchange_seconds(job, step: CollectiveStep, exchange: str) -> float:
    block = padded(step.bytes // len(step.members))
    if exchange == "multicore":
        return alltoall(job, "hierarchical", block, inner=ALL_AT_ONCE, outer=ALL_AT_ONCE)
    return alltoall(job, ALL_AT_ONCE, block * (CORES**2 if exchange == "shm" else 1))


KNOWN: dict[tuple, float] = {}


def alltoall(job, algorithm: str, block: int, **given: str) -> float:
    """A step has many of the same."""
    key = (str(job.machine.shape), job.slots.size, algorithm, block)
    if key not in KNOWN:
        KNOWN[key] = collective_seconds(job, "alltoall", algorithm, block, **given)
    return KNOWN[key]


def gain(case: CastepCase, exchange: str):
    return lambda rates: step_seconds(case, "plain", rates) / step_seconds(case, exchange, rates)


def transposition_gain(case: CastepCase, exchange: str):
    """Gain in one transposition alone."""

    def predict(rates: KernelRates) -> float:
        steps = (each for each in case.call(rates).steps(0) if isinstance(each, CollectiveStep))
        step = next(each for each in steps if each.collective == "alltoall")
        plain, other = (exchange_seconds(job_on(HECTOR, case.nodes, CORES), step, each) for each in ("plain", exchange))
        return plain / other

    return predict


def alltoall_share(rates: KernelRates) -> float:
    """Share of the time of all ranks."""
    call = ONE_STEP.call(rates)
    found = study.predict(replay_question(call, job_on(HECTOR, "4x4x4", CORES), choices=[exchanged()]))
    inside = sum(site.seconds for site in found.sites if site.name.startswith("alltoall"))
    return inside / (found.seconds * call.ranks)


def exchanged(**parameters: int) -> JsonObject:
    return {"collective": "alltoall", "algorithm": ALL_AT_ONCE, "parameters": parameters}


def folded_gain(**parameters: int):
    """Against block order, in which Cray's SMP order has ranks."""

    def predict(rates: KernelRates) -> float:
        call = ONE_STEP.call(rates)
        job = job_on(HECTOR, "4x4x4", CORES)
        usual = replay_question(call, job, choices=[exchanged()]).seconds()
        return usual / replay_question(call, job, in_order(job, "folded"), [exchanged(**parameters)]).seconds()

    return predict


PARAMETERS = "share of the peak that lines reach: as measured (see Rates of kernels); all messages at once"
WAITS = (
    "The published profile has 18.8 % of waiting for other ranks beside the alltoallv; in the workload all ranks "
    "arrive together, so that messages are a smaller part of its time and a better exchange gains less."
)
NINTH = f"a ninth of al3x3's waves and grid, one k-point; {PARAMETERS}"
NO_SIZE = "Its numbers of plane waves, bands and k-points are not in the sources."
FIGURES = (
    PublishedFigure(
        "castep-alltoall-share",
        "alltoallv of al3x3, share of the time on 256 cores",
        "share",
        SOURCE,
        0.549,
        alltoall_share,
        PARAMETERS,
        WAITS,
        campaign="castep",
    ),
    PublishedFigure(
        "castep-al3x3-multicore",
        "al3x3 on 256 cores by leaders (1563.9 s / 1191.3 s)",
        "ratio",
        SOURCE,
        1563.9 / 1191.3,
        gain(AL3X3_256, "multicore"),
        PARAMETERS,
        WAITS,
        campaign="castep",
    ),
    PublishedFigure(
        "castep-al3x3-shm",
        "al3x3 on 256 cores by shared memory (1563.9 s / 1086.6 s)",
        "ratio",
        SOURCE,
        1563.9 / 1086.6,
        gain(AL3X3_256, "shm"),
        PARAMETERS,
        WAITS,
        campaign="castep",
    ),
    PublishedFigure(
        "castep-al1x1-multicore",
        "al1x1 on 32 cores by leaders (223.5 s / 157.3 s)",
        "ratio",
        SOURCE,
        223.5 / 157.3,
        gain(AL1X1_32, "multicore"),
        NINTH,
        WAITS,
        campaign="castep",
    ),
    PublishedFigure(
        "castep-al1x1-shm",
        "al1x1 on 32 cores by shared memory (223.5 s / 125.5 s)",
        "ratio",
        SOURCE,
        223.5 / 125.5,
        gain(AL1X1_32, "shm"),
        NINTH,
        WAITS,
        campaign="castep",
    ),
    PublishedFigure(
        "castep-al1x1-16-multicore",
        "al1x1 on 16 cores, transpositions alone by leaders (68.6 s / 115.8 s)",
        "ratio",
        SOURCE,
        68.6 / 115.8,
        transposition_gain(AL1X1_16, "multicore"),
        NINTH,
        "Most of the published 115.8 s is copying within nodes: gather and pack 17.5 s, unpack and scatter 58.9 s. The "
        "machine file has no figure for such copies.",
        campaign="castep",
    ),
    PublishedFigure(
        "castep-al3x3-folded",
        "al3x3 on 256 cores, folded order against block",
        "ratio",
        SOURCE,
        1.09,
        folded_gain(),
        PARAMETERS,
        "What block order lost on HECToR is not in the sources; by messages alone both orders are nearly equal here.",
        campaign="castep",
    ),
    PublishedFigure(
        "castep-al3x3-folded-window",
        "al3x3 on 256 cores, folded order and a window of one receive against block",
        "ratio",
        SOURCE,
        1.14,
        folded_gain(receive_window=1),
        PARAMETERS,
        "In a replay messages do not wait for receives, so a window of receives changes nothing. What block order and "
        "open receives cost on HECToR is not in the sources.",
        campaign="castep",
    ),
    PublishedFigure(
        "castep-tin-shm",
        "TiN-mp by shared memory on 32, 64 and 128 cores: 0.94, 0.87, 1.04",
        "ratio",
        SOURCE,
        reason=NO_SIZE,
        campaign="castep",
    ),
    PublishedFigure(
        "castep-tin-folded",
        "TiN-mp on 256 cores, folded order: 1.15, and with a window of one receive: 1.18",
        "ratio",
        SOURCE,
        reason=NO_SIZE,
        campaign="castep",
    ),
)
