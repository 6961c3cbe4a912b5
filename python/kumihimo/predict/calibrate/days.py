"""How far the same case is from one day to another."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from kumihimo.predict.calibrate.cases import TimedCase
from kumihimo.predict.prediction_errors import SHARE


def spread(cases: Sequence[TimedCase]) -> tuple[float | None, int]:
    """A factor within which nine of ten times of a day are from the mean over days, and the number of cases that were
    measured on several days. Of repeats on one day the mean counts. None: too few to say."""
    times: dict[tuple, dict[str, list[float]]] = {}
    for case in cases:
        if "day" in case.cells:
            key = tuple(sorted((name, str(value)) for name, value in case.values.items()))
            times.setdefault(key, {}).setdefault(str(case.cells["day"]), []).append(math.log(case.seconds))
    off: list[float] = []
    repeated = [list(map(statistics.fmean, days.values())) for days in times.values() if len(days) > 1]
    for logs in repeated:
        mean = sum(logs) / len(logs)
        # The mean of n days is nearer to each than that of all days, by sqrt((n - 1) / n).
        off += [abs(log - mean) * math.sqrt(len(logs) / (len(logs) - 1)) for log in logs]
    rank = math.ceil(SHARE * (len(off) + 1))
    return (math.exp(sorted(off)[rank - 1]) if off and rank <= len(off) else None), len(repeated)
