"""Results of a verb, as rows: each a thing with a name, and figures of it. Read from the object that its --json has.

A row has figures (seconds, rates, shares) with their values in each run, or with the interval that the verb states. The
key of a row is what tells it from others of the same verb: the collective, algorithm and size, or the region. Verbs
that are not known by name are read by the rule of all results: an object with a figure is a row, and the texts, sizes
and counts in it are its key.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kumihimo.keep.assertions import (
    BOUND,
    CALL,
    GOLDEN,
    LIBRARY,
    MPI,
    RATIO,
    REGION,
    ROW,
    SECONDS,
    SITE,
    WAITING,
    WHOLE,
)
from kumihimo.keep.judge import MEDIAN, Estimate, RunValues, estimate
from kumihimo.text import files
from kumihimo.text.documents import read_json
from kumihimo.text.errors import BadInput, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.sizes import with_unit

# Figures, the first of which that a result has is the one that counts. Less of seconds is better, more of the others.
SINGLE = (
    *("seconds", "dgemm_gflops", "set_gflops"),
    *("bytes_per_second", "messages_per_second", "operations_per_second", "flops_per_second", "per_second", "gflops"),
)
NUMBERS_OF_KEY = (
    *("bytes", "count", "ranks", "threads", "root", "nodes", "ranks_per_node", "processes", "size", "rows", "window"),
    *("block_bytes", "call_bytes", "bytes_from", "bytes_to", "array_bytes", "elements", "items"),
)
NO_KEY = (
    *("mpi", "command", "doubts", "limiting", "text", "error", "version", "note", "notes", "what", "found", "place"),
    *("bound_name", "reason", "host", "processor", "from", "answer", "page", "rate_unit", "why", "bound"),
    *("largest_loss", "accuracy"),
)
SAID_BY_SPACE = ("shape", "ranks", "ranks_per_node", "nodes", "count")  # `node of 4 ranks` of bench
LONGEST_KEY = 100
FIRST_OF_KEY = ("collective", "variant", "algorithm", "kernel", "parameters", "bytes")  # in names, before the others
TOP_OF_KEY = ("application", "collective", "program", "subject", "model", "machine", "kernel", "method")
INTERVALS = (("interval_low", "interval_high"), ("low", "high"), ("low_seconds", "high_seconds"))
SAMPLES = ("seconds_of_runs", "seconds_of_launches")
WITHIN = "intervals_of_launches"  # beside the samples: the interval of each
RULE = "the file must be JSON that --json of a command wrote"
MOST_ROWS = 100_000
STATE_COST = "kumihimo-state-cost-1"  # form of bench checkpoint


@dataclass
class ObservedFigure:
    """`runs`: its values. `lower`: less is better. `predicted`: the value of a model, which is the same in each run."""

    runs: list[RunValues] = field(default_factory=list)
    lower: bool = True
    predicted: bool = False

    def estimate(self, share: float = MEDIAN) -> Estimate:
        """BadInput: the verb knows medians alone, and this is another share of the passages."""
        if self.predicted:
            (run,) = self.runs
            return Estimate(run.largest, *(run.stated or (run.largest, run.largest)))
        if share != MEDIAN and any(run.stated for run in self.runs):
            raise BadInput("of these results the median alone is known", "assert it of the median")
        return estimate(self.runs, share)


@dataclass
class ObservedRow:
    """`group`: what all rows of the file have in common. `references`: what the verb itself compares with, by the names
    of asserts. `ranks_of_node`: the most ranks on one node. `file`, `line`: where the program has it."""

    subject: str
    name: str
    group: str = ""
    figures: dict[str, ObservedFigure] = field(default_factory=dict)
    references: dict[str, Estimate] = field(default_factory=dict)
    ranks_of_node: int = 1
    file: str = ""
    line: int = 0

    @property
    def key(self) -> str:
        """Tells it from all other rows of files that can be compared."""
        of = "" if self.subject in (ROW, WHOLE) else f"{self.subject} "
        return ": ".join(filter(None, (self.group, f"{of}{self.name}")))


def read(path: Path) -> JsonObject:
    """The object in a file."""
    try:
        found = read_json(files.read_text(path, "JSON that --json of a command wrote"))
    except ValueError:
        raise wrong_value(RULE, f"{path}, which is no JSON") from None
    if not isinstance(found, dict):
        raise wrong_value(RULE, f"{path}, which is no object")
    return found


def rows_in(path: Path, without: Collection[str] = ()) -> list[ObservedRow]:
    """Rows of a file, at least one. `without`: members of results that are no part of their keys."""
    try:
        rows = rows_of(read(path), without)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if isinstance(error, BadInput):
            raise
        raise wrong_value(RULE, f"{path}, in which a key is missing or has a value of the wrong type") from None
    if not rows:
        raise wrong_value(f"{RULE}, with a time or a rate in it", path, "of `run` that needs --repeat or --asserts")
    return rows


def rows_of(found: Mapping, without: Collection[str] = ()) -> list[ObservedRow]:
    recordings = found.get("repeats") or [found]
    if "tasks" in recordings[0] and "regions" in recordings[0]:  # `run` has them beside its own summary
        return rows_of_recordings(recordings)
    return once_each(rows_of_results(with_plain_rows(found), without))


def once_each(rows: Iterable[ObservedRow]) -> list[ObservedRow]:
    """Two rows with one key are told apart by their order."""
    seen: dict[str, int] = {}
    named = []
    for row in rows:
        number = seen[row.key] = seen.get(row.key, 0) + 1
        if number > 1:
            row.name += f" ({number})"
        named.append(row)
        if len(named) > MOST_ROWS:
            raise wrong_value(f"a file must have at most {MOST_ROWS} rows", "more")
    return named


# --- record


def rows_of_recordings(runs: Sequence[Mapping]) -> list[ObservedRow]:
    """Sums of `record` over the runs of one program: figures with one value or more for each run."""
    rows: dict[tuple[str, str], ObservedRow] = {}

    def row(subject: str, name: str, place: Mapping) -> ObservedRow:
        found = rows.setdefault((subject, name), ObservedRow(subject, name))
        found.ranks_of_node = max(found.ranks_of_node, ranks_of_node)
        if place.get("file") and not found.file:
            found.file, found.line = place["file"], place.get("line") or 0
        return found

    def add(found: ObservedRow, figure: str, values: RunValues | None) -> None:
        if values is not None and values.values:
            found.figures.setdefault(figure, ObservedFigure()).runs.append(values)

    for run in runs:
        hosts = [task["host"] for task in run["tasks"]]
        ranks_of_node = max(map(hosts.count, set(hosts)), default=1)
        whole, seconds = row(WHOLE, "", {}), run["seconds"]
        add(whole, SECONDS, RunValues.of(max((task["seconds"] for task in run["tasks"]), default=0.0)))
        add(whole, MPI, share(run["mpi_seconds"], seconds))
        waits = [waiting_of(call) for call in run["calls"]]
        add(whole, WAITING, share(sum(each for each in waits if each is not None), seconds))
        for region in regions_once(run["regions"]):
            of = row(REGION, region["name"], region)
            add(of, SECONDS, RunValues(region["passage_seconds"], region["max_seconds"]))
            add(of, MPI, share(region["mpi_seconds"], region["seconds"]))
            add(of, WAITING, share(region["waiting_seconds"], region["seconds"]))
        for subject, groups in ((CALL, by_name(run["calls"])), (SITE, by_site(run["calls"]))):
            for name, calls in groups.items():
                of = row(subject, name, calls[0])
                spent, number = (sum(call[key] for call in calls) for key in ("seconds", "calls"))
                add(of, SECONDS, RunValues.of(spent / number) if number else None)
                known = [(w, time_of(call)) for call in calls if (w := waiting_of(call)) is not None]
                add(of, WAITING, share(sum(w for w, _ in known), sum(seconds for _, seconds in known)))
    return list(rows.values())


def share(part: float, whole: float) -> RunValues | None:
    return RunValues.of(part / whole) if whole > 0 else None


def time_of(call: Mapping) -> float:
    return call.get("split_seconds") or call.get("completion_seconds") or 0.0


def waiting_of(call: Mapping) -> float | None:
    """Waiting time in a collective; None where it is not separated."""
    if call.get("completion_waiting_seconds") is not None:
        return call["completion_waiting_seconds"]
    return call.get("waiting_seconds")


def regions_once(regions: Iterable[Mapping]) -> list[JsonObject]:
    """A region with several texts of asserts is one region."""
    found: dict[str, JsonObject] = {}
    for each in regions:
        known = found.setdefault(
            each["name"], {**each, **dict.fromkeys(("seconds", "mpi_seconds", "waiting_seconds"), 0.0)}
        )
        for name in ("seconds", "mpi_seconds", "waiting_seconds"):
            known[name] += each[name]
        known["max_seconds"] = max(known["max_seconds"], each["max_seconds"])
        if known["passage_seconds"] is not each["passage_seconds"]:
            known["passage_seconds"] = [*known["passage_seconds"], *each["passage_seconds"]]
    return list(found.values())


def by_name(calls: Iterable[Mapping]) -> dict[str, list[Mapping]]:
    groups: dict[str, list[Mapping]] = {}
    for call in calls:
        groups.setdefault(call["call"], []).append(call)
    return groups


def by_site(calls: Iterable[Mapping]) -> dict[str, list[Mapping]]:
    """Calls with a line, by site: `solver.c:41`."""
    groups: dict[str, list[Mapping]] = {}
    for call in calls:
        if call.get("file") and call.get("line"):
            groups.setdefault(f"{Path(call['file']).name}:{call['line']}", []).append(call)
    return groups


# --- all other verbs


def with_plain_rows(found: Mapping) -> Mapping:
    """Results of verbs that nest their rows, or tell them apart by what is no key elsewhere."""
    if found.get("form") == STATE_COST:
        return {"results": list(rows_of_states(found["results"]))}
    if "compilers" in found:
        return {"results": list(rows_of_loops(found["compilers"]))}
    rows = found.get("results")
    if isinstance(rows, list) and all(
        isinstance(row, dict) and {"measure", "mpi", "place"} <= row.keys() for row in rows
    ):
        return {
            **found,
            "results": [{**row, "where": row["place"], "of_mpi": row["mpi"]} for row in rows],
        }  # bench pgas
    return found


def rows_of_states(results: Sequence[Mapping]) -> Iterator[JsonObject]:
    """Rows of bench checkpoint: the times by size of a rank's state."""
    for row in results:
        for point in row["points"]:
            shared = {"ranks": row["ranks"], "bytes": point["bytes_per_rank"]}
            words = {word: point[word] for word in ("save", "load")}
            words |= {f"partner {word}": point["partner"][word] for word in ("copy", "restore") if "partner" in point}
            for word, seconds in words.items():
                yield {"operation": word, **shared, "seconds": seconds}


