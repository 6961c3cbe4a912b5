"""The command as one rank of a launch: what all refuse is said once, what fails on one is said by that one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def command(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


RUN = "import sys; from kumihimo.cli import carry_out; sys.exit(carry_out(sys.argv[1:]))"


@pytest.mark.parametrize(("rank", "lines"), [("0", 1), ("1", 0), ("first", 1)])
def test_of_the_ranks_of_a_launch_the_first_refuses(rank, lines):
    done = command(RUN, "simulate", "allreduce", "--shape", "4y", PMI_RANK=rank, PMI_SIZE="2")
    assert (done.returncode, done.stderr.count("\n")) == (2, lines)


def test_what_fails_on_a_rank_alone_is_told_by_it():
    code = "import sys, pathlib; from kumihimo.cli import carry_out, verbs\n"
    code += "verbs.app = lambda *a, **k: pathlib.Path('/nowhere/at/all').read_text()\nsys.exit(carry_out([]))"
    done = command(code, PMI_RANK="1", PMI_SIZE="2")
    assert (done.returncode, done.stderr) == (2, "kumihimo: No such file or directory: /nowhere/at/all\n")


@pytest.fixture
def library(tmp_path) -> str:
    """The prefix of an MPI library, as far as the command looks before it starts anything."""
    for name in ("bin/mpiexec.hydra", "lib/libmpich.so.12"):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text("")
        path.chmod(0o755)
    return str(tmp_path)


@pytest.mark.parametrize(("rank", "lines"), [("0", 1), ("1", 0)])
def test_that_nothing_fits_is_said_once(library, rank, lines):
    arguments = ("bench", "allreduce", "--trees", "7", "-b", "8", "--mpi", library)
    done = command(RUN, *arguments, PMI_RANK=rank, PMI_SIZE="2")
    assert (done.returncode, done.stderr.count("\n")) == (2, lines)
    assert "fits these ranks" in done.stderr or not lines


@pytest.mark.parametrize("rank", ["0", "3"])
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bench allreduce --mpi /nowhere", "(got '/nowhere', which is not a folder)"),
        ("simulate allreduce --machine /nowhere.toml --bytes 8", "/nowhere.toml"),
        ("report /nowhere", "/nowhere must be the folder of a report (got nothing)"),
    ],
)
def test_bad_input_that_another_machine_might_not_find_bad_is_told_by_every_rank(line, said, rank):
    done = command(RUN, *line.split(), PMI_RANK=rank, PMI_SIZE="4")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
