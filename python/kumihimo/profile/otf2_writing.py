"""Traces as OTF2, by Debian's Python package of that name (python3-otf2), where it is installed."""

from __future__ import annotations

import importlib
import shutil
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from kumihimo.errors import not_applicable, wrong_value
from kumihimo.files import refused
from kumihimo.profile import reading

RAW = "events"  # the folder of the ranks' own files, within the trace's
ROW = struct.Struct("<qqBBHiIiq")  # an Event of record/trace.hpp
ENTER, LEAVE, SEND, RECEIVE, COLLECTIVE = range(5)
DEBIAN = Path("/usr/lib/python3/dist-packages")
AT_ONCE = 4096  # rows read together
NO_ROOT = 0xFFFFFFFF
LEAST_CHUNK = 1 << 18  # of OTF2, which takes time for a whole chunk of each location; a record lies within one
BYTES_OF_MEMBER = 9  # of a group, at most


def prepared(folder: Path) -> Path:
    """A new folder for the trace, with one in it for the ranks' events."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise wrong_value("--trace must name a new or empty folder", folder)
    raw = folder.resolve() / RAW
    with refused("--trace must name a folder that can be made", folder):
        raw.mkdir(parents=True, exist_ok=True)
    return raw


def library() -> ModuleType:
    """The package, in this Python or as Debian installs it for its own."""
    try:
        return importlib.import_module("otf2")
    except ImportError:
        pass
    sys.path.append(str(DEBIAN))
    try:
        return importlib.import_module("otf2")
    except (ImportError, OSError):
        raise not_applicable(
            "a trace needs OTF2's Python package", None, "install python3-otf2; the recorded events are kept"
        ) from None
    finally:
        sys.path.remove(str(DEBIAN))


def write(folder: Path, profile: Path) -> str:
    """The trace from the ranks' files; a sentence about it. The profile names the communicators."""
    raw = folder.resolve() / RAW
    files = {int(p.stem.removeprefix("rank")): p for p in raw.glob("rank*.events")}
    if not files:
        return "no trace was written: no rank called MPI_Finalize"
    otf2 = library()
    job = job_of(profile, max(files) + 1)
    archive = folder.resolve() / "otf2"
    chunks = {
        "chunk_size_definitions": LEAST_CHUNK + BYTES_OF_MEMBER * len(job.hosts),
        "chunk_size_events": LEAST_CHUNK,
    }
    with otf2.writer.open(str(archive), timer_resolution=10**9, **chunks) as trace:
        writing = Writing(otf2, trace, job)
        written = sum(writing.rank(rank, path) for rank, path in sorted(files.items()))
    shutil.rmtree(raw)
    return f"the trace is {archive / 'traces.otf2'}, {written} events"


@dataclass
class Job:
    """What the trace takes from the profile, which is read line by line."""

    names: dict[int, str]  # of calls, by their numbers in the events
    hosts: list[str]  # by rank
    members: dict[tuple, dict[int, int]] = field(default_factory=dict)  # of a communicator: ranks in the world, by own
    communicators: dict[tuple[int, int], tuple] = field(default_factory=dict)  # by rank and number in its line

    def add(self, rank: dict) -> None:
        number = rank["rank"]
        self.hosts[number] = sys.intern(rank.get("host", self.hosts[number]))
        for place, c in enumerate(rank["communicators"]):
            site = None if c["site"] is None else str(rank["sites"][c["site"]])
            key = (c["name"], site, c["size"], c["leader"], c["inter"])
            self.communicators[number, place] = key
            if (own := c.get("rank")) is not None and not c["inter"]:
                self.members.setdefault(key, {})[own] = number

    def whole(self) -> dict[tuple, list[int]]:
        """Communicators of which each rank in them is known, by the ranks in the world in their own order. Of others
        (made again and again with other members, or with ranks that wrote nothing) no more than the name is known."""
        return {
            key: [found[own] for own in range(key[2])]
            for key, found in self.members.items()
            if len(set(found.values())) == key[2] and all(own in found for own in range(key[2]))
        }


def job_of(profile: Path, least: int) -> Job:
    """Of all ranks of the program, whether they wrote a line or not."""
    lines = reading.lines(profile)
    header = next(lines)
    names = (header.get("trace") or {}).get("calls", {})
    job = Job({int(number): name for number, name in names.items()}, ["node"] * max(header.get("ranks", 0), least))
    for rank in lines:
        job.add(rank)
    return job


