"""The model exact gives the times of the simulator that it replaced (ADR 50), whose algorithm was another: events of
rounds and messages of its own. exact_times.csv has them; they do not come from today's code."""

from __future__ import annotations

import csv
import json
from itertools import groupby
from pathlib import Path

import pytest

ROWS = list(csv.DictReader(Path(__file__).with_name("exact_times.csv").read_text(encoding="utf-8").splitlines()))
BYTES = "8,4KiB,1MiB"


def of_case(row: dict) -> tuple[str, str, str]:
    return row["collective"], row["machine"], row["shape"]


@pytest.mark.parametrize(("case", "rows"), [(case, list(rows)) for case, rows in groupby(ROWS, of_case)])
def test_times_are_those_of_the_former_simulator(kumihimo, case, rows):
    collective, machine, shape = case
    ended = kumihimo("simulate", collective, "-m", machine, "--shape", shape, "--model", "exact", "-b", BYTES, "--json")
    found = {(row["algorithm"], row["bytes"]): row["seconds"] for row in json.loads(ended.out)["results"]}
    wanted = {(row["algorithm"], int(row["bytes"])): float(row["seconds"]) for row in rows}
    assert found == pytest.approx(wanted, rel=1e-3)
