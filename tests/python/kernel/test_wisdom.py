"""The wisdom file of a kernel: what joins what, and writers at the same time."""

from __future__ import annotations

import json
import multiprocessing

import pytest

from kumihimo.errors import BadInput
from kumihimo.kernel import choices, wisdom

MADE = {"command": "test"}


def row(low: int, high: int, golden: str = "a", variant: str = "fast", **more) -> dict:
    key = choices.key_of(golden, "CPython", "python", {"processor": "p", "processors": 1})
    measured = [{"size": size, "seconds": 1e-6} for size in (low, high)]
    found = {"kernel": "dot", **key, "variant": variant, "parameters": {}, "from_size": low, "to_size": high}
    return {**found, "measured": measured, **more}


def kept() -> list[dict]:
    return json.loads(choices.path_of("dot").read_text(encoding="utf-8"))["choices"]


def spans(rows: list[dict]) -> list[tuple]:
    return [(each["golden"], each["variant"], each["from_size"], each["to_size"]) for each in rows]


def test_new_choices_cut_old_ones_of_the_same_kernel():
    wisdom.extend("dot", [row(1, 100, variant="old")], MADE)
    wisdom.extend("dot", [row(10, 20)], MADE)
    assert spans(kept()) == [("a", "fast", 10, 20), ("a", "old", 1, 9), ("a", "old", 21, 100)]
    assert [[each["size"] for each in part["measured"]] for part in kept()] == [[10, 20], [1], [100]]


def test_choices_of_another_golden_copy_machine_or_compiler_stay():
    wisdom.extend("dot", [row(1, 100)], MADE)
    others = [row(1, 100, golden="b"), row(1, 100, compiler="GCC"), row(1, 100, machine={"processor": "q"})]
    for other in others:
        wisdom.extend("dot", [other], MADE)
    assert len(kept()) == 4


def write(number: int) -> None:
    wisdom.extend("dot", [row(number, number)], MADE)


def test_writers_at_the_same_time_lose_nothing():
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=write, args=(number,)) for number in range(1, 25)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert sorted(each["from_size"] for each in kept()) == list(range(1, 25))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "the wisdom file of a kernel must be JSON"),
        ("[]", "must have version 1 and choices"),
        ('{"kumihimo_wisdom": 9, "choices": []}', "must have version 1 and choices"),
        ('{"kumihimo_wisdom": 1, "choices": [3]}', "each choice in the wisdom file of a kernel must be an object"),
    ],
)
def test_a_file_that_is_none_of_ours_is_not_written_over(text, said):
    path = choices.path_of("dot")
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        wisdom.extend("dot", [row(1, 2)], MADE)
    assert path.read_text(encoding="utf-8") == text
