"""The verdict on a file, from recorded marks."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo.processes import mpi
from kumihimo.text.errors import Failed, OutOfTime
from kumihimo.tune.mpi_library import check
from kumihimo.tune.mpi_library.algorithms import AUTO, COLLECTIVES, DEFAULT, Algorithm, Catalogue
from kumihimo.tune.mpi_library.check import LibraryCheck, Verdict, compared
from kumihimo.tune.mpi_library.exports.rules import LIBRARY, Rule, Rules
from kumihimo.tune.mpi_library.fingerprints import Fingerprints, Setup
from kumihimo.tune.mpi_library.results import Results, export

RING = Algorithm("allreduce", "ring", 4)
REFERENCE = {
    ("allreduce", DEFAULT, 8): {"sum": "a", "nan": "b"},
    ("allreduce", AUTO, 8): {"sum": "a", "nan": "b"},
    ("allreduce", "ring", 8): {"sum": "a", "nan": "d"},
    ("allreduce", "twin", 8): {"sum": "a", "nan": "b"},
}


def verdict(seen: dict, algorithm: Algorithm | None = RING, family: str = "openmpi") -> LibraryCheck:
    rules = Rules(4, {"allreduce": (Rule(0, algorithm),)})
    return LibraryCheck("form", list(compared(family, rules, REFERENCE, Fingerprints({("allreduce", 8): seen}))))


def test_the_marks_of_the_algorithm_prove_it():
    found = verdict({"sum": "a", "nan": "d"})
    assert found.verdict is Verdict.OBEYED
    assert found.proofs[0].by == ("nan",)


def test_the_marks_of_the_default_show_that_the_file_was_ignored():
    found = verdict({"sum": "a", "nan": "b"})
    assert found.verdict is Verdict.NOT_OBEYED
    assert "ran default or auto or twin" in found.line()


def test_marks_of_nothing_known_are_no_proof():
    found = verdict({"sum": "x", "nan": "y"})
    assert found.verdict is Verdict.NOT_OBEYED
    assert "none that is known" in found.line()


def test_some_of_the_marks_are_not_enough():
    assert verdict({"sum": "x", "nan": "d"}).verdict is Verdict.NOT_OBEYED


def test_what_looks_like_the_default_is_not_provable():
    assert verdict({"sum": "a", "nan": "b"}, Algorithm("allreduce", "twin")).verdict is Verdict.NOT_PROVABLE


def test_a_file_may_not_change_what_it_leaves_to_the_library():
    assert verdict({"sum": "a", "nan": "b"}, LIBRARY).verdict is Verdict.NOT_PROVABLE
    assert verdict({"sum": "a", "nan": "d"}, LIBRARY).verdict is Verdict.NOT_OBEYED


@pytest.fixture
def results(monkeypatch) -> Results:
    """Whose launches show ring's marks."""
    catalogue = Catalogue("openmpi", "4.1.4", {c: (Algorithm(c, DEFAULT), RING) for c in COLLECTIVES})
    setup = Setup(mpi.Installation("openmpi", Path("/bin/true"), Path("/lib")), 2, (8,))
    monkeypatch.setattr(check, "fingerprints_of", lambda *_: Fingerprints({("allreduce", 8): {"sum": "a", "nan": "d"}}))
    return Results(setup, catalogue, REFERENCE, None, {"allreduce": {8: "ring"}})


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name.startswith("openmpi-rules.conf")}


def test_a_file_that_is_obeyed_has_its_name(results, tmp_path):
    written = export(results, tmp_path)[0]
    assert written.check.verdict is Verdict.OBEYED
    assert names(tmp_path) == {"openmpi-rules.conf"}


def test_on_a_full_disk_the_old_files_stay(results, tmp_path, monkeypatch):
    export(results, tmp_path)
    old = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(old) > 1

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Failed, match="was not written: No space left on device; make space"):
        export(results, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


def test_one_that_is_not_has_another(results, tmp_path, monkeypatch):
    monkeypatch.setattr(
        check, "fingerprints_of", lambda *_: Fingerprints({("allreduce", 8): REFERENCE["allreduce", DEFAULT, 8]})
    )
    written = export(results, tmp_path)[0]
    assert written.disobeyed
    assert names(tmp_path) == {"openmpi-rules.conf.unproven"}
    assert "openmpi-rules.conf.unproven" in " ".join(written.lines())


@pytest.mark.parametrize("where", ["before it", "in it"])
def test_without_time_for_the_check_it_is_not_said_to_disobey(results, tmp_path, monkeypatch, where):
    def late(*_):
        raise OutOfTime("kumihimo-bench-driver on 2 processes did not end within 5 s")

    if where == "in it":
        monkeypatch.setattr(check, "fingerprints_of", late)
    else:
        results.setup = replace(results.setup, step=late)
    written = export(results, tmp_path)[0]
    assert written.check.verdict is Verdict.NOT_CHECKED and not written.disobeyed
    assert "not checked: kumihimo-bench-driver on 2 processes" in written.lines()[0]
    assert names(tmp_path) == {"openmpi-rules.conf.unproven"}


def test_without_marks_nothing_is_proved():
    assert verdict({}).verdict is Verdict.NOT_PROVABLE


def test_a_call_that_is_refused_and_a_job_that_ends_are_not_obeyed():
    rules = Rules(4, {"allreduce": (Rule(0, RING),)})
    seen = Fingerprints(refused={("allreduce", 8): "no"})
    assert LibraryCheck("form", list(compared("openmpi", rules, REFERENCE, seen))).verdict is Verdict.NOT_OBEYED
    assert LibraryCheck("form", ended="Internal error").verdict is Verdict.NOT_OBEYED
