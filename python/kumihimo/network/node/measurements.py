"""The measurements, each by numbers of threads, with what they are compared with.

The function of a part checks what it is asked for, and returns the measurement: all parts are checked before any runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from kumihimo import _node
from kumihimo.network.node import LEAST_SAMPLES, statistics
from kumihimo.network.node.theory import Peak
from kumihimo.processes import host_memory
from kumihimo.text import quantities
from kumihimo.text.errors import Failed, failed, wrong_value
from kumihimo.text.json_types import JsonObject

Value = TypeVar("Value")
Measurement = Callable[[], JsonObject]
Do = Callable[[Callable[[], Value]], Value]  # runs native work so that it can be interrupted
ORDERINGS = ("colours", "levels")  # tried in this order; what is tried last need not be made again
LEAST_SETS = LEAST_SAMPLES
LONG_SECONDS, LONG_SHARE = 1800, 0.25  # of an official run of HPCG: time, and share of the memory
HPL_THRESHOLD = 16  # of the residual
SHORT_SECONDS = 0.1  # of a run of HPL: in less, starting the threads counts, too


@dataclass
class NodeMeasurement:
    threads: list[int]
    rounds: int
    do: Do = field(default=lambda work: work())
    advance: Callable[[str], None] = field(default=lambda what: None)


def check_memory(needed: int, what: str, advice: str) -> None:
    free = host_memory.free_memory()
    if needed > free:
        raise wrong_value(
            f"{what} must fit the {quantities.bytes_text(free)} of free memory", quantities.bytes_text(needed), advice
        )


def usual_threads(processors: int) -> list[int]:
    """1, 2, 4 .. and all."""
    return sorted({*(2**i for i in range(processors.bit_length()) if 2**i <= processors), processors})


def processors() -> int:
    return len(os.sched_getaffinity(0))


# --- STREAM


def usual_array() -> int:
    """Four times all last-level caches, as STREAM wants it."""
    return _node.usual_array_bytes()


def stream(asked: NodeMeasurement, array_bytes: int, peak: Peak) -> Measurement:
    check_memory(3 * array_bytes, "the three arrays of STREAM", "give a smaller --array")
    return lambda: measured_stream(asked, array_bytes, peak)


def measured_stream(asked: NodeMeasurement, array_bytes: int, peak: Peak) -> JsonObject:
    rows = []
    for threads in asked.threads:
        asked.advance(f"stream, {quantities.counted(threads, 'thread')}")
        found = asked.do(partial(_node.measure_stream, array_bytes, threads, asked.rounds))
        for stores, samples in (("usual", found.cached), ("non-temporal", found.streamed)):
            for kernel, arrays, seconds in zip(_node.STREAM_KERNELS, _node.STREAM_ARRAYS, samples):
                if not seconds:
                    continue
                rates = [arrays * found.bytes_per_array / each for each in seconds]
                row = {
                    "threads": threads,
                    "kernel": kernel,
                    "stores": stores,
                    "bytes_per_second": statistics(rates),
                    "best": max(rates),  # what STREAM itself reports
                }
                if peak.value:
                    row["share"] = row["bytes_per_second"]["median"] / peak.value
                rows.append({**row, "bound": found.bound})
    return {
        "array_bytes": array_bytes,
        "peak_bytes_per_second": peak.value,
        "peak_source": peak.source,
        "results": rows,
    }


# --- DGEMM


def dgemm(asked: NodeMeasurement, rows: int, library: str, core: Peak) -> Measurement:
    """Without a BLAS library: the peak of arithmetic, and why there is no DGEMM."""
    gemm, missing = None, ""
    try:
        gemm = _node.Gemm.open(library)
    except Failed:
        raise
    except Exception as error:  # without --blas it is no mistake of the user that there is none
        if library:
            raise
        missing = str(error)
    if gemm:
        check_memory(3 * 8 * rows * rows, "the three matrices of DGEMM", "give a smaller --dgemm-size")
    return lambda: measured_dgemm(asked, rows, gemm, missing, core)


def measured_dgemm(asked: NodeMeasurement, rows: int, gemm: _node.Gemm | None, missing: str, core: Peak) -> JsonObject:
    results = []
    for threads in asked.threads:
        asked.advance(f"dgemm, {quantities.counted(threads, 'thread')}")
        peak = asked.do(partial(_node.measure_peak, threads, asked.rounds))
        row = {"threads": threads, "fma_gflops": statistics(peak.gflops)}
        if core.value:
            row["theoretical_gflops"] = core.value * threads
        if gemm and (gemm.sets_threads or threads == max(asked.threads)):
            seconds = asked.do(partial(gemm.measure, rows, threads, asked.rounds))
            row["dgemm_gflops"] = statistics([2 * rows**3 / each * 1e-9 for each in seconds])
        results.append({**row, "instructions": peak.instructions})
    return {
        "library": gemm.name if gemm else None,
        "missing": missing,
        "rows": rows,
        "peak_source": core.source,
        "results": results,
    }


# --- HPL


@dataclass(frozen=True)
class HplRun:
    """A factorisation and solution by HPL's rules. `residual`: None if it is no number. `block`: NB."""

    gflops: float
    seconds: float
    residual: float | None
    passed: bool
    block: int


def hpl(asked: NodeMeasurement, rows: int, library: str, solve: Callable[[int, int], list[HplRun]]) -> Measurement:
    """`solve`: runs on so many threads, so many times. Without a BLAS library: why there is no HPL."""
    gemm, missing = None, ""
    try:
        gemm = _node.Gemm.open(library)
    except Failed:
        raise
    except Exception as error:
        if library:
            raise
        missing = str(error)
    check_memory(8 * rows * rows, "the matrix of HPL", "give a smaller --hpl-size")
    numbers = asked.threads if gemm and gemm.sets_threads else [max(asked.threads)]
    return lambda: measured_hpl(asked, rows, missing, [] if missing else numbers, solve)


