#!/usr/bin/env python3
"""Bytes of each link of a testbed, measured and predicted, of algorithms of this project, as a table.

    bench/testbed/links.py [--shape 3x3x3] [--rate 50Mbit/s] [--bytes 256KiB,1MiB] [--calls 20] [--mpi openmpi]

`kumihimo run -a` launches a C program (collectives.c) twice: with one call, and with CALLS more. What the counters of
the links say of the second launch less the first is held beside CALLS times what `simulate --links` predicts, by
`testbed counters --compare`. Each call has a barrier and a sum of 8 bytes beside it, by the MPI library. `worst`: the
link with the largest ratio, or the least, of measured to predicted bytes. It needs no idle machine."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from collectives import NAME, WHOLE, built
from kumihimo.processes import mpi
from kumihimo.text.sizes import parse_sizes, with_unit

KUMIHIMO = str(Path(sys.executable).parent / "kumihimo")
ALGORITHMS = (
    ("allreduce", "rotated_rings"),
    ("allreduce", "trinaryx6"),
    ("bcast", "trinaryx6"),
    ("allgather", "rotated_rings"),
    ("reduce_scatter", "rotated_rings"),
    ("alltoall", "paced"),
)
NO_LIMIT = "1000"  # seconds of a call


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--shape", default="3x3x3")
    words.add_argument("--rate", default="50Mbit/s")
    words.add_argument("--bytes", default="256KiB,1MiB")
    words.add_argument("--calls", type=int, default=20)
    words.add_argument("--mpi", default="openmpi")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as folder:
        kumihimo("testbed", "up", asked.shape, "--rate", asked.rate, "--name", NAME)
        try:
            table(asked, mpi.choose(asked.mpi), Path(folder))
        finally:
            kumihimo("testbed", "down", "--name", NAME)


def table(asked: argparse.Namespace, installation: mpi.Installation, folder: Path) -> None:
    program, machine = built(installation, folder), folder / "testbed.toml"
    kumihimo("testbed", "machine", "--name", NAME, "--out", machine)
    ranks = json.loads(kumihimo("testbed", "status", "--name", NAME, "--json"))["results"][0]["nodes"]
    where = f"{ranks} ranks on {asked.shape}, {installation.family} {installation.version}, {asked.calls} calls"
    print(f"\n## Bytes of links, {where}\n\n| collective | algorithm | bytes | links | mean | worst |")
    print("|---|---|---:|---:|---:|---:|")
    for collective, algorithm in ALGORITHMS:
        for size in parse_sizes(asked.bytes):
            length = size if collective in WHOLE else size // 8 // ranks * 8
            predicted = ("simulate", collective, "-a", algorithm, "--bytes", length, "--machine", machine)
            (folder / "predicted.json").write_text(kumihimo(*predicted, "--links", "--json"), encoding="utf-8")
            run = ("testbed", "run", "--name", NAME, "--", KUMIHIMO, "run", "-a", f"{collective}={algorithm}", "--")
            launch = [*run, *installation.arguments(ranks), program, collective]
            for name, calls in (("one", 0), ("all", asked.calls)):
                (folder / "before.json").write_text(counters(), encoding="utf-8")
                kumihimo(*launch, calls, NO_LIMIT, size)
                (folder / f"{name}.json").write_text(counters("--since", folder / "before.json"), encoding="utf-8")
                if name == "all":
                    since = ("--since", folder / "before.json", "--less", folder / "one.json")
                    beside = ("--compare", folder / "predicted.json", "--times", asked.calls)
                    found = json.loads(counters(*since, *beside))
            print(row(collective, algorithm, size, found), flush=True)


def row(collective: str, algorithm: str, size: int, found: dict) -> str:
    compared = found["comparison"]
    cells = (collective, algorithm, with_unit(size), str(compared["links_compared"]), f"{compared['mean_ratio']:.3f}")
    return "| " + " | ".join((*cells, f"{compared['worst_ratio']:.3f}")) + " |"


def counters(*words: object) -> str:
    return kumihimo("testbed", "counters", "--name", NAME, *words, "--json")


def kumihimo(*words: object) -> str:
    done = subprocess.run([KUMIHIMO, *map(str, words)], stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    return done.stdout


if __name__ == "__main__":
    main()
