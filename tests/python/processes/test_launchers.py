"""Every launcher starts the ranks that are asked for, gives all of them the variables, and is chosen by one word."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kumihimo.processes import launch_lines, launcher_environment, launchers, mpi
from kumihimo.text.errors import BadInput, Failed

GIVEN = {"LD_PRELOAD": "ours.so", "KUMIHIMO_ALGORITHM": "ring"}


def starting(name: str, family: str = "openmpi", options: tuple[str, ...] = ()) -> mpi.Installation:
    return mpi.Installation(family, Path("/usr/bin", name), Path("/lib/libmpi.so"), options)


@pytest.mark.parametrize(
    ("name", "family", "row"),
    [
        ("mpirun", "openmpi", launchers.OPENMPI),
        ("mpiexec", "openmpi", launchers.OPENMPI),
        ("mpiexec.hydra", "mpich", launchers.HYDRA),
        ("srun", "openmpi", launchers.SRUN),
        ("srun", "mpich", launchers.SRUN),
        ("flux", "mpich", launchers.FLUX),
    ],
)
def test_the_row_of_an_installation(name, family, row):
    assert starting(name, family).start is row


def test_lines_of_the_launchers():
    assert starting("srun", options=("--mpi=pmix",)).arguments(8) == ["/usr/bin/srun", "--mpi=pmix", "-n", "8"]
    assert starting("flux", options=("-o", "mpi=spectrum")).arguments(2)[1:] == ["run", "-o", "mpi=spectrum", "-n", "2"]
    assert starting("mpiexec.hydra", "mpich", ("-f", "hosts")).arguments(3)[1:] == ["-f", "hosts", "-n", "3"]
    line = starting("mpirun", options=("--hostfile", "hosts")).arguments(3)
    assert line[-4:] == ["--hostfile", "hosts", "-n", "3"] and "--with-ft" not in line
    assert "--with-ft" in starting("mpirun").arguments(3, outlives_deaths=True)


@pytest.mark.parametrize("row", launchers.ROWS, ids=launchers.NAMES)
def test_a_line_is_read_as_it_is_written(row):
    """launch_lines reads what the rows write: the same ranks, the same program."""
    program = ["./a", "-n", "7"]
    words, _ = row.with_variables(GIVEN, [*row.arguments(3), *program])
    read = launch_lines.read([row.name, *words])
    assert (read.launcher, read.ranks, list(read.programs[0].words)) == (row.name, 3, program)


@pytest.mark.parametrize("row", launchers.ROWS, ids=launchers.NAMES)
def test_variables_reach_the_processes(row):
    """By the line or by the environment, never by neither."""
    words, environment = row.with_variables(GIVEN, ["-n", "2", "./a"])
    for name, value in GIVEN.items():
        by_line = f"{name}={value}" in words or [name, value] in [words[at : at + 2] for at in range(len(words))]
        assert by_line != (environment.get(name) == value)


def test_srun_exports_where_the_job_was_submitted_without():
    """sbatch --export=NONE leaves SLURM_EXPORT_ENV=NONE behind, which srun obeys."""
    assert launchers.SRUN.with_variables({}, [])[1] == {"SLURM_EXPORT_ENV": "ALL"}


@pytest.mark.parametrize(
    "line", ["flux run -n 4 ./a b", "flux -v run -N 2 -n4 ./a b", "flux mini run --ntasks=4 ./a b"]
)
def test_lines_of_flux(line):
    read = launch_lines.read(line.split())
    assert (read.launcher, list(read.programs[0].words)) == ("flux", ["./a", "b"])
    assert read.ranks == (0 if "ntasks" in line else 4)


def test_a_rank_of_flux_knows_its_place(monkeypatch):
    for rank, size, _ in launcher_environment.LAUNCHED:
        monkeypatch.delenv(rank, raising=False)
        monkeypatch.delenv(size, raising=False)
    monkeypatch.setenv("FLUX_TASK_RANK", "3")
    monkeypatch.setenv("FLUX_JOB_SIZE", "8")
    assert launcher_environment.place() == launcher_environment.LaunchPlace(3, 8, None)
    monkeypatch.setenv("PMI_RANK", "3")  # of Flux's own PMI
    monkeypatch.setenv("PMI_SIZE", "8")
    assert launcher_environment.place() == launcher_environment.LaunchPlace(3, 8, None)
    monkeypatch.setenv("PMI_RANK", "1")  # of Hydra within a task of Flux
    monkeypatch.setenv("PMI_SIZE", "2")
    assert launcher_environment.place() == launcher_environment.LaunchPlace(1, 2, "mpich")


def test_the_choice_by_an_option_or_the_environment(monkeypatch, tmp_path):
    for name in ("srun", "flux"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(launchers.VARIABLE, raising=False)
    own = Path("/opt/bin/mpiexec.hydra")
    assert launchers.chosen(None).path(own) == own
    assert launchers.chosen("mpiexec -f hosts") == launchers.LauncherChoice(None, ("-f", "hosts"))
    monkeypatch.setenv(launchers.VARIABLE, "srun --mpi=pmix")
    assert launchers.chosen(None).path(own) == tmp_path / "srun"
    assert launchers.chosen(None).options == ("--mpi=pmix",)
    assert launchers.chosen("flux").path(own) == tmp_path / "flux", "the option is stronger"
    with pytest.raises(Failed, match="srun is not in PATH"):
        monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
        launchers.chosen(None).path(own)


def test_a_launcher_by_its_path(monkeypatch, tmp_path):
    """Of a module that is not loaded, or of another installation than the first one in PATH."""
    for name in ("srun", "mpirun", "flux"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    own = Path("/opt/bin/mpiexec.hydra")
    monkeypatch.setenv(launchers.VARIABLE, f"'{tmp_path}/srun' --mpi=pmix")
    chosen = launchers.chosen(None)
    assert (chosen.path(own), chosen.scheduler, chosen.options) == (tmp_path / "srun", launchers.SRUN, ("--mpi=pmix",))
    assert launchers.chosen(f"{tmp_path}/mpirun").path(own) == tmp_path / "mpirun"
    assert launchers.of(launchers.chosen(f"{tmp_path}/flux").path(own), "mpich") is launchers.FLUX
    monkeypatch.chdir(tmp_path.parent)
    assert launchers.chosen(f"{tmp_path.name}/srun").path(own) == tmp_path / "srun", "the ranks may start elsewhere"
    (tmp_path / "srun").chmod(0o644)
    with pytest.raises(Failed, match=r"srun is no program that can be started; correct its path"):
        chosen.path(own)
    with pytest.raises(BadInput, match="must begin with mpirun, mpiexec, srun or flux"):
        launchers.chosen(f"{tmp_path}/ssh")


@pytest.mark.parametrize(("text", "found"), [("ssh", "got 'ssh'"), ("srun '", "No closing quotation"), ("", "got ''")])
def test_other_launchers_are_refused(text, found):
    with pytest.raises(BadInput, match="must be") as caught:
        launchers.chosen(text)
    assert found in str(caught.value)


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["mpich"])
def test_a_flux_that_is_hydra_starts_the_bench_driver(kumihimo, tmp_path, monkeypatch, installation):
    """Flux itself is not packaged. This one takes `run -n N PROGRAM` alone, so another line fails."""
    flux = tmp_path / "flux"
    flux.write_text(
        f'#!/bin/sh\n[ "$1 $2" = "run -n" ] || exit 9\nshift\nexec {installation.launcher} "$@"\n', encoding="utf-8"
    )
    flux.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv(launchers.VARIABLE, "flux")
    done = kumihimo("bench", "allreduce", "--mpi", "mpich", "--ranks", "2", "--bytes", "8", "--json")
    assert done.code == 0, done.err
    assert subprocess.run([flux, "run", "2"], check=False).returncode == 9
