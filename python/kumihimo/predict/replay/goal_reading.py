"""GOAL files as recorded programs: they name no calls, regions or collectives."""

from __future__ import annotations

import re
from pathlib import Path

from kumihimo.predict import subjects
from kumihimo.predict.replay.trace import Trace
from kumihimo.text import files

SITE, REGION = "sends and receives", "computing"


def is_goal(path: Path) -> bool:
    """Whether the file begins as the text form does, after comments."""
    if not path.is_file():
        return False
    with files.refused("the trace must be readable", path), path.open("rb") as file:
        beginning = re.sub(rb"//.*|/\*.*?\*/", b"", file.read(4096))
    return beginning.lstrip().startswith(b"num_ranks")


def read(name: str) -> Trace:
    """Trace of `goal:FILE`, text or binary."""
    return Trace(None, [SITE], [REGION], 0.0, [], {}, graphs=subjects.read_goal(name).graphs)
