"""time = a + bytes / bandwidth, of a saved state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo.text.json_types import JsonObject

FORM = "kumihimo-state-cost-1"  # of schemas/state-cost.schema.json
STORAGE, MEMORY = "storage", "memory"  # whose time it is


@dataclass(frozen=True)
class CostLaw:
    """Cost of all ranks together. `bytes_per_second`: None where the times do not grow with the bytes."""

    fixed_seconds: float
    bytes_per_second: float | None
    largest_deviation: float = 0.0  # |law / measured - 1|

    def seconds(self, size: float) -> float:
        return self.fixed_seconds + (size / self.bytes_per_second if self.bytes_per_second else 0.0)


def fitted(sizes: Sequence[float], seconds: Sequence[float]) -> CostLaw:
    """The least squares of relative errors, with neither part below 0. One size has no fixed part."""
    weights = [1 / time for time in seconds]  # the model over the measured time must be 1
    scaled = [size / time for size, time in zip(sizes, seconds)]
    ww, ws, ss = (
        sum(a * b for a, b in zip(x, y)) for x, y in ((weights, weights), (weights, scaled), (scaled, scaled))
    )
    w, s = sum(weights), sum(scaled)
    determinant = ww * ss - ws * ws
    fixed, each = 0.0, s / ss
    if len(set(sizes)) > 1 and determinant > 1e-12 * ww * ss:
        fixed, each = (w * ss - s * ws) / determinant, (s * ww - w * ws) / determinant
        if fixed < 0:
            fixed, each = 0.0, s / ss
        elif each <= 0:
            fixed, each = w / ww, 0.0
    deviations = [abs(fixed * weight + each * size - 1) for weight, size in zip(weights, scaled)]
    return CostLaw(fixed, 1 / each if each > 0 else None, max(deviations))


def law_of(part: JsonObject) -> CostLaw:
    """Fits the law of a row's "save" or "load"."""
    return CostLaw(part["fixed_seconds"], part["bytes_per_second"], part.get("largest_deviation", 0.0))
