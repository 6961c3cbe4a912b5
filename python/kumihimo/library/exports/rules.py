"""The value that all forms are written from: which algorithm from which size on, for one number of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kumihimo.library.algorithms import DEFAULT, Algorithm, Catalogue

FILE = "@FILE@"  # stands for the path of an export's file
LIBRARY = None  # in place of an algorithm: the library decides, as without the file


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
        return [*lines, *([f"# {self.note}"] if self.note else [])]


def rules_of(chosen: Mapping[str, Mapping[int, str]], ranks: int, catalogue: Catalogue) -> Rules:
    """From the best algorithm by size: each holds up to the next size that was measured, the last for its own size
    alone, since nothing is known of longer ones; below the smallest the library decides, too."""
    return Rules(ranks, {c: rules_of_one(c, by_size, catalogue) for c, by_size in chosen.items()})


def rules_of_one(collective: str, by_size: Mapping[int, str], catalogue: Catalogue) -> tuple[Rule, ...]:
    sizes = sorted(by_size)
    steps = [(0, DEFAULT), *((size, by_size[size]) for size in sizes), (sizes[-1] + 1, DEFAULT)] if sizes else []
    rules: list[Rule] = []
    for first, name in steps:
        algorithm = LIBRARY if name == DEFAULT else catalogue.find(collective, name)
        if rules and rules[-1].first == first:
            rules.pop()
        if not rules or rules[-1].algorithm != algorithm:
            rules.append(Rule(first, algorithm))
    return tuple(rules)
