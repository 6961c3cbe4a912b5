"""This machine as a described one: what hwloc says of it, and what a short run on two MPI processes measured."""

from __future__ import annotations

from kumihimo import _machine
from kumihimo.processes import mpi
from kumihimo.tune.bench import measured
from kumihimo.tune.bench.job import Launcher


def this_machine(installation: mpi.Installation | None = None, ranks: int | None = None) -> _machine.Machine:
    """Measured now, in about two seconds. `ranks`: processes of a job on it; by default one a processor."""
    found = measured.measure(Launcher(2, installation or mpi.choose(), seconds=60), ["engine"])
    return measured.described(found, f"calibration on 2 processes, {found.mpi}", ranks)
