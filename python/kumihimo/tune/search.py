"""Where to look. All algorithms are tried at every third of the sizes up to 4 MiB, the best of them at every third of
all; where the winners of two neighbours differ, these at the sizes between them, by halves. The rest takes the winner
of its neighbours. What comes of it is only proposed: final_comparison.py decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

from kumihimo import _collectives
from kumihimo.text.errors import NotApplicable, OutOfTime
from kumihimo.text.json_types import JsonObject
from kumihimo.text.ranges import times_apart
from kumihimo.tune.bench import tuned, variations
from kumihimo.tune.bench.cases import BenchCase, cases_of_all
from kumihimo.tune.bench.tuned import CaseTuning, Choice

STRIDE = 3  # of the sizes, in the first look
ELEMENT = 8  # bytes
NOT_REACHED = {"not_applicable": "no time"}
PROBED_UP_TO = 2**20  # bytes: sizes beside a power of two, above which an element more or less is nothing


def coarse(sizes: Sequence[int]) -> list[int]:
    """Every third, and the last."""
    ascending = sorted(set(sizes))
    return sorted({*ascending[::STRIDE], ascending[-1]})


@dataclass(frozen=True)
class Proposals:
    """`by_size`: what may be best. `whole`: whether every launch of the search was made and came back with all of its
    results, so that more time would propose nothing else."""

    by_size: dict[int, Choice]
    whole: bool


def proposals(tuning: CaseTuning, thorough: bool, first_look: Sequence[int] | None = None) -> Proposals:
    """For each of tuning.sizes; as good as time allows. `first_look`: those at which all algorithms are tried [default:
    coarse()]. tuning.launch gives None for a case that it did not reach."""
    cut: list[str] = []
    tuning = noting_cut(tuning, cut)
    first = replace(tuning, sizes=first_look or coarse(tuning.sizes))
    winners: dict[int, Choice] = {}
    whole = thorough
    try:
        for choices in tuned.narrowed(first, tuned.not_too_long(first.sizes)):
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
    except NotApplicable:
        pass  # nothing fits
    except OutOfTime:
        whole = False
    return Proposals(spread(winners, tuning.sizes), whole and not cut)


def one_for_all(tuning: CaseTuning) -> Proposals:
    """The algorithm with the least time over all sizes together, in one segment: where each rank knows the lengths of
    its own blocks alone, one plan runs all lengths (ADR 19)."""
    cut: list[str] = []
    tuning = noting_cut(tuning, cut)
    of = tuning.case.collective
    cases = cases_of_all(of, ranks=tuning.ranks, sizes=tuning.sizes, start=in_one_segment, **tuning.case.shared)
    cases = [case for case in cases if tuning.allowed(case.algorithm)]
    times: dict[Choice, list[float]] = {}
    try:
        for number in range(tuning.effort.finals):
            tuning.step(f"trying all algorithms, launch {number + 1} of {tuning.effort.finals}")
            for result in tuned.launched(tuning, f"one for all {number + 1}", cases, tuning.effort.survey_seconds):
                if "not_applicable" not in result:
                    cost: float = result["ratio"] if "ratio" in result else result["seconds"]
                    times.setdefault(result["choice"], []).append(log(cost))
    except OutOfTime:
        cut.append("launch")
    most = max(map(len, times.values()), default=0)
    at_all_sizes = {choice: sum(found) for choice, found in times.items() if len(found) == most}
    best = min(at_all_sizes, key=lambda choice: at_all_sizes[choice], default=None)
    return Proposals({} if best is None else dict.fromkeys(tuning.sizes, best), not cut)


def in_one_segment(collective: str, name: str, each: int, ranks: int) -> JsonObject:
    declared = {parameter.name for parameter in _collectives.find(collective, name).parameters}
    return {**variations.start(collective, name, each, ranks), **({"segments": 1} if "segments" in declared else {})}


def noting_cut(tuning: CaseTuning, cut: list[str]) -> CaseTuning:
    """The same, which adds to `cut` the names of launches that do not reach all."""
    reach = tuning.launch
    assert reach is not None, "tunings of several targets have a launch"

    def launch(asked: CaseTuning, name: str, cases: list[BenchCase], seconds: float) -> list[JsonObject | None]:
        results = reach(asked, name, cases, seconds)
        cut.extend(name for result in results if result is None)
        return [NOT_REACHED if result is None else result for result in results]

    return replace(tuning, launch=launch)


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
    return {size: winners[min(sorted(winners), key=lambda s: times_apart(s, size))] for size in sorted(set(sizes))}


def probes(sizes: Sequence[int], ranks: int, beside: Sequence[int]) -> list[int]:
    """Sizes beside the usual ones, where algorithms and libraries fall off cliffs: an element less and an element more
    than those of `beside`, which are usually powers of two, and fewer elements than ranks."""
    low, high = min(sizes), max(sizes)
    few = {1, 2, ranks // 2, ranks - 1}
    odd = {size // ELEMENT + more for size in beside if size <= PROBED_UP_TO for more in (-1, 1)}
    return sorted({n * ELEMENT for n in few | odd if n >= 1 and low <= n * ELEMENT <= high} - set(sizes))
