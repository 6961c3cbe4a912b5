"""Alternative forms of a cost: other keys of the machine file for the same effect, of which a calibration takes the one
that extrapolates. What each key means: docs/machines.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo.predict.calibrate.numbers import TABLE


@dataclass(frozen=True)
class CostForm:
    """`adds`: keys of [software] and their first values. `needs`: a key that the file must have, after which they are
    written."""

    name: str
    meaning: str
    needs: str
    adds: tuple[tuple[str, str], ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for key, _ in self.adds)


POLL, SUM, TURN = ("put_latency", "1.5 us"), ("put_sum_latency", "0.5 us"), ("put_turn_latency", "4 us")
FORMS = (
    CostForm("puts taken as messages", "the receiver takes a put in receive_cost, as it takes a message", "put_setup"),
    CostForm("puts polled", "the receiver polls a flag behind the bytes: put_latency", "put_setup", (POLL,)),
    CostForm(
        "puts polled, into scratch",
        "put_latency, and put_sum_latency of the puts of calls that sum up, which arrive in scratch",
        "put_setup",
        (POLL, SUM),
    ),
    CostForm(
        "puts polled, into scratch, with turns",
        "the same, and put_turn_latency between the phases of a call",
        "put_setup",
        (POLL, SUM, TURN),
    ),
)
KEYS = tuple(dict.fromkeys(key for form in FORMS for key in form.keys))


def line_of(key: str) -> re.Pattern:
    return re.compile(rf"^{key}\s*=\s*{TABLE}[^\n]*\n?", re.MULTILINE)


def candidates(text: str) -> list[CostForm]:
    """Those that the machine file can have, the one that it has first. One alone: there is nothing to choose."""
    known = [form for form in FORMS if line_of(form.needs).search(text)]
    present = {key for key in KEYS if line_of(key).search(text)}
    return sorted(known, key=lambda form: set(form.keys) != present)


def applied(text: str, form: CostForm, others: Sequence[str] = KEYS) -> str:
    """The machine file with this form: its keys, with the file's values where it has them, and none of `others`."""
    kept = dict(form.adds)
    for key in others:
        if key not in kept:
            text = line_of(key).sub("", text, count=1)
    for key, value in reversed(form.adds):
        if not line_of(key).search(text):
            after = line_of(form.needs).search(text).end()
            text = f'{text[:after]}{key} = {{ value = "{value}", assumed = "on trial" }}\n{text[after:]}'
    return text
