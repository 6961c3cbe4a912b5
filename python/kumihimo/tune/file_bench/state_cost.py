"""What it costs to save and to load an application's state: time = a + bytes / bandwidth, for each number of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo.network.node import statistics
from kumihimo.tune.file_bench.cases import FileSteps
from kumihimo.tune.file_bench.job import FileRun
from kumihimo.tune.file_bench.rates import LEAST_CACHED, MEMORY, STORAGE, steps_of

FORM = "kumihimo-state-cost-1"


@dataclass(frozen=True)
class CostLaw:
    """Of all ranks together. `bytes_per_second`: None where the times do not grow with the bytes."""

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


def steps(sizes: Sequence[int], iterations: int, cache: str, seed: int) -> FileSteps:
    """All sizes once in each iteration, from small to large, each saved and loaded."""
    made, generation = [], 0
    for _ in range(iterations):
        for size in sizes:
            generation += 1
            state = {"bytes": size, "generation": generation, "cache": cache, "seed": seed}
            made += [{"do": word, "state": state} for word in ("save", "load")]
    return FileSteps(steps=(*made, {"do": "discard", "state": {"bytes": 1}}))


def row(sizes: Sequence[int], asked: FileSteps, run: FileRun) -> dict:
    """Of one launch: the law of saves and of loads, and the points that it is fitted to."""
    ranks, nodes = run.about["ranks"], len(run.about["nodes"])
    points = []
    for place, size in enumerate(sizes):
        found = {word: list(steps_of(asked, run, do=word))[place :: len(sizes)] for word in ("save", "load")}
        cached = max(each["cached_share"] for each in found["load"])
        points.append(
            {
                "bytes_per_rank": size,
                "bytes": size * ranks,
                **{word: statistics([each["seconds"] for each in found[word]]) for word in found},
                "cached_share": cached,
            }
        )
    laws = {}
    for word in ("save", "load"):
        law = fitted([each["bytes"] for each in points], [each[word]["median"] for each in points])
        laws[word] = {
            "fixed_seconds": law.fixed_seconds,
            "bytes_per_second": law.bytes_per_second,
            "largest_deviation": law.largest_deviation,
            "source": MEMORY if run.in_memory or (word == "load" and is_cached(points)) else STORAGE,
        }
    return {"ranks": ranks, "nodes": nodes, **laws, "points": points}


def is_cached(points: list[dict]) -> bool:
    return any(each["cached_share"] >= LEAST_CACHED for each in points)


def law_of(part: dict) -> CostLaw:
    """Of a row's "save" or "load"."""
    return CostLaw(part["fixed_seconds"], part["bytes_per_second"], part.get("largest_deviation", 0.0))
