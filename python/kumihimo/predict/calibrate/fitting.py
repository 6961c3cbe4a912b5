"""The fit of a machine's numbers to measured times, and what it is worth."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo import _machine
from kumihimo.predict.calibrate import forms, least_squares, numbers, profiles
from kumihimo.predict.calibrate.cases import ABOUT, BASE, Predictor, TimedCase, log_ratios
from kumihimo.predict.calibrate.numbers import FREE, FittedNumber
from kumihimo.predict.campaign.expressions import CampaignExpression
from kumihimo.predict.chances import Correlations
from kumihimo.predict.prediction_errors import ErrorRow
from kumihimo.text.errors import BadInput, KumihimoError, missing, wrong_value
from kumihimo.text.json_types import JsonObject

CONFIDENCE = 0.95
MOST_ROUNDS = least_squares.MOST_ROUNDS
FARTHEST = math.log(1000)  # from its first value
NO_EFFECT = 0.01  # a change of a number by 1 that changes times by less in the mean square has no effect
FAR = math.log(1.2)
FEWEST_CURVES = 5  # for intervals
TRIAL_DIGITS = 12
NO_STATE = BASE


@dataclass(frozen=True)
class Fitted:
    number: FittedNumber
    value: float
    low: float
    high: float


@dataclass
class FittedMachine:
    text: str  # of the machine file
    before: list[float]  # predicted seconds of all cases by the file as it was
    after: list[float]
    fitted: list[Fitted]
    warnings: list[str] = field(default_factory=list)


def split(cases: Sequence[TimedCase], condition: str | None) -> tuple[list[TimedCase], list[TimedCase], str]:
    """Cases to fit, cases to validate, and the condition of the latter: by default the largest job."""
    if condition is None:
        sizes = sorted({case.cells["nodes"] for case in cases})
        if len(sizes) < 2:
            raise missing(
                f"what is kept for validation, as all cases have {sizes[0]} nodes",
                "add --validate-on with a condition such as 'bytes > 64KiB'",
            )
        condition = f"nodes >= {sizes[-1]}"
    expression = CampaignExpression(condition, "--validate-on")
    held = [bool(expression.value(case.cells)) for case in cases]
    fit = [case for case, is_held in zip(cases, held) if not is_held]
    validation = [case for case, is_held in zip(cases, held) if is_held]
    for name, part in (("fitted to", fit), ("validated on", validation)):
        if not part:
            raise wrong_value(f"--validate-on must leave cases that the machine is {name}", f"'{condition}'")
    seen = {key_of(case): case for case in fit}
    twice = next((case for case in validation if key_of(case) in seen), None)
    if twice is not None:
        both = f"{seen[key_of(twice)].at} and {twice.at} are the same case"
        raise wrong_value("--validate-on must keep fit and validation apart", f"'{condition}'; {both}")
    return fit, validation, condition


def key_of(case: TimedCase) -> tuple:
    about = {name: case.cells[name] for name in ABOUT if name in case.cells}
    return tuple(sorted((name, str(value)) for name, value in {**case.values, **about}.items()))


def calibrate(
    path: Path,
    text: str,
    predictor: Predictor,
    fit: Sequence[TimedCase],
    wanted: Sequence[str] | None,
    advance: Callable[[], None] = lambda: None,
    state: str = "",
    original: str | None = None,
) -> FittedMachine:
    """Fits the wanted numbers of the machine file `text` in this state of its software, or all that no source has and
    that the cases tell. No other time has an influence on the fit. `original`: the file before a form of a cost was
    applied. Keys that the form added and the times do not tell are left out again, as no number may stay on trial."""
    trial = FileOnTrial(path, text, predictor, fit, state)
    residuals_of = trial.residuals_of
    chosen = trial.chosen(wanted)
    untold = trial.untold(chosen)
    warnings: list[str] = []
    while True:
        more = [untold_text(chosen[i], [chosen[j] for j in others]) for i, others in untold.items()]
        if wanted is not None and more:
            raise wrong_value("the measured times must tell the numbers of --fit apart", None, "; ".join(more))
        warnings += more
        chosen = [number for i, number in enumerate(chosen) if i not in untold]
        if not chosen:
            raise wrong_value("the measured times must tell a number", "; ".join(warnings))
        if len(fit) <= len(chosen):
            rule = f"there must be more times to fit than numbers ({', '.join(number.key for number in chosen)})"
            advice = "add times to the file, or name fewer numbers by --fit"
            raise wrong_value(rule, f"{len(fit)} and {len(chosen)}", advice)
        solution = least_squares.minimum(residuals_of(chosen), [0.0] * len(chosen), advance)
        try:
            fitted, of_intervals = intervals(chosen, solution, fit, residuals_of(chosen))
            break
        except Untold as error:
            untold = error.numbers
    warnings += of_intervals
    values = {each.number: each.value for each in fitted}
    every = predictor.cases
    before = trial if original is None else FileOnTrial(path, original, predictor, fit, state)
    lost = set(forms.added(original or text, text)) - {each.number.key for each in fitted}
    if lost:
        return calibrate(path, forms.without(text, lost), predictor, fit, wanted, advance, state, original)
    return FittedMachine(text, before.predicted({}, every), trial.predicted(values, every), fitted, warnings)


def predicted_by_fit(
    path: Path,
    text: str,
    predictor: Predictor,
    fit: Sequence[TimedCase],
    judged: Sequence[TimedCase],
    wanted: Sequence[str] | None,
    advance: Callable[[], None] = lambda: None,
    state: str = "",
) -> tuple[list[float], list[str]]:
    """Seconds of the cases judged, by numbers that are fitted to `fit` alone; and the keys of the numbers that `fit`
    does not tell, which stay as in the file."""
    trial = FileOnTrial(path, text, predictor, fit, state)
    chosen = trial.chosen(wanted)
    untold = trial.untold(chosen)
    kept = [chosen[i].key for i in untold]
    chosen = [number for i, number in enumerate(chosen) if i not in untold]
    solution = least_squares.minimum(trial.residuals_of(chosen), [0.0] * len(chosen), advance)
    values = {number: number.value * math.exp(log) for number, log in zip(chosen, solution.parameters)}
    return trial.predicted(values, judged), kept


class FileOnTrial:
    """A machine file in a state of its software, whose numbers change, and the times that they are fitted to."""

    def __init__(self, path: Path, text: str, predictor: Predictor, fit: Sequence[TimedCase], state: str = "") -> None:
        self._path, self._text, self._predictor, self._fit, self._state = path, text, predictor, fit, state

    def chosen(self, wanted: Sequence[str] | None) -> list[FittedNumber]:
        """The numbers to fit: those that the user names, or all that no source has."""
        known = numbers.read(parsed(self._text, self._path), self._state)
        chosen = [n for n in known.values() if n.provenance in FREE] if wanted is None else numbers.named(known, wanted)
        if not chosen:
            raise missing("a number to fit", "mark numbers of the machine file as assumed, or name some with --fit")
        return chosen

    def predicted(self, values: dict[FittedNumber, float], cases: Sequence[TimedCase]) -> list[float]:
        texts = {number: number.text(value, TRIAL_DIGITS) for number, value in values.items()}
        changed = numbers.with_values(self._text, texts)
        machine = _machine.parse(changed, str(self._path), self._state or NO_STATE)
        return self._predictor.seconds(machine, cases)

    def residuals_of(self, those: Sequence[FittedNumber]) -> Callable:
        def residuals(logs: Sequence[float]) -> list[float] | None:
            if any(abs(log) > FARTHEST for log in logs):
                return None
            values = {number: number.value * math.exp(log) for number, log in zip(those, logs)}
            try:
                return [less_where_far(each) for each in log_ratios(self.predicted(values, self._fit), self._fit)]
            except KumihimoError:  # numbers that contradict each other
                return None

        return residuals

    def untold(self, chosen: Sequence[FittedNumber]) -> dict[int, list[int]]:
        """Numbers of `chosen` that the times do not determine at the file's values."""
        residuals = self.residuals_of(chosen)
        start = residuals([0.0] * len(chosen))
        if start is None:
            self.predicted({number: number.value for number in chosen}, self._fit)  # raises
        rows = least_squares.jacobian(residuals, [0.0] * len(chosen), start)
        return least_squares.dependent(rows, NO_EFFECT)


