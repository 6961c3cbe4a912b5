#!/usr/bin/env python3
"""Transforms in three dimensions on a testbed: fft3d with every exchange beside FFTW's MPI transforms and mpi4py-fft.

    bench/testbed/fft.py [--shape 4x4] [--rate 100Mbit/s] [--size 128] [--pairs 3] [--rounds 3]
                         [--exchanges auto,pairwise,linear] [--variant fused]

Every round launches each candidate once, in a new order, with a rank on each node of the torus. A launch makes its
plans, runs one pair of transforms that is not counted, and then `--pairs` of them. Times are of the slowest rank, of
one transform; the ratio is that of a row to the fastest peer of the same round, with the 95 % interval of the median
over the rounds. `waiting` and `transferring` are shares of one more run with a profile. Needs Open MPI,
libfftw3-mpi-dev and python3-mpi4py-fft. Run it on an idle machine."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from math import prod
from pathlib import Path
from statistics import median

from kumihimo import _measure

PEERS = Path(__file__).parents[1] / "fft" / "peers"
KUMIHIMO = str(Path(sys.executable).parent / "kumihimo")
NAME = f"bench{os.getpid()}"
SYSTEM_PYTHON = "/usr/bin/python3"
EXCHANGES = "auto,pairwise,linear,two_phase,paced,bruck,hierarchical"
FFTW = "fftw_mpi"


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--shape", default="4x4")
    words.add_argument("--rate", default="100Mbit/s")
    words.add_argument("--size", default="128")
    words.add_argument("--pairs", default="3")
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--exchanges", default=EXCHANGES)
    words.add_argument("--variant", default="fused")
    words.add_argument("--options", default="", help="of fft3d: at_once=4,bands=8")
    words.add_argument("--no-peers", action="store_true")
    words.add_argument("--no-profile", action="store_true")
    asked = words.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if "KUMIHIMO_TESTBED" in os.environ:
        table(asked)
        return
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        build = ["mpicc.openmpi", "-O2", "-o", f"{folder}/{FFTW}", PEERS / "fftw_mpi.c"]
        subprocess.run([*build, "-lfftw3_mpi", "-lfftw3", "-lm"], check=True)
        up = [KUMIHIMO, "testbed", "up", asked.shape, "--rate", asked.rate, "--name", NAME]
        subprocess.run(up, check=True, stdout=sys.stderr)
        try:
            inside = [KUMIHIMO, "testbed", "run", "--name", NAME, "--", sys.executable, Path(__file__).resolve()]
            subprocess.run([*inside, *sys.argv[1:]], check=True, cwd=folder)
        finally:
            subprocess.run([KUMIHIMO, "testbed", "down", "--name", NAME], check=True, stdout=subprocess.DEVNULL)


def table(asked: argparse.Namespace) -> None:
    ranks = str(prod(map(int, asked.shape.split("x"))))
    launcher = ["mpirun.openmpi", "-n", ranks]
    peers = {"FFTW, transposed": [*launcher, f"./{FFTW}", asked.size, asked.pairs]}
    peers["mpi4py-fft"] = [*launcher, SYSTEM_PYTHON, PEERS / "mpi4py_fft_pairs.py", asked.size, asked.pairs]
    if asked.no_peers:
        peers = {}
    own = {f"Kumihimo, `{name}`": ours(name, ranks, asked) for name in asked.exchanges.split(",")}
    every = peers | own
    seconds: dict[str, list[float]] = {name: [] for name in every}
    texts: dict[str, str] = {}
    for number in range(asked.rounds):
        for name in random.Random(number).sample(list(every), len(every)):
            took, texts[name] = measured(every[name])
            seconds[name].append(took)
            print(f"round {number + 1}: {name} {took:.4f} s {texts[name]}", file=sys.stderr, flush=True)
    best = [min(seconds[name][number] for name in peers or own) for number in range(asked.rounds)]
    print(f"\n## {asked.size}^3 on {asked.shape}, {asked.rate}, `{asked.variant}` {asked.options}\n")
    print(row("", "seconds", "over the fastest peer", "interval", "waiting, %", "transferring, %", "exchange"))
    print(row(*["---"] * 7))
    for name in every:
        ratio = _measure.compare(list(zip(seconds[name], best)))
        shares = {} if name in peers or asked.no_profile else shares_of(every[name])
        cells = (name, f"{median(seconds[name]):.3f}", f"{ratio.ratio:.2f}")
        cells += (f"{ratio.ratio_low:.2f} to {ratio.ratio_high:.2f}",)
        cells += tuple(f"{100 * shares[part]:.0f}" if part in shares else "" for part in PARTS)
        print(row(*cells, texts[name]), flush=True)


PARTS = ("waiting for the others", "transferring")


def ours(exchange: str, ranks: str, asked: argparse.Namespace) -> list[str | Path]:
    words = [KUMIHIMO, "app", "fft3d", "--size", asked.size, "--ranks", ranks, "--threads", "1", "--json"]
    words += ["--triad", "10", "--peak", "10", "--variant", asked.variant, "--set", f"transforms={asked.pairs}"]
    for option in filter(None, asked.options.split(",")):
        words += ["--set", option]
    return [*words, "--set", f"exchange={exchange}"]


def run(words: list[str | Path]) -> dict:
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"fft.py: {' '.join(map(str, words))} ended with {ended.returncode}: {ended.stderr[-500:]}")
    return json.loads(ended.stdout)


def measured(words: list[str | Path]) -> tuple[float, str]:
    """Seconds of a transform, and what exchanged."""
    found = run(words)
    if "results" not in found:
        return found["seconds"], ""
    if found["right"] is not True:
        raise SystemExit(f"fft.py: {' '.join(map(str, words))} is wrong")
    facts = found["results"][0]["facts"]
    return facts["seconds of a transform"], facts["exchange"]


def shares_of(words: list[str | Path]) -> dict[str, float]:
    profile = run([*words, "--set", "profile=yes"])["results"][0]["profile"]
    return {part["name"]: part["share"] for part in profile}


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
