"""The check of a variant's result: every bit, or the bound 2 gamma_n M."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from itertools import permutations
from random import Random

import pytest

from kumihimo.kernel.cases import arguments
from kumihimo.kernel.compare import Bound, Overflowed, difference
from kumihimo.text.errors import BadInput

NAN = float("nan")


@pytest.mark.parametrize(
    ("ours", "golden", "said"),
    [
        (1.5, 1.5, ""),
        (0.0, -0.0, "result is 0.0, the golden copy's -0.0"),
        (NAN, NAN, ""),
        (1, 1, ""),
        (1, 2, "result is 1, the golden copy's 2"),
        (0, 0.0, ""),
        (0.0, 0, ""),
        (0.5, 0, "result is 0.5, the golden copy's 0"),
        (True, 1, "result is True, the golden copy's 1"),
        ([1.0, 2.0], [1.0, 2.5], "result[1] is 2.0, the golden copy's 2.5"),
        ([1.0], [1.0, 2.0], "result has 1 elements, the golden copy's 2"),
        ({"a": (1, 2)}, {"a": (1, 3)}, "result['a'][1] is 2"),
        (array("d", [1, 2]), array("d", [1, 3]), "result[1] is 2.0, the golden copy's 3.0"),
        (array("d", [1]), array("f", [1]), "result has shape 1 of d, the golden copy's shape 1 of f"),
        (array("i", [5]), array("i", [5]), ""),
        ("a", "b", "result is 'a', the golden copy's 'b'"),
        (None, None, ""),
        (None, 1.0, "result is None"),
    ],
)
def test_bits(ours, golden, said):
    found = difference(ours, golden)
    assert found.startswith(said) and bool(found) == bool(said)


def test_every_order_of_a_sum_is_within_the_bound():
    numbers = Random(1)
    for count in (2, 3, 6):
        for _ in range(20):
            terms = [numbers.uniform(-1, 1) * 10 ** numbers.randint(-8, 8) for _ in range(count)]
            magnitude = sum(map(abs, terms))
            bound = Bound(count, 2.0**-53)
            sums = {sum(order) for order in permutations(terms)}
            assert not [a for a in sums for b in sums if difference(a, b, magnitude, bound)]


def test_the_bound_is_tight_enough_to_see_a_lost_term():
    terms = [1.0] * 1000
    bound = Bound(1000, 2.0**-53)
    assert difference(sum(terms[1:]), sum(terms), 1000.0, bound).startswith("result is 999.0, the golden copy's 1000.0")
    allowed = bound.of(1000.0, 2.0**-53)
    exact = 2 * Fraction(1000, 2**53) / (1 - Fraction(1000, 2**53)) * 1000
    assert allowed == pytest.approx(float(exact), rel=1e-12)
    assert difference(1000.0 + 1.01 * allowed, 1000.0, 1000.0, bound)
    assert not difference(1000.0 + 0.99 * allowed, 1000.0, 1000.0, bound)


def test_arrays_have_their_own_roundoff():
    bound = Bound(10, 2.0**-53)
    golden, ours = array("f", [1.0]), array("f", [1.0 + 2.0**-22])
    assert not difference(ours, golden, array("f", [1.0]), bound)
    golden, ours = array("d", [1.0]), array("d", [1.0 + 2.0**-22])
    assert difference(ours, golden, array("d", [1.0]), bound)


def test_what_overflows_is_skipped_unless_every_bit_is_the_same():
    bound = Bound(2, 2.0**-53)
    with pytest.raises(Overflowed, match="the magnitude of result is infinite"):
        difference(math.inf, 1e308, math.inf, bound)
    assert not difference(math.inf, math.inf, math.inf, bound)
    assert difference(NAN, 1.0, 1.0, bound)
    assert difference(math.inf, 1.0, 1.0, bound)


@pytest.mark.parametrize(("operations", "unit"), [(2**53, 2.0**-53), (2**60, 2.0**-53), (2**24, 2.0**-24), (-1, 0.1)])
def test_a_bound_that_accepts_everything_is_refused(operations, unit):
    with pytest.raises(BadInput, match="the error bound holds for fewer operations than 1 / unit roundoff"):
        Bound(operations, unit).gamma(unit)


def test_integers_of_numpy_are_exact():
    numpy = pytest.importorskip("numpy")
    ours, golden = numpy.int64(2**60 + 1), numpy.int64(2**60)
    assert difference(ours, golden) and difference(ours, golden, 2.0**60, Bound(9, 2.0**-53))
    assert not difference(golden, golden)
    assert difference(numpy.bool_(True), numpy.int64(1))


def test_edge_inputs_change_floats_alone():
    inputs = lambda size, seed: (array("d", [1, 2]), array("i", [1]), 2.0, [3.0], size)  # noqa: E731
    assert arguments(inputs, 7, 0, "zeros") == [array("d", [0, 0]), array("i", [1]), 0.0, [0.0], 7]
    assert arguments(inputs, 7, 0, "huge")[0] == array("d", [1e145, 2e145])
    assert arguments(inputs, 7, 0, "tiny")[2] == 2e-145


def test_the_layout_of_an_array_is_no_difference():
    numpy = pytest.importorskip("numpy")
    rows = numpy.arange(12.0).reshape(3, 4)
    for other in (numpy.asfortranarray(rows), numpy.repeat(rows, 2, axis=1)[:, ::2]):
        assert not difference(other, rows) and not difference(rows, other)
        assert difference(other + 1, rows).startswith("result[0] is 1.0, the golden copy's 0.0")


def test_complex_arrays():
    numpy = pytest.importorskip("numpy")
    golden = numpy.array([1 + 2j, 3 - 4j])
    ours = golden * (1 + 2.0**-52)
    bound, magnitude = Bound(8, 2.0**-53), numpy.array([3.0, 7.0])
    assert not difference(golden.copy(), golden)
    assert difference(ours, golden) and not difference(ours, golden, magnitude, bound)
    said = difference(golden.conj(), golden, magnitude, bound)
    assert said.startswith("result[0] is (1-2j), the golden copy's (1+2j)")
