"""Tables of CSV files, as spreadsheets, pandas and R write them: a line of names, then a row of cells a line.

Cells are separated by commas, semicolons or tabs, whichever the line of names has. Where it isn't commas, numbers may
have a decimal comma. A row with more or fewer cells than names is refused: a decimal comma between cells that are
separated by commas would move all later cells by one.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kumihimo.text import files
from kumihimo.text.errors import wrong_value

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
SEPARATOR_LINE = re.compile(r"\"?sep=(.)\"?[,;]*", re.IGNORECASE)  # of Excel, before the names
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eEdD][+-]?[0-9]+)?|[+-]?inf(inity)?|nan", re.IGNORECASE)
EXPONENT = re.compile(r"([0-9.])[dD]")  # of Fortran

csv.field_size_limit(files.LARGEST)  # in place of 128 KiB


@dataclass(frozen=True)
class Record:
    line: int  # its first
    cells: list[str]


class CsvTable:
    """`names` of the columns, without blanks at their ends; empty for a column without one."""

    def __init__(self, path: Path, what: str) -> None:
        self._path, self._what = path, what
        lines = _text(path, what).split("\n")
        first = next((number for number, line in enumerate(lines) if line.strip()), None)
        if first is None:
            raise wrong_value(f"{path}: {what} must have a line of names", "an empty file")
        told = SEPARATOR_LINE.fullmatch(lines[first].strip(" "))
        if told:
            first += 1
        self._separator = told[1] if told else _separator_of("".join(lines[first : first + 1]))
        if self._separator not in SEPARATORS:
            rule = f"{path}:{first}: cells must be separated by commas, semicolons or tabs"
            raise wrong_value(rule, repr(self._separator))
        self._records = self._read(lines, first)
        head = next(self._records, Record(first + 1, [""]))
        self.line, self.names = head.line, head.cells
        twice = [name for name, times in Counter(self.names).items() if name and times > 1]
        if twice:
            raise wrong_value(f"{path}:{self.line}: each name must be that of one column", ", ".join(twice))

    def rows(self) -> Iterator[tuple[int, dict[str, object]]]:
        """Each row with its line, once. Rows whose cells are all empty are left out, and columns without a name."""
        # Of each column the line of the first number with a point, and of the first with a comma.
        decimals: dict[str, dict[str, int]] = {name: {} for name in self.names if name}
        for record in self._records:
            if len(record.cells) != len(self.names):
                advice = "name each column, write decimals with a point, and cells that have a comma in quotes"
                if len(record.cells) < len(self.names) or self._separator != ",":
                    advice = "give each name a cell, which may be empty"
                rule = f"{self._path}:{record.line}: a row must have {len(self.names)} cells, one for each name"
                raise wrong_value(rule, len(record.cells), advice)
            named = [(name, cell) for name, cell in zip(self.names, record.cells) if name]
            yield record.line, {name: self._value(cell, record.line, decimals[name]) for name, cell in named}

    def _read(self, lines: Sequence[str], first: int) -> Iterator[Record]:
        reader = csv.reader(
            (f"{line}\n" for line in lines[first:]), delimiter=self._separator, skipinitialspace=True, strict=True
        )
        line = first + 1
        try:
            for cells in reader:
                stripped = [cell.strip() for cell in cells]
                if any(stripped):
                    yield Record(line, stripped)
                line = first + reader.line_num + 1
        except csv.Error as error:
            reason = "no end of a quoted cell" if "end of data" in str(error) else str(error)
            rule = f"{self._path}:{line}: {self._what} must be CSV, with a pair of quotes around a quoted cell"
            raise wrong_value(rule, reason) from None

    def _value(self, cell: str, line: int, decimals: dict[str, int]) -> object:
        if INTEGER.fullmatch(cell) and len(cell) < 100:
            return int(cell)
        mark = next((mark for mark in ",." if mark in cell), ".")
        if not NUMBER.fullmatch(cell) or mark == self._separator:
            return cell
        if mark in cell:
            decimals.setdefault(mark, line)
        if len(decimals) == 2:
            rule = f"{self._path}: numbers of a column must have a decimal comma or a decimal point, not one of each"
            raise wrong_value(rule, f"a comma in line {decimals[',']}, a point in line {decimals['.']}")
        return float(EXPONENT.sub(r"\1e", cell.replace(",", ".")))


def _text(path: Path, what: str) -> str:
    text = files.read_text(path, what)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise wrong_value(f"{path}:{line}: {what} must be text", "a byte of value 0")
    return text


def _separator_of(names: str) -> str:
    """The most frequent outside quotes."""
    unquoted = re.sub(r'"[^"]*"', "", names)
    return max(SEPARATORS, key=unquoted.count)
