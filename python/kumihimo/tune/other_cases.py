"""The same choice for other questions. Wisdom goes by the length alone, and is judged on sums of doubles, with root 0
and not in place; a program asks also in place, with another root, and of narrow types. What is slower than the
library's own there is not chosen at all, since it would be taken there, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kumihimo import _schedule
from kumihimo.run.profile.collectives import Form
from kumihimo.text.ranges import times_apart
from kumihimo.tune.bench.cases import BenchCase, applies
from kumihimo.tune.bench.tuned import Choice
from kumihimo.tune.final_comparison import Judged
from kumihimo.tune.targets import in_form

USUAL = {"type": "float64", "operation": "sum", "root": 0, "in_place": False}  # the question of all other launches


@dataclass(frozen=True)
class OtherCase:
    """`label` says how the case differs."""

    label: str
    choice: Choice
    case: BenchCase


def others_of(case: BenchCase, choice: Choice, ranks: int, forms: Sequence[Form] | None = None) -> list[OtherCase]:
    """The cases that the algorithm supports: the others stay with the library in any case. `forms`: those of a program,
    in place of the usual ones.
    """
    changed = {}
    meaning = _schedule.meaning(case.collective)
    for form in forms or ():
        changed[label_of(form)] = in_form(case, form)
    if meaning.may_be_in_place and forms is None:
        changed["in place"] = replace(case, in_place=True)
    if meaning.reduces and forms is None:
        changed["int8 max"] = replace(case, type="int8", operation="max")
    if meaning.has_root:
        changed[f"root {ranks - 1}"] = replace(case, root=ranks - 1)
    return [OtherCase(label, choice, each) for label, each in changed.items() if applies(each, ranks)]


def label_of(form: Form) -> str:
    words = [f"{form.type} {form.operation}"] if form.operation else []
    return ", ".join([*words, "in place" if form.in_place else "not in place"])


def refuse(judged: Iterable[Judged], asked: Sequence[tuple[OtherCase, Judged]]) -> None:
    """Each judged size takes the answers of the nearest size at which its choice was asked for more."""
    for each in judged:
        own = [(other, found) for other, found in asked if other.choice == each.choice]
        if not own or each.refused:
            continue
        nearest = min((other.case.bytes for other, _ in own), key=partial(times_apart, each.bytes))
        near = [(other, found) for other, found in own if other.case.bytes == nearest]
        lost = [other.label for other, found in near if found.refused or found.slower]
        each.also += tuple(other.label for other, found in near if found.clear and other.label not in lost)
        if lost:
            each.refused = f"slower than the MPI library, or wrong, at {nearest} bytes: {', '.join(lost)}"
