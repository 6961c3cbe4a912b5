"""kumihimo.fft on the ranks of both MPI libraries, and without what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mpi4py_wheel
import pytest
from waiting import until

from kumihimo.fft import library
from kumihimo.processes import package_files

PROGRAM = Path(__file__).with_name("transforms.py")
DYING = Path(__file__).with_name("dying.py")

needs_mpi4py = pytest.mark.skipif(not mpi4py_wheel.is_here(), reason="no mpi4py beside this Python")


@pytest.mark.mpi
@needs_mpi4py
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_transforms_are_numpys(on_ranks, family: str) -> None:
    for ranks, ways in ((1, ["auto"]), (2, ["window", "fused"]), (3, ["packed"]), (4, ["overlapped"])):
        ended = on_ranks(ranks, sys.executable, PROGRAM, *ways)
        assert (ended.returncode, ended.stdout) == (0, "all right\n"), ended.stderr


@pytest.mark.mpi
@needs_mpi4py
@pytest.mark.parametrize("family", ["openmpi"])  # MPICH ends a rank when another has died
@pytest.mark.parametrize("variant", ["window", "fused"])
def test_a_rank_that_died_is_named(on_ranks, tmp_path: Path, family: str, variant: str) -> None:
    on_ranks(2, sys.executable, DYING, variant, told := tmp_path / "told")
    until(lambda: told.exists() and told.read_text(encoding="utf-8"), "rank 0 is told", seconds=60)
    assert told.read_text(encoding="utf-8").startswith("the process of rank 1 of the communicator has ended")


@pytest.mark.parametrize("absent", ["numpy", "mpi4py"])
def test_what_it_needs_is_one_sentence(absent: str) -> None:
    code = f"import sys; sys.modules[{absent!r}] = None; import kumihimo.fft; kumihimo.fft.PFFT"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("ImportError: kumihimo.fft needs numpy and mpi4py (")
    assert last.endswith("; install them: pip install numpy mpi4py")


def test_its_library_shows_its_functions_alone() -> None:
    path = package_files.library(library.NAME)
    shown = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in shown.stdout.splitlines()}
    assert names == {
        f"kumihimo_fft_{name}"
        for name in ("create_at", "local", "forward", "backward", "description", "destroy", "error")
    }
