"""Times that a small machine would have."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_machine import MACHINE, TRUTH

from kumihimo import _machine
from kumihimo.predict.calibrate import cases, fitting, numbers

ALGORITHMS = (
    *(("bcast", name) for name in ("binomial", "trinaryx3", "chain", "linear")),
    *(("reduce", name) for name in ("binomial", "trinaryx3", "linear")),
    *(("allreduce", name) for name in ("ring", "recursive_doubling", "trinaryx3")),
)
SHAPES = ("2x2x2", "4x2x2", "4x4x4")
SIZES = (8, 2048, 65536, 2**20)


def true_text() -> str:
    known = numbers.read(fitting.parsed(MACHINE, Path("small.toml")))
    return numbers.with_values(MACHINE, {known[key]: value for key, value in TRUTH.items()})


@pytest.fixture(scope="session")
def true_times() -> list[cases.TimedCase]:
    """Of the machine with the numbers of TRUTH."""
    every = [
        cases.TimedCase(
            f"times.csv:{line}",
            {"collective": collective, "algorithm": algorithm, "shape": shape, "bytes": size},
            1.0,
            {},
        )
        for line, (collective, algorithm, shape, size) in enumerate(
            ((*each, shape, size) for each in ALGORITHMS for shape in SHAPES for size in SIZES), start=2
        )
    ]
    machine = _machine.parse(true_text(), "true.toml")
    predictor = cases.Predictor(every, machine)
    for case, seconds in zip(predictor.cases, predictor.seconds(machine, predictor.cases)):
        case.seconds = seconds
    return predictor.cases
