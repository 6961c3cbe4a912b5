"""Measurements of this node: STREAM, DGEMM, the peak of arithmetic, and HPCG by its rules."""

from __future__ import annotations

from kumihimo import _measure
from kumihimo.text.json_types import JsonObject

LEAST_SAMPLES = 6  # of a 95 % interval of the median: 5 samples cover it with 1 - 2/2^5 = 94 % (src/foundation/measure)


def statistics(samples: list[float]) -> JsonObject:
    """The median of samples, its 95 % interval, and how many there are. Fewer than 6 samples have no such interval."""
    summary = _measure.summarise(samples)
    has_interval = summary.samples >= LEAST_SAMPLES
    return {
        "median": summary.median,
        "low": summary.low if has_interval else None,
        "high": summary.high if has_interval else None,
        "samples": summary.samples,
        "outliers": summary.outliers,
    }
