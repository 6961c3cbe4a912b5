"""What a job leaves on the machine that is killed before its processes have all come: nothing of ours."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kumihimo.processes import mpi
from kumihimo.run import preload

# One process begins MPI, and the other, which has seen what that makes, never does.
KILLED = """
import ctypes, os, pathlib, signal, sys, time
library, told = sys.argv[1:]
if "0" in (os.environ.get("PMI_RANK"), os.environ.get("OMPI_COMM_WORLD_RANK")):
    ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
    names = ctypes.CDLL(None)
    names.MPI_Init(None, None)
    time.sleep(60)
mark, lists = os.environ["KUMIHIMO_MARK"], []
for _ in range(500):
    time.sleep(0.02)
    lists = lists or [p.name for p in pathlib.Path("/dev/shm").glob("kumihimo-*") if mark in p.name]
    if lists:
        break
pathlib.Path(told).write_text(" ".join([mark, *lists]))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["mpich", "openmpi"])
@pytest.mark.parametrize("object_of_ours", [preload.INTERPOSER, preload.RECORDER])
def test_a_job_that_is_killed_leaves_no_list(tmp_path: Path, family: str, object_of_ours: str) -> None:
    installation = next((i for i in mpi.discover() if i.family == family), None)
    if installation is None or not Path("/dev/shm").is_dir():
        pytest.skip(f"no {family} on this machine, or no /dev/shm")
    program, told = tmp_path / "program.py", tmp_path / "told"
    program.write_text(KILLED, encoding="utf-8")
    words = [sys.executable, str(program), str(installation.library), str(told)]
    settings = {"RECORD": str(tmp_path / "profile")} if object_of_ours == preload.RECORDER else {}
    assert preload.run([*installation.arguments(2), *words], settings, (object_of_ours,)).code != 0
    mark, *lists = told.read_text(encoding="utf-8").split()
    assert lists, "there was one"
    assert [p for p in Path("/dev/shm").glob("kumihimo-*") if mark in p.name] == []
