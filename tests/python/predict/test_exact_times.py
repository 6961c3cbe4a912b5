"""The model exact gives the times of the simulator that it replaced (ADR 50), whose algorithm was another: events of
rounds and messages of its own. exact_times.csv has them; they do not come from today's code."""

from __future__ import annotations

import csv
import json
import re
from itertools import groupby
from pathlib import Path

import pytest

ROWS = list(csv.DictReader(Path(__file__).with_name("exact_times.csv").read_text(encoding="utf-8").splitlines()))
BYTES = "8,4KiB,1MiB"
# Fugaku's numbers of puts at that time; it had no others of them.
PUTS_THEN = {"put_setup": "8.4035 us", "short_put_latency": "1.0198 us"}
SINCE = ("put_latency", "put_sum_latency", "register_bytes", "register_latency", "pack_cost", "pack_piece_cost")


def machine_then(name: str, repository: Path, folder: Path) -> str:
    """The machine file with the numbers that the former simulator had."""
    if name != "fugaku":
        return name
    text = (repository / "machines" / "fugaku.toml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(SINCE)]
    for key, value in PUTS_THEN.items():
        number = re.compile(rf'^{key} = \{{ value = "[^"]*"')
        lines = [number.sub(f'{key} = {{ value = "{value}"', line) for line in lines]
    (folder / "fugaku-then.toml").write_text("\n".join(lines), encoding="utf-8")
    return "./fugaku-then.toml"


def of_case(row: dict) -> tuple[str, str, str]:
    return row["collective"], row["machine"], row["shape"]


@pytest.mark.parametrize(("case", "rows"), [(case, list(rows)) for case, rows in groupby(ROWS, of_case)])
def test_times_are_those_of_the_former_simulator(kumihimo, repository, tmp_path, case, rows):
    collective, name, shape = case
    machine = machine_then(name, repository, tmp_path)
    ended = kumihimo("simulate", collective, "-m", machine, "--shape", shape, "--model", "exact", "-b", BYTES, "--json")
    found = {(row["algorithm"], row["bytes"]): row["seconds"] for row in json.loads(ended.out)["results"]}
    wanted = {(row["algorithm"], int(row["bytes"])): float(row["seconds"]) for row in rows}
    of_then = {key: found[key] for key in wanted}  # without algorithms that are newer
    assert of_then == pytest.approx(wanted, rel=1e-3)
