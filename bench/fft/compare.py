#!/usr/bin/env python3
"""Transforms of a cube beside FFTW's MPI transforms, mpi4py-fft, dtFFT, SpFFT and heFFTe, and of bands of plane waves
beside SpFFT, in one interleaved run each; and kumihimo.fft beside mpi4py-fft, from Python.

    .venv/bin/python bench/fft/compare.py [--size 256] [--sphere 96] [--ranks 2,4] [--rounds 5] [--pairs 4]
                                          [--bands 16] [--python 128] [--dtfft PYTHON] [--heffte PREFIX]

Every round launches each candidate once, in a new order. A launch makes its plans, runs one pair of transforms, forward
and backward, that is not counted, and then `--pairs` of them. A peer's time is the mean over pairs of the slowest rank;
that of fft3d is the slowest rank's of all pairs, and it checks its answer afterwards. Figures are the medians over the
rounds, of one transform; `plans and buffers` is what was spent before. The ratio is that of a row to the fastest peer
of the same round, with the 95 % interval of the median. Needs Open MPI, libfftw3-mpi-dev, python3-mpi4py-fft,
libspfft-dev; --dtfft: a Python that has dtfft-fftw-openmpi; --heffte: where heFFTe is installed, which no package has
(cmake -D Heffte_ENABLE_FFTW=ON -D CMAKE_INSTALL_PREFIX=PREFIX; it builds in a minute).
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
HEFFTE_EXCHANGES = ("alltoallv", "p2p_plined")
SPFFT_EXCHANGES = ("alltoallv", "alltoall", "alltoallw")
VARIANTS = ("packed", "fused", "window")
KINDS = ("complex", "real")  # of grids from Python


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--size", default="256")
    words.add_argument("--sphere", default="96", help="size of the grid of plane waves")
    words.add_argument("--ranks", default="2,4")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--pairs", default="4")
    words.add_argument("--bands", default="16", help="of plane waves")
    words.add_argument("--python", default="128", help="size of the grid that Python programs transform")
    words.add_argument("--dtfft", default="")
    words.add_argument("--heffte", default="")
    words.add_argument("--rows", default="", help="those whose names have one of these words, such as SpFFT,window")
    asked = words.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory() as folder:
        fftw, spfft = Path(folder) / "fftw_mpi", Path(folder) / "spfft_pairs"
        build = ["mpicc.openmpi", "-O2", "-o", fftw, PEERS / "fftw_mpi.c", "-lfftw3_mpi", "-lfftw3", "-lm"]
        if asked.size != "0":
            subprocess.run(build, check=True)
        heffte = heffte_program(Path(folder), Path(asked.heffte)) if asked.heffte else None
        build = ["mpicxx.openmpi", "-O2", "-std=c++17", "-o", spfft, PEERS / "spfft_pairs.cpp", "-lspfft"]
        if subprocess.run(build, check=False, capture_output=True).returncode != 0:
            print("compare.py: going on without SpFFT (libspfft-dev)", file=sys.stderr)
            spfft = None
        for ranks in asked.ranks.split(","):
            if asked.size != "0":
                table(
                    f"{asked.size}^3 on {ranks} ranks",
                    cube_peers(ranks, asked, fftw, spfft, heffte),
                    cube(ranks, asked),
                    asked,
                )
        for ranks in asked.ranks.split(","):
            if spfft and asked.sphere != "0":
                title = f"{asked.bands} bands in a sphere of {asked.sphere}^3 on {ranks} ranks, a band"
                table(title, sphere_peers(ranks, asked, spfft), sphere(ranks, asked), asked)
        for ranks in asked.ranks.split(","):
            for kind in KINDS if asked.python != "0" else ():
                title = f"{asked.python}^3 {kind} from Python on {ranks} ranks"
                table(title, *from_python(ranks, kind, asked), asked)


Candidates = dict[str, list]  # commands, by the names of their rows


def launcher(ranks: str) -> list[str]:
    return ["mpirun.openmpi", "--oversubscribe", "-n", ranks]


def heffte_program(folder: Path, prefix: Path) -> Path:
    program, libraries = folder / "heffte_pairs", prefix / "lib"
    build = [
        "mpicxx.openmpi",
        "-O2",
        "-std=c++17",
        "-o",
        program,
        PEERS / "heffte_pairs.cpp",
        f"-I{prefix / 'include'}",
    ]
    subprocess.run([*build, f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lheffte", "-lfftw3", "-lfftw3f"], check=True)
    return program


def cube_peers(
    ranks: str, asked: argparse.Namespace, fftw: Path, spfft: Path | None, heffte: Path | None
) -> Candidates:
    size, pairs = asked.size, asked.pairs
    peers = {"FFTW, transposed": [*launcher(ranks), fftw, size, pairs]}
    peers["mpi4py-fft"] = [*launcher(ranks), SYSTEM_PYTHON, PEERS / "mpi4py_fft_pairs.py", size, pairs, "complex"]
    if asked.dtfft:
        script = PEERS / "dtfft_pairs.py"
        peers |= {f"dtFFT, {name}": [*launcher(ranks), asked.dtfft, script, size, pairs, name] for name in BACKENDS}
    for exchange in SPFFT_EXCHANGES if spfft else ():
        peers[f"SpFFT, {exchange}"] = [*launcher(ranks), spfft, "grid", size, "1", pairs, "1", exchange]
    if heffte:
        for exchange in HEFFTE_EXCHANGES:
            for name, pencils in (("planes", "0"), ("lines", "1")):
                peers[f"heFFTe, {name}, {exchange}"] = [*launcher(ranks), heffte, size, pairs, exchange, pencils]
    return peers


def cube(ranks: str, asked: argparse.Namespace) -> Candidates:
    return {f"Kumihimo, `{variant}`": ours(variant, ranks, asked.size, asked) for variant in VARIANTS}


def from_python(ranks: str, kind: str, asked: argparse.Namespace) -> tuple[Candidates, Candidates]:
    given = [asked.python, asked.pairs, kind]
    peer = [*launcher(ranks), SYSTEM_PYTHON, PEERS / "mpi4py_fft_pairs.py", *given]
    own = [*launcher(ranks), sys.executable, HERE / "kumihimo_fft_pairs.py", *given]
    variants = {f"kumihimo.fft, `{variant}`": [*own, variant] for variant in ("fused", "window")}
    return {"mpi4py-fft": peer}, variants


def sphere_peers(ranks: str, asked: argparse.Namespace, spfft: Path) -> Candidates:
    given = [*launcher(ranks), spfft, "sphere", asked.sphere, asked.bands, asked.pairs]
    blocks = [at_once for at_once in ("1", "4") if int(at_once) <= int(asked.bands)]
    peers = {f"SpFFT, {at_once} at once": [*given, at_once, "alltoallv"] for at_once in blocks}
    return peers | {"SpFFT, float in messages": [*given, "1", "float"]}


def sphere(ranks: str, asked: argparse.Namespace) -> Candidates:
    found = {}
    for variant, at_once in (("fused", 1), ("fused", 4), ("overlapped", 2), ("window", 1), ("window", 4)):
        if at_once > int(asked.bands):
            continue
        options = ["--set", "cutoff=sphere", "--set", f"bands={asked.bands}", "--set", f"at_once={at_once}"]
        found[f"Kumihimo, `{variant}`, {at_once} at once"] = [*ours(variant, ranks, asked.sphere, asked), *options]
    return found


def ours(variant: str, ranks: str, size: str, asked: argparse.Namespace) -> list[str]:
    words = [KUMIHIMO, "app", "fft3d", "--size", size, "--ranks", ranks, "--threads", "1", "--json"]
    words += ["--triad", "1", "--peak", "1"]  # of the roofline: not measured
    return [*words, "--variant", variant, "--set", f"transforms={asked.pairs}"]


def table(title: str, peers: Candidates, own: Candidates, asked: argparse.Namespace) -> None:
    rows = asked.rows.split(",")
    peers, own = chosen(peers, rows), chosen(own, rows)
    every = peers | own
    seconds: dict[str, list[float]] = {name: [] for name in every}
    planning: dict[str, list[float]] = {name: [] for name in every}
    for number in range(asked.rounds):
        for name in random.Random(number).sample(list(every), len(every)):
            took, planned = measured(every[name])
            seconds[name].append(took)
            planning[name].append(planned)
            print(f"{title}, round {number + 1}: {name} {took:.6f} s", file=sys.stderr)
    best = [min(seconds[name][number] for name in peers) for number in range(asked.rounds)]
    print(f"\n## {title}\n\n| | milliseconds | plans and buffers, s | over the fastest peer | interval |")
    print("| --- | --- | --- | --- | --- |")
    for name in every:
        ratio = _measure.compare(list(zip(seconds[name], best)))
        cells = (name, f"{1e3 * median(seconds[name]):.2f}", f"{median(planning[name]):.2f}", f"{ratio.ratio:.2f}")
        print("| " + " | ".join([*cells, f"{ratio.ratio_low:.2f} to {ratio.ratio_high:.2f}"]) + " |", flush=True)


def chosen(some: Candidates, words: list[str]) -> Candidates:
    return {name: each for name, each in some.items() if any(word in name for word in words)}


def run(words: list[str | Path]) -> dict:
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(
            f"compare.py: {' '.join(map(str, words))} ended with {ended.returncode}: {ended.stderr[-500:]}"
        )
    return json.loads(ended.stdout)


def measured(words: list) -> tuple[float, float]:
    """Seconds of a transform, and those before the first one."""
    found = run(words)
    if "results" not in found:
        return found["seconds"], found["planning"]
    facts = found["results"][0]["facts"]
    return facts["seconds of a transform"], facts["seconds of plans and buffers"]


if __name__ == "__main__":
    main()
