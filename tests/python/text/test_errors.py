"""The native border (bindings/border.hpp) and the exceptions it raises."""

from __future__ import annotations

import re

import pytest

import kumihimo
from kumihimo import _base


def test_the_version_is_that_of_the_project(repository):
    declared = re.search(r"project\(kumihimo VERSION ([0-9.]+)", (repository / "CMakeLists.txt").read_text())
    assert kumihimo.__version__ == declared[1]


@pytest.mark.parametrize("kind", [kumihimo.BadInput, kumihimo.NotApplicable, kumihimo.Failed])
def test_a_failed_result_is_raised_with_its_problem_and_advice(kind):
    with pytest.raises(kind) as caught:
        _base.fail(kind.__name__, "the root must be below 8 (got 9 · ü)", "choose 0..7")
    error = caught.value
    assert (error.problem, error.advice) == ("the root must be below 8 (got 9 · ü)", "choose 0..7")
    assert str(error) == "the root must be below 8 (got 9 · ü); choose 0..7"
    assert isinstance(error, kumihimo.KumihimoError)


def test_empty_parts_leave_no_trace_in_the_sentence():
    with pytest.raises(kumihimo.Failed, match=r"^the ranks agree$"):
        _base.fail("Failed", "the ranks agree")


def test_bytes_that_are_not_utf8_are_readable():
    with pytest.raises(kumihimo.Failed, match=r"^the line a\\xfb$"):
        _base.fail("Failed", b"the line a\xfb")


def test_an_unknown_kind_is_itself_bad_input():
    with pytest.raises(kumihimo.BadInput, match="got Sadness"):
        _base.fail("Sadness", "anything")


def test_of_a_long_value_the_beginning_is_shown():
    assert str(kumihimo.errors.wrong_value("the word must be short", "x" * 5000)).endswith(f"(got {'x' * 200}...)")
