"""The candidates of a kernel: its variants with values of their parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kumihimo.text.json_types import JsonObject


@dataclass(frozen=True)
class KernelCandidate:
    variant: str
    values: tuple[tuple[str, object], ...] = ()

    @property
    def parameters(self) -> JsonObject:
        return dict(self.values)


@dataclass(frozen=True)
class CandidateFamily:
    """A variant with the values of its parameters that are tried, the default first."""

    variant: str
    parameters: tuple[tuple[str, tuple], ...] = ()

    def candidates(self) -> Iterator[KernelCandidate]:
        names = [name for name, _ in self.parameters]
        for values in itertools.product(*(values for _, values in self.parameters)):
            yield KernelCandidate(self.variant, tuple(zip(names, values)))


def space(families: Sequence[CandidateFamily]) -> list[KernelCandidate]:
    return [candidate for family in families for candidate in family.candidates()]
