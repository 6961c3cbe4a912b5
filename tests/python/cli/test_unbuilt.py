"""The command where a native module is absent, and where it is one rank of a launch: sentences, no stack trace."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HIDDEN = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "kumihimo._collectives":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
sys.meta_path.insert(0, Hidden())
from kumihimo.cli import run
sys.exit(run(sys.argv[1:]))
"""


def command(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("verb", ["bench", "simulate", "demo"])
def test_an_absent_native_module_is_a_sentence(verb):
    done = command(HIDDEN, verb, *(() if verb == "demo" else ("allreduce",)))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "kumihimo._collectives); run make build" in done.stderr


RUN = "import sys; from kumihimo.cli import run; sys.exit(run(sys.argv[1:]))"


@pytest.mark.parametrize(("rank", "lines"), [("0", 1), ("1", 0), ("first", 1)])
def test_of_the_ranks_of_a_launch_the_first_refuses(rank, lines):
    done = command(RUN, "simulate", "allreduce", "--shape", "4y", PMI_RANK=rank, PMI_SIZE="2")
    assert (done.returncode, done.stderr.count("\n")) == (2, lines)


def test_what_fails_on_a_rank_alone_is_told_by_it(tmp_path):
    code = "import sys, pathlib; from kumihimo.cli import run, verbs\n"
    code += "verbs.app = lambda *a, **k: pathlib.Path('/nowhere/at/all').read_text()\nsys.exit(run([]))"
    done = command(code, PMI_RANK="1", PMI_SIZE="2")
    assert (done.returncode, done.stderr) == (2, "kumihimo: No such file or directory: /nowhere/at/all\n")
