#!/usr/bin/env python3
"""What `--variant auto` costs and finds on poisson3d, beside an exhaustive search.

    .venv/bin/python bench/sparse/choice.py [--size 64] [--threads 2] [--best 5] [--turns 7]

The exhaustive search solves the problem once with every candidate. Then the choice of `auto` and the best few of the
exhaustive search solve it by turns, and the ratio is that of the choice's time to the time of the fastest of them, by
medians. Cost: seconds of the search, of that of the exhaustive search. Both end with a solution, so both costs hold
the solves that find it.
"""

from __future__ import annotations

import argparse
import sys
import time
from statistics import median

from kumihimo.app import catalogue, choice, launches
from kumihimo.app.figures import key_of

METHOD = "cg"


def main() -> int:
    """Search both ways, compare by turns, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="64")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--best", type=int, default=5)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--without", default="", help="variants to leave out, e.g. amg")
    asked = parser.parse_args()
    application = catalogue.find("poisson3d")
    named = catalogue.candidates(application, catalogue.AUTO, {})
    among = [each for each in named if each.variant not in asked.without.split(",")]
    every = catalogue.every_candidate(application, among, {})
    problem = launches.Problem(application, asked.size, {}, METHOD)
    resources = launches.Resources(1, asked.threads, None, seconds=7200)
    smaller = catalogue.smaller_size(application, asked.size)
    found = choice.search(problem, every, resources, smaller)
    print(f"auto: {found.chosen.text}, {found.seconds:.1f} s of {len(every)} candidates", flush=True)

    start = time.monotonic()
    solved = [each for each in launches.run(problem, every, resources).results if "seconds" in each]
    exhaustive = time.monotonic() - start
    ascending = sorted(solved, key=lambda each: each["seconds"])
    best = [key_of(each) for each in ascending[: asked.best]]
    print(f"exhaustive: {exhaustive:.1f} s; auto took {100 * found.seconds / exhaustive:.1f} % of it", flush=True)

    key = (found.chosen.variant, tuple(sorted(found.chosen.parameters)))
    finalists = [each for each in every if (each.variant, tuple(sorted(each.parameters))) in {key, *best}]
    seconds: dict[tuple, list[float]] = {}
    for each in launches.run(problem, finalists, resources, turns=asked.turns).results:
        seconds.setdefault(key_of(each), []).append(each["seconds"])
    fastest = min(seconds, key=lambda one: median(seconds[one]))
    for one in sorted(seconds, key=lambda one: median(seconds[one])):
        low, high = min(seconds[one]), max(seconds[one])
        mark = "  <- auto" if one == key else ""
        print(f"{one[0]} {dict(one[1])}: {median(seconds[one]):.3f} s ({low:.3f}-{high:.3f}){mark}")
    ratios = [mine / its for mine, its in zip(seconds[key], seconds[fastest])]
    print(
        f"auto's choice / fastest: {median(ratios):.3f} ({min(ratios):.3f}-{max(ratios):.3f}) over {asked.turns} turns"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
