"""Several MPI libraries compared by the time of a solver's iteration: a launch of each library in turn, then again.

Launches are the independent samples, so a time has one value a launch. The library that begins changes from round to
round, so that none has always the quieter moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from kumihimo.app import launches
from kumihimo.app.catalogue import AppCandidate
from kumihimo.app.figures import key_of
from kumihimo.app.launches import AppProblem, Resources
from kumihimo.network import node
from kumihimo.text.errors import missing, wrong_value
from kumihimo.text.json_types import JsonObject

RUNS = 8  # as in the published comparison


def are_several(text: str | None) -> bool:
    """Whether --mpi names several libraries, with commas. A prefix with a comma in its name is one library."""
    return text is not None and "," in text and not Path(text).exists()


def names_of(text: str) -> list[str]:
    names = [word.strip() for word in text.split(",")]
    if "" in names:
        raise missing("the name of an MPI library in --mpi", "write for example --mpi openmpi,mpich")
    if again := next((name for i, name in enumerate(names) if name in names[:i]), None):
        raise wrong_value("--mpi takes each library once", f"'{again}' again", "leave one of them out")
    return names


def compare(
    problem: AppProblem,
    candidates: Sequence[AppCandidate],
    on: Mapping[str, Resources],
    *,
    runs: int = RUNS,
    sample: int | None = None,
    check: bool = True,
    run: Callable[..., launches.AppRun] = launches.run,
    on_object: launches.OnObject = lambda found: None,
) -> list[JsonObject]:
    """One row a library and candidate. `on`: what each library runs on, by the name that the user gave it. `sample`:
    stop each run after so many iterations; such a run is not checked."""
    results: dict[tuple, list[JsonObject]] = {}
    names = list(on)
    for turn in range(runs):
        for i in range(len(names)):
            name = names[(turn + i) % len(names)]
            ran = run(problem, candidates, on[name], sample=sample, check=check, on_object=on_object)
            for result in ran.results:
                results.setdefault((key_of(result), name), []).append(result)
    order = {key: place for place, key in enumerate(dict.fromkeys(key for key, _ in results))}
    ordered = sorted(results, key=lambda each: (order[each[0]], names.index(each[1])))
    return [row_of(name, on[name], results[key, name]) for key, name in ordered]


def row_of(name: str, resources: Resources, runs: Sequence[JsonObject]) -> JsonObject:
    first = runs[0]
    row = {
        "library": name,
        "version": resources.installation.version if resources.installation else "",
        "variant": first["variant"],
        "parameters": first["parameters"],
    }
    if unfit := next((each for each in runs if "not_applicable" in each), None):  # of any launch
        return {**row, "not_applicable": unfit["not_applicable"], "failed": unfit.get("failed", False)}
    checks = [each["checked"]["right"] for each in runs if "checked" in each]
    times = [seconds_per_iteration(each) for each in runs]
    return {
        **row,
        "runs": len(times),
        "iterations": first["iterations"],
        "right": all(checks) if checks else None,
        **statistics(times),
        "seconds_of_runs": times,
    }


def seconds_per_iteration(result: JsonObject) -> float:
    """Seconds of an iteration; for a run without iterations, such as an assembly, its time."""
    return result["seconds"] / max(1, result["iterations"])


def statistics(times: Sequence[float]) -> JsonObject:
    """As published: least, most, mean and standard deviation of the sample; the median with its 95 % interval, which
    needs 6 runs. Of one run there is no deviation."""
    summary = node.statistics(list(times))
    return {
        "min": min(times),
        "max": max(times),
        "mean": fmean(times),
        "stddev": stdev(times) if len(times) > 1 else None,
        "median": summary["median"],
        "interval": None if summary["low"] is None else [summary["low"], summary["high"]],
    }
