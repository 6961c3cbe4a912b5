"""Cost of saving and loading an application's state, for each number of ranks."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo.network.node import statistics
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.file_bench.cases import FileSteps
from kumihimo.tune.file_bench.cost_law import MEMORY, STORAGE, fitted
from kumihimo.tune.file_bench.job import FileRun
from kumihimo.tune.file_bench.rates import LEAST_CACHED, steps_of


def steps(sizes: Sequence[int], iterations: int, cache: str, seed: int, partner: bool = False) -> FileSteps:
    """All sizes once in each iteration, from small to large, each saved and loaded; with `partner` also copied to the
    memory of another rank and back."""
    made, generation = [], 0
    for _ in range(iterations):
        for size in sizes:
            generation += 1
            state = {"bytes": size, "generation": generation, "cache": cache, "seed": seed}
            made += [{"do": word, "state": state} for word in ("save", "load", *(["partner"] if partner else []))]
    return FileSteps(steps=(*made, {"do": "discard", "state": {"bytes": 1}}))


def row(sizes: Sequence[int], asked: FileSteps, run: FileRun) -> JsonObject:
    """Row of one launch: the law of saves and of loads, and the points that it is fitted to."""
    ranks, nodes = run.about["ranks"], len(run.about["nodes"])
    points = []
    for place, size in enumerate(sizes):
        found = {word: list(steps_of(asked, run, do=word))[place :: len(sizes)] for word in ("save", "load")}
        copies = list(steps_of(asked, run, do="partner"))[place :: len(sizes)]
        cached = max(each["cached_share"] for each in found["load"])
        points.append(
            {
                "bytes_per_rank": size,
                "bytes": size * ranks,
                **{word: statistics([each["seconds"] for each in found[word]]) for word in found},
                "cached_share": cached,
                **({"partner": in_memory(copies)} if copies else {}),
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


def in_memory(copies: list[JsonObject]) -> JsonObject:
    """Copies of each rank's state to its partner, and returns to them after the loss of one rank."""
    return {
        "copy": statistics([each["seconds"] for each in copies]),
        "restore": statistics([each["restore_seconds"] for each in copies]),
        "on_other_nodes": int(copies[0]["on_other_nodes"]),
    }


def is_cached(points: list[JsonObject]) -> bool:
    return any(each["cached_share"] >= LEAST_CACHED for each in points)
