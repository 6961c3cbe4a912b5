"""The five most important numbers of a report, each with what it means and how it was found."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from kumihimo.demo.report import chosen, display, golden
from kumihimo.demo.report.figures.comparison import blind, subject_of
from kumihimo.demo.report.figures.measured_curves import library_name
from kumihimo.demo.report.figures.simulated_curves import results_on
from kumihimo.demo.report.folder import Material
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted

MOST = 5


@dataclass(frozen=True)
class KeyFigure:
    """One figure: `value` as it is shown, `meaning` in a few words, `how` it was found."""

    value: str
    meaning: str
    how: str


def numbers(material: Material) -> list[KeyFigure]:
    """At most five, fewer where a part of the report is missing."""
    found: list[KeyFigure] = []
    if material.simulated:
        found += [_bandwidth(material.simulated), _ahead(material.simulated)]
    if material.measured:
        found += [*_ratio(material.measured), *_bitwise(material.measured)]
    if material.simulated:
        found += _full_machine(material.simulated) + _crossing(material.simulated)
    return found[:MOST]


def as_dicts(found: Iterable[KeyFigure]) -> list[JsonObject]:
    return [asdict(number) for number in found]


def _bandwidth(simulated: JsonObject) -> KeyFigure:
    subject = subject_of(simulated)
    bandwidth = 2 * subject["bytes"] / subject["seconds"]
    how = "simulated from hardware figures and two assumed costs"
    if simulated["as_published"]:
        published = simulated["published"]["bytes_per_second"]["value"]
        how += f"; published {published / 1e9:g} GB/s ({100 * (bandwidth / published - 1):+.0f} %)"
    return KeyFigure(
        display.rate(bandwidth),
        f"{display.label(subject['algorithm'])}, {display.bytes_(subject['bytes'])} on {_place(subject, simulated)}",
        how,
    )


def _ahead(simulated: JsonObject) -> KeyFigure:
    subject, best = subject_of(simulated), blind(simulated)[0]
    how = "simulated, same length and nodes"
    if simulated["as_published"]:
        published = simulated["published"]["ratio_to_blind"]["value"]
        how += f"; published about {published:g}× against the library's algorithms, see below"
    return KeyFigure(
        display.ratio(best["seconds"] / subject["seconds"]),
        f"ahead of the best topology-blind algorithm, {display.label(best['algorithm'])}",
        how,
    )


def _ratio(measured: JsonObject) -> list[KeyFigure]:
    results = chosen.long_results(measured)
    if not results:
        return []
    mean = math.exp(sum(math.log(r["ratio"]) for r in results) / len(results))
    sizes = [r["bytes"] for r in results]
    launches = measured["chosen"]["launches"]
    return [
        KeyFigure(
            display.ratio(mean),
            f"the time of {library_name(measured)}'s own allreduce, {display.bytes_(min(sizes))} to "
            f"{display.bytes_(max(sizes))}",
            f"measured here, geometric mean over {counted(len(sizes), 'length')}, "
            f"{counted(launches, 'launch')} each; the algorithms were chosen on other launches",
        )
    ]


def _bitwise(measured: JsonObject) -> list[KeyFigure]:
    right, of = golden.totals(measured)
    if not of:
        return []
    ranks = max((r.get("ranks") or 0) for r in measured["results"])
    return [
        KeyFigure(
            f"{right} of {of}",
            "real runs gave the bits of the golden copy, twice" + _undone(measured),
            f"measured here on {ranks} MPI processes, in {' and '.join(golden.types(measured))}, values whose sum "
            "depends on the order",
        )
    ]


def _undone(measured: JsonObject) -> str:
    """Text about the comparisons that the deadline left out, if any."""
    undone = measured.get("checks_planned", 0) - len(measured.get("checks", []))
    return f"; {undone} more were planned but did not start in time" if undone > 0 else ""


def _place(result: JsonObject, simulated: JsonObject) -> str:
    if simulated["as_published"] and result["shape"] == simulated["paper_shape"]:
        return f"{result['ranks']:,} nodes of K"
    if simulated["whole_machine"] and result["shape"] == simulated["full_shape"]:
        return f"the whole K, {result['ranks']:,} nodes"
    return f"{result['ranks']:,} nodes of K, a small torus of {display.shape(result['shape'])}"


def _full_machine(simulated: JsonObject) -> list[KeyFigure]:
    results = results_on(simulated, simulated["full_shape"])
    mine = [r for r in results if r["algorithm"] == simulated["subject"]]
    if not mine:
        return []
    r = max(mine, key=lambda r: r["bytes"])
    return [
        KeyFigure(
            display.seconds(r["seconds"]),
            f"for {display.bytes_(r['bytes'])} on {_place(r, simulated)}",
            f"simulated in {display.seconds(r['wall_seconds'])}; {display.rate(2 * r['bytes'] / r['seconds'])}",
        )
    ]


def _crossing(simulated: JsonObject) -> list[KeyFigure]:
    """The length from which on the paper's algorithm is the fastest of the comparison."""
    results = [r for r in results_on(simulated, simulated["paper_shape"]) if not r["extension"]]
    winners: dict[int, JsonObject] = {}
    for r in results:
        if r["bytes"] not in winners or r["seconds"] < winners[r["bytes"]]["seconds"]:
            winners[r["bytes"]] = r
    lost = [size for size, r in winners.items() if r["algorithm"] != simulated["subject"]]
    won = [size for size in winners if size > max(lost, default=0)]
    if not won:
        return []
    how = f"simulated on {display.shape(simulated['paper_shape'])}"
    if lost:
        how += f"; below, {display.label(winners[max(lost)]['algorithm'])} is fastest"
    return [
        KeyFigure(
            display.bytes_(min(won)),
            f"is the length from which {display.label(simulated['subject'])} is fastest",
            how,
        )
    ]
