#!/usr/bin/env python3
"""Collectives beside each MPI library's own: the tables of bench/results.

    bench/collectives/compare.py allreduce [--only openmpi-4] [--bytes 8..64MiB] [--launches 9] [--output bench/results]
    bench/collectives/compare.py collectives [--collective alltoall] ...
    bench/collectives/compare.py tables    the tables again, from the stored results

For each library, Kumihimo's collective over that library alternates with the library's own call in the same processes.
The algorithm for each size is chosen on training launches; the figures come from fresh ones. Takes about 2 minutes for
each collective, library and number of processes. Ends with 1 if a result missed its goal.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import stored

from kumihimo import _machine
from kumihimo.collectives import arguments
from kumihimo.processes import mpi
from kumihimo.text.errors import Failed, KumihimoError
from kumihimo.text.quantities import seconds_text
from kumihimo.text.sizes import parse_sizes, text_of
from kumihimo.tune import bench
from kumihimo.tune.bench import tuned
from kumihimo.tune.targets import COLLECTIVES

LARGE = 65536  # bytes from which the stricter goals count


@dataclass(frozen=True)
class Row:
    """A collective under the name of MPI's call; `rest` are other members of a case, of so many ranks."""

    name: str
    collective: str
    rest: dict = field(default_factory=dict)

    def asked_of(self, ranks: int) -> dict:
        return {key: value[ranks] if isinstance(value, dict) else value for key, value in self.rest.items()}


# Blocks of any length up to twice the one that is told, some of them empty; neighbours on axes with ends.
IRREGULAR = {"counts": "random:1"}
ON_AXES = {"neighbours": {2: "cart:2m", 4: "cart:2mx2m", 8: "cart:2mx2mx2m"}}
ROWS = (
    *(Row(name, name) for name in COLLECTIVES),
    Row("allgatherv", "allgather", IRREGULAR),
    Row("alltoallv", "alltoall", IRREGULAR),
    Row("reduce_scatter_v", "reduce_scatter", IRREGULAR),
    Row("gatherv", "gather", IRREGULAR),
    Row("scatterv", "scatter", IRREGULAR),
    Row("neighbor_allgather", "neighbor_allgather", ON_AXES),
    Row("neighbor_alltoall", "neighbor_alltoall", ON_AXES),
)


@dataclass(frozen=True)
class Part:
    """A table: which collectives, on which libraries and processes, and the goals."""

    rows: tuple[Row, ...]
    combinations: tuple[tuple[str, int], ...]
    bytes: str
    large_goal: float
    small_goal: float
    mean_goal: float
    by_interval: bool  # whether the worst is that of the interval's upper end, or of the ratio


PARTS = {
    "allreduce": Part(
        (Row("allreduce", "allreduce"),),
        (("openmpi", 2), ("openmpi", 4), ("mpich", 2)),
        "8..64MiB",
        1.05,
        1.3,
        1.0,
        by_interval=True,
    ),
    "collectives": Part(
        ROWS,
        (("openmpi", 2), ("openmpi", 4), ("openmpi", 8), ("mpich", 2)),
        *("64KiB..16MiB", 1.1, 1.3, 1.0),
        by_interval=False,
    ),
}


def main() -> int:
    arguments = parse_arguments()
    if arguments.part == "tables":
        for path in sorted(arguments.output.rglob("*.json")):
            path.with_suffix(".md").write_text(as_markdown(stored.read(path), part_of(path)))
        return 0
    part = PARTS[arguments.part]
    met = True
    for family, ranks in part.combinations:
        if arguments.only in (None, f"{family}-{ranks}"):
            met &= run(arguments, part, family, ranks)
    return 0 if met else 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "tables"])
    parser.add_argument("--only", choices=[f"{f}-{ranks}" for f, ranks in PARTS["collectives"].combinations])
    parser.add_argument(
        "--collective", choices=[row.name for row in ROWS], action="append", help="one alone; repeatable"
    )
    parser.add_argument("--bytes")
    parser.add_argument("--launches", type=int, default=9)
    parser.add_argument("--output", type=Path, default=Path(__file__).resolve().parents[1] / "results")
    return parser.parse_args()


def run(arguments: argparse.Namespace, part: Part, family: str, ranks: int) -> bool:
    """Measure one combination and write its two files. True if it met the goals, or the library is not here."""
    try:
        installation = mpi.choose(family)
    except Failed as absent:
        print(f"{arguments.part}, {family}, {ranks} processes: left out ({absent})")
        return True
    tables = []
    for row in part.rows:
        if arguments.collective is not None and row.name not in arguments.collective:
            continue
        tables.append(measure(arguments, part, row, installation, ranks))
        found = {**describe(), "command": f"bench/run {arguments.part}", "remarks": "", "tables": tables}
        keep(arguments.output / f"{arguments.part}-{family}-{ranks}.json", found, part)
    return all(goal["met"] for table in tables for goal in goals(table, part))


def measure(arguments: argparse.Namespace, part: Part, row: Row, installation: mpi.Installation, ranks: int):
    def tell(what: str) -> None:
        print(f"{row.name}, {installation.family}, {ranks} processes: {what}", file=sys.stderr, flush=True)

    started = time.monotonic()
    found = bench.run_tuned(
        row.collective,
        ranks=ranks,
        sizes=parse_sizes(arguments.bytes or part.bytes),
        installation=installation,
        effort=tuned.CaseEffort(launches=arguments.launches),
        step=tell,
        **row.asked_of(ranks),
    )
    wall = round(time.monotonic() - started, 1)
    return {"collective": row.name, "ranks": ranks, **found, "wall_seconds": wall}


