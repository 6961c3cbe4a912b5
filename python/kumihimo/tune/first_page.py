"""What a report of tuning begins with: where the MPI library's own does worse than it could by itself, and, where it is
wanted, files that tell the library what it should do instead (kumihimo.library)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from kumihimo import library, mpi
from kumihimo.errors import Failed, NotApplicable, OutOfTime
from kumihimo.library.algorithms import COLLECTIVES, DEFAULT, Algorithm, Catalogue
from kumihimo.library.guidelines import Violation, violations
from kumihimo.library.measure import Effort, Row, Table, measure
from kumihimo.library.tell import Asking
from kumihimo.tune import search
from kumihimo.tune.journal import Journal
from kumihimo.tune.judging import LEAST_LAUNCHES
from kumihimo.tune.launches import LEAST_SECONDS, Clock

GUIDELINES_SHARE, EXPORT_SHARE = 0.1, 0.5  # of the budget
EXPORT_MEASURING = 0.9  # of its share; the rest is to see whether the library obeys
LONGEST_BYTES = 2**20  # longer vectors would take most of the time
CASE_SECONDS = 0.003


@dataclass
class FirstPage:
    """`exports`: what became of each file, a list of lines; `disobeyed`: those that the library here did not follow;
    `lacking`: what there was no time for."""

    violations: list[dict] = field(default_factory=list)
    exports: list[list[str]] = field(default_factory=list)
    disobeyed: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)

    def take(self, ranks: int, found: Iterable[Violation]) -> None:
        self.violations += [{"ranks": ranks, **asdict(v), "text": v.line()} for v in found]


@dataclass
class Look:
    """How the library is looked at: within its shares of the clock's time."""

    installation: mpi.Installation
    sizes: Sequence[int]
    clock: Clock
    journal: Journal
    step: Callable[[str], None]

    def first_page(self, ranks: Sequence[int], export: Path | None) -> FirstPage:
        page = FirstPage()
        end = self.clock.spent + self.clock.seconds * (EXPORT_SHARE if export else GUIDELINES_SHARE)
        for place, number in enumerate(ranks):
            asking = self.asking(number, (end - self.clock.spent) / (len(ranks) - place))
            folder = export if export is None or len(ranks) == 1 else export / f"{number}-ranks"
            try:
                if folder is None:
                    page.take(number, self.violations(asking))
                else:
                    self.export(asking, folder, page)
            except OutOfTime:
                what = "the performance guidelines" if folder is None else "--export"
                page.lacking.append(f"no time for {what} on {number} ranks; a larger --budget has some")
            except (NotApplicable, Failed) as reason:
                page.lacking.append(str(reason))
        return page

    def asking(self, ranks: int, seconds: float) -> Asking:
        end = self.clock.spent + seconds

        def step(what: str) -> None:
            if self.clock.spent > end:
                raise OutOfTime(f"time for {what}", "none")
            self.step(what)

        sizes = search.coarse([size for size in self.sizes if size <= LONGEST_BYTES] or self.sizes[:1])
        return Asking(
            self.installation,
            ranks,
            sizes,
            seconds=max(LEAST_SECONDS, seconds),
            step=step,
            left=lambda: max(LEAST_SECONDS, end - self.clock.spent),
            memory=self.journal,
        )

    def violations(self, asking: Asking) -> list[Violation]:
        """Of the library's default."""
        key = {"guidelines": asking.ranks, "bytes": list(asking.sizes)}
        known = self.journal.finished(key)
        if known is None:
            found = violations(joined([default_table(asking, number) for number in range(LEAST_LAUNCHES)]))
            known = {"violations": [asdict(violation) for violation in found]}
            self.journal.finish(key, known)
        return [Violation(**violation) for violation in known["violations"]]

    def export(self, asking: Asking, folder: Path, page: FirstPage) -> None:
        """All of the library's algorithms, and the files made of them."""
        effort = Effort(LEAST_LAUNCHES, CASE_SECONDS, seconds=EXPORT_MEASURING * asking.seconds)
        learnt = library.learn(asking, effort)
        page.take(asking.ranks, learnt.violations)
        written = library.export(learnt, folder)
        page.exports += [each.lines() for each in written]
        page.disobeyed += [str(each.path) for each in written if each.disobeyed]
        if not written:
            page.exports.append([f"{asking.ranks} ranks: nothing to tell the library, its default is best everywhere"])


def default_table(asking: Asking, number: int) -> Table:
    """One launch of what the library does by itself, with all that the guidelines compare."""
    own = Catalogue(asking.installation.family, "", {name: (Algorithm(name, DEFAULT),) for name in COLLECTIVES})
    numbered = replace(asking, step=lambda what: asking.step(f"performance guidelines: launch {number + 1}"))
    return measure(numbered, own, {}, Effort(launches=1, case_seconds=CASE_SECONDS, seed=number))


def joined(launches: Iterable[Table]) -> Table:
    """Tables of one launch each as one of several."""
    samples: dict[tuple[str, str, int], tuple[float, ...]] = {}
    ranks = 0
    for table in launches:
        ranks = table.ranks
        for row in table.rows:
            key = (row.call, row.algorithm, row.bytes)
            samples[key] = (*samples.get(key, ()), *row.launches)
    return Table(ranks, [Row(*key, seconds) for key, seconds in samples.items()])
