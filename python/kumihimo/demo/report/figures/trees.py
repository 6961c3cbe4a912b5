"""The link-disjoint trees on small tori, with the hops of every node from the root."""

from __future__ import annotations

from kumihimo import pages
from kumihimo.text.json_types import JsonObject


def scene(simulated: JsonObject) -> pages.TreeScene:
    shapes = [{**shape, "depths": [_depths(parents) for parents in shape["parents"]]} for shape in simulated["trees"]]
    return pages.TreeScene(shapes)


def _depths(parents: list[int]) -> list[int]:
    depths: dict[int, int] = {}

    def depth(node: int) -> int:
        if node not in depths:
            depths[node] = 0 if parents[node] < 0 else depth(parents[node]) + 1
        return depths[node]

    return [depth(node) for node in range(len(parents))]
