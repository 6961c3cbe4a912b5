"""Arguments that a user gives explicitly, on a command line or to a function, and which of them mean nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kumihimo import _schedule
from kumihimo.text.errors import wrong_value


@dataclass(frozen=True)
class GivenOption:
    """`name`: of the argument of the verb; `flag`: as the command line has it; `value`: None of a flag."""

    name: str
    flag: str
    value: object


def refuse(given: Iterable[GivenOption], what: str, refused: Iterable[str]) -> None:
    """`refused`: names. `what`: the words before "no --x", such as "a GOAL file takes"."""
    names = frozenset(refused)
    for each in given:
        if each.name in names:
            raise wrong_value(f"{what} no {each.flag}", each.value, "leave it out")


def refuse_all_but(given: Iterable[GivenOption], what: str, taken: Iterable[str]) -> None:
    """`taken`: the names that are right."""
    given, names = list(given), frozenset(taken)
    refuse(given, what, (each.name for each in given if each.name not in names))


def refuse_beside_programs(given: Iterable[GivenOption], taken: Iterable[str]) -> None:
    """Refuses what programs that are no collective do not heed. `taken`: names of what they do."""
    refuse_all_but(given, "halo exchanges and program files take", taken)


def refuse_beside_collective(given: Iterable[GivenOption], collective: str) -> None:
    """Refuses what this collective does not have: data, an operation, a form in place or with different counts,
    neighbours."""
    row = _schedule.meaning(collective)
    data = "" if row.moves_data else "moves no data"
    has_not = {
        **dict.fromkeys(("count", "bytes_", "sizes", "type_"), data),
        "operation": "" if row.reduces else "reduces nothing",
        "in_place": data or ("" if row.may_be_in_place else "has no in-place form"),
        "counts": data or ("" if row.has_irregular_form else "has no form with different counts"),
        "neighbours": "" if row.of_neighbours else "has no neighbours",
    }
    for each in given:
        if has_not.get(each.name):
            rule = f"{collective} {has_not[each.name]} and takes no {each.flag}"
            raise wrong_value(rule, each.value, "leave it out")
