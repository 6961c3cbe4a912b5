"""Noise of the operating system as the bench driver found it on all ranks: its statistics, and its trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo.text.json_types import JsonObject


@dataclass
class Series:
    """Detours of one rank, in nanoseconds. `detours`: start and length, ascending."""

    rank: int
    node: str
    quantum: int
    duration: int
    pieces: int
    detours: list[tuple[int, int]]

    @property
    def lost(self) -> int:
        return sum(length for _, length in self.detours)


def statistics(series: Sequence[Series]) -> JsonObject:
    """Over all ranks, and of each. Shares are of the time; `detours_per_second` of a rank."""
    duration = sum(each.duration for each in series)
    lengths = sorted(length for each in series for _, length in each.detours)
    return {
        "quantum_seconds": min(each.quantum for each in series) * 1e-9,
        "seconds": max(each.duration for each in series) * 1e-9,
        "share_lost": sum(lengths) / duration,
        "detours": len(lengths),
        "detours_per_second": len(lengths) / (duration * 1e-9),
        "median_seconds": lengths[len(lengths) // 2] * 1e-9 if lengths else None,
        "longest_seconds": lengths[-1] * 1e-9 if lengths else None,
        "histogram": histogram(lengths, duration),
        "ranks": [
            {
                "rank": each.rank,
                "node": each.node,
                "share_lost": each.lost / each.duration,
                "detours": len(each.detours),
                "longest_seconds": max((length for _, length in each.detours), default=0) * 1e-9,
            }
            for each in series
        ],
    }


def histogram(lengths: Sequence[int], duration: int) -> list[JsonObject]:
    """Detours by length: from a power of two, in ns, to below the next one. Only those that there are."""
    bins: dict[int, list[int]] = {}
    for length in lengths:
        bins.setdefault(length.bit_length() - 1, []).append(length)
    return [
        {
            "from_seconds": 2**power * 1e-9,
            "below_seconds": 2 ** (power + 1) * 1e-9,
            "detours": len(found),
            "detours_per_second": len(found) / (duration * 1e-9),
            "share_lost": sum(found) / duration,
        }
        for power, found in sorted(bins.items())
    ]


def trace(series: Sequence[Series], comments: Sequence[str] = ()) -> str:
    """As `simulate --noise trace:FILE` reads it: lines of start and length in ns. The series of the ranks follow one
    another. The reader lets the trace end with its last detour, so all are shifted until this one ends with the time
    that was measured; as a simulated rank begins anywhere in the trace, this changes nothing else."""
    duration = sum(each.duration for each in series)
    detours = []
    before = 0
    for each in series:
        detours += [(before + start, length) for start, length in each.detours]
        before += each.duration
    if not detours:
        raise ValueError("a trace needs a detour")
    shift = duration - sum(detours[-1])
    lines = [f"# {comment}" for comment in comments]
    lines += [f"{start + shift} {length}" for start, length in detours]
    return "\n".join(lines) + "\n"
