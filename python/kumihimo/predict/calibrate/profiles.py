"""How far a number may be from its fitted value where the fit hardly tells it from the others.

Derivatives at the minimum say how steep the sum of squares is there. Models have kinks: beside one, two numbers may be
told apart on one side, and only their sum on the other. So the sum of squares is followed along the valley: the number
is moved, and the others are fitted again (the profile of Bates and Watts, Nonlinear Regression Analysis, 1988, 6.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kumihimo.predict.calibrate import least_squares
from kumihimo.predict.calibrate.least_squares import LeastSquaresSolution, Vector

WEAK = 0.1  # share of a column that is no combination of the others, below which its profile is followed
WIDER = 1.5  # each step of a profile


def weak(solution: LeastSquaresSolution) -> list[int]:
    """The parameters that are hardly told from the others."""
    normal, _ = least_squares.normal_equations(solution.jacobian, solution.residuals)
    bread = least_squares.inverse(normal)
    return [i for i in range(len(normal)) if normal[i][i] * bread[i][i] > WEAK**-2]


def spread(
    residuals: Callable[[Vector], Vector | None],
    solution: LeastSquaresSolution,
    i: int,
    wide: float,
    deviation: float,
    farthest: float,
    visit: Callable[[LeastSquaresSolution], None],
) -> float:
    """How far parameter i may be from its value, `farthest` at most: up to where the sum of squares, with the others
    fitted again, rises by as much as `wide` deviations raise it beside the minimum. The deviation is that of
    independent errors where this is larger than `deviation`. `visit` is given each point on the way."""
    normal, _ = least_squares.normal_equations(solution.jacobian, solution.residuals)
    bread = least_squares.inverse(normal)[i][i]
    least = least_squares.sum_of_squares(solution.residuals)
    freedom = len(solution.residuals) - len(solution.parameters)
    near = wide * max(deviation, math.sqrt(bread * least / freedom))
    highest = least + near**2 / bread
    far = near
    for sign in (1, -1):
        others = [x for k, x in enumerate(solution.parameters) if k != i]
        distance = min(near, farthest)
        while True:
            fixed = solution.parameters[i] + sign * distance
            found = others_fitted(residuals, i, fixed, others)
            if found is None or least_squares.sum_of_squares(found.residuals) >= highest:
                break
            visit(found)
            far = max(far, distance)
            if distance >= farthest:
                break
            others = [x for k, x in enumerate(found.parameters) if k != i]
            distance = min(WIDER * distance, farthest)
    return min(far, farthest)


def others_fitted(
    residuals: Callable[[Vector], Vector | None], i: int, fixed: float, others: Sequence[float]
) -> LeastSquaresSolution | None:
    """With parameter i at `fixed`. None where that is out of range."""

    def all_of(those: Sequence[float]) -> Vector:
        return [*those[:i], fixed, *those[i:]]

    def of_others(those: Vector) -> Vector | None:
        return residuals(all_of(those))

    if of_others(list(others)) is None:
        return None
    at = all_of(least_squares.minimum(of_others, others).parameters)
    now = residuals(at)
    if now is None:
        return None
    return LeastSquaresSolution(at, now, least_squares.jacobian(residuals, at, now))
