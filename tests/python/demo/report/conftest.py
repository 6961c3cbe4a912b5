"""Material for pages, made by the code itself: a small simulated experiment, and a few real runs."""

from __future__ import annotations

import fcntl
import os

import pytest

from kumihimo.demo import experiment
from kumihimo.demo.experiment import real_runs
from kumihimo.demo.report import Material
from kumihimo.processes import mpi
from kumihimo.text.documents import read_json
from kumihimo.text.errors import KumihimoError
from kumihimo.text.odd_bytes import to_json
from kumihimo.tune.bench import tuned

# The least that has every part: a short and two longer lengths.
SHORT = tuned.CaseEffort(0.001, 0.001, 0.001, 0.002, launches=9)
EFFORT = real_runs.ExperimentEffort([8, 1 << 16, 1 << 18], [1 << 16], 0.003, SHORT)


@pytest.fixture(scope="session")
def simulated() -> dict:
    return experiment.run(paper_shape="4x3x2", full_shape="4x4x3", command="kumihimo demo --quick")


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Half a minute of measurement, once for all workers of pytest."""
    try:
        installation = mpi.choose()
    except KumihimoError as lacking:
        pytest.skip(str(lacking))
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of all workers
    path = folder / "measured.json"
    with (folder / "measured.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.write_text(to_json(real_runs.measure(installation, effort=EFFORT)), encoding="utf-8")
    return read_json(path.read_text(encoding="utf-8"))


@pytest.fixture
def half(simulated: dict) -> Material:
    return Material(simulated=simulated)


@pytest.fixture
def whole(simulated: dict, measured: dict) -> Material:
    return Material(measured, simulated)
