"""One limit of depth for JSON and TOML, whatever Python's own limit is."""

from __future__ import annotations

import time

import pytest

from kumihimo.nested_text import MOST_LEVELS, TooDeepError, json_of, toml_of


def lists(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_as_many_levels_as_the_limit_are_read():
    assert json_of(lists(MOST_LEVELS)) is not None
    assert toml_of(f"a = {lists(MOST_LEVELS - 1)}")["a"] is not None
    assert toml_of(f"{'.'.join('a' * (MOST_LEVELS - 1))} = 1")["a"] is not None


@pytest.mark.parametrize("depth", [MOST_LEVELS + 1, 1_000, 20_000, 200_000])
@pytest.mark.parametrize(
    ("read", "form"),
    [
        (json_of, lists),
        (json_of, lambda depth: '{"a":' * depth + "1" + "}" * depth),
        (json_of, lambda depth: "[" * depth),
        (toml_of, lambda depth: f"a = {lists(depth)}"),
        (toml_of, lambda depth: "a = " + "{a = " * depth + "1" + "}" * depth),
        (toml_of, lambda depth: ".".join("a" * depth) + " = 1"),
        (toml_of, lambda depth: '"x" . ' * depth + "'y' = 1"),
        (toml_of, lambda depth: f"[{'.'.join('a' * depth)}]\n"),
        (toml_of, lambda depth: f"a = {{{'.'.join('a' * depth)} = 1}}"),
    ],
)
def test_more_levels_are_refused_at_once(read, form, depth):
    text = form(depth)
    begun = time.process_time()
    if text.endswith("[") and depth == MOST_LEVELS + 1:  # Python says that it has no end
        with pytest.raises(ValueError, match="Expecting value"):
            read(text)
    else:
        with pytest.raises(TooDeepError, match="nested more than 256 levels deep"):
            read(text)
    assert time.process_time() - begun < 5


def test_long_keys_and_numbers_with_points_are_not_deep():
    for text in ("a" * 200_000 + " = 1", f"a = [{'1.5, ' * 1000}]", f'a = "{"b." * 1000}"', "# " + "a." * 1000):
        begun = time.process_time()
        toml_of(text)
        assert time.process_time() - begun < 5
