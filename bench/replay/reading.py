#!/usr/bin/env python3
"""How fast a recorded trace is read and replayed, and in how much memory, as Markdown.

    bench/replay/reading.py [--large] [--rounds 3]

The traces are made up (made_trace.py): a step of a rank is 37 events. Each is read on one core: from the recorder's own
files, and a small one from its OTF2 too, by turns. Times are those of the processor, of all processes. --large: also
10^8 events of 1,000 ranks, which take 4 GB of disk."""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import made_trace

from kumihimo.predict.replay import otf2_reading, recorded_reading
from kumihimo.run.profile import otf2_writing

COMMAND = Path(sys.executable).parent / "kumihimo"
LOGGOPS = ("--loggops", "L=2000,o=100,g=0,G=0.1,O=0,S=65536")
SMALL = (4, 1350)  # ranks and steps: 200,000 events
SIZES = ((100, 270), (100, 2702), (1000, 270))
LARGE = (1000, 2702)
MIB = 1024  # in KiB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", type=Path, help="read this trace, and print what it took")
    asked = parser.parse_args()
    if asked.one:
        return one(asked.one)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    both_ways(asked.rounds)
    by_size(asked.rounds, (*SIZES, *([LARGE] if asked.large else [])))
    return None


def one(trace: Path) -> None:
    reader = recorded_reading if recorded_reading.is_recorded(trace) else otf2_reading
    before = processor_seconds()
    events = reader.read(trace).events
    print(json.dumps({"events": events, "seconds": processor_seconds() - before, "peak": peak()}))


def processor_seconds() -> float:
    """Of this process and those that it has waited for."""
    used = (resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def peak() -> float:
    """MiB of this process, or of one that it has waited for."""
    return max(resource.getrusage(of).ru_maxrss for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / MIB


def read(trace: Path) -> dict:
    words = [sys.executable, __file__, "--one", str(trace)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def both_ways(rounds: int) -> None:
    print("## Both ways\n")
    print("Million events a second, median (range). The same replay follows from both.\n")
    print("| events | ranks | from own files | from OTF2 | times |")
    print("|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as place:
        folder = Path(place) / "trace"
        events = made_trace.write(folder, *SMALL)
        if not otf2_writing.is_possible():
            return print("\nWithout python3-otf2 there is nothing to compare with.\n")
        archive = otf2_writing.write(folder).parent
        rates: dict[Path, list[float]] = {folder: [], archive: []}
        for _ in range(rounds):
            for way in rates:
                rates[way].append(events / read(way)["seconds"] / 1e6)
        own, other = rates.values()
        times = statistics.median(own) / statistics.median(other)
        print(f"| {events} | {SMALL[0]} | {spread(own)} | {spread(other)} | {times:.0f} |\n")
    return None


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def by_size(rounds: int, sizes: tuple) -> None:
    print("## From own files\n")
    print(
        "Reading checks all events. A replay reads them again for each run of the model `loggp`: on the machine and on"
    )
    print("an ideal network. Peak memory is of the whole process.\n")
    print("| events | ranks | read, M events/s | read, MiB | replay, CPU s | replay, MiB | operations |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for ranks, steps in sizes:
        with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as place:
            folder = Path(place) / "trace"
            events = made_trace.write(folder, ranks, steps)
            found = [read(folder) for _ in range(rounds)]
            rates = spread([events / each["seconds"] / 1e6 for each in found])
            most = max(each["peak"] for each in found)
            print(f"| {events} | {ranks} | {rates} | {most:.0f} | {replayed(folder)} |", flush=True)


def replayed(folder: Path) -> str:
    before = processor_seconds()
    words = [COMMAND, "replay", folder, *LOGGOPS, "--json"]
    ended = subprocess.run(words, check=False, capture_output=True, text=True)
    if ended.returncode != 0:
        return f"{ended.stderr.strip()} | |"
    result = json.loads(ended.stdout)
    operations = result["results"][0]["operations"]
    return f"{processor_seconds() - before:.1f} | {result['peak_rss_bytes'] / 2**20:.0f} | {operations}"


if __name__ == "__main__":
    main()
