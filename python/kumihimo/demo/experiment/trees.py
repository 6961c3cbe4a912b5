"""The trees of the paper's algorithm on small tori, read from its schedule: who receives from whom."""

from __future__ import annotations

import json

from kumihimo import _collectives, _export, _topology
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import CollectiveArguments
from kumihimo.demo.experiment.published import SUBJECT
from kumihimo.text.json_types import JsonObject

SHAPES = ("4x3x2", "4x4x4")
ELEMENTS = 6  # one for each of at most six trees


def trees() -> list[JsonObject]:
    """One object a shape: for each tree the parent of every rank, -1 at the root."""
    return [_trees_of(shape) for shape in SHAPES]


def _trees_of(text: str) -> JsonObject:
    shape = _topology.Shape.parse(text)
    space = _topology.RankSpace.box(shape)
    collective = arguments.collective(CollectiveArguments("bcast", count=ELEMENTS), space)
    schedule = _collectives.find("bcast", SUBJECT).build(collective, space)
    programs = json.loads(_export.expanded_json(schedule))["programs"]
    lanes = sorted({lane["lane"] for program in programs for lane in program})
    return {
        "algorithm": SUBJECT,
        "shape": text,
        "axes": [axis.length for axis in shape.axes],
        "root": collective.root,
        "parents": [[_sender(program, lane) for program in programs] for lane in lanes],
    }


def _sender(program: list[JsonObject], wanted: int) -> int:
    """From whom a rank receives on a lane in the first segment; -1 if from nobody."""
    for lane in program:
        for step in (s for rounds in lane["segments"][:1] for each in rounds for s in each["steps"]):
            if lane["lane"] == wanted and step["kind"] == "receive":
                return step["peer"]
    return -1
