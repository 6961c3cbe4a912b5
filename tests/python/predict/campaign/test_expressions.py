"""Expressions of campaign files: values, units, and what they must not do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumihimo.predict.campaign.expressions import CampaignExpression
from kumihimo.text.errors import BadInput


def value(text: str, **values: object) -> object:
    return CampaignExpression(text, "test").value(values)


def test_values():
    assert value("nodes * 16", nodes=4) == 64
    assert value("48 / n", n=3) == 16 and isinstance(value("48 / n", n=3), int)
    assert value("n / 3", n=1) == pytest.approx(1 / 3)
    assert value("f'{n}x{n}x{2 * n}'", n=4) == "4x4x8"
    assert value("a if n > 2 else b", a="x", b="y", n=2) == "y"
    assert value("int(log2(n)) + min(n, 3)", n=8) == 6
    assert value("library in ('mpich', 'openmpi') and not n % 2", library="mpich", n=4) is True
    assert value("f'{n:03}'", n=7) == "007"
    assert value("replace(lower(name), '-', '_')", name="Re-Do") == "re_do"


def test_powers():
    assert value("2 ** (m // 3) ** 2", m=9) == 512
    with pytest.raises(BadInput, match="an exponent of at most 63"):
        value("9 ** 9 ** 9")


def test_sizes_have_units_outside_of_texts():
    assert value("bytes <= 12KiB", bytes=12288) is True and value("bytes < 12 * 1KiB", bytes=12288) is False
    assert value("1.5MiB + 8B") == 3 * 2**19 + 8
    assert value("name == '1KiB'", name="1KiB") is True


@given(st.integers(-1000, 1000), st.integers(1, 1000))
def test_arithmetic_is_python_s(a, b):
    assert value("a // b * b + a % b", a=a, b=b) == a
    assert value("(a < b) == (b > a)", a=a, b=b) is True


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nodes *", "must be an expression"),
        ("", "must be an expression"),
        ("().__class__", "attributes and subscripts are not allowed"),
        ("nodes[0]", "attributes and subscripts are not allowed"),
        ("[n for n in nodes]", "must be made of"),
        ("(lambda: 1)()", "must be among min"),
        ("open('/etc/passwd')", "must be among min"),
        ("celi(n)", "did you mean ceil"),
        ("min", "add parentheses"),
        ("(" * 500 + "1" + ")" * 500, "must be an expression"),
        ("-" * 100_000 + "1", "must be an expression"),
        ("n is 1", "must be an expression"),
        ("'\\d' == 'x'", "must be an expression"),
        ("1" + "+ 1" * 50_000, "must be an expression"),
        ("f'{n:999999999999}'", "numbers of at most two digits"),
        ("f'{n:{n}}'", "numbers of at most two digits"),
    ],
)
def test_what_is_no_expression(text, words):
    with pytest.raises(BadInput, match=r"test must|(functions|widths) in test") as error:
        CampaignExpression(text, "test")
    assert words in str(error.value)


def test_an_expression_is_a_text():
    with pytest.raises(BadInput, match="in quotes"):
        CampaignExpression(3, "ranks")


def test_values_that_do_not_exist():
    with pytest.raises(BadInput, match=r"n = 0: .*division"):
        value("1 / n", n=0)
    with pytest.raises(BadInput, match="a = 'x', b = 1"):
        value("a < b", a="x", b=1)
    with pytest.raises(BadInput, match=r"nodse has no value.*did you mean nodes"):
        value("nodse", nodes=1)


@pytest.mark.parametrize(
    ("text", "wrong"), [("name * 2**40", "'a'"), ("2**40 * (n,)", r"\(3,\)"), ("'%1099511627776d' % n", "'%1099.*'")]
)
def test_texts_are_not_repeated(text, wrong):
    """They would fill the memory."""
    with pytest.raises(BadInput, match=f"test must have a value at every point .*takes numbers, not {wrong}"):
        value(text, name="a", n=3)


def test_too_little_memory_is_told_of_the_expression():
    class Huge(str):
        def __add__(self, other: str) -> str:
            raise MemoryError

    with pytest.raises(BadInput, match=r"'name \+ name' with name = 'a': not enough memory"):
        value("name + name", name=Huge("a"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("round(1, -1000000000)", "round takes at most 99 digits, not -1000000000"),
        (
            "replace('aaaaaaaaaa', 'a', 'b' + f'{1:99}' + f'{1:99}' + f'{1:99}' + f'{1:99}' + f'{1:99}')",
            "of at most 4096",
        ),
        ("f'{x}{x}{x}'", "a text of more than 4096 characters"),
    ],
)
def test_values_that_would_take_for_ever_or_all_memory_are_refused(text, words):
    with pytest.raises(BadInput, match=words):
        value(text, x="y" * 4096)
