#!/usr/bin/env python3
"""A recorded program on a simulated torus: hypre's multigrid, in the usual order and placed.

    bench/placement/recorded.py [--grid 8x8x16] [--cells 4] [--shape 32x32] [--profile FILE]

Compiles poisson_hypre.c for Open MPI (libhypre-dev, libopenmpi-dev), runs it under `kumihimo record` with one rank a
cell of the grid, all of them on this machine, and places the profile on a torus with the links of the K computer. The
times are those of the flow model for one exchange in which each rank sends at once all that it sent in the run: what
the links take together, without computing and without waiting for steps. With the model's range beside them, and for
up to 512 ranks the time of the exact model. --profile: of a run that was recorded before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from kumihimo import _machine, _placement, _simulate, _topology, _traffic
from kumihimo.place import sources

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
KUMIHIMO = Path(sys.executable).parent / "kumihimo"
FOLDER = ROOT / "build/bench/placement"
MOST_EXACT = 512  # ranks of the exact model


def record(grid: list[str], cells: int) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    program, profile = FOLDER / "poisson_hypre", FOLDER / f"poisson_hypre-{'x'.join(grid)}.jsonl"
    compiler = ["mpicc.openmpi", "-O2", "-I/usr/include/hypre", HERE / "poisson_hypre.c", "-lHYPRE", "-lm"]
    subprocess.run([*compiler, "-o", program], check=True)
    ranks = 1
    for length in grid:
        ranks *= int(length)
    launcher = ["mpirun.openmpi", "--oversubscribe", "-n", str(ranks)]
    environment = {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1"}
    environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    begin = time.monotonic()
    line = [KUMIHIMO, "record", "-o", profile, "--", *launcher, program, *grid, str(cells)]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the program ended with {done.returncode}: {done.stderr[-2000:]}")
    print(f"`poisson_hypre {' '.join(grid)} {cells}` on {ranks} ranks: {done.stdout.strip()}; recorded in "
          f"{time.monotonic() - begin:.0f} s.\n")  # fmt: skip
    return profile


def exact(profile: Path, machine: _machine.Machine, slots_of_rank: list[int]) -> float:
    traffic = sources.traffic_from(str(profile), None).traffic
    job = _machine.Job(machine)
    text = "".join(f"{slot}\n" for slot in slots_of_rank)
    placement = _placement.read_map("permutation", text, "the map", job.slots, [], machine.shape)
    return _simulate.simulate(_traffic.programs_of(traffic, 1.0), job, placement, model="exact").seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", default="8x8x16")
    parser.add_argument("--cells", type=int, default=4)
    parser.add_argument("--shape", default="32x32")
    parser.add_argument("--profile", type=Path)
    options = parser.parse_args()
    profile = options.profile or record(options.grid.split("x"), options.cells)
    text = (HERE / "torus32.toml").read_text(encoding="utf-8").replace('"32x32"', f'"{options.shape}"')
    file = FOLDER / "torus.toml"
    file.write_text(text, encoding="utf-8")
    line = [KUMIHIMO, "place", "--traffic", profile, "--machine", file, "--shape", options.shape, "--json"]
    found = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    (FOLDER / "placed.json").write_text(json.dumps(found), encoding="utf-8")
    first = found["candidates"][0]
    chosen = next(c for c in found["candidates"] if c["name"] == found["chosen"])
    before, after = found["predicted"]["before"], found["predicted"]["after"]
    print("| | usual order | placed | ratio |\n|---|---|---|---|")
    for title, key in (("average hops", "average_hops"), ("bytes of the busiest link", "link_bytes_max")):
        print(f"| {title} | {first[key]:.6g} | {chosen[key]:.6g} | {chosen[key] / first[key]:.3f} |")
    one, other = before["seconds"], after["seconds"]
    print(f"| predicted, s | {one:.6f} | {other:.6f} | {other / one:.3f} |")
    print(f"\nplaced: {chosen['name']}; no placement has fewer than {found['lower_bound_hops']:.3f} average hops")
    print(f"search: {found['search_seconds']:.1f} s\n")
    print(f"Accuracy of the prediction: {after['accuracy'] or 'the exact solution'}.")
    if found["ranks"] <= MOST_EXACT:
        machine = _machine.parse(text, "torus32.toml").with_shape(_topology.Shape.parse(options.shape))
        placed = [int(node) for node in found["node_of_rank"]]
        usual = exact(profile, machine, list(range(found["ranks"])))
        ours = exact(profile, machine, placed)
        print(f"\nexact model: {usual:.6f} s in the usual order, {ours:.6f} s placed: {ours / usual:.3f}")


if __name__ == "__main__":
    main()
