"""The predictions of the experiment: every algorithm over the sizes of the paper on its job of K, and over fewer on the
whole machine; where the time of the paper's algorithm goes; and how much hangs on the one declared segment size.

A segment size is declared to all algorithms alike, at the same cost a message; those that do not pipeline ignore it and
are left out of its sweep, 1 GiB with segments from 16 KiB to 4 MiB. `tuned` gives every algorithm the best of several
sizes at every length. Both take from the curves what was predicted there already, at the machine's own size.
"""

from __future__ import annotations

from kumihimo import _machine
from kumihimo.demo.experiment.cases import Progress, WantedPrediction, predict_all
from kumihimo.demo.experiment.published import SUBJECT
from kumihimo.predict import simulation
from kumihimo.text.json_types import JsonObject

SMALLEST, LARGEST = 16, 2**30
# Between neighbouring sizes. Extensions have more lanes, cost more to simulate, and get fewer sizes.
FACTOR, FACTOR_OF_EXTENSIONS, FACTOR_FULL = 4, 64, 256

SEGMENTS = [2**exponent for exponent in range(14, 23)]
TUNED_SEGMENTS = SEGMENTS[::2]
TUNED_BYTES = [2**18, 2**24]  # of the curves


def sizes(factor: int) -> list[int]:
    """From 1 GiB down to 16 B, 1 GiB always among them: the largest first."""
    found = [LARGEST]
    while found[-1] // factor >= SMALLEST:
        found.append(found[-1] // factor)
    return found


def curves(
    machine: _machine.Machine, progress: Progress, factor: int, factor_of_extensions: int | None
) -> list[JsonObject]:
    """Allreduce with every algorithm that fits, at its defaults; without our own extensions where these have no
    factor."""
    wanted = [
        WantedPrediction(machine, variant.name, size)
        for variant in simulation.variants("allreduce", simulation.ALL)
        if (each := factor_of_extensions if variant.extension else factor) is not None
        for size in sizes(each)
    ]
    return predict_all(f"{machine.shape} of {machine.name}", wanted, progress)


def parts(machine: _machine.Machine, progress: Progress) -> list[JsonObject]:
    """Six predictions, each with its phases and computing shares."""
    wanted = [
        WantedPrediction(machine, SUBJECT, LARGEST, collective=collective, simd=simd)
        for collective in ("bcast", "reduce", "allreduce")
        for simd in (True, False)
    ]
    return predict_all("reduce and broadcast apart", wanted, progress)


def sensitivity(machine: _machine.Machine, curves: list[JsonObject], progress: Progress) -> list[JsonObject]:
    """Every algorithm that pipelines, at every segment size; `curves` are the results at the machine's own."""
    own = [r for r in curves if r["bytes"] == LARGEST and r["segments"] > 1]
    others = [segment for segment in SEGMENTS if segment != machine.segment_bytes_of(LARGEST)]
    names = [result["algorithm"] for result in own]
    return own + _predict("segment sizes", machine, names, LARGEST, others, progress)


def tuned(
    machine: _machine.Machine, curves: list[JsonObject], by_segment: list[JsonObject], progress: Progress
) -> list[JsonObject]:
    """The best segment size by algorithm and length; `by_segment` is what `sensitivity` found at 1 GiB."""
    names = sorted({result["algorithm"] for result in by_segment})
    results = list(by_segment)
    for length in TUNED_BYTES:
        results += [r for r in curves if r["algorithm"] in names and r["bytes"] == length]
        # A segment as long as the data is the same as one of twice that.
        others = [
            s for s in TUNED_SEGMENTS if s != machine.segment_bytes_of(length) and s <= max(length, TUNED_SEGMENTS[0])
        ]
        results += _predict("tuned segment sizes", machine, names, length, others, progress)
    best: dict[tuple[str, int], JsonObject] = {}
    for result in results:
        key = (result["algorithm"], result["bytes"])
        if key not in best or result["seconds"] < best[key]["seconds"]:
            best[key] = result
    return sorted(best.values(), key=lambda r: (r["algorithm"], r["bytes"]))


def _predict(
    what: str, machine: _machine.Machine, names: list[str], length: int, segments: list[int], progress: Progress
) -> list[JsonObject]:
    wanted = [WantedPrediction(machine, name, length, segment_bytes=segment) for segment in segments for name in names]
    return predict_all(what, wanted, progress)
