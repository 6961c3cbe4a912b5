"""The grammar of Slurm's topology.conf: keys and values, as Slurm itself reads them.

A value may be in quotes, blanks may stand round =, # begins a comment unless a backslash is before it, and a backslash
at the end of a line, with blanks or a carriage return behind it or not, joins the next line to it. Include reads
another file of the same folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kumihimo.text import files
from kumihimo.text.documents import Value
from kumihimo.text.errors import did_you_mean, wrong_value

KEYS = {  # of each kind of line, by the key that begins it in Slurm; some are of `scontrol show topology`
    "SwitchName": ("Switches", "Nodes", "LinkSpeed", "Level"),
    "BlockName": ("Nodes", "BlockIndex", "BlockSize"),
    "AggregatedBlock": ("Nodes", "BlockIndex", "BlockSize"),  # of several blocks
    "BlockSizes": (),
    "RingName": ("Nodes",),
}
NAMES = {key.lower(): key for first, others in KEYS.items() for key in (first, *others)}
FORM = "a line must be SwitchName= with Nodes= or Switches=, BlockName= or RingName= with Nodes=, or BlockSizes="
PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*=\s*(?:"([^"]*)"|([^"\s]\S*))(?=\s|$)')
MOST_FILES = 1000
LARGEST_FILE = 64 << 20


class ConfLine(NamedTuple):
    """A line: its first key of KEYS, its values by key, its file and line."""

    kind: str
    values: dict[str, str]
    where: str


@dataclass
class ConfReader:
    folder: Path | None = None  # of included files
    files: int = 1
    open: list[str] = field(default_factory=list)

    def lines(self, text: str, source: str) -> Iterator[ConfLine]:
        """Kind of each line, and all its values by key."""
        self.open.append(source)
        for number, line in logical_lines(text):
            where = f"{source}:{number}"
            if include := re.fullmatch(r"include\s+(\S.*)", line.strip(), re.IGNORECASE):
                yield from self._included(include[1].strip('"'), where)
            elif line.strip():
                yield _kind_and_values(line, where)
        self.open.pop()

    def _included(self, name: str, where: str) -> Iterator[ConfLine]:
        self.files += 1
        if "%" in name or self.folder is None:
            raise wrong_value(f"{where}: Include must name a file", f"'{name}'", "write the file's lines here")
        if name in self.open or self.files > MOST_FILES:
            raise wrong_value(f"{where}: files must not include each other", f"'{name}'")
        text = files.read_text(self.folder / name, f"{where}: the included file", LARGEST_FILE)
        yield from self.lines(text, name)


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Each with the number of its first line."""
    first, joined = 0, ""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        first = first or number
        kept = _without_comment(line)
        stripped = kept.rstrip()
        continued = (len(stripped) - len(stripped.rstrip("\\"))) % 2 == 1
        joined += stripped[:-1] if continued else kept
        if not continued or number == len(lines):
            yield first, re.sub(r"\\(.?)", r"\1", joined)
            first, joined = 0, ""


def _without_comment(line: str) -> str:
    match = re.match(r"(?:[^#\\]|\\.|\\$)*", line, re.DOTALL)
    return match[0] if match else ""


def _kind_and_values(line: str, where: str) -> ConfLine:
    values: dict[str, str] = {}
    rest = line
    while rest.strip():
        pair = PAIR.match(rest)
        if pair is None:
            raise wrong_value(f"{where}: {FORM}", f"'{rest.strip()}'")
        key = NAMES.get(pair[1].lower())
        if key is None:
            advice = did_you_mean(pair[1].lower(), NAMES, f"use {', '.join(NAMES.values())}")
            raise wrong_value(f"{where}: Slurm's topology.conf has no such key", f"'{pair[1]}'", advice)
        if key in values:
            raise wrong_value(f"{where}: a line must have each key once", f"{key} twice")
        values[key] = pair[2] if pair[2] is not None else pair[3]
        rest = rest[pair.end() :]
    kind = next((first for first in KEYS if first in values), None)
    if kind is None:
        raise wrong_value(f"{where}: {FORM}", f"'{line.strip()}'")
    Value({key: Value(text, where) for key, text in values.items()}, where).fields(
        f"a line with {kind}", (kind, *KEYS[kind])
    )
    return ConfLine(kind, values, where)
