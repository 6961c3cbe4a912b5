"""Hints at three levels: what they mean, and one sentence for each that is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.kernel import loops
from kumihimo.kernel.hints import KernelHints, parse
from kumihimo.text.errors import BadInput


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("", KernelHints()),
        ("precious, 100 to 10,000 trips, even", KernelHints(trips=(100, 10000), multiple=2, precious=True)),
        ("1..1,000,000 trips; odd", KernelHints(trips=(1, 1000000), odd=True)),
        ("8 trips", KernelHints(trips=(8, 8))),
        ("even and a multiple of 3", KernelHints(multiple=6)),
        ("not a power of two", KernelHints(power_of_two=False)),
        ("Power of 2", KernelHints(power_of_two=True)),
        ("unroll, align, SIMD and tune", KernelHints(transformations=("unroll", "align", "simd"), tune=True)),
        ("unroll by 5", KernelHints(fixed=(("unroll", 5),))),
        ("align to 32, SIMD by 8", KernelHints(fixed=(("align", 32), ("simd", 8)))),
    ],
)
def test_hints_are_read(text, hints):
    assert parse(text) == hints


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("unrol", "a hint must be one of those of docs/guides/tune-your-kernel.md (got 'unrol'); did you mean unroll?"),
        ("fast please", "(got 'fast please'); write properties"),
        ("100 to 10 trips", "trips in a hint must run from the least to the most (got '100 to 10 trips')"),
        ("even, odd", "a number of trips cannot be odd and a multiple of an even number (got 'even, odd')"),
        ("3 to 3 trips, even", "the range of trips in a hint must hold a number with the other properties"),
        ("5 to 7 trips, power of two", "the range of trips in a hint must hold a number"),
        ("4 trips, not a power of two", "the range of trips in a hint must hold a number"),
        ("power of two, multiple of 6", "a power of two is no multiple of 6"),
        ("power of two, not a power of two", "a hint must not contradict itself"),
        ("tune", "tune in a hint needs what is tuned (got 'tune'); write unroll, align, simd and tune"),
        ("unroll by 0", "unroll in a hint must be from 1 to 64 (got 'unroll by 0')"),
        ("unroll by 5, unroll by 6", "a hint must give unroll once (got 'unroll by 6' as well); leave one out"),
        ("align to 48", "align in a hint must be a power of two (got 'align to 48')"),
        ("1 to 5 trips, 7 trips", "a hint must give the trips once"),
        ("multiple of 0", "a multiple in a hint must be at least 1 (got 'multiple of 0')"),
    ],
)
def test_a_wrong_hint_is_one_sentence(text, sentence):
    with pytest.raises(BadInput) as error:
        parse(text)
    assert sentence in str(error.value)


@given(
    st.integers(1, 50), st.integers(0, 300), st.sampled_from([1, 2, 3, 8]), st.sampled_from(["", "odd", "power of two"])
)
def test_sizes_that_fit_are_those_of_a_plain_search(low, span, multiple, other):
    try:
        hints = parse(f"{low} to {low + span} trips, multiple of {multiple}" + (f", {other}" if other else ""))
    except BadInput:
        return
    plain = [
        size
        for size in range(low, low + span + 1)
        if size % multiple == 0
        and (other != "odd" or size % 2)
        and (other != "power of two" or bin(size).count("1") == 1)
    ]
    assert plain, "a hint without any size must be refused"
    assert hints.from_size(low, 1000) == plain
    assert [size for size in range(low + span + 20) if hints.fits(size)] == plain


def test_the_levels_choose_what_is_generated():
    assert loops.parameters(parse("even")) == {"unroll": (1,), "align": (0,), "simd": (0,)}
    assert loops.parameters(parse("unroll and SIMD")) == {"unroll": (4,), "align": (0,), "simd": (1,)}
    tuned = loops.parameters(parse("unroll, align, SIMD and tune"))
    assert tuned == loops.TRIED
    assert loops.parameters(parse("unroll by 5, SIMD and tune")) == {
        "unroll": (5,),
        "align": (0,),
        "simd": (0, 1, 4, 8),
    }
