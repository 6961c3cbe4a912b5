"""Requirements of the page besides the schemas of its parts: trees that are trees, and the paper's algorithm beside
others wherever the page compares them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumihimo.text.json_types import JsonObject


def fault(simulated: JsonObject) -> str:
    """The first thing that is missing or wrong. Empty if nothing is."""
    return next(filter(None, faults(simulated)), "")


def faults(simulated: JsonObject) -> Iterator[str]:
    yield absent_results(simulated)
    yield absent_parts(simulated)
    yield absent_segments(simulated)
    for i, scene in enumerate(simulated["trees"]):
        for j, parents in enumerate(scene["parents"]):
            if not is_tree(parents):
                yield f"trees[{i}].parents[{j}] is no tree: following the parents does not end at a root"


def is_tree(parents: list[int]) -> bool:
    """Whether everyone's way up ends at someone without a parent."""
    known: set[int] = set()
    for node in range(len(parents)):
        way: set[int] = set()
        while node >= 0 and node not in known:
            if node in way or node >= len(parents):
                return False
            way.add(node)
            node = parents[node]
        known |= way
    return True


def absent_results(simulated: JsonObject) -> str:
    subject = simulated["subject"]
    for shape in (simulated["paper_shape"], simulated["full_shape"]):
        here = [r for r in simulated["results"] if r["shape"] == shape]
        largest = max((r["bytes"] for r in here), default=0)
        names = {r["algorithm"]: r["extension"] for r in here if r["bytes"] == largest}
        if subject not in names:
            return f"results lacks {subject} at the largest length on {shape}"
        if all(extension for name, extension in names.items() if name != subject) and shape == simulated["paper_shape"]:
            return f"results lacks an algorithm beside {subject} at the largest length on {shape}"
    return ""


def absent_parts(simulated: JsonObject) -> str:
    there = {(r["collective"], r["simd"]) for r in simulated["parts"]}
    needed = [("reduce", True), ("allreduce", True), ("bcast", True), ("reduce", False), ("allreduce", False)]
    for collective, simd in needed:
        if (collective, simd) not in there:
            return f"parts lacks {collective} {'with' if simd else 'without'} SIMD"
    return ""


def absent_segments(simulated: JsonObject) -> str:
    """Missing rows: each extension needs one at the declared segment size, beside the paper's algorithm."""
    subject = simulated["subject"]
    of_subject = [
        r for r in simulated["results"] if r["algorithm"] == subject and r["shape"] == simulated["paper_shape"]
    ]
    declared = max(of_subject, key=lambda r: r["bytes"])["declared_segment_bytes"]
    there = {(r["algorithm"], r["declared_segment_bytes"]) for r in simulated["segments"]}
    for name in dict.fromkeys((subject, *(r["algorithm"] for r in simulated["segments"] if r["extension"]))):
        if (name, declared) not in there:
            return f"segments lacks {name} with segments of {declared} bytes"
    return ""
