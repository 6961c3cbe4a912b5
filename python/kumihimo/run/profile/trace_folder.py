"""The folder of `record --trace`: a file of events of each rank, and the profile, which names what is in them."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo import _trace
from kumihimo.run.profile import reading
from kumihimo.text.errors import failed, wrong_value
from kumihimo.text.files import check_folder, real, replacement

EVENTS, PROFILE = "events", "profile.jsonl"
WORLD = "MPI_COMM_WORLD"
AT_ONCE = 4096  # events read together
MOST_RANKS, MOST_PROCESSORS = 1 << 24, 1 << 20  # of a program; of a host


def prepared(folder: Path) -> Path:
    """A new folder for the trace, with one in it for the ranks' events."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise wrong_value("--trace must name a new or empty folder", folder)
    events = real(folder) / EVENTS
    check_folder(events, "--trace must name a folder that can be made")
    return events


def finish(folder: Path, profile: Path | None) -> int:
    """Puts the profile to the events of the ranks: how many there are. 0: no rank has ended MPI."""
    events = sum(len(_trace.File(str(path))) for path in files_of(folder).values())
    if events:
        if profile is None:
            raise failed(f"{real(folder) / PROFILE} was not written", "there is no profile of this run")
        with profile.open("rb") as written, replacement(real(folder) / PROFILE) as kept:
            shutil.copyfileobj(written, kept)
    return events


def files_of(folder: Path) -> dict[int, Path]:
    """The files of events, by rank."""
    found = (real(folder) / EVENTS).glob("rank*.events")
    numbered = {path.stem.removeprefix("rank"): path for path in found}
    return {int(number): path for number, path in numbered.items() if re.fullmatch("[0-9]{1,7}", number)}


def events_of(file: _trace.File) -> Iterator[_trace.Event]:
    for first in range(0, len(file), AT_ONCE):
        yield from file.events(first, AT_ONCE)


@dataclass
class TraceJob:
    """Members of the profile that the trace needs; the profile is read line by line."""

    names: dict[int, str]  # of calls, by their numbers in the events
    hosts: list[str]  # by rank
    mpi: str = ""  # what the library calls itself
    processors: dict[str, set[int]] = field(default_factory=dict)  # by host: those that any of its ranks could run on
    members: dict[tuple, dict[int, int]] = field(default_factory=dict)  # of a communicator: ranks in the world, by own
    communicators: dict[int, list[tuple]] = field(default_factory=dict)  # by rank, in the order of its line
    unsure: set[tuple] = field(default_factory=set)  # of which several ranks were the same one
    sites: dict[int, list[str]] = field(default_factory=dict)  # by rank: the call sites by their numbers in its events
    regions: dict[int, list[str]] = field(default_factory=dict)  # likewise

    def add(self, rank: dict) -> None:
        number = rank["rank"]
        self.hosts[number] = sys.intern(rank.get("host", self.hosts[number]))
        if listed := rank.get("processors"):
            self.processors.setdefault(self.hosts[number], set()).update(numbers_in(listed))
        trace = rank.get("trace") or {}
        places = [sys.intern(site_text(site)) for site in rank["sites"]]
        self.sites[number] = ["" if at is None else places[at] for at in trace.get("sites", [])]
        self.regions[number] = [sys.intern(name) for name in trace.get("regions", [])]
        keys = self.communicators[number] = []
        for c in rank["communicators"]:
            site = None if c["site"] is None else str(rank["sites"][c["site"]])
            # One line (BLACS_GRIDMAP's) may make communicators of several ones: those of the parent's ranks are apart.
            parent = c.get("parent")
            of = keys[parent] if parent is not None and parent < len(keys) else None
            key = (c["name"], site, c["size"], c["leader"], c.get("last"), c["inter"], of)
            keys.append(key)
            known = (own := c.get("rank")) is not None and not c["inter"]
            if known and self.members.setdefault(key, {}).setdefault(own, number) != number:
                self.unsure.add(key)

    def call(self, event: _trace.Event) -> str:
        return self.names.get(event.call, f"call {event.call}")

    def crowded(self) -> tuple[str, int, int] | None:
        """The host with most ranks a processor, if it has more than one: its ranks and processors."""
        found = [(host, n, len(self.processors.get(host, ()))) for host, n in Counter(self.hosts).items()]
        return max((of for of in found if of[1] > of[2] > 0), key=lambda of: of[1] / of[2], default=None)

    def whole(self) -> dict[tuple, list[int]]:
        """Communicators of which each rank in them is known, by the ranks in the world in their own order. Of others
        (made again and again with other members, or with ranks that wrote nothing) no more than the name is known."""
        return {
            key: [found[own] for own in range(key[2])]
            for key, found in self.members.items()
            if key not in self.unsure and len(set(found.values())) == key[2] == len(found)
        }


def numbers_in(text: str) -> Iterator[int]:
    """Numbers in "0-3,8"."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not 0 <= int(first) <= int(last or first) < MOST_PROCESSORS:
            raise ValueError(text)
        yield from range(int(first), int(last or first) + 1)


def site_text(site: dict) -> str:
    """`solver.py:12 (step)`, `lmp+0x1a2b (run)`."""
    function = f" ({site['function']})" if site.get("function") else ""
    if "file" in site:
        return f"{Path(site['file']).name}:{site['line']}{function}"
    return f"{Path(site['object']).name}+{site['offset']:#x}{function}"


def job_of(folder: Path, least: int) -> TraceJob:
    """Job of all ranks of the program, whether they wrote a line or not."""
    lines = reading.lines(real(folder) / PROFILE)
    header = next(lines)
    names = (header.get("trace") or {}).get("calls", {})
    if header["ranks"] > MOST_RANKS:
        raise wrong_value(f"a program must have at most {MOST_RANKS} ranks", header["ranks"])
    job = TraceJob({int(number): name for number, name in names.items()}, ["node"] * max(header["ranks"], least))
    job.mpi = str(header.get("mpi") or "")
    for rank in lines:
        job.add(rank)
    return job
