"""One limit of depth for JSON and TOML, whatever Python's own limit is."""

from __future__ import annotations

import time

import pytest

from kumihimo.text.documents import MOST_DEPTH, TooDeep, read_json, read_toml


def lists(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_as_many_levels_as_the_limit_are_read():
    assert read_json(lists(MOST_DEPTH)) is not None
    assert read_toml(f"a = {lists(MOST_DEPTH - 1)}")["a"] is not None
    assert read_toml(f"{'.'.join('a' * (MOST_DEPTH - 1))} = 1")["a"] is not None


@pytest.mark.parametrize("depth", [MOST_DEPTH + 1, 1_000, 20_000, 200_000])
@pytest.mark.parametrize(
    ("read", "form"),
    [
        (read_json, lists),
        (read_json, lambda depth: '{"a":' * depth + "1" + "}" * depth),
        (read_json, lambda depth: "[" * depth),
        (read_toml, lambda depth: f"a = {lists(depth)}"),
        (read_toml, lambda depth: "a = " + "{a = " * depth + "1" + "}" * depth),
        (read_toml, lambda depth: ".".join("a" * depth) + " = 1"),
        (read_toml, lambda depth: '"x" . ' * depth + "'y' = 1"),
        (read_toml, lambda depth: f"[{'.'.join('a' * depth)}]\n"),
        (read_toml, lambda depth: f"a = {{{'.'.join('a' * depth)} = 1}}"),
    ],
)
def test_more_levels_are_refused_at_once(read, form, depth):
    text = form(depth)
    begun = time.process_time()
    with pytest.raises(TooDeep, match="nested more than 64 deep"):
        read(text)
    assert time.process_time() - begun < 5


def test_long_keys_and_numbers_with_points_are_not_deep():
    for text in ("a" * 200_000 + " = 1", f"a = [{'1.5, ' * 1000}]", f'a = "{"b." * 1000}"', "# " + "a." * 1000):
        begun = time.process_time()
        read_toml(text)
        assert time.process_time() - begun < 5
