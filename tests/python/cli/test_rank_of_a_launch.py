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


RUN = "import sys; from kumihimo.cli import run; sys.exit(run(sys.argv[1:]))"


@pytest.mark.parametrize(("rank", "lines"), [("0", 1), ("1", 0), ("first", 1)])
def test_of_the_ranks_of_a_launch_the_first_refuses(rank, lines):
    done = command(RUN, "simulate", "allreduce", "--shape", "4y", PMI_RANK=rank, PMI_SIZE="2")
    assert (done.returncode, done.stderr.count("\n")) == (2, lines)


def test_what_fails_on_a_rank_alone_is_told_by_it():
    code = "import sys, pathlib; from kumihimo.cli import run, verbs\n"
    code += "verbs.app = lambda *a, **k: pathlib.Path('/nowhere/at/all').read_text()\nsys.exit(run([]))"
    done = command(code, PMI_RANK="1", PMI_SIZE="2")
    assert (done.returncode, done.stderr) == (2, "kumihimo: No such file or directory: /nowhere/at/all\n")
