"""How sure a projection is: bands by random draws of all assumptions, and which assumption decides."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kumihimo.predict.projection import model
from kumihimo.predict.projection.files import GROWTHS, SHARES, NodeClass, Scaling
from kumihimo.predict.projection.model import Limits, ProjectedMachine

LOW, HIGH = 0.05, 0.95  # of the band
EDGE = 1.6449  # standard deviations from the middle to these


@dataclass(frozen=True)
class ProjectedBand:
    """Projection of a year: the machine by the values of the files, and the peaks that hold nine of ten draws."""

    middle: ProjectedMachine
    low: float
    high: float


@dataclass(frozen=True)
class Influence:
    """The peak with one assumption at the ends of its range, all others as the files have them."""

    name: str
    at_low: float
    at_high: float

    @property
    def factor(self) -> float:
        return max(self.at_low, self.at_high) / max(min(self.at_low, self.at_high), 1.0)


def names(of: NodeClass) -> list[str]:
    return [*GROWTHS, *(model.share_name(each) for each in SHARES), *(["cost"] if of.cost else []), "luck"]


def _of_name(z: Mapping[str, float], name: str) -> float:
    return z.get(name, 0.0)


def draws(of: NodeClass, by: Scaling, samples: int, seed: int) -> list[model.AssumedValues]:
    """Shares that leave no rest are drawn again."""
    source = random.Random(seed)
    found: list[model.AssumedValues] = []
    while len(found) < samples:
        z = {name: source.gauss(0.0, 1.0) for name in names(of)}
        numbers = model.drawn(of, by, partial(_of_name, z))
        if sum(numbers.shares.values()) < 0.98:
            found.append(numbers)
    return found


def bands(
    of: NodeClass, by: Scaling, years: Sequence[float], kind: str, limits: Limits, samples: int, seed: int
) -> list[ProjectedBand]:
    """One of each year, from the same draws."""
    drawn = draws(of, by, samples, seed)
    usual = model.usual(of, by)
    found = []
    for year in years:
        peaks = sorted(model.machine(of, each, year, kind, limits).peak for each in drawn)
        low, high = (peaks[min(samples - 1, int(share * samples))] for share in (LOW, HIGH))
        found.append(ProjectedBand(model.machine(of, usual, year, kind, limits), low, high))
    return found


def influences(of: NodeClass, by: Scaling, year: float, kind: str, limits: Limits) -> list[Influence]:
    """The strongest first; those without any influence are left out."""

    def peak(name: str, z: float) -> float:
        numbers = model.drawn(of, by, lambda each: z if each == name else 0.0)
        return model.machine(of, numbers, year, kind, limits).peak

    every = [Influence(name, peak(name, -EDGE), peak(name, EDGE)) for name in names(of)]
    return sorted((each for each in every if each.factor > 1.0005), key=lambda each: -each.factor)


def year_of(target: float, years: Sequence[float], peaks: Sequence[float]) -> float | None:
    """The first of the years with this peak; None: none has."""
    return next((year for year, peak in zip(years, peaks) if peak >= target), None)
