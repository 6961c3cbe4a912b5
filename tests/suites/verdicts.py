"""What a suite said with and without the interposer, and where the two differ."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

NEVER_ENDED = "time limit"
# Lines of hpcc's report that say whether a result is right; times and rates are left out.
RESIDUAL = re.compile(r"^(\|\|.*\)) *= *([\d.e+-]+) \.+ (PASSED|FAILED)")
TRANSPOSED = re.compile(r"^WALL((?: +\d+){6}) +[\d.]+ (PASSED|FAILED) +[\d.]+ +([\d.e+-]+)$")
FARTHEST = re.compile(r"^max\(\|x-x0\|\): +([\d.e+-]+)$")  # of a Fourier transform and back
FOUND = re.compile(r"^(Found \d+ errors in \d+ locations) \((passed|failed)\)")
SAID = re.compile(r"^(Node\(s\) with error|Failed |Success=|Tests failed|Number of tests|\d+ tests )")
SECTION = re.compile(r"^Begin of (.+) section\.")


@dataclass
class Verdicts:
    """Of one launch: how it ended, and what was said of each thing. `ours` of `calls` collectives were taken over."""

    ended: str = "0"  # exit status, or NEVER_ENDED
    of: dict[str, str] = field(default_factory=dict)
    ours: int = 0
    calls: int = 0

    def number(self, verdict: str) -> int:
        return sum(said == verdict for said in self.of.values())

    def was_late(self, said: str) -> bool:
        """Whether this was not said because the time was up."""
        return self.ended == NEVER_ENDED and said in ("unfinished", "not said")

    @staticmethod
    def read(value: dict) -> Verdicts:
        return Verdicts(**value)

    def written(self) -> dict:
        return asdict(self)


def differences(alone: Verdicts, interposed: Verdicts) -> list[str]:
    """A line for each thing of which the two say another thing. What the time limit kept one of them from saying is not
    compared; that it ended us alone is a difference, and that it ended the library alone is none of ours."""
    found = []
    for name in sorted(alone.of.keys() | interposed.of.keys()):
        before, after = alone.of.get(name, "not said"), interposed.of.get(name, "not said")
        late = (alone.was_late(before), interposed.was_late(after))
        if before != after and not any(late):
            found.append(f"{name}: {before} without us, {after} with us")
    if alone.ended != interposed.ended and alone.ended != NEVER_ENDED:
        found.append(f"ended by {alone.ended} without us, by {interposed.ended} with us")
    return found


def of_ranks(folder: Path) -> dict[str, str]:
    """What the ranks of one module wrote (one_module.py): the last word on each test."""
    found = {}
    for path in sorted(folder.glob("rank*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            test, verdict, _ = json.loads(line)
            found[f"{test} on rank {path.stem[4:]}"] = verdict
    return found


def of_hpcc(report: str) -> dict[str, str]:
    """The verdicts of hpcc's report, in their order, by the section they are in."""
    found, section, number = {}, "report", 0
    for line in map(str.strip, report.splitlines()):
        if begun := SECTION.match(line):
            section, number = begun.group(1), 0
            continue
        if residual := RESIDUAL.match(line):
            said = f"{residual.group(3)}, {residual.group(2)}"
        elif transposed := TRANSPOSED.match(line):
            said = f"{' '.join(transposed.group(1).split())}: {transposed.group(2)}, {transposed.group(3)}"
        elif farthest := FARTHEST.match(line):
            said = f"error {farthest.group(1)}"
        elif errors := FOUND.match(line):
            said = f"{errors.group(1)}: {errors.group(2)}"
        elif SAID.match(line):
            said = line
        else:
            continue
        number += 1
        found[f"{section}, verdict {number}"] = said
    return found


def taken_over(summary: Path) -> tuple[int, int]:
    """Of the collectives that the interposer counted, how many were ours, and all; none where it wrote nothing."""
    try:
        value = json.loads(summary.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0, 0
    calls = value.get("calls", [])
    ours = sum(row["calls"] for row in calls if row["algorithm"] != "library")
    forwarded = sum(row["calls"] for row in value.get("forwarded", []))
    return ours, ours + forwarded
