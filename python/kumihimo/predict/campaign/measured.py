"""Measured times beside predicted ones: the rows of a CSV file, by the names of the campaign.

[measured] of the file names the CSV file; `columns` gives each of our names an expression over the columns of the CSV
file, `names` other spellings of texts, and `where` the rows to take.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from kumihimo.predict.campaign.database import MEASURED
from kumihimo.predict.campaign.description import Campaign, check_keys, is_value, table_of
from kumihimo.predict.campaign.expressions import CampaignExpression
from kumihimo.text.csv_table import CsvTable
from kumihimo.text.errors import BadInput, did_you_mean, missing, wrong_value
from kumihimo.text.json_types import JsonObject

FILE = "the file of measured times"
KEYS = ("file", "columns", "names", "where")


def read(campaign: Campaign) -> list[JsonObject]:
    """A row for each that is taken: parameters, then seconds and where the file has them low and high."""
    told = campaign.measured
    if told is None:
        return []
    known = {name for point in campaign.points() for name in point.values} | {"ranks"}
    found: dict[tuple, tuple[int, JsonObject]] = {}
    for line, _, row in rows_of(told, campaign.folder, known, "a parameter of the campaign"):
        values = {name: value for name, value in row.items() if name not in MEASURED}
        first, _ = found.setdefault(tuple(values.values()), (line, row))
        if first != line:
            shown = ", ".join(f"{name} = {value!r}" for name, value in values.items()) or "no column"
            rule = f"{told['file']}: two measured rows must differ in a column of [measured.columns]"
            raise wrong_value(
                rule, f"lines {first} and {line}, both with {shown}", "add a column, or choose by `where`"
            )
    return [row for _, row in found.values()]


def rows_of(
    told: Mapping, folder: Path, known: Collection[str], what: str
) -> Iterator[tuple[int, JsonObject, JsonObject]]:
    """The line of the CSV file, the cells and our values of each row that is taken. `known`: the names that our values
    may have, beside the measured ones; `what` they are, for errors.
    """
    check_keys(told, KEYS, "[measured]")
    if not isinstance(told.get("file"), str):
        raise missing("the file of [measured]", 'add file = "measured.csv"')
    path = folder / told["file"]
    listed = table_of(told, "columns", "measured.")
    if "seconds" not in listed:
        raise missing("seconds under [measured.columns]", 'add for example seconds = "median_us * 1e-6"')
    columns = {name: CampaignExpression(text, f"measured.columns.{name}") for name, text in listed.items()}
    for name in columns:
        if name not in known and name not in MEASURED:
            advice = did_you_mean(name, [*known, *MEASURED], "leave it out")
            raise wrong_value(f"a column of [measured] must be {what}", f"'{name}'", advice)
    names = table_of(told, "names", "measured.")
    for name in names:
        if not table_of(names, name, "measured.names."):
            raise missing(f"a text under [measured.names.{name}]", 'add for example "default-ring" = "ring"')
        if name not in columns:
            rule = "a table of [measured.names] must have the name of a column of [measured.columns]"
            raise wrong_value(rule, f"'{name}'", did_you_mean(name, columns, "leave it out"))
    where = CampaignExpression(told["where"], "where of [measured]") if "where" in told else None
    for line, cells in CsvTable(path, FILE).rows():
        try:
            row = row_of(cells, columns, names, where)
        except BadInput as error:
            raise BadInput(f"{path}:{line}: {error.problem}", error.advice) from None
        if row:
            yield line, cells, row


def row_of(cells: Mapping, columns: Mapping, names: Mapping, where: CampaignExpression | None) -> JsonObject | None:
    """None where it is not taken: `where` does not hold, or a text has no name in `names`."""
    if where is not None and not where.value(cells):
        return None
    row = {name: expression.value(cells) for name, expression in columns.items()}
    for name, spellings in names.items():
        if str(row[name]) not in spellings:
            return None
        row[name] = spellings[str(row[name])]
    wrong = next((name for name, value in row.items() if not is_value(value)), None)
    if wrong is not None:
        raise wrong_value(f"{wrong} must be a number of at most 64 bits or a text", repr(row[wrong])[:80])
    seconds = row["seconds"]
    if not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
        raise wrong_value("measured seconds must be numbers above 0", repr(seconds))
    return row
