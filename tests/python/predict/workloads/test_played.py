"""The program of a workload on real MPI: what comes is right, and wrong steps are found."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kumihimo.predict.workloads.catalogue import WORKLOADS
from kumihimo.processes import mpi

pytestmark = pytest.mark.mpi
SMALL = {
    "rsdft": ("orbitals=64", "block=8", "points=32768"),
    "hpl": ("n=512", "nb=32"),
    "gamess": ("functions=60", "units=8"),
    "npb-ft": ("nx=32", "ny=32", "nz=32"),
    "global-fft": ("points=32768",),
    "castep": ("bands=2",),
    "geofem": ("side=20",),
}


def compiled(installation: mpi.Installation, folder: Path) -> Path:
    near = installation.launcher.parent
    wrappers = [near / f"mpicc.{installation.family}", near / "mpicc"]
    wrapper = next((each for each in wrappers if each.is_file()), None)
    if wrapper is None:
        pytest.skip(f"no compiler of {installation.family}")
    subprocess.run([wrapper, "-Wall", "-Werror", "-O1", "-o", folder / "play", folder / "play.c"], check=True)
    return folder / "play"


def play(installation: mpi.Installation, program: Path, ranks: int) -> subprocess.CompletedProcess:
    command = [*installation.arguments(ranks), program, program.with_name("steps")]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_all_workloads_play(installation: mpi.Installation, kumihimo, tmp_path: Path) -> None:
    program = None
    for workload in WORKLOADS:
        numbers = [word for number in ("rate=1e15", *SMALL.get(workload.name, ())) for word in ("--set", number)]
        ended = kumihimo("workload", workload.name, "--ranks", "4", "--program", "w", *numbers)
        assert ended.code == 0 and "mpirun -n 4 w/play w/steps" in ended.out, ended.err
        program = program or compiled(installation, tmp_path / "w")
        played = play(installation, program, 4)
        assert "s on 4 ranks, all messages right" in played.stdout, (workload.name, played.stdout, played.stderr)


@pytest.mark.parametrize("family", ["openmpi"])
def test_wrong_steps_are_found(installation: mpi.Installation, kumihimo, tmp_path: Path) -> None:
    asked = ("workload", "lans", "--ranks", "2", "--set", "rate=1e15", "--set", "cells=1000", "--program", "w")
    assert kumihimo(*asked).code == 0
    program = compiled(installation, tmp_path / "w")
    steps = tmp_path / "w" / "steps" / "1"
    right = steps.read_text()
    line = next(line for line in right.splitlines() if line.startswith("x"))
    partner, sent = line.split()[2:4]
    for wrong, what in (
        (line.replace(f"{partner} {sent}", f"{partner} {int(sent) // 2}"), "a message has another length"),
        ("x 1 0 8", "a step is cut off"),
    ):
        steps.write_text(right.replace(line, wrong))
        played = play(installation, program, 2)
        assert played.returncode != 0 and what in played.stderr, played.stderr
    steps.write_text(right)
    played = play(installation, program, 3)
    assert played.returncode != 0 and "run with as many ranks as they are of" in played.stderr