class Untold(Exception):
    """Numbers that cannot be told apart at or near the minimum, each with the others whose effects make up its own."""

    def __init__(self, numbers: dict[int, list[int]]) -> None:
        super().__init__()
        self.numbers = numbers


def less_where_far(error: float) -> float:
    """Squared, Huber's loss (Annals of Mathematical Statistics 35, 1964): beyond FAR an error counts by its size alone.
    Cases whose effects the model lacks would otherwise pull all numbers away."""
    size = abs(error)
    return error if size <= FAR else math.copysign(math.sqrt(FAR * (2 * size - FAR)), error)


def parsed(text: str, path: Path) -> JsonObject:
    _machine.parse(text, str(path), NO_STATE)  # whose errors name lines
    from kumihimo.predict.campaign.description import toml

    return toml(text, path)


def untold_text(number: FittedNumber, others: Sequence[FittedNumber]) -> str:
    if not others:
        return f"the data do not depend on {number.key}"
    return f"the data cannot tell {number.key} from {' and '.join(other.key for other in others)}"


def intervals(
    chosen: Sequence[FittedNumber],
    solution: least_squares.LeastSquaresSolution,
    fit: Sequence[TimedCase],
    residuals: Callable,
) -> tuple[list[Fitted], list[str]]:
    """Intervals of CONFIDENCE, by the derivatives at the minimum, and by profiles where the numbers are hardly told
    apart there. The residuals of a curve may have a common cause. Raises Untold.
    """
    untold = least_squares.dependent(solution.jacobian, NO_EFFECT)
    if untold:
        raise Untold(untold)

    def told_apart(found: least_squares.LeastSquaresSolution) -> None:
        """At a point as good as the minimum. A number that is almost 0 there may have no effect."""
        mixed = {i: others for i, others in least_squares.dependent(found.jacobian, NO_EFFECT).items() if others}
        if mixed:
            raise Untold(mixed)

    curves = [case.curve for case in fit]
    different = len(set(curves))
    few = different < FEWEST_CURVES
    groups = range(len(fit)) if few else curves
    deviations = least_squares.deviations(solution, groups)
    freedom = len(fit) - len(chosen) if few else different - 1
    wide = least_squares.quantile_of_t((1 + CONFIDENCE) / 2, freedom)
    weak = profiles.weak(solution)
    fitted, warnings = [], []
    for i, (number, log, deviation) in enumerate(zip(chosen, solution.parameters, deviations)):
        value = number.value * math.exp(log)
        # A value that cannot be known is any value.
        spread = min(wide * deviation, FARTHEST)
        if i in weak:
            spread = profiles.spread(residuals, solution, i, wide, deviation, FARTHEST, told_apart)
        fitted.append(Fitted(number, value, value * math.exp(-spread), value * math.exp(spread)))
        if spread > math.log(2):
            warnings.append(f"{number.key} is known to no more than a factor of {math.exp(spread):.3g}")
    if few:
        warnings.append(f"intervals take errors as independent, as there are only {different} curves")
    return fitted, warnings


