#!/usr/bin/env python3
"""Band blocking: the time of a band if several are exchanged at once, over its time one at a time.

    .venv/bin/python bench/fft/bands.py [--sizes 16,32,64,96,128] [--bands 32] [--ranks 4] [--turns 5]
                                        [--variants packed,fused,window] [--at-once 1,2,4,8,16] [--exchange linear]
                                        [--cutoffs none,sphere] [--no-check]

One launch for each size, of whole grids and of spheres, and one of variants that exchange by --exchange; candidates
take turns in it. A row has the median over the turns of each ratio to one band at once of the same turn, with its 95 %
interval, and the fastest of the row in milliseconds a band. Sizes whose grids would take more than --gib of memory have
fewer bands."""

from __future__ import annotations

import argparse
from statistics import median

from kumihimo import _measure
from kumihimo.app import catalogue, launches
from kumihimo.app.catalogue import AppCandidate
from kumihimo.app.fft_question import BY_MESSAGES


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--sizes", default="16,32,64,96,128")
    words.add_argument("--bands", type=int, default=32)
    words.add_argument("--ranks", type=int, default=4)
    words.add_argument("--turns", type=int, default=5)
    words.add_argument("--variants", default="packed,fused,window")
    words.add_argument("--at-once", default="1,2,4,8,16")
    words.add_argument("--exchange", default="linear")
    words.add_argument("--cutoffs", default="none,sphere")
    words.add_argument("--gib", type=float, default=3)
    words.add_argument("--no-check", action="store_true", help="of answers, which takes longer than short transforms")
    asked = words.parse_args()
    blocks = [int(word) for word in asked.at_once.split(",")]
    for cutoff in asked.cutoffs.split(","):
        print(f"\n## {'Spheres' if cutoff == 'sphere' else 'Whole grids'} on {asked.ranks} ranks, {asked.exchange}\n")
        print(row("size", "bands", "variant", *(f"{each} at once" for each in blocks), "fastest, ms a band"))
        print(row(*["---"] * (4 + len(blocks))))
        for size in asked.sizes.split(","):
            table(size, cutoff, blocks, asked)


def table(size: str, cutoff: str, blocks: list[int], asked: argparse.Namespace) -> None:
    most = asked.gib * 2**30 / (3 * 16 * int(size) ** 3)
    bands = max(max(blocks), min(asked.bands, int(most)))
    application = catalogue.find("fft3d")
    settings = {"bands": str(bands), "transforms": str(max(2, 64 // int(size))), "cutoff": cutoff}
    variants = [each for each in asked.variants.split(",") if (cutoff, each) != ("sphere", "packed")]
    resources = launches.Resources(asked.ranks, 1, launches.installation_of(None, None, [asked.ranks]))
    seconds: dict[tuple[str, int], list[float]] = {}
    for by_messages, exchange in ((True, asked.exchange), (False, "auto")):
        some = [each for each in variants if (each in BY_MESSAGES) == by_messages]
        candidates = [
            AppCandidate(each, tuple(sorted({**application.defaults(each), "at_once": n}.items())))
            for each in some
            for n in blocks
        ]
        if not candidates:
            continue
        options = catalogue.options_in(application, {**settings, "exchange": exchange})
        problem = launches.AppProblem(application, size, options, "")
        checks = not asked.no_check
        for found in launches.run(problem, candidates, resources, turns=asked.turns, check=checks).results:
            if "not_applicable" in found or (checks and not found["checked"]["right"]):
                raise SystemExit(f"bands.py: {found}")
            key = (found["variant"], found["parameters"]["at_once"])
            seconds.setdefault(key, []).append(found["facts"]["seconds of a transform"])
    for each in variants:
        cells = []
        for n in blocks:
            ratio = _measure.compare(list(zip(seconds[each, n], seconds[each, blocks[0]])))
            cells.append(f"{ratio.ratio:.2f} ({ratio.ratio_low:.2f} to {ratio.ratio_high:.2f})")
        fastest = min(median(seconds[each, n]) for n in blocks)
        print(row(size, str(bands), f"`{each}`", *cells, f"{1e3 * fastest:.3f}"), flush=True)


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
