#!/usr/bin/env python3
"""Real programs on a simulated torus: recorded, then placed, with the model's error beside the predicted gain.

    bench/placement/recorded.py [PROGRAM:SHAPE...]

The programs are LAMMPS as Debian packages it (lammps), and hypre's multigrid (libhypre-dev; poisson_hypre.c). Each runs
under `kumihimo record` with one rank for each node of the torus, all of them on this machine: 1,024 ranks take some
10 minutes and 10 GB. A profile in build/bench/placement is used again; delete it to record anew.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from kumihimo import _machine, _placement, _predict, _topology, _traffic
from kumihimo.mapping import sources

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/bench/placement"
KUMIHIMO = Path(sys.executable).parent / "kumihimo"
LINKS_OF = ("fugaku", "k-computer")
MOST_EXACT = 512  # ranks of the exact model
ABOUT = """The torus has the links and software costs of a machine file. A prediction is of one exchange: each rank
sends one message to each rank that it sends to, all at once, without computing. Per message there are as many bytes as
on average in the recording. *Range*: of the flow model's error, in the usual order; placed. *Against exact*: its
measured error. Against measurements of Fugaku the model was off by -10 to +8 % (docs/guides/predict-a-machine.md).
"""
RANGE = re.compile(r"^.*: (?=up to)")  # the reasons before the range of an error

# 1,024 processes on a few processors. Ranks that wait yield. Open MPI polls every 100 us while it starts; the timer
# slack lets the kernel delay these polls, which otherwise take all processors from the ranks that are at work.
ENVIRONMENT = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "HWLOC_COMPONENTS": "-pci,-linuxio",
}
PR_SET_TIMERSLACK, TIMER_SLACK = 29, 2_000_000_000  # ns

# The 3-D melt of LAMMPS' own benchmarks, 4,000 atoms a rank.
MELT = """units lj
atom_style atomic
processors ${px} ${py} ${pz}
lattice fcc 0.8442
region box block 0 $(10*v_px) 0 $(10*v_py) 0 $(10*v_pz)
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
run 5
"""


def lammps(grid: list[str]) -> list[str]:
    (FOLDER / "in.melt").write_text(MELT, encoding="utf-8")
    x, y, z = grid
    variables = ["-var", "px", x, "-var", "py", y, "-var", "pz", z]
    return ["lmp", "-in", "in.melt", "-log", "log.melt", "-screen", "none", *variables]


def pfmg(grid: list[str]) -> list[str]:
    source = Path(__file__).with_name("poisson_hypre.c")
    compiler = ["mpicc.openmpi", "-O2", "-I/usr/include/hypre", source, "-lHYPRE", "-lm", "-o", FOLDER / "pfmg"]
    subprocess.run(compiler, check=True)
    return ["./pfmg", *grid, "16"]


PROGRAMS = {"lammps": lammps, "pfmg": pfmg}
# On a torus that is the program's grid, the usual order is the best one.
CASES = ("lammps:32x32", "lammps:16x8x8", "lammps:16x16", "pfmg:16x16")


def grid_of(ranks: int) -> list[str]:
    """16x8x8 of 1,024 ranks, 8x8x4 of 256."""
    bits = int(math.log2(ranks))
    return [str(1 << ((bits + more) // 3)) for more in (2, 1, 0)]


def record(name: str, ranks: int) -> Path:
    profile = FOLDER / f"{name}-{ranks}.jsonl"
    if profile.exists():
        return profile
    line = [KUMIHIMO, "record", "-o", profile, "--", "mpirun.openmpi", "--oversubscribe", "-n", str(ranks)]
    program = PROGRAMS[name](grid_of(ranks))
    begin = time.monotonic()
    environment = {**os.environ, **ENVIRONMENT}
    done = subprocess.run([*line, *program], cwd=FOLDER, env=environment, capture_output=True, text=True, check=False)
    if not profile.exists():  # Open MPI may report an error although all ranks have ended
        raise RuntimeError(f"{name} ended with {done.returncode}: {done.stderr[-2000:]}")
    print(f"Recorded `{' '.join(program)}` on {ranks} ranks in {time.monotonic() - begin:.0f} s.\n")
    return profile


def torus(machine: str, shape: str) -> str:
    """The machine file with a torus in place of its network's topology."""
    text = (ROOT / f"machines/{machine}.toml").read_text(encoding="utf-8")
    topology = f'[topology]\nfamily = "torus"\nshape = "{shape}"\njobs = "own"\n'
    return re.sub(r"^\[topology\]$.*?(?=^\[)", topology, text, flags=re.MULTILINE | re.DOTALL)


