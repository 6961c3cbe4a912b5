"""Measurements of this node: STREAM, DGEMM, the peak of arithmetic, and HPCG by its rules."""

from __future__ import annotations

from kumihimo import _measure


def statistics(samples: list[float]) -> dict:
    """The median of samples, its 95 % interval, and how many there are."""
    summary = _measure.summarise(samples)
    return {
        "median": summary.median,
        "low": summary.low,
        "high": summary.high,
        "samples": summary.samples,
        "outliers": summary.outliers,
    }
