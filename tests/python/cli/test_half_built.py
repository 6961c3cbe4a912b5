"""Without a native module, a verb that needs it says so in one sentence; the others work."""

from __future__ import annotations

import subprocess
import sys

import pytest

RUN = """
import sys

class Missing:
    def find_spec(self, name, *rest):
        if name == sys.argv[1]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from kumihimo import cli
sys.exit(cli.carry_out(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("kumihimo._base", ("--version",)),
        ("kumihimo._predict", ("simulate", "allreduce", "--machine", "k-computer", "--bytes", "8")),
        ("kumihimo._verify", ("verify",)),
        ("kumihimo._schedule", ("show", "--help")),
    ],
)
def test_one_sentence_and_1(module, arguments):
    done = subprocess.run([sys.executable, "-c", RUN, module, *arguments], capture_output=True, text=True, check=False)
    sentence = f"kumihimo: the package is not completely built ({module} is missing); run make build\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence)


def test_a_dependency_that_is_not_there_is_named():
    line = [sys.executable, "-c", RUN, "typer", "tune", "--help"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    sentence = "kumihimo: the Python module typer is missing; install the packages that pip check names\n"
    assert (done.returncode, done.stderr) == (1, sentence)


def test_the_list_of_verbs_needs_nothing():
    line = [sys.executable, "-c", RUN, "kumihimo._schedule", "--help"]
    assert "simulate app" in subprocess.run(line, capture_output=True, text=True, check=True).stdout


def test_a_verb_that_does_not_need_it_works():
    line = [sys.executable, "-c", RUN, "kumihimo._predict", "machine", "list"]
    assert "k-computer" in subprocess.run(line, capture_output=True, text=True, check=True).stdout
