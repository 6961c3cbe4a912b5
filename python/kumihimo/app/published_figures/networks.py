"""Placement on K, and collectives of Blue Waters, Intrepid and Reedbush-U."""

from __future__ import annotations

from statistics import median

from kumihimo.app.published_figures.figure import PublishedFigure
from kumihimo.app.published_figures.kernel_rates import (
    KernelRates,
    collective_seconds,
    job_on,
    machine,
    replay_question,
)
from kumihimo.mapping import request
from kumihimo.network.placement import Placed
from kumihimo.predict.simulation import PartOfMachine
from kumihimo.predict.workloads import catalogue

CG, CG_RANKS, CG_SHAPE, CG_STEPS = "workload:npb-cg", 1024, "32x32", 75
RMATT = "RMATT, HPCS 2012: NPB CG class B on 1,024 nodes of K, 1.33 s to 1.24 s"
# Of two nodes a router, 16 ranks a node.
BLUE_WATERS_SHAPES = {128: "2x2x1x2", 256: "2x2x2x2"}
SHORT = [2**n for n in range(3, 14)]  # 8 B to 8 KiB
NCSA = "collectives on Blue Waters, 64 to 131,072 processes"


def cg_seconds(placed: Placed | None) -> float:
    job = job_on("k-computer", CG_SHAPE)
    return CG_STEPS * replay_question(catalogue.asked(CG, CG_RANKS), job, placed).seconds()


def cg_block(_: KernelRates) -> float:
    return cg_seconds(None)


def cg_gain(_: KernelRates) -> float:
    """Gain by the placement that `place` finds."""
    on = request.network(machine("k-computer"), CG_SHAPE, PartOfMachine(), None, None)
    found = request.PlaceRequest(request.traffic_on(CG, on), on).start()
    while not found.wait(1.0):
        pass
    return cg_seconds(None) / cg_seconds(Placed("placed", found.result().placement))


def doubling(_: KernelRates) -> float:
    """Median over short messages."""
    few, many = (job_on("blue-waters", shape, 16) for shape in BLUE_WATERS_SHAPES.values())
    return median(
        collective_seconds(many, "bcast", "binomial", size) / collective_seconds(few, "bcast", "binomial", size)
        for size in SHORT
    )


def intrepid_allreduce(_: KernelRates) -> float:
    size = 64 * 2**20
    return 2 * size / collective_seconds(job_on("intrepid", "32x32x16"), "allreduce", "trinaryx3", size)


def offload_ratio(_: KernelRates) -> float:
    job = job_on("reedbush-u", "420")
    software, engine = (collective_seconds(job, "allreduce", name, 64) for name in ("binomial", "offloaded"))
    return software / engine


def offload_seconds(_: KernelRates) -> float:
    return collective_seconds(job_on("reedbush-u", "420"), "allreduce", "offloaded", 64)


FIGURES = (
    PublishedFigure(
        "rmatt-cg-seconds",
        "NPB CG class B on 32x32 nodes of K, usual order",
        "s",
        RMATT,
        1.33,
        cg_block,
        "one core of a node at 5 % of its peak",
        "The costs of a message in that library of 2011 and the rate of a core in CG are not in the sources; the "
        "machine file has the costs of RDMA puts within collectives.",
        campaign="rmatt",
    ),
    PublishedFigure(
        "rmatt-cg-gain",
        "NPB CG class B on 32x32 nodes of K, gain by placement",
        "ratio",
        RMATT,
        1.33 / 1.24,
        cg_gain,
        "the placement that `place` finds; one core of a node at 5 % of its peak",
        campaign="rmatt",
    ),
    PublishedFigure(
        "rmatt-cg-8192",
        "NPB CG class D on 128x64 nodes of K",
        "ratio",
        RMATT,
        reason="Its times are not in the sources at hand.",
        campaign="rmatt",
    ),
    PublishedFigure(
        "blue-waters-bcast-step",
        "time of bcast on 256 processes against 128",
        "ratio",
        NCSA,
        2.0,
        doubling,
        "short messages (median of 8 B to 8 KiB), binomial trees as MPICH's",
        "A binomial tree grows by one level in seven. What Cray's library ran on either side of the step is not "
        "published; the campaign blue-waters has the choices of three other libraries.",
        campaign="blue-waters",
    ),
    PublishedFigure(
        "blue-waters-spikes",
        "spikes at 256 B above 1,000 processes and at 8 KB from 16,000 on",
        "ratio",
        NCSA,
        reason="Their heights are not in the sources, and what Cray's library chooses at these sizes is not published.",
        campaign="blue-waters",
    ),
    PublishedFigure(
        "intrepid-allreduce",
        "allreduce by three trees on 16,384 nodes of Blue Gene/P",
        "bytes/s",
        "edge-disjoint fences on Blue Gene/P: 740 MB/s (2 x bytes / time), 29 % of the peak",
        740e6,
        intrepid_allreduce,
        "64 MiB, segments of 16 KiB",
    ),
    PublishedFigure(
        "reedbush-offload-ratio",
        "allreduce of at most 64 B on 420 nodes: slowest library against in-network reduction, about",
        "ratio",
        "Hanawa et al., evaluation of Reedbush-U, 2016",
        4.0,
        offload_ratio,
        "the slowest library reduces and broadcasts by binomial trees",
        fitted="latency of in-network reduction, to 6 us",
        campaign="reedbush",
    ),
    PublishedFigure(
        "reedbush-offload-seconds",
        "allreduce of at most 64 B on 420 nodes by in-network reduction, about",
        "s",
        "Hanawa et al., evaluation of Reedbush-U, 2016",
        6e-6,
        offload_seconds,
        is_input=True,
    ),
    PublishedFigure(
        "reedbush-libraries",
        "allreduce of four libraries by size: best at 128 B and 1 KiB, rates of 40 and 76 %, dips at 64 and 128 KB",
        "ratio",
        "Hanawa et al., evaluation of Reedbush-U, 2016",
        reason="Which algorithm each library runs at which size is not published.",
        campaign="reedbush",
    ),
)
