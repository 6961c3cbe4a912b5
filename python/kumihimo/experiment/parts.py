"""Where the time goes: reduce, bcast and allreduce of the paper's algorithm, with and without SIMD in the sums."""

from __future__ import annotations

from kumihimo import _machine
from kumihimo.experiment.cases import Progress, Wanted, predict_all
from kumihimo.experiment.published import SUBJECT

BYTES = 2**30


def parts(machine: _machine.Machine, progress: Progress) -> list[dict]:
    """Six predictions, each with its phases and computing shares."""
    wanted = [
        Wanted(machine, SUBJECT, BYTES, collective=collective, simd=simd)
        for collective in ("bcast", "reduce", "allreduce")
        for simd in (True, False)
    ]
    return predict_all("reduce and broadcast apart", wanted, progress)
