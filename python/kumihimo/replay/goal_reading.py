"""GOAL files as recorded programs: they name no calls, regions or collectives."""

from __future__ import annotations

import re
from pathlib import Path

from kumihimo import files, subjects
from kumihimo.replay.otf2_reading import Trace

SITE, REGION = "sends and receives", "computing"


def is_goal(path: Path) -> bool:
    """Whether the file begins as the text form does, after comments."""
    if not path.is_file():
        return False
    with files.refused("the trace must be readable", path), path.open("rb") as file:
        beginning = re.sub(rb"//.*|/\*.*?\*/", b"", file.read(4096))
    return beginning.lstrip().startswith(b"num_ranks")


def read(name: str) -> Trace:
    """Of `goal:FILE`, text or binary."""
    return Trace(None, [SITE], [REGION], 0.0, [], {}, graphs=subjects.read_goal(name).graphs)
