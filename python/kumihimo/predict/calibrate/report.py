"""How near predictions are to measured times, as tables and as JSON."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict

from kumihimo.predict import chances, prediction_errors
from kumihimo.predict.calibrate import by_scale
from kumihimo.predict.calibrate.by_scale import JudgedFit, ScaleValidation
from kumihimo.predict.calibrate.cases import TimedCase
from kumihimo.predict.calibrate.fitting import CONFIDENCE, FittedMachine
from kumihimo.predict.campaign import comparison
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import bytes_text, seconds_text, share_text

SCALE_COLUMNS = (
    *("fitted to nodes>", "judged on>", "form", "times>", "median>", "nine of ten>", "within 20 %>", "beyond 35 %>"),
    *("loss>", ""),
)
CLASS_COLUMNS = (
    *("algorithms", "lengths", "times>", "median>", "predicted / measured>", "within 20 %>", "beyond 35 %>"),
    *("low to high", "interval of"),
)
NEAR, FAR = math.log(1.2), math.log(1.35)
COLUMNS = ("cases", "times>", "median>", "nine of ten>", "within 20 %>", "beyond 35 %>", "worst>", "pairs in order>")


def agreement(cases: Sequence[TimedCase], seconds: Sequence[float]) -> JsonObject:
    """Errors are logarithms of predicted / measured."""
    points = [case.as_point(each) for case, each in zip(cases, seconds)]
    logs = [math.log(comparison.ratio(point)) for point in points]
    sizes = sorted(map(abs, logs))
    worst = max(range(len(logs)), key=lambda i: abs(logs[i]))
    names = dict.fromkeys(name for case in cases for name in case.values)
    order = comparison.ranking([dict.fromkeys(names) | point for point in points], "algorithm", list(names))
    return {
        "times": len(logs),
        "median": statistics.median(sizes),
        "ninth_decile": sizes[math.ceil(0.9 * len(sizes)) - 1],
        "bias": statistics.median(logs),
        "share_within_20_percent": sum(size <= NEAR for size in sizes) / len(sizes),
        "share_beyond_35_percent": sum(size > FAR for size in sizes) / len(sizes),
        "worst": logs[worst],
        "worst_at": cases[worst].at,
        "pairs": order.pairs,
        "pairs_in_order": order.pairs - len(order.wrong),
        "pairs_out_of_order": [[a["place"], b["place"]] for a, b in order.wrong],
    }


def row(title: str, found: JsonObject) -> list[str]:
    return [
        title,
        str(found["times"]),
        share_text(math.expm1(found["median"])),
        share_text(math.expm1(found["ninth_decile"])),
        share_text(found["share_within_20_percent"]),
        share_text(found["share_beyond_35_percent"]),
        f"{math.exp(found['worst']):.2f}",
        f"{found['pairs_in_order']} of {found['pairs']}",
    ]


def by(
    cases: Sequence[TimedCase], seconds: Sequence[float], title: Callable[[TimedCase], str]
) -> dict[str, JsonObject]:
    groups: dict[str, tuple[list, list]] = {}
    for case, each in zip(cases, seconds):
        group = groups.setdefault(title(case), ([], []))
        group[0].append(case)
        group[1].append(each)
    return {name: agreement(*group) for name, group in groups.items()}


def algorithm_of(case: TimedCase) -> str:
    return f"{case.values['collective']} {case.values['algorithm']}"


def size_of(case: TimedCase) -> str:
    """Decades, as sizes of files are seldom equal."""
    size = case.values.get("bytes", 0)
    return f"below {bytes_text(16 ** (math.floor(math.log(size, 16) + 1e-9) + 1))}" if size else "no bytes"


def span(cases: Sequence[TimedCase]) -> str:
    """The range in which the fit is valid: jobs and sizes."""
    nodes = [case.cells["nodes"] for case in cases]
    ranks = [case.cells["ranks"] for case in cases]
    sizes = [case.values.get("bytes", 0) for case in cases]
    of_ranks = f"{min(ranks)} to {max(ranks)} ranks on {min(nodes)} to {max(nodes)} nodes"
    return f"{of_ranks}, {bytes_text(min(sizes))} to {bytes_text(max(sizes))}"


class CalibrationReport:
    """Report of a calibration; `kept` are the cases of validation. `judged`: the cross-validation by scale. `daily`,
    `repeated`: see days.spread.
    """

    def __init__(
        self,
        found: FittedMachine,
        cases: Sequence[TimedCase],
        kept: Sequence[TimedCase],
        condition: str,
        judged: ScaleValidation,
        daily: float | None = None,
        repeated: int = 0,
    ) -> None:
        self.found, self.cases, self.condition = found, cases, condition
        self.by_scale, self.daily, self.repeated = judged, daily, repeated
        self.judged_times = by_scale.judged_times(judged.judged)
        self.error_rows = prediction_errors.rows(self.judged_times)
        self.correlations = chances.correlations(self.judged_times, self.error_rows)
        self.choices = chances.judged_choices(self.judged_times)
        ids = {id(case) for case in kept}
        self.held = [id(case) in ids for case in cases]
        self.parts = {
            "fit": self._part(False, found.after),
            "validation": self._part(True, found.after),
            "fit, before": self._part(False, found.before),
            "validation, before": self._part(True, found.before),
        }

    def _part(self, held: bool, seconds: Sequence[float]) -> tuple[list[TimedCase], list[float]]:
        chosen = [i for i, each in enumerate(self.held) if each == held]
        return [self.cases[i] for i in chosen], [seconds[i] for i in chosen]

    def rows(self) -> list[list[str]]:
        return [row(title, agreement(*part)) for title, part in self.parts.items()]

    @property
    def nodes(self) -> tuple[int, int]:
        """Fewest and most nodes of the measured jobs."""
        each = [case.cells["nodes"] for case in self.cases]
        return min(each), max(each)

    def errors_source(self, file: str, wanted: Sequence[str] | None) -> str:
        """`wanted`: the numbers that --fit names; None: all that no source has."""
        splits = ", ".join(f"{each.split.judged} nodes by at most {each.split.fitted}" for each in self.by_scale.judged)
        if wanted is None:
            how = "numbers fitted to smaller jobs; those that these do not tell are the file's"
        else:
            how = f"{', '.join(wanted)} fitted to smaller jobs, all others as in the file"
        return f"kumihimo machine calibrate: {len(self.judged_times)} times of {file}, {how}: {splits}"

    def rows_by_scale(self) -> list[list[str]]:
        """A row for each form that was tried, and rows of the one taken, on all splits."""
        shown = [each for each in self.by_scale.tried if each.form != self.by_scale.chosen]
        rows = []
        for each in (*shown, *self.by_scale.judged):
            name = each.form.name if each.form else ""
            taken = "taken" if name and each.form == self.by_scale.chosen else ""
            cells = row("", agreement(each.cases, each.seconds))[1:]
            split = [f"at most {each.split.fitted}", str(each.split.judged)]
            rows.append([*split, name, *cells[:5], f"{each.loss:.3f}", taken])
        return rows

    def scale_remarks(self) -> list[str]:
        lines = []
        if self.by_scale.chosen is not None:
            on = ", ".join(dict.fromkeys(str(each.split.judged) for each in self.by_scale.tried))
            how = f"the form of a put's cost that judges best on {on} nodes"
            lines.append(f"{self.by_scale.chosen.name}: {self.by_scale.chosen.meaning}; {how}")
        for each in self.by_scale.judged:
            if each.kept:
                lines.append(f"at most {each.split.fitted} nodes do not tell {', '.join(each.kept)}: as in the file")
        return lines

    def rows_by_class(self) -> list[list[str]]:
        """Rows of all judged times, with the interval of a class that has one."""
        rows = []
        for algorithms, lengths in sorted({(each.algorithms, each.lengths) for each in self.judged_times}):
            logs = [e.log for e in self.judged_times if (e.algorithms, e.lengths) == (algorithms, lengths)]
            sizes = sorted(map(abs, logs))
            found = prediction_errors.row_of_class(self.error_rows, algorithms, lengths)
            ends = "" if found is None else f"{found.low:.2f} to {found.high:.2f}"
            wider = "" if found is None or found.times == len(logs) else f"{found.algorithms}, {found.lengths}"
            near, far = sum(size <= NEAR for size in sizes), sum(size > FAR for size in sizes)
            shares = [share_text(count / len(sizes)) for count in (near, far)]
            median = share_text(math.expm1(statistics.median(sizes)))
            bias = f"{math.exp(-statistics.median(logs)):.2f}"
            rows.append([algorithms, lengths, str(len(logs)), median, bias, *shares, ends, wider])
        return rows

    def coverage(self) -> dict[str, tuple[int, int]]:
        """How many judged times lie in an interval that others gave, of how many."""
        found = {"new_curves": prediction_errors.coverage_of_new_curves(self.judged_times)}
        largest = by_scale.coverage_on_largest(self.by_scale)
        return found if largest is None else {**found, "largest_jobs": largest}

    def coverage_remarks(self) -> list[str]:
        words = {
            "new_curves": "each algorithm and job by intervals of the others",
            "largest_jobs": "the largest jobs by intervals of smaller ones",
        }
        lines = ["nine of ten measured times are between low and high times the predicted one"]
        for name, (within, of) in self.coverage().items():
            if of:
                lines.append(f"in their interval of 90 %, {words[name]}: {within} of {of}, {share_text(within / of)}")
        lines += self.choice_remarks()
        if self.daily is not None:
            lines.append(f"from day to day: within {self.daily:.2f} x, of {self.repeated} cases of several days")
        elif any("day" in case.cells for case in self.cases):
            lines.append(f"from day to day: not known, {self.repeated} cases were measured on several days")
        return lines

    def choice_remarks(self) -> list[str]:
        """Whether choices that were said to be the best with some probability were."""
        if not self.choices:
            return []
        of = self.correlations
        lines = [f"errors in one case: correlation {of.in_class:.2f} in a class, {of.others:.2f} of two classes"]
        for title, told in self.judged_choices().items():
            right = f"{told['right']} of {told['choices']} were the best"
            lines.append(f"choices {title}: {right}, {told['expected']:.1f} expected; at worst {told['lost']:.2f} x")
        return lines

    def judged_choices(self) -> dict[str, JsonObject]:
        """Results of the choices that were called sure, and of all others."""
        found = {}
        for title, is_sure in ((f"said at {share_text(chances.SURE)} or more", True), ("said at less", False)):
            of = [each for each in self.choices if (each.chance >= chances.SURE) == is_sure]
            if of:
                right, expected = sum(each.is_right for each in of), sum(each.chance for each in of)
                lost = max(each.lost for each in of)
                found[title] = {"choices": len(of), "right": right, "expected": expected, "lost": lost}
        return found

    def rows_by(self, title: Callable[[TimedCase], str]) -> list[list[str]]:
        """Rows of the validation."""
        return [row(name, found) for name, found in by(*self.parts["validation"], title).items()]

    def worst(self, most: int) -> list[str]:
        """The cases of the validation that are farthest off."""
        cases, seconds = self.parts["validation"]
        order = sorted(range(len(cases)), key=lambda i: -abs(math.log(seconds[i] / cases[i].seconds)))
        lines = []
        for i in order[:most]:
            case, predicted = cases[i], seconds[i]
            times = f"{seconds_text(predicted)}, measured {seconds_text(case.seconds)}"
            where = f"{case.cells['nodes']} nodes, {bytes_text(case.values.get('bytes', 0))}"
            lines.append(f"{algorithm_of(case)}, {where}: {times}, {predicted / case.seconds:.2f} ({case.at})")
        return lines

    def numbers(self) -> list[list[str]]:
        rows = []
        for each in self.found.fitted:
            number = each.number
            ends = f"{number.text(each.low, 3)} to {number.text(each.high, 3)}"
            rows.append([number.key, number.text(number.value), number.provenance, number.text(each.value, 4), ends])
        return rows

    def to_json(self) -> JsonObject:
        fitted = [
            {
                "key": f"{each.number.section}.{each.number.key}",
                "unit": each.number.unit,
                "before": each.number.value,
                "provenance_before": each.number.provenance,
                "value": each.value,
                "low": each.low,
                "high": each.high,
            }
            for each in self.found.fitted
        ]
        results = [
            {
                **case.values,
                "at": case.at,
                "part": "validation" if held else "fit",
                "measured_seconds": case.seconds,
                "seconds_before": before,
                "seconds": after,
            }
            for case, held, before, after in zip(self.cases, self.held, self.found.before, self.found.after)
        ]
        return {
            "fitted": fitted,
            "confidence": CONFIDENCE,
            "validate_on": self.condition,
            "valid": span(self.parts["fit"][0]),
            "agreement": {title.replace(", ", "_"): agreement(*part) for title, part in self.parts.items()},
            "agreement_by_algorithm": by(*self.parts["validation"], algorithm_of),
            "agreement_by_size": by(*self.parts["validation"], size_of),
            "by_scale": self._scales_to_json(),
            "prediction_errors": [asdict(each) for each in self.error_rows],
            "coverage": {name: {"within": a, "times": b} for name, (a, b) in self.coverage().items()},
            "correlation": self.correlations.others,
            "correlation_in_class": self.correlations.in_class,
            "choices": list(self.judged_choices().values()),
            "day_to_day": self.daily,
            "warnings": self.found.warnings,
            "results": results,
        }

    def _scales_to_json(self) -> JsonObject:
        chosen = self.by_scale.chosen

        def told(each: JudgedFit) -> JsonObject:
            return {
                "fitted_nodes_max": each.split.fitted,
                "judged_nodes": each.split.judged,
                "form": each.form.name if each.form else None,
                "loss": each.loss,
                "not_told": each.kept,
                **agreement(each.cases, each.seconds),
            }

        return {
            "form": chosen and chosen.name,
            "judged": [told(each) for each in self.by_scale.judged],
            "tried": [told(each) for each in self.by_scale.tried],
        }
