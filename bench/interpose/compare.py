#!/usr/bin/env python3
"""What an unmodified program pays for being watched over: the table of bench/results/interpose.md.

    bench/interpose/compare.py [--launches 9] [--tune 300] [--output FILE]

The same program (calls.c) is launched by turns alone, with the interposer leaving every call to the library, and with
the recorder; differences are those of neighbouring launches. In its sweep the library's own is kept by wisdom that
chooses only for lengths beyond, so that each call must be told from those; and it is run a third way, with what
`kumihimo tune` chose in so many seconds (0: not).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

from kumihimo import _measure
from kumihimo.processes import mpi
from kumihimo.run.preload import INTERPOSER, RECORDER, preloaded, preloading, suffix_of
from kumihimo.text.errors import Failed
from kumihimo.text.sizes import text_of

KUMIHIMO = Path(sys.executable).with_name("kumihimo")
SOURCE = Path(__file__).with_name("calls.c")
SWEPT = ("allreduce", "reduce", "bcast")
COMBINATIONS = (("openmpi", 2), ("openmpi", 4), ("mpich", 2))


@dataclass(frozen=True)
class Way:
    """How the program is run: `objects` before its MPI library, with settings of ours."""

    name: str
    objects: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


ALONE = Way("alone")
AGAIN = Way("alone again")  # what a difference is worth
KEPT = Way("library's own kept", (INTERPOSER,))
RECORDED = Way("recorded", (RECORDER,))
# Calls of one rank are cheap enough that what is added shows; with more a difference of 100 ns is below the noise.
PARTS = (
    ("init", 2, (ALONE, KEPT, RECORDED)),
    ("handed_on", 1, (ALONE, KEPT, RECORDED)),
    ("rate", 2, (ALONE, RECORDED)),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=9)
    parser.add_argument("--tune", type=int, default=300, metavar="SECONDS")
    parser.add_argument("--output", type=Path, default=Path(__file__).resolve().parents[1] / "results/interpose.md")
    arguments = parser.parse_args()
    command = f"bench/interpose/compare.py --launches {arguments.launches} --tune {arguments.tune}"
    lines = [
        f"# What an unmodified program pays\n\n{processor()}, {date.today()}, {os.cpu_count()} processors, "
        f"{arguments.launches} launches of each, by turns\n\n    {command}\n"
    ]
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        for family in ("openmpi", "mpich"):
            try:
                lines += family_lines(family, Path(folder), arguments)
            except Failed as absent:
                print(f"{family}: left out ({absent})", file=sys.stderr)
    text = "\n".join(lines) + "\n"
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    return 0


def processor() -> str:
    names = (line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if "model name" in line)
    return next(names, "?: a processor without a name").split(": ", 1)[1]


def family_lines(family: str, folder: Path, arguments: argparse.Namespace) -> list[str]:
    installation = mpi.choose(family)
    binary = folder / f"calls_{family}"
    subprocess.run([f"mpicc.{family}", "-O2", "-o", binary, SOURCE], check=True)
    lines = [f"## {family} {installation.version}\n"]
    for part, ranks, ways in PARTS:
        found = by_turns(installation, binary, part, ranks, ways, arguments.launches)
        lines += differences(part, ranks, ways, found)
    beyond = [{"collective": kind, "algorithm": "binomial", "from_bytes": 1 << 30} for kind in SWEPT]
    (folder / "beyond.json").write_text(json.dumps({"kumihimo_wisdom": 1, "choices": beyond}), encoding="utf-8")
    kept = Way(KEPT.name, KEPT.objects, (("WISDOM", str(folder / "beyond.json")),))
    ways = [ALONE, AGAIN, kept]
    numbers = [ranks for each, ranks in COMBINATIONS if each == family]
    if arguments.tune:
        wisdom = folder / f"{family}.json"
        words = ["--mpi", family, "--ranks", ",".join(map(str, numbers)), "--budget", f"{arguments.tune}s"]
        subprocess.run([KUMIHIMO, "tune", *words, "--output", wisdom], check=True, stdout=subprocess.DEVNULL)
        ways.append(Way("tuned", (INTERPOSER,), (("WISDOM", str(wisdom)),)))
    for ranks in numbers:
        found = by_turns(installation, binary, "sweep", ranks, ways, arguments.launches)
        lines += sweep_lines(ranks, ways, found)
    return lines


Times = dict[tuple[str, int], list[float]]  # by call and bytes, one for each launch


def by_turns(installation, binary: Path, part: str, ranks: int, ways, launches: int) -> list[Times]:
    found: list[Times] = [{} for _ in ways]
    for launch in range(launches):
        print(f"{installation.family}, {part}, {ranks} ranks, {launch + 1} of {launches}", file=sys.stderr, flush=True)
        order = list(enumerate(ways))
        for place, way in order if launch % 2 else reversed(order):
            for one in launched(installation, binary, part, ranks, way):
                figure = one["bytes"] if one["call"] == "memory" else one["seconds"]
                size = 0 if one["call"] == "memory" else one["bytes"]
                found[place].setdefault((one["call"], size), []).append(figure)
    return found


def launched(installation, binary: Path, part: str, ranks: int, way: Way) -> list[dict]:
    given = {f"KUMIHIMO_{name}": value for name, value in way.settings}
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        if RECORDER in way.objects:
            given["KUMIHIMO_RECORD"] = str(Path(folder) / "profile")
        if way.objects:
            given["LD_PRELOAD"] = preloaded(way.objects, suffix_of(installation.library))
        start = installation.arguments(ranks)
        command = [start[0], *preloading(installation.family, given, [*start[1:], str(binary), part])]
        environment = {**os.environ, **installation.environment(ranks)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} failed: " + done.stderr.strip()[-300:])
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def interval(values: list[float]) -> tuple[float, float, float]:
    """The median, and from the second smallest to the second largest (of 9 values: 96 %)."""
    ascending = sorted(values)
    edge = 1 if len(ascending) > 5 else 0
    return median(ascending), ascending[edge], ascending[-1 - edge]


def differences(part: str, ranks: int, ways, found: list[Times]) -> list[str]:
    unit, scale = {"init": ("ms", 1e3), "handed_on": ("ns", 1e9), "rate": ("%", 100)}[part]
    lines = [
        f"{part}, {ranks} ranks: what is added, median [interval], {unit}\n",
        "| call | alone | " + " | ".join(way.name for way in ways[1:]) + " |",
        "|---" * (len(ways) + 1) + "|",
    ]
    for (call, _), alone in found[0].items():
        cells = []
        for other in found[1:]:
            pairs = list(zip(other[call, _], alone))
            if call == "memory":
                cells.append(
                    "{:.2f} [{:.2f}, {:.2f}] MiB".format(*(x / 2**20 for x in interval([a - b for a, b in pairs])))
                )
            elif part == "rate":
                cells.append("{:+.2f} [{:+.2f}, {:+.2f}]".format(*interval([(a / b - 1) * scale for a, b in pairs])))
            else:
                cells.append("{:+.1f} [{:+.1f}, {:+.1f}]".format(*interval([(a - b) * scale for a, b in pairs])))
        first = (
            f"{median(alone) / 2**20:.1f} MiB"
            if call == "memory"
            else f"{median(alone) * (1 if part == 'rate' else scale):.4g}"
        )
        lines.append(f"| {call} | {first} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def sweep_lines(ranks: int, ways, found: list[Times]) -> list[str]:
    """Of alone, alone again, and the library's own kept; and of what is tuned."""
    lines = [
        f"sweep, {ranks} ranks: time with / without, median [interval]\n",
        "| call | bytes | alone, us | " + " | ".join(way.name for way in ways[1:]) + " | added, ns |",
        "|---" * (len(ways) + 3) + "|",
    ]
    for (call, size), alone in found[0].items():
        cells = []
        for other in found[1:]:
            compared = _measure.compare(list(zip(other[call, size], alone)))
            cells.append(f"{compared.ratio:.3f} [{compared.ratio_low:.3f}, {compared.ratio_high:.3f}]")
        added = interval([(a - b) * 1e9 for a, b in zip(found[2][call, size], alone)])
        small = "{:+.0f} [{:+.0f}, {:+.0f}]".format(*added) if size < 4096 else ""
        lines.append(f"| {call} | {text_of(size)} | {median(alone) * 1e6:.2f} | " + " | ".join(cells) + f" | {small} |")
    for place, way in enumerate(ways[1:], start=1):
        mean, low, high = interval(each_launch(found[place], found[0]))
        total = "{:.3f} [{:.3f}, {:.3f}]".format(*interval(totals(found[place], found[0])))
        lines.append(
            f"\n{way.name}: geometric mean from 4 KiB up {mean:.3f} [{low:.3f}, {high:.3f}] over launches; "
            f"total time of the sweep {total} of the library's"
        )
    return [*lines, ""]


def each_launch(times: Times, alone: Times) -> list[float]:
    """The geometric mean of a launch's ratios from 4 KiB up."""
    large = [figure for figure in alone if figure[1] >= 4096]
    return [
        _measure.geometric_mean([times[figure][launch] / alone[figure][launch] for figure in large])
        for launch in range(len(alone[large[0]]))
    ]


def totals(times: Times, alone: Times) -> list[float]:
    """All calls of a launch together: the longest lengths are most of it."""
    launches = range(len(next(iter(alone.values()))))
    return [sum(t[launch] for t in times.values()) / sum(t[launch] for t in alone.values()) for launch in launches]


if __name__ == "__main__":
    sys.exit(main())
