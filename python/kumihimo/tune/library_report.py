"""Report of `tune` about the MPI library's own algorithms: the performance guidelines that they miss, and with --export
files that make the library choose better (kumihimo.tune.mpi_library). It is measured after our own search, in the time
left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path

from kumihimo.processes import mpi
from kumihimo.text.errors import Failed, NotApplicable, OutOfTime
from kumihimo.text.json_types import JsonObject
from kumihimo.text.sizes import text_of
from kumihimo.tune import mpi_library, search
from kumihimo.tune.bench.nodes import OtherNodes, RealNodes, real_nodes
from kumihimo.tune.final_comparison import LEAST_LAUNCHES
from kumihimo.tune.journal import Journal
from kumihimo.tune.launches import LEAST_SECONDS, BudgetClock
from kumihimo.tune.mpi_library.algorithms import COLLECTIVES, DEFAULT, Algorithm, Catalogue
from kumihimo.tune.mpi_library.fingerprints import Setup
from kumihimo.tune.mpi_library.guidelines import Violation, violations
from kumihimo.tune.mpi_library.measure import LibraryRow, LibraryTable, MeasuringEffort, measure

GUIDELINES_SHARE = 0.1  # of the budget
OWN_SHARE = 0.5  # beside --export, which has what our own search leaves: at most, of the time of a number of ranks
EXPORT_MEASURING = 0.9  # of its share; the rest is to see whether the library obeys
LONGEST_BYTES = 2**20  # longer vectors would take most of the time
CASE_SECONDS = 0.003
MORE = "give a larger --budget"


@dataclass
class LibraryReport:
    """`exports`: what became of each file, a list of lines; `disobeyed`: those that the library here did not follow;
    `lacking`: what there was no time for, and `undelivered` which of it was asked for by --export."""

    violations: list[JsonObject] = field(default_factory=list)
    exports: list[list[str]] = field(default_factory=list)
    disobeyed: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    undelivered: list[str] = field(default_factory=list)

    def add_violations(self, ranks: int, found: Iterable[Violation]) -> None:
        self.violations += [{"ranks": ranks, **asdict(v), "text": v.line()} for v in found]

    def add_files(
        self, ranks: int, asked: Sequence[int], results: mpi_library.Results, written: Sequence[mpi_library.WrittenFile]
    ) -> None:
        """The files that were written, and the sizes that there was no time for."""
        self.exports += [each.lines() for each in written]
        self.disobeyed += [str(each.path) for each in written if each.disobeyed]
        if not written:
            self.exports.append([f"{ranks} ranks: no file, because the library's default is best at every size"])
        measured = results.setup.sizes
        if len(measured) < len(asked):
            these = ", ".join(text_of(size) for size in measured)
            self.lacking.append(
                f"--export on {ranks} ranks measured {len(measured)} of {len(asked)} sizes ({these}); {MORE}"
            )


@dataclass
class LibraryStudy:
    """Measures the library, within its shares of the budget."""

    installation: mpi.Installation
    sizes: Sequence[int]
    clock: BudgetClock
    journal: Journal
    step: Callable[[str], None]
    collectives: Sequence[str] = COLLECTIVES  # whose algorithms are exported
    launch_seconds: Callable[[], float] = lambda: LEAST_SECONDS  # of a launch that measures nothing
    nodes: Mapping[int, RealNodes | None] = field(default_factory=dict)  # the real ones of each number of ranks

    def check_guidelines(self, ranks: Sequence[int], report: LibraryReport) -> None:
        """The guidelines alone, in their share."""
        end = self.clock.spent + self.clock.seconds * GUIDELINES_SHARE
        for place, number in enumerate(ranks):
            try:
                report.add_violations(
                    number, self.violations(self.setup(number, (end - self.clock.spent) / (len(ranks) - place)))
                )
            except OutOfTime:
                report.lacking.append(f"no time for the performance guidelines on {number} ranks; {MORE}")
            except (NotApplicable, Failed) as reason:
                report.lacking.append(str(reason))

    def export(self, place: int, ranks: Sequence[int], folder: Path, seconds: float, report: LibraryReport) -> None:
        """On the number of ranks at this place of all, within so many seconds: files, and the guidelines, which are of
        the same launches."""
        number, results = ranks[place], None
        try:
            setup = self.setup(number, seconds)
            effort = MeasuringEffort(LEAST_LAUNCHES, CASE_SECONDS, seconds=EXPORT_MEASURING * setup.seconds)
            results = mpi_library.tune(setup, effort)
            report.add_violations(number, results.violations)
            written = mpi_library.export(results, folder if len(ranks) == 1 else folder / f"{number}-ranks")
            report.add_files(number, setup.sizes, results, written)
        except (OutOfTime, NotApplicable, Failed) as reason:
            why = str(reason)
            if isinstance(reason, mpi_library.NoTime):
                budget = 5 * ceil(reason.needed / EXPORT_MEASURING / (1 - OWN_SHARE) * len(ranks) / 5)
                why = f"no time for --export on {number} ranks; give a --budget of about {budget}s (the same command"
                why += " continues)"
            report.lacking.append(why)
            report.undelivered.append(why)
            if results is None:
                report.lacking.append(
                    f"no performance guidelines on {number} ranks: they need the measurements of --export"
                )

    def setup(self, ranks: int, seconds: float) -> Setup:
        end = self.clock.spent + seconds

        def step(what: str) -> None:
            if self.clock.spent > end:
                raise OutOfTime(f"no time for {what}")
            self.step(what)

        nodes = self.nodes.get(ranks)
        sizes = search.coarse([size for size in self.sizes if size <= LONGEST_BYTES] or self.sizes[:1])
        return Setup(
            self.installation,
            ranks,
            sizes,
            self.collectives,
            seconds=max(LEAST_SECONDS, seconds),
            step=step,
            left=lambda: max(LEAST_SECONDS, end - self.clock.spent),
            memory=MemoryOfNodes(self.journal, nodes) if nodes else self.journal,
            launch_seconds=self.launch_seconds(),
        )

    def violations(self, setup: Setup) -> list[Violation]:
        """Guidelines that the library's default violates."""
        key = {"guidelines": setup.ranks, "bytes": list(setup.sizes)}
        memory = setup.memory
        assert memory is not None, "setup() gives one"
        known = memory.finished(key)
        if known is None:
            tables = [self.default_table(setup, number) for number in range(LEAST_LAUNCHES)]
            found = violations(joined(tables))
            known = {"violations": [asdict(violation) for violation in found]}
            memory.finish(key, known)
        return [Violation(**violation) for violation in known["violations"]]

    def default_table(self, setup: Setup, number: int) -> LibraryTable:
        """One launch of what the library does by itself, with all that the guidelines compare."""
        own = Catalogue(setup.installation.family, "", {name: (Algorithm(name, DEFAULT),) for name in COLLECTIVES})
        numbered = replace(setup, step=lambda what: setup.step(f"performance guidelines: launch {number + 1}"))
        table = measure(numbered, own, {}, MeasuringEffort(launches=1, case_seconds=CASE_SECONDS, seed=number))
        if self.nodes.get(setup.ranks) != real_nodes(table.about):
            raise OtherNodes(self.nodes.get(setup.ranks), real_nodes(table.about))
        return table


@dataclass(frozen=True)
class MemoryOfNodes:
    """Memory of launches on several nodes, apart from launches on one (library.fingerprints.Memory)."""

    journal: Journal
    nodes: RealNodes

    def finished(self, target: JsonObject) -> JsonObject | None:
        return self.journal.finished({**target, "on": self.nodes.key})

    def finish(self, target: JsonObject, outcome: JsonObject) -> None:
        self.journal.finish({**target, "on": self.nodes.key}, outcome)


def joined(launches: Iterable[LibraryTable]) -> LibraryTable:
    """Tables of one launch each as one of several."""
    samples: dict[tuple[str, str, int], tuple[float, ...]] = {}
    ranks = 0
    for table in launches:
        ranks = table.ranks
        for row in table.rows:
            key = (row.call, row.algorithm, row.bytes)
            samples[key] = (*samples.get(key, ()), *row.launches)
    return LibraryTable(ranks, [LibraryRow(*key, seconds) for key, seconds in samples.items()])
