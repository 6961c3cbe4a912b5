#!/usr/bin/env python3
"""Puts between two nodes that two links of the same rate join: over one rail and over both, in turns.

    .venv/bin/python bench/fabric/rails.py [--rate 400mbit] [--rounds 5] [--bytes 65536,1048576] [--provider NAME]

The nodes are network namespaces, so it needs root, `ip` and `tc`. The bound of a ratio is 2."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from kumihimo.processes import package_files

HERE = Path(__file__).parent
NODES = ("A", "B")
RAILS = ("rail0", "rail1")
TOGETHER = 64 << 20  # bytes of a measurement


def run(*words: str) -> None:
    subprocess.run(words, check=True)


def is_up(space: str, rail: str) -> bool:
    """A provider names no interface before."""
    words = ["ip", "-n", space, "-br", "link", "show", "dev", rail]
    return " UP " in subprocess.run(words, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def two_nodes(rate: str) -> Iterator[dict[str, str]]:
    """Namespaces by node, whose interfaces RAILS are joined pairwise."""
    spaces = {node: f"rails{os.getpid()}{node}" for node in NODES}
    try:
        for space in spaces.values():
            run("ip", "netns", "add", space)
        for number, rail in enumerate(RAILS):
            a, b = (spaces[node] for node in NODES)
            run("ip", "link", "add", rail, "netns", a, "type", "veth", "peer", rail, "netns", b)
            for end, space in enumerate(spaces.values(), 1):
                run("ip", "-n", space, "addr", "add", f"10.88.{number}.{end}/24", "dev", rail)
                run("ip", "-n", space, "link", "set", rail, "up")
                limits = ["rate", rate, "burst", "64kb", "latency", "50ms"]
                run("tc", "-n", space, "qdisc", "add", "dev", rail, "root", "tbf", *limits)
        while not all(is_up(space, rail) for space in spaces.values() for rail in RAILS):
            time.sleep(0.05)
        yield spaces
    finally:
        for space in spaces.values():
            subprocess.run(["ip", "netns", "del", space], check=False)


def rate_of(program: Path, spaces: dict[str, str], options: str, engines: int, size: int) -> float:
    """MB/s."""
    with tempfile.TemporaryDirectory() as folder:
        words = [folder, options, str(engines), str(size), str(max(TOGETHER // size, 2 * engines))]
        ranks = [
            subprocess.Popen(
                ["ip", "netns", "exec", spaces[node], program, str(rank), *words], stdout=subprocess.PIPE, text=True
            )
            for rank, node in enumerate(NODES)
        ]
        try:
            outputs = [rank.communicate(timeout=120)[0] for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()  # one that waits for another that has failed
        if any(rank.returncode for rank in ranks):
            sys.exit(f"the puts failed with {options}")
        return float(outputs[0])


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--rate", default="400mbit")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--bytes", default="65536,1048576")
    words.add_argument("--provider", default="tcp;ofi_rxm")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as folder, two_nodes(asked.rate) as spaces:
        program = Path(folder) / "rails"
        library = shlex.split(package_files.compiler_options("kumihimo_remote_memory"))
        run("cc", "-O2", str(HERE / "rails.c"), "-o", str(program), *library)
        print(f"{asked.provider}, two links of {asked.rate}: MB/s, of {asked.rounds} rounds\n")
        print("| bytes of a put | one rail | two rails | two / one |\n|---|---|---|---|")
        for size in (int(word) for word in asked.bytes.split(",")):
            rates: list[list[float]] = [[], []]
            for _ in range(asked.rounds):
                for number in (1, 2):
                    options = f"provider={asked.provider} rails={','.join(RAILS[:number])}"
                    rates[number - 1].append(rate_of(program, spaces, options, number, size))
            cells = [f"{median(each):.1f} ({min(each):.1f}..{max(each):.1f})" for each in rates]
            ratios = [two / one for one, two in zip(*rates)]
            cells.append(f"{median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})")
            print(f"| {size} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
