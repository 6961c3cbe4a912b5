"""What a launcher's line says: its programs, and how many ranks each has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kumihimo.processes import launch_lines


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "node"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"/usr/bin:/bin:{tmp_path}")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("mpirun -n 1 ./a -n 100", ["1 ./a -n 100"]),
        ("mpirun -n 1 ./a -n 100 : -np 2 ./b -n 50 : --np=3 b -c 9", ["1 ./a -n 100", "2 ./b -n 50", "3 b -c 9"]),
        ("mpirun --mca btl tcp,self -x A=b --map-by node -n 4 ./a", ["4 ./a"]),
        ("mpirun --rankfile ./b -n 2 ./a", ["2 ./a"]),
        ("mpirun -rf ./b --hostfile ./b ./a", ["0 ./a"]),
        ("mpiexec -genv A 1 -env LONG ./b -l -n 4 a", ["4 a"]),
        ("mpiexec -configfile ./b", ["0 "]),
        ("mpirun --oversubscribe /bin/sh -n 100", ["0 /bin/sh -n 100"]),
        ("mpirun --oversubscribe -n 2 -q sh x.py -n 100", ["2 sh x.py -n 100"]),
        ("mpirun -unknown ./a 3", ["0 ./a 3"]),
        ("mpirun -unknown node ./a 3", ["0 ./a 3"]),
        ("mpirun -n", ["0 "]),
        ("mpirun", ["0 "]),
        ("mpirun -c 3 ./a", ["3 ./a"]),
        ("mpirun.openmpi -n3 ./a", ["3 ./a"]),
        ("time -p mpirun -n 2 ./a", ["2 ./a"]),
        ("env A=1 mpirun -n 2 ./a", ["2 ./a"]),
        ("srun -n4 ./a -n 8", ["4 ./a -n 8"]),
        ("srun -lun4 --ntasks=3 ./a", ["3 ./a"]),
        ("srun -c 3 -p ./b --mpi=pmix ./a", ["0 ./a"]),
        ("srun --mpi pmi2 -N1 -K --exact -- ./a -n 3", ["0 ./a -n 3"]),
        ("srun -K1 -n 2 ./a", ["2 ./a"]),
        ("srun -n 1 ./a : -n 2 ./b", ["1 ./a", "2 ./b"]),
        ("./a -n 100", ["0 ./a -n 100"]),
        ("sh ./a mpirun -n 3 ./b", ["0 sh ./a mpirun -n 3 ./b"]),
    ],
)
def test_programs_and_their_ranks(program: None, line: str, programs: list[str]) -> None:
    found = launch_lines.read(line.split())
    assert [f"{each.ranks} {' '.join(each.words)}" for each in found.programs] == programs
    assert found.ranks == sum(each.ranks for each in found.programs)


@pytest.mark.parametrize(
    ("line", "launcher"),
    [("/usr/bin/mpirun.mpich ./a", "mpirun.mpich"), ("srun ./a", "srun"), ("flux run ./a", "flux"), ("./a", "")],
)
def test_the_launcher(program: None, line: str, launcher: str) -> None:
    assert launch_lines.read(line.split()).launcher == launcher


def test_options_belong_to_the_program_after_them(program: None) -> None:
    line = "mpirun -x A=1 -n 1 ./a -q : -n 2 --bind-to none ./b"
    first, second = launch_lines.read(line.split(" ")).programs
    assert first.options == ("-x", "A=1", "-n", "1")
    assert second.options == ("-n", "2", "--bind-to", "none")


@pytest.mark.parametrize(
    ("line", "places"),
    [
        (
            "srun -n 4 -N2 -p debug --mem=1G -l -o out --mpi=pmix --cpu-bind cores ./a -N 3",
            "-N2 -p debug --mem=1G --cpu-bind cores",
        ),
        ("srun ./a -p debug", ""),
        ("mpirun -N 2 ./a", ""),
    ],
)
def test_the_places_of_srun(program: None, line: str, places: str) -> None:
    assert launch_lines.places(launch_lines.read(line.split())) == places.split()


def test_the_programs_of_a_file_of_srun(program: None, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("# ranks program\n1,3-4 ./b %t 'x y'\n\n* sh \\\n  ./c\n0 ./a\n")
    found = launch_lines.read(["srun", "-n", "8", "--multi-prog", "file"])
    assert [(each.ranks, each.words) for each in found.programs] == [
        (1, ("./a",)),
        (3, ("./b", "%t", "x y")),
        (4, ("sh", "./c")),
    ]
    none = launch_lines.read(["srun", "-n", "8", "--multi-prog", "none"])
    assert [(each.ranks, each.words) for each in none.programs] == [(8, ("none",))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("srun --export=NONE -n 2 ./a --export=b", "srun --export=X -n 2 ./a --export=b"),
        ("srun --export NONE -n 2 ./a", "srun --export X -n 2 ./a"),
        ("time srun -n2 --export=A ./a", "time srun -n2 --export=X ./a"),
        ("mpirun -n 2 ./a --export=b", "mpirun -n 2 ./a --export=b"),
        ("./a --export=b", "./a --export=b"),
    ],
)
def test_only_sruns_own_export_is_changed(line, expected, monkeypatch, tmp_path):
    (tmp_path / "srun").touch(0o755)  # a wrapper starts only what is there
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert launch_lines.with_srun_export(line.split(), lambda names: "X") == expected.split()


def test_a_multi_prog_file_that_cannot_be_read_twice_or_at_all_is_left_to_srun(tmp_path):
    (tmp_path / "file").write_text("0 ./a it's\n", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "pipe", "none"):
        line = launch_lines.read(["srun", "--multi-prog", "-n", "2", str(tmp_path / name)])
        assert [program.words for program in line.programs] == [(str(tmp_path / name),)]
