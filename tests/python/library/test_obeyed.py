"""The verdict on a file, from recorded marks."""

from __future__ import annotations

from kumihimo.library.algorithms import AUTO, DEFAULT, Algorithm
from kumihimo.library.exports.rules import LIBRARY, Rule, Rules
from kumihimo.library.obeyed import Check, Verdict, compared
from kumihimo.library.tell import Told

RING = Algorithm("allreduce", "ring", 4)
REFERENCE = {
    ("allreduce", DEFAULT, 8): {"sum": "a", "nan": "b", "trace": "c"},
    ("allreduce", AUTO, 8): {"sum": "a", "nan": "b", "trace": "c"},
    ("allreduce", "ring", 8): {"sum": "a", "nan": "d", "trace": "e"},
    ("allreduce", "twin", 8): {"sum": "a", "nan": "b", "trace": "c"},
}


def verdict(seen: dict, algorithm: Algorithm | None = RING, family: str = "openmpi") -> Check:
    rules = Rules(4, {"allreduce": (Rule(0, algorithm),)})
    return Check("form", list(compared(family, rules, REFERENCE, Told({("allreduce", 8): seen}))))


def test_the_marks_of_the_algorithm_prove_it():
    found = verdict({"sum": "a", "nan": "d", "trace": "e"})
    assert found.verdict is Verdict.OBEYED
    assert found.proofs[0].by == ("nan", "trace")


def test_the_marks_of_the_default_show_that_the_file_was_ignored():
    found = verdict({"sum": "a", "nan": "b", "trace": "c"})
    assert found.verdict is Verdict.NOT_OBEYED
    assert "ran default or auto or twin" in found.line()


def test_marks_of_nothing_known_are_no_proof():
    found = verdict({"sum": "x", "nan": "y", "trace": "z"})
    assert found.verdict is Verdict.NOT_OBEYED
    assert "none that is known" in found.line()


def test_some_of_the_marks_are_not_enough():
    assert verdict({"sum": "a", "nan": "d", "trace": "c"}).verdict is Verdict.NOT_OBEYED


def test_what_looks_like_the_default_is_not_provable():
    assert (
        verdict({"sum": "a", "nan": "b", "trace": "c"}, Algorithm("allreduce", "twin")).verdict is Verdict.NOT_PROVABLE
    )


def test_a_file_may_not_change_what_it_leaves_to_the_library():
    assert verdict({"sum": "a", "nan": "b", "trace": "c"}, LIBRARY).verdict is Verdict.NOT_PROVABLE
    assert verdict({"sum": "a", "nan": "d", "trace": "e"}, LIBRARY).verdict is Verdict.NOT_OBEYED


def test_mpich_leaves_operations_that_are_not_its_own_alone():
    found = verdict({"sum": "a", "nan": "d", "trace": "c"}, family="mpich")
    assert found.verdict is Verdict.OBEYED
    assert found.proofs[0].by == ("nan",)


def test_without_marks_nothing_is_proved():
    assert verdict({}).verdict is Verdict.NOT_PROVABLE


def test_a_call_that_is_refused_and_a_job_that_ends_are_not_obeyed():
    rules = Rules(4, {"allreduce": (Rule(0, RING),)})
    told = Told(refused={("allreduce", 8): "no"})
    assert Check("form", list(compared("openmpi", rules, REFERENCE, told))).verdict is Verdict.NOT_OBEYED
    assert Check("form", ended="Internal error").verdict is Verdict.NOT_OBEYED
