"""Which candidates of a kernel are measured: all, some at random, or those that a model proposes (bayesian.py)."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf
from random import Random

from kumihimo.kernel.candidates import CandidateFamily, KernelCandidate, space
from kumihimo.text.errors import wrong_value

STRATEGIES = ("exhaustive", "random", "bayesian")
SHARE = 0.1  # of the candidates that random and bayesian measure
LEAST = 12  # of them
MOST_EXHAUSTIVE = 64  # candidates; without --search larger spaces are sampled
Cost = Callable[[KernelCandidate], float]  # seconds; inf where it is refused


def strategy_for(wanted: str, candidates: int) -> str:
    if wanted and wanted not in STRATEGIES:
        raise wrong_value(f"--search must be one of {', '.join(STRATEGIES)}", f"'{wanted}'")
    if wanted or candidates <= MOST_EXHAUSTIVE:
        return wanted or "exhaustive"
    return "bayesian" if has_model() else "random"


def has_model() -> bool:
    """Whether Optuna is here, without the time that it takes to load."""
    try:
        return importlib.util.find_spec("optuna") is not None
    except ValueError:  # sys.modules says that there is none
        return False


def evaluations_of(strategy: str, candidates: int, times: int = 1) -> int:
    """How many are measured. `times`: of the usual effort."""
    if strategy == "exhaustive":
        return candidates
    return min(candidates, max(LEAST, ceil(SHARE * candidates)) * times)


def run(
    strategy: str,
    families: Sequence[CandidateFamily],
    cost: Cost,
    evaluations: int,
    seed: int = 0,
    is_over: Callable[[], bool] = lambda: False,
) -> dict[KernelCandidate, float]:
    """The cost of each candidate that was measured, in that order. It ends with `evaluations`, or when `is_over`."""
    found: dict[KernelCandidate, float] = {}
    for candidate, tell in proposals(strategy, families, seed):
        if len(found) >= evaluations or is_over():
            break
        if candidate not in found:
            found[candidate] = cost(candidate)
        tell(found[candidate])
    return found


def proposals(
    strategy: str, families: Sequence[CandidateFamily], seed: int
) -> Iterator[tuple[KernelCandidate, Callable[[float], None]]]:
    if strategy == "bayesian":
        from kumihimo.kernel import bayesian

        yield from bayesian.proposals(families, seed)
        return
    every = space(families)
    if strategy == "random":
        Random(seed).shuffle(every)
    for candidate in every:
        yield candidate, ignore


def ignore(cost: float) -> None:
    pass


def best(found: dict[KernelCandidate, float], count: int) -> list[KernelCandidate]:
    """The fastest ones, none that was refused."""
    return sorted((each for each in found if found[each] < inf), key=found.__getitem__)[:count]
