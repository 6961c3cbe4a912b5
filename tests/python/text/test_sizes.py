"""Sizes as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.text.errors import BadInput
from kumihimo.text.sizes import LARGEST, parse_size, parse_sizes, text_of


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8", 8),
        ("8B", 8),
        ("64KiB", 65536),
        ("64 kib", 65536),
        ("1GiB", 2**30),
        ("16MB", 16_000_000),
        ("1.5KiB", 1536),
        ("0.5TiB", 2**39),
        ("1PiB", 2**50),
        ("4EiB", 2**62),
        ("2pb", 2 * 10**15),
        (" 3 ", 3),
        (str(LARGEST), LARGEST),
    ],
)
def test_sizes_are_read(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "KiB", "8Kib8", "1e3", "0x10", "8 apples", "0", "-8", "-1KiB", "0.3", "1.0001KiB", "8EiB", str(LARGEST + 1)],
)
def test_anything_else_is_one_sentence(text):
    with pytest.raises(BadInput) as caught:
        parse_size(text)
    assert repr(text)[1:-1] in str(caught.value)


def test_zero_is_a_size_only_where_it_is_asked_for():
    assert parse_size("0", least=0) == 0
    with pytest.raises(BadInput, match="at least 1 byte"):
        parse_size("0")


@given(st.integers(1, LARGEST))
def test_what_is_written_is_read_back(size):
    assert parse_size(text_of(size)) == size


@given(st.text(max_size=12))
def test_no_text_is_anything_but_a_size_or_bad_input(text):
    try:
        assert 1 <= parse_size(text) <= LARGEST
    except BadInput as error:
        assert "\n" not in str(error) or "\n" in text


def test_ranges_double_and_lists_keep_their_order():
    assert parse_sizes("8..64") == [8, 16, 32, 64]
    assert parse_sizes("12..100") == [12, 24, 48, 96]
    assert parse_sizes("1MiB,8,4KiB..16KiB") == [2**20, 8, 4096, 8192, 16384]
    assert len(parse_sizes("8..16MiB")) == 22
    assert parse_sizes("16,8,8..32,1KiB,1024") == [16, 8, 32, 1024]


@pytest.mark.parametrize("text", ["16..8", "0..8", "8..", "..8", "8...16", "8,,16", "8,"])
def test_wrong_ranges_are_bad_input(text):
    with pytest.raises(BadInput):
        parse_sizes(text)


@given(st.integers(1, 2**40), st.integers(0, 2**20))
def test_a_range_holds_what_lies_between_its_ends(low, more):
    sizes = parse_sizes(f"{low}..{low + more}")
    assert sizes[0] == low
    assert all(b == 2 * a for a, b in zip(sizes, sizes[1:]))
    assert sizes[-1] <= low + more < 2 * sizes[-1]
