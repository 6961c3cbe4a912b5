"""The program of a workload on real MPI: what comes is right, and wrong steps are found."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kumihimo.predict.workloads import catalogue
from kumihimo.predict.workloads.catalogue import WORKLOADS
from kumihimo.processes import mpi
from kumihimo.text.errors import Failed
from kumihimo.tune.bench import workloads

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
    for workload in WORKLOADS:
        shutil.rmtree(tmp_path / "w", ignore_errors=True)
        numbers = [word for number in ("rate=1e15", *SMALL.get(workload.name, ())) for word in ("--set", number)]
        ended = kumihimo("workload", workload.name, "--ranks", "4", "--program", "w", *numbers)
        assert ended.code == 0 and "mpirun -n 4 w/play w/steps" in ended.out, ended.err
        played = play(installation, compiled(installation, tmp_path / "w"), 4)
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


@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_bench_plays_the_communication_alone(installation: mpi.Installation, kumihimo) -> None:
    call = catalogue.asked("workload:rsdft,orbitals=64,block=8,points=32768,rate=1e4", 4)
    assert sum(call.trace().computing) > 1e3, "seconds, which bench leaves out"
    words = "workload:rsdft,orbitals=64,block=8,points=32768,rate=1e4"
    ended = kumihimo("bench", words, "--ranks", "4", "--mpi", installation.family, "--launches", "2", "--json")
    if "no C compiler" in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    (result,) = found["results"]
    assert (result["workload"], result["ranks"], result["samples"], found["launches"]) == ("rsdft", 4, 22, 2)
    assert set(result["steps"]) == {"exchange", "allreduce"} and all(each > 0 for each in result["steps"].values())
    assert 0 < result["low"] <= result["seconds"] <= result["high"] < 60
    assert len(result["seconds_of_launches"]) == 2 and found["about"]["ranks"] == 4


@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_bench_tells_wrong_messages(installation: mpi.Installation, tmp_path: Path) -> None:
    """Sabotage: a rank that sends half of a message."""
    call = catalogue.asked("workload:lans,cells=1000,rate=1e15", 2)
    call.write_program(tmp_path)
    program = compiled(installation, tmp_path)
    steps = tmp_path / "steps" / "1"
    right = steps.read_text()
    line = next(line for line in right.splitlines() if line.startswith("x"))
    partner, sent = line.split()[2:4]
    steps.write_text(right.replace(line, line.replace(f"{partner} {sent}", f"{partner} {int(sent) // 2}")))
    command = [program, tmp_path / "steps", str(workloads.ROUNDS)]
    with pytest.raises(Failed, match="a message has another length"):
        workloads.launched(installation, 2, command)
    steps.write_text(right)
    assert len(workloads.launched(installation, 2, command).results) == workloads.ROUNDS


def test_the_buffers_of_a_workload_are_its_longest_steps() -> None:
    call = catalogue.asked("workload:global-fft,points=1048576", 4)
    assert workloads.buffers_of(call, 0) == 2 * 16 * 1048576 // 4
    gathered = catalogue.asked("workload:hpl,n=1000,nb=10,steps=1", 4)  # 2x2: rows of U from two ranks
    rows = 8 * 500 // 2 * 10
    assert workloads.buffers_of(gathered, 0) == max(rows, 8 * 500 * 10) + max(2 * rows, 8 * 500 * 10)


@pytest.mark.parametrize(
    ("words", "sentence"),
    (
        (("workload:lan",), "did you mean lans"),
        (("workload:lans", "--bytes", "8"), "a workload takes no --bytes"),
        (("workload:lans", "--check"), "a workload takes no --check"),
        (("workload:lans", "--format", "csv"), "--format of a workload must be table or json"),
        (("workload:npb-ft", "--ranks", "3"), "npb-ft runs on a power of two of ranks"),
        (("workload:lans,cells=1e17", "--ranks", "4"), "on 4 ranks must fit the memory"),
    ),
)
def test_wrong_input_of_bench_is_one_sentence(kumihimo, words: tuple[str, ...], sentence: str) -> None:
    ended = kumihimo("bench", *words)
    assert ended.code == 2 and sentence in ended.err and len(ended.err.splitlines()) == 1, ended.err
