"""With which probability a predicted choice is the best (ADR 78).

The logarithm of measured / predicted of each candidate is a half-normal on each side of its median, with the ends of
the interval of nine of ten as its 5 and 95 %: times are more often much longer than predicted than much shorter. Errors
of candidates of one class have a correlation, those of different classes a lower one, since they share causes: a
cost that all programs pay, and one that the class pays. An error that both share does not change which one is faster.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from kumihimo import _machine
from kumihimo.predict import prediction_errors
from kumihimo.predict.prediction_errors import ALL, ErrorRow, JudgedTime, PredictedCase
from kumihimo.text.json_types import JsonObject

DRAWS = 2000  # of the errors of all candidates: a probability is within 0.02 of that of more draws
NINTH = 1.6449  # standard deviations of a normal distribution, within which nine of ten lie
FAR = 2.5  # where errors are cut for correlations: single ones far off would decide
MOST = 0.95  # correlation
SURE = 0.9  # from which a choice is said to be sure


@dataclass(frozen=True)
class UncertainTime:
    """`low`, `high`: nine of ten measured times are between these times the predicted `seconds`; `median`: half of them
    are below this times it."""

    algorithms: str
    seconds: float
    low: float
    high: float
    median: float

    @classmethod
    def of(cls, row: ErrorRow, algorithms: str, seconds: float) -> UncertainTime:
        return cls(algorithms, seconds, row.low, row.high, row.median)


@dataclass(frozen=True)
class Correlations:
    """Correlations of errors in one case: between algorithms of one class, and of different classes."""

    in_class: float = 0.0
    others: float = 0.0


@lru_cache(maxsize=512)
def normals(name: str) -> tuple[float, ...]:
    """The same in each call, so that a prediction does not change."""
    source = random.Random(name)
    return tuple(source.gauss(0, 1) for _ in range(DRAWS))


def of_candidates(candidates: Sequence[UncertainTime], known: Correlations) -> list[float]:
    """Probability of each candidate that it is the fastest. Their sum is 1."""
    if not candidates:
        return []
    latest = min(each.seconds * each.high for each in candidates)
    within = [i for i, each in enumerate(candidates) if each.seconds * each.low <= latest]
    all_share = math.sqrt(known.others)
    class_share, own_share = math.sqrt(known.in_class - known.others), math.sqrt(1 - known.in_class)
    times = []
    for i in within:
        each = candidates[i]
        median = math.log(each.seconds * each.median)
        below, above = widths(each)
        shared, of_class, own = normals(ALL), normals(f"class {each.algorithms}"), normals(f"candidate {i}")
        draws = [all_share * a + class_share * b + own_share * c for a, b, c in zip(shared, of_class, own)]
        times.append([median + draw * (below if draw < 0 else above) for draw in draws])
    wins = [0] * len(candidates)
    for drawn in zip(*times):
        wins[within[drawn.index(min(drawn))]] += 1
    return [count / DRAWS for count in wins]


def widths(of: UncertainTime | ErrorRow) -> tuple[float, float]:
    """Standard deviations of the half-normals below and above the median."""
    return math.log(of.median / of.low) / NINTH, math.log(of.high / of.median) / NINTH


def score(log: float, row: ErrorRow) -> float:
    """The standard normal number that gives this log of measured / predicted, cut where a single one would decide."""
    off = log - math.log(row.median)
    width = widths(row)[off > 0]
    return max(-FAR, min(FAR, off / width)) if width > 0 else math.copysign(FAR, off) if off else 0.0


def correlations_of(errors: _machine.PredictionErrors) -> Correlations:
    """Correlations of a _machine.PredictionErrors."""
    return Correlations(errors.correlation_in_class, errors.correlation)


def of_cases(errors: _machine.PredictionErrors, cases: Sequence[PredictedCase]) -> list[float] | None:
    """Probabilities of algorithms for the same collective and length on one job. A class that nobody judged has the
    interval of all. None: nothing was judged, or a time is 0.
    """
    known = prediction_errors.rows_of(errors)
    classes = [
        (
            prediction_errors.class_of_algorithm(case.algorithm),
            prediction_errors.class_of_length(case.collective, case.size, case.ranks),
        )
        for case in cases
    ]
    rows = [prediction_errors.row_for(known, *each) for each in classes]
    candidates = [
        UncertainTime.of(row, algorithms, case.seconds)
        for (algorithms, _), case, row in zip(classes, cases, rows)
        if row is not None and case.seconds > 0
    ]
    if len(candidates) < len(cases):
        return None
    return of_candidates(candidates, correlations_of(errors))


def of_results(errors: _machine.PredictionErrors | None, results: Sequence[JsonObject]) -> list[float] | None:
    """The same for results of `simulate`, of one length. None: none of them has an interval."""
    if errors is None or not any("interval" in each for each in results):
        return None
    names = ("collective", "algorithm", "bytes", "ranks", "seconds")
    return of_cases(errors, [PredictedCase(*(each[name] for name in names)) for each in results])


def add_to(results: Sequence[JsonObject], errors: _machine.PredictionErrors | None) -> None:
    """To results of `simulate`, the probability that each is the fastest of its length."""
    by_length: dict[object, list[JsonObject]] = {}
    for each in results:
        each.pop("fastest_probability", None)
        by_length.setdefault(each.get("bytes"), []).append(each)
    for alike in by_length.values():
        for each, chance in zip(alike, of_results(errors, alike) or [] if len(alike) > 1 else []):
            each["fastest_probability"] = chance


def text(chance: float) -> str:
    """As percent: more digits than draws tell are not shown."""
    percent = round(100 * chance)
    return ">99 %" if percent > 99 else "<1 %" if percent < 1 else f"{percent} %"


def correlations(judged: Sequence[JudgedTime], rows: Sequence[ErrorRow]) -> Correlations:
    """Correlations of errors about their medians, as shares of their intervals, over pairs of algorithms in one case.
    Repeats are no pair.
    """
    by_case: dict[object, list[tuple[JudgedTime, float]]] = {}
    for each in judged:
        row = prediction_errors.row_for(rows, each.algorithms, each.lengths)
        if row is not None and row.high > row.low:
            by_case.setdefault(each.case, []).append((each, score(each.log, row)))
    products: dict[bool, list[float]] = {True: [], False: []}
    for scores in by_case.values():
        for i, (each, mine) in enumerate(scores):
            for other, its in scores[:i]:
                if each.curve is None or each.curve != other.curve:
                    products[each.algorithms == other.algorithms].append(mine * its)
    square = [mine * mine for scores in by_case.values() for _, mine in scores]
    variance = sum(square) / len(square) if square else 0.0

    def mean(same: bool) -> float:
        found = products[same]
        return max(0.0, min(MOST, sum(found) / len(found) / variance)) if found and variance > 0 else 0.0

    others = mean(False)
    return Correlations(max(mean(True), others), others)


@dataclass(frozen=True)
class JudgedChoice:
    """Prediction for the algorithm that is predicted as the fastest of a case. `lost`: its measured time by that of the
    fastest one.
    """

    chance: float
    lost: float

    @property
    def is_right(self) -> bool:
        return self.lost <= 1


def judged_choices(judged: Sequence[JudgedTime]) -> list[JudgedChoice]:
    """Choices of all cases with several algorithms, by intervals and correlations of all other cases."""
    by_case: dict[object, list[JudgedTime]] = {}
    for each in judged:
        by_case.setdefault(each.case, []).append(each)
    found = []
    for case, mine in by_case.items():
        others = [each for each in judged if each.case != case]
        rows = prediction_errors.rows(others)
        of = [prediction_errors.row_for(rows, each.algorithms, each.lengths) for each in mine]
        candidates = [UncertainTime.of(row, each.algorithms, each.seconds) for each, row in zip(mine, of) if row]
        if len(mine) < 2 or len(candidates) < len(mine):
            continue
        chances = of_candidates(candidates, correlations(others, rows))
        best = mine.index(min(mine, key=lambda each: each.seconds))
        measured = [each.seconds * math.exp(each.log) for each in mine]
        found.append(JudgedChoice(chances[best], measured[best] / min(measured)))
    return found
