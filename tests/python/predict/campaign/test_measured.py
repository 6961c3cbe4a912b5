"""[measured] of campaign files: rows of a CSV file in the names of the campaign."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from kumihimo.predict.campaign import measured
from kumihimo.predict.campaign.description import toml
from kumihimo.text.errors import BadInput

TABLE = """
file = "times.csv"
[columns]
algorithm = "name"
bytes = "size"
seconds = "us * 1e-6"
"""
KNOWN = ("algorithm", "bytes")


def rows(folder, text: str, lines: tuple[str, ...] = ("MY-RING,8,2", "TREE,18,4")) -> list[dict]:
    (folder / "times.csv").write_text("\n".join(("name,size,us", *lines)))
    told = toml(text, folder / "file.toml")
    return [row for _, _, row in measured.rows_of(told, folder, KNOWN, "a parameter")]


def test_names_give_texts_and_numbers_our_spelling(tmp_path):
    names = '[names.algorithm]\nMY-RING = "ring"\nTREE = "binomial"\n[names.bytes]\n18 = 16'
    assert rows(tmp_path, f"{TABLE}{names}") == [{"algorithm": "binomial", "bytes": 16, "seconds": pytest.approx(4e-6)}]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f'{TABLE}[names]\nbytes = "18"', "bytes must be a table, [measured.names.bytes] (got '18')"),
        (f"names = 5{TABLE}", "names must be a table, [measured.names] (got 5)"),
        (f"{TABLE}[names.bytes]", "a text under [measured.names.bytes] is missing; add for example"),
        (f"{TABLE}[names.byte]\n8 = 9", "of [measured.columns] (got 'byte'); did you mean bytes?"),
        (
            f"{TABLE}[names.bytes]\n8 = [9]",
            "times.csv:2: bytes must be a number of at most 64 bits or a text (got [9])",
        ),
        (TABLE.replace('"size"', '"(size, size)"'), "times.csv:2: bytes must be a number of at most 64 bits or a text"),
        (TABLE.replace('"size"', '"size * 2**62"'), "times.csv:2: bytes must be a number of at most 64 bits or a text"),
        ('file = "times.csv"\ncolumns = 5', "columns must be a table, [measured.columns] (got 5)"),
    ],
)
def test_tables_that_are_wrong(tmp_path, text, sentence):
    with pytest.raises(BadInput, match=re.escape(sentence)):
        rows(tmp_path, text)


def read(folder, text: str, *lines: str) -> list[dict]:
    rows(folder, text, lines)
    points = [SimpleNamespace(values=dict.fromkeys(KNOWN))]
    return measured.read(
        SimpleNamespace(measured=toml(text, folder / "file.toml"), folder=folder, points=lambda: points)
    )


def test_two_rows_for_the_same_points(tmp_path):
    """Nothing says which one counts."""
    lines = ("ring,8,2", "tree,8,3", "ring,8,4")
    sentence = (
        "times.csv: two measured rows must differ in a column of [measured.columns] "
        "(got lines 2 and 4, both with algorithm = 'ring', bytes = 8); add a column, or choose by `where`"
    )
    with pytest.raises(BadInput) as error:
        read(tmp_path, TABLE, *lines)
    assert str(error.value) == sentence
    chosen = read(tmp_path, f'where = "us < 4"{TABLE}', *lines)
    assert [row["seconds"] for row in chosen] == pytest.approx([2e-6, 3e-6])
