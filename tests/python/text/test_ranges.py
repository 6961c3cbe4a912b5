"""Ranges of sizes: they cover all between sizes that are near each other, each byte once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumihimo.text.ranges import FARTHEST, ChosenRange, ranges

LIBRARY = "library"
points = st.lists(
    st.tuples(st.integers(1, 2**24), st.sampled_from([LIBRARY, "ring", "chain"])),
    min_size=1,
    max_size=12,
    unique_by=lambda point: point[0],
).map(sorted)


@given(points)
def test_they_cover_all_but_wide_gaps_without_overlap(given_points):
    found = ranges(given_points, LIBRARY)
    assert found[0].from_bytes in (1, given_points[0][0])
    assert found[-1].to_bytes == given_points[-1][0]
    wide = {(low, high) for (low, _), (high, _) in zip(given_points, given_points[1:]) if high > FARTHEST * low}
    for left, right in zip(found, found[1:]):
        assert left.from_bytes <= left.to_bytes < right.from_bytes
        if (left.to_bytes, right.from_bytes) in wide:
            wide.remove((left.to_bytes, right.from_bytes))
        else:
            assert left.to_bytes == right.from_bytes - 1
            assert left.chosen != right.chosen
    assert not wide


@given(points)
def test_every_size_has_what_was_chosen_for_it(given_points):
    found = ranges(given_points, LIBRARY)
    for size, chosen in given_points:
        (of_size,) = [r for r in found if r.from_bytes <= size <= r.to_bytes]
        assert of_size.chosen == chosen
        assert size in of_size.sizes
    assert sorted(size for r in found for size in r.sizes) == [size for size, _ in given_points]


@given(points)
def test_between_two_sizes_only_what_one_of_them_took(given_points):
    found = ranges(given_points, LIBRARY)
    for (low, below), (high, above) in zip(given_points, given_points[1:]):
        between = {r.chosen for r in found if r.from_bytes < high and r.to_bytes > low and high - low > 1}
        assert between <= {below, above}
        if LIBRARY in (below, above) and high - low > 1 and high <= FARTHEST * low:
            (inside,) = [r for r in found if r.from_bytes <= low + 1 <= r.to_bytes]
            assert inside.chosen == LIBRARY, "what was not measured is not taken from the library"


def test_the_same_neighbours_are_one_range():
    assert ranges([(8, "ring"), (64, "ring"), (512, "ring")], LIBRARY) == [ChosenRange(1, 512, "ring", (8, 64, 512))]


def test_two_of_ours_meet_in_the_middle():
    assert ranges([(64, "ring"), (256, "chain")], LIBRARY) == [
        ChosenRange(64, 128, "ring", (64,)),
        ChosenRange(129, 256, "chain", (256,)),
    ]


def test_sizes_too_far_apart_say_nothing_of_those_between():
    for name in ("ring", LIBRARY):
        assert ranges([(64, name), (4096, name)], LIBRARY) == [
            ChosenRange(64, 64, name, (64,)),
            ChosenRange(4096, 4096, name, (4096,)),
        ]