def measured_hpl(
    asked: NodeMeasurement,
    rows: int,
    missing: str,
    numbers: list[int],
    solve: Callable[[int, int], list[HplRun]],
) -> JsonObject:
    results: list[JsonObject] = []
    runs: list[HplRun] = []
    for threads in numbers:
        asked.advance(f"hpl, {quantities.counted(threads, 'thread')}")
        runs = solve(threads, asked.rounds)
        took = statistics([each.seconds for each in runs])
        residuals = [each.residual for each in runs if each.residual is not None]
        results.append(
            {
                "threads": threads,
                "gflops": statistics([each.gflops for each in runs]),
                "seconds": took,
                "long_enough": took["median"] >= SHORT_SECONDS,
                "residual": max(residuals) if len(residuals) == len(runs) else None,
                "passed": all(each.passed for each in runs),
            }
        )
    return {"rows": rows, "block": min(rows, runs[0].block) if runs else None, "missing": missing, "results": results}


# --- HPCG


def hpcg(asked: NodeMeasurement, grid: tuple[int, int, int], ordering: str, seconds: float) -> Measurement:
    """`seconds`: of the sets of each number of threads."""
    check_memory(_node.hpcg_bytes(*grid), "the run of HPCG", "give a smaller --size")
    return lambda: measured_hpcg(asked, grid, ordering, seconds)


def measured_hpcg(asked: NodeMeasurement, grid: tuple[int, int, int], ordering: str, seconds: float) -> JsonObject:
    """HPCG by its rules: the reference run sets the residual to reach; then sets of iterations follow, by turns on the
    numbers of threads.
    """
    most = max(asked.threads)
    asked.advance("hpcg, reference")
    run = asked.do(lambda: _node.Hpcg.make(*grid, most))
    reference = asked.do(run.run_reference)
    kinds = list(ORDERINGS) if ordering == "auto" else [ordering]
    asked.advance("hpcg, optimisation")
    tried = {kind: converged(asked.do, run, kind, most) for kind in kinds}
    best = min(tried, key=lambda kind: tried[kind].seconds.total)
    if best != kinds[-1]:
        tried[best] = converged(asked.do, run, best, most)
    run.free_reference()
    validation = asked.do(lambda: run.validate(most))
    asked.advance("hpcg, sets")
    sets: dict[int, list] = {threads: [] for threads in asked.threads}
    ends = time.monotonic() + seconds * len(asked.threads)
    while min(map(len, sets.values())) < LEAST_SETS or time.monotonic() < ends:
        for threads in asked.threads:
            sets[threads].append(asked.do(partial(run.run_set, threads)))
    reductions = [done.reduction for each in sets.values() for done in each]
    variance = _node.hpcg_variance(reductions)
    results = [hpcg_row(run, threads, done) for threads, done in sets.items()]
    return {
        "grid": list(grid),
        "ordering": best,
        "groups": run.groups,
        "reference": {
            "iterations": reference.iterations,
            "reduction": reference.reduction,
            "seconds": reference.seconds.total,
            "gflops": run.flops_per_set / run.iterations * reference.iterations / reference.seconds.total * 1e-9,
        },
        "tried": {kind: {"iterations": d.iterations, "seconds": d.seconds.total} for kind, d in tried.items()},
        "iterations": run.iterations,
        "set_up_seconds": run.set_up_seconds,
        "optimisation_seconds": run.optimisation_seconds,
        "validation": {
            "matrix_departure": validation.matrix_departure,
            "preconditioner_departure": validation.preconditioner_departure,
            "plain_iterations": validation.plain_iterations,
            "preconditioned_iterations": validation.preconditioned_iterations,
            "variance": variance,
            "same_bits": len(set(reductions)) == 1,
            "passed": validation.passed and variance < 1e-6,
        },
        "bytes": _node.hpcg_bytes(*grid),
        "long_enough": is_long_enough(min(row["seconds"] for row in results), _node.hpcg_bytes(*grid)),
        "results": results,
    }


def is_long_enough(seconds: float, size: int) -> bool:
    """As the rules demand it of an official run, which also needs HPCG's own program."""
    return seconds >= LONG_SECONDS and size >= LONG_SHARE * host_memory.memory()


def converged(do: Do, run: _node.Hpcg, ordering: str, threads: int) -> _node.CgResult:
    do(lambda: run.optimise(ordering, threads))
    return do(lambda: run.converge(threads))


def hpcg_row(run: _node.Hpcg, threads: int, sets: list) -> JsonObject:
    seconds = [done.seconds.total for done in sets]
    if min(seconds) <= 0:
        raise failed("the clock did not advance in a set of HPCG", "", "use a larger --size")
    parts = ("dot", "update", "product", "preconditioner")
    return {
        "threads": threads,
        "sets": len(sets),
        "seconds": sum(seconds),
        "rating_gflops": run.rating(len(sets), sum(seconds)),
        "set_gflops": statistics([run.rating(1, each) for each in seconds]),
        "raw_gflops": statistics([run.flops_per_set / each * 1e-9 for each in seconds]),
        "bytes_per_second": run.bytes_per_iteration * run.iterations / statistics(seconds)["median"],
        "seconds_of": {part: statistics([getattr(d.seconds, part) for d in sets])["median"] for part in parts},
    }
