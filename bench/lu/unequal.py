#!/usr/bin/env python3
"""lu on two unequal processors: how much of what each reaches alone they reach together.

    .venv/bin/python bench/lu/unequal.py [--size 6000] [--share 0.5] [--rounds 5]

The second processor is slowed down by a program that takes 1 - share of it, in turns of 4 ms. Every round measures:

- the fast processor alone: 2 ranks on it by groups=0/0, as in the hybrid run, and 1 rank;
- the slow processor alone: 1 rank;
- nodes: 2 ranks on the fast processor and 1 on the slow one, by speeds=2,1;
- device: 1 rank on the fast processor, with the slow one as its device.

Efficiency is hybrid / (fast + slow). Medians and ranges of rounds. Needs two processors that nothing else uses.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
KUMIHIMO = ROOT / ".venv/bin/kumihimo"
TURN_SECONDS = 4e-3
FIXED = ["--variant", "rows", "--threads", "1", "--mpi", "openmpi", "--triad", "1", "--peak", "1", "--json"]


def burn(processor: int, share: float) -> None:
    """Takes a share of a processor, by real-time priority: the system gives the rest to others."""
    os.sched_setaffinity(0, {processor})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    parent = os.getppid()
    while os.getppid() == parent:
        begin = time.monotonic()
        while time.monotonic() - begin < TURN_SECONDS * share:
            pass
        time.sleep(TURN_SECONDS * (1 - share))


class Burner:
    """A process that burns while this is in use."""

    def __init__(self, processor: int, share: float):
        self.processor, self.share, self.process = processor, share, 0

    def __enter__(self) -> None:
        self.process = os.fork()
        if self.process == 0:
            try:
                burn(self.processor, self.share)
            finally:
                os._exit(0)

    def __exit__(self, *_: object) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def gflops(size: int, ranks: int, *settings: str) -> tuple[float, dict]:
    words = [word for each in settings for word in ("--set", each)]
    command = [str(KUMIHIMO), "app", "lu", "--size", str(size), "--ranks", str(ranks), *FIXED, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"unequal.py: {' '.join(command)} ended with {done.returncode}: {done.stderr[-400:]}")
    (row,) = json.loads(done.stdout)["results"]
    return row["gflops"], row["facts"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=6000)
    parser.add_argument("--share", type=float, default=0.5, help="of the second processor that is left")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    fast, slow = sorted(os.sched_getaffinity(0))[:2]
    cases = {
        "fast alone, 2 ranks": (2, [f"groups={fast}/{fast}"]),
        "fast alone, 1 rank": (1, [f"groups={fast}"]),
        "slow alone": (1, [f"groups={slow}"]),
        "nodes: 2 + 1 ranks": (3, [f"groups={fast}/{slow}", "speeds=2,1", "cores=4"]),
        "nodes: 1 + 1 ranks": (2, [f"groups={fast}/{slow}"]),
        "device: 1 rank": (1, [f"groups={fast}", f"device={slow}"]),
    }
    found: dict[str, list[float]] = {name: [] for name in cases}
    alphas = []
    with Burner(slow, 1 - asked.share):
        for number in range(asked.rounds):
            for name, (ranks, settings) in cases.items():
                rate, facts = gflops(asked.size, ranks, *settings)
                found[name].append(rate)
                if "alpha of rank 0" in facts:
                    alphas.append(facts["alpha of rank 0"])
            said = "; ".join(f"{name}: {values[-1]:.4g}" for name, values in found.items())
            print(f"round {number + 1}: {said}", file=sys.stderr, flush=True)
    print(f"\nN = {asked.size}, {asked.share:.0%} of the second processor left, {asked.rounds} rounds\n")
    print("| | GFLOPS | / (fast + slow) | range |\n|---|---|---|---|")
    for name, values in found.items():
        alone = "fast alone, 2 ranks" if name.startswith("nodes: 2") else "fast alone, 1 rank"
        shares = [rate / (a + b) for rate, a, b in zip(values, found[alone], found["slow alone"])]
        share = f"{median(shares):.3f} | {min(shares):.3f} to {max(shares):.3f}" if "alone" not in name else " | "
        print(f"| {name} | {median(values):.4g} | {share} |")
    print(f"\nalpha of the device: {median(alphas):.3f}, {min(alphas):.3f} to {max(alphas):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
