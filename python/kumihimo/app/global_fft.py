"""The Global FFT of HPC Challenge on the ranks of a machine: a complex transform in one dimension by six steps, which
has three transpositions of all points between all ranks, and lines between them."""

from __future__ import annotations

from math import log2

from kumihimo import _collectives, _machine, _predict, _schedule
from kumihimo.collectives import arguments
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting

TRANSPOSITIONS = 3
POINT_NUMBERS = 2  # doubles


def predicted(points: int, exchange: str, flops: float, job: _machine.Job, model: str) -> dict:
    """`flops`: rate of lines of a rank."""
    ranks = job.rank_space.ranks
    collective = _schedule.Collective("alltoall", ranks, max(1, POINT_NUMBERS * points // ranks**2))
    variant = _collectives.find("alltoall", exchange)
    subject = _predict.CollectiveCase(collective, variant, arguments.parameters())
    transposition = Setting(model, job).predict(subject).seconds
    work = 5 * points * log2(points)
    computing = work / ranks / flops
    seconds = computing + TRANSPOSITIONS * transposition
    return {
        "application": "fft3d",
        "ranks": ranks,
        "points": points,
        "exchange": exchange,
        "seconds": seconds,
        "gflops": work * 1e-9 / seconds,
        "computing_seconds": computing,
        "transposition_seconds": transposition,
        "machine": job.machine.name,
        "shape": simulation.shape_of(job.machine),
        "model": model,
    }
