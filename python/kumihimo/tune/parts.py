"""How the time of a tuning is divided. Without --export the guidelines have their tenth and our own search the rest.
With it each number of ranks has an equal part of what is left: our own search at most its half, and the library's own
algorithms all that is left then. What this leaves at the end goes to what our own search had no time for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kumihimo.tune.first_page import OWN_SHARE, FirstPage, Look
from kumihimo.tune.targets import Target
from kumihimo.tune.tuner import Outcome, Tuner


def outcomes(
    work: Tuner, look: Look, targets: Sequence[Target], export: Path | None, page: FirstPage
) -> Iterator[Outcome]:
    """Of the targets, one after another, a later one of the same target in place of the earlier; fills the page."""
    ranks = list(dict.fromkeys(target.ranks for target in targets))
    if export is None:
        look.first_page(ranks, page)
        yield from work.tune(targets, look.sizes)
        return
    cut: list[Target] = []
    for place, number in enumerate(ranks):
        began, share = look.clock.spent, look.clock.left / (len(ranks) - place)
        here = [target for target in targets if target.ranks == number]
        for outcome in work.tune(here, look.sizes, OWN_SHARE * share):
            cut += [] if outcome.whole or outcome.again else [outcome.target]
            yield outcome
        if work.launches.interrupted:
            return
        look.export(place, ranks, export, share - (look.clock.spent - began), page)
    if cut and look.clock.left > 0:
        yield from work.tune(cut, look.sizes)
