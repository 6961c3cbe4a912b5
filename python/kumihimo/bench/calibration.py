"""This machine as a described one: what hwloc says of it, and what a short run on two MPI processes measured."""

from __future__ import annotations

from kumihimo import _collectives, _machine, mpi
from kumihimo.bench.job import Launcher, run_task


def this_machine(installation: mpi.Installation | None = None, ranks: int | None = None) -> _machine.Machine:
    """Measured now, in about two seconds. `ranks`: processes of a job on it; by default one a processor."""
    installation = installation or mpi.choose()
    run = run_task({"task": "calibrate"}, [], Launcher(2, installation, seconds=60))
    found = {name: float(f"{value:.4g}") for name, value in run.calibration.items()}
    calibration = _machine.Calibration(
        f"calibration on 2 processes, {run.about['mpi'].split(', package')[0]}",
        ranks or mpi.available_processors(),
        segment_bytes=_collectives.REAL_SEGMENT_BYTES,
        **found,
    )
    return _machine.this_machine(_machine.discover_host(), calibration)
