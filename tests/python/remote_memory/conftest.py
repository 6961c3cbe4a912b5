"""What compiles programs with kumihimo/remote_memory.h and runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

from kumihimo.processes import mpi, package_files
from kumihimo.remote_memory import library
from kumihimo.text.errors import Failed


@pytest.fixture(scope="session", autouse=True)
def _library():
    try:
        package_files.library(library.NAME)
    except Failed as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def options() -> list[str]:
    """As the documentation says: $(python3 -m kumihimo.remote_memory)."""
    line = [sys.executable, "-m", "kumihimo.remote_memory"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture
def on_ranks(installation: mpi.Installation, tmp_path: Path):
    """on_ranks(2, program, argument ...): the ended launch in an empty folder."""

    def run(ranks: int, *words: object) -> subprocess.CompletedProcess:
        environment = {**os.environ, **installation.environment(ranks), "OMP_NUM_THREADS": "1"}
        line = [*installation.arguments(ranks), *map(str, words)]
        limits = {"timeout": 120 * PATIENCE, "check": False, "cwd": tmp_path, "env": environment}
        return subprocess.run(line, capture_output=True, text=True, **limits)

    return run
