"""What runs programs of transforms on ranks."""

from __future__ import annotations

import ctypes.util
import os
import subprocess
from pathlib import Path

import mpi4py_wheel
import pytest

from kumihimo.processes import mpi


@pytest.fixture(scope="session", autouse=True)
def _fftw():
    if not any(ctypes.util.find_library(name) for name in ("fftw3", "mkl_rt")):
        pytest.skip("no FFTW is here")


@pytest.fixture
def on_ranks(installation: mpi.Installation, tmp_path: Path):
    """on_ranks(2, program, argument ...): the ended launch in an empty folder."""

    def run(ranks: int, *words: object, **settings: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, **mpi4py_wheel.environment(installation, tmp_path), "OMP_NUM_THREADS": "1"}
        line = [*installation.arguments(ranks), *map(str, words)]
        options = {"cwd": tmp_path, "env": {**environment, **settings}}
        return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, **options)

    return run