def predicted(programs, machine: _machine.Machine, order: list[int], model: str):
    job = _machine.Job(machine)
    text = "".join(f"{slot}\n" for slot in order)
    placement = _placement.read_map("permutation", text, "the map", job.slots, [], machine.shape)
    return _predict.predict(model, programs, _predict.Place(job, placement))


def gain_of(before: float, after: float) -> str:
    return f"{1 - after / before:.1%}"


def compare(name: str, shape: str) -> None:
    ranks = math.prod(int(length) for length in shape.split("x"))
    profile = record(name, ranks)
    line = [KUMIHIMO, "place", "--traffic", profile, "--shape", shape, "--json"]
    found = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    usual = found["candidates"][0]
    chosen = next(each for each in found["candidates"] if each["name"] == found["chosen"])
    traffic = sources.traffic_from(str(profile), None).traffic
    print(f"`{name}` on {shape}: {traffic.flows} pairs of ranks, {traffic.messages} messages of on average "
          f"{traffic.bytes / traffic.messages:.0f} bytes.\nPlaced: {chosen['name']}, found in "
          f"{found['search_seconds']:.1f} s; no placement has fewer than "
          f"{found['lower_bound_hops']:.3f} hops.\n")  # fmt: skip
    print("| | usual order | placed | gain | range of the model | against exact |\n|---|---|---|---|---|---|")
    for title, key in (("average hops", "average_hops"), ("bytes of the busiest link", "link_bytes_max")):
        print(f"| {title} | {usual[key]:.6g} | {chosen[key]:.6g} | {gain_of(usual[key], chosen[key])} | | |")
    programs = _traffic.programs_of(traffic, traffic.flows / traffic.messages)
    orders = (list(range(ranks)), [int(node) for node in found["node_of_rank"]])
    for links in LINKS_OF:
        machine = _machine.parse(torus(links, shape), links).with_shape(_topology.Shape.parse(shape))
        flow = [predicted(programs, machine, order, "flow") for order in orders]
        exact = [predicted(programs, machine, order, "exact") for order in orders] if ranks <= MOST_EXACT else []
        ranges = "; ".join(RANGE.sub("", one.accuracy) or "20 %" for one in flow)
        errors = "; ".join(f"{one.seconds / other.seconds - 1:+.1%}" for one, other in zip(flow, exact))
        for model, (before, after) in (("flow", flow), *([("exact", exact)] if exact else [])):
            told = f"{ranges} | {errors or '-'}" if model == "flow" else "- | -"
            print(f"| links of {links}, {model} | {before.seconds * 1e6:.1f} us | {after.seconds * 1e6:.1f} us | "
                  f"{gain_of(before.seconds, after.seconds)} | {told} |")  # fmt: skip
        print(f"| bound by | {' | '.join(one.limiting for one in flow)} | | | |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="PROGRAM:SHAPE")
    cases = parser.parse_args().cases
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, TIMER_SLACK, 0, 0, 0)
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("\n## Recorded programs\n\n    bench/placement/recorded.py", *cases)
    print("\n" + ABOUT)
    for case in cases:
        name, shape = case.split(":")
        try:
            compare(name, shape)
        except (OSError, subprocess.CalledProcessError, RuntimeError) as reason:
            print(f"{case} is left out: {reason}\n")


if __name__ == "__main__":
    main()
