"""The algorithm and its parameters for every size, chosen on launches of their own, then measured on fresh ones.

Training narrows: every algorithm at every second size; the best of those with segments of several sizes, copied once,
twice or past the caches, then with other numbers of segments in flight and of trees; and the finalists for longer, in
several launches.
The choice is then measured beside the library on launches that had no part in it. Launches are the independent samples:
the interval is that of the median of their ratios, from the 2nd to the 8th of 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from statistics import median
from typing import Optional

from kumihimo import _collectives, _measure
from kumihimo.processes import mpi
from kumihimo.text.errors import not_applicable
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench import variations
from kumihimo.tune.bench.cases import BenchCase, applies, cases_of_all, sizes_of
from kumihimo.tune.bench.job import LaunchResults, run_measure

LARGEST_SURVEYED = 4 * 2**20  # larger sizes take the candidates of this one
BEST_OF_SURVEY = 3
MOST_REFINED = 4  # algorithms at one size
FINALISTS = 3
FINALS = 3  # launches: what is fast in one may have been lucky with it
TRAINING = 3 + FINALS  # launches in all, at most

Step = Callable[[str], None]
Choice = tuple[str, tuple]  # algorithm, parameters in order
Choices = Mapping[int, Sequence[Choice]]  # by size, the best first


@dataclass
class CaseEffort:
    """How long the parts take, for one case in one launch."""

    survey_seconds: float = 0.01
    refine_seconds: float = 0.02
    final_seconds: float = 0.06
    case_seconds: float = 0.2
    launches: int = 9
    finals: int = FINALS


# One launch of training: results in the order of the cases, None for one that it did not reach. Its name is its own.
TrainingLaunch = Callable[["CaseTuning", str, list[BenchCase], float], list[Optional[JsonObject]]]


@dataclass
class CaseTuning:
    case: BenchCase  # its algorithm and bytes are replaced
    ranks: int
    sizes: Sequence[int]
    installation: mpi.Installation | None = None
    effort: CaseEffort = field(default_factory=CaseEffort)
    step: Step = lambda what: None  # told what is done next
    options: JsonObject = field(default_factory=dict)
    launch: TrainingLaunch | None = None
    allowed: Callable[[str], bool] = lambda algorithm: True
    # Of the cases of a survey, those that may be the best.
    worth_trying: Callable[[list[BenchCase]], list[BenchCase]] = lambda cases: cases


def run_tuned(
    collective: str,
    *,
    ranks: int,
    sizes: Sequence[int],
    installation: mpi.Installation | None = None,
    effort: CaseEffort | None = None,
    step: Step | None = None,
    options: JsonObject | None = None,
    **rest,
) -> JsonObject:
    """Choose for every size, then measure the choices: {results, geometric_mean, launches, about, notes}. Each result
    has its asked_bytes: of irregular blocks `bytes` is the mean."""
    tuning = CaseTuning(BenchCase(collective, "", **rest), ranks, sizes_of(collective, sizes), installation)
    tuning.effort = effort or tuning.effort
    tuning.step = step or tuning.step
    tuning.options = options or {}
    chosen = choose(tuning)
    runs = []
    for number in range(tuning.effort.launches):
        tuning.step(f"launch {number + 1} of {tuning.effort.launches}")
        runs.append(measure(tuning, chosen, tuning.effort.case_seconds))
    return joined(chosen, runs)


# --- training


def choose(tuning: CaseTuning) -> list[BenchCase]:
    """The best case for every size, by launches that serve nothing else."""
    *_, final = narrowed(tuning, surveyed_sizes(tuning.sizes))
    lost = next((size for size in tuning.sizes if not final.get(size)), None)
    if lost is not None:
        raise not_applicable(f"no algorithm ran in every launch for {lost} bytes")
    return [case_of(tuning, size, final[size][0]) for size in tuning.sizes]


def narrowed(tuning: CaseTuning, surveyed_at: Sequence[int]) -> Iterator[Choices]:
    """Choices for every size, better founded after each part of training; those of the last part are the ones. All
    algorithms are tried at `surveyed_at`."""
    tuning.step("trying all algorithms")
    surveyed = best(survey(tuning, surveyed_at), BEST_OF_SURVEY)
    if not surveyed:
        raise not_applicable("no algorithm fits these ranks")
    near = {size: neighbours(surveyed, size) for size in tuning.sizes}
    yield near
    tuning.step("trying segment sizes")
    cases = varied(tuning, near, variations.segments_and_copies)
    refined = finalists(tuning, launched(tuning, "segments", cases, tuning.effort.refine_seconds))
    yield refined
    tuning.step("trying windows and trees")
    cases = varied(tuning, refined, variations.others)
    if any(case.parameters for case in cases):
        refined = finalists(tuning, launched(tuning, "windows", cases, tuning.effort.refine_seconds)) or refined
        yield refined
    yield finals(tuning, refined)


def finals(tuning: CaseTuning, choices: Choices, name: str = "finals") -> Choices:
    """The best of few, by several launches."""
    # Cases of one size that follow one another would share their turns; here each meets the library alone, as it will.
    ranked = zip_longest(*([case_of(tuning, size, choice) for choice in choices[size]] for size in sorted(choices)))
    finalists = [case for place in ranked for case in place if case is not None]
    launches = []
    where = "" if name == "finals" else f" {name}"
    for number in range(tuning.effort.finals):
        tuning.step(f"comparing the best algorithms{where}, launch {number + 1} of {tuning.effort.finals}")
        launches.append(launched(tuning, f"{name} {number + 1}", finalists, tuning.effort.final_seconds))
    return best(together(launches), 1)


def survey(tuning: CaseTuning, sizes: Sequence[int]) -> list[JsonObject]:
    shared = tuning.case.shared
    cases = cases_of_all(tuning.case.collective, ranks=tuning.ranks, sizes=sizes, start=variations.start, **shared)
    cases = tuning.worth_trying([case for case in cases if tuning.allowed(case.algorithm)])
    return launched(tuning, "survey", cases, tuning.effort.survey_seconds)


def surveyed_sizes(sizes: Sequence[int]) -> list[int]:
    """Every second of them in ascending order, up to a limit; at least one."""
    small = sorted(set(not_too_long(sizes)))
    return sorted({*small[::2], small[-1]})


def not_too_long(sizes: Sequence[int]) -> list[int]:
    """The sizes up to a limit; at least one."""
    return [size for size in sizes if size <= LARGEST_SURVEYED] or [min(sizes)]


def neighbours(surveyed: Choices, size: int) -> list[Choice]:
    """The best of the surveyed sizes beside this one."""
    below = max((s for s in surveyed if s <= size), default=min(surveyed))
    above = min((s for s in surveyed if s >= size), default=max(surveyed))
    both = zip_longest(surveyed[below], surveyed[above])
    return list(dict.fromkeys(choice for pair in both for choice in pair if choice))[:MOST_REFINED]


def varied(tuning: CaseTuning, choices: Choices, vary: variations.Vary) -> list[BenchCase]:
    """For every size its choices, each with other parameters too, where the algorithm takes them."""
    cases: list[BenchCase] = []
    on = variations.NodeFill(tuning.ranks, tuning.case.ranks_of_a_node(tuning.ranks))
    for size, found in choices.items():
        for name, parameters in found:
            for given in vary(tuning.case.collective, name, size, on, dict(parameters)):
                case = case_of(tuning, size, (name, tuple(given.items())))
                if case not in cases[-64:] and applies(case, tuning.ranks):
                    cases.append(case)
    return cases


def launched(tuning: CaseTuning, name: str, cases: list[BenchCase], seconds: float) -> list[JsonObject]:
    """Their results, each with what was asked for: a schedule tells its segments, not how they were asked for."""
    if not cases:
        return []
    if tuning.launch is not None:
        results = [result or {} for result in tuning.launch(tuning, name, cases, seconds)]
    else:
        results = measure(tuning, cases, seconds, turns_at_least=3).results
    return [
        {**result, "bytes": asked_bytes(case, result), "choice": (case.algorithm, tuple(case.parameters.items()))}
        for case, result in zip(cases, results)
    ]


def asked_bytes(case: BenchCase, result: JsonObject) -> int | None:
    """Bytes that the case asked for; a result of irregular blocks has their mean."""
    return case.bytes if case.counts else result.get("bytes")


def together(launches: list[list[JsonObject]]) -> list[JsonObject]:
    """The same cases in several launches as one: by the median of their ratios to the library, which a launch that was
    slow as a whole does not change."""
    return [
        {**same[0], "seconds": median([r.get("ratio", r["seconds"]) for r in same])}
        for same in zip(*launches)
        if not any("not_applicable" in r for r in same)
    ]


def best(results: list[JsonObject], number: int) -> dict[int, list[Choice]]:
    """The fastest choices by size, of those that could be measured."""
    by_size: dict[int, list[JsonObject]] = {}
    for result in results:
        if "not_applicable" not in result:
            by_size.setdefault(result["bytes"], []).append(result)
    return {
        size: [r["choice"] for r in sorted(found, key=lambda r: r["seconds"])[:number]]
        for size, found in by_size.items()
    }


def finalists(tuning: CaseTuning, results: list[JsonObject]) -> dict[int, list[Choice]]:
    """The fastest by size. Where results are copied to stay, also the fastest of each other way to copy: beside many
    others, whose data lie in the caches where the library's will, a launch does not tell these apart well."""
    found = best(results, FINALISTS)
    if variations.is_copied(tuning.case.collective):
        for size, ranked in best(results, len(results)).items():
            for choice in ranked:
                if way_to_copy(choice) not in map(way_to_copy, found[size]):
                    found[size].append(choice)
    return found


