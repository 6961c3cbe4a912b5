"""What the page needs of measured.json and simulated.json: which keys, and of what kind their values are.

A form is a Kind, a dict of forms by key (other keys may stand beside them), or one of the few classes below. A folder
may hold parts that another version wrote, that were cut off, or that someone mended by hand; all that the page relies
on is looked at here, so that what is wrong becomes a sentence with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kumihimo.experiment.published import FIGURES


@dataclass(frozen=True)
class Kind:
    """Of one value: what it is in words, and whether it is that."""

    words: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Each:
    """A list, every item of one form."""

    form: Any
    least: int = 0


@dataclass(frozen=True)
class Named:
    """An object, every value of one form."""

    form: Any


@dataclass(frozen=True)
class MayLack:
    """A key that need not be there."""

    form: Any
    null: bool = False  # whether it may be there and null


Finding = tuple[str, str, str]  # place, what was expected there, what was found


def wrong(value: object, form: Any, place: str = "") -> Finding | None:
    """The first thing that is not as the form says."""
    if isinstance(form, Kind):
        return None if form.holds(value) else (place, form.words, _shown(value))
    if isinstance(form, Each):
        if not isinstance(value, list) or len(value) < form.least:
            return place, f"a list of at least {form.least}" if form.least else "a list", _shown(value)
        inner = (wrong(item, form.form, f"{place}[{i}]") for i, item in enumerate(value))
    elif not isinstance(value, dict):
        return place, "an object", _shown(value)
    elif isinstance(form, Named):
        inner = (wrong(item, form.form, _below(place, key)) for key, item in value.items())
    else:
        inner = (_wrong_member(value, key, member, _below(place, key)) for key, member in form.items())
    return next(filter(None, inner), None)


def _wrong_member(value: dict, key: str, form: Any, place: str) -> Finding | None:
    if isinstance(form, MayLack):
        if key not in value or (form.null and value[key] is None):
            return None
        form = form.form
    elif key not in value:
        return place, form.words if isinstance(form, Kind) else "something", "nothing"
    return wrong(value[key], form, place)


def _below(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _shown(value: object) -> str:
    if isinstance(value, (dict, list)):
        return ("a list" if isinstance(value, list) else "an object") + ("" if value else " without anything in it")
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


# --- kinds


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e24


def _whole(value: object) -> bool:
    return _number(value) and isinstance(value, int)


def _is_tree(parents: object) -> bool:
    """Whether everyone's way up ends at someone without a parent."""
    if not isinstance(parents, list) or not all(_whole(p) and -1 <= p < len(parents) for p in parents):
        return False
    known: set[int] = set()
    for node in range(len(parents)):
        way: set[int] = set()
        while node >= 0 and node not in known:
            if node in way:
                return False
            way.add(node)
            node = parents[node]
        known |= way
    return True


TEXT = Kind("text", lambda v: isinstance(v, str))
FLAG = Kind("true or false", lambda v: isinstance(v, bool))
NUMBER = Kind("a number of 0 or more", lambda v: _number(v) and v >= 0)
POSITIVE = Kind("a number above 0", lambda v: _number(v) and v > 1e-24)
COUNT = Kind("a whole number above 0", lambda v: _whole(v) and v > 0)
SHAPE = Kind("a shape", lambda v: isinstance(v, str) and re.fullmatch(r"\d{1,9}(x\d{1,9})*", v) is not None)
ANY = Kind("something", lambda v: True)
CABLE = Kind(
    "two nodes and a load",
    lambda v: isinstance(v, list) and len(v) == 3 and all(map(_whole, v[:2])) and _number(v[2]),
)
TREE = Kind("the parents of a tree", _is_tree)


def form_is(name: str) -> Kind:
    return Kind(f"'{name}'", lambda v: v == name)


CASE = {"collective": TEXT, "algorithm": TEXT, "bytes": COUNT, "seconds": POSITIVE}
PLACE = {"space": MayLack(TEXT), "shape": MayLack(TEXT), "ranks": MayLack(COUNT)}
SAMPLED = {
    **{name: MayLack(POSITIVE, null=True) for name in ("interval_low", "interval_high", "p10", "p90")},
    "samples": MayLack(NUMBER),
}

# --- measured.json

MEASURED = {
    "form": form_is("kumihimo-measured-1"),
    "results": Each(
        {
            **CASE,
            **PLACE,
            **SAMPLED,
            **{name: MayLack(POSITIVE, null=True) for name in ("ratio", "ratio_low", "ratio_high", "bound_seconds")},
            "bitwise": MayLack(FLAG, null=True),
            "library": MayLack({"seconds": POSITIVE, **SAMPLED}),
        },
        least=1,
    ),
    "notes": Each(TEXT),
    "checks_planned": MayLack(COUNT),
    "checks": MayLack(Each({"algorithm": TEXT, "bytes": COUNT, "type": TEXT, "right": MayLack(FLAG), **PLACE})),
    "chosen": MayLack(
        {
            "launches": COUNT,
            "results": Each(
                {
                    **CASE,
                    **dict.fromkeys(("library_seconds", "ratio", "ratio_low", "ratio_high"), POSITIVE),
                    "parameters": MayLack(Named(ANY), null=True),
                }
            ),
        },
        null=True,
    ),
    "wall_seconds": MayLack(NUMBER),
}

# --- simulated.json

