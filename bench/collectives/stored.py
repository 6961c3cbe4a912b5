"""The stored form of a comparison: one JSON file for each MPI library and number of processes, one line for each row.

A comparison is {date, machine, command, remarks, tables}; a table is one collective: {collective, ranks, launches,
about, results, ...}. Members that all results of a file share are stored once; the others are `columns`. Times are in
nanoseconds and have seven significant digits, as ratios have. What follows from other members is not stored: the ratio
and its interval follow from the launches' ratios.
"""

from __future__ import annotations

import json
from pathlib import Path

from kumihimo import _measure
from kumihimo.collectives.arguments import parameters_of, parameters_text

DIGITS = 7
NESTED = ("processor_time", "library")  # objects in a result: a column for each of their members
OF_LAUNCHES = ("interval_low", "interval_high", "p10", "p90", "outliers")  # not kept: medians of what launches say
FIRST = (
    *("collective", "bytes", "asked_bytes", "algorithm", "parameters"),
    *("ns", "library.ns", "ratios", "first_ns", "bound_ns", "samples"),
)
NOT_STORED = ("results", "about", "geometric_mean")  # of a table, as they are there
DERIVED = ("ratio", "ratio_low", "ratio_high", "count", "mpi", "space")


def write(path: Path, found: dict) -> None:
    path.write_text(text_of(found), encoding="utf-8")


def read(path: Path) -> dict:
    stored = json.loads(path.read_text(encoding="utf-8"))
    same, columns = stored.pop("same"), stored.pop("columns")

    for table in stored["tables"]:
        table["about"] = {**same["about"], **table["about"]}
        rows = [{name: value for name, value in zip(columns, row) if value is not None} for row in table.pop("rows")]
        table["results"] = [complete({"collective": table["collective"], **same["result"], **row}) for row in rows]
        table["geometric_mean"] = _measure.geometric_mean([result["ratio"] for result in table["results"]])
    return stored


def text_of(found: dict) -> str:
    """A comparison in the stored form."""
    rows = [[flat(table, result) for result in table["results"]] for table in found["tables"]]
    every = [row for of_table in rows for row in of_table]
    same = {"about": shared([table["about"] for table in found["tables"]]), "result": shared(every)}
    columns = sorted({name for row in every for name in row} - {*same["result"]}, key=place_of)
    head = {name: value for name, value in found.items() if name != "tables"} | {"same": same, "columns": columns}
    members = [f"{line(name)}: {line(value)}," for name, value in head.items()]
    tables = [table_text(table, same["about"], columns, of_table) for table, of_table in zip(found["tables"], rows)]
    return "{" + "\n".join([*members, '"tables": [']) + "\n" + ",\n".join(tables) + "\n]}\n"


def table_text(table: dict, about: dict, columns: list[str], rows: list[dict]) -> str:
    own = {name: value for name, value in table["about"].items() if name not in about}
    head = {name: value for name, value in table.items() if name not in NOT_STORED} | {"about": own}
    lines = ",\n".join(line([row.get(name) for name in columns]) for row in rows)
    return f'{line(head)[:-1]},"rows":[\n{lines}]}}'


def place_of(column: str) -> tuple[int, str]:
    return (FIRST.index(column) if column in FIRST else len(FIRST), column)


def line(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def shared(objects: list[dict]) -> dict:
    """The members that all have with the same value."""
    first, *others = objects
    return {
        name: value
        for name, value in first.items()
        if value is not None and all(name in other and other[name] == value for other in others)
    }


def flat(table: dict, result: dict) -> dict:
    """One row by column: without what follows from the rest, and without null."""
    usual = {"collective": table["collective"], "asked_bytes": result["bytes"]}
    members = {name: value for name, value in result.items() if name not in DERIVED and value != usual.get(name)}
    return columns_of({**members, "parameters": parameters_text(result["parameters"])})


def columns_of(members: dict, prefix: str = "") -> dict:
    found: dict = {}
    for name, value in members.items():
        if name in NESTED:
            found |= columns_of(value, f"{prefix}{name}.")
        elif name not in OF_LAUNCHES and value is not None:
            found |= [stored(prefix + name, value)]
    return found


def stored(name: str, value: object) -> tuple[str, object]:
    """A column and its value: seconds become nanoseconds."""
    if not name.endswith("seconds"):
        return name, rounded(value)
    nanoseconds = rounded(value * 1e9)
    return name.removesuffix("seconds") + "ns", int(nanoseconds) if nanoseconds.is_integer() else nanoseconds


def complete(row: dict) -> dict:
    """A result again."""
    found: dict = {}
    for column, value in row.items():
        name = column
        if column.endswith("ns") and not isinstance(value, str):
            name, value = column.removesuffix("ns") + "seconds", value * 1e-9
        *outer, inner = name.split(".")
        place = found
        for each in outer:
            place = place.setdefault(each, {})
        place[inner] = value
    ratio = _measure.compare([(each, 1.0) for each in found["ratios"]])
    return {
        **{"bound_seconds": None, "asked_bytes": found["bytes"]},
        **found,
        "parameters": parameters_of(found["parameters"]),
        **{"ratio": ratio.ratio, "ratio_low": ratio.ratio_low, "ratio_high": ratio.ratio_high},
    }


def rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return [rounded(each) for each in value] if isinstance(value, list) else value
