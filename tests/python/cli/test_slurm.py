"""run, record and optimise with programs that srun starts, in a Slurm of the tests' own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import private_slurm
import pytest
from by_c_names import BEGINNING
from waiting import until

from kumihimo.processes import mpi, visible

pytestmark = pytest.mark.mpi
COMMAND = Path(sys.executable).parent / "kumihimo"
PLUGINS = {"openmpi": "pmix", "mpich": "pmi2"}  # of srun --mpi, with Debian's packages
PROGRAM = "import ctypes, os, sys, time\nfamily, library, times = sys.argv[1:]\n" + BEGINNING
PROGRAM += """
if rank.value == 0:
    open("begun", "w").close()
for _ in range(int(times)):
    names.MPI_Allreduce(mine, result, 1000, double, total, world)
names.MPI_Finalize()
"""


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    if reason := private_slurm.lacking():
        pytest.skip(reason)
    with private_slurm.running(tmp_path_factory.mktemp("slurm")) as configuration:
        yield configuration


@pytest.fixture
def line(slurm, tmp_path, monkeypatch):
    """Of the program, as srun starts it."""
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")

    def of(
        installation: mpi.Installation, ranks: int = 2, times: int = 100, options: tuple[str, ...] = ()
    ) -> list[str]:
        start = ["srun", *options, f"--mpi={PLUGINS[installation.family]}", "-n", str(ranks)]
        words = [sys.executable, str(tmp_path / "program.py"), installation.family, str(installation.library)]
        return [*start, *words, str(times)]

    return of


@pytest.mark.parametrize("family", list(PLUGINS))
def test_run_and_record_reach_all_ranks(kumihimo, tmp_path, line, installation):
    ran = kumihimo("run", "-a", "ring", "--json", "ran.json", "--", *line(installation))
    assert ran.code == 0, ran.err
    calls = {row["algorithm"]: row["calls"] for row in json.loads((tmp_path / "ran.json").read_text())["calls"]}
    assert calls["ring"] >= 2 * 100, "those of both ranks"
    recorded = kumihimo("record", "--", *line(installation, options=("--export=NONE",)))
    assert recorded.code == 0, recorded.err
    head = json.loads((tmp_path / "kumihimo-profile.jsonl").read_text().splitlines()[0])
    assert (head["ranks"], head["srun_mpi"], head["library"]) == (
        2,
        PLUGINS[installation.family],
        str(Path(head["library"]).parent / installation.library.name),
    )


@pytest.fixture
def in_allocation(tmp_path, slurm, monkeypatch):
    """Runs the command as the script of a job does, and where there is no mpirun."""
    (tmp_path / "tools").mkdir()
    for name in ("srun", "sh", "cat"):
        (tmp_path / "tools" / name).symlink_to(Path("/usr/bin") / name)
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    start = ["salloc", "-Q", "-n", "2", "env", f"PATH={tmp_path / 'tools'}", COMMAND]

    def run(*words: str) -> subprocess.CompletedProcess:
        options = {"cwd": tmp_path, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        return subprocess.run([*start, *words], check=False, timeout=120, **options)

    return run


@pytest.fixture
def script(tmp_path, line):
    """That starts the program by srun."""

    def of(installation: mpi.Installation) -> str:
        path = tmp_path / "job.sh"
        path.write_text(f"#!/bin/sh\n{shlex.join(line(installation, times=2000))}\n", encoding="utf-8")
        path.chmod(0o755)
        return "./job.sh"

    return of


@pytest.mark.parametrize("family", list(PLUGINS))
def test_what_a_script_starts_by_srun_is_tuned_by_srun(in_allocation, script, installation):
    recorded = in_allocation("record", "--", script(installation))
    assert recorded.returncode == 0, recorded.stderr
    tuned = in_allocation("tune", "--profile", "kumihimo-profile.jsonl", "--budget", "2s")
    assert "kumihimo: tuning: allreduce of 2 ranks" in tuned.stderr, "a first launch comes before this"


@pytest.mark.long
@pytest.mark.parametrize("family", list(PLUGINS))
def test_optimise_of_a_script(in_allocation, script, installation):
    done = in_allocation("optimise", "--budget", "80s", "--json", "--", script(installation))
    assert done.returncode == 0, done.stderr
    check_optimised(json.loads(done.stdout), "job.sh-")


def check_optimised(found: dict, program: str) -> None:
    assert found["profile"]["program"].startswith(program)
    assert bool(found["kept"]) == (found["wisdom"] is not None) == (found["nothing_to_gain"] is None)
    for turns in found["comparisons"]:
        assert turns["pairs"] >= 6 or "budget" in found["nothing_to_gain"]


@pytest.mark.long
@pytest.mark.parametrize("family", list(PLUGINS))
def test_optimise_of_two_programs(in_allocation, line, tmp_path, installation):
    """By the file of srun --multi-prog: whole runs with choices and without, kept for the program of rank 0."""
    words = line(installation, times=2000)
    program = shlex.join(words[words.index(sys.executable) :])
    second = tmp_path / "second.py"
    second.write_text((tmp_path / "program.py").read_text(encoding="utf-8"), encoding="utf-8")
    other = program.replace(str(tmp_path / "program.py"), str(second))
    (tmp_path / "programs").write_text(f"0 {program}\n1 {other}\n", encoding="utf-8")
    start = [*words[: words.index(sys.executable)], "--multi-prog", "programs"]
    done = in_allocation("optimise", "--budget", "80s", "--json", "--", *start)
    assert done.returncode == 0, done.stderr
    check_optimised(json.loads(done.stdout), "program.py-")


@pytest.mark.parametrize("family", list(PLUGINS)[:1])
def test_what_asks_for_too_much_is_one_sentence(in_allocation, line, installation):
    done = in_allocation("optimise", "--", *line(installation, ranks=private_slurm.CPUS + 1))
    assert done.returncode == 1
    assert "the program failed while it was recorded: exit code 1 (srun: Unable to create step for job" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("family", list(PLUGINS)[:1])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_step(tmp_path, line, installation, number, code):
    words = [COMMAND, "optimise", "--", *line(installation, times=10**9)]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
        os.kill(process.pid, number)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == code, err
    assert err.endswith("interrupted; run the same command again to continue\n")
    steps = ["squeue", "--noheader", "--steps"]
    until(lambda: not subprocess.run(steps, capture_output=True, check=True).stdout, "Slurm ends the step")
    program = str(tmp_path / "program.py").encode()
    left = [pid for pid in visible.processes() if program in command_line(pid)]
    assert not left


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
