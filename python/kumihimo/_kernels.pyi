"""Sums that are rounded once."""

from collections.abc import Sequence


def exact_sum(values: Sequence[float]) -> float:
    """Of doubles."""

def exact_sum_float32(values: Sequence[float]) -> float:
    """Of floats; what is none is rounded to one first."""
