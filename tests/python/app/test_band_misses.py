"""The model of cache misses of band blocking."""

from __future__ import annotations

import importlib.util
import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

FILE = Path(__file__).parents[3] / "bench" / "fft" / "band_misses.py"
spec = importlib.util.spec_from_file_location("band_misses", FILE)
band_misses = sys.modules["band_misses"] = importlib.util.module_from_spec(spec)  # where dataclasses look for it
spec.loader.exec_module(band_misses)
LINE, PAGE, BandBlocking = band_misses.LINE, band_misses.PAGE, band_misses.BandBlocking
misses, misses_of_a_band = band_misses.misses, band_misses.misses_of_a_band

ONE = BandBlocking(points=32**3, ranks=4, sharing=2, bands=32, at_once=1)
LINES = ONE.pages * PAGE // LINE  # of a band on a rank
TO_OTHERS = LINES * 3 // 4


def by_stack_distance(accesses: list[int], pages: int) -> int:
    """An access misses if as many others were touched since the last one of its page: by definition."""
    missed = 0
    for at, page in enumerate(accesses):
        before = [other for other in range(at) if accesses[other] == page]
        missed += not before or len(set(accesses[before[-1] + 1 : at])) >= pages
    return missed


def test_misses_are_those_of_an_lru_cache() -> None:
    random.seed(1)
    for _ in range(200):
        accesses = [random.randrange(8) for _ in range(40)]
        pages = random.randrange(1, 10)
        assert misses(iter([(0, "", each) for each in accesses]), pages) == by_stack_distance(accesses, pages)


def test_what_is_given_and_what_is_made_is_fetched_once() -> None:
    buffers = LINES + TO_OTHERS
    assert misses_of_a_band(ONE, 1 << 40) == 2 * LINES + buffers / ONE.bands
    assert misses_of_a_band(replace(ONE, at_once=8), 1 << 40) == 2 * LINES + 8 * buffers / ONE.bands


def test_more_cache_and_fewer_bands_at_once_never_miss_more() -> None:
    found = {
        (cache, at_once): misses_of_a_band(replace(ONE, at_once=at_once), cache << 10)
        for cache in (64, 256, 1024, 4096)
        for at_once in (1, 2, 4, 8)
    }
    for (cache, at_once), lines in found.items():
        assert 2 * LINES <= lines <= 4 * LINES + 2 * TO_OTHERS
        for (other, bands), more in found.items():
            if other <= cache and bands >= at_once:
                assert more >= lines


def test_buffers_that_outgrow_the_cache_are_fetched_at_each_step() -> None:
    assert misses_of_a_band(replace(ONE, at_once=8), 1 << 20) == 4 * LINES + 2 * TO_OTHERS


@pytest.mark.parametrize("bands", [5, 7])
def test_a_rest_of_the_bands_is_a_block_of_its_own(bands: int) -> None:
    accesses = list(replace(ONE, bands=bands, at_once=4).accesses())
    grids = {page for _, buffer, page in accesses if buffer == "grid"}
    assert grids == set(range(bands * ONE.pages))
