"""The outcome of a search as one object: what --json prints and the page shows."""

from __future__ import annotations

import re
from typing import Protocol

from kumihimo import _mapping, _placement, _predict, _traffic
from kumihimo.mapping.request import PlaceRequest
from kumihimo.network import placement
from kumihimo.text.errors import KumihimoError
from kumihimo.text.json_types import JsonObject

MOST_PREDICTED = 4096  # ranks: the flow model takes seconds beyond


class HasMeasures(Protocol):
    """_mapping.Measures, or a candidate."""

    @property
    def average_hops(self) -> float: ...
    @property
    def hop_bytes(self) -> float: ...
    @property
    def link_bytes_max(self) -> float: ...
    @property
    def off_node_bytes(self) -> float: ...


def measures(of: HasMeasures) -> JsonObject:
    return {
        "average_hops": of.average_hops,
        "hop_bytes": of.hop_bytes,
        "link_bytes_max": of.link_bytes_max,
        "off_node_bytes": of.off_node_bytes,
    }


def candidate(of: _mapping.Candidate) -> JsonObject:
    return {"name": of.name, **measures(of), "seconds": of.seconds, "within_cap": of.within_cap}


def about(request: PlaceRequest) -> JsonObject:
    """Members about the request."""
    traffic, job = request.source.traffic, request.network.job
    return {
        "traffic": request.source.description,
        "notes": list(request.source.notes),
        "machine": job.machine.name if request.network.is_described else None,
        "network": job.machine.network,
        "ranks": traffic.ranks,
        "nodes": job.slots.nodes,
        "slots": job.slots.size,
        "bytes": traffic.bytes,
        "messages": traffic.messages,
        "flows": traffic.flows,
        "self_bytes": traffic.self_bytes,
    }


def placed(chosen: _placement.Placement) -> JsonObject:
    return {"node_of_rank": chosen.node_of_rank, "slot_of_rank": chosen.slot_of_rank}


def usual_of(request: PlaceRequest) -> JsonObject:
    """The placement without any map."""
    usual = request.usual()
    of = _mapping.measure(request.source.traffic, request.network.job, usual.placement)
    return {"name": usual.name, **measures(of), "seconds": None, "within_cap": True}


def of_search(request: PlaceRequest, found: _mapping.Mapping) -> JsonObject:
    chosen = found.candidates[found.chosen]
    before = usual_of(request)
    return {
        **about(request),
        "objective": request.objective,
        "effort": request.effort,
        "seed": request.seed,
        "chosen": chosen.name,
        **measures(chosen),
        "before": before,
        "lower_bound_hops": found.bounds[0][1] if found.bounds else None,
        "lower_bound_link_bytes": found.link_bounds[0][1] if found.link_bounds else None,
        "bounds": [{"name": name, "average_hops": hops, "why": why} for name, hops, why in found.bounds],
        "link_bounds": [{"name": name, "bytes": size, "why": why} for name, size, why in found.link_bounds],
        "recognised": recognised(request, found),
        "partitioners": list(found.libraries),
        "candidates": [{**candidate(c), "chosen": at == found.chosen} for at, c in enumerate(found.candidates)],
        "levels": [{"name": name, "bytes_before": b, "bytes": a} for name, b, a in found.levels],
        "complete": found.complete,
        **placed(found.placement),
    }


def recognised(request: PlaceRequest, found: _mapping.Mapping) -> list[str]:
    """Lattices that were recognised; of a grid that the user gave, only itself: 4x4x4 points are also a mesh of six
    axes of two.
    """
    if request.grid is None:
        return list(found.lattices)
    given = [axis.length for axis in request.grid.axes if axis.length > 1]
    return [name for name in found.lattices if is_same_grid(given, lengths_in(name))]


def lengths_in(lattice: str) -> list[int]:
    """Lengths of axes: 8, 2 and 2 of "torus 8x2mx2m, 6 neighbours"."""
    first = re.search(r"\d+m?(x\d+m?)*", lattice)
    return [int(length) for length in re.findall(r"\d+", first[0])] if first else []


def is_same_grid(given: list[int], found: list[int]) -> bool:
    """Whether axes have these lengths in some order; rings of 4 are found as two axes of two."""
    twos, others = found.count(2), [length for length in found if length != 2]
    return any(
        sorted([*others, *[4] * rings, *[2] * (twos - 2 * rings)]) == sorted(given) for rings in range(twos // 2 + 1)
    )


def of_evaluation(request: PlaceRequest, given: placement.Placed) -> JsonObject:
    of = _mapping.measure(request.source.traffic, request.network.job, given.placement)
    return {
        **about(request),
        "chosen": given.name,
        **measures(of),
        "before": usual_of(request),
        "complete": True,
        **placed(given.placement),
    }


def predicted(request: PlaceRequest, chosen: _placement.Placement) -> JsonObject | None:
    """The time of one exchange of all traffic by the flow model, before and after; None: not on this network, or too
    many ranks."""
    if not request.network.is_described or request.source.traffic.ranks > MOST_PREDICTED:
        return None
    programs = _traffic.programs_of(request.source.traffic)
    both = {}
    for name, of in (("before", request.usual().placement), ("after", chosen)):
        try:
            prediction = _predict.predict("flow", programs, _predict.Place(request.network.job, of))
        except KumihimoError:
            return None
        both[name] = {"seconds": prediction.seconds, "accuracy": prediction.accuracy}
    return both
