"""Columns of plane waves as predictions count them: those of src/numerics/fft/sphere.hpp."""

from __future__ import annotations

from math import pi

import pytest

from kumihimo.app.plane_waves import PlaneWaves, parts


@pytest.mark.parametrize("radius", [0.0, 1.0, 2.5, 5.0, 7.9])
def test_they_are_the_frequencies_of_a_sphere(radius: float) -> None:
    reach = int(radius)
    line = range(-reach, reach + 1)
    inside = [(x, y, z) for x in line for y in line for z in line if x * x + y * y + z * z <= radius**2]
    waves = PlaneWaves(radius)
    assert waves.coefficients == len(inside)
    assert waves.columns == len({(x, y) for x, y, _ in inside})
    assert waves.planes == len({x for x, _, _ in inside})
    assert waves.reaches == sorted(waves.reaches, reverse=True)


@pytest.mark.parametrize("ranks", [1, 3, 16, 2000])
def test_ranks_share_all_columns(ranks: int) -> None:
    waves = PlaneWaves(12.0)
    of_ranks = waves.columns_of_ranks(ranks)
    assert sum(of_ranks) == waves.columns and len(of_ranks) == ranks
    assert max(of_ranks) - min(of_ranks) <= max(1, waves.columns // ranks)


def test_a_quarter_of_the_axis_has_a_fifth_of_the_columns() -> None:
    assert PlaneWaves(24.0).columns / 96**2 == pytest.approx(pi / 16, rel=0.01)


def test_parts_make_up_the_range() -> None:
    assert parts(10, 4) == [2, 3, 2, 3]
    assert sum(parts(7, 9)) == 7 and len(parts(7, 9)) == 9
