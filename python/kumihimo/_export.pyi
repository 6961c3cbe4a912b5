"""Schedules as text and JSON."""

from typing import overload

import kumihimo._programs
import kumihimo._schedule
import kumihimo._topology


@overload
def header_text(schedule: kumihimo._schedule.Schedule, space: kumihimo._topology.RankSpace, columns: int = 80) -> str: ...

@overload
def header_text(programs: kumihimo._programs.NamedPrograms, space: kumihimo._topology.RankSpace, columns: int = 80) -> str: ...

@overload
def program_text(programs: kumihimo._programs.NamedPrograms, space: kumihimo._topology.RankSpace, rank: int, columns: int = 80) -> str: ...

@overload
def program_text(schedule: kumihimo._schedule.Schedule, space: kumihimo._topology.RankSpace, rank: int, columns: int = 80) -> str:
    """One rank's program as people read it."""

@overload
def program_json(programs: kumihimo._programs.NamedPrograms, rank: int) -> str: ...

@overload
def program_json(schedule: kumihimo._schedule.Schedule, rank: int) -> str:
    """One rank's program, loops not expanded."""

@overload
def expanded_json(programs: kumihimo._programs.NamedPrograms, most_steps: int = 4000000) -> str: ...

@overload
def expanded_json(schedule: kumihimo._schedule.Schedule, most_steps: int = 4000000) -> str:
    """All steps of all ranks of a small case."""
