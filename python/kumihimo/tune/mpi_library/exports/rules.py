"""The value that all forms are written from: which algorithm from which size on, for one number of ranks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kumihimo.text.ranges import ranges
from kumihimo.tune.mpi_library.algorithms import AUTO, DEFAULT, Algorithm, Catalogue

FILE = "@FILE@"  # stands for the path of an export's file
LIBRARY = None  # in place of an algorithm: the library decides, as without the file
ONE_NODE = "measured on one node: for jobs whose ranks share one"


@dataclass(frozen=True)
class Rule:
    """From `first` bytes on, up to the next rule."""

    first: int
    algorithm: Algorithm | None


@dataclass(frozen=True)
class Rules:
    """For communicators of `ranks` ranks. The rules of a collective ascend, and the first is for 0 bytes; a collective
    that is not there is left to the library."""

    ranks: int
    by_collective: dict[str, tuple[Rule, ...]]

    def at(self, collective: str, size: int) -> Algorithm | None:
        found = LIBRARY
        for rule in self.by_collective.get(collective, ()):
            if rule.first <= size:
                found = rule.algorithm
        return found


@dataclass(frozen=True)
class Export:
    """A file, and how it is used: `settings` of the environment, `options` of the launcher in their place, `note` what
    else must be known. FILE in them stands for the path."""

    form: str
    file_name: str
    text: str
    settings: tuple[tuple[str, str], ...] = ()
    options: str = ""
    note: str = ""
    checkable: bool = field(default=False)  # by running the library that is here

    def usage(self, path: str) -> list[str]:
        lines = [f"export {name}={value.replace(FILE, path)}" for name, value in self.settings]
        if self.options:
            lines.append(self.options.replace(FILE, path))
        return [*lines, f"# {ONE_NODE}", *([f"# {self.note}"] if self.note else [])]


def rules_of(chosen: Mapping[str, Mapping[int, str]], ranks: int, catalogue: Catalogue) -> Rules:
    """From the best algorithm by size: one holds for the sizes at which it was the best and for those between two such
    that are near each other (kumihimo.ranges); what was not measured is the library's."""
    return Rules(ranks, {c: rules_of_one(c, by_size, catalogue) for c, by_size in chosen.items()})


def rules_of_one(collective: str, by_size: Mapping[int, str], catalogue: Catalogue) -> tuple[Rule, ...]:
    own = own_name(by_size.values())
    points = [(size, own if name in (DEFAULT, AUTO) else name) for size, name in sorted(by_size.items())]
    steps = [(0, DEFAULT)]
    for each in ranges(points, own):
        steps += [(max(each.from_bytes, points[0][0]), each.chosen), (each.to_bytes + 1, DEFAULT)]
    rules: list[Rule] = []
    for first, name in steps if points else ():
        algorithm = LIBRARY if name == DEFAULT else catalogue.find(collective, name)
        if rules and rules[-1].first == first:
            rules.pop()
        if not rules or rules[-1].algorithm != algorithm:
            rules.append(Rule(first, algorithm))
    return tuple(rules)


def own_name(names: Collection[str]) -> str:
    """The library's own choice, by its name among these: MPICH's device is aside for all sizes of a collective, or for
    none.
    """
    return AUTO if AUTO in names and DEFAULT not in names else DEFAULT
