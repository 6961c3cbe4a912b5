"""The key of a program, by which its own wisdom is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kumihimo.wisdom_reading import program_key, usual_path


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
    keys = {program_key(line) for line in lines}
    assert len(keys) == 1
    assert next(iter(keys)).startswith("solver_x-")


def test_differs_between_programs_of_one_name(program, tmp_path):
    other = tmp_path / "other" / program.name
    other.parent.mkdir()
    other.write_bytes(program.read_bytes())
    other.chmod(0o755)
    assert program_key(["mpirun", str(program)]) != program_key(["mpirun", str(other)])


def test_of_python_is_what_it_runs(program, tmp_path):
    (tmp_path / "a.py").write_text("")
    (tmp_path / "b.py").write_text("")
    python = sys.executable
    a, b = (program_key(["mpirun", "-n", "2", python, "-u", name, "--steps", "3"]) for name in ("a.py", "b.py"))
    assert a.startswith("a.py-") and b.startswith("b.py-") and a != b
    assert program_key(["mpirun", python, "-m", "gpaw"]).startswith("gpaw-")


def test_is_a_folder_beside_the_files_of_all_programs():
    of_all = usual_path("any library")
    assert usual_path("any library", "solver-0") == of_all.parent / "programs" / "solver-0" / of_all.name
