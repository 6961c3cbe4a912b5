"""Where to look. Algorithms are tried at every third of the sizes; where two neighbours differ, at the sizes between
them, by halves. The rest takes the winner of its neighbours. What comes of it is only proposed: judging.py decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kumihimo.bench import tuned
from kumihimo.bench.tuned import Choice, Tuning
from kumihimo.errors import NotApplicable, OutOfTime

STRIDE = 3  # of the sizes, in the first look
ELEMENT = 8  # bytes
PROBED_UP_TO = 2**20  # bytes: sizes beside a power of two, above which an element more or less is nothing


def coarse(sizes: Sequence[int]) -> list[int]:
    """Every third, and the last."""
    ascending = sorted(set(sizes))
    return sorted({*ascending[::STRIDE], ascending[-1]})


def proposals(tuning: Tuning, thorough: bool) -> dict[int, Choice]:
    """What may be best for each of tuning.sizes; as good as time allows."""
    first = replace(tuning, sizes=coarse(tuning.sizes))
    winners: dict[int, Choice] = {}
    try:
        for choices in tuned.narrowed(first):
            winners |= {size: found[0] for size, found in choices.items() if found}
            if not thorough:
                break
        while thorough and (gaps := between(tuning.sizes, winners)):
            near = {size: list(pair) for size, pair in gaps.items()}
            found = tuned.finals(tuning, near, f"between {min(near)} and {max(near)}")
            winners |= {
                size: choices[0] if choices else near[size][0]
                for size, choices in ((size, found.get(size)) for size in near)
            }
    except (NotApplicable, OutOfTime):
        pass  # what was found until then
    return spread(winners, tuning.sizes)


def between(sizes: Sequence[int], winners: dict[int, Choice]) -> dict[int, tuple[Choice, Choice]]:
    """The sizes half-way between neighbours whose winners differ, with both."""
    ascending = sorted(set(sizes))
    known = [i for i, size in enumerate(ascending) if size in winners]
    halves = {}
    for left, right in zip(known, known[1:]):
        pair = winners[ascending[left]], winners[ascending[right]]
        if pair[0] != pair[1] and right - left > 1:
            halves[ascending[(left + right) // 2]] = pair
    return halves


def spread(winners: dict[int, Choice], sizes: Sequence[int]) -> dict[int, Choice]:
    """Every size takes the winner of the nearest size that has one, of two as near that of the smaller."""
    if not winners:
        return {}
    return {
        size: winners[min(sorted(winners), key=lambda s: max(s, size) / min(s, size))] for size in sorted(set(sizes))
    }


def probes(sizes: Sequence[int], ranks: int) -> list[int]:
    """Sizes beside the usual ones, where algorithms and libraries fall off cliffs: an element less and an element more
    than a power of two, and fewer elements than ranks."""
    low, high = min(sizes), max(sizes)
    few = {1, 2, ranks // 2, ranks - 1}
    odd = {size // ELEMENT + more for size in coarse(sizes) if size <= PROBED_UP_TO for more in (-1, 1)}
    return sorted({n * ELEMENT for n in few | odd if n >= 1 and low <= n * ELEMENT <= high} - set(sizes))
