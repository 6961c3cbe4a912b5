"""Material for pages, made by the code itself: a small simulated experiment, and a few real runs."""

from __future__ import annotations

import pytest

from kumihimo.demo import experiment
from kumihimo.demo.experiment import real_runs
from kumihimo.demo.report import Material
from kumihimo.processes import mpi
from kumihimo.text.errors import KumihimoError
from kumihimo.tune.bench import tuned

# The least that has every part: a short and two longer lengths.
SHORT = tuned.CaseEffort(0.001, 0.001, 0.001, 0.002, launches=9)
EFFORT = real_runs.ExperimentEffort([8, 1 << 16, 1 << 18], [1 << 16], 0.003, SHORT)


@pytest.fixture(scope="session")
def simulated() -> dict:
    return experiment.run(paper_shape="4x3x2", full_shape="4x4x3", command="kumihimo demo --quick")


@pytest.fixture(scope="session")
def measured() -> dict:
    try:
        installation = mpi.choose()
    except KumihimoError as lacking:
        pytest.skip(str(lacking))
    return real_runs.measure(installation, effort=EFFORT)


@pytest.fixture
def half(simulated: dict) -> Material:
    return Material(simulated=simulated)


@pytest.fixture
def whole(simulated: dict, measured: dict) -> Material:
    return Material(measured, simulated)
