"""The libraries that are here: what they tell of themselves, and that files are obeyed or seen not to be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumihimo.processes import mpi
from kumihimo.text.errors import BadInput
from kumihimo.tune.mpi_library import Effort, Setup, tune
from kumihimo.tune.mpi_library.algorithms import AUTO, COLLECTIVES, DEFAULT, catalogue
from kumihimo.tune.mpi_library.check import Baseline, Verdict, check
from kumihimo.tune.mpi_library.exports import mpich_json, openmpi_rules
from kumihimo.tune.mpi_library.exports.rules import rules_of
from kumihimo.tune.mpi_library.fingerprints import fingerprints_of, references
from kumihimo.tune.mpi_library.measure import LibraryTable
from kumihimo.tune.mpi_library.results import Results, export, version_of

FAMILIES = [installation.family for installation in mpi.discover()]
pytestmark = [pytest.mark.mpi, pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")]
SIZES = (1024, 65536)
# By family: choices that even two ranks show.
SHOWN = {
    "openmpi": {"allreduce": "rabenseifner", "reduce": "rabenseifner", "bcast": DEFAULT},
    "mpich": {"allreduce": "recursive_doubling", "reduce": "reduce_scatter_gather", "bcast": "binomial"},
}


@pytest.fixture(scope="module", params=FAMILIES)
def known(request):
    """(setup, catalogue, reference) of a library."""
    setup = Setup(mpi.choose(request.param), 2, SIZES)
    found = catalogue(setup.installation)
    return setup, found, references(setup, found)


def written(known, ranks: int = 2):
    """Rules of visible choices, and the file for this library."""
    _, found, _ = known
    chosen = {c: dict.fromkeys(SIZES, name) for c, name in SHOWN[found.family].items()}
    rules = rules_of(chosen, ranks, found)
    if found.family == "mpich":
        return rules, mpich_json.write(rules, found)
    return rules, openmpi_rules.write(rules, openmpi_rules.version_for(version_of(found.version)))


def judged(known, folder, rules, file):
    path = folder / file.file_name
    path.write_text(file.text)
    return check(Baseline(*known), rules, file, path)


def test_a_library_tells_its_algorithms(known):
    _, found, _ = known
    for collective in COLLECTIVES:
        names = [a.name for a in found.candidates[collective]]
        assert names[0] == DEFAULT
        assert len(names) > 3
        assert len(set(names)) == len(names)
    if found.family == "openmpi":
        assert found.find("allreduce", "ring").number == 4  # of coll/tuned, in 4 and 5
        assert found.find("bcast", "chain").fan_out > 0
    else:
        assert "barrier" in found.tables
        assert found.candidates["reduce"][1].name == AUTO


def test_fingerprints_are_the_same_each_time_and_tell_algorithms_apart(known):
    setup, _, reference = known
    again = fingerprints_of(setup, {})
    for (collective, size), marks in again.marks.items():
        assert marks == reference[collective, DEFAULT, size]
    for collective in ("allreduce", "reduce"):
        marks = {tuple(m.items()) for (c, _, size), m in reference.items() if (c, size) == (collective, 1024)}
        assert len(marks) > 1


def test_a_file_is_obeyed(known, tmp_path):
    found = judged(known, tmp_path, *written(known))
    assert found.verdict is Verdict.OBEYED, found.line()
    seen = {(p.collective, p.bytes) for p in found.proofs if p.verdict is Verdict.OBEYED}
    assert ("reduce", 1024) in seen
    assert Verdict.NOT_OBEYED not in {p.verdict for p in found.proofs}


def test_a_broken_file_is_not_obeyed(known, tmp_path):
    rules, file = written(known)
    found = judged(known, tmp_path, rules, replace(file, text=file.text[: len(file.text) // 2]))
    assert found.verdict is Verdict.NOT_OBEYED
    assert bool(found.ended) == (known[1].family == "mpich")  # which ends the job; Open MPI ignores the file


def test_a_file_for_other_ranks_is_not_obeyed(known, tmp_path):
    _, file = written(known, ranks=5)
    rules, _ = written(known)
    assert judged(known, tmp_path, rules, file).verdict is Verdict.NOT_OBEYED


def test_a_file_for_other_sizes_is_not_obeyed(known, tmp_path):
    rules, file = written(known)
    other = file.text.replace("1024 ", "2048 ").replace("<=1023", "<=2047")
    assert other != file.text
    found = judged(known, tmp_path, rules, replace(file, text=other))
    assert found.verdict is Verdict.NOT_OBEYED
    assert {p.bytes for p in found.proofs if p.verdict is Verdict.NOT_OBEYED} == {1024}


def test_an_algorithm_that_does_not_exist_is_not_obeyed(known, tmp_path):
    rules, file = written(known)
    wrong = file.text.replace("1024 6 ", "1024 66 ").replace("1024 7 ", "1024 77 ")
    wrong = wrong.replace("_intra_recursive_doubling", "_intra_no_such", 1000)
    assert wrong != file.text
    assert judged(known, tmp_path, rules, replace(file, text=wrong)).verdict is Verdict.NOT_OBEYED


def test_a_file_that_is_not_there_is_not_obeyed(known, tmp_path):
    rules, file = written(known)
    away = tuple((name, value + ".not_there") for name, value in file.settings)
    assert judged(known, tmp_path, rules, replace(file, settings=away)).verdict is Verdict.NOT_OBEYED


def test_all_forms_that_fit_are_written_beside_how_they_are_used(known, tmp_path):
    setup, found, reference = known
    chosen = {c: dict.fromkeys(SIZES, name) for c, name in SHOWN[found.family].items()}
    files = export(Results(setup, found, reference, LibraryTable(2), chosen), tmp_path / "new")
    assert {w.path.name for w in files} == {p.name for p in (tmp_path / "new").iterdir()}
    assert files[0].check.verdict is Verdict.OBEYED
    assert not any(w.disobeyed for w in files)
    assert all(str(w.path) in " ".join(w.lines()) for w in files if w.export.settings and w.check)
    assert "ucc.env" in {w.path.name for w in files}


def test_nothing_is_written_where_the_default_is_best(known, tmp_path):
    setup, found, reference = known
    chosen = {c: dict.fromkeys(SIZES, DEFAULT) for c in COLLECTIVES}
    assert export(Results(setup, found, reference, LibraryTable(2), chosen), tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_all_algorithms_are_measured(known):
    setup, _, _ = known
    results = tune(replace(setup, sizes=(1024,)), Effort(launches=2, case_seconds=0.002))
    for collective in COLLECTIVES:
        names = {r.algorithm for r in results.table.of(collective, 1024)}
        tried = {name for c, name, size in results.reference if (c, size) == (collective, 1024)}
        assert names == tried
    assert all(len(r.launches) == 2 and 0 < r.low <= r.seconds <= r.high < 10 for r in results.table.rows)


@pytest.mark.parametrize("wrong", [(), (7,), (12,), (0,)])
def test_sizes_are_whole_elements(wrong):
    with pytest.raises(BadInput):
        Setup(mpi.choose(), 2, wrong)
