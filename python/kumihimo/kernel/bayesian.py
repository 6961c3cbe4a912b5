"""Proposals of a tree-structured Parzen estimator (Bergstra, Bardenet, Bengio, Kégl, NIPS 2011), by Optuna: it models
which values of the parameters the fast candidates have and the slow ones have not. Most proposals are neighbours of the
fastest candidate so far, with another value of one parameter: the model finds the region, neighbours its best place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from math import inf, log
from random import Random
from typing import Any

from kumihimo.kernel.candidates import CandidateFamily, KernelCandidate, space
from kumihimo.text.errors import failed
from kumihimo.text.json_types import JsonObject

WORST = 1e3  # times the slowest candidate: what a refused one counts as
START = 8  # proposals before the first neighbour
MODEL = 4  # from then on every fourth proposal is the model's
FEW = 5  # values of a parameter that are all neighbours: they may have no order
STALE = 2  # proposals in a row that were made before, after which one is drawn at random
ADVICE = "install it (pip install -r requirements/search.txt), or use --search random or exhaustive"


def proposals(
    families: Sequence[CandidateFamily], seed: int
) -> Iterator[tuple[KernelCandidate, Callable[[float], None]]]:
    """Without end while candidates are left; the default of each variant first."""
    optuna = library()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=START)
    study = optuna.create_study(sampler=sampler)
    left = dict.fromkeys(space(families))
    drawn = Random(seed)
    slowest, least = 1e-12, inf
    fastest: KernelCandidate | None = None
    starts = [next(family.candidates()) for family in families]
    made = 0
    while left:
        if starts:
            study.enqueue_trial(as_trial(starts.pop(0), families))
        near = [each for each in neighbours(fastest, families) if each in left]
        if made >= START and made % MODEL and near:
            study.enqueue_trial(as_trial(drawn.choice(near), families))
        trial, candidate = ask(study, families, left, drawn)
        cost: list[float] = []
        yield candidate, cost.append
        left.pop(candidate, None)
        made += 1
        if cost[0] < inf:
            slowest = max(slowest, cost[0])
            if cost[0] < least:
                least, fastest = cost[0], candidate
        study.tell(trial, log(max(cost[0], 1e-15)) if cost[0] < inf else log(slowest * WORST))


def library() -> Any:
    """The module optuna."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import optuna
    except ImportError:
        raise failed("--search bayesian needs the Python package optuna", "", ADVICE) from None
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    return optuna


def ask(
    study: Any, families: Sequence[CandidateFamily], left: Collection[KernelCandidate], drawn: Random
) -> tuple[Any, KernelCandidate]:
    """One that is left: where the model repeats itself, a random one, of which it learns."""
    for _ in range(STALE):
        trial = study.ask()
        candidate = suggested(trial, families)
        if candidate in left:
            return trial, candidate
        study.tell(trial, state=failed_state())
    candidate = drawn.choice(list(left))
    study.enqueue_trial(as_trial(candidate, families))
    trial = study.ask()
    return trial, suggested(trial, families)


def neighbours(candidate: KernelCandidate | None, families: Sequence[CandidateFamily]) -> Iterator[KernelCandidate]:
    for family in families:
        if candidate is None or family.variant != candidate.variant:
            continue
        for at, (name, tried) in enumerate(family.parameters):
            place = tried.index(candidate.parameters[name])
            steps = range(len(tried)) if len(tried) <= FEW else range(place - 1, place + 2)
            for near in steps:
                if 0 <= near < len(tried) and near != place:
                    values = list(candidate.values)
                    values[at] = name, tried[near]
                    yield KernelCandidate(family.variant, tuple(values))


def failed_state() -> object:
    from optuna.trial import TrialState

    return TrialState.FAIL


def suggested(trial: Any, families: Sequence[CandidateFamily]) -> KernelCandidate:
    """Values are proposed by their places: numbers have an order, which the model uses."""
    name = trial.suggest_categorical("variant", [family.variant for family in families])
    family = next(family for family in families if family.variant == name)
    values = []
    for parameter, tried in family.parameters:
        place = trial.suggest_int(f"{name} {parameter}", 0, len(tried) - 1) if len(tried) > 1 else 0
        values.append((parameter, tried[place]))
    return KernelCandidate(name, tuple(values))


def as_trial(candidate: KernelCandidate, families: Sequence[CandidateFamily]) -> JsonObject:
    family = next(family for family in families if family.variant == candidate.variant)
    chosen = candidate.parameters
    places = {
        f"{family.variant} {name}": tried.index(chosen[name]) for name, tried in family.parameters if len(tried) > 1
    }
    return {"variant": candidate.variant, **places}
