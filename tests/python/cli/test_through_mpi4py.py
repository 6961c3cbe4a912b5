"""`kumihimo run` and `record` of a program on mpi4py, which begins MPI by MPI_Init_thread and calls the forms with
large counts where the library has them: the same wheel on Open MPI and on MPICH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import mpi4py_wheel
import pytest

from kumihimo.processes import mpi

COMMAND = Path(sys.executable).parent / "kumihimo"
PROGRAM = Path(__file__).with_name("through_mpi4py.py")
ALGORITHMS = {
    "barrier": "dissemination",
    "bcast": "binomial",
    "reduce": "binomial",
    "allreduce": "ring",
    "scan": "recursive_doubling",
    "exscan": "recursive_doubling",
    "gather": "binomial",
    "scatter": "binomial",
    "allgather": "ring",
    "reduce_scatter": "ring",
    "alltoall": "linear",
}
NONBLOCKING = {f"i{kind}": ALGORITHMS[kind] for kind in ("allreduce", "bcast", "barrier")}

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not mpi4py_wheel.is_here(), reason="no mpi4py beside this Python; make test installs it"),
]


class Launch:
    """The program on two ranks of a library, in an empty folder."""

    def __init__(self, installation: mpi.Installation, folder: Path) -> None:
        self.installation, self.folder = installation, folder

    def __call__(self, *ours: str) -> subprocess.CompletedProcess:
        line = [*ours, *self.installation.arguments(2), sys.executable, str(PROGRAM)]
        settings = {**os.environ, **mpi4py_wheel.environment(self.installation, self.folder)}
        return subprocess.run(
            line, capture_output=True, text=True, timeout=60, check=False, cwd=self.folder, env=settings
        )


@pytest.fixture(params=["openmpi", "mpich"])
def launch(request, tmp_path: Path) -> Launch:
    for installation in mpi.discover():
        if installation.family == request.param:
            return Launch(installation, tmp_path)
    pytest.skip(f"no {request.param} on this machine")


def finds_all_right(ran: subprocess.CompletedProcess) -> bool:
    return (ran.returncode, ran.stdout) == (0, "all right\n")


def test_finds_no_difference_where_all_kinds_are_taken_over(launch: Launch) -> None:
    alone = launch()
    assert finds_all_right(alone), alone
    choice = ",".join(f"{kind}={name}" for kind, name in ALGORITHMS.items())
    ran = launch(str(COMMAND), "run", "-a", choice, "--json", "ran.json", "--")
    assert finds_all_right(ran), ran
    summary = json.loads((launch.folder / "ran.json").read_text(encoding="utf-8"))
    taken_over = {(row["collective"], row["algorithm"]) for row in summary["calls"]}
    assert {*ALGORITHMS.items(), *NONBLOCKING.items()} <= taken_over, ran.stderr
    assert summary["finalized"]  # which mpi4py does when Python ends


def test_finds_no_difference_where_an_order_is_kept(launch: Launch) -> None:
    ran = launch(str(COMMAND), "run", "--reproducible", "--")
    assert finds_all_right(ran), ran


def test_calls_are_told_by_their_lines(launch: Launch) -> None:
    ran = launch(str(COMMAND), "record", "--json", "sums.json", "--")
    assert finds_all_right(ran), ran
    sums = json.loads((launch.folder / "sums.json").read_text(encoding="utf-8"))
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    (number,) = (i + 1 for i, line in enumerate(lines) if "whose place the recorder tells" in line)
    (row,) = (row for row in sums["calls"] if (row["call"], row["line"]) == ("MPI_Allreduce", number))
    assert (Path(row["file"]).name, row["function"]) == (PROGRAM.name, "of_all")
    assert (row["calls"], row["bytes"]) == (2, 2 * 8000)
