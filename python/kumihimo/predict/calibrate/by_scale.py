"""Cross-validation by scale: numbers are fitted to small jobs and judged on larger ones.

A fit that is judged on jobs of its own size cannot tell a cost per message from one per peer, or one per hop from one
of the root. Of several forms of a cost the one is taken whose predictions of larger jobs are nearest.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.predict import prediction_errors
from kumihimo.predict.calibrate import forms
from kumihimo.predict.calibrate.cases import OF_COLLECTIVE, OF_PART, OF_RANKS, Predictor, TimedCase, log_ratios
from kumihimo.predict.calibrate.fitting import less_where_far, predicted_by_fit
from kumihimo.predict.calibrate.forms import CostForm
from kumihimo.predict.prediction_errors import ErrorRow, JudgedTime
from kumihimo.text.errors import wrong_value

OF_CASE = ("collective", "bytes", *OF_COLLECTIVE)  # what a case asks for, with the job
CLEARLY, NOTHING = 1.02, 1e-4  # losses nearer than this ratio, or below this one, are alike


@dataclass(frozen=True)
class ScaleSplit:
    """Fitted to jobs of at most so many nodes, judged on jobs of so many."""

    fitted: int
    judged: int

    def parts(self, cases: Sequence[TimedCase]) -> tuple[list[TimedCase], list[TimedCase]]:
        fit = [case for case in cases if case.cells["nodes"] <= self.fitted]
        return fit, [case for case in cases if case.cells["nodes"] == self.judged]


@dataclass
class JudgedFit:
    """`kept`: numbers that the smaller jobs did not tell, which are those of the file."""

    split: ScaleSplit
    form: CostForm | None
    cases: list[TimedCase]
    seconds: list[float]
    kept: list[str]

    @property
    def loss(self) -> float:
        """The mean of what a fit minimises, as the error of one time."""
        logs = log_ratios(self.seconds, self.cases)
        return math.sqrt(statistics.fmean(less_where_far(log) ** 2 for log in logs))


@dataclass
class ScaleValidation:
    """`chosen`: None where no form was judged: the file keeps its own. `judged`: of the chosen form, by split. `tried`:
    of all forms, on the splits that chose."""

    chosen: CostForm | None
    text: str  # of the machine file in this form
    judged: list[JudgedFit] = field(default_factory=list)
    tried: list[JudgedFit] = field(default_factory=list)


def splits_of(cases: Sequence[TimedCase], asked: str | None) -> list[ScaleSplit]:
    """As the user names them, `8:64,64:512`; by default each number of nodes is judged by all smaller jobs."""
    known = sorted({case.cells["nodes"] for case in cases})
    if asked is None:
        return [ScaleSplit(a, b) for a, b in zip(known, known[1:])]
    found: list[ScaleSplit] = []
    for word in asked.split(","):
        match = re.fullmatch(r"([0-9]{1,9}):([0-9]{1,9})", word.strip())
        split = match and ScaleSplit(int(match[1]), int(match[2]))
        if not split or split.judged <= split.fitted:
            rule = "--scales must be pairs of nodes, those fitted and more that are judged"
            raise wrong_value(rule, f"'{word}'", "write 8:64,64:512")
        if not all(split.parts(cases)):
            rule = f"--scales {word.strip()} must have jobs to fit and to judge"
            raise wrong_value(rule, None, f"the jobs have {', '.join(map(str, known))} nodes")
        if any(split.judged == other.judged for other in found):
            rule = "--scales must judge each number of nodes once, as its times would count twice"
            raise wrong_value(rule, f"{split.judged} twice", "leave one of the pairs out")
        found.append(split)
    return found


def validate(
    path: Path,
    text: str,
    predictor: Predictor,
    splits: Sequence[ScaleSplit],
    held: Collection[int],
    wanted: Sequence[str] | None,
    advance: Callable[[], None] = lambda: None,
    state: str = "",
) -> ScaleValidation:
    """`held`: ids of cases that choose no form and are fitted to by none. Forms are of numbers outside of states. Where
    the smaller jobs of a split are of one size, nothing tells a cost per hop from one of the root, so splits of several
    sizes choose if there are any."""
    every = predictor.cases
    free = [case for case in every if id(case) not in held]

    def judge(split: ScaleSplit, form: CostForm | None, cases: Sequence[TimedCase]) -> JudgedFit | None:
        fit, judged = split.parts(cases)
        fit = [case for case in fit if id(case) not in held]
        if not judged or not fit:
            return None
        of_form = text if form is None else forms.applied(text, form)
        seconds, kept = predicted_by_fit(path, of_form, predictor, fit, judged, wanted, advance, state)
        return JudgedFit(split, form, judged, seconds, kept)

    known = [] if wanted is not None or state else forms.candidates(text)
    several = [split for split in splits if len({case.cells["nodes"] for case in split.parts(free)[0]}) > 1]
    choosing = [split for split in several if split.parts(free)[1]] or splits
    tried = [found for form in known for split in choosing if (found := judge(split, form, free))]
    chosen = nearest(tried)
    judged = [found for split in splits if (found := judge(split, chosen, every))]
    return ScaleValidation(chosen, text if chosen is None else forms.applied(text, chosen), judged, tried)


def nearest(tried: Sequence[JudgedFit]) -> CostForm | None:
    """The form of the lowest loss in the mean over splits. One with more numbers must be clearly lower."""
    losses: dict[CostForm | None, list[float]] = {}
    for each in tried:
        losses.setdefault(each.form, []).append(each.loss)
    means = {form: statistics.fmean(found) for form, found in losses.items()}
    by_size = sorted(means, key=lambda form: len(form.keys) if form else 0)
    return next((form for form in by_size if means[form] <= CLEARLY * min(means.values()) + NOTHING), None)


def judged_times(judged: Sequence[JudgedFit]) -> list[JudgedTime]:
    """Their errors, by class."""
    found = []
    for fit in judged:
        for case, log, seconds in zip(fit.cases, log_ratios(fit.seconds, fit.cases), fit.seconds):
            collective, size = case.values["collective"], case.values.get("bytes")
            lengths = prediction_errors.class_of_length(collective, size, case.cells["ranks"])
            algorithms = prediction_errors.class_of_algorithm(case.values["algorithm"])
            asked = (f"{name}={case.values.get(name)}" for name in (*OF_RANKS, *OF_PART, *OF_CASE))
            of_day = (fit.split, case.cells.get("day"), *asked)
            found.append(JudgedTime(algorithms, lengths, -log, (fit.split, case.curve), of_day, seconds))
    return found


def error_rows(found: ScaleValidation) -> list[ErrorRow]:
    return prediction_errors.rows(judged_times(found.judged))


def coverage_on_largest(found: ScaleValidation) -> tuple[int, int] | None:
    """Coverage of the largest split by the intervals that the smaller ones give. None: there is one split only."""
    if len(found.judged) < 2:
        return None
    largest = max(found.judged, key=lambda each: each.split.judged)
    others = [each for each in found.judged if each.split.judged < largest.split.judged]
    return prediction_errors.coverage(judged_times([largest]), prediction_errors.rows(judged_times(others)))
