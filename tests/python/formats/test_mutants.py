"""Random wrong files of every format: the command reads them, or refuses them in one sentence with exit code 2.

    pytest tests/python/formats -k METIS              a fixed share, as make test runs it
    pytest tests/python/formats -m long               200 of each format
    KUMIHIMO_MUTANTS=200:4000 pytest tests/python/formats -m long    others: those numbers of each format

A failure names the number of the mutant and keeps its bytes."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from formats import mutants, reading
from formats.rows import ROWS, Row

from kumihimo.text.errors import NotApplicable

FEW, MANY = range(15), "0:200"
KEPT = Path(__file__).parents[3] / "build" / "mutants"  # of those that fail

every_format = pytest.mark.parametrize("row", ROWS, ids=[row.name.replace(" ", "-") for row in ROWS])


@pytest.fixture(scope="session")
def reader():
    with reading.Reader() as reader:
        yield reader


@pytest.fixture(scope="session")
def readers(reader: reading.Reader):
    """One for each processor."""
    with contextlib.ExitStack() as others:
        more = range(len(os.sched_getaffinity(0)) - 1)
        yield [reader, *(others.enter_context(reading.Reader()) for _ in more)]


@every_format
def test_a_few_wrong_files_are_refused_in_one_sentence(row: Row, reader: reading.Reader, tmp_path: Path) -> None:
    check(row, [reader], tmp_path, FEW)


@pytest.mark.long
@every_format
def test_wrong_files_are_refused_in_one_sentence(row: Row, readers: list[reading.Reader], tmp_path: Path) -> None:
    first, _, last = os.environ.get("KUMIHIMO_MUTANTS", MANY).partition(":")
    check(row, readers, tmp_path, range(int(first), int(last)))


def check(row: Row, readers: Sequence[reading.Reader], folder: Path, numbers: range) -> None:
    """The mutants are dealt to the readers, each of which has a folder of its own."""
    try:
        row.prepare(folder / "0")
    except NotApplicable as lacking:  # OTF2's package
        pytest.skip(str(lacking))
    for i in range(1, len(readers)):
        shutil.copytree(folder / "0", folder / str(i))
    with ThreadPoolExecutor(len(readers)) as pool:
        shares = [(row, each, folder / str(i), numbers[i :: len(readers)]) for i, each in enumerate(readers)]
        faults = [fault for found in pool.map(lambda share: list(faults_of(*share)), shares) for fault in found]
    if faults:
        pytest.fail("\n".join([f"kumihimo {' '.join(row.words())}", *faults]), pytrace=False)


def faults_of(row: Row, reader: reading.Reader, folder: Path, numbers: range) -> Iterator[str]:
    file = folder / row.file
    seed = file.read_bytes()
    itself = reader.run(folder, row.words(), row.main, known=False)
    if itself.code != 0 or reading.fault(itself):
        yield f"the file itself: {itself}"
    for number in numbers:
        mutant = mutants.mutant(seed, number)
        file.write_bytes(mutant.data)
        ended = reader.run(folder, row.words(), row.main)
        if found := reading.fault(ended, row.codes):
            yield f"mutant {number} ({mutant.how}), kept in {keep(row, number, file)}: {found}"
            yield from (f"    {line}"[:300] for line in ended.err.splitlines()[-6:])


def keep(row: Row, number: int, file: Path) -> Path:
    kept = KEPT / row.name.replace(" ", "-") / f"{number}-{file.name}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(file, kept))
