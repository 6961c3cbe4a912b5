"""What a region is expected to take, as kumihimo.h has it: a text in the program, judged by its slowest passage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

from kumihimo.run.profile.totals import Region, Totals
from kumihimo.text.errors import BadInput, wrong_value

_NUMBER = r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)"
_SECONDS = re.compile(rf"seconds\s*<=\s*{_NUMBER}")
_RATE = re.compile(rf"(bytes|operations)\s+{_NUMBER}\s+rate\s*>=\s*{_NUMBER}")
_SHARE = re.compile(
    rf"(bytes|operations)\s+{_NUMBER}\s+share\s*>=\s*{_NUMBER}\s+of\s+{_NUMBER}(?:\s+(?:bytes|operations) per second)?"
)


@dataclass(frozen=True)
class Expectation:
    """At most so many seconds a passage, and what that follows from."""

    seconds: float
    work: float = 0.0
    unit: str = ""
    bound: float = 0.0

    @property
    def text(self) -> str:
        if self.bound:
            return f"{self.work / self.seconds / self.bound:.3g} of {self.bound:.3g} {self.unit} a second"
        return f"{self.work / self.seconds:.3g} {self.unit} a second" if self.unit else f"{self.seconds:.3g} s"

    def found(self, seconds: float) -> str:
        if self.bound:
            return f"{self.work / seconds / self.bound:.3g}"
        return f"{self.work / seconds:.3g}" if self.unit else f"{seconds:.3g} s"


def parse(text: str) -> Expectation:
    stripped = text.strip()
    if match := _SECONDS.fullmatch(stripped):
        return positive(text, float(match[1]))
    if match := _RATE.fullmatch(stripped):
        work, rate = float(match[2]), float(match[3])
        return positive(text, work / rate if rate else 0.0, work, match[1])
    if match := _SHARE.fullmatch(stripped):
        work, share, bound = (float(match[i]) for i in (2, 3, 4))
        return positive(text, work / (share * bound) if share * bound else 0.0, work, match[1], bound)
    raise wrong_value(
        "an expectation must be `seconds <= 0.5`, `bytes 1e9 rate >= 1e9` or `bytes 1e9 share >= 0.5 of 2e9`",
        f"`{text}`",
    )


def positive(text: str, seconds: float, *rest: object) -> Expectation:
    if not all(0 < number < inf for number in (seconds, *(each for each in rest if not isinstance(each, str)))):
        raise wrong_value("the numbers of an expectation must be above zero and finite", f"`{text}`")
    return Expectation(seconds, *rest)


def missed(region: Region) -> str:
    """One sentence, or nothing where all passages met what was expected."""
    expected = parse(region.expectation)
    if region.unended and not region.passages:
        return f"{region.name}: expected {expected.text}, found no passage that ended"
    if region.max_seconds <= expected.seconds:
        return ""
    verb = "at least " if expected.unit else "at most "
    return (
        f"{region.name}: expected {verb}{expected.text}, found {expected.found(region.max_seconds)} "
        f"in the slowest passage, of rank {region.max_rank}"
    )


def judged(totals: Totals) -> tuple[list[str], list[str]]:
    """What was missed, and what cannot be read."""
    misses, unreadable = [], []
    for region in totals.regions.values():
        if region.expectation:
            try:
                misses.append(missed(region))
            except BadInput as error:
                unreadable.append(f"region {region.name}: {error}")
    return [sentence for sentence in misses if sentence], unreadable
