"""Sources of a replay: a recorded program, a GOAL file or a workload; on other numbers of ranks, and of other speed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path

from kumihimo import _replay
from kumihimo.collectives import arguments
from kumihimo.collectives.given import GivenOption, refuse
from kumihimo.predict.replay import goal_reading, otf2_reading, recorded_reading
from kumihimo.predict.replay.trace import Trace
from kumihimo.text.errors import missing, wrong_value
from kumihimo.text.json_types import JsonObject

GOAL, WORKLOAD = "goal:", "workload:"
MOST_RANKS = 2**20
NOT_OF_WORKLOAD = ("grid", "to_grid", "scaling")
NOT_OF_GOAL = ("ranks", "grid", "to_grid", "scaling", "algorithm", "wisdom", "library")


def is_workload(name: str) -> bool:
    return name.startswith(WORKLOAD)


def trace_of(name: str, given: Iterable[GivenOption] = ()) -> Trace:
    """Trace recorded in a folder or a file, or the GOAL file `goal:FILE`. `given`: options, which are refused where a
    GOAL file has no use for them.
    """
    if not name:
        raise missing("the trace", "name a folder of kumihimo record --trace")
    if name.startswith(GOAL):
        refuse(given, "a GOAL file takes", NOT_OF_GOAL)
        return goal_reading.read(name)
    path = Path(name)
    if not path.exists():
        arguments.refuse_misspelt_kind(name, (GOAL, WORKLOAD))
    if goal_reading.is_goal(path):
        raise wrong_value("a GOAL file must be named with goal: before its path", name, f"write goal:{name}")
    return recorded_reading.read(path) if recorded_reading.is_recorded(path) else otf2_reading.read(path)


def speeds(words: Sequence[str], read: Trace) -> tuple[float, dict[str, float]]:
    """Speed of all computing, and speeds of some regions."""
    general, of_regions = 1.0, {}
    for word in words:
        region, equals, number = word.rpartition("=")
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?(e-?[0-9]+)?", number) is None or not 1e-6 <= float(number) <= 1e6:
            raise wrong_value("--speed must be a number from 1e-6 to 1e6, or REGION= and one", f"'{word}'")
        if not equals:
            general = float(number)
        elif read.graphs is not None:
            raise wrong_value("--speed of a GOAL file, which has no regions, must be one number", f"'{word}'")
        elif region in read.regions:
            of_regions[region] = float(number)
        else:
            known = f"it has {', '.join(read.regions)}"
            raise wrong_value("--speed must name a region of the trace", f"'{region}'", known)
    return general, of_regions


def extrapolated(
    read: Trace, ranks: int | None, grid: str | None, to_grid: str | None, scaling: str
) -> tuple[_replay.Source | None, JsonObject]:
    """The program of as many ranks as are asked for, and what was assumed."""
    if read.recording is None:
        return None, {}
    if scaling not in ("weak", "strong"):
        raise wrong_value("--scaling must be weak or strong", f"'{scaling}'")
    recorded = read.recording.ranks
    given = lengths(grid, "--grid") if grid else None
    if given is not None and prod(given) != recorded:
        raise wrong_value(f"--grid must be of the {recorded} recorded ranks", f"'{grid}'", "leave it out to find one")
    if to_grid is None and (ranks is None or ranks == recorded):
        return read.recording, {}
    before = given or _replay.grid_of(read.recording)
    if to_grid is None and ranks is not None:
        if not 1 <= ranks <= MOST_RANKS:
            raise wrong_value(f"--ranks must be from 1 to {MOST_RANKS}", ranks)
        after = _replay.scaled_grid(before, ranks)
    else:
        after = lengths(to_grid or "", "--to-grid")
    if ranks not in (None, prod(after)):
        raise wrong_value("--to-grid must have as many ranks as --ranks", f"{to_grid} for {ranks}")
    source = _replay.extrapolated(read.recording, before, after, scaling == "strong")
    return source, {"scaling": scaling, "recorded_grid": before, "grid": after}


def lengths(text: str, option: str) -> list[int]:
    """ "16x16x8"."""
    if (
        re.fullmatch(r"[1-9][0-9]{0,7}(x[1-9][0-9]{0,7}){0,2}", text) is None
        or prod(map(int, text.split("x"))) > MOST_RANKS
    ):
        raise wrong_value(
            f"{option} must be a grid of up to three axes and {MOST_RANKS} ranks", f"'{text}'", "as in 4x4"
        )
    return [int(length) for length in text.split("x")]
