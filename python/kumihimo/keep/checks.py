"""Judges asserts by what a verb found: the one place that brings both together, for all verbs."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path

from kumihimo.keep import judge, observed
from kumihimo.keep.assertions import (
    ALL,
    BOUND,
    EARLIER,
    GOLDEN,
    LIBRARY,
    MEDIAN,
    MPI,
    PREDICTED,
    RATE,
    RATIO,
    REGION,
    ROOFS,
    SECONDS,
    SHARE,
    WAITING,
    WHOLE,
    PerformanceAssert,
)
from kumihimo.keep.judge import CANNOT_TELL, MISSED, Estimate
from kumihimo.keep.observed import ObservedRow
from kumihimo.text.errors import BadInput, did_you_mean, missing, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted, seconds_text, share_text

UNREADABLE = "unreadable"

Roof = Callable[[str], float]  # the measured rate of a node by its name, triad or peak


@dataclass
class AssertVerdict:
    """`verdict`: MET, MISSED, CANNOT_TELL or UNREADABLE. `why`: of what cannot be read. `expected` and `found`: as
    people read them. `ratio`: what was found over what was asserted, above 1 if it is missed."""

    asserted: str
    subject: str
    verdict: str
    expected: str = ""
    found: str = ""
    why: str = ""
    ratio: Estimate | None = None
    runs: int = 0
    passages: int = 0
    file: str = ""
    line: int = 0

    @property
    def sentence(self) -> str:
        what = f"{self.subject}: {self.asserted}"
        if self.verdict == UNREADABLE:
            return f"{self.verdict}: {what}: {self.why}"
        if self.verdict == CANNOT_TELL:
            return f"{self.verdict} with {counted(self.runs, 'run')}: {what}: found {self.found}"
        return f"{self.verdict}: {what}: found {self.found}"

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""

    def as_object(self) -> JsonObject:
        ratio = self.ratio
        if ratio is not None and not all(map(isfinite, (ratio.value, ratio.low, ratio.high))):
            ratio = None
        return {
            "assert": self.asserted,
            "subject": self.subject,
            "verdict": self.verdict,
            "expected": self.expected or None,
            "found": self.found or None,
            "reason": self.why or None,
            "ratio": ratio.value if ratio else None,
            "ratio_low": ratio.low if ratio else None,
            "ratio_high": ratio.high if ratio else None,
            "runs": self.runs,
            "passages": self.passages,
            "file": self.file or None,
            "line": self.line or None,
        }


@dataclass
class References:
    """References of asserts beside the run: rows of files by EARLIER, PREDICTED and GOLDEN, and measured roofs."""

    rows: Mapping[str, Sequence[ObservedRow]] = field(default_factory=dict)
    roof: Roof | None = None

    @staticmethod
    def of_files(paths: Mapping[str, Path], roof: Roof | None = None) -> References:
        named = (PREDICTED, EARLIER, GOLDEN)
        return References({name: observed.rows_in(path) for name, path in paths.items() if name in named}, roof)

    def estimate(self, name: str, row: ObservedRow, share: float, figure: str = SECONDS) -> Estimate:
        """The seconds of the same thing, or another figure. BadInput: there is none."""
        if name in row.references and figure == SECONDS:
            return row.references[name]
        if name not in self.rows:
            what = {LIBRARY: "the time of the MPI library", BOUND: "the bound"}.get(name)
            if what:
                raise wrong_value(f"{what} is known of results of bench and app alone", row.key or "the whole run")
            raise missing(f"the file of `{name}`", f'write {name} = "FILE.json" under [references]')
        every = [each for each in self.rows[name] if figure in each.figures]
        same = [each for each in every if (each.subject, each.name) == (row.subject, row.name)]
        same = [each for each in same if each.group == row.group] or same
        if not same and name == PREDICTED and len(every) == 1:
            same = every
        if not same:
            raise wrong_value(
                f"the file of `{name}` must have {row.key or 'the whole run'}",
                f"{', '.join(each.key for each in every[:5]) or f'no {words_of(figure)}'}",
            )
        return same[0].figures[figure].estimate(share)


def verdicts(
    asserts: Sequence[PerformanceAssert], rows: Sequence[ObservedRow], references: References
) -> list[AssertVerdict]:
    """Verdicts of each assert, for each row that it names."""
    return [found for each in asserts for found in of_assert(each, rows, references)]


def of_assert(
    asserted: PerformanceAssert, rows: Sequence[ObservedRow], references: References
) -> Iterator[AssertVerdict]:
    of_subject = [row for row in rows if row.subject == asserted.subject]
    named = [row for row in of_subject if asserted.name in (row.name, row.key)] or [
        row for row in of_subject if matches(asserted.name, row)
    ]
    for row in named:
        try:
            yield judged(asserted, row, references)
        except BadInput as error:
            yield unreadable(asserted, row.key or "whole run", str(error), row)
    if named:
        return
    known = [row.name for row in of_subject]
    what = " ".join(filter(None, (asserted.subject, asserted.name)))
    why = f"there is no {asserted.subject} named {asserted.name}"
    advice = did_you_mean(asserted.name, known, f"there are {', '.join(known[:5])}" if known else "there is none")
    if asserted.subject == WHOLE:
        what, why, advice = "whole run", "the results have rows, and nothing of the whole run", 'name a [row."..."]'
    yield unreadable(asserted, what, f"{why}; {advice}")


def matches(pattern: str, row: ObservedRow) -> bool:
    """`simd*`, as names of files in a shell."""
    return any(fnmatch.fnmatchcase(name, pattern) for name in (row.name, row.key))


def unreadable(asserted: PerformanceAssert, subject: str, why: str, row: ObservedRow | None = None) -> AssertVerdict:
    file, line = (row.file, row.line) if row else ("", 0)
    return AssertVerdict(asserted.text, subject, UNREADABLE, why=why, file=file, line=line)


def judged(asserted: PerformanceAssert, row: ObservedRow, references: References) -> AssertVerdict:
    """BadInput: the row lacks what the assert is about."""
    name = {SHARE: SECONDS, RATE: SECONDS}.get(asserted.quantity, asserted.quantity)
    if asserted.quantity == RATE and not asserted.work:
        return judged_rate(asserted, row, references)
    figure = row.figures.get(name)
    if figure is None:
        raise BadInput(lacking(name, row))
    found = figure.estimate(asserted.share)
    if asserted.quantity in (WAITING, MPI):
        found = replace(found, high=min(found.high, max(found.value, 1.0)))
    bound = bound_of(asserted, row, references)
    if asserted.of in (GOLDEN, LIBRARY, PREDICTED, EARLIER):
        paired = row.figures.get(RATIO) if asserted.of == LIBRARY else None
        measured = references.estimate(asserted.of, row, asserted.share)
        ratio = paired.estimate(asserted.share) if paired else found.over(measured)
        text = f"{number_text(ratio)} of {asserted.of}, {interval_text(found, seconds_text)}"
    else:
        ratio = found
        text = found_text(asserted, found, bound)
    return verdict_of(asserted, row, found, ratio, bound, text)


def judged_rate(asserted: PerformanceAssert, row: ObservedRow, references: References) -> AssertVerdict:
    """Verdict on a rate that the command gives: the time for one unit is judged, as less of it is better."""
    name = next((each for each in row.figures if observed.is_rate(each)), None)
    if name is None:
        known = ", ".join(row.figures)
        raise BadInput(
            f"{row.key or 'the whole run'} has no rate of its own, but {known}", "add bytes = 1e9, of a passage"
        )
    unit = observed.unit_of(name)
    rate = row.figures[name].estimate(asserted.share)
    found = inverse(rate, 1 / unit)
    text = f"{number_text(inverse(found, 1.0))} {words_of(name)}"
    if asserted.of:
        measured = references.estimate(asserted.of, row, asserted.share, name)
        found = found.over(inverse(measured, 1 / unit))
        text = f"{number_text(inverse(found, 1.0))} of {asserted.of}, {text}"
    return verdict_of(asserted, row, rate, found, 1 / asserted.number, text)


def verdict_of(
    asserted: PerformanceAssert, row: ObservedRow, found: Estimate, ratio: Estimate, bound: float, text: str
) -> AssertVerdict:
    return AssertVerdict(
        asserted.text,
        row.key or "whole run",
        judge.verdict(ratio, bound),
        expected=asserted.text,
        found=text + of_passages(asserted, found),
        ratio=ratio.over(Estimate.exactly(bound)),
        runs=found.runs,
        passages=found.passages,
        file=row.file,
        line=row.line,
    )


def lacking(name: str, row: ObservedRow) -> str:
    if name == WAITING:
        return "waiting is separated in collectives whose ranks all called MPI_Finalize, and here in none"
    if row.subject == REGION and name == SECONDS:
        return "no passage of the region ended"
    known = ", ".join(row.figures)
    return f"{name} is not known of {row.key or 'the whole run'}, which has {known or 'no figure'}"


def bound_of(asserted: PerformanceAssert, row: ObservedRow, references: References) -> float:
    """The most that the figure may be."""
    if asserted.quantity == RATE:
        return asserted.work / asserted.number
    if asserted.quantity != SHARE:
        return asserted.number
    if asserted.of == BOUND:
        return references.estimate(BOUND, row, asserted.share).value / asserted.number
    if asserted.of in ROOFS:
        if references.roof is None:
            raise missing(f"the rate `{asserted.of}`", 'write roofs = "FILE.json" under [references]')
        return asserted.work * row.ranks_of_node / (asserted.number * references.roof(asserted.of))
    return asserted.work / (asserted.number * asserted.roof)


# --- words


def found_text(asserted: PerformanceAssert, found: Estimate, bound: float) -> str:
    if asserted.quantity in (WAITING, MPI):
        return interval_text(found, share_text)
    if asserted.quantity == RATE:
        return interval_text(inverse(found, asserted.work), lambda rate: f"{rate:.3g}") + f" {asserted.unit} a second"
    if asserted.quantity == SHARE:
        return interval_text(inverse(found, asserted.number * bound), lambda value: f"{value:.3g}")
    if asserted.quantity == RATIO:
        return interval_text(found, lambda value: f"{value:.3g}")
    return interval_text(found, seconds_text)


def words_of(figure: str) -> str:
    """`bytes_per_second`: bytes a second."""
    if figure.endswith("gflops"):
        return "operations a second"
    return figure.replace("_per_second", " a second").replace("per_second", "a second")


def inverse(found: Estimate, work: float) -> Estimate:
    def rate(seconds: float) -> float:
        return work / seconds if seconds > 0 else float("inf")

    return Estimate(rate(found.value), rate(found.high), rate(found.low), found.runs, found.passages)


def interval_text(found: Estimate, text: Callable[[float], str]) -> str:
    if found.low == found.high:
        return text(found.value)
    return f"{text(found.value)} ({text(found.low)} to {text(found.high)})"


def number_text(found: Estimate) -> str:
    return interval_text(found, lambda value: f"{value:.3g}")


def of_passages(asserted: PerformanceAssert, found: Estimate) -> str:
    """Which of them the figure is, and of how many runs."""
    which = "largest" if asserted.share >= ALL else "median"
    which = which if asserted.share in (MEDIAN, ALL) else f"{share_text(asserted.share)} of passages"
    number = [counted(found.runs, "run")] if found.runs > 1 else []
    number += [counted(found.passages, "passage")] if found.passages > found.runs else []
    return f", {which} of {', '.join(number)}" if number else ""


def exit_code(found: Sequence[AssertVerdict]) -> int:
    """2 if one cannot be read, 1 if one is missed."""
    every = {each.verdict for each in found}
    return 2 if UNREADABLE in every else int(MISSED in every)
