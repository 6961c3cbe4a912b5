"""What tests of users' kernels share: a file of kernels as a program, tuned in this process with synthetic times."""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest
from kernel_sessions import InProcess

from kumihimo.kernel import declaration, programs, tuning
from kumihimo.tune.launches import BudgetClock


@pytest.fixture(autouse=True)
def _no_other_kernels(monkeypatch):
    monkeypatch.setattr(declaration, "declared", {})


@pytest.fixture
def tuned():
    """Tunes the declared kernels: tuned(cost, sizes=(), strategy="") -> programs.Found."""

    def run(cost, sizes=(), strategy="exhaustive", seconds=60.0, session=None) -> programs.TunedKernels:
        session = session or InProcess(cost)
        listing = session.listing()
        found = programs.TunedKernels()
        made = {"command": "test"}
        programs.tune(
            session,
            listing,
            listing["kernels"],
            sizes,
            strategy,
            BudgetClock(seconds),
            lambda: made,
            lambda what: None,
            found,
        )
        return found

    return run


@pytest.fixture
def short_limits(monkeypatch):
    monkeypatch.setattr(tuning, "LIMIT_SECONDS", 0.3)


@pytest.fixture
def file_of(tmp_path):
    """A Python file of kernels."""

    def write(text: str, name: str = "kernels.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def include(repository) -> Path:
    return repository / "include"


@pytest.fixture(scope="session")
def compile_cpp(include):
    """compile_cpp(source, program): a C++17 program, without warnings."""

    def run(source: Path, program: Path, *flags: str) -> Path:
        compiler = shutil.which("g++") or shutil.which("c++")
        words = [compiler, "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{include}", *flags]
        done = subprocess.run([*words, str(source), "-o", str(program)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return program

    return run
