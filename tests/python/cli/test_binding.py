"""`kumihimo binding`: the usual faults, made on purpose on real ranks, and mended by running what it proposes."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kumihimo.processes import mpi
from kumihimo.run.binding import judge

HERE = Path(__file__).parent
COMMAND = Path(sys.executable).parent / "kumihimo"
SOURCE = HERE.parent / "run" / "binding" / "hybrid.c"
TWO_CORES = pytest.mark.skipif(mpi.available_processors() < 2, reason="needs two processors")
ALONE = ("OMP_", "GOMP_", "OPENBLAS_", "MKL_", "MPICH_", "MPIR_")  # begin variables that a test sets itself


@pytest.fixture
def hybrid(family: str, installation: mpi.Installation, tmp_path: Path) -> Path:
    compiler = f"mpicc.{family}"
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    program = tmp_path / "hybrid"
    subprocess.run([compiler, "-O1", "-fopenmp", SOURCE, "-o", program, "-ldl"], check=True)
    return program


def environment(**variables: str) -> dict[str, str]:
    found = {name: value for name, value in os.environ.items() if not name.startswith(ALONE)}
    return found | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} | variables


def launcher(family: str) -> str:
    return f"mpirun.{family}" if shutil.which(f"mpirun.{family}") else "mpirun"


def bound(family: str) -> list[str]:
    """Options that give each rank a core."""
    return ["--map-by", "core", "--bind-to", "core"] if family == "openmpi" else ["-bind-to", "core"]


def unbound(family: str) -> list[str]:
    return ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"] if family == "openmpi" else ["-bind-to", "none"]


def looked(folder: Path, command: list[str], **variables: str) -> tuple[subprocess.CompletedProcess, dict]:
    ran = subprocess.run(
        [COMMAND, "binding", "--after", "600ms", "--json", "b.json", "--", *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        env=environment(**variables),
    )
    if ran.returncode == 77:
        pytest.skip("no OpenBLAS")
    return ran, json.loads((folder / "b.json").read_text(encoding="utf-8"))


def kinds(found: dict) -> list[str]:
    return [fault["kind"] for fault in found["faults"]]


def check_mended(folder: Path, found: dict, **variables: str) -> None:
    """The proposal, run as it stands, has no fault."""
    proposed = found["proposal"]["command"]
    assert proposed
    ran, after = looked(folder, shlex.split(proposed), **variables)
    assert kinds(after) == [], ran.stderr
    assert ran.returncode == 0, ran.stderr


@TWO_CORES
@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
class TestFaultsOnRealRanks:
    def test_a_sound_binding(self, family: str, hybrid: Path, tmp_path: Path) -> None:
        command = [launcher(family), *bound(family), "-n", "2", str(hybrid), "1.2"]
        ran, found = looked(tmp_path, command, OMP_NUM_THREADS="1")
        assert (ran.returncode, kinds(found), found["proposal"]) == (0, [], None), ran.stderr
        assert found["ranks"] == found["ranks_sampled"] == 2
        main = [each for each in found["threads"] if each["runtime"] == "rank"]
        assert [each["rank"] for each in main] == [0, 1] and main[0]["processors"] != main[1]["processors"]
        assert all(each["busy"] > 0.02 for each in main)
        assert "no fault was found" in ran.stderr

    def test_all_ranks_on_core_0(self, family: str, hybrid: Path, tmp_path: Path) -> None:
        command = [launcher(family), *unbound(family), "-n", "2", "taskset", "-c", "0", str(hybrid), "1.2"]
        ran, found = looked(tmp_path, command, OMP_NUM_THREADS="1")
        assert (ran.returncode, kinds(found)) == (1, [judge.ONE_CORE]), ran.stderr
        assert found["faults"][0]["processors"] == "0" and found["faults"][0]["ranks"] == [0, 1]
        assert "taskset" not in found["proposal"]["command"]
        check_mended(tmp_path, found, OMP_NUM_THREADS="1")

    def test_places_of_openmp_put_all_ranks_on_core_0(self, family: str, hybrid: Path, tmp_path: Path) -> None:
        command = [launcher(family), *unbound(family), "-n", "2", str(hybrid), "1.2"]
        variables = {"OMP_NUM_THREADS": "1", "OMP_PLACES": "{0}", "OMP_PROC_BIND": "true"}
        ran, found = looked(tmp_path, command, **variables)
        assert kinds(found) == [judge.ONE_CORE], ran.stderr
        check_mended(tmp_path, found, **variables)

    def test_openmp_threads_times_ranks_over_the_cores(self, family: str, hybrid: Path, tmp_path: Path) -> None:
        command = [launcher(family), *unbound(family), "-n", "2", str(hybrid), "1.5"]
        threads = str(mpi.available_processors())  # as libgomp starts them without OMP_NUM_THREADS
        ran, found = looked(tmp_path, command, OMP_NUM_THREADS=threads)
        assert kinds(found) == [judge.TOO_MANY_THREADS], ran.stderr
        assert {each["library"] for each in found["threads"] if each["runtime"] == "OpenMP"} == {"libgomp.so.1"}
        check_mended(tmp_path, found, OMP_NUM_THREADS=threads)

    def test_a_rank_bound_to_one_core_for_two_threads(self, family: str, hybrid: Path, tmp_path: Path) -> None:
        command = [launcher(family), *bound(family), "-n", "1", str(hybrid), "1.2"]
        ran, found = looked(tmp_path, command, OMP_NUM_THREADS="2")
        assert kinds(found) == [judge.TOO_NARROW], ran.stderr
        check_mended(tmp_path, found, OMP_NUM_THREADS="2")

    def test_blas_threads_inside_openmp(self, family: str, hybrid: Path, tmp_path: Path) -> None:
        processors = str(mpi.available_processors())
        command = [launcher(family), *unbound(family), "-n", "1", str(hybrid), "1.5", "blas"]
        variables = {"OMP_NUM_THREADS": processors, "OPENBLAS_NUM_THREADS": processors}
        ran, found = looked(tmp_path, command, **variables)
        if not any(each["runtime"] == "BLAS" for each in found["threads"]):
            pytest.skip("this OpenBLAS starts no threads of its own")
        assert kinds(found) == [judge.BLAS_INSIDE], ran.stderr
        assert found["proposal"]["variables"]["OPENBLAS_NUM_THREADS"] == "1"
        check_mended(tmp_path, found, **variables)

    def test_the_report_comes_before_the_program_ends(self, family: str, hybrid: Path, tmp_path: Path) -> None:
        """After an interrupt, too: a program of hours is looked at for seconds."""
        command = [launcher(family), *bound(family), "-n", "2", str(hybrid), "300"]
        with (tmp_path / "told").open("w+", encoding="utf-8") as told:
            line = [COMMAND, "binding", "--after", "200ms", "--json", "b.json", "--", *command]
            started = subprocess.Popen(line, stderr=told, cwd=tmp_path, env=environment(OMP_NUM_THREADS="1"))
            deadline = time.monotonic() + 60
            while "no fault was found" not in (tmp_path / "told").read_text(encoding="utf-8"):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            started.send_signal(signal.SIGINT)
            started.wait(timeout=60)  # the status is the launcher's: Hydra ends with 0
        found = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))
        assert (found["signals"], found["ranks_sampled"], kinds(found)) == (["SIGINT"], 2, [])

    def test_record_says_a_line(self, family: str, hybrid: Path, tmp_path: Path) -> None:
        command = [launcher(family), *unbound(family), "-n", "2", "taskset", "-c", "0", str(hybrid), "0.5"]
        ran = subprocess.run(
            [COMMAND, "record", "--json", "r.json", "--", *command],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
            env=environment(OMP_NUM_THREADS="1"),
        )
        assert ran.returncode == 0, ran.stderr  # what it finds is no failure of the program
        assert "fault: all 2 ranks of " in ran.stderr and "try: " in ran.stderr
        found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["binding"]
        assert kinds(found) == [judge.ONE_CORE] and found["ranks_sampled"] == 2


@TWO_CORES
@pytest.mark.mpi
@pytest.mark.parametrize("family", ["mpich"])
def test_progress_threads_on_cores_of_ranks(family: str, hybrid: Path, tmp_path: Path) -> None:
    ranks = str(mpi.available_processors())
    progress = ["-genv", "MPIR_CVAR_ASYNC_PROGRESS", "1"]
    command = [launcher(family), *bound(family), *progress, "-n", ranks, str(hybrid), "1.5"]
    ran, found = looked(tmp_path, command, OMP_NUM_THREADS="1")
    assert kinds(found) == [judge.PROGRESS], ran.stderr
    assert found["proposal"]["variables"]["MPIR_CVAR_ASYNC_PROGRESS"] == "0"
    check_mended(tmp_path, found, OMP_NUM_THREADS="1")


@TWO_CORES
@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_a_thread_of_the_program_that_polls_mpi(family: str, installation: mpi.Installation, tmp_path: Path) -> None:
    program = tmp_path / "polling"
    line = [f"mpicc.{family}", "-O1", str(SOURCE.with_name("polling.c")), "-o", str(program), "-lpthread"]
    if shutil.which(line[0]) is None:
        pytest.skip(f"no {line[0]}")
    subprocess.run(line, check=True)
    ran, found = looked(tmp_path, [launcher(family), *bound(family), "-n", "1", str(program), "1.5"])
    if ran.returncode == 77:
        pytest.skip("no MPI_THREAD_MULTIPLE")
    assert kinds(found) == [judge.PROGRESS], ran.stderr
    assert "progress threads of the program take time of ranks" in ran.stderr
    check_mended(tmp_path, found)


@TWO_CORES
@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi"])
@pytest.mark.parametrize(
    ("source", "compiler", "options", "runtime", "library"),
    [
        ("hybrid.c", "mpicc", ("-fopenmp", "-ldl"), "OpenMP", "libomp.so"),
        ("onetbb.cpp", "mpicxx", ("-ltbb",), "oneTBB", "libtbb.so"),
    ],
)
def test_threads_of_other_runtimes(
    family: str,
    installation: mpi.Installation,
    tmp_path: Path,
    source: str,
    compiler: str,
    options: tuple[str, ...],
    runtime: str,
    library: str,
) -> None:
    program = tmp_path / "program"
    line = [f"{compiler}.{family}", "-O1", str(SOURCE.with_name(source)), "-o", str(program), *options]
    clang = {**os.environ, "OMPI_CC": "clang"}
    if shutil.which(line[0]) is None or subprocess.run(line, env=clang, check=False, capture_output=True).returncode:
        pytest.skip(f"no {library}, or no compiler for it")
    command = [launcher(family), *unbound(family), "-n", "1", str(program), "1.2"]
    ran, found = looked(tmp_path, command, OMP_NUM_THREADS="2")
    of_runtime = [each for each in found["threads"] if each["runtime"] == runtime]
    assert of_runtime and all(each["library"].startswith(library) for each in of_runtime), ran.stderr
    assert any(each["busy"] > 0.005 for each in of_runtime)


def test_programs_without_mpi(tmp_path: Path) -> None:
    ran, found = looked(tmp_path, ["true"])
    assert ran.returncode == 1 and "no thread was looked at" in ran.stderr
    assert found["exit_code"] == 0 and "faults" not in found


def test_the_exit_status_is_the_programs(tmp_path: Path) -> None:
    ran, found = looked(tmp_path, ["sh", "-c", "exit 9"])
    assert (ran.returncode, found["exit_code"]) == (9, 9)
