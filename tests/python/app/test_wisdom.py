"""Choices of applications on disk: which case they are for, and that another golden copy ends them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kumihimo.app import wisdom
from kumihimo.app.catalogue import Application, Candidate
from kumihimo.app.launches import Problem

APPLICATION = Application("toy", "", "", "", "64", "abc", ("cg",), ({"name": "golden", "parameters": []},), ())
PROBLEM = Problem(APPLICATION, "64", {"boundary": "all"}, "cg")


def kept(problem: Problem = PROBLEM, variant: str = "fast", ranks: int = 1, threads: int = 2) -> dict:
    choice = {**wisdom.key_of(problem, ranks, threads), "golden_hash": problem.application.golden_hash}
    choice |= {"variant": variant, "parameters": {"m": 4}}
    wisdom.keep(choice)
    return choice


def test_a_choice_is_found_for_its_case_alone() -> None:
    assert wisdom.choice_for(PROBLEM, 1, 2) is None
    choice = kept()
    assert wisdom.choice_for(PROBLEM, 1, 2) == choice
    assert wisdom.candidate_of(choice) == Candidate("fast", (("m", 4),))
    assert wisdom.choice_for(replace(PROBLEM, size="65x64x64"), 1, 2) == choice, "the same class of sizes"
    for other in (
        replace(PROBLEM, size="128"),
        replace(PROBLEM, options={}),
        replace(PROBLEM, method="pipelined"),
        replace(PROBLEM, application=replace(APPLICATION, name="other")),
    ):
        assert wisdom.choice_for(other, 1, 2) is None
    assert wisdom.choice_for(PROBLEM, 2, 2) is None
    assert wisdom.choice_for(PROBLEM, 1, 1) is None


def test_an_edited_golden_copy_has_no_choices() -> None:
    kept()
    edited = replace(PROBLEM, application=replace(APPLICATION, golden_hash="abd"))
    assert wisdom.choice_for(edited, 1, 2) is None
    kept(edited, "other")
    assert wisdom.choice_for(edited, 1, 2)["variant"] == "other"
    assert wisdom.choice_for(PROBLEM, 1, 2) is None, "the file holds one choice of a case"


def test_choices_of_other_cases_stay() -> None:
    first, second = kept(), kept(ranks=2)
    third = kept(variant="again")
    assert wisdom.choice_for(PROBLEM, 1, 2) == third != first
    assert wisdom.choice_for(PROBLEM, 2, 2) == second


@pytest.mark.parametrize("text", ["", "nothing", "[]", "{}", '{"machine": 1, "choices": 3}', '{"choices": [{}]}'])
def test_a_broken_file_has_no_choices(text: str) -> None:
    wisdom.path().parent.mkdir(parents=True)
    wisdom.path().write_text(text)
    assert wisdom.choice_for(PROBLEM, 1, 2) is None


def test_another_machine_has_no_choices() -> None:
    kept()
    document = json.loads(wisdom.path().read_text())
    document["machine"]["processors"] += 1
    wisdom.path().write_text(json.dumps(document))
    assert wisdom.choice_for(PROBLEM, 1, 2) is None


def test_classes_of_sizes(tmp_path: Path) -> None:
    assert wisdom.size_class(PROBLEM) == "2^18"
    assert wisdom.size_class(replace(PROBLEM, size="128x128x64")) == "2^20"
    application = replace(APPLICATION, options=({"name": "matrix", "replaces_size": True, "choices": []},))
    matrix = tmp_path / "a.mtx"
    matrix.write_text("12345")
    of_file = replace(PROBLEM, application=application, options={"matrix": str(matrix)})
    assert wisdom.size_class(of_file) == "a.mtx, 5 bytes"
    assert of_file.subject == str(matrix)
    assert wisdom.size_class(replace(of_file, options={"matrix": "no-such.mtx"})) == "no-such.mtx"
    assert wisdom.size_class(replace(of_file, options={})) == "2^18"
