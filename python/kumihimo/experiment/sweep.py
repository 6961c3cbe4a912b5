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


def on_paper_shape(machine: _machine.Machine, progress: Progress) -> list[dict]:
    """Allreduce with every algorithm that fits, at its defaults."""
    wanted = [
        Wanted(machine, variant.name, size)
        for variant in simulation.variants("allreduce", simulation.ALL)
        for size in sizes(FACTOR_OF_EXTENSIONS if variant.extension else FACTOR)
    ]
    return predict_all(f"{machine.shape} of {machine.name}", wanted, progress)


def on_full_machine(machine: _machine.Machine, progress: Progress) -> list[dict]:
    """The same without our own extensions."""
    wanted = [
        Wanted(machine, variant.name, size)
        for variant in simulation.variants("allreduce", simulation.ALL)
        for size in sizes(FACTOR_FULL)
        if not variant.extension
    ]
    return predict_all(f"{machine.shape} of {machine.name}", wanted, progress)
