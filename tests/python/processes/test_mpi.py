"""Finding MPI libraries under prefixes made for the test, and the command lines for each family."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kumihimo.processes import launchers, mpi
from kumihimo.text.errors import BadInput, Failed

TELLS = {
    "openmpi": "mpirun (Open MPI) 5.0.11",
    "openrte": "mpirun.openmpi (OpenRTE) 4.1.4",
    "mpich": "HYDRA build details:\n    Version:                                 5.0.2",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.14 Build 20241121",
}


def make_prefix(folder: Path, launcher: str, tells: str, library: str) -> Path:
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    path = folder / "bin" / launcher
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{TELLS[tells]}\nEND\n")
    path.chmod(0o755)
    (folder / library).parent.mkdir(parents=True, exist_ok=True)
    (folder / library).touch()
    return folder


@pytest.mark.parametrize(
    ("launcher", "tells", "library", "family", "version"),
    [
        ("mpirun", "openmpi", "lib/libmpi.so.40", "openmpi", "5.0.11"),
        ("mpirun.openmpi", "openrte", "lib/x86_64-linux-gnu/libmpi.so.40", "openmpi", "4.1.4"),
        ("mpiexec", "mpich", "lib/libmpi.so.12", "mpich", "5.0.2"),
        ("mpiexec.hydra", "mpich", "lib/x86_64-linux-gnu/libmpich.so.12", "mpich", "5.0.2"),
        ("mpiexec.hydra", "intel", "lib/libmpi.so.12", "mpich", "2021.14"),
    ],
)
def test_a_prefix_is_recognised(tmp_path, launcher, tells, library, family, version):
    prefix = make_prefix(tmp_path, launcher, tells, library)
    found = mpi.choose(str(prefix))
    assert (found.family, found.version, found.library) == (family, version, prefix / library)
    assert found.launcher == prefix / "bin" / launcher


def test_a_launcher_of_the_other_family_is_passed_over(tmp_path):
    make_prefix(tmp_path, "mpiexec", "mpich", "lib/libmpi.so.40")
    with pytest.raises(BadInput, match="prefix of an MPI library"):
        mpi.choose(str(tmp_path))


def test_a_launcher_by_its_path_serves_the_family(tmp_path):
    library = make_prefix(tmp_path / "o", "mpirun", "openmpi", "lib/libmpi.so.40")
    another = make_prefix(tmp_path / "a", "mpirun", "openrte", "lib/libmpi.so.40") / "bin" / "mpirun"
    found = mpi.choose(str(library), f"{another} -v")
    assert (found.launcher, found.options, found.version) == (another, ("-v",), "5.0.11"), "the library's version"
    assert found.prefix == library
    mpich = make_prefix(tmp_path / "m", "mpiexec", "mpich", "lib/libmpi.so.12") / "bin" / "mpiexec"
    with pytest.raises(BadInput, match=r"must start ranks of openmpi.*\(got a launcher of mpich\); give --mpi mpich"):
        mpi.choose(str(library), str(mpich))
    hydra = make_prefix(tmp_path / "h", "mpiexec.hydra", "mpich", "lib/libmpi.so.12")
    assert mpi.choose(str(hydra), f"{hydra}/bin/mpiexec.hydra").start is launchers.HYDRA
    silent = tmp_path / "mpirun"
    silent.write_text("#!/bin/sh\n")
    silent.chmod(0o755)
    assert mpi.choose(str(library), str(silent)).launcher == silent


def test_the_search_path_gives_one_of_each_family(tmp_path, monkeypatch):
    make_prefix(tmp_path, "mpirun.openmpi", "openrte", "lib/libmpi.so.40")
    make_prefix(tmp_path, "mpiexec.hydra", "mpich", "lib/libmpich.so.12")
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + os.pathsep + "/bin")
    monkeypatch.setattr(mpi, "prefixes", lambda: iter([tmp_path]))
    assert [found.family for found in mpi.discover()] == ["openmpi", "mpich"]
    assert mpi.choose().family == "openmpi"
    assert mpi.choose("mpich").family == "mpich"


def test_srun_leaves_the_library_its_version_and_prefix(tmp_path, monkeypatch):
    """Exported rules are for a version, and compilers are in the prefix; srun tells neither."""
    srun = tmp_path / "slurm" / "srun"
    srun.parent.mkdir()
    srun.write_text("#!/bin/sh\necho slurm 22.05.8\n")
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{srun.parent}{os.pathsep}{os.environ['PATH']}")
    prefix = make_prefix(tmp_path / "o", "mpirun", "openmpi", "lib/libmpi.so.40")
    found = mpi.choose(str(prefix), "srun --mpi=pmix")
    assert found.arguments(2) == [str(srun), "--mpi=pmix", "-n", "2"]
    assert (found.version, found.prefix) == ("5.0.11", prefix)


def test_no_library_is_one_sentence(monkeypatch):
    monkeypatch.setattr(mpi, "prefixes", lambda: iter([]))
    for wanted in (None, "openmpi", "mpich"):
        with pytest.raises(Failed, match="on this machine; install the package openmpi-bin or mpich"):
            mpi.choose(wanted)
    with pytest.raises(BadInput, match="not a folder"):
        mpi.choose("/nowhere/at/all")


def test_command_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(launchers, "available_processors", lambda: 4)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    openmpi = mpi.choose(str(make_prefix(tmp_path / "o", "mpirun", "openmpi", "lib/libmpi.so.40")))
    few, many = openmpi.arguments(2), openmpi.arguments(4)
    assert "--allow-run-as-root" in few
    assert "--bind-to" not in few
    assert many[many.index("--bind-to") + 1] == "none"
    assert many[-2:] == ["-n", "4"]
    assert openmpi.environment(5)["OMPI_MCA_mpi_yield_when_idle"] == "1"
    assert "OMPI_MCA_mpi_yield_when_idle" not in openmpi.environment(4)
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "0")  # what the user sets stands ...
    assert openmpi.environment(5)["OMPI_MCA_mpi_yield_when_idle"] == "0"
    monkeypatch.setenv("I_MPI_ROOT", "/of/another")  # ... but not what would mix two libraries
    intel = mpi.choose(str(make_prefix(tmp_path / "i", "mpiexec.hydra", "intel", "lib/libmpi.so.12")))
    assert intel.arguments(2) == [str(tmp_path / "i" / "bin" / "mpiexec.hydra"), "-n", "2"]
    assert intel.environment(2) == {"I_MPI_ROOT": str(tmp_path / "i")}
