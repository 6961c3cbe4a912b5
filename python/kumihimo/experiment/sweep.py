"""The curves: every algorithm over the sizes of the paper on its job of K, and over fewer on the whole machine."""

from __future__ import annotations

from kumihimo import _machine, simulation
from kumihimo.experiment.cases import Progress, Wanted, predict_all

SMALLEST, LARGEST = 16, 2**30
# Between neighbouring sizes. Extensions have more lanes, cost more to simulate, and get fewer sizes.
FACTOR, FACTOR_OF_EXTENSIONS, FACTOR_FULL = 4, 64, 256


def sizes(factor: int) -> list[int]:
    """From 1 GiB down to 16 B, 1 GiB always among them: the largest first."""
    found = [LARGEST]
    while found[-1] // factor >= SMALLEST:
        found.append(found[-1] // factor)
    return found


def curves(machine: _machine.Machine, progress: Progress, factor: int, factor_of_extensions: int | None) -> list[dict]:
    """Allreduce with every algorithm that fits, at its defaults; without our own extensions where these have no
    factor."""
    wanted = [
        Wanted(machine, variant.name, size)
        for variant in simulation.variants("allreduce", simulation.ALL)
        if (each := factor_of_extensions if variant.extension else factor) is not None
        for size in sizes(each)
    ]
    return predict_all(f"{machine.shape} of {machine.name}", wanted, progress)
