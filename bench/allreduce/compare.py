#!/usr/bin/env python3
"""Allreduce beside each MPI library's own, 8 B to 64 MiB: the table of bench/results.

    bench/allreduce/compare.py [--only openmpi-4] [--bytes 8..64MiB] [--launches 9] [--output bench/results]

For each library, Kumihimo's allreduce over that library alternates with the library's own call in the same processes.
The algorithm for each size is chosen on training launches; the figures come from fresh ones. Takes about 3 minutes for
each library and number of processes. Ends with 1 if a result missed its goal.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
import time
from pathlib import Path

from kumihimo import _machine, bench, mpi
from kumihimo.bench import formats, tuned
from kumihimo.cli.output import seconds_text
from kumihimo.errors import Failed, KumihimoError
from kumihimo.sizes import parse_sizes, text_of

COMBINATIONS = (("openmpi", 2), ("openmpi", 4), ("mpich", 2))
LARGE = 65536  # bytes from which the stricter goal counts
LARGE_GOAL, SMALL_GOAL, MEAN_GOAL = 1.05, 1.3, 1.0


def main() -> int:
    arguments = parse_arguments()
    met = True
    for family, ranks in COMBINATIONS:
        name = f"{family}-{ranks}"
        if arguments.only in (None, name):
            met &= run(arguments, family, ranks)
    return 0 if met else 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [f"{family}-{ranks}" for family, ranks in COMBINATIONS]
    parser.add_argument("--only", choices=names)
    parser.add_argument("--bytes", default="8..64MiB")
    parser.add_argument("--launches", type=int, default=9)
    parser.add_argument("--output", type=Path, default=Path(__file__).resolve().parents[1] / "results")
    return parser.parse_args()


def run(arguments: argparse.Namespace, family: str, ranks: int) -> bool:
    """Measure one combination and write its two files. True if it met the goals, or the library is not here."""
    try:
        installation = mpi.choose(family)
    except Failed as absent:
        print(f"allreduce, {family}, {ranks} processes: left out ({absent})")
        return True
    started = time.monotonic()
    found = bench.run_tuned(
        "allreduce",
        ranks=ranks,
        sizes=parse_sizes(arguments.bytes),
        installation=installation,
        effort=tuned.Effort(launches=arguments.launches),
        step=lambda what: print(f"allreduce, {family}, {ranks} processes: {what}", file=sys.stderr, flush=True),
    )
    found = {**describe(), **found, "goals": goals(found), "wall_seconds": round(time.monotonic() - started, 1)}
    arguments.output.mkdir(parents=True, exist_ok=True)
    base = arguments.output / f"allreduce-{family}-{ranks}"
    base.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    text = as_markdown(found, family, ranks)
    base.with_suffix(".md").write_text(text)
    print(text)
    return all(goal["met"] for goal in found["goals"])


def describe() -> dict:
    """The machine and the day."""
    host = _machine.discover_host()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {
            "processor": host.processor,
            "cores": host.cores,
            "hardware_threads": host.hardware_threads,
            "memory_bytes": host.memory_bytes,
            "system": f"{platform.system()} {platform.release()}",
        },
    }


def goals(found: dict) -> list[dict]:
    """What was aimed at, and what came out."""
    highest = {large: [r["ratio_high"] for r in found["results"] if (r["bytes"] >= LARGE) == large] for large in (0, 1)}
    rows = [
        ("upper end of the ratio's interval from 64 KiB up", LARGE_GOAL, max(highest[1], default=None)),
        ("upper end of the ratio's interval below 64 KiB", SMALL_GOAL, max(highest[0], default=None)),
        ("geometric mean of the ratios", MEAN_GOAL, found["geometric_mean"]),
    ]
    return [
        {"what": what, "at_most": most, "found": value, "met": value <= most}
        for what, most, value in rows
        if value is not None
    ]


def as_markdown(found: dict, family: str, ranks: int) -> str:
    machine, about = found["machine"], found["about"]
    lines = [
        f"# Allreduce on {ranks} processes, {about['mpi'].split(', package')[0]}",
        "",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB, "
        f"{machine['system']}; {found['date']}.",
        "",
        f"Sum of doubles, malloc buffers that change between calls; pinning: {about['pinning']}. Each launch "
        "alternates both in the same processes; the time of a call is the slowest rank's, looking the plan up "
        f"included. Ratio: Kumihimo / library, median of {found['launches']} launches with the interval of that "
        "median; the algorithm was chosen on other launches. The first call, which makes the plan, is apart. Made by "
        f"`bench/allreduce/compare.py --only {family}-{ranks}`.",
        "",
        "| bytes | algorithm | Kumihimo | library | ratio | interval | first call | memory bound |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for r in found["results"]:
        name = f"{r['algorithm']} {formats.parameters_text(r)}".strip()
        bound = seconds_text(r["bound_seconds"]) if r["bound_seconds"] else ""
        lines.append(
            f"| {text_of(r['bytes'])} | {name} | {seconds_text(r['seconds'])} | {seconds_text(r['library_seconds'])} "
            f"| {r['ratio']:.2f} | {r['ratio_low']:.2f}..{r['ratio_high']:.2f} | {seconds_text(r['first_seconds'])} "
            f"| {bound} |"
        )
    lines.append("")
    for goal in found["goals"]:
        verdict = "met" if goal["met"] else "missed"
        lines.append(f"- {goal['what']}: {goal['found']:.2f}, goal at most {goal['at_most']:g}: {verdict}")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KumihimoError as error:
        sys.exit(f"bench/allreduce: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
