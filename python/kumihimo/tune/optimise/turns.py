"""Is the program really faster with the choices? Whole runs with them and without take turns; what does not gain as a
whole is tried by halves, so that a choice that loses in the program is dropped alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import comb, sqrt

from kumihimo import _measure
from kumihimo.text.errors import OutOfTime
from kumihimo.text.json_types import JsonObject

# The numbers of pairs at which the interval is looked at: who looked after each pair would find one clear of 1 by
# chance. From 6 pairs on the interval covers 95 %.
LOOKS = (6, 10, 15, 22, 30)
# How likely as many pairs of equal runs show a gain by chance (sign test), at most, for a gain to be believed: of all
# choices together at the first look and at later ones; and of a part of them, of which several may be tried.
FIRST_LOOK, LATER_LOOK, OF_A_PART = 0.016, 0.005, 0.002
# Runs may be so long that the time ends before the first look. Then FAR_PAIRS show a gain if each run with the choices
# takes less than FAR of the time of each run without, and the gap between both kinds is wider than either kind. Equal
# runs show that in 0.3 % of cases, and in 1.6 % if they have two speeds that differ by a factor of 2.
FAR, FAR_PAIRS = 0.75, 3
TUNING_SHARE = 0.4  # of the budget, at most; the rest is for whole runs
LEAST_SHARE = 0.2  # of the budget, for tuning: with less left beside enough pairs of runs, it takes time of theirs
NARROW = 0.005  # width of the interval at which more runs say nothing new

Choices = tuple[int, ...]  # by their numbers
# The program's time (or figure) with these choices and without, in the pair of this number.
RunPair = Callable[[Choices, int], tuple[float, float]]


@dataclass(frozen=True)
class TuningTime:
    """`beyond`: what one size may take besides, since runs are to follow. Both in seconds."""

    seconds: float
    beyond: float


def tuning_time(budget: float, left: float, pair_seconds: float, savable_share: float) -> TuningTime:
    """Time for tuning out of what is left of a budget, before pairs of whole runs; all in seconds. Where other choices
    may save more than twice what FAR asks for, FAR_PAIRS are likely to show it, so tuning leaves no time for more.
    """
    few, enough = (left - pairs * pair_seconds for pairs in (FAR_PAIRS, LOOKS[0]))
    may_be_far = savable_share > 2 * (1 - FAR)
    wanted = enough if enough >= LEAST_SHARE * budget and not may_be_far else few
    seconds = max(1.0, min(TUNING_SHARE * budget, wanted))
    return TuningTime(seconds, (few if few > seconds else left) - seconds)


@dataclass
class Turns:
    """Runs of the program with some choices, and without, in pairs."""

    choices: Choices
    pairs: list[tuple[float, float]] = field(default_factory=list)
    is_part: bool = False  # of the choices, tried since all did not gain

    @property
    def figures(self) -> JsonObject:
        found = _measure.compare(self.pairs)
        ends = {"ratio": found.ratio, "ratio_low": found.ratio_low, "ratio_high": found.ratio_high}
        return {**ends, "faster_probability": self.faster_probability}

    @property
    def won(self) -> int:
        return sum(tuned < plain for tuned, plain in self.pairs)

    @property
    def chance(self) -> float:
        """How likely at least as many of so many pairs of equal runs show a gain."""
        made = len(self.pairs)
        return sum(comb(made, wins) for wins in range(self.won, made + 1)) / 2**made

    @property
    def faster_probability(self) -> float:
        """Probability that more than half of all pairs would show a gain, by these, where any share of them is as
        likely beforehand (Bayes, 1763): the share is then distributed as Beta(won + 1, lost + 1).
        """
        made = len(self.pairs) + 1
        return sum(comb(made, wins) for wins in range(self.won + 1)) / 2**made

    @property
    def far_faster(self) -> bool:
        """Whether few pairs show it."""
        if len(self.pairs) < FAR_PAIRS or self.is_part:
            return False
        ours, theirs = zip(*self.pairs)
        apart = min(theirs) - max(ours)
        return max(ours) < FAR * min(theirs) and apart > max(max(each) - min(each) for each in (ours, theirs))

    @property
    def faster(self) -> bool:
        if len(self.pairs) < LOOKS[0]:
            return self.far_faster
        if self.figures["ratio_high"] >= 1:
            return False
        whole = FIRST_LOOK if len(self.pairs) == LOOKS[0] else LATER_LOOK
        return self.chance <= (OF_A_PART if self.is_part else whole)

    @property
    def clear(self) -> bool:
        """Whether more runs would not change the answer; asked at LOOKS."""
        figures = self.figures
        narrow = figures["ratio_high"] - figures["ratio_low"] < NARROW
        return self.faster or figures["ratio_low"] > 1 or narrow or len(self.pairs) >= LOOKS[-1]

    def is_hopeless(self, most: float) -> bool:
        """Whether all pairs would not show a gain of `most`, as far as these tell; asked at LOOKS. At the first the
        interval is that of all pairs, and one slow run would decide."""
        if len(self.pairs) < LOOKS[1]:
            return False
        figures = self.figures
        width = (figures["ratio_high"] - figures["ratio_low"]) * sqrt(len(self.pairs) / LOOKS[-1])
        return not self.faster and figures["ratio"] > 1 - most and width / 2 > most


@dataclass
class Search:
    """`run_pair` raises OutOfTime where there is no time for another pair. `most_gain`: that can be, as a share of the
    time. `all_turns`: what was compared. `hopeless`: runs differ by more than that gain."""

    run_pair: RunPair
    most_gain: float = 1.0
    all_turns: list[Turns] = field(default_factory=list)
    out_of_time: bool = False
    hopeless: bool = False

    def kept(self, choices: Choices, is_part: bool = False) -> Turns | None:
        """The comparison by which the program is faster, with as many of the choices as that takes; None without."""
        whole = self.compared(choices, is_part)
        if whole.faster:
            return whole
        if len(choices) < 2 or self.out_of_time or self.hopeless:
            return None
        half = len(choices) // 2
        halves = [found for part in (choices[:half], choices[half:]) if (found := self.kept(part, True)) is not None]
        if len(halves) < 2:
            return halves[0] if halves else None
        both = tuple(sorted(halves[0].choices + halves[1].choices))
        if both != choices and not self.out_of_time:
            together = self.compared(both, True)
            if together.faster:
                return together
        return min(halves, key=lambda found: found.figures["ratio"])

    def compared(self, choices: Choices, is_part: bool) -> Turns:
        turns = Turns(choices, is_part=is_part)
        self.all_turns.append(turns)
        try:
            for look in LOOKS:
                while len(turns.pairs) < look:
                    turns.pairs.append(self.run_pair(choices, len(turns.pairs)))
                self.hopeless = turns.is_hopeless(self.most_gain)
                if turns.clear or self.hopeless:
                    break
        except OutOfTime:
            self.out_of_time = True
        return turns


def in_order(choices: Sequence[JsonObject], gains: Sequence[float]) -> list[JsonObject]:
    """The most gain first, so that the halves are those that matter and the rest."""
    return [choice for _, choice in sorted(zip(gains, choices), key=lambda each: -each[0])]
