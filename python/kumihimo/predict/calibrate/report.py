"""How near predictions are to measured times, as tables and as JSON."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

from kumihimo.predict.calibrate.cases import TimedCase
from kumihimo.predict.calibrate.fitting import CONFIDENCE, FittedMachine
from kumihimo.predict.campaign import comparison
from kumihimo.text.quantities import bytes_text, seconds_text, share_text

NEAR, FAR = math.log(1.2), math.log(1.35)
COLUMNS = ("cases", "times>", "median>", "nine of ten>", "within 20 %>", "beyond 35 %>", "worst>", "pairs in order>")


def agreement(cases: Sequence[TimedCase], seconds: Sequence[float]) -> dict:
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


def row(title: str, found: dict) -> list[str]:
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


def by(cases: Sequence[TimedCase], seconds: Sequence[float], title: Callable[[TimedCase], str]) -> dict[str, dict]:
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
    """Of a calibration; `kept` are the cases of validation."""

    def __init__(
        self, found: FittedMachine, cases: Sequence[TimedCase], kept: Sequence[TimedCase], condition: str
    ) -> None:
        self.found, self.cases, self.condition = found, cases, condition
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

    def rows_by(self, title: Callable[[TimedCase], str]) -> list[list[str]]:
        """Of the validation."""
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

    def to_json(self) -> dict:
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
            "warnings": self.found.warnings,
            "results": results,
        }