def rows_of_loops(compilers: Sequence[Mapping]) -> Iterator[JsonObject]:
    """Rows of bench vectorisation: the forms of each loop, by size and compiler."""
    for each in compilers:
        for loop in each["loops"]:
            for size in loop["sizes"]:
                for form in size["forms"]:
                    if "seconds" in form:  # a wrong one has none
                        ends = {"low": form["seconds_low"], "high": form["seconds_high"]}
                        what = {"loop": loop["loop"], "form": form["form"], "arrays": size["size"]}
                        yield {**what, "cc": each["command"], "seconds": form["seconds"], **ends}


def rows_of_results(found: Mapping, without: Collection[str]) -> Iterator[ObservedRow]:
    top = [key for key in (*TOP_OF_KEY, "size") if key not in without]
    group = " ".join(found[key] for key in top if isinstance(found.get(key), str) and found[key])
    lists = [(name, value) for name, value in found.items() if is_rows(value)]
    if not lists:
        nested = [(name, value) for name, value in found.items() if isinstance(value, dict)]
        lists = [(f"{outer} {name}", value) for outer, each in nested for name, value in each.items() if is_rows(value)]
    for name, values in lists:
        where = group if name == "results" else " ".join(filter(None, (group, name.removesuffix(" results"))))
        yield from filter(None, (row_of(value, where, without) for value in values))
    if not lists:
        row = row_of(found, "", without)
        yield from [row] if row else []


