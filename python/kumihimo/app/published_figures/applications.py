"""Whole applications: HPL, Global FFT, a machine of unequal nodes, GeoFEM, and allreduce within RSDFT."""

from __future__ import annotations

import json
from math import sqrt

from kumihimo.app import catalogue, global_fft, hybrid_machine, lu_prediction, prediction, published
from kumihimo.app.hybrid_machine import HybridMachine
from kumihimo.app.lu_prediction import LuQuestion
from kumihimo.app.published import PublishedCase
from kumihimo.app.published_figures.figure import PublishedFigure
from kumihimo.app.published_figures.kernel_rates import BLOCK, KernelRates, collective_seconds, job_on, machine
from kumihimo.demo.experiment.published import PAPER_SHAPE as K_SHAPE
from kumihimo.text.quantities import bytes_text, seconds_text, share_text

OTHER = "The share of the peak that DGEMM reaches is that of another processor and library."
SHARE = "share of the peak that kernels reach: as measured (see Rates of kernels)"
REEDBUSH, REEDBUSH_NODES, REEDBUSH_NODE_FLOPS = "reedbush-u", 420, 1149.6e9


def case_of(name: str) -> PublishedCase:
    return next(each for each in published.CASES if each.name == name)


def k_hpl(rates: KernelRates) -> float:
    case = case_of("k-hpl")
    job = job_on(case.machine, case.shape, None)
    asked = lu_prediction.question(case.size, catalogue.settings_of(list(case.settings)))
    speed = rates.speed_of(job).speed
    return lu_prediction.predicted(asked, rates.lu, job, "flow", [speed], case.ranks)["gflops"] * 1e9


def k_global_fft(rates: KernelRates) -> float:
    case = case_of("k-global-fft")
    job = job_on(case.machine, case.shape, None)
    exchange = catalogue.settings_of(list(case.settings))["exchange"]
    flops = rates.long_lines.flops * rates.speed_of(job).speed
    return global_fft.predicted(published.points_of(case), exchange, flops, job, "flow")["gflops"] * 1e9


def hybrid(rates: KernelRates) -> float:
    case = case_of("hybrid")
    (nodes,) = hybrid_machine.nodes_of(catalogue.settings_of(list(case.settings))["nodes"])
    return HybridMachine(machine(case.machine), rates.lu).result(nodes)["gflops"] * 1e9


def reedbush_hpl(rates: KernelRates) -> float:
    """Updates are as fast as HPL alone is on a node; 80 % of the memory."""
    job = job_on(REEDBUSH, str(REEDBUSH_NODES))
    rows = int(sqrt(0.8 * memory_bytes(REEDBUSH) * REEDBUSH_NODES / 8)) // BLOCK * BLOCK
    asked = LuQuestion(rows, BLOCK, None)
    speed = REEDBUSH_NODE_FLOPS / rates.lu.updates
    return lu_prediction.predicted(asked, rates.lu, job, "flow", [speed])["gflops"] * 1e9


def memory_bytes(name: str) -> int:
    return json.loads(machine(name).to_json())["node"]["memory_bytes"]["value"]


def length_of_rate(_: KernelRates) -> str:
    """From which vectors on the model reaches 3.2 GB/s."""
    job, rate = job_on("k-computer", K_SHAPE), 3.2e9
    reached = (n for n in range(20, 31) if 2 * 2**n / collective_seconds(job, "allreduce", "trinaryx3", 2**n) >= rate)
    found = next(reached, None)
    since = "at no length up to 1 GiB" if found is None else f"from vectors of {bytes_text(2**found)} on"
    return f"On {job.slots.nodes:,} nodes the model reaches this rate {since} (powers of two)."


def geofem_iteration(_: KernelRates) -> str:
    asked = prediction.IterationRequest("fem_cube", cells=(200, 200, 200), grid=(14, 10, 6))
    found = prediction.predicted(asked, "cg", job_on(REEDBUSH, str(REEDBUSH_NODES), 2))
    messages = found["halo_seconds"] + found["reductions_seconds"]
    share = share_text(messages / found["seconds"])
    return (
        f"Predicted: {seconds_text(found['seconds'])}, and messages would take {share} of that alone, so that "
        "libraries hardly differ."
    )


def of_case(
    name: str, what: str, predict=None, assumed: str = "", reason: str = "", fitted: str = ""
) -> PublishedFigure:
    """A case of `simulate app`."""
    case = case_of(name)
    value = None if case.figure is None else case.figure * 1e9
    return PublishedFigure(name, what, "flop/s", case.source, value, predict, assumed, reason, fitted=fitted)


PATTERN_ALONE = "Only its pattern or the numbers of its nodes were published, not its rate or time."
FIGURES = (
    of_case(
        "k-hpl",
        "HPL on 88,128 nodes of K",
        k_hpl,
        f"80 % of the memory; {SHARE}",
        OTHER,
    ),
    of_case(
        "k-global-fft",
        "Global FFT of HPC Challenge on K",
        k_global_fft,
        f"18,432 nodes, 2^42 points; {SHARE}",
        "An alltoall whose messages go all at once loses nothing by their meeting here. That of K at the time reached "
        "50 to 60 % of the theoretical bound (overview of K, 2012). Its nodes and points are not in the source.",
    ),
    of_case(
        "hybrid",
        "HPL on 16 nodes with GPUs and 64 without",
        hybrid,
        "the network of the machine; panels cost beside updates what was measured (see Rates of kernels); "
        + hybrid_machine.PEAK_EXCEEDED,
        OTHER,
        fitted="rates of updates, to HPL on either kind of nodes alone",
    ),
    *(
        of_case(case.name, case.summary, reason=PATTERN_ALONE)
        for case in published.CASES
        if case.figure is None and case.name != "hybrid"
    ),
    PublishedFigure(
        "reedbush-hpl",
        "HPL on 420 nodes of Reedbush-U",
        "flop/s",
        "Hanawa et al., evaluation of Reedbush-U, 2016: 87.8 % of the peak",
        446.3e12,
        reedbush_hpl,
        "updates as fast as HPL on one node, 1,149.6 GFLOPS (published); 80 % of the memory; panels cost beside "
        "updates what was measured (see Rates of kernels)",
        fitted="rate of updates, to HPL on one node",
    ),
    PublishedFigure(
        "rsdft-allreduce",
        "allreduce by trinaryx3 within RSDFT on K: 3.2 GB/s",
        "bytes/s",
        "K computer overview talks 2012",
        3.2e9,
        reason="Neither the length of its vectors nor the ranks of its communicators are in the sources, and the rate "
        "depends on them.",
        remark=length_of_rate,
        campaign="rsdft",
    ),
    PublishedFigure(
        "geofem-iteration",
        "iteration of conjugate gradients, 840 processes of Reedbush-U, four MPI libraries: nearly equal",
        "s",
        "GeoFEM/Cube on Reedbush-U",
        reason="The times are not in the sources at hand.",
        remark=geofem_iteration,
        campaign="geofem",
    ),
    PublishedFigure(
        "reedbush-hpcg",
        "HPCG on 420 nodes of Reedbush-U: 8,457.78 GFLOPS",
        "flop/s",
        "Hanawa et al., evaluation of Reedbush-U, 2016",
        8457.78e9,
        reason="No prediction here has HPCG's multigrid on ranks.",
    ),
)
