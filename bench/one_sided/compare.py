#!/usr/bin/env python3
"""`kumihimo bench pgas` beside OSU's programs, in one interleaved run.

    .venv/bin/python bench/one_sided/compare.py --osu FOLDER [--rounds 7] [--mpi openmpi] [--only put,get]

FOLDER: the OSU Micro-Benchmarks as they were built (./configure CC=mpicc && make CFLAGS='-O2 -DFLOAT_PRECISION=4'; for
OpenSHMEM CC=oshcc), with
mpi/one-sided and openshmem in it. They are built outside this project. Every round runs each program of OSU and the
measure of it, in changing order, on two ranks of this node. A row has the median of both, the median of the ratios of
the rounds with its 95 % interval by order statistics, and the spread of OSU's own figures: (most - least) / median.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from kumihimo.processes import mpi
from kumihimo.tune.bench.tuned import ratios_of

ROOT = Path(__file__).resolve().parents[2]
KUMIHIMO = ROOT / ".venv/bin/kumihimo"
SIZES = (8, 1024, 65536, 1 << 20)
RANKS = 2
NEAR = 0.1
OSU_WINDOW = "32"  # messages, in version 5.3
BOUND = ["--allow-run-as-root", "--bind-to", "core"]  # a rank a processor, as kumihimo does


@dataclass(frozen=True)
class OsuProgram:
    """`words`: of the program; `measure` and `options` of kumihimo bench pgas. `scale`: of OSU's figure, in seconds or
    bytes a second; `name`: of the row where it has no sizes."""

    path: str
    words: tuple[str, ...]
    library: str
    measure: str
    options: tuple[str, ...] = ()
    scale: float = 1e-6
    key: str = "seconds"
    name: str = ""


def window(program: str, measure: str, kind: str, sync: str, *extra: str, **more: object) -> OsuProgram:
    words = ("-w", kind, "-s", sync, *extra)
    ours = ("--windows", kind, "--sync", "lock_flush" if sync == "flush" else sync)  # OSU locks the one target
    return OsuProgram(f"mpi/one-sided/{program}", words, "mpi", measure, ours, **more)


BANDWIDTH = {"scale": 1e6, "key": "bytes_per_second"}
PROGRAMS = (
    window("osu_put_latency", "put_quiet", "allocate", "flush"),
    window("osu_put_latency", "put_quiet", "create", "lock"),
    window("osu_put_latency", "put_quiet", "allocate", "fence"),
    window("osu_put_latency", "put_quiet", "allocate", "pscw"),
    window("osu_get_latency", "get", "allocate", "flush"),
    window("osu_put_bw", "put_bandwidth", "allocate", "flush", **BANDWIDTH),
    window("osu_get_bw", "get_bandwidth", "allocate", "flush", **BANDWIDTH),
    window("osu_put_bibw", "put_both_ways", "allocate", "pscw", **BANDWIDTH),
    window("osu_fop_latency", "fetch_add", "allocate", "flush"),
    OsuProgram("openshmem/osu_oshm_put", ("heap",), "shmem", "put_quiet"),
    OsuProgram("openshmem/osu_oshm_get", ("heap",), "shmem", "get"),
    OsuProgram("openshmem/osu_oshm_atomics", ("heap",), "shmem", "fetch_add", name="shmem_longlong_fadd"),
    OsuProgram("openshmem/osu_oshm_barrier", (), "shmem", "barrier", name="barrier"),
)


def osu_figures(folder: Path, program: OsuProgram, installation: mpi.Installation) -> dict[int, float]:
    """By size; 0 where there is none. Open MPI 4.1's OpenSHMEM crashes after the figures: these are kept."""
    bound = [str(installation.launcher), *(BOUND if installation.family == "openmpi" else [])]
    command = [*bound, "-n", str(RANKS), folder / program.path, *program.words]
    environment = {**os.environ, **installation.environment(RANKS), "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    found = {}
    for line in done.stdout.splitlines():
        if program.name == "barrier" and re.fullmatch(r" *[0-9.]+", line):
            found[0] = float(line) * program.scale
        elif program.name and line.startswith(f"{program.name} "):
            found[0] = float(line.split()[2]) * program.scale
        elif not program.name and re.fullmatch(r"[0-9]+ +[0-9.]+", line):
            size, figure = line.split()
            found[int(size)] = float(figure) * program.scale
    return found


def our_figures(program: OsuProgram, family: str, seconds: str) -> dict[int, float]:
    sizes = ",".join(map(str, SIZES))
    words = [KUMIHIMO, "bench", "pgas", program.library, "--measures", program.measure, "--bytes", sizes, "--json"]
    words += ["--mpi", family, "--seconds", seconds, "--window", OSU_WINDOW, *program.options]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    rows = json.loads(done.stdout)["results"]
    assert all(row["right"] for row in rows if "seconds" in row), done.stdout
    return {
        0 if program.name or row["bytes"] == 0 else row["bytes"]: row[program.key] for row in rows if "seconds" in row
    }


def measured(
    folder: Path, program: OsuProgram, installation: mpi.Installation, rounds: int, seconds: str
) -> list[dict]:
    sides = [
        lambda: osu_figures(folder, program, installation),
        lambda: our_figures(program, installation.family, seconds),
    ]
    found: list[list[dict[int, float]]] = [[], []]
    for turn in range(rounds):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            found[side].append(sides[side]())
    keys = (0,) if program.name or program.measure == "fetch_add" else SIZES
    rows = []
    for key in keys:
        theirs = [each.get(key, each.get(8)) for each in found[0]]
        ours = [each.get(key, each.get(8)) for each in found[1]]
        if None in theirs or None in ours:
            continue
        rows.append({"size": key, "osu": theirs, "ours": ours, **ratios_of(list(zip(ours, theirs)))})
    return rows


def lines(program: OsuProgram, rows: list[dict]) -> Iterator[str]:
    for row in rows:
        middle = median(row["osu"])
        spread = (max(row["osu"]) - min(row["osu"])) / middle
        near = abs(row["ratio"] - 1) <= max(NEAR, spread)
        unit, scale = ("MB/s", 1e-6) if program.key == "bytes_per_second" else ("us", 1e6)
        name = " ".join([Path(program.path).name, *program.words])
        yield (
            f"| {name} | {row['size'] or ''} | {middle * scale:.4g} {unit} | {median(row['ours']) * scale:.4g} {unit} "
            f"| {row['ratio']:.3f} | {row['ratio_low']:.3f} to {row['ratio_high']:.3f} | {100 * spread:.0f} % "
            f"| {'yes' if near else 'no'} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--osu", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--seconds", default="20ms")
    parser.add_argument("--only", default="", help="measures or words of programs, with commas")
    given = parser.parse_args()
    installation = mpi.choose(given.mpi)
    only = set(filter(None, given.only.split(",")))
    print("| OSU program | bytes | OSU | here | ratio | 95 % interval | spread of OSU | within 10 % or the spread |")
    print("|---|---|---|---|---|---|---|---|")
    for program in PROGRAMS:
        text = " ".join([Path(program.path).name, *program.words, program.measure])
        if (only and not any(word in text for word in only)) or not (given.osu / program.path).exists():
            continue
        if program.library == "shmem" and installation.family != "openmpi":
            continue
        for line in lines(program, measured(given.osu, program, installation, given.rounds, given.seconds)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