def rows(path: Path) -> Iterator[tuple]:
    with path.open("rb") as file:
        while block := file.read(AT_ONCE * ROW.size):
            yield from ROW.iter_unpack(block[: len(block) // ROW.size * ROW.size])


class Members(tuple):
    """Of a group, for OTF2's package, which asks for the index of each member."""

    places: dict[int, int]

    def index(self, member: object, *_: int) -> int:
        if not hasattr(self, "places"):
            self.places = {id(found): place for place, found in enumerate(self)}
        return self.places[id(member)]


@dataclass
class Location:
    """A thread of a rank, as its events are written."""

    definition: object
    writer: object
    open: list[str] = field(default_factory=list)  # calls, the innermost last
    last: int = 0  # its latest time


def ended(writer: object) -> None:
    """Now, not when all are: each has buffers and two files. The archive closes all that it knows at its end, and opens
    those anew that it does not know: it must find this one, and leave it."""
    writer.close()
    writer.close = lambda: None


class Writing:
    """Definitions and events of one trace. Messages are told between ranks of the world, whatever communicator they
    went by; collectives on their own."""

    def __init__(self, otf2: ModuleType, trace: object, job: Job) -> None:
        self.otf2, self.trace, self.job = otf2, trace, job
        self.definitions = trace.definitions
        self.locations, self.regions = {}, {}
        nodes = {host: self.definitions.system_tree_node(host, class_name="node") for host in dict.fromkeys(job.hosts)}
        self.groups = [
            self.definitions.location_group(f"MPI Rank {rank}", system_tree_parent=nodes[host])
            for rank, host in enumerate(job.hosts)
        ]
        self.masters = Members(self.definitions.location("Master thread", group=group) for group in self.groups)
        self.group("", otf2.GroupType.COMM_LOCATIONS, self.masters)
        self.world = self.communicator("MPI_COMM_WORLD", range(len(job.hosts)))
        whole = job.whole()
        made = {key: self.communicator(key[0], of) for key, of in whole.items() if key[0] != "MPI_COMM_WORLD"}
        self.communicators = {place: made[key] for place, key in job.communicators.items() if key in made}

    def group(self, name: str, kind: object, members: Sequence) -> object:
        return self.definitions.group(name, group_type=kind, paradigm=self.otf2.Paradigm.MPI, members=members)

    def communicator(self, name: str, members: Sequence[int]) -> object:
        """By the ranks in the world."""
        group = self.group(name, self.otf2.GroupType.COMM_GROUP, tuple(self.masters[rank] for rank in members))
        return self.definitions.comm(name, group=group)

    def rank(self, rank: int, path: Path) -> int:
        """A rank's events: how many. Nothing of it stays open: a full buffer may have ended within a call."""
        self.locations = {}
        written = 0
        for row in rows(path):  # of one thread, in order of time
            self.event(rank, self.location(rank, row[4]), row)
            written += 1
        for location in self.locations.values():
            while location.open:
                location.writer.leave(location.last, self.region(location.open.pop()))
            ended(location.writer)
        return written

    def event(self, rank: int, location: Location, row: tuple) -> None:
        at, size, what, call, _, partner, communicator, tag, began = row
        name = self.job.names.get(call, f"call {call}")
        began, at = max(began, location.last), max(at, location.last)  # OTF2 takes no time that goes back
        writer, location.last = location.writer, at
        if what == ENTER:
            location.open.append(name)
            writer.enter(at, self.region(name))
        elif what == LEAVE and name in location.open:
            while location.open[-1] != name:
                writer.leave(at, self.region(location.open.pop()))
            writer.leave(at, self.region(location.open.pop()))
        elif what in (SEND, RECEIVE) and 0 <= partner < len(self.groups):
            write = writer.mpi_send if what == SEND else writer.mpi_recv
            write(at, partner, self.world, tag, size)
        elif what == COLLECTIVE and is_collective(name, self.otf2):
            writer.mpi_collective_begin(began)
            on, root = self.where(rank, communicator - 1, partner)
            writer.mpi_collective_end(at, getattr(self.otf2.CollectiveOp, upper(name)), on, root, size, size)

    def where(self, rank: int, communicator: int, root: int) -> tuple[object, int]:
        """The communicator, and the root in it. One whose members are not all known counts as the world, in which the
        root's rank would be another's."""
        key = self.job.communicators.get((rank, communicator))
        known = key is None or key[0] == "MPI_COMM_WORLD" or (rank, communicator) in self.communicators
        on = self.communicators.get((rank, communicator), self.world)
        return on, root if known and root >= 0 else NO_ROOT

    def location(self, rank: int, thread: int) -> Location:
        if thread not in self.locations:
            group = self.groups[rank]
            found = self.definitions.location(f"Thread {thread}", group=group) if thread else self.masters[rank]
            self.locations[thread] = Location(found, self.trace.event_writer_from_location(found))
        return self.locations[thread]

    def region(self, name: str) -> object:
        if name not in self.regions:
            self.regions[name] = self.definitions.region(name, paradigm=self.otf2.Paradigm.MPI)
        return self.regions[name]


def upper(name: str) -> str:
    return name.removeprefix("MPI_").upper()


def is_collective(name: str, otf2: ModuleType) -> bool:
    """Blocking, as OTF2 knows them."""
    return hasattr(otf2.CollectiveOp, upper(name))
