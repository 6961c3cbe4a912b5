"""Asserts in real programs: C, Fortran and Python under `record` and `run`, on a machine as noisy as it is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from by_c_names import BEGINNING

from kumihimo.keep import judge
from kumihimo.keep.judge import RunValues
from kumihimo.processes import mpi

HERE = Path(__file__).parent
INCLUDE = HERE.parents[2] / "include"
COMMAND = Path(sys.executable).parent / "kumihimo"
PYTHON_PROGRAM = f"""
import sys
sys.path.insert(0, {str(HERE.parents[2] / "python")!r})
from kumihimo import keep
import ctypes, os
family, library = sys.argv[1:]
{BEGINNING}
for _ in range(10):
    with keep.region("work", "seconds <= 100"):  # the line
        names.MPI_Barrier(world)
names.MPI_Finalize()
"""


def compiled(source: str, compiler: str, folder: Path, *options: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    program = folder / "program"
    subprocess.run(
        [compiler, "-g", "-O1", f"-I{INCLUDE}", *options, HERE / source, "-o", program], check=True, cwd=folder
    )
    return program


def line_of(source: str, mark: str = "the line") -> int:
    text = (HERE / source).read_text(encoding="utf-8")
    return next(number for number, line in enumerate(text.splitlines(), 1) if mark in line and "kumihimo_begin" in line)


def kumihimo(folder: Path, *arguments: str, environment: dict | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, timeout=300, check=False, cwd=folder, env=environment
    )


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
class TestPrograms:
    def test_in_c_with_a_file_beside_it(self, installation: mpi.Installation, family: str, tmp_path: Path) -> None:
        program = compiled("regions.c", f"mpicc.{family}", tmp_path)
        (tmp_path / "a.toml").write_text(
            "[region.work]\nseconds = ['<= 100', '<= 1 ns']\n[whole]\nmpi = '<= 100 %'\n"
            "[call.MPI_Barrier]\nseconds = '<= 100'\n",
            encoding="utf-8",
        )
        command = [*installation.arguments(2), str(program), "1000", "50", "waiting <= 100 %"]
        options = ("--asserts", "a.toml", "--junit", "j.xml", "--json", "r.json")
        ran = kumihimo(tmp_path, "record", *options, "--repeat", "2", "--", *command)
        assert ran.returncode == 1, ran.stderr
        found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        verdicts = {(each["subject"], each["assert"]): each for each in found["asserts"]}
        assert verdicts["region work", "waiting <= 100 %"]["verdict"] == "met"
        assert verdicts["region work", "seconds <= 100"]["verdict"] == "met"
        assert verdicts["whole run", "mpi <= 100 %"]["verdict"] == "met"
        assert verdicts["call MPI_Barrier", "seconds <= 100"]["verdict"] == "met"
        missed = verdicts["region work", "seconds <= 1 ns"]
        assert (missed["verdict"], missed["runs"], missed["passages"]) == ("missed", 2, 100)
        assert missed["file"].endswith("regions.c") and missed["line"] == line_of("regions.c")
        assert [len(run["regions"][0]["passage_seconds"]) for run in found["repeats"]] == [50, 50]
        assert ElementTree.parse(tmp_path / "j.xml").getroot().get("failures") == "1"
        again = kumihimo(tmp_path, "run", "--asserts", "a.toml", "--", *command)
        assert again.returncode == 1 and "missed: region work: seconds <= 1 ns" in again.stderr, again.stderr
        alone = subprocess.run([*command], capture_output=True, text=True, timeout=100, check=False)
        assert (alone.returncode, alone.stderr) == (0, ""), "without us it does nothing"

    def test_in_fortran(self, installation: mpi.Installation, family: str, tmp_path: Path) -> None:
        program = compiled("regions.F90", f"mpifort.{family}", tmp_path, str(INCLUDE / "kumihimo.f90"))
        command = [*installation.arguments(2), str(program)]
        ran = kumihimo(tmp_path, "record", "--json", "r.json", "--", *command)
        assert ran.returncode == 0, ran.stderr
        found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        regions = {region["name"]: region for region in found["regions"]}
        assert set(regions) == {"work", "no assert"} and regions["work"]["passages"] == 20
        (verdict,) = found["asserts"]
        assert (verdict["verdict"], verdict["line"]) == ("met", line_of("regions.F90"))
        assert verdict["file"].endswith("regions.F90")
        alone = subprocess.run([*command], capture_output=True, text=True, timeout=100, check=False)
        assert (alone.returncode, alone.stderr) == (0, "")

    def test_in_python(self, installation: mpi.Installation, family: str, tmp_path: Path) -> None:
        (tmp_path / "program.py").write_text(PYTHON_PROGRAM, encoding="utf-8")
        words = [sys.executable, "program.py", family, str(installation.library)]
        ran = kumihimo(tmp_path, "record", "--json", "r.json", "--", *installation.arguments(2), *words)
        assert ran.returncode == 0, ran.stderr
        (verdict,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["asserts"]
        line = next(n for n, text in enumerate(PYTHON_PROGRAM.splitlines(), 1) if "# the line" in text)
        assert (verdict["verdict"], verdict["file"], verdict["line"]) == ("met", f"{tmp_path}/program.py", line)


WORK, PASSAGES, TRIALS, REPEATS = 50_000, 100, 20, 16


@pytest.mark.long
def test_ten_percent_more_work_is_found_and_no_more_raises_no_alarm(tmp_path: Path) -> None:
    """On this machine as it is. In each trial the program as it was, with 10 % more work, and as it was again take
    turns, so that all three have the same neighbours. The assert: no slower than it was."""
    program = tmp_path / "passages"
    subprocess.run(["cc", "-O1", HERE / "passages.c", "-o", program], check=True)

    def run(work: int) -> RunValues:
        words = [program, str(work), str(PASSAGES)]
        ended = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
        times = [float(line) for line in ended.stdout.split()]
        return RunValues(times, max(times))

    found = alarms = 0
    for _ in range(TRIALS):
        turns = [[run(work) for work in (WORK, WORK * 11 // 10, WORK)] for _ in range(REPEATS)]
        earlier, slower, same = (judge.estimate(runs) for runs in zip(*turns))
        found += judge.verdict(slower.over(earlier), 1.0) == judge.MISSED
        alarms += judge.verdict(same.over(earlier), 1.0) == judge.MISSED
    print(f"found {found}, alarms {alarms} of {TRIALS}")
    assert found >= 19 and alarms <= 1, (found, alarms)
