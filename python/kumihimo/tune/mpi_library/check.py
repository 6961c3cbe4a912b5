"""Checks that the library follows a rules file. Open MPI silently ignores one that it cannot read; MPICH ends the job.

The algorithms are told apart by fingerprints (bench_driver/fingerprint.hpp): each was forced by variables of the
environment, then the same calls are made under the file, and must show the marks of the algorithm that the file names.
Only marks that differ from those of the library's default prove anything; where none does, that is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from kumihimo.text.errors import Failed, OutOfTime
from kumihimo.tune.mpi_library.algorithms import AUTO, DEFAULT, Catalogue
from kumihimo.tune.mpi_library.exports.rules import FILE, LIBRARY, Export, Rules
from kumihimo.tune.mpi_library.fingerprints import Fingerprints, Marks, Reference, Setup, fingerprints_of


class Verdict(Enum):
    OBEYED = "obeyed"
    NOT_OBEYED = "not obeyed"
    NOT_PROVABLE = "not provable here"  # nothing tells the algorithm from the library's default
    NOT_CHECKED = "not checked"
    UNCHANGED = "unchanged"  # the file leaves it to the library, and the library's default ran

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Proof:
    collective: str
    bytes: int
    algorithm: str
    verdict: Verdict
    by: tuple[str, ...] = ()  # the marks that tell
    ran: str = ""  # where another ran: what it looks like


@dataclass
class LibraryCheck:
    form: str
    proofs: list[Proof] = field(default_factory=list)
    ended: str = ""  # where the library ended the job: its words
    unchecked: str = ""  # where there was no time to see: which

    @property
    def verdict(self) -> Verdict:
        seen = {proof.verdict for proof in self.proofs}
        if self.unchecked:
            return Verdict.NOT_CHECKED
        if self.ended or Verdict.NOT_OBEYED in seen:
            return Verdict.NOT_OBEYED
        return Verdict.OBEYED if Verdict.OBEYED in seen else Verdict.NOT_PROVABLE

    def line(self) -> str:
        if self.unchecked:
            return f"{self.form}: {Verdict.NOT_CHECKED}: {self.unchecked}"
        if self.ended:
            return f"{self.form}: {Verdict.NOT_OBEYED}: {self.ended}"
        wrong = [p for p in self.proofs if p.verdict is Verdict.NOT_OBEYED]
        if wrong:
            first = wrong[0]
            what = f"{first.collective} of {first.bytes} B should use {first.algorithm}"
            where = f"at {len(wrong)} of {len(self.proofs)} sizes"
            return f"{self.form}: {Verdict.NOT_OBEYED} {where}; {what} (ran {first.ran})"
        obeyed = sum(p.verdict is Verdict.OBEYED for p in self.proofs)
        hidden = sum(p.verdict is Verdict.NOT_PROVABLE for p in self.proofs)
        if not obeyed:
            why = "every algorithm in it looks like the library's default"
            return f"{self.form}: {Verdict.NOT_PROVABLE}: {why}"
        rest = f", {hidden} look like the library's default" if hidden else ""
        return f"{self.form}: {Verdict.OBEYED}: the library ran {obeyed} of the choices{rest}"


@dataclass(frozen=True)
class Baseline:
    """Reference of a check: the library, and the fingerprints of its algorithms."""

    setup: Setup
    catalogue: Catalogue
    reference: Reference


def check(baseline: Baseline, rules: Rules, export: Export, path: Path) -> LibraryCheck:
    """Runs the library under the file at `path`, as the export's settings say, and compares."""
    settings = {name: value.replace(FILE, str(path)) for name, value in export.settings}
    try:
        found = fingerprints_of(baseline.setup, settings, tuple(baseline.catalogue.candidates))
    except OutOfTime as error:
        return LibraryCheck(export.form, unchecked=str(error))
    except Failed as error:
        return LibraryCheck(export.form, ended=str(error))
    return LibraryCheck(export.form, list(compared(baseline.catalogue.family, rules, baseline.reference, found)))


def compared(family: str, rules: Rules, reference: Reference, found: Fingerprints):
    for collective, size in found.refused:
        algorithm = rules.at(collective, size)
        name = DEFAULT if algorithm is LIBRARY else algorithm.name
        yield Proof(collective, size, name, Verdict.NOT_OBEYED, (), "none: the library refused the call")
    for (collective, size), seen in found.marks.items():
        algorithm = rules.at(collective, size)
        untouched = default_under(family, rules, collective)
        default = reference.get((collective, untouched, size), {})
        if algorithm is LIBRARY:
            yield unchanged(collective, size, default, seen)
            continue
        wanted = reference.get((collective, algorithm.name, size), {})
        yield proof_of((collective, size, algorithm.name), wanted, default, seen, reference)


def default_under(family: str, rules: Rules, collective: str) -> str:
    """The algorithm that the library uses at sizes that the file leaves to it: MPICH's device is aside."""
    touched = any(rule.algorithm is not LIBRARY for rule in rules.by_collective.get(collective, ()))
    return AUTO if family == "mpich" and touched else DEFAULT


def unchanged(collective: str, size: int, default: Marks, seen: Marks) -> Proof:
    different = tuple(name for name in default if name in seen and seen[name] != default[name])
    verdict = Verdict.NOT_OBEYED if different else Verdict.UNCHANGED
    return Proof(collective, size, DEFAULT, verdict, different, "another" if different else "")


def proof_of(what: tuple[str, int, str], wanted: Marks, default: Marks, seen: Marks, reference: Reference) -> Proof:
    collective, size, _ = what
    marks_that_differ = tuple(name for name in wanted if name in seen and wanted[name] != default.get(name))
    if all(seen[name] == wanted[name] for name in wanted if name in seen):
        return Proof(*what, Verdict.OBEYED if marks_that_differ else Verdict.NOT_PROVABLE, marks_that_differ)
    return Proof(*what, Verdict.NOT_OBEYED, marks_that_differ, looks_like(collective, size, seen, reference))


def looks_like(collective: str, size: int, seen: Marks, reference: Mapping) -> str:
    """The algorithms whose marks these are."""
    names = [
        name
        for (called, name, bytes_), marks in reference.items()
        if (called, bytes_) == (collective, size) and all(marks.get(mark) == value for mark, value in seen.items())
    ]
    return " or ".join(names) if names else "none that is known"