def way_to_copy(choice: Choice) -> set[str]:
    hints = {parameter.name for parameter in _collectives.declared_parameters() if parameter.kind == "hint"}
    return hints & {name for name, _ in choice[1]}


def case_of(tuning: CaseTuning, size: int, choice: Choice) -> BenchCase:
    return replace(tuning.case, bytes=size, algorithm=choice[0], parameters=dict(choice[1]))


# --- measuring


def measure(tuning: CaseTuning, cases: list[BenchCase], seconds: float, **options) -> LaunchResults:
    return run_measure(
        cases,
        ranks=tuning.ranks,
        installation=tuning.installation,
        case_seconds=seconds,
        **{"seconds": 600, **tuning.options, **options},
    )


def joined(cases: Sequence[BenchCase], runs: Sequence[LaunchResults]) -> JsonObject:
    """One result for each case, of one launch or of several; without the cases that do not apply. `asked_bytes` is the
    length as the case has it: of irregular blocks `bytes` is the mean."""
    of_cases = zip(cases, zip(*(run.results for run in runs)))
    results = [
        {**joined_results(launches), "asked_bytes": asked_bytes(case, launches[0])}
        for case, launches in of_cases
        if not any("not_applicable" in result for result in launches)
    ]
    return of_launches(results, runs)


