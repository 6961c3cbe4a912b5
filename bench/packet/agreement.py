"""Where the models flow and packet must agree, and where papers count waiting links: tables of both.

    .venv/bin/python bench/packet/agreement.py [--largest]

`--largest`: also 9,216 nodes, which takes some 20 minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

KUMIHIMO = Path(sys.executable).parent / "kumihimo"
SHAPES = ("4x4x4", "8x4x8", "8x8x8", "16x8x8")  # 64 to 1,024 nodes
PACKET_BYTES = 2048
LINKS_ALONE = str(Path(__file__).parents[2] / "docs" / "links-alone.toml")
LEAST = 64  # packets of a step


def predicted(shape: str, size: str, algorithm: str, model: str, *words: str) -> dict:
    """An allreduce on the K computer."""
    asked = ("simulate", "allreduce", "-m", "k-computer", "-s", shape, "-b", size, "-a", algorithm, "--model", model)
    (only,) = run(*asked, *words)
    return only


def run(*words: str) -> list[dict]:
    ended = subprocess.run([KUMIHIMO, *words, "--json"], check=True, capture_output=True, text=True)
    return json.loads(ended.stdout)["results"]


def agreement() -> None:
    print("\n## Agreement with flow\n\n| shape | bytes | algorithm | flow | packet | packet / flow |")
    print("|---|---|---|---|---|---|")
    for shape in SHAPES:
        nodes = 1
        for length in shape.split("x"):
            nodes *= int(length)
        for algorithm in ("trinaryx3", "ring", "bucket"):
            mebibytes = LEAST * PACKET_BYTES * nodes // 2**20 if algorithm == "ring" else 8  # a step of a ring: a block
            size = f"{max(8, mebibytes)}MiB"
            flow, packet = (predicted(shape, size, algorithm, model)["seconds"] for model in ("flow", "packet"))
            ratio = packet / flow
            print(f"| {shape} | {size} | {algorithm} | {flow * 1e3:.3g} ms | {packet * 1e3:.3g} ms | {ratio:.3f} |")


def contention(shape: str, packet_bytes: int) -> None:
    print(f"\n## Links waited on, allreduce of 1 MiB on {shape}, packets of {packet_bytes} bytes\n")
    print(
        "| algorithm | flow: links | packet: links | packets that waited | packet / flow time |\n|---|---|---|---|---|"
    )
    for algorithm in ("trinaryx3", "recursive_doubling"):
        flow = predicted(shape, "1MiB", algorithm, "flow")
        packet = predicted(shape, "1MiB", algorithm, "packet", "--packet-bytes", str(packet_bytes))
        shares = (flow["links_waiting_share"], packet["links_waiting_share"], packet["packets_waiting_share"])
        cells = " | ".join(f"{100 * share:.3g} %" for share in shares)
        print(f"| {algorithm} | {cells} | {packet['seconds'] / flow['seconds']:.3f} |", flush=True)


def pacing(shape: str) -> None:
    """Of alltoalls on a torus whose links alone cost time."""
    print(f"\n## Alltoall of 64 KiB blocks on {shape}, links alone, packets of 512 bytes: share of the bound\n")
    print("| buffers | paced | without gaps | pairwise | all at once |\n|---|---|---|---|---|")
    for buffers in (4, 16):
        cells = []
        for words in (("paced",), ("paced", "--gap", "0"), ("pairwise",), ("linear",)):
            asked = (
                "simulate",
                "alltoall",
                "-m",
                LINKS_ALONE,
                "-s",
                shape,
                "-b",
                "64KiB",
                "--model",
                "packet",
                "-a",
                *words,
            )
            (found,) = run(*asked, "--packet-bytes", "512", "--buffer-packets", str(buffers))
            cells.append(f"{100 * found['bound_seconds'] / found['seconds']:.1f} %")
        print(f"| {buffers} packets | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", action="store_true")
    asked = parser.parse_args()
    agreement()
    contention("16x6x8", PACKET_BYTES)
    for shape in ("8x8", "9x9"):
        pacing(shape)
    if asked.largest:
        contention("48x6x32", 8192)


if __name__ == "__main__":
    main()
