"""A published figure, its unit, and the comparison with what is predicted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from kumihimo.app.published_figures.kernel_rates import KernelRates
from kumihimo.text.errors import wrong_value

OFF = 1.3  # a larger factor needs a reason
MOST_APART = 30.0  # a larger factor is that of a wrong unit
# Of each unit the values that a figure may have.
UNITS = {
    "bytes/s": (1e6, 1e14),
    "flop/s": (1e9, 1e19),
    "s": (1e-8, 1e6),
    "ratio": (0.2, 100.0),
    "share": (1e-4, 1.0),
}


@dataclass(frozen=True)
class PublishedFigure:
    """`value`: in `unit`; None: no number was published. `predict`: None: it cannot be predicted, and `reason` says
    why, and `remark` what a model tells all the same. `assumed`: what the prediction takes that no source has.
    `reason`: why it is off, if it is. `is_input`: numbers of a machine file were made from it, so that it proves
    nothing. `fitted`: numbers that were fitted to other figures of the same study, so that it proves less. `campaign`:
    one of campaigns/ with the points around it."""

    name: str
    what: str
    unit: str
    source: str
    value: float | None = None
    predict: Callable[[KernelRates], float] | None = None
    assumed: str = ""
    reason: str = ""
    is_input: bool = False
    fitted: str = ""
    campaign: str = ""
    remark: Callable[[KernelRates], str] | None = None

    @property
    def is_compared(self) -> bool:
        return self.predict is not None and self.value is not None


@dataclass(frozen=True)
class FigureComparison:
    figure: PublishedFigure
    predicted: float

    @property
    def published(self) -> float:
        assert self.figure.value is not None, "figures without a value are not compared"
        return self.figure.value

    @property
    def ratio(self) -> float:
        return self.predicted / self.published

    @property
    def log_ratio(self) -> float:
        return math.log(self.ratio) if self.ratio > 0 else -math.inf

    @property
    def effect(self) -> float | None:
        """Effect of a ratio: its predicted over its published distance from 1. 1.09x for 1.14x are near, but 0.09 is
        not near 0.14. None: it is no ratio.
        """
        return (self.predicted - 1) / (self.published - 1) if self.figure.unit == "ratio" else None

    @property
    def log_effect(self) -> float:
        """Logarithm for the effect, or for the ratio of figures that are no ratio of times."""
        if self.effect is None:
            return self.log_ratio
        return math.log(self.effect) if self.effect > 0 else -math.inf

    @property
    def is_off(self) -> bool:
        """Whether the ratio or the effect is off."""
        return max(abs(self.log_ratio), abs(self.log_effect)) > math.log(OFF)

    @property
    def is_counted(self) -> bool:
        return not self.figure.is_input


def check(figure: PublishedFigure) -> None:
    """BadInput: its value is none of its unit, or it says too little."""
    least, most = UNITS[figure.unit]
    if figure.value is not None and not least <= figure.value <= most:
        rule = f"{figure.name} must be from {least:g} to {most:g} {figure.unit}"
        raise wrong_value(rule, figure.value, "correct its unit")
    if not (figure.is_compared or figure.reason):
        raise wrong_value(f"{figure.name} must have a prediction, or a reason for having none", "neither")


def compared(figure: PublishedFigure, rates: KernelRates) -> FigureComparison:
    """BadInput: the two are so far apart, or the prediction is so odd, that a unit must be wrong."""
    check(figure)
    assert figure.predict is not None, "figures without a prediction are not compared"
    found = FigureComparison(figure, figure.predict(rates))
    least, most = UNITS[figure.unit]
    if found.predicted and not least <= found.predicted <= most:
        rule = f"the prediction of {figure.name} must be from {least:g} to {most:g} {figure.unit}"
        raise wrong_value(rule, found.predicted, "correct its unit")
    if found.predicted and abs(found.log_ratio) > math.log(MOST_APART):
        rule = f"{figure.name}, published as {figure.value:g} {figure.unit}, must be predicted within {MOST_APART:g}x"
        raise wrong_value(rule, found.predicted, "correct a unit")
    return found


def median_error(found: Sequence[FigureComparison], by_effect: bool = False) -> float | None:
    """Median of |ln(predicted / published)|, or of the effects of ratios; None: nothing counts."""
    logs = [abs(each.log_effect if by_effect else each.log_ratio) for each in found if each.is_counted]
    return median(logs) if logs else None
