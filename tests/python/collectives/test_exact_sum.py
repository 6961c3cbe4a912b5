"""Exact sums against two other ways to have them: fractions, and math.fsum where that can do it."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from kumihimo._kernels import exact_sum, exact_sum_float32

finite = st.floats(allow_nan=False, allow_infinity=False)
small = st.floats(-1e-300, 1e-300)


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


@given(st.lists(st.one_of(finite, small), max_size=40), st.booleans(), st.randoms(use_true_random=False))
def test_the_fraction_rounded_once(values, cancelling, random):
    addends = values + [-value for value in values[: len(values) // 2]] if cancelling else values
    random.shuffle(addends)
    total = sum(map(Fraction, addends))
    try:
        expected = float(total)
    except OverflowError:
        expected = math.inf if total > 0 else -math.inf
    if total == 0:
        expected = -0.0 if addends and all(bits(value) == bits(-0.0) for value in addends) else 0.0
    elif abs(expected) == 0:
        raise AssertionError("a sum of doubles is a multiple of the least subnormal")
    assert bits(exact_sum(addends)) == bits(expected)


@given(st.lists(st.floats(-1e300, 1e300), max_size=60))
def test_fsum(values):
    assert exact_sum(values) == math.fsum(values)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=30))
def test_floats_are_the_double_sum_where_that_is_exact(values):
    total = sum(map(Fraction, values))
    found = Fraction(0) if math.isinf(exact_sum_float32(values)) else Fraction(exact_sum_float32(values))
    if math.isinf(exact_sum_float32(values)):
        assert abs(total) >= Fraction(2) ** 128 - Fraction(2) ** 103  # half a unit past the largest float
        return
    unit = max(Fraction(2) ** -149, Fraction(2) ** (math.frexp(float(found))[1] - 24))
    assert abs(found - total) <= unit / 2


def test_what_is_no_number():
    infinity = math.inf
    assert exact_sum([infinity, -1e308, -1e308]) == infinity
    assert math.isnan(exact_sum([infinity, -infinity]))
    assert bits(exact_sum([struct.unpack("<d", b"\x01" * 6 + b"\xf8\xff")[0], 1.0])) == b"\0" * 6 + b"\xf8\x7f"
