"""Least squares of a few parameters: Levenberg and Marquardt's method, and how far the data tell the parameters apart.

There are at most some ten parameters, so that plain loops are fast enough beside the predictions.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Matrix = list[list[float]]
Vector = list[float]
STEP = 0.02  # of a logarithm, for derivatives: above the jitter of sampled predictions
MOST_ROUNDS = 60
ENOUGH = 1e-5  # relative fall of the sum of squares in a round that ends the search
LARGEST_DAMPING = 1e8
SINGULAR = 1e-4  # share of a column that is not a combination of others, below which it cannot be told apart


@dataclass(frozen=True)
class LeastSquaresSolution:
    parameters: Vector
    residuals: Vector
    jacobian: Matrix  # a row for each residual


def minimum(
    residuals: Callable[[Vector], Vector | None], start: Sequence[float], advance: Callable[[], None] = lambda: None
) -> LeastSquaresSolution:
    """The nearest minimum of the sum of squares. `residuals` may refuse parameters by None, but not `start`. `advance`
    is called in each round."""
    at = list(start)
    now = residuals(at) or []  # which start is not refused
    damping = 1e-3
    rows = jacobian(residuals, at, now)
    for _ in range(MOST_ROUNDS if start else 0):
        advance()
        before = sum_of_squares(now)
        normal, slope = normal_equations(rows, now)
        while damping < LARGEST_DAMPING:
            step = solve(damped(normal, damping), [-each for each in slope])
            tried = [x + dx for x, dx in zip(at, step or ())]
            found = residuals(tried) if tried else None
            if found and sum_of_squares(found) < before:
                break
            damping *= 10
        else:
            break
        at, now, damping = tried, found, damping / 10
        rows = jacobian(residuals, at, now)
        if before - sum_of_squares(now) < ENOUGH * before:
            break
    return LeastSquaresSolution(at, now, rows)


def jacobian(residuals: Callable[[Vector], Vector | None], at: Vector, now: Vector) -> Matrix:
    """Derivatives by differences to one side, and to the other one where a parameter is at the end of its range."""
    columns = []
    for i in range(len(at)):
        for step in (STEP, -STEP):
            beside = residuals([x + step * (i == j) for j, x in enumerate(at)])
            if beside is not None:
                break
        columns.append([(b - a) / step for a, b in zip(now, beside)] if beside else [0.0] * len(now))
    return [list(row) for row in zip(*columns)] if columns else [[] for _ in now]


def sum_of_squares(values: Sequence[float]) -> float:
    return math.fsum(value * value for value in values)


def normal_equations(rows: Matrix, residuals: Vector) -> tuple[Matrix, Vector]:
    n = len(rows[0])
    normal = [[math.fsum(row[i] * row[j] for row in rows) for j in range(n)] for i in range(n)]
    return normal, [math.fsum(row[i] * r for row, r in zip(rows, residuals)) for i in range(n)]


def damped(normal: Matrix, damping: float) -> Matrix:
    return [[x * (1 + damping * (i == j)) for j, x in enumerate(row)] for i, row in enumerate(normal)]


def solve(matrix: Matrix, right: Vector) -> Vector | None:
    """Solves by elimination with pivots; None where the matrix is singular."""
    n = len(right)
    rows = [[*row, b] for row, b in zip(matrix, right)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        if abs(rows[pivot][i]) < 1e-300:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    solution = [0.0] * n
    for i in reversed(range(n)):
        solution[i] = (rows[i][n] - sum(rows[i][j] * solution[j] for j in range(i + 1, n))) / rows[i][i]
    return solution


def inverse(matrix: Matrix) -> Matrix:
    """Inverse of a symmetric matrix that is not singular."""
    n = len(matrix)
    return [solve(matrix, [float(i == j) for j in range(n)]) or [] for i in range(n)]


def dependent(rows: Matrix, least: float) -> dict[int, list[int]]:
    """The parameters that the data do not tell: each with the others whose effects make up its own, none where it has
    no effect: less than `least` on the root mean square of the residuals. Earlier parameters are kept."""
    found: dict[int, list[int]] = {}
    kept: list[tuple[int, Vector]] = []  # an orthonormal base of the columns so far
    for i, column in enumerate(map(list, zip(*rows))):
        size = math.sqrt(sum_of_squares(column))
        if size <= least * math.sqrt(len(rows)):
            found[i] = []
            continue
        rest, shares = column, []
        for j, base in kept:
            share = math.fsum(a * b for a, b in zip(rest, base))
            rest = [a - share * b for a, b in zip(rest, base)]
            shares.append((abs(share) / size, j))
        left = math.sqrt(sum_of_squares(rest))
        if left < math.sqrt(SINGULAR) * size:
            found[i] = [j for share, j in shares if share > 0.1]
        else:
            kept.append((i, [a / left for a in rest]))
    return found


def deviations(solution: LeastSquaresSolution, groups: Sequence[object]) -> Vector:
    """The standard deviation of each parameter. Residuals of a group may have a common cause: Liang and Zeger's
    estimate (Biometrika 73, 1986), with the usual factor for few groups."""
    n, p = len(solution.residuals), len(solution.parameters)
    normal, _ = normal_equations(solution.jacobian, solution.residuals)
    bread = inverse(normal)
    sums: dict[object, Vector] = {}
    for group, row, r in zip(groups, solution.jacobian, solution.residuals):
        total = sums.setdefault(group, [0.0] * p)
        for i in range(p):
            total[i] += row[i] * r
    factor = len(sums) / (len(sums) - 1) * (n - 1) / (n - p)
    scores = [[sum(bread[i][k] * total[k] for k in range(p)) for i in range(p)] for total in sums.values()]
    return [math.sqrt(factor * math.fsum(score[i] ** 2 for score in scores)) for i in range(p)]


def quantile_of_t(share: float, freedom: int) -> float:
    """Student's: exact for 1 and 2 degrees of freedom, then by Cornish and Fisher's expansion, within 1 % at 97.5 %."""
    if freedom == 1:
        return math.tan(math.pi * (share - 0.5))
    if freedom == 2:
        return (2 * share - 1) / math.sqrt(2 * share * (1 - share))
    z = statistics.NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom ** (k + 1) for k, term in enumerate(terms))
