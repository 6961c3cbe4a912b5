#!/usr/bin/env python3
"""The network fabric beside a loop written by hand, ucx_perftest, mapped memory, and the MPI libraries.

    .venv/bin/python bench/fabric/compare.py [--providers "tcp;ofi_rxm,net,shm"] [--rounds 5] [--collectives]

Two processes: one way, bandwidth and rate of each way of build/release/bench/fabric/fabric_pair, whose ways alternate
within a round; medians of rounds, with the least and the most. ucx_perftest runs in the same minute, over TCP and over
memory, where it is installed. `--collectives`: allreduce, allgather and alltoall of 1 MiB and more on 2 and 4
processes, by `kumihimo bench`, as nodes of one rank over `fabric` and over `mpi`, and through shared memory, in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from shutil import which
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
PAIR = ROOT / "build/release/bench/fabric/fabric_pair"
KUMIHIMO = ROOT / ".venv/bin/kumihimo"
WAYS = ("loop", "puts", "program", "messages", "allocated", "mapped")
OURS = ("puts", "program", "messages")
LOOPBACK = {"FI_TCP_IFACE": "lo", "FI_NET_IFACE": "lo"}
COLLECTIVES = (("allreduce", "rabenseifner"), ("allgather", "ring"), ("alltoall", "pairwise"))


def text_of(values: list[float], form: str = ".3g") -> str:
    """Median and range."""
    return f"{median(values):{form}} ({min(values):{form}}..{max(values):{form}})"


def pairs(provider: str, rounds: int) -> None:
    found: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    run = subprocess.run(
        [PAIR, provider, str(rounds)], env={**os.environ, **LOOPBACK}, capture_output=True, text=True, check=False
    )
    if run.returncode:
        print(f"\n{provider}: {run.stderr.strip()}")
        return
    for line in run.stdout.splitlines():
        row = json.loads(line)
        for key in ("us", "GB_s", "rate"):
            found[row["way"], row["bytes"]][key].append(row[key])
    sizes = sorted({size for _, size in found})
    for key, title in (("us", "one way, µs"), ("GB_s", "bandwidth, GB/s"), ("rate", "messages a second")):
        print(f"\n{provider}: {title}, of {rounds} rounds\n")
        print("| bytes | " + " | ".join(WAYS) + " | " + " | ".join(f"{way} / loop" for way in OURS) + " |")
        print("|---|" + "---|" * (len(WAYS) + len(OURS)))
        for size in sizes if key != "rate" else sizes[:2]:
            values = [found[way, size][key] for way in WAYS]
            ratios = [
                [ours / loop for ours, loop in zip(found[way, size][key], found["loop", size][key])] for way in OURS
            ]
            cells = [text_of(v) for v in values] + [text_of(r, ".2f") for r in ratios]
            print(f"| {size} | " + " | ".join(cells) + " |")


def ucx(test: str, size: int, transports: str, iterations: int, port: int) -> list[str] | None:
    """The numbers of the last line of ucx_perftest; none where it fails."""
    environment = {**os.environ, "UCX_TLS": transports, "UCX_NET_DEVICES": "lo", "UCX_WARN_UNUSED_ENV_VARS": "n"}
    if "tcp" not in transports:
        environment.pop("UCX_NET_DEVICES")
    line = ["ucx_perftest", "-t", test, "-s", str(size), "-n", str(iterations), "-p", str(port)]
    server = subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        done = subprocess.run(
            [*line, "127.0.0.1"], env=environment, capture_output=True, text=True, timeout=20, check=False
        )
        numbers = [row for row in done.stdout.splitlines() if re.match(r"^(Final:)?\s*[\d.]+(\s+[\d.]+)+", row)]
        return re.findall(r"[\d.]+", numbers[-1]) if done.returncode == 0 and numbers else None
    except subprocess.TimeoutExpired:
        return None
    finally:
        server.kill()
        server.wait()


def ucx_pairs(rounds: int) -> None:
    if not which("ucx_perftest"):
        print("\nucx_perftest is not installed (Debian: ucx-utils)")
        return
    print("\nucx_perftest: ucp_put latency in µs, bandwidth in MB/s (2^20), messages a second\n")
    print("| transports | bytes | latency | bandwidth | rate |")
    print("|---|---|---|---|---|")
    port = 21_300
    for transports in ("tcp,self", "posix,cma,self"):
        for size in (8, 4096, 65_536, 1 << 20):
            latencies, bandwidths, rates = [], [], []
            for _ in range(rounds):
                iterations = 2000 if size < 65_536 else 300
                port += 2
                if latency := ucx("ucp_put_lat", size, transports, iterations, port):
                    latencies.append(float(latency[2]))
                if bandwidth := ucx("ucp_put_bw", size, transports, iterations, port + 1):
                    bandwidths.append(float(bandwidth[-3]))
                    rates.append(float(bandwidth[-1]))
            cells = [text_of(v) if v else "failed" for v in (latencies, bandwidths, rates)]
            print(f"| {transports} | {size} | " + " | ".join(cells) + " |")


def collective_seconds(kind: str, algorithm: str, size: int, ranks: int, network: str, family: str) -> tuple | None:
    """Seconds of ours and of the MPI library."""
    apart = [] if network == "shared memory" else ["--ranks-per-node", "1"]
    environment = {**os.environ, **LOOPBACK, "KUMIHIMO_NETWORK": "mpi" if network == "shared memory" else network}
    line = [KUMIHIMO, "bench", kind, "-a", algorithm, "--bytes", str(size), "--ranks", str(ranks), "--mpi", family]
    done = subprocess.run([*line, *apart, "--json"], env=environment, capture_output=True, text=True, check=False)
    try:
        row = json.loads(done.stdout)["results"][0]
        return row["seconds"], row["library"]["seconds"]
    except (ValueError, KeyError, IndexError, TypeError):
        print(f"{kind} {network}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None


def collectives(rounds: int) -> None:
    networks = ("fabric", "mpi", "shared memory")
    print("\nCollectives, ms, medians of rounds, and the ratio of the MPI library's time\n")
    print("| | bytes | ranks | fabric | mpi | shared memory | Open MPI | mpi / fabric |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, algorithm in COLLECTIVES:
        for ranks in (2, 4):
            for size in (1 << 20, 4 << 20):
                times: dict[str, list[float]] = defaultdict(list)
                for _ in range(rounds):
                    for network in networks:
                        if found := collective_seconds(kind, algorithm, size, ranks, network, "openmpi"):
                            times[network].append(found[0] * 1e3)
                            times["library"].append(found[1] * 1e3)
                cells = [text_of(times[n]) if times[n] else "failed" for n in (*networks, "library")]
                ratios = [m / f for m, f in zip(times["mpi"], times["fabric"])]
                cells.append(text_of(ratios, ".2f") if ratios else "")
                print(f"| {kind} ({algorithm}) | {size} | {ranks} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--providers", default="tcp;ofi_rxm,net,shm")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ucx", action="store_true")
    parser.add_argument("--collectives", action="store_true")
    given = parser.parse_args()
    for provider in filter(None, given.providers.split(",")):
        pairs(provider, given.rounds)
    if given.ucx:
        ucx_pairs(given.rounds)
    if given.collectives:
        collectives(given.rounds)


if __name__ == "__main__":
    main()
