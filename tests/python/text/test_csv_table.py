"""CSV files as spreadsheets, pandas, R and measuring programs write them: what is read, and what is refused."""

from __future__ import annotations

import codecs
import re

import pytest

from kumihimo.text.csv_table import CsvTable
from kumihimo.text.errors import BadInput


def rows(folder, data: str | bytes) -> list[tuple[int, dict]]:
    path = folder / "t.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return list(CsvTable(path, "the table").rows())


@pytest.mark.parametrize(
    "data",
    [
        "name,us\nring,2.5\nbine,3\n",
        "name,us\r\nring,2.5\r\nbine,3\r\n",
        "name,us\rring,2.5\rbine,3\r",
        "\nname, us\nring , 2.5\n\nbine,3",
        codecs.BOM_UTF8 + b"name,us\nring,2.5\nbine,3\n",
        "name\tus\nring\t2.5\nbine\t3\n".encode("utf-16"),
        "name;us\nring;2,5\nbine;3\n",
        'sep=;\r\n"name";"us"\r\n"ring";"2,5"\r\n"bine";"3"\r\n;\r\n',
        '"","name","us"\n"1","ring",2.5\n"2","bine",3\n,,\n',
        "name;us\nring;2.5D+00\nbine;3\n",
    ],
)
def test_forms_of_one_table(tmp_path, data):
    assert [row for _, row in rows(tmp_path, data)] == [{"name": "ring", "us": 2.5}, {"name": "bine", "us": 3}]


def test_a_row_has_the_line_on_which_it_begins(tmp_path):
    found = rows(tmp_path, 'a,b\n"x\ny",1\n\nz,"say ""hi"", twice"\n')
    assert found == [(2, {"a": "x\ny", "b": 1}), (5, {"a": "z", "b": 'say "hi", twice'})]


def test_a_name_and_a_cell_may_be_long(tmp_path):
    name, cell = 200_000 * "n", 200_000 * "x"
    assert rows(tmp_path, f"{name},b\n{cell},1\n") == [(2, {name: cell, "b": 1})]


def test_columns_may_have_other_decimals(tmp_path):
    """As a version beside times."""
    assert rows(tmp_path, "us;version\n2,5;4.1\n") == [(2, {"us": 2.5, "version": 4.1})]


def test_columns_without_a_name_have_no_decimals(tmp_path):
    assert rows(tmp_path, ";us;\n2,5;1;4.1\n") == [(2, {"us": 1})]


def test_cells_that_are_no_numbers_stay_text(tmp_path):
    cells = ["4x4x3", "1_000", "1.2.3", "0x10", "e5", "1,5", ".", "+", "", "7.28 us", "--1"]
    text = "\n".join(f'"{cell}",' for cell in cells)
    assert [row.get("a") for _, row in rows(tmp_path, f"a,b\n{text}\n1,2")][:-1] == [cell for cell in cells if cell]
    assert rows(tmp_path, f"a,b\n{'9' * 5000},-inf")[0][1] == {"a": float("inf"), "b": float("-inf")}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            "a,s\n8,7,28e-06\n",
            "t.csv:2: a row must have 2 cells, one for each name (got 3); name each column, write decimals with a",
        ),
        ("a,s\n8,7,\n", "t.csv:2: a row must have 2 cells, one for each name (got 3)"),
        ("a,s\n1,2\n8\n", "t.csv:3: a row must have 2 cells, one for each name (got 1); give each name a cell"),
        ("a;s\n8;7;9\n", "t.csv:2: a row must have 2 cells, one for each name (got 3); give each name a cell"),
        ("a;s\n7;8,5\n1;2.5\n", "not one of each (got a comma in line 2, a point in line 3)"),
        (
            'a,s\n1,2\n3,"4\n5,6\n',
            "t.csv:3: the table must be CSV, with a pair of quotes around a quoted cell (got no end",
        ),
        (
            'a,s\n"1"2,3\n',
            "t.csv:2: the table must be CSV, with a pair of quotes around a quoted cell (got ',' expected",
        ),
        ("a,s,a\n1,2,3\n", "t.csv:1: each name must be that of one column (got a)"),
        ("a,s\n1,\0\n", "t.csv:2: the table must be text (got a byte of value 0)"),
        ("", "the table must have a line of names (got an empty file)"),
        (b"a,\xff\n", "the table must be UTF-8 text"),
        (b"\x1f\x8b\x08", "the table must not be compressed"),
        ("sep=|\na|b\n", "t.csv:1: cells must be separated by commas, semicolons or tabs (got '|')"),
    ],
)
def test_tables_that_are_refused(tmp_path, data, sentence):
    with pytest.raises(BadInput, match=re.escape(sentence)):
        rows(tmp_path, data)
