#!/usr/bin/env python3
"""The model of cache misses of band blocking (band_misses.py): lines that a rank fetches for a band.

    .venv/bin/python bench/fft/misses.py [--sizes 16,32,64] [--ranks 4] [--sharing 2] [--bands 32]
                                         [--at-once 1,2,4,8,16] [--caches 512,1024,2048]

`--caches`: KiB of a processor's cache."""

from __future__ import annotations

import argparse

from band_misses import BandBlocking, misses_of_a_band


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--sizes", default="16,32,64")
    words.add_argument("--ranks", type=int, default=4)
    words.add_argument("--sharing", type=int, default=2, help="ranks of a processor")
    words.add_argument("--bands", type=int, default=32)
    words.add_argument("--at-once", default="1,2,4,8,16")
    words.add_argument("--caches", default="512,1024,2048")
    asked = words.parse_args()
    blocks = [int(word) for word in asked.at_once.split(",")]
    print(row("size", "cache, KiB", *(f"{each} at once" for each in blocks)))
    print(row(*["---"] * (2 + len(blocks))))
    for size in map(int, asked.sizes.split(",")):
        for cache in map(int, asked.caches.split(",")):
            blocked = [BandBlocking(size**3, asked.ranks, asked.sharing, asked.bands, each) for each in blocks]
            print(row(str(size), str(cache), *(f"{misses_of_a_band(each, cache << 10):.0f}" for each in blocked)))


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
