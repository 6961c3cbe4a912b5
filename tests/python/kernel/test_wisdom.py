"""The wisdom file of a kernel: what joins what, and writers at the same time."""

from __future__ import annotations

import json
import multiprocessing

import pytest

from kumihimo.kernel import choices, wisdom
from kumihimo.text.errors import BadInput, Failed

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


def test_programs_that_keep_one_object_at_the_same_time(tmp_path, monkeypatch):
    """The copy of the other program would have been written into and moved away under ours."""
    made = tmp_path / "key.so"
    made.write_bytes(b"whole")
    kept = choices.objects() / "key.so"
    kept.parent.mkdir(parents=True)
    other = kept.with_suffix(".new")
    other.write_bytes(b"half")
    wisdom.keep(made, kept)
    assert (kept.read_bytes(), other.read_bytes()) == (b"whole", b"half")
    keepers = [multiprocessing.get_context("fork").Process(target=wisdom.keep, args=(made, kept)) for _ in range(12)]
    kept.unlink()
    for each in keepers:
        each.start()
    for each in keepers:
        each.join()
    assert [each.exitcode for each in keepers] == [0] * 12
    assert sorted(each.name for each in kept.parent.iterdir()) == ["key.lock", "key.new", "key.so"]


def test_an_object_with_other_bytes_is_replaced(tmp_path):
    made, kept = tmp_path / "key.so", choices.objects() / "key.so"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"damaged")
    made.write_bytes(b"whole")
    wisdom.keep(made, kept)
    assert kept.read_bytes() == b"whole"


def test_without_a_home_there_are_no_choices(monkeypatch):
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)

    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(choices.Path, "home", home)
    assert choices.read("dot") == []
    with pytest.raises(Failed, match="there is no home folder for kernel wisdom; set HOME or XDG_DATA_HOME"):
        choices.path_of("dot")
