"""How the time of a tuning is divided. Without --export the guidelines have their tenth and our own search the rest.
With it each number of ranks has an equal part of what is left: our own search at most its half, and the library's own
algorithms all that is left then. What this leaves at the end goes to what our own search had no time for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kumihimo.tune.library_report import OWN_SHARE, LibraryReport, LibraryStudy
from kumihimo.tune.targets import Target
from kumihimo.tune.tuner import CollectiveTuner, TargetOutcome


def outcomes(
    work: CollectiveTuner, study: LibraryStudy, targets: Sequence[Target], export: Path | None, report: LibraryReport
) -> Iterator[TargetOutcome]:
    """Tunes the targets one after another, a later one of the same target in place of the earlier; fills the report."""
    ranks = list(dict.fromkeys(target.ranks for target in targets))
    if export is None:
        study.check_guidelines(ranks, report)
        yield from work.tune(targets, study.sizes)
        return
    cut: list[Target] = []
    for place, number in enumerate(ranks):
        began, share = study.clock.spent, study.clock.left / (len(ranks) - place)
        here = [target for target in targets if target.ranks == number]
        for outcome in work.tune(here, study.sizes, OWN_SHARE * share):
            cut += [] if outcome.whole or outcome.again else [outcome.target]
            yield outcome
        if work.launches.interrupted:
            return
        study.export(place, ranks, export, share - (study.clock.spent - began), report)
    if cut and study.clock.left > 0:
        yield from work.tune(cut, study.sizes)
