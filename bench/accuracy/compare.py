"""How near `simulate` is to a campaign of measured collectives: by job, algorithm and length.

    .venv/bin/python bench/accuracy/compare.py bench/accuracy/fugaku.toml fugaku-measured.csv --machine fugaku

The TOML file says which rows have a counterpart in the registry, as those of `kumihimo machine calibrate` do. With
--fitted-to the tables tell the cases that the machine's numbers were fitted to from the others.
"""

from __future__ import annotations

import argparse
import collections
import math
import shutil
import sys
import tempfile
from pathlib import Path

from kumihimo.cli import machine as machines
from kumihimo.predict.calibrate import cases as measured
from kumihimo.predict.calibrate import report
from kumihimo.predict.campaign.expressions import CampaignExpression
from kumihimo.text.quantities import bytes_text


def read(mapping: Path, times: Path) -> list[measured.TimedCase]:
    """The mapping names a CSV file beside itself; here it is the one given."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        shutil.copy(mapping, there / mapping.name)
        shutil.copy(times, there / measured.mapping(mapping)["file"])
        return measured.read(there / mapping.name)


def table(title: str, rows: list[list[str]], columns: tuple[str, ...]) -> None:
    print(f"\n## {title}\n")
    print("| " + " | ".join(name.rstrip(">") for name in columns) + " |")
    print("|" + "|".join("--:" if name.endswith(">") else "---" for name in columns) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def by_length(cases: list[measured.TimedCase], seconds: list[float]) -> tuple[list[list[str]], tuple[str, ...]]:
    """100 x log(predicted / measured), by vector length as the campaign tells it, or by block."""
    found: dict[tuple, dict[int, int]] = collections.defaultdict(dict)
    for case, each in zip(cases, seconds):
        length = case.cells.get("vector_bytes", case.values.get("bytes", 0))
        key = (report.algorithm_of(case), case.cells["nodes"])
        found[key][length] = round(100 * math.log(each / case.seconds))
    lengths = sorted({length for row in found.values() for length in row})
    rows = [
        [name, str(nodes), *(str(row.get(length, "")) for length in lengths)]
        for (name, nodes), row in sorted(found.items())
    ]
    return rows, ("algorithm", "nodes>", *(f"{bytes_text(length)}>" for length in lengths))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mapping", type=Path, help="TOML file with [measured]")
    parser.add_argument("times", type=Path, help="CSV file of the campaign")
    parser.add_argument("--machine", required=True, help="name or path of a machine file")
    parser.add_argument("--fitted-to", help="condition of the cases that the numbers were fitted to: 'nodes <= 64'")
    asked = parser.parse_args()
    machine = machines.load(asked.machine)
    predictor = measured.Predictor(read(asked.mapping, asked.times), machine)
    cases, seconds = predictor.cases, predictor.seconds(machine, predictor.cases)
    print(f"# {machine.name} against {asked.times.name}: {len(cases)} cases")
    for case, reason in predictor.left_out:
        print(f"left out: {report.algorithm_of(case)} on {case.values.get('shape')}: {reason}")

    def title(case: measured.TimedCase) -> str:
        if asked.fitted_to is None:
            return f"{case.cells['nodes']} nodes"
        fitted = CampaignExpression(asked.fitted_to, "--fitted-to").value(case.cells)
        return "fitted to" if fitted else "held out"

    groups = report.by(cases, seconds, title)
    rows = [report.row(name, found) for name, found in groups.items()]
    table("All cases", [report.row("all", report.agreement(cases, seconds)), *rows], report.COLUMNS)
    rows = [report.row(name, found) for name, found in report.by(cases, seconds, report.algorithm_of).items()]
    table("By algorithm", rows, report.COLUMNS)
    rows = [report.row(name, found) for name, found in report.by(cases, seconds, report.size_of).items()]
    table("By length of a vector or block", rows, report.COLUMNS)
    table("100 log(predicted / measured), by length of the whole vector", *by_length(cases, seconds))
    wrong = report.agreement(cases, seconds)["pairs_out_of_order"]
    print(f"\nPairs of algorithms out of order: {len(wrong)}")
    for a, b in wrong:
        print(f"- {a}, {b}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
