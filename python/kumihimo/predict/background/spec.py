"""A background job as --background names it: uniform:share=50%,load=30%,bytes=64KiB,spread=scattered, or
goal:FILE,share=50%."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kumihimo import _goal
from kumihimo.text import files
from kumihimo.text.errors import did_you_mean, missing, wrong_value
from kumihimo.text.sizes import parse_size

PATTERNS = ("uniform", "neighbour", "alltoall")
GOAL = "goal"
SPREADS = ("compact", "scattered")
LARGEST_FILE = 2**36  # bytes
LARGEST_MESSAGE = 2**30


@dataclass(frozen=True)
class Spec:
    """`share` of the nodes that the job watched leaves free; None: as many nodes as the file has ranks."""

    text: str
    kind: str  # one of PATTERNS, or GOAL
    file: str = ""
    share: float | None = 1.0
    load: float = 0.3
    bytes: int = 65536
    spread: str = "scattered"

    def graphs(self) -> _goal.Graphs | None:
        """Graphs of the file."""
        if self.kind != GOAL:
            return None
        return _goal.read(files.read_bytes(Path(self.file), "the GOAL file of --background", LARGEST_FILE), self.file)


def parsed(text: str) -> Spec:
    kind, _, rest = text.partition(":")
    if kind not in (*PATTERNS, GOAL):
        rule = f"--background must be {', '.join(PATTERNS)} or {GOAL}:FILE"
        raise wrong_value(rule, f"'{kind}'", did_you_mean(kind, (*PATTERNS, GOAL), "as in uniform:share=50%,load=30%"))
    known = ("share", "spread") if kind == GOAL else ("share", "load", "bytes", "spread")
    words = rest.split(",") if rest else []
    spec = Spec(text, kind)
    if kind == GOAL:
        file = words[:1]
        while len(words) > len(file) and words[len(file)].partition("=")[0] not in known:
            file.append(words[len(file)])  # a name with commas
        words = words[len(file) :]
        if not "".join(file):
            raise missing("the file of --background goal:FILE", "write goal:trace.goal")
        if any(re.fullmatch(r"(load|bytes)=.*", word) for word in file[1:]):
            raise wrong_value(
                "--background goal:FILE takes share= and spread= alone", f"'{text}'", "leave the rest out"
            )
        spec = replace(spec, file=",".join(file), share=None)
    given: set[str] = set()
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            rule = f"--background {kind} takes {', '.join(f'{each}=' for each in known)}"
            raise wrong_value(rule, f"'{word}'", did_you_mean(name, known, "join them with commas"))
        if name in given:
            raise wrong_value(f"--background must name {name} once", f"'{text}'", "leave one of them out")
        given.add(name)
        spec = replace(spec, **{name: VALUES[name](value)})
    return spec


def percent(name: str, text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) *%", text)
    if not match or not 0 < float(match[1]) <= 100:
        raise wrong_value(f"the {name} of --background must be above 0 and at most 100 %", f"'{text}'", "as in 30%")
    return float(match[1]) / 100


def size(text: str) -> int:
    number = parse_size(text)
    if number > LARGEST_MESSAGE:
        raise wrong_value("messages of --background must have at most 1 GiB", f"'{text}'")
    return number


def spread(text: str) -> str:
    if text not in SPREADS:
        raise wrong_value(f"the spread of --background must be {' or '.join(SPREADS)}", f"'{text}'")
    return text


VALUES: dict[str, Callable[[str], Any]] = {
    "share": lambda text: percent("share", text),
    "load": lambda text: percent("load", text),
    "bytes": size,
    "spread": spread,
}