def is_rows(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) for each in value)
        and any(figures_of(each) for each in value)
    )


def row_of(value: Mapping, group: str, without: Collection[str]) -> ObservedRow | None:
    figures = figures_of(value)
    if not figures:
        return None
    row = ObservedRow(ROW, name_of(value, without), group, figures)
    if isinstance(value.get("model"), str):  # of simulate, simulate app and replay
        for figure in figures.values():
            figure.predicted = len(figure.runs) == 1
    seconds = value.get("seconds")
    if isinstance(value.get("times_golden"), (int, float)) and seconds:
        row.references[GOLDEN] = Estimate.exactly(seconds * value["times_golden"])
    if isinstance(value.get("bound_seconds"), (int, float)) and value["bound_seconds"] > 0:
        row.references[BOUND] = Estimate.exactly(value["bound_seconds"])
    library = value.get("library")
    if isinstance(library, dict) and isinstance(library.get("seconds"), (int, float)):
        row.references[LIBRARY] = figures_of(library)[SECONDS].estimate()
    if isinstance(value.get("ratio"), (int, float)):
        runs = [RunValues.of(time(each)) for each in value.get("ratios") or [value["ratio"]]]
        row.figures[RATIO] = ObservedFigure(runs)
    return row


def figures_of(value: Mapping) -> dict[str, ObservedFigure]:
    """The first of SINGLE that it has, and how far it is known."""
    for name in SINGLE:
        number = value.get(name)
        if isinstance(number, dict) and isinstance(number.get("median"), (int, float)):  # as bench node has it
            return {name: ObservedFigure([run_of({**number, name: number["median"]}, name)], name == "seconds")}
        if isinstance(number, (int, float)) and not isinstance(number, bool) and number > 0:
            lower = name == "seconds"
            of_runs: list[Any] = next((value[key] for key in SAMPLES if name == "seconds" and value.get(key)), [])
            within = value.get(WITHIN) or [None] * len(of_runs)
            runs = [
                RunValues.of(time(each), (time(ends[0]), time(ends[1])) if ends else None)
                for each, ends in zip(of_runs, within)
            ]
            return {name: ObservedFigure(runs or [run_of(value, name)], lower)}
    return {}


