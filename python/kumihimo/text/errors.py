"""Expected failures: one sentence of what is wrong, and what to do.

The native side raises these through `bindings/border.hpp`; Python code raises them too. They are no bugs, so the
command shows the sentence alone, without a stack trace.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterable, Iterator

from kumihimo.text import odd_bytes


class KumihimoError(Exception):
    """Root of all expected failures. `exit_code` is what the command ends with."""

    kind = "failed"
    exit_code = 1
    of_machine = False  # found by looking at this machine, not at the command line alone

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__(problem, advice)
        self.problem = problem
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.problem}; {self.advice}" if self.advice else self.problem


class BadInput(KumihimoError):
    """A value of the user is wrong."""

    kind = "bad_input"
    exit_code = 2


class NotApplicable(KumihimoError):
    """A variant does not fit the case; code that tries all variants skips it."""

    kind = "not_applicable"
    exit_code = 2


class Failed(KumihimoError):
    """A check failed, or the machine did."""


class OutOfTime(Failed):
    """The time limit ended a run."""


MOST_OF_A_VALUE = 200  # characters of it that an error shows
MOST_OF_A_SENTENCE = 1600
LONG_WORD = re.compile(rf"\S{{{2 * MOST_OF_A_VALUE},}}")

# Python code makes errors by these functions, as C++ does by those of base/result.hpp. Each says what is wrong, then
# what to do:
# "--ranks must be at least 2 (got 1); leave it out for all processors".


def wrong_value(rule: str, got: object = None, advice: str = "") -> BadInput:
    """`rule`: what the value must be. `got`: the value as the user gave it."""
    return BadInput(with_value(rule, got), advice)


def missing(what: str, advice: str) -> BadInput:
    """Something that the user must give: "the length of the data is missing; add --bytes 1MiB"."""
    return BadInput(f"{what} is missing", advice)


def not_applicable(rule: str, got: object = None, advice: str = "") -> NotApplicable:
    """The value is right, but not for this collective, algorithm, library or machine."""
    return NotApplicable(with_value(rule, got), advice)


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The advice for a misspelt name; `otherwise` where none is near."""
    nearest = difflib.get_close_matches(word, list(known), 1)
    return f"did you mean {nearest[0]}?" if nearest else otherwise


def failed(what: str, reason: str = "", advice: str = "") -> Failed:
    """Something that should have worked: "mpirun did not start: no such file; install it"."""
    return Failed(f"{what}: {reason}" if reason else what, advice)


def with_value(rule: str, got: object) -> str:
    text = str(got)
    shown = text if len(text) <= MOST_OF_A_VALUE else f"{text[:MOST_OF_A_VALUE]}..."
    return rule if got is None else f"{rule} (got {shown})"


def one_line(sentence: str) -> str:
    """As it is printed, whatever a file put into it: without control characters, and long words and lines are cut."""
    words = LONG_WORD.sub(lambda word: f"{word[0][:MOST_OF_A_VALUE]}...", " ".join(sentence.splitlines()))
    text = odd_bytes.visible(words)
    half = MOST_OF_A_SENTENCE // 2
    return text if len(text) <= MOST_OF_A_SENTENCE else f"{text[:half]} ... {text[-half:]}"


@contextlib.contextmanager
def errors_at(where: str, unless: str | None = None) -> Iterator[None]:
    """Bad input that is found within is said to be there, unless its sentence has the word `unless`."""
    try:
        yield
    except BadInput as error:
        if unless is not None and unless in error.problem:
            raise
        raise BadInput(f"{where}: {error.problem}", error.advice) from None


@contextlib.contextmanager
def errors_of_this_machine() -> Iterator[None]:
    """Marks errors raised within: the ranks of a launch share a command line but not always a machine, so one rank may
    meet such an error alone. Also a decorator: @errors_of_this_machine()."""
    try:
        yield
    except KumihimoError as error:
        error.of_machine = True
        raise
