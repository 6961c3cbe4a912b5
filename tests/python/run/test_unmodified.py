"""The unmodified program of the demo, with a stand-in for LAMMPS and for its runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumihimo.demo.experiment import unmodified
from kumihimo.processes import mpi
from kumihimo.run import preload

LOG = "Step Temp E_pair\n0 1.44 -6.7733\n100 0.7 -5.6\nLoop time of 0.5 on 2 procs\n"
HEADER = {"kumihimo_profile": 1, "mpi": "an MPI", "ranks": 2, "sync": False}
CALL = {"call": "MPI_Allreduce", "site": None, "communicator": 0, "calls": 10, "bytes": 80, "seconds": 0.5}
CALL |= {"min_seconds": 0.01, "max_seconds": 0.1}
WORLD = {"name": "MPI_COMM_WORLD", "site": None, "size": 2, "inter": False}
RANK = {"finalized": True, "seconds": 2.0, "mpi_seconds": 0.5, "calls": [CALL], "communicators": [WORLD], "sites": []}
RANK |= {"sizes": {"MPI_Allreduce": [[8, 10]]}, "partners": [], "regions": []}


@pytest.fixture
def runs(monkeypatch):
    """Logs of the runs, one after another; the last one goes on."""
    logs: list[str] = [LOG]

    def run(line, settings, objects, folder: Path) -> preload.EndedProgram:
        lines = (HEADER, {"rank": 0, **RANK}, {"rank": 1, **RANK})
        Path(settings["RECORD"]).write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
        (folder / "log.liquid").write_text(logs.pop(0) if len(logs) > 1 else logs[0], encoding="utf-8")
        return preload.EndedProgram(0, {"calls": []} if "WISDOM" in settings else None)

    monkeypatch.setattr(unmodified.preload, "run", run)
    monkeypatch.setattr(unmodified, "tune", lambda longest, budget, wisdom: {"results": []})
    installation = mpi.Installation("openmpi", Path("mpirun"), Path("libmpi.so.40"))
    monkeypatch.setattr(unmodified.mpi, "choose", lambda family: installation)
    return logs


def test_results_of_all_runs_are_compared(runs):
    found = unmodified.run(launches=6)
    assert (found["figures"], found["same_figures"], found["launches"]) == (6, True, 6)
    assert found["mpi_share"] == pytest.approx(0.25)
    assert found["program_time"]["ratio"] == pytest.approx(1)
    assert [site["call"] for site in found["sites"]] == ["MPI_Allreduce"]


def test_other_results_are_told(runs):
    runs.append(LOG.replace("-5.6", "-5.7"))
    assert unmodified.run(launches=6)["same_figures"] is False