def of_launches(results: list[JsonObject], runs: Sequence[LaunchResults]) -> JsonObject:
    """Results that launches were joined to, with what is true of all."""
    ratios = [r["ratio"] for r in results if "ratio" in r]
    return {
        "results": results,
        "geometric_mean": _measure.geometric_mean(ratios) if ratios else None,
        "launches": len(runs),
        "about": runs[0].about,
        "notes": list(dict.fromkeys(note for run in runs for note in run.notes)),
    }


def ratios_of(pairs: Sequence[tuple[float, float]]) -> JsonObject:
    """The median of the ratios of (ours, theirs) in each launch, with its interval."""
    found = _measure.compare(list(pairs))
    return {name: getattr(found, name) for name in ("ratio", "ratio_low", "ratio_high")}


def joined_results(launches: Sequence[JsonObject]) -> JsonObject:
    """The same case in each launch: figures are medians of the launches', the interval of the ratio is of theirs."""
    if "library" not in launches[0]:  # MPI has no call for it
        return together_in_one(launches)
    pairs = [(r["seconds"], r["library"]["seconds"]) for r in launches]
    return {
        **together_in_one(launches),
        "library": together_in_one([r["library"] for r in launches]),
        **ratios_of(pairs),
        "ratios": [ours / theirs for ours, theirs in pairs],
    }


SUMMED = ("samples", "outliers")
OF_A_LAUNCH = ("seconds", "interval_low", "interval_high", "p10", "p90", "first_seconds", "bound_seconds")


def together_in_one(launches: Sequence[JsonObject]) -> JsonObject:
    """The figures of one side: sums of counts, medians of times."""
    found = dict(launches[0])
    found |= {name: sum(r[name] for r in launches) for name in SUMMED if name in found}
    found |= {name: median([r[name] for r in launches]) for name in OF_A_LAUNCH if found.get(name) is not None}
    if len(launches) > 1 and all("interval_low" in r for r in launches):
        found["seconds_of_launches"] = [r["seconds"] for r in launches]
        found["intervals_of_launches"] = [[r["interval_low"], r["interval_high"]] for r in launches]
    if "processor_time" in found:
        each = [r["processor_time"] for r in launches]
        found["processor_time"] = {name: median([one[name] for one in each]) for name in each[0]}
    if "bitwise" in found:
        found["bitwise"] = all(r["bitwise"] for r in launches)
    return found
