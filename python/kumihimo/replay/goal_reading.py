"""GOAL files as recorded programs: they name no calls, regions or collectives."""

from __future__ import annotations

from kumihimo import loggp
from kumihimo.replay.otf2_reading import Trace

SITE, REGION = "sends and receives", "computing"


def read(name: str) -> Trace:
    """Of `goal:FILE`, text or binary."""
    return Trace(None, [SITE], [REGION], 0.0, [], {}, graphs=loggp.read_goal(name))
