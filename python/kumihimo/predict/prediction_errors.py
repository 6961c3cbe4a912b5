"""How far measured times are from predictions, by class of algorithm and of length: the interval of a prediction.

Errors of one class have common causes: a cost that the model lacks, or one that grows in another way. So a calibration
keeps quantiles for each class, of jobs that it did not fit (machine.hpp, PredictionErrors).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _machine
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import seconds_text

SHARE = 0.9  # of measured times within an interval
FEWEST = 19  # times that have quantiles of 5 and 95 %
MODELS = ("flow", "exact")  # that machines are calibrated with
ALL = "all"
OF_BLOCKS = ("allgather", "alltoall", "gather", "scatter", "reduce_scatter")  # whose bytes are those of one block
LENGTHS = (("short", 4096), ("middle", 2**20), ("long", None))  # of the longest buffer of a rank, at most
CLASSES = {
    "puts": ("trinaryx3", "trinaryx6", "rotated_rings"),
    "trees": ("binomial", "binomial_in_turn", "binomial_near", "binary"),
    "rings": (
        "ring",
        "neighbour_exchange",
        "chain",
        "chain_modified",
        "two_chains",
        "two_chains_modified",
        "long",
        "long_modified",
    ),
    "exchanges": (
        "recursive_doubling",
        "recursive_halving",
        "rabenseifner",
        "bruck",
        "bine",
        "bine_in_turn",
        "dissemination",
        "swing",
    ),
    "direct": ("linear", "pairwise", "paced"),
    "offloaded": ("offloaded",),
}
CLASS_OF = {name: title for title, names in CLASSES.items() for name in names}


@dataclass(frozen=True)
class ErrorRow:
    """Nine of ten of so many measured times are between `low` and `high` times the predicted one, and half of them
    below `median` times that."""

    algorithms: str
    lengths: str
    times: int
    low: float
    high: float
    median: float

    @property
    def is_pooled(self) -> bool:
        """Too few times of its own: the interval is that of all classes, and wide enough for its own."""
        return self.times < FEWEST


@dataclass(frozen=True)
class JudgedTime:
    """`log`: of measured / predicted. `curve`: times of one curve are not independent. `case`: algorithms of one case
    do the same on the same job. `seconds`: predicted."""

    algorithms: str
    lengths: str
    log: float
    curve: object = None
    case: object = None
    seconds: float = 1.0


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
    """Rows of each class with enough times: of both kinds of class, of each alone, and of all. A class of algorithms
    with too few takes the interval of all, widened to hold its own times.
    """
    groups: dict[tuple[str, str], list[float]] = {}
    for each in judged:
        for key in keys(each.algorithms, each.lengths):
            groups.setdefault(key, []).append(each.log)
    found = []
    for (algorithms, lengths), logs in groups.items():
        ends = bounds(logs)
        of_all = None if lengths != ALL else bounds(groups[ALL, ALL])
        if ends is None and of_all is not None:
            ends = min(of_all[0], *logs), max(of_all[1], *logs)
        if ends is not None:
            low, high, median = map(math.exp, (*ends, statistics.median(logs)))
            found.append(ErrorRow(algorithms, lengths, len(logs), low, high, median))
    return sorted(found, key=lambda row: (row.algorithms == ALL, row.algorithms, row.lengths))


def keys(algorithms: str, lengths: str) -> tuple[tuple[str, str], ...]:
    """Where the errors of a prediction are looked up, the nearest first."""
    return (algorithms, lengths), (algorithms, ALL), (ALL, lengths), (ALL, ALL)


def row_for(known: Sequence[ErrorRow], algorithms: str, lengths: str) -> ErrorRow | None:
    by_key = {(row.algorithms, row.lengths): row for row in known}
    return next((by_key[key] for key in keys(algorithms, lengths) if key in by_key), None)


def row_of_class(known: Sequence[ErrorRow], algorithms: str, lengths: str) -> ErrorRow | None:
    """None: no time of the class of algorithms was judged, and errors of others say nothing of it."""
    has_own = any(row.algorithms == algorithms for row in known)
    return row_for(known, algorithms, lengths) if has_own else None


def rows_of(errors: _machine.PredictionErrors) -> list[ErrorRow]:
    """Rows of a machine's _machine.PredictionErrors."""
    return [ErrorRow(*row) for row in errors.rows]


def interval(errors: _machine.PredictionErrors, of: PredictedCase, nodes: int) -> JsonObject | None:
    """Members of a prediction: between which times nine of ten measured ones are expected. None: no time of the
    algorithm's class was judged."""
    algorithms = class_of_algorithm(of.algorithm)
    lengths = class_of_length(of.collective, of.size, of.ranks)
    row = row_of_class(rows_of(errors), algorithms, lengths)
    return None if row is None else members(errors, row, of.seconds, 0.0, nodes)


def interval_of_program(
    errors: _machine.PredictionErrors,
    cases: Sequence[PredictedCase],
    seconds: float,
    without_network: float,
    nodes: int,
) -> JsonObject | None:
    """The same of a recorded program. `without_network`: its time on an ideal network, which is taken as exact; the
    rest has the widest interval of the classes of its collectives, and of all, as nobody judged single messages and how
    errors of many calls add up. None: nothing was judged."""
    known = rows_of(errors)
    classes = {
        (class_of_algorithm(each.algorithm), class_of_length(each.collective, each.size, each.ranks)) for each in cases
    }
    wanted = [row_for(known, *each) for each in sorted({(ALL, ALL), *classes})]
    found = [row for row in wanted if row is not None]
    if len(found) < len(wanted):
        return None
    low, high = min(row.low for row in found), max(row.high for row in found)
    widest = max(found, key=lambda row: row.high / row.low)
    row = ErrorRow(widest.algorithms, widest.lengths, min(row.times for row in found), low, high, widest.median)
    return members(errors, row, seconds, min(without_network, seconds), nodes)


def members(errors: _machine.PredictionErrors, row: ErrorRow, seconds: float, exact: float, nodes: int) -> JsonObject:
    """`exact`: the part of the time that has no error."""
    return {
        "low_seconds": exact + (seconds - exact) * row.low,
        "high_seconds": exact + (seconds - exact) * row.high,
        "share": SHARE,
        "algorithms": row.algorithms,
        "lengths": row.lengths,
        "times": row.times,
        "pooled": row.is_pooled,
        "beyond_measured_jobs": not errors.fewest_nodes <= nodes <= errors.most_nodes,
    }


def text_of(interval: JsonObject | None) -> str:
    """ "14.5 us to 20.1 us"; empty: none."""
    if interval is None:
        return ""
    return " to ".join(seconds_text(interval[end]) for end in ("low_seconds", "high_seconds"))


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