def is_rate(figure: str) -> bool:
    return figure.endswith(("per_second", "gflops"))


def unit_of(figure: str) -> float:
    """Unit of a rate, in a second."""
    return 1e9 if figure.endswith("gflops") else 1.0


def time(value: Any) -> float:
    """ValueError or TypeError: it is none."""
    found = float(value)
    if not 0 < found < math.inf:
        raise ValueError("not above zero and finite")
    return found


def run_of(value: Mapping, name: str) -> RunValues:
    """A single run, with the interval that it states."""
    number = time(value[name])
    for low, high in INTERVALS:
        first, last = value.get(low), value.get(high)
        if isinstance(first, (int, float)) and isinstance(last, (int, float)) and first <= number <= last:
            return RunValues.of(number, (float(first), float(last)))
    return RunValues.of(number)


def name_of(value: Mapping, without: Collection[str]) -> str:
    words = []
    for key in sorted(value, key=lambda key: FIRST_OF_KEY.index(key) if key in FIRST_OF_KEY else len(FIRST_OF_KEY)):
        each = value[key]
        said = "space" in value and key in SAID_BY_SPACE and "space" not in without
        if said or key in NO_KEY or key in without or isinstance(each, float):
            continue
        if isinstance(each, str) and 0 < len(each) <= LONGEST_KEY:
            words.append(each)
        elif isinstance(each, int) and not isinstance(each, bool) and key in NUMBERS_OF_KEY:
            words.append(with_unit(each) if key.endswith("bytes") else f"{key}={each}")
        elif isinstance(each, dict) and key == "parameters":
            words += [f"{name}={json.dumps(inner)}" for name, inner in each.items() if inner is not None]
    return " ".join(dict.fromkeys(words))
