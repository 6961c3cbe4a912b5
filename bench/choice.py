#!/usr/bin/env python3
"""What `--variant auto` costs and finds: the search for a quarter of the run's time beside that of --tune.

    .venv/bin/python bench/choice.py poisson3d --size 128 [--threads 2] [--set basis=6-31g] [--turns 5] [--beside NAME]

Prints a row of bench/results/choice.md: both choices, what each search took, what the run takes (a launch with the
check, as the command makes it), and the time of the first choice over that of the second by turns, by medians. Where
the whole search takes too long, --beside "eisenstat-rows colours=10" names what it chose before.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median

from kumihimo.app import brief_choice, catalogue, choice, launches
from kumihimo.app.catalogue import AppCandidate
from kumihimo.app.figures import key_of


def main() -> int:
    """Search both ways, compare by turns, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("application")
    parser.add_argument("--size")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--beside", help="a variant with its parameters, instead of the whole search")
    asked = parser.parse_args()
    application = catalogue.find(asked.application)
    settings = catalogue.options_in(application, catalogue.settings_of(asked.set))
    every = catalogue.every_candidate(application, catalogue.candidates(application, catalogue.AUTO, {}), {}, 1)
    size, method = asked.size or application.default_size, next(iter(application.methods), "")
    problem = launches.AppProblem(application, size, settings, method, most_iterations=application.most_iterations)
    resources = launches.Resources(1, asked.threads, None, seconds=7200)
    shares = catalogue.shares(application, size)

    in_order = brief_choice.in_order(every, application)
    brief = brief_choice.BriefSearch(problem, in_order, resources, shares).choose()
    run_seconds = launches.run(problem, [brief.chosen], resources, rates=True).seconds
    if asked.beside:
        whole, whole_seconds = candidate_of(asked.beside, application), None
    else:
        found = choice.search(problem, every, resources, next((share.size for share in shares), None))
        whole, whole_seconds = found.chosen, found.seconds
    cells = [
        " ".join([application.name, size, *asked.set]),
        f"`{brief.chosen.text}`",
        f"{brief.seconds:.2f}",
        f"{run_seconds:.2f}",
        f"{100 * brief.seconds / run_seconds:.0f} %",
        f"{sum(bool(row['predicted']) for row in brief.rows)} of {len(every)}",
        f"`{whole.text}`",
        "" if whole_seconds is None else f"{whole_seconds:.1f}",
        ratio_text(problem, [brief.chosen, whole], resources, asked.turns),
    ]
    print("| " + " | ".join(cells) + " |", flush=True)
    return 0


def candidate_of(text: str, application: catalogue.ApplicationRow) -> AppCandidate:
    name, *words = text.split()
    given = {key: int(value) for key, _, value in (word.partition("=") for word in words)}
    return AppCandidate(name, tuple(sorted({**application.defaults(name), **given}.items())))


def ratio_text(
    problem: launches.AppProblem, pair: list[AppCandidate], resources: launches.Resources, turns: int
) -> str:
    """Time of the first / of the second, by turns."""
    if pair[0] == pair[1]:
        return "1, the same"
    seconds: dict[tuple, list[float]] = {}
    for each in launches.run(problem, pair, resources, turns=turns, check=False).results:
        seconds.setdefault(key_of(each), []).append(each["seconds"])
    ours, theirs = (seconds[(each.variant, tuple(sorted(each.parameters)))] for each in pair)
    ratios = [mine / its for mine, its in zip(ours, theirs)]
    return f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


if __name__ == "__main__":
    sys.exit(main())
