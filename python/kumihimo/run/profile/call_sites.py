"""Call sites as people read them: `solver.c:41 (relax)` where there is debug information, found by addr2line."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kumihimo.processes import child_output
from kumihimo.text.json_types import JsonObject

TIME_S = 60  # of addr2line, for all sites of one object


@dataclass(frozen=True)
class CallPlace:
    """Where a call is made: in a source file, or else at an offset in an object."""

    file: str = ""
    line: int = 0
    function: str = ""
    object: str = ""
    offset: int = 0

    def __str__(self) -> str:
        where = f"{Path(self.file).name}:{self.line}" if self.file else f"{Path(self.object).name}+{self.offset:#x}"
        return f"{where} ({self.function})" if self.function else where


NOWHERE = CallPlace(object="an unknown place")


def as_recorded(site: JsonObject | None) -> CallPlace:
    """Before any look at debug information."""
    if site is None:
        return NOWHERE
    if "file" in site:
        return CallPlace(file=site["file"], line=site["line"], function=site["function"])
    return CallPlace(object=site["object"], offset=site["offset"], function=site.get("function") or "")


def resolved(places: Iterable[CallPlace]) -> dict[CallPlace, CallPlace]:
    """Each place as far as it can be told more precisely."""
    found = {place: place for place in places}
    tool = shutil.which("addr2line")
    objects = defaultdict(list)
    for place in found:
        if not place.file and place.object and Path(place.object).is_file():
            objects[place.object].append(place)
    for name, wanted in objects.items():
        for place, better in zip(wanted, ask(tool, name, wanted)) if tool else ():
            found[place] = better
    return found


def ask(tool: str, name: str, places: list[CallPlace]) -> list[CallPlace]:
    """An address is that to which the call returns: one byte before it, the line is the call's."""
    addresses = [hex(place.offset - 1) for place in places]
    try:
        answer = child_output.run([tool, "-f", "-C", "-e", name, *addresses], seconds=TIME_S).stdout.splitlines()
    except (OSError, child_output.TimedOut):
        return places
    if len(answer) != 2 * len(places):
        return places
    return [with_location(place, answer[2 * i], answer[2 * i + 1]) for i, place in enumerate(places)]


def with_location(place: CallPlace, function: str, where: str) -> CallPlace:
    """addr2line's `main` and `/home/a/solver.c:41 (discriminator 2)`, or `??` and `??:0`."""
    file, _, line = where.partition(" (")[0].rpartition(":")
    name = function if function != "??" else place.function
    known = file not in ("", "??") and line.isdigit() and line != "0"
    return CallPlace(
        file=file if known else "",
        line=int(line) if known else 0,
        function=name,
        object=place.object,
        offset=0 if known else place.offset,
    )
