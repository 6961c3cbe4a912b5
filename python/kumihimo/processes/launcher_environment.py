"""Where this process stands among those of its launch, when a launcher started the command itself, on every rank.

Imports nothing of the package: the command asks before it knows what is built.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

# Variables of rank and size, by who sets them, and the family of MPI libraries that goes with it.
LAUNCHED = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi"),
    ("PMI_RANK", "PMI_SIZE", "mpich"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", None),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE", None),
)


@dataclass(frozen=True)
class LaunchPlace:
    """This process among those of its launch."""

    rank: int
    ranks: int
    family: str | None


def place() -> LaunchPlace | None:
    """Where this process stands, or None if it was started alone. The shell of `srun --pty` or of an interactive step
    of `salloc` is a step of one task, in which users start programs as anywhere."""
    for rank, size, family in LAUNCHED:
        if rank in os.environ and size in os.environ:
            with contextlib.suppress(ValueError):  # not what a launcher writes
                found = LaunchPlace(int(os.environ[rank]), int(os.environ[size]), family)
                if family == "mpich" and is_of_flux(found):
                    return LaunchPlace(found.rank, found.ranks, None)
                is_shell = found.ranks == 1 and size.startswith(("SLURM", "PMI")) and "SLURM_STEP_ID" in os.environ
                return None if is_shell else found
    return None


def is_of_flux(found: LaunchPlace) -> bool:
    """Flux's own PMI has MPICH's variables, with whatever MPI library the ranks have."""
    try:
        return (found.rank, found.ranks) == (int(os.environ["FLUX_TASK_RANK"]), int(os.environ["FLUX_JOB_SIZE"]))
    except (KeyError, ValueError):
        return False


def is_first() -> bool:
    """Whether this process tells what all of its launch would tell alike: its first rank, or one started alone."""
    mine = place()
    return mine is None or mine.rank == 0
