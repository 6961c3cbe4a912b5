"""The examples of examples/python run and print what their page says; so does the notebook, cell by cell."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys

import pytest

EXPECTED = {  # a pattern of what each prints
    "choose_at_startup": r"allreduce of 8 bytes: \w+\n(allreduce of \d+ bytes: \w+\n){2}",
    "noise": r"without noise +\d+\.\d us\n(periodic:\S+ +[1-9]\d*\.\d\d times as long\n){3}",
    "own_algorithm": r"proven: True; \d+\.\d us on 2x2x2 nodes of Fugaku\nwith a fault: .*rank",
    "own_topology": r"1 cables: alltoall of 8 ranks by \w+ in [\d.]+ ms\n4 cables: .* ms\n",
    "parallel_sweep": r"(\S+ +\d+.iB \w+ +[\d.]+ us\n){9}",
    "place_in_job": r"mpi(run|exec)\S* .*hosts\.txt.*\n",
    "prove_algorithms": r"(\w+ +\d+ steps  proven\n){3,}",
    "replay_what_if": r"16 ranks on fugaku .*\nparallel efficiency \d+%\n(.*: [\d.]+ times as fast\n){3}",
    "three_machines": r"k-computer +\w+ +[\d.]+ us\nfugaku +\w+ +[\d.]+ us\nleonardo +\w+ +[\d.]+ us\n",
    "traffic_matrix": r"average hops 1\.00, in the usual order [\d.]+\nranks 0 and 8 are on nodes \d+ and \d+\n",
}
SLURM = {"SLURM_JOB_NODELIST": "cn[01-08]", "SLURM_TASKS_PER_NODE": "2(x8)"}


def test_each_example_is_tested_and_listed(repository):
    folder = repository / "examples" / "python"
    assert {path.stem for path in folder.glob("*.py")} == EXPECTED.keys()
    page = (folder / "README.md").read_text()
    assert all(f"`{path.name}`" in page for path in folder.iterdir() if path.name != "README.md")


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs(name, repository, tmp_path):
    if name == "traffic_matrix":
        pytest.importorskip("numpy")
    line = [sys.executable, "-W", "error", repository / "examples" / "python" / f"{name}.py"]
    done = subprocess.run(
        line, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=600, env={**os.environ, **SLURM}
    )
    assert done.returncode == 0, done.stderr
    assert re.match(EXPECTED[name], done.stdout), done.stdout


def test_the_shortest_has_at_most_15_lines(repository):
    text = (repository / "examples" / "python" / "three_machines.py").read_text()
    assert len(text.splitlines()) <= 15


def test_the_notebook_runs(repository):
    pytest.importorskip("numpy")
    notebook = json.loads((repository / "examples" / "python" / "tour.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    assert all(not cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"), "outputs are not kept"
    names: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in cells:
            exec(compile(cell, "tour.ipynb", "exec"), names)
    assert names["proofs"].proven and "lane 0" in printed.getvalue()
    assert names["placed"].average_hops <= names["placed"].usual_hops
