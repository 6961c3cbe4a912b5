#!/usr/bin/env python3
"""Placements of well-known communication graphs on tori, beside those of other tools.

    bench/placement/quality.py [--rows TEXT] [--efforts fast,standard] [--unseen SEED] [--runs 1] [--keep FOLDER]
                               [--peers Scotch,METIS,KaHIP,VieM] [--kahip PROGRAM] [--viem PROGRAM]

Average hops of a byte, and the load of the busiest directed link in units of the mean bytes that a rank sends. Every
map is measured by `kumihimo place --evaluate`. Peers: Scotch's gmap, best and worst of 8 runs (-b0.0001, so that its
maps are legal); recursive bisection by METIS, matched with halves of the torus; global_multisection of KaHIP (fast, no
imbalance) and VieM, which get the torus as a hierarchy of boxes. A peer that is not installed, and a run that failed or
whose map puts too many ranks on a node, is named. `best known` are the best maps of any tool or hand that were known
before this one. --unseen: graphs of the same kinds with other sizes, tori and numberings, drawn by the seed.

Exits with 1 if a row of the last effort has more hops than the best known map, a simple order or a peer, or more than
1.10 x the bound where such a map reaches it, or a busier link than the usual order, than Scotch's best map or than its
lowest; or if the effort fast has more hops than Scotch's first run. --keep writes the traffic of these rows there, and
prints how to search again.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Callable

from peers import PEERS, PROGRAMS, TOOLS, Case, Map
from rows import Row, table_rows, unseen_rows


def judge(row: Row, ours: Map, found: dict, mean: float, peers: dict[str, list[Map]]) -> list[str]:
    faults = []
    exact, slack = 1 + 1e-9, 1 + 5e-4  # published numbers have four digits
    identity = Map("", found["before"]["average_hops"], found["before"]["link_bytes_max"] / mean)
    bound = found["lower_bound_hops"]
    fewest = {name: min(m.hops for m in maps) for name, maps in peers.items() if maps}
    fewest |= {c["name"]: c["average_hops"] for c in found["candidates"] if c["within_cap"]}
    if ours.hops > row.best_known * slack:
        faults.append(f"{ours.hops / row.best_known:.3f} x the hops of the best known map ({row.best_known})")
    faults += [
        f"{ours.hops / hops:.3f} x the hops of {name}" for name, hops in fewest.items() if ours.hops > hops * exact
    ]
    least = min([row.best_known, *fewest.values()])
    if ours.hops > 1.10 * bound and least <= bound * slack:
        faults.append(f"{ours.hops / bound:.3f} x the bound, which a map reaches")
    if ours.link > identity.link * exact:
        faults.append("a busier link than the usual order")
    if scotch_maps := peers.get("Scotch"):
        best = min(scotch_maps, key=lambda m: m.hops)
        if ours.link > best.link * exact:
            faults.append(f"a link busier than that of Scotch's best map, {ours.link:.4f} against {best.link:.4f}")
        lowest = min(m.link for m in scotch_maps)
        if lowest < best.link and ours.link > lowest * exact:
            faults.append(f"a link busier than the lowest of Scotch's maps, {ours.link:.4f} against {lowest:.4f}")
    return faults


def spread(maps: list[Map] | str) -> str:
    if isinstance(maps, str):
        return maps
    legal, faults = [m for m in maps if not m.fault], Counter(m.fault for m in maps if m.fault)
    parts = []
    if legal:
        best, worst = min(legal, key=lambda m: m.hops), max(legal, key=lambda m: m.hops)
        parts.append(best.text() if len(legal) == 1 else f"{best.text()} .. {worst.hops:.2f}")
    parts += [f"{count} of {len(maps)}: {fault}" if len(maps) > 1 else fault for fault, count in faults.items()]
    return "; ".join([*parts, f"{median(m.seconds for m in maps):.2f} s"])


def peers_here(wanted: list[str]) -> dict[str, Callable[[Case], list[Map] | str]]:
    """Those that are installed; the others are named."""
    missing = {name: f"no program {' or '.join(PROGRAMS[name])}" for name, program in TOOLS.items() if not program}
    for module, name in (("scipy", "the finite element rows"), ("pymetis", "METIS and the finite element rows")):
        if importlib.util.find_spec(module) is None:
            missing[name.split()[0] if name.startswith("METIS") else name] = f"{module} is not installed"
    for name, reason in missing.items():
        if name in wanted or name not in PEERS:
            print(f"Left out: {name} ({reason}).\n")
    return {name: PEERS[name] for name in wanted if name not in missing}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="", help="only rows whose name@shape contains one of these texts: fem,lu_B")
    parser.add_argument("--efforts", default="fast,standard")
    parser.add_argument("--unseen", type=int, metavar="SEED")
    parser.add_argument("--runs", type=int, default=1, help="seeds of each effort")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the traffic of rows with faults there")
    parser.add_argument("--peers", default=",".join(PEERS))
    for name in TOOLS:
        parser.add_argument(f"--{name.lower()}", metavar="PROGRAM", help=f"the program {PROGRAMS[name][-1]}")
    options = parser.parse_args()
    TOOLS.update({name: given for name in TOOLS if (given := getattr(options, name.lower()))})
    rows = table_rows() if options.unseen is None else unseen_rows(options.unseen)
    efforts = options.efforts.split(",")
    peers = peers_here([name for name in options.peers.split(",") if name])
    print("Cells: average hops / busiest link; processor time. Scotch: best .. worst of 8.\n")
    print("| graph | torus | bound | identity | " + " | ".join([*efforts, *peers, "best known"]) + " | wall |")
    print("|---" * (6 + len(efforts) + len(peers)) + "|")
    faults: list[str] = []
    for row in rows:
        if any(part in f"{row.name}@{row.shape}" for part in options.rows.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                faults += measured(row, Path(folder), efforts, peers, options.runs, options.keep)
    print()
    for fault in faults:
        print(f"- {fault}")
    if not faults:
        print("No row has more hops than the best known map, an order or a peer, or a busier link than the usual order "
              "or Scotch.")  # fmt: skip
    return 1 if faults else 0


def measured(
    row: Row, folder: Path, efforts: list[str], peers: dict, runs: int, keep: Path | None
) -> list[str]:  # fmt: skip
    """Prints a line of the table. Returns the faults."""
    try:
        case = Case(row, folder)
    except ImportError as error:
        print(f"| {row.name} | {row.shape} | left out: {error.name} is not installed |")
        return []
    cells, found, ours, fast = [], {}, None, None
    for effort in efforts:
        maps = []
        for seed in range(1, runs + 1):
            ours, found = case.ours(effort, seed)
            maps.append(ours)
        fast = ours if effort == "fast" else fast
        cells.append(spread(maps))
    theirs = {name: "no such network" if row.network else run(case) for name, run in peers.items()}
    before = found["before"]
    best = f"{row.best_known:g}" if row.best_known < math.inf else "-"
    name = f"{row.name}, {row.slots} a node" if row.slots > 1 else row.name
    cells = [name, row.network or row.shape, f"{found['lower_bound_hops']:.3f}",
             Map("", before["average_hops"], before["link_bytes_max"] / case.mean).text(),
             *cells, *map(spread, theirs.values()), best]  # fmt: skip
    print("| " + " | ".join(cells) + f" | {found['search_seconds']:.1f} s |", flush=True)
    legal = {name: [m for m in maps if not m.fault] for name, maps in theirs.items() if not isinstance(maps, str)}
    faults = judge(row, ours, found, case.mean, legal)
    if fast and legal.get("Scotch") and fast.hops > legal["Scotch"][0].hops * (1 + 1e-9):
        faults.append(f"fast: {fast.hops / legal['Scotch'][0].hops:.3f} x the hops of Scotch's first run")
    if faults and keep:
        keep.mkdir(parents=True, exist_ok=True)
        case.file = Path(shutil.copy(case.file, keep / f"{row.name.replace(' ', '_')}@{row.shape}.txt"))
        faults[-1] += f"\n  {' '.join(case.command('--effort', efforts[-1]))}"
    return [f"{name} on {row.network or row.shape}: {fault}" for fault in faults]


if __name__ == "__main__":
    sys.exit(main())
