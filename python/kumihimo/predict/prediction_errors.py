"""How far measured times are from predictions, by class of algorithm and of length: the interval of a prediction.

Errors of one class have common causes: a cost that the model lacks, or one that grows in another way. So a calibration
keeps quantiles for each class, of jobs that it did not fit (machine.hpp, PredictionErrors).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

SHARE = 0.9  # of measured times within an interval
MODELS = ("flow", "exact")  # that machines are calibrated with
ALL = "all"
OF_BLOCKS = ("allgather", "alltoall", "gather", "scatter", "reduce_scatter")  # whose bytes are those of one block
LENGTHS = (("short", 4096), ("middle", 2**20), ("long", None))  # of the longest buffer of a rank, at most
CLASSES = {
    "puts": ("trinaryx3", "trinaryx6", "rotated_rings"),
    "trees": ("binomial", "binary"),
    "rings": ("ring", "neighbour_exchange", "chain"),
    "exchanges": ("recursive_doubling", "recursive_halving", "rabenseifner", "bruck", "bine", "dissemination", "swing"),
    "direct": ("linear", "pairwise", "paced"),
    "offloaded": ("offloaded",),
}
CLASS_OF = {name: title for title, names in CLASSES.items() for name in names}


@dataclass(frozen=True)
class ErrorRow:
    """Nine of ten of so many measured times are between `low` and `high` times the predicted one."""

    algorithms: str
    lengths: str
    times: int
    low: float
    high: float


@dataclass(frozen=True)
class JudgedTime:
    """`log`: of measured / predicted. `curve`: times of one curve are not independent."""

    algorithms: str
    lengths: str
    log: float
    curve: object = None


@dataclass(frozen=True)
class PredictedCase:
    """`size`: bytes as options have them, of irregular blocks the mean."""

    collective: str
    algorithm: str
    size: int | None
    ranks: int
    seconds: float


def class_of_algorithm(name: str) -> str:
    return CLASS_OF.get(name, "other")


def class_of_length(collective: str, size: int | None, ranks: int) -> str:
    """`size`: bytes as options have them. None: no bytes."""
    longest = (size or 0) * (ranks if collective in OF_BLOCKS else 1)
    return next(name for name, most in LENGTHS if most is None or longest <= most)


def bounds(logs: Sequence[float], share: float = SHARE) -> tuple[float, float] | None:
    """Between which the next one lies with this probability, if all are drawn alike: the order statistics of conformal
    prediction (Vovk, Gammerman, Shafer, 2005). None: too few."""
    n, tail = len(logs), (1 - share) / 2
    # 1e-9: (19 + 1) x 0.05 is 1, and 1.0000000000000009 in floating point
    low, high = math.floor((n + 1) * tail + 1e-9), math.ceil((n + 1) * (1 - tail) - 1e-9)
    if low < 1 or high > n:
        return None
    ordered = sorted(logs)
    return ordered[low - 1], ordered[high - 1]


def rows(judged: Sequence[JudgedTime]) -> list[ErrorRow]:
    """Of each class with enough times; of both, of each alone, and of all."""
    groups: dict[tuple[str, str], list[float]] = {}
    for each in judged:
        for key in keys(each.algorithms, each.lengths):
            groups.setdefault(key, []).append(each.log)
    found = []
    for (algorithms, lengths), logs in groups.items():
        ends = bounds(logs)
        if ends is not None:
            found.append(ErrorRow(algorithms, lengths, len(logs), math.exp(ends[0]), math.exp(ends[1])))
    return sorted(found, key=lambda row: (row.algorithms == ALL, row.algorithms, row.lengths))


def keys(algorithms: str, lengths: str) -> tuple[tuple[str, str], ...]:
    """Where the errors of a prediction are looked up, the nearest first."""
    return (algorithms, lengths), (algorithms, ALL), (ALL, lengths), (ALL, ALL)


def row_for(known: Sequence[ErrorRow], algorithms: str, lengths: str) -> ErrorRow | None:
    by_key = {(row.algorithms, row.lengths): row for row in known}
    return next((by_key[key] for key in keys(algorithms, lengths) if key in by_key), None)


def row_of_class(known: Sequence[ErrorRow], algorithms: str, lengths: str) -> ErrorRow | None:
    """None: the class of algorithms has too few times, and errors of others say nothing of it."""
    has_own = any(row.algorithms == algorithms for row in known)
    return row_for(known, algorithms, lengths) if has_own else None


def rows_of(errors: object) -> list[ErrorRow]:
    """Of a machine's _machine.PredictionErrors."""
    return [ErrorRow(*row) for row in errors.rows]


def interval(errors: object, of: PredictedCase, nodes: int) -> dict | None:
    """Members of a prediction: between which times nine of ten measured ones are expected. None: the
    algorithm's class has too few times. `errors`: a _machine.PredictionErrors."""
    algorithms = class_of_algorithm(of.algorithm)
    lengths = class_of_length(of.collective, of.size, of.ranks)
    row = row_of_class(rows_of(errors), algorithms, lengths)
    if row is None:
        return None
    return {
        "low_seconds": of.seconds * row.low,
        "high_seconds": of.seconds * row.high,
        "share": SHARE,
        "algorithms": row.algorithms,
        "lengths": row.lengths,
        "times": row.times,
        "beyond_measured_jobs": not errors.fewest_nodes <= nodes <= errors.most_nodes,
    }


def coverage(judged: Sequence[JudgedTime], known: Sequence[ErrorRow]) -> tuple[int, int]:
    """How many are within their interval, and of how many there is one."""
    within = total = 0
    for each in judged:
        row = row_for(known, each.algorithms, each.lengths)
        if row is not None:
            total += 1
            within += math.log(row.low) <= each.log <= math.log(row.high)
    return within, total


def coverage_of_new_curves(judged: Sequence[JudgedTime]) -> tuple[int, int]:
    """Each curve by the intervals that all other curves give."""
    within = total = 0
    for curve in dict.fromkeys(each.curve for each in judged):
        mine = [each for each in judged if each.curve == curve]
        others = [each for each in judged if each.curve != curve]
        held, of = coverage(mine, rows(others))
        within, total = within + held, total + of
    return within, total
