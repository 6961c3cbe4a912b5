"""All that is found out about the MPI library's own algorithms, and written in the forms that libraries read."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from kumihimo.text import files
from kumihimo.text.errors import OutOfTime
from kumihimo.tune.mpi_library.algorithms import Catalogue, catalogue
from kumihimo.tune.mpi_library.check import Baseline, LibraryCheck, Verdict, check
from kumihimo.tune.mpi_library.exports import fujitsu, mpich_json, openmpi_json, openmpi_rules, ucc
from kumihimo.tune.mpi_library.exports.rules import Export, Rules, rules_of
from kumihimo.tune.mpi_library.fingerprints import Reference, Setup, references
from kumihimo.tune.mpi_library.guidelines import Violation, violations
from kumihimo.tune.mpi_library.measure import Effort, LibraryTable, affordable, best, least_seconds, measure

UNPROVEN = ".unproven"  # at the end of the name of a file that the library was not seen to obey


@dataclass
class Results:
    """`chosen`: the best of the library's algorithms by collective and size; `violations` of its default."""

    setup: Setup
    catalogue: Catalogue
    reference: Reference
    table: LibraryTable
    chosen: dict[str, dict[int, str]] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    @property
    def rules(self) -> Rules:
        return rules_of(self.chosen, self.setup.ranks, self.catalogue)


@dataclass(frozen=True)
class WrittenFile:
    """A form that was written to `path`, and whether the library here obeyed it; no check where it cannot be run."""

    export: Export
    path: Path
    check: LibraryCheck | None = None

    @property
    def disobeyed(self) -> bool:
        return self.check is not None and self.check.verdict is Verdict.NOT_OBEYED

    def lines(self) -> list[str]:
        """How it is used, and what became of the check."""
        proof = self.check.line() if self.check else f"{self.export.form}: {self.export.note}"
        return [proof, *(f"  {line}" for line in self.export.usage(str(self.path)))]


class NoTime(OutOfTime):
    """There was none for the shortest measurement from which a file can be made: that takes about `needed` seconds."""

    def __init__(self, needed: float) -> None:
        super().__init__(f"about {needed:.0f} s for the library's own algorithms", "less")
        self.needed = needed


def tune(setup: Setup, effort: Effort | None = None) -> Results:
    """Fingerprints, measurements, the best, the guidelines. Of fewer sizes than were asked for where the time is short;
    raises NoTime where it is too short for one."""
    effort, began = effort or Effort(), time.monotonic()
    known = catalogue(setup.installation)
    known = replace(known, candidates={c: found for c, found in known.candidates.items() if c in setup.collectives})
    setup = replace(setup, sizes=affordable(setup, known, effort.seconds))
    try:
        reference = references(setup, known)
        left = effort.seconds - (time.monotonic() - began)
        table = measure(setup, known, reference, replace(effort, seconds=left))
    except OutOfTime:
        raise NoTime(least_seconds(setup, known)) from None
    setup = replace(setup, sizes=tuple(table.sizes))
    return Results(setup, known, reference, table, best(table, known.family), violations(table))


def exports(rules: Rules, known: Catalogue) -> list[Export]:
    """Every form that can hold these rules; those that this library reads come first."""
    found: list[Export | None] = []
    if known.family == "openmpi":
        version = version_of(known.version)
        if version >= openmpi_json.FIRST_VERSION:
            found.append(openmpi_json.write(rules))
        found.append(openmpi_rules.write(rules, openmpi_rules.version_for(version)))
        if version < openmpi_json.FIRST_VERSION:  # for a later one, which has the same numbers
            found.append(openmpi_json.write(rules))
    else:
        found.append(mpich_json.write(rules, known))
    found += [ucc.write(rules), fujitsu.write(rules)]
    return [export for export in found if export is not None]


def version_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def export(results: Results, folder: Path) -> list[WrittenFile]:
    """Writes every form that fits into the folder and checks those that the library here reads. None where the library
    is best left alone."""
    if default_is_best(results):
        return []
    files.check_folder(folder, "the folder of --export must be writable")
    return [write(results, each, folder) for each in exports(results.rules, results.catalogue)]


def write(results: Results, export_: Export, folder: Path) -> WrittenFile:
    """A form that the library here reads has its name only from when it was seen not to disobey."""
    path = files.real(folder) / export_.file_name
    text = export_.text.replace("THIS_FILE", str(path))
    found = None
    if export_.checkable:
        tried = path.with_name(path.name + UNPROVEN)
        files.write_whole(tried, text)
        try:
            results.setup.step(f"does the library obey {export_.file_name}?")
            found = check(Baseline(results.setup, results.catalogue, results.reference), results.rules, export_, tried)
        except OutOfTime as error:
            found = LibraryCheck(export_.form, unchecked=str(error))
        if found.verdict in (Verdict.NOT_OBEYED, Verdict.NOT_CHECKED):
            return WrittenFile(export_, tried, found)
        tried.unlink(missing_ok=True)
    files.write_whole(path, text)
    return WrittenFile(export_, path, found)


def default_is_best(results: Results) -> bool:
    """Whether the library's default is best everywhere, so that there is nothing to tell it."""
    return not any(rule.algorithm for rules in results.rules.by_collective.values() for rule in rules)