PREDICTED = {
    **CASE,
    "shape": TEXT,
    "ranks": COUNT,
    "apart": FLAG,
    "segments": COUNT,
    "declared_segment_bytes": COUNT,
}
NUMBER_OF_MACHINE = {"value": ANY, "provenance": TEXT, "source": TEXT}
COST = {"value": POSITIVE, "provenance": TEXT, "source": TEXT}
SIMULATED = {
    "form": form_is("kumihimo-simulated-1"),
    "subject": TEXT,
    "paper_shape": TEXT,
    "full_shape": TEXT,
    "as_published": FLAG,
    "whole_machine": FLAG,
    "machine": {
        "network": MayLack(Named(NUMBER_OF_MACHINE)),
        "node": MayLack(Named(NUMBER_OF_MACHINE)),
        "software": Named(NUMBER_OF_MACHINE),
    },
    "published": {key: {"value": POSITIVE, "what": TEXT, "source": TEXT} for key in FIGURES},
    "results": Each(
        {
            **PREDICTED,
            "accuracy": TEXT,
            "bound_seconds": MayLack(POSITIVE, null=True),
            "wall_seconds": NUMBER,
        },
        least=1,
    ),
    "parts": Each({**PREDICTED, "simd": FLAG, "compute_share": NUMBER, "compute_seconds": NUMBER}, least=1),
    "segments": Each(PREDICTED, least=1),
    "tuned": Each(PREDICTED),
    "links": Each(
        {
            **PREDICTED,
            "shape": SHAPE,
            "cables": Each(CABLE, least=1),
            **dict.fromkeys(("link_bytes_max", "link_bytes_mean", "link_bytes_sum"), POSITIVE),
            "links_used_share": NUMBER,
        },
        least=1,
    ),
    "trees": Each({"shape": SHAPE, "axes": Each(COUNT, least=1), "root": NUMBER, "parents": Each(TREE)}, least=1),
    "wall_seconds": MayLack(NUMBER),
}
SOFTWARE = {"segment_bytes": COST, "message_cost_seconds": COST, "relay_latency_seconds": COST}


# --- unmodified.json

TURNS = dict.fromkeys(("without", "with", "ratio", "ratio_low", "ratio_high"), POSITIVE)
UNMODIFIED = {
    "form": form_is("kumihimo-unmodified-2"),
    "program": TEXT,
    "package": TEXT,
    "mpi": TEXT,
    "ranks": COUNT,
    "launches": COUNT,
    "commands": Each(TEXT, least=1),
    "mpi_share": NUMBER,
    "sites": Each({"call": TEXT, "place": TEXT, "calls": COUNT, "bytes": NUMBER, "seconds": NUMBER}),
    "ran": Each(
        {
            "collective": TEXT,
            "algorithm": TEXT,
            "bytes_from": NUMBER,
            "bytes_to": NUMBER,
            "calls": COUNT,
            "times_as_fast": MayLack(Each(POSITIVE, least=2), null=True),
        }
    ),
    **dict.fromkeys(("program_time", "collective_time"), TURNS),
    "figures": COUNT,
    "same_figures": FLAG,
}


def wrong_in_unmodified(value: object) -> Finding | None:
    return wrong(value, UNMODIFIED)


def wrong_in_measured(value: object) -> Finding | None:
    return wrong(value, MEASURED)


def wrong_in_simulated(value: Any) -> Finding | None:
    """As the form says, and complete: the paper's algorithm stands beside others wherever the page compares them."""
    found = wrong(value, SIMULATED) or wrong(value["machine"]["software"], SOFTWARE, "machine.software")
    return found or _absent_results(value) or _absent_parts(value) or _absent_segments(value)


def _absent_results(simulated: dict) -> Finding | None:
    subject = simulated["subject"]
    for shape in (simulated["paper_shape"], simulated["full_shape"]):
        here = [r for r in simulated["results"] if r["shape"] == shape]
        largest = max((r["bytes"] for r in here), default=0)
        names = {r["algorithm"]: r["apart"] for r in here if r["bytes"] == largest}
        if subject not in names:
            return "results", f"{subject} at the largest length on {shape}", "nothing"
        if all(apart for name, apart in names.items() if name != subject) and shape == simulated["paper_shape"]:
            return "results", f"an algorithm beside {subject} at the largest length on {shape}", "nothing"
    return None


def _absent_parts(simulated: dict) -> Finding | None:
    there = {(r["collective"], r["simd"]) for r in simulated["parts"]}
    needed = [("reduce", True), ("allreduce", True), ("bcast", True), ("reduce", False), ("allreduce", False)]
    for collective, simd in needed:
        if (collective, simd) not in there:
            return "parts", f"{collective} {'with' if simd else 'without'} SIMD", "nothing"
    return None


def _absent_segments(simulated: dict) -> Finding | None:
    """What is said of extensions is said at the declared segment size, beside the paper's algorithm."""
    subject = simulated["subject"]
    of_subject = [
        r for r in simulated["results"] if r["algorithm"] == subject and r["shape"] == simulated["paper_shape"]
    ]
    declared = max(of_subject, key=lambda r: r["bytes"])["declared_segment_bytes"]
    there = {(r["algorithm"], r["declared_segment_bytes"]) for r in simulated["segments"]}
    for name in dict.fromkeys((subject, *(r["algorithm"] for r in simulated["segments"] if r["apart"]))):
        if (name, declared) not in there:
            return "segments", f"{name} with segments of {declared} bytes", "nothing"
    return None
