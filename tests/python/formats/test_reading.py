"""The checker finds each thing that a reader may not do, and the mutator makes the same files from the same numbers."""

from __future__ import annotations

import collections
from collections.abc import Callable
from pathlib import Path

import pytest
from formats import mutants, reading
from formats.rows import ROWS, SEEDS

SEED = b'{"name": "x", "list": [1, 2.5, "text"], "table": {"a": -1e3}}\n'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory):
    """A command of wrong_readers.py."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "file").write_bytes(b"\x1b[31m")
    with reading.Reader(wall_seconds=3, cpu_seconds=1) as reader:
        yield lambda name: reader.run(folder, [name, "file"], "formats.wrong_readers:main")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("one_sentence", ""),
        ("process_left_behind", ""),
        ("two_lines", "exit code 2 with 2 lines on stderr"),
        ("nothing_said", "exit code 2 with 0 lines on stderr"),
        ("stack_trace", "exit code 1"),
        ("stack_trace_but_code_0", "stderr has 'Traceback'"),
        ("null_pointer", "it died of SIGSEGV"),
        ("abort", "it died of SIGABRT"),
        ("endless_loop", "it took too long"),
        ("endless_wait", "it took too long"),
        ("too_much_memory", "exit code 1"),
        ("escape_sequence", "the control character '\\x1b' reaches the terminal"),
        ("escape_sequence_in_the_result", "the control character '\\x1b' reaches the terminal"),
        ("whole_file_in_the_sentence", "a sentence of 100042 characters"),
        ("system_failure", "exit code 1"),
    ],
)
def test_each_wrong_reader_is_found(run: Callable[[str], reading.Ended], wrong: str, sentence: str) -> None:
    assert reading.fault(run(wrong)) == sentence


def test_what_a_reader_leaves_behind_is_ended(run: Callable[[str], reading.Ended]) -> None:
    ended = run("process_left_behind")
    assert (ended.code, ended.seconds < 3) == (0, True)


def test_a_number_always_makes_the_same_mutant() -> None:
    assert list(mutants.mutants(SEED, 60)) == list(mutants.mutants(SEED, 60))
    assert mutants.mutant(SEED, 41) == list(mutants.mutants(SEED, 60))[41]


def test_each_change_changes_something() -> None:
    """Not every time: a line may be exchanged with itself."""
    changed = collections.Counter()
    for number in range(10 * len(mutants.CHANGES)):
        made = mutants.mutant(SEED + b"second line\n", number)
        changed[mutants.CHANGES[number % len(mutants.CHANGES)].__name__] += made.data != SEED + b"second line\n"
    assert set(changed) == {change.__name__ for change in mutants.CHANGES} and min(changed.values()) > 0


def test_each_seed_is_the_file_of_a_row_or_beside_one() -> None:
    files = {row.file for row in ROWS}
    beside = {str(path.relative_to(SEEDS)) for path in SEEDS.rglob("*") if path.is_file()} - files
    assert all(any(name in (SEEDS / row.file).read_text() or name in row.line for row in ROWS) for name in beside), (
        beside
    )
    assert all((SEEDS / row.file).is_file() or row.make for row in ROWS)


def test_rows_have_names_of_their_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) and isinstance(SEEDS, Path)
