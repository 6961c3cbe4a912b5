"""Alternative forms of a cost: other keys of the machine file for the same effect, of which a calibration takes the one
that extrapolates. What each key means: docs/machines.md."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kumihimo.predict.calibrate.numbers import entry_of


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
ON_TRIAL = "on trial"
KEYS = tuple(dict.fromkeys(key for form in FORMS for key in form.keys))


def line_of(text: str, key: str) -> tuple[int, int] | None:
    """Where the line of this key of [software] begins and ends. States of the software are tables of their own."""
    entry = entry_of(text, "software", key)
    if entry is None:
        return None
    end = text.find("\n", entry.end())
    return entry.start(), len(text) if end < 0 else end + 1


def candidates(text: str) -> list[CostForm]:
    """Forms that the machine file can have, its present one first. None: it has keys that no form has together, so that
    each form would lose a number.
    """
    known = [form for form in FORMS if line_of(text, form.needs)]
    present = {key for key in KEYS if line_of(text, key)}
    if present not in (set(form.keys) for form in known):
        return []
    return sorted(known, key=lambda form: set(form.keys) != present)


def without(text: str, keys: Collection[str]) -> str:
    for key in keys:
        line = line_of(text, key)
        if line is not None:
            text = text[: line[0]] + text[line[1] :]
    return text


def applied(text: str, form: CostForm, others: Sequence[str] = KEYS) -> str:
    """The machine file with this form: its keys, with the file's values where it has them, and none of `others`."""
    text = without(text, [key for key in others if key not in form.keys])
    for key, value in reversed(form.adds):
        needed = line_of(text, form.needs)
        if needed and not line_of(text, key):
            after = needed[1]
            text = f'{text[:after]}{key} = {{ value = "{value}", assumed = "{ON_TRIAL}" }}\n{text[after:]}'
    return text


def added(before: str, text: str) -> list[str]:
    """The keys that a form has added to the file `before`."""
    return [key for key in KEYS if line_of(text, key) and not line_of(before, key)]
