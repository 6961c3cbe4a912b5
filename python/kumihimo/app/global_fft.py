"""The Global FFT of HPC Challenge on the ranks of a machine: a complex transform in one dimension by six steps, which
has three transpositions of all points between all ranks, and lines between them. Each transposition packs the points of
a rank for an alltoall and unpacks them behind it: two copies at the speed of memory (D. Takahashi and Y. Kanada, "High-
performance radix-2, 3 and 5 parallel 1-D complex FFT algorithms for distributed-memory parallel computers", J.
Supercomputing 15 (2000), section 3; FFTE, which HPC Challenge has)."""

from __future__ import annotations

from math import log2

from kumihimo import _collectives, _machine, _predict, _schedule
from kumihimo.app.fft_question import FFT, MOST_POINTS
from kumihimo.collectives import arguments
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.text.json_types import JsonObject

TRANSPOSITIONS = 3
COPIES = 2  # of all points of a rank, beside the alltoall of a transposition
POINT_NUMBERS = 2  # doubles
POINT_BYTES = 16


def copying_seconds(points: int, job: _machine.Job) -> float:
    """Seconds of the copies of one transposition: each copy reads and writes all points of a node, which its ranks
    share. 0: the machine file has no bandwidth of memory.
    """
    _, bandwidth = job.machine.compute_rates
    of_node = points / job.rank_space.ranks * max(job.slots.sizes)
    return COPIES * 2 * POINT_BYTES * of_node / bandwidth if bandwidth else 0.0


def predicted(points: int, exchange: str, flops: float, job: _machine.Job, model: str) -> JsonObject:
    """`flops`: rate of lines of a rank, which are as long as the root of all points."""
    ranks = job.rank_space.ranks
    collective = _schedule.Collective("alltoall", ranks, max(1, POINT_NUMBERS * points // ranks**2))
    variant = _collectives.find("alltoall", exchange)
    subject = _predict.CollectiveCase(collective, variant, arguments.parameters())
    transposition = Setting(model, job).predict(subject).seconds
    work = 5 * points * log2(points)
    computing = work / ranks / flops
    copying = copying_seconds(points, job)
    seconds = computing + TRANSPOSITIONS * (transposition + copying)
    return {
        "application": FFT,
        "ranks": ranks,
        "points": points,
        "exchange": exchange,
        "seconds": seconds,
        "gflops": work * 1e-9 / seconds,
        "computing_seconds": computing,
        "transposition_seconds": transposition,
        "copying_seconds": copying,
        "machine": job.machine.name,
        "shape": simulation.shape_of(job.machine),
        "model": model,
    }


def assumed(speed_text: str) -> list[str]:
    """Assumptions of the time beside measurements."""
    return [
        f"{speed_text}, and each rank has one thread",
        f"lines run as fast as the longest that {FFT} takes, of {MOST_POINTS} points, which outgrow the cache",
        "each transposition copies all points twice, at the bandwidth of the machine file",
        "lines, copies and messages take turns: nothing overlaps",
    ]
