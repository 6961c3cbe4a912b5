"""Properties of the native base that hold for all values: expressions, extents, shapes, the torus."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo import _schedule, _topology
from kumihimo._schedule import Expression

small = st.integers(-50, 50)


@st.composite
def expressions(draw, depth: int = 3):
    """An expression over the variables 0, 1, 2, and the same as a plain function of their values."""
    kind = draw(st.sampled_from(["constant", "variable", "sum", "difference", "times", "mod"])) if depth else "variable"
    if kind == "constant":
        constant = draw(small)
        return Expression(constant), lambda v: constant
    if kind == "variable":
        at = draw(st.integers(0, 2))
        return Expression.variable(at), lambda v: v[at]
    left, f = draw(expressions(depth=depth - 1))
    if kind == "times":
        factor = draw(small)
        return left * factor, lambda v: f(v) * factor
    if kind == "mod":
        modulus = draw(st.integers(1, 20))
        return left % modulus, lambda v: f(v) % modulus
    right, g = draw(expressions(depth=depth - 1))
    if kind == "sum":
        return left + right, lambda v: f(v) + g(v)
    return left - right, lambda v: f(v) - g(v)


values = st.lists(st.integers(0, 30), min_size=3, max_size=3)


@given(expressions(), values)
def test_an_expression_has_the_value_of_what_it_was_made_of(pair, at):
    expression, plain = pair
    assert expression.evaluate(at) == plain(at)


@given(expressions(), values)
def test_a_range_holds_every_value(pair, at):
    expression, plain = pair
    low, high = expression.range([31, 31, 31])
    assert low <= plain(at) <= high


@given(expressions(), expressions(), values, st.integers(0, 2))
def test_substitution_is_evaluation_of_the_substitute(pair, by, at, depth):
    (expression, plain), (substitute, inner) = pair, by
    moved = list(at)
    moved[depth] = inner(at)
    assert expression.substitute(depth, substitute).evaluate(at) == plain(moved)


@given(expressions(), expressions())
def test_equal_forms_are_equal_however_they_were_made(one, other):
    (a, _), (b, _) = one, other
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)
    assert a - a == Expression(0)
    assert (a + b) - b == a
    assert a * 2 == a + a


@given(st.lists(small, min_size=1, max_size=10), st.data())
def test_a_table_gives_its_entries(table, data):
    at = data.draw(st.integers(0, len(table) - 1))
    assert Expression.look_up(table, Expression.variable(0)).evaluate([at]) == table[at]
    assert Expression.look_up(table, Expression(at)) == Expression(table[at])


@given(st.integers(0, 2**62), st.integers(1, 2**31), st.data())
def test_parts_cover_a_vector_once(elements, parts, data):
    part = data.draw(st.integers(0, parts - 1))
    begin, end = (_schedule.part_begin(i, parts, elements) for i in (part, part + 1))
    assert begin == part * elements // parts
    assert begin <= end
    assert end - begin in (elements // parts, -(-elements // parts))
    assert _schedule.part_begin(0, parts, elements) == 0
    assert _schedule.part_begin(parts, parts, elements) == elements


@given(st.integers(0, 10_000), st.integers(1, 20), st.integers(1, 20), st.data())
def test_refined_parts_nest(elements, m, k, data):
    i = data.draw(st.integers(0, m - 1))
    whole = _schedule.part_runs(i, 1, m, elements)
    fine = [run for j in range(k) for run in _schedule.part_runs(i * k + j, 1, m * k, elements)]
    assert sum(count for _, count in fine) == sum(count for _, count in whole)
    if fine:
        assert fine[0][0] == whole[0][0]
        assert all(a + n == b for (a, n), (b, _) in zip(fine, fine[1:]))


@given(st.integers(0, 5_000), st.integers(1, 12), st.integers(1, 12))
def test_segments_of_parts_cover_a_vector_once(elements, parts, segments):
    runs = [
        run
        for s in range(segments)
        for i in range(parts)
        for run in _schedule.part_runs(i, 1, parts, elements, segments, s)
    ]
    at = 0
    for first, count in runs:
        assert first == at
        at += count
    assert at == elements


axes = st.lists(st.tuples(st.integers(1, 7), st.booleans()), min_size=1, max_size=4)


def shape_of(axes) -> _topology.Shape:
    return _topology.Shape.parse("x".join(f"{length}{'' if wraps else 'm'}" for length, wraps in axes))


@given(axes, st.data())
def test_coordinates_round_trip(axes, data):
    shape = shape_of(axes)
    place = data.draw(st.integers(0, shape.places - 1))
    assert shape.place(shape.coordinates(place)) == place
    assert _topology.Shape.parse(str(shape)) == shape


@given(axes, st.data())
def test_a_route_leads_from_its_start_to_its_end_by_the_shortest_way(axes, data):
    shape = shape_of(axes)
    torus = _topology.Torus(shape)
    start, end = (data.draw(st.integers(0, shape.places - 1)) for _ in range(2))
    at = start
    for link in torus.route(start, end):
        assert torus.is_link(link)
        tail, head = torus.ends(link)
        assert tail == at
        at = head
    assert at == end
    steps = 0
    for (length, wraps), a, b in zip(axes, shape.coordinates(start), shape.coordinates(end)):
        steps += min(abs(a - b), length - abs(a - b)) if wraps else abs(a - b)
    assert len(torus.route(start, end)) == torus.distance(start, end) == steps <= torus.diameter


@given(st.integers(2, 20).map(lambda half: 2 * half), st.data())
def test_at_half_a_ring_even_coordinates_go_plus_and_odd_ones_minus(length, data):
    torus = _topology.Torus(_topology.Shape.parse(f"{length}"))
    start = data.draw(st.integers(0, length - 1))
    first = torus.ends(torus.route(start, (start + length // 2) % length)[0])[1]
    assert first == (start + (1 if start % 2 == 0 else -1)) % length


@pytest.mark.parametrize("text", ["3", "4x3", "2x5mx3", "1x1", "2"])
def test_links_are_counted_as_they_are(text):
    torus = _topology.Torus(_topology.Shape.parse(text))
    used = {link for a in range(torus.nodes) for b in range(torus.nodes) for link in torus.route(a, b)}
    assert len(used) == torus.links
