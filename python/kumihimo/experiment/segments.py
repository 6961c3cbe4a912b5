"""How much hangs on the one declared segment size: 1 GiB with segments from 16 KiB to 4 MiB.

The size is declared to all algorithms alike, at the same cost a message; those that do not pipeline ignore it and are
left out. Apart from that, `tuned` gives every algorithm the best of several sizes at every length.
"""

from __future__ import annotations

from kumihimo import _machine
from kumihimo.experiment.cases import Progress, Wanted, algorithms, predict_all

BYTES = 2**30
SEGMENTS = [2**exponent for exponent in range(14, 23)]
TUNED_SEGMENTS = SEGMENTS[::2]
TUNED_BYTES = [2**16, 2**20, 2**25]


def sensitivity(machine: _machine.Machine, progress: Progress) -> list[dict]:
    """Every algorithm that pipelines, at every segment size."""
    smallest = _predict("who pipelines", machine, algorithms(), BYTES, SEGMENTS[:1], progress)
    pipelining = [result for result in smallest if result["segments"] > 1]
    names = [result["algorithm"] for result in pipelining]
    return pipelining + _predict("segment sizes", machine, names, BYTES, SEGMENTS[1:], progress)


def tuned(machine: _machine.Machine, at_largest: list[dict], progress: Progress) -> list[dict]:
    """The best segment size by algorithm and length; `at_largest` is what `sensitivity` found at 1 GiB."""
    names = sorted({result["algorithm"] for result in at_largest})
    results = list(at_largest)
    for length in TUNED_BYTES:
        results += _predict("tuned segment sizes", machine, names, length, TUNED_SEGMENTS, progress)
    best: dict[tuple[str, int], dict] = {}
    for result in results:
        key = (result["algorithm"], result["bytes"])
        if key not in best or result["seconds"] < best[key]["seconds"]:
            best[key] = result
    return sorted(best.values(), key=lambda r: (r["algorithm"], r["bytes"]))


def _predict(
    what: str, machine: _machine.Machine, names: list[str], length: int, segments: list[int], progress: Progress
) -> list[dict]:
    wanted = [Wanted(machine, name, length, segment_bytes=segment) for segment in segments for name in names]
    return predict_all(what, wanted, progress)
