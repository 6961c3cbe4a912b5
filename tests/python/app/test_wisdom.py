"""Choices of applications on disk: which case they are for, and that another golden copy ends them."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo.app import wisdom
from kumihimo.app.catalogue import AppCandidate, ApplicationRow
from kumihimo.app.launches import AppProblem, Resources
from kumihimo.processes import mpi
from kumihimo.text.errors import BadInput

M = [{"name": "m", "min": 0, "max": 9, "values": [4]}]
VARIANTS = ({"name": "golden", "parameters": []}, *({"name": n, "parameters": M} for n in ("fast", "other", "again")))
APPLICATION = ApplicationRow("toy", "", "", "", "64", "abc", ("cg",), VARIANTS, ())
PROBLEM = AppProblem(APPLICATION, "64", {"boundary": "all"}, "cg")


def on(ranks: int = 1, threads: int = 2) -> Resources:
    return Resources(ranks, threads, None)


def kept(problem: AppProblem = PROBLEM, variant: str = "fast", ranks: int = 1, threads: int = 2) -> dict:
    choice = {**wisdom.key_of(problem, on(ranks, threads)), "golden_hash": problem.application.golden_hash}
    choice |= {"variant": variant, "parameters": {"m": 4} if variant != "golden" else {}}
    wisdom.keep(choice)
    return choice


def test_a_choice_is_found_for_its_case_alone() -> None:
    assert wisdom.choice_for(PROBLEM, on(1, 2)) is None
    choice = kept()
    assert wisdom.choice_for(PROBLEM, on(1, 2)) == choice
    assert wisdom.candidate_of(choice) == AppCandidate("fast", (("m", 4),))
    assert wisdom.choice_for(replace(PROBLEM, size="65x64x64"), on(1, 2)) == choice, "the same class of sizes"
    for other in (
        replace(PROBLEM, size="128"),
        replace(PROBLEM, options={}),
        replace(PROBLEM, method="pipelined"),
        replace(PROBLEM, tolerance=1e-6),
        replace(PROBLEM, application=replace(APPLICATION, name="other")),
        replace(PROBLEM, application=replace(APPLICATION, compiler="GCC 13")),
    ):
        assert wisdom.choice_for(other, on(1, 2)) is None
    assert wisdom.choice_for(PROBLEM, on(2, 2)) is None
    assert wisdom.choice_for(PROBLEM, on(1, 1)) is None
    for other in (replace(on(), grid="1x1x1"), replace(on(), sums="ring"), replace(on(), installation=OPENMPI)):
        assert wisdom.choice_for(PROBLEM, other) is None


def test_other_cases_tell_what_is_promising() -> None:
    elsewhere = replace(PROBLEM, size="512")
    assert wisdom.known_candidates(elsewhere, on()) == []
    kept(replace(PROBLEM, size="8"), "golden")
    kept(replace(PROBLEM, size="16", options={}), "other")
    kept(replace(PROBLEM, size="32"), "again")
    kept(PROBLEM, "fast", ranks=2)
    kept(replace(PROBLEM, application=replace(APPLICATION, compiler="GCC 13")), "fast")
    again, other = (AppCandidate(name, (("m", 4),)) for name in ("again", "other"))
    assert wisdom.known_candidates(elsewhere, on()) == [again, other]
    assert wisdom.known_candidates(replace(elsewhere, options={}), on()) == [other, again]
    edited = replace(APPLICATION, golden_hash="def")
    assert wisdom.known_candidates(replace(elsewhere, application=edited), on()) == []


OPENMPI, MPICH = (
    mpi.Installation(name, Path("/nowhere/bin/mpiexec"), Path("/nowhere", name)) for name in mpi.LIBRARIES
)


def test_a_choice_holds_for_one_mpi_library() -> None:
    wisdom.keep({**kept(), **wisdom.key_of(PROBLEM, replace(on(), installation=OPENMPI))})
    assert wisdom.choice_for(PROBLEM, replace(on(), installation=OPENMPI))
    for other in (MPICH, replace(OPENMPI, library=Path("/elsewhere/openmpi"))):
        assert wisdom.choice_for(PROBLEM, replace(on(), installation=other)) is None
    newer = replace(OPENMPI)
    newer.__dict__["version"] = "99.1"
    assert wisdom.choice_for(PROBLEM, replace(on(), installation=newer)) is None


def test_a_share_of_the_processors_is_a_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    choice = kept(ranks=2, threads=0)
    assert choice["threads"] == 4
    assert wisdom.choice_for(PROBLEM, on(2, 4)) == choice
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    assert wisdom.choice_for(PROBLEM, on(2, 0)) is None, "a job with other processors"


@pytest.mark.parametrize(
    "change",
    [
        {"variant": "gone"},
        {"variant": 3},
        {"parameters": {"n": 4}},
        {"parameters": {"m": 10}},
        {"parameters": {"m": "4"}},
        {"parameters": None},
    ],
)
def test_a_choice_that_is_not_understood_is_kept_and_not_used(change: dict) -> None:
    kept()
    document = json.loads(wisdom.path().read_text())
    for name, value in change.items():
        if value is None:
            del document["choices"][0][name]
        else:
            document["choices"][0][name] = value
    document["choices"].append({"of": "a later version"})
    wisdom.path().write_text(json.dumps(document))
    assert wisdom.choice_for(PROBLEM, on(1, 2)) is None
    kept(ranks=2)
    assert json.loads(wisdom.path().read_text())["choices"][:2] == document["choices"]


def test_searches_at_the_same_time_lose_no_choice() -> None:
    threads = [threading.Thread(target=kept, kwargs={"ranks": ranks}) for ranks in range(1, 17)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(wisdom.choice_for(PROBLEM, on(ranks, 2)) for ranks in range(1, 17))


def test_a_folder_that_cannot_be_written_is_found_before_a_search() -> None:
    wisdom.path().parent.parent.mkdir(parents=True)
    wisdom.path().parent.write_text("a file")
    with pytest.raises(BadInput, match=r"the folder of wisdom must be writable .*; set XDG_DATA_HOME"):
        wisdom.check_writable()


def test_an_edited_golden_copy_has_no_choices() -> None:
    kept()
    edited = replace(PROBLEM, application=replace(APPLICATION, golden_hash="abd"))
    assert wisdom.choice_for(edited, on(1, 2)) is None
    kept(edited, "other")
    assert wisdom.choice_for(edited, on(1, 2))["variant"] == "other"
    assert wisdom.choice_for(PROBLEM, on(1, 2)) is None, "the file holds one choice of a case"


def test_choices_of_other_cases_stay() -> None:
    first, second = kept(), kept(ranks=2)
    third = kept(variant="again")
    assert wisdom.choice_for(PROBLEM, on(1, 2)) == third != first
    assert wisdom.choice_for(PROBLEM, on(2, 2)) == second


@pytest.mark.parametrize(
    "text", ["", "nothing", "[]", "{}", '{"machine": 1, "choices": 3}', '{"choices": [{}]}', '{"kumihimo_wisdom": 2}']
)
def test_a_broken_file_has_no_choices(text: str) -> None:
    wisdom.path().parent.mkdir(parents=True)
    wisdom.path().write_text(text)
    assert wisdom.choice_for(PROBLEM, on(1, 2)) is None
    with pytest.raises(BadInput, match=r"the wisdom file of applications must be .*; correct or remove it"):
        kept()
    assert wisdom.path().read_text() == text, "it is not written over"


def test_another_machine_has_no_choices() -> None:
    kept()
    document = json.loads(wisdom.path().read_text())
    document["machine"]["processors"] += 1
    wisdom.path().write_text(json.dumps(document))
    assert wisdom.choice_for(PROBLEM, on(1, 2)) is None


def test_classes_of_sizes(tmp_path: Path) -> None:
    assert wisdom.size_class(PROBLEM) == "2^18"
    assert wisdom.size_class(replace(PROBLEM, size="128x128x64")) == "2^20"
    application = replace(APPLICATION, options=({"name": "matrix", "replaces_size": True, "choices": []},))
    matrix = tmp_path / "a.mtx"
    matrix.write_text("12345")
    of_file = replace(PROBLEM, application=application, options={"matrix": str(matrix)})
    first = wisdom.key_of(of_file, on())
    assert first["size_class"].startswith(f"{matrix}, 5 bytes, modified at ") and first["options"] == {}
    os.utime(matrix, ns=(1, 2))
    assert wisdom.key_of(of_file, on()) != first, "another matrix of the same name and length"
    assert of_file.subject == str(matrix)
    assert wisdom.size_class(replace(of_file, options={"matrix": "/no-such.mtx"})) == "/no-such.mtx"
    assert wisdom.size_class(replace(of_file, options={})) == "2^18"
