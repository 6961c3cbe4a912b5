"""IOR and mdtest beside `kumihimo bench files`, in turns.

    python bench/files/peers.py FOLDER [--rounds N] [--ranks P] [--out FILE]

Each round starts each tool and ours once for every case, in changing order, with the same options. The ratio of a round
is ours over theirs. A case agrees if the median ratio is within 10 % of 1, or if the ranges of both tools' rounds
overlap. Cases whose tool (ior, mdtest, mpirun) is not on PATH are skipped with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

COMMAND = Path(sys.executable).parent / "kumihimo"
NEAR = 0.1
SECONDS = 60  # of one launch
MIB = float(1 << 20)


@dataclass
class PeerCase:
    """`figures`: name -> rates of theirs and of ours, one of each round (the median of its iterations)."""

    name: str
    tool: str
    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    unit: str
    figures: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)

    def add(self, side: int, found: dict[str, float]) -> None:
        for name, value in found.items():
            self.figures.setdefault(name, ([], []))[side].append(value)


def cases(iterations: int, block: str, items: int) -> list[PeerCase]:
    found = []
    turns = ("-i", str(iterations))
    for layout, flag in (("each", ("-F",)), ("shared", ())):
        for cache, direct in (("keep", ()), ("direct", ("--posix.odirect",))):
            theirs = ("-t", "1m", "-b", f"{block}m", "-e", "-C", "-Q", "1", *turns, *flag, *direct)
            ours = ("--parts", "bandwidth", "--layout", layout, "--cache", cache, "--block", f"{block}MiB", *turns)
            found.append(PeerCase(f"{layout}, {cache}", "ior", theirs, (*ours, "--shift", "1"), "MiB/s"))
    for where, flag in (("each", ("-u",)), ("one", ())):
        theirs = ("-n", str(items), *turns, *flag)
        ours = ("--parts", "metadata", "--folders", where, "--items", str(items), "--shift", "0", *turns)
        found.append(PeerCase(f"folder {where}", "mdtest", theirs, ours, "1/s"))
    return found


def launched(words: list[str], ranks: int) -> str:
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    start = ["mpirun", "--oversubscribe", "-n", str(ranks)]
    done = subprocess.run([*start, *words], capture_output=True, text=True, timeout=SECONDS, env=environment)
    if done.returncode != 0:
        sys.exit(f"{words[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def of_ior(case: PeerCase, folder: Path, ranks: int) -> dict[str, float]:
    text = launched(["ior", *case.theirs, "-o", str(folder / "ior")], ranks)
    rates: dict[str, list[float]] = {}
    for word, rate in re.findall(r"^(write|read) +([0-9.]+) .* [0-9]+ *$", text.split("Summary")[0], re.MULTILINE):
        rates.setdefault(word, []).append(float(rate))
    return {word: statistics.median(each) for word, each in rates.items()}


MDTEST_ROWS = {
    **{f"Directory {noun}": f"folders {word}" for noun, word in (("creation", "create"), ("stat", "stat"))},
    "Directory removal": "folders remove",
    **{f"File {noun}": f"files {word}" for noun, word in (("creation", "create"), ("stat", "stat"), ("read", "read"))},
    "File removal": "files remove",
}


def of_mdtest(case: PeerCase, folder: Path, ranks: int) -> dict[str, float]:
    """The means, which are what mdtest prints of its iterations."""
    text = launched(["mdtest", *case.theirs, "-d", str(folder / "mdtest")], ranks)
    rows = re.findall(r"^ +((?:Directory|File) \w+) +[0-9.]+ +[0-9.]+ +([0-9.]+) ", text, re.MULTILINE)
    return {MDTEST_ROWS[name]: float(mean) for name, mean in rows if name in MDTEST_ROWS}


def of_ours(case: PeerCase, folder: Path, ranks: int) -> dict[str, float]:
    words = [COMMAND, "bench", "files", folder, *case.ours, "--ranks", str(ranks), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit(f"bench files ended with {done.returncode}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    if case.tool == "ior":
        return {row["operation"]: row["bytes_per_second"]["median"] / MIB for row in found["bandwidth"]}
    names = ((f"{row['kind']} {row['operation']}", row["per_second"]["mean"]) for row in found["metadata"])
    return {name: mean for name, mean in names if name in MDTEST_ROWS.values()}


def measure(wanted: list[PeerCase], folder: Path, ranks: int, rounds: int) -> None:
    tools = {"ior": of_ior, "mdtest": of_mdtest}
    for number in range(rounds):
        for case in wanted:
            sides = [(0, tools[case.tool]), (1, of_ours)]
            for side, run in sides if number % 2 == 0 else reversed(sides):
                case.add(side, run(case, folder, ranks))
        print(f"round {number + 1} of {rounds}", file=sys.stderr)


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


def verdict(theirs: list[float], ours: list[float], ratio: float) -> str:
    if abs(ratio - 1) <= NEAR:
        return "within 10 %"
    return "ranges overlap" if min(theirs) <= max(ours) and min(ours) <= max(theirs) else "apart"


def table(wanted: list[PeerCase]) -> list[str]:
    lines = ["| tool | case | figure | theirs, median (range) | ours | ratio (range) | agreement |"]
    lines.append("|---|---|---|---:|---:|---:|---|")
    for case in wanted:
        for name, (theirs, ours) in case.figures.items():
            ratios = [mine / other for other, mine in zip(theirs, ours)]
            ratio = statistics.median(ratios)
            shown = f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            cells = [case.tool, case.name, f"{name}, {case.unit}", spread(theirs), spread(ours), shown]
            lines.append(f"| {' | '.join([*cells, verdict(theirs, ours, ratio)])} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=3, help="of each launch")
    parser.add_argument("--block", default="32", help="MiB of a rank")
    parser.add_argument("--items", type=int, default=300, help="of a rank")
    parser.add_argument("--out", type=Path, help="write the table to this file, too")
    asked = parser.parse_args()
    missing = {tool for tool in ("ior", "mdtest", "mpirun") if shutil.which(tool) is None}
    wanted = []
    for case in cases(asked.iterations, asked.block, asked.items):
        if missing & {case.tool, "mpirun"}:
            print(f"skipped {case.tool}, {case.name}: {', '.join(sorted(missing))} not on PATH", file=sys.stderr)
        else:
            wanted.append(case)
    if not wanted:
        return 0
    with tempfile.TemporaryDirectory(dir=asked.folder, prefix="peers-") as folder:
        measure(wanted, Path(folder), asked.ranks, asked.rounds)
    text = "\n".join(table(wanted)) + "\n"
    print(text, end="")
    if asked.out:
        asked.out.write_text(text, encoding="utf-8")
    return int(any("apart" in line for line in text.splitlines()))


if __name__ == "__main__":
    sys.exit(main())
