#!/usr/bin/env python3
"""Transforms of a cube beside FFTW's MPI transforms, mpi4py-fft and dtFFT, in one interleaved run.

    .venv/bin/python bench/fft/compare.py [--size 256] [--ranks 2,4] [--rounds 5] [--pairs 5] [--dtfft PYTHON]

Every round launches each candidate once, in a new order. A launch makes its plans, runs one pair of transforms, forward
and backward, and then `--pairs` of them: the mean, of fft3d with the first pair, of peers without. `seconds` is the
median over the rounds, of one transform; `planning` what was spent before. The ratio is that of a row to the fastest
peer of the same round, with the 95 % interval of the median. Needs Open MPI, libfftw3-mpi-dev, python3-mpi4py-fft;
--dtfft: a Python that has dtfft-fftw-openmpi.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from kumihimo import _measure

HERE = Path(__file__).parent
PEERS = HERE / "peers"
KUMIHIMO = str(Path(sys.executable).parent / "kumihimo")
SYSTEM_PYTHON = "/usr/bin/python3"
BACKENDS = ("MPI_A2A", "MPI_P2P_PIPELINED", "MPI_DATATYPE")
VARIANTS = ("packed", "fused", "window")


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--size", type=int, default=256)
    words.add_argument("--ranks", default="2,4")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--pairs", type=int, default=5)
    words.add_argument("--dtfft", default="")
    asked = words.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory() as folder:
        fftw = Path(folder) / "fftw_mpi"
        build = ["mpicc.openmpi", "-O2", "-o", fftw, PEERS / "fftw_mpi.c", "-lfftw3_mpi", "-lfftw3", "-lm"]
        subprocess.run(build, check=True)
        for ranks in asked.ranks.split(","):
            table(ranks, asked, fftw)


def table(ranks: str, asked: argparse.Namespace, fftw: Path) -> None:
    size, pairs = str(asked.size), str(asked.pairs)
    launcher = ["mpirun.openmpi", "--oversubscribe", "-n", ranks]
    peers = {"FFTW, transposed": [*launcher, fftw, size, pairs]}
    peers["mpi4py-fft"] = [*launcher, SYSTEM_PYTHON, PEERS / "mpi4py_fft_pairs.py", size, pairs]
    if asked.dtfft:
        script = PEERS / "dtfft_pairs.py"
        peers |= {f"dtFFT, {name}": [*launcher, asked.dtfft, script, size, pairs, name] for name in BACKENDS}
    seconds: dict[str, list[float]] = {}
    planning: dict[str, list[float]] = {}
    for number in range(asked.rounds):
        for name in random.Random(number).sample([*peers, *VARIANTS], len(peers) + len(VARIANTS)):
            took, planned = peer(peers[name]) if name in peers else ours(name, ranks, asked)
            seconds.setdefault(name, []).append(took)
            planning.setdefault(name, []).append(planned)
            print(f"{ranks} ranks, round {number + 1}: {name} {took:.4f} s", file=sys.stderr)
    best = [min(seconds[name][number] for name in peers) for number in range(asked.rounds)]
    print(f"\n## {size}^3 on {ranks} ranks\n\n| | seconds | planning, s | over the fastest peer | interval |")
    print("| --- | --- | --- | --- | --- |")
    for name in [*peers, *(f"{variant}" for variant in VARIANTS)]:
        ratio = _measure.compare(list(zip(seconds[name], best)))
        shown = name if name in peers else f"Kumihimo, `{name}`"
        cells = (shown, f"{median(seconds[name]):.4f}", f"{median(planning[name]):.2f}", f"{ratio.ratio:.2f}")
        print("| " + " | ".join([*cells, f"{ratio.ratio_low:.2f} to {ratio.ratio_high:.2f}"]) + " |", flush=True)


def run(words: list[str | Path]) -> dict:
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(
            f"compare.py: {' '.join(map(str, words))} ended with {ended.returncode}: {ended.stderr[-500:]}"
        )
    return json.loads(ended.stdout)


def peer(words: list[str | Path]) -> tuple[float, float]:
    found = run(words)
    return found["seconds"], found["planning"]


def ours(variant: str, ranks: str, asked: argparse.Namespace) -> tuple[float, float]:
    words = [KUMIHIMO, "app", "fft3d", "--size", str(asked.size), "--ranks", ranks, "--threads", "1", "--no-check"]
    facts = run([*words, "--variant", variant, "--set", f"transforms={asked.pairs}", "--json"])["results"][0]["facts"]
    return facts["seconds of a transform"], facts["seconds of plans and buffers"]


if __name__ == "__main__":
    main()
