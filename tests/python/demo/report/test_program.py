"""The part of the page about an unmodified program."""

from __future__ import annotations

import copy
import json

import pytest

from kumihimo.demo import report
from kumihimo.demo.experiment import unmodified
from kumihimo.demo.report.folder import Material
from kumihimo.demo.report.page import render
from kumihimo.text.errors import BadInput

SAMPLE = {
    "form": "kumihimo-unmodified-2",
    "program": "lmp",
    "package": "lammps",
    "mpi": "Open MPI v4.1.4, package: Debian",
    "ranks": 2,
    "launches": 6,
    "commands": ["kumihimo record -- mpirun -n 2 lmp", "kumihimo run -- mpirun -n 2 lmp"],
    "mpi_share": 0.25,
    "sites": [{"call": "MPI_Allreduce", "place": "<main>", "calls": 20000, "bytes": 160000, "seconds": 0.125}],
    "ran": [
        {"collective": "allreduce", "algorithm": "recursive_doubling", "bytes_from": 8, "bytes_to": 15, "calls": 20000}
        | {"times_as_fast": [1.5, 1.75]},
        {
            "collective": "bcast",
            "algorithm": "library",
            "bytes_from": 0,
            "bytes_to": 0,
            "calls": 4,
            "times_as_fast": None,
        },
    ],
    "program_time": {"without": 2.5, "with": 2.25, "ratio": 0.901, "ratio_low": 0.89, "ratio_high": 0.91},
    "collective_time": {"without": 0.030, "with": 0.020, "ratio": 0.654, "ratio_low": 0.6, "ratio_high": 0.7},
    "figures": 143,
    "same_figures": True,
}


def test_says_what_ran_and_what_became_of_the_time() -> None:
    page = render(Material(unmodified=SAMPLE))
    for words in (
        "recursive doubling",
        "20,000",
        "1.50 to 1.75",
        "0.654×",
        "30.0 ms",
        "20.0 ms",
        "2.50 s",
        "0.901×",
        "prints 143 physical results",
    ):
        assert words in page, words
    assert "the library&#39;s own" in page
    assert "&lt;main&gt;" in page and "<main>\n" in page  # a place is text, not a tag


def test_says_that_figures_differ() -> None:
    assert "physical results differ between launches" in render(Material(unmodified={**SAMPLE, "same_figures": False}))


@pytest.mark.parametrize("key", ["program_time", "collective_time", "ran", "figures", "program"])
def test_a_part_without_what_the_page_needs_is_named(key: str, tmp_path) -> None:
    cut = copy.deepcopy(SAMPLE)
    del cut[key]
    (tmp_path / "unmodified.json").write_text(json.dumps(cut), encoding="utf-8")
    with pytest.raises(BadInput, match=r"unmodified\.json"):
        report.read(tmp_path)


def test_the_physics_of_a_log_are_its_numbers_without_the_times() -> None:
    log = "Step Temp E_pair\n       0         1.44   -6.7733681\n Loop time of 0.5 on 2 procs\n    1000 1.0 -5.4e+00\n"
    assert unmodified.physical_results(log) == ["0", "1.44", "-6.7733681", "1000", "1.0", "-5.4e+00"]
