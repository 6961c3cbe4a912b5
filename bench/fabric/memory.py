#!/usr/bin/env python3
"""Resident memory of a process for receiving, by the number of its peers, measured beside the ordinary design.

    .venv/bin/python bench/fabric/memory.py [--peers 100,1000,10000,82944,100000]

Each peer is contacted once, and 1,024 send enough for a large channel. Every slot is written. The structures are those
of a port (build/release/bench/fabric/channel_memory); what libfabric takes for itself is in `simulate memory`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

from kumihimo.predict.memory.designs import ORDINARY_PER_RANK

PROGRAM = Path(__file__).resolve().parents[2] / "build/release/bench/fabric/channel_memory"
PROMOTED = 1024
SIZES = (("K's sizes", ""), ("32 large", "large=32"), ("32 large, pool", "large=32,pool=4096"))


def measured(peers: int, sizes: str) -> dict[str, int]:
    line = [PROGRAM, str(peers), str(min(peers, PROMOTED)), sizes]
    return json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="100,1000,10000,82944,100000", help="numbers of peers")
    peers = [int(word) for word in parser.parse_args().peers.split(",")]
    print("\n## Memory for receiving, by the number of peers\n")
    print("MiB resident when each peer was contacted once, and then when 1,024 of them were promoted.\n")
    print("| peers | " + " | ".join(f"{name} ({sizes or 'default'})" for name, sizes in SIZES) + " | ordinary |")
    print("|---:|" + "---:|" * (len(SIZES) + 1))
    most_before = 0
    for number in peers:
        cells = []
        for _, sizes in SIZES:
            row = measured(number, sizes)
            most_before = max(most_before, row["before"])
            cells.append(f"{row['contacted'] / 2**20:.1f}, {row['promoted'] / 2**20:.1f}")
        print(f"| {number} | " + " | ".join(cells) + f" | {ORDINARY_PER_RANK * number / 2**20:.0f} |")
    print(f"\nBefore the first contact: {most_before} bytes.")


if __name__ == "__main__":
    main()
