"""Expected failures: one clear sentence of what was expected, what was found and what to do.

The native side raises these through `bindings/border.hpp`; Python code raises them too. They are no bugs, so the
command shows the sentence alone, without a stack trace.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class KumihimoError(Exception):
    """Root of all expected failures. `exit_code` is what the command ends with."""

    kind = "failed"
    exit_code = 1
    of_machine = False  # found by looking at this machine, not at the command line alone

    def __init__(self, expected: str, found: str = "", advice: str = "") -> None:
        super().__init__(expected, found, advice)
        self.expected = expected
        self.found = found
        self.advice = advice

    def __str__(self) -> str:
        sentence = self.expected
        if self.found:
            sentence += f", found {self.found}"
        if self.advice:
            sentence += f"; {self.advice}"
        return sentence


class BadInput(KumihimoError):
    """What the user gave is wrong."""

    kind = "bad_input"
    exit_code = 2


class NotApplicable(KumihimoError):
    """A variant does not fit the case; whoever tries all variants passes over it."""

    kind = "not_applicable"
    exit_code = 2


class Failed(KumihimoError):
    """A check failed, or the machine did."""


class OutOfTime(Failed):
    """What ran was ended by its time limit."""


@contextlib.contextmanager
def looking_at_the_machine() -> Iterator[None]:
    """Marks what is raised within: the ranks of one launch share a command line, but not always a machine, so that one
    may meet it alone. Also a decorator: @looking_at_the_machine()."""
    try:
        yield
    except KumihimoError as error:
        error.of_machine = True
        raise
