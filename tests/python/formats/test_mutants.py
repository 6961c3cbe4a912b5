"""Random wrong files of every format: the command reads them, or refuses them in one sentence with exit code 2.

    pytest tests/python/formats -k METIS              a fixed share, as make test runs it
    pytest tests/python/formats -m long               200 of each format
    KUMIHIMO_MUTANTS=200:4000 pytest tests/python/formats -m long -n 2    others: those numbers of each format

A failure names the number of the mutant and keeps its bytes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from formats import mutants, reading
from formats.rows import ROWS, Row

FEW = range(20)
MANY = "0:200"
KEPT = Path(__file__).parents[3] / "build" / "mutants"  # of those that fail

every_format = pytest.mark.parametrize("row", ROWS, ids=[row.name.replace(" ", "-") for row in ROWS])


@pytest.fixture
def reader(row: Row, tmp_path: Path):
    row.prepare(tmp_path)
    with reading.Reader(tmp_path, row.main) as reader:
        yield reader


@every_format
def test_a_few_wrong_files_are_refused_in_one_sentence(row: Row, reader: reading.Reader, tmp_path: Path) -> None:
    check(row, reader, tmp_path, FEW)


@pytest.mark.long
@every_format
def test_wrong_files_are_refused_in_one_sentence(row: Row, reader: reading.Reader, tmp_path: Path) -> None:
    first, _, last = os.environ.get("KUMIHIMO_MUTANTS", MANY).partition(":")
    check(row, reader, tmp_path, range(int(first), int(last)))


def check(row: Row, reader: reading.Reader, folder: Path, numbers: range) -> None:
    file = folder / row.file
    seed = file.read_bytes()
    itself = reader.run(row.words())
    assert (itself.code, reading.fault(itself)) == (0, ""), itself.err
    faults = []
    for number in numbers:
        mutant = mutants.mutant(seed, number)
        file.write_bytes(mutant.data)
        ended = reader.run(row.words())
        if found := reading.fault(ended, row.codes):
            faults.append(f"mutant {number} ({mutant.how}), kept in {keep(row, number, file)}: {found}")
            faults += [f"    {line}"[:300] for line in ended.err.splitlines()[-6:]]
    if faults:
        pytest.fail("\n".join([f"kumihimo {' '.join(row.words())}", *faults]), pytrace=False)


def keep(row: Row, number: int, file: Path) -> Path:
    kept = KEPT / row.name.replace(" ", "-") / f"{number}-{file.name}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(file, kept))
