"""The key of a program, by which its own wisdom is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kumihimo.run.program_keys import key_of
from kumihimo.run.wisdom_reading import found_by_itself, usual_path


@pytest.fixture
def program(tmp_path: Path, monkeypatch) -> Path:
    path = tmp_path / "bin" / "solver x"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return path


def test_is_that_of_the_program_whatever_starts_it(program):
    lines = (
        ["mpirun", "-n", "4", str(program), "-in", "no such file"],
        ["mpirun", "-n", "2", "./bin/solver x"],
        ["mpirun", "-n", "2", "env", "A=1", "./bin/solver x"],
        ["mpirun", "-n", "2", "./bin/solver x", ":", "-n", "1", "/bin/true"],
        ["./bin/solver x"],
    )
    keys = {key_of(line) for line in lines}
    assert len(keys) == 1
    assert next(iter(keys)).startswith("solver_x-")


def test_differs_between_programs_of_one_name(program, tmp_path):
    other = tmp_path / "other" / program.name
    other.parent.mkdir()
    other.write_bytes(program.read_bytes())
    other.chmod(0o755)
    assert key_of(["mpirun", str(program)]) != key_of(["mpirun", str(other)])


def test_of_python_is_what_it_runs(program, tmp_path):
    (tmp_path / "a.py").write_text("")
    (tmp_path / "b.py").write_text("")
    python = sys.executable
    a, b = (key_of(["mpirun", "-n", "2", python, "-u", name, "--steps", "3"]) for name in ("a.py", "b.py"))
    assert a.startswith("a.py-") and b.startswith("b.py-") and a != b
    assert key_of(["mpirun", python, "-m", "gpaw"]).startswith("gpaw-")


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("python3 -m mpi4py a.py", "python3 a.py"),
        ("python3 -W ignore a.py", "python3 a.py"),
        ("python3 -X dev -u a.py b.py", "python3 a.py"),
        ("env A=1 python3 a.py", "python3 a.py"),
        ("bash ./a.sh x", "sh ./a.sh"),
        ("--rankfile /bin/cat /bin/ls", "/bin/ls"),
        ("numactl --cpunodebind=0 /bin/ls", "/bin/ls"),
        ("/bin/ls /bin/sh", "/bin/ls"),
        ("/bin/ls cat", "/bin/ls"),
        ("--map-by node --bind-to core /bin/ls", "/bin/ls"),
    ],
)
def test_does_not_depend_on_what_stands_around_the_program(program, tmp_path, line, other):
    for name in ("a.py", "b.py", "a.sh"):
        (tmp_path / name).write_text("")
    one, two = (["mpirun", "-n", "2", *words.split()] for words in (line, other))
    assert key_of(one) == key_of(two) != ""


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (["python3", "-c", "print(1/2)"], ["python3", "-c", "print(1/3)"]),
        (["python3", "-m", "mpi4py", "a.py"], ["python3", "-m", "mpi4py", "b.py"]),
        (["python3", "./no folder/x.py"], ["python3", "./no folder/y.py"]),
        (["python3", "."], ["python3", "/tmp"]),
        (["/bin/ls"], ["/bin/cat"]),
        (["sh", "-c", "./a"], ["sh", "-c", "./b"]),
    ],
)
def test_differs_between_what_is_run(program, line, other):
    assert key_of(["mpirun", *line]) != key_of(["mpirun", *other])


def test_of_a_script_behind_gpaw_is_the_script(program, tmp_path, monkeypatch):
    gpaw = tmp_path / "bin" / "gpaw"
    gpaw.write_text("#!/usr/bin/python3\n")
    gpaw.chmod(0o755)
    (tmp_path / "a.py").write_text("")
    of_script = key_of(["python3", "a.py"])
    assert key_of(["mpirun", "-n", "2", "bin/gpaw", "python", "a.py"]) == of_script
    assert key_of(["bin/gpaw", "-P", "2", "python", "a.py", "x"]) == of_script
    assert key_of(["bin/gpaw", "test"]).startswith("gpaw-")


@pytest.mark.parametrize("line", [["mpirun", "--app", "file"], ["mpirun"], ["mpirun", "-n", "2", "./none"]])
def test_is_empty_where_no_program_is_named(program, line):
    assert key_of(line) == ""


def test_of_odd_paths_there_is_one(program, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for line in (
        ["python3", "loop"],
        ["python3", "-c", "x" * 9999],
        ["python3", "x" * 9999],
        ["python3", "a\udcff.py"],
    ):
        key = key_of(["mpirun", *line])
        assert len(key) < 64 and "/" not in key and key.isascii()


def test_the_program_s_own_file_is_taken_first():
    own, of_all = usual_path("any library", "solver-0"), usual_path("any library")
    assert found_by_itself("any library", "solver-0") == of_all
    own.parent.mkdir(parents=True)
    own.write_text("{}")
    assert found_by_itself("any library", "solver-0") == own
    assert found_by_itself("any library", "") == of_all


def test_is_a_folder_beside_the_files_of_all_programs():
    of_all = usual_path("any library")
    assert usual_path("any library", "solver-0") == of_all.parent / "programs" / "solver-0" / of_all.name