def keep(path: Path, found: dict, part: Part) -> None:
    """After each collective, so that an interruption loses little."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stored.write(path, found)
    path.with_suffix(".md").write_text(as_markdown(found, part))
    print("\n".join(table_lines(found["tables"][-1], part)))


def part_of(path: Path) -> Part:
    return PARTS[path.name.partition("-")[0]]


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


def goals(found: dict, part: Part) -> list[dict]:
    """What was aimed at, and what came out. A barrier has no size, and so no goal but the mean."""
    figure, words = ("ratio_high", "upper end of the ratio's interval") if part.by_interval else ("ratio", "ratio")
    worst = {
        large: [r[figure] for r in found["results"] if r["asked_bytes"] and (r["asked_bytes"] >= LARGE) == large]
        for large in (False, True)
    }
    rows = [
        (f"{words} from 64 KiB up", part.large_goal, max(worst[True], default=None)),
        (f"{words} below 64 KiB", part.small_goal, max(worst[False], default=None)),
        ("geometric mean of the ratios", part.mean_goal, found["geometric_mean"]),
    ]
    return [
        {"what": what, "at_most": most, "found": value, "met": value <= most}
        for what, most, value in rows
        if value is not None
    ]


def as_markdown(found: dict, part: Part) -> str:
    machine, first = found["machine"], found["tables"][0]
    about = first["about"]
    lines = [
        f"# Collectives on {first['ranks']} processes, {about['mpi'].split(', package')[0]}",
        "",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_bytes'] / 2**30:.0f} GiB, "
        f"{machine['system']}; {found['date']}.",
        "",
        f"Sums of doubles, malloc buffers that change between calls; pinning: {about['pinning']}. Each launch "
        "alternates both in the same processes; the time of a call is the slowest rank's, looking the plan up "
        f"included. Ratio: Kumihimo / library, median of {first['launches']} launches with the interval of that "
        "median; the algorithm was chosen on other launches. Bytes are those of a vector, or of a block where the "
        f"collective is about blocks. The first call, which makes the plan, is apart. Made by `{found['command']}`.",
        *(["", found["remarks"]] if found["remarks"] else []),
        "",
        "| collective | geometric mean | worst | at |",
        "|---|---:|---:|---:|",
    ]
    for table in found["tables"]:
        worst = max(table["results"], key=lambda r: r["ratio"])
        mean = f"{table['geometric_mean']:.2f}"
        lines.append(f"| {table['collective']} | {mean} | {worst['ratio']:.2f} | {text_of(worst['asked_bytes'])} |")
    for table in found["tables"]:
        lines += ["", *table_lines(table, part)]
    return "\n".join([*lines, ""])


def table_lines(table: dict, part: Part) -> list[str]:
    """One collective on so many processes."""
    lines = [
        f"## {table['collective']}",
        "",
        "| bytes | algorithm | Kumihimo | library | ratio | interval | first call | memory bound |",
        "|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for r in table["results"]:
        name = f"{r['algorithm']} {arguments.parameters_text(r['parameters'])}".strip()
        bound = seconds_text(r["bound_seconds"]) if r["bound_seconds"] else ""
        length = text_of(r["asked_bytes"])
        if r["bytes"] != r["asked_bytes"]:
            length += f" (mean {text_of(r['bytes'])})"
        lines.append(
            f"| {length} | {name} | {seconds_text(r['seconds'])} | {seconds_text(r['library']['seconds'])} "
            f"| {r['ratio']:.2f} | {r['ratio_low']:.2f}..{r['ratio_high']:.2f} | {seconds_text(r['first_seconds'])} "
            f"| {bound} |"
        )
    lines.append("")
    for goal in goals(table, part):
        verdict = "met" if goal["met"] else "missed"
        lines.append(f"- {goal['what']}: {goal['found']:.2f}, goal at most {goal['at_most']:g}: {verdict}")
    return [*lines, *costs(table)]


def costs(table: dict) -> list[str]:
    """Of the lengths at which the library is ahead: what a call costs all ranks together on their processors."""
    behind = [r for r in table["results"] if r["ratio"] > 1 and "processor_time" in r]
    if not behind:
        return []
    lines = [
        "",
        "Processors' time of a call where the ratio is above 1, all ranks together (medians of the launches' means):",
        "",
        "| bytes | Kumihimo: program | kernel | switches | library: program | kernel | switches | ratio of the sums |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for r in behind:
        both = [r["processor_time"], r["library"]["processor_time"]]
        sums = [cost["user_seconds"] + cost["system_seconds"] for cost in both]
        cells = [
            f"{seconds_text(cost['user_seconds'])} | {seconds_text(cost['system_seconds'])} | {cost['switches']:.0f}"
            for cost in both
        ]
        ratio = f"{sums[0] / sums[1]:.2f}" if sums[1] > 0 else ""  # 0: less than the kernel's clock tells
        lines.append(f"| {text_of(r['asked_bytes'])} | {' | '.join(cells)} | {ratio} |")
    return lines


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KumihimoError as error:
        sys.exit(f"bench/collectives: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