def machine_file(
    calibration: FittedMachine, source: str, remarks: Sequence[str], state: str = "", errors: str = ""
) -> str:
    """The machine file with the fitted numbers, in a state of the software if one is named, and at its end where they
    come from. `errors`: of predictions, as a section."""
    text, values, sources = calibration.text, {}, {}
    for each in calibration.fitted:
        number = each.number
        if state:
            text, number = numbers.in_state(text, number, state)
        values[number] = number.text(each.value)
        sources[number] = f"{source}; 95 % within {number.text(each.low, 3)} to {number.text(each.high, 3)}"
    text = with_errors(numbers.with_values(text, values, sources), errors, state)
    try:
        _machine.parse(text, "the fitted machine", state or NO_STATE)
    except BadInput as error:
        raise BadInput(f"the fitted numbers make no machine: {error.problem}", error.advice) from None
    lines = "".join(f"# {remark}\n" for remark in remarks)
    return f"{text.rstrip()}\n\n{lines}"


KEYS_OF_ERRORS = ("source", "fewest_nodes", "most_nodes", "day_to_day", "correlation", "correlation_in_class", "rows")
ERRORS = r"^\[{table}\]\n(?:#[^\n]*\n)*(?:(?:{keys}) = .*\n|  \{{.*\n|\]\n)*\n?"


def with_errors(text: str, errors: str, state: str) -> str:
    """`errors` in place of those that the file has of this state. Other numbers have other errors."""
    table = f"software.{state}.prediction_errors" if state else "prediction_errors"
    text = re.sub(ERRORS.format(table=re.escape(table), keys="|".join(KEYS_OF_ERRORS)), "", text, flags=re.MULTILINE)
    return f"{text.rstrip()}\n\n[{table}]\n{errors}" if errors else text


def errors_section(
    rows: Sequence[ErrorRow],
    source: str,
    nodes: tuple[int, int],
    day_to_day: float | None,
    known: Correlations | None = None,
) -> str:
    """The lines of [prediction_errors]; empty: no class has enough times."""
    if not rows:
        return ""
    lines = [f'source = "{source.translate(numbers.NO_QUOTES)}"']
    lines += [f"fewest_nodes = {nodes[0]}", f"most_nodes = {nodes[1]}"]
    if day_to_day is not None:
        lines.append(f"day_to_day = {day_to_day:.4f}")
    if known is not None and known.in_class > 0:
        lines += [f"correlation = {known.others:.3f}", f"correlation_in_class = {known.in_class:.3f}"]
    lines.append("rows = [")
    for row in rows:
        classes = f'algorithms = "{row.algorithms}", lengths = "{row.lengths}"'
        factors = f"low = {row.low:.4f}, median = {row.median:.4f}, high = {row.high:.4f}"
        lines.append(f"  {{ {classes}, times = {row.times}, {factors} }},")
    return "\n".join([*lines, "]"]) + "\n"
