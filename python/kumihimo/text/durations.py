"""Durations as people write them: `60`, `90s`, `5m`, `1.5h`, `10us`, `30d`, `5y`."""

from __future__ import annotations

import re

from kumihimo.text.errors import wrong_value
from kumihimo.text.quantities import seconds_text

FORMS = "a time such as 20us, 90s, 5m or 1h"
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_LONG = {"y": 365.25 * 86400, "d": 86400, "h": 3600, "min": 60}
_UNITS |= _LONG


def parse_duration(text: str, name: str, *, may_be_zero: bool = False, needs_unit: bool = False) -> float:
    """Seconds. `name`: the option, for the error. `needs_unit`: a number alone may be meant in hours, or as
    iterations.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([a-z]*)", text.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match and match[2] in _UNITS else -1.0
    if not 0 <= seconds < float("inf") or (seconds == 0 and not may_be_zero):
        raise wrong_value(f"{name} must be {FORMS}{', or 0' if may_be_zero else ''}", f"'{text}'")
    if needs_unit and seconds > 0 and match and not match[2]:
        raise wrong_value(f"{name} must have a unit", f"'{text}'", f"write {match[1]}s for seconds, or {match[1]}h")
    return seconds


def duration_text(seconds: float, digits: int = 3) -> str:
    """In the unit that suits: "26.5 h", "4 d", "152 ms". `digits`: at most, of minutes and more."""
    for unit, factor in _LONG.items():
        if seconds >= 2 * factor:
            number = seconds / factor
            return f"{number:,.0f} {unit}" if number >= 10**digits - 0.5 else f"{number:.{digits}g} {unit}"
    return seconds_text(seconds)
