"""What whole runs of a program tell: its time or figure, and whether its results agree."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo.text.errors import Failed
from kumihimo.tune.optimise.program_runs import (
    JudgedRun,
    OptimisedProgram,
    agree,
    check_repeats,
    cost_of,
    difference,
    result_of,
    state_of,
)


@pytest.fixture
def program(tmp_path: Path) -> OptimisedProgram:
    return OptimisedProgram(("mpirun", "./a"), tmp_path)


def test_the_time_is_that_of_the_slowest_process(program, tmp_path):
    (tmp_path / "times").write_text("1.5\n2.25\n0.5\n", encoding="ascii")
    assert cost_of(program, tmp_path / "log", tmp_path / "times") == 2.25
    with pytest.raises(Failed, match=r"no process called MPI_Finalize.*use --metric"):
        cost_of(program, tmp_path / "log", tmp_path / "none")


@pytest.mark.parametrize(
    ("pattern", "more", "cost"),
    [
        (r"rate (\S+)", True, 1 / 40),
        (r"^time: (\d+)", False, 12),
        (r"[\d.]+$", False, 40),
    ],
)
def test_the_metric_is_the_last_that_the_program_prints(program, tmp_path, pattern, more, cost):
    (tmp_path / "log").write_text("time: 11\ntime: 12\nrate 30\nrate 40", encoding="utf-8")
    asked = replace(program, metric=re.compile(pattern, re.MULTILINE), more_is_better=more)
    assert cost_of(asked, tmp_path / "log", tmp_path / "none") == pytest.approx(cost)


@pytest.mark.parametrize(("pattern", "told"), [("none", "no match"), ("time", "'time'"), (r"zero (\d+)", "above 0")])
def test_a_metric_that_finds_no_number_is_refused(program, tmp_path, pattern, told):
    (tmp_path / "log").write_text("time: 11, zero 0\n", encoding="utf-8")
    with pytest.raises(Failed, match=f"--metric must find a number.*{told}"):
        cost_of(replace(program, metric=re.compile(pattern)), tmp_path / "log", tmp_path / "none")


@pytest.mark.parametrize(
    ("mine", "theirs", "tolerance", "same"),
    [
        (b"energy 1.0\n", b"energy 1.0\n", 0.0, True),
        (b"energy 1.0\n", b"energy 1.00000001\n", 0.0, False),
        (b"energy 1.0\n", b"energy 1.00000001\n", 1e-6, True),
        (b"energy 1.0D+03\n", b"energy 1000.0001d0\n", 1e-6, True),
        (b"energy 1.0\n", b"energy 1.1\n", 1e-6, False),
        (b"energy 1.0\n", b"energie 1.0\n", 1e-6, False),
        (b"1 2\n", b"1 2 3\n", 1e-6, False),
        (b"\xff 1", b"\xff 1.0000001", 1e-3, True),
        (b"0", b"1e-30", 1e-6, False),
    ],
)
def test_files_agree_bitwise_or_in_their_numbers(mine, theirs, tolerance, same):
    assert agree(mine, theirs, tolerance) is same


def test_what_differs_between_plain_runs_cannot_be_checked(program, tmp_path):
    asked = replace(program, checked=(tmp_path / "out",))
    runs = [JudgedRun(name, tmp_path, 0, (), 1.0, (text,)) for name, text in (("a", b"1"), ("b", b"1"), ("c", b"2"))]
    check_repeats(asked, runs[:2])
    assert difference(asked, *runs[:2]) == ""
    with pytest.raises(Failed, match=r"--check cannot be used: .*out differs between a and c"):
        check_repeats(asked, runs)
    with pytest.raises(Failed, match="--check must name a file that the program writes"):
        result_of(tmp_path / "out")


def test_a_file_that_a_run_did_not_write_says_nothing(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"1")
    before = state_of(path)
    with pytest.raises(Failed, match="is as it was before the run"):
        result_of(path, before)
    path.write_bytes(b"12")
    assert result_of(path, before) == b"12"
    assert result_of(path, None) == b"12"
