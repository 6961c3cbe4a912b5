"""The bytes on each cable of a small torus, by algorithm: what the picture of link load shows."""

from __future__ import annotations

from collections import defaultdict

from kumihimo import _machine, _topology
from kumihimo.demo.experiment.cases import Progress, WantedPrediction, algorithms, predict_all
from kumihimo.text.json_types import JsonObject

SHAPE = "8x4x6"  # small, so that single cables can be seen
BYTES = 2**26


def loads(machine: _machine.Machine, progress: Progress) -> list[JsonObject]:
    """One object an algorithm: cables as (node, axis) with the bytes of their busier direction."""
    job = machine.as_torus(_topology.Shape.parse(SHAPE))  # whose links the picture shows
    torus = _topology.Torus(job.shape)
    wanted = [WantedPrediction(job, name, BYTES, links=True) for name in algorithms()]
    return [_load(result, torus) for result in predict_all(f"link load on {SHAPE}", wanted, progress)]


def _load(result: JsonObject, torus: _topology.Torus) -> JsonObject:
    by_link = result.pop("link_bytes")
    cables: dict[tuple[int, int], float] = defaultdict(float)
    used = 0
    for link, carried in enumerate(by_link):
        if not torus.is_link(link):
            continue
        used += carried > 0
        ends = torus.ends(link)
        cables[min(ends), max(ends)] = max(cables[min(ends), max(ends)], carried)
    return {
        **result,
        "links_used_share": used / torus.links,
        "link_bytes_mean": result["link_bytes_sum"] / torus.links,
        "cables": [[*ends, carried / result["bytes"]] for ends, carried in sorted(cables.items())],
    }
