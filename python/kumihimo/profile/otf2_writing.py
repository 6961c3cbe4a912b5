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
from kumihimo.files import check_folder, real, replacement_folder
from kumihimo.profile import reading

RAW = "events"  # the folder of the ranks' own files, within the trace's
ROW = struct.Struct("<qqBBHiIiq")  # an Event of record/trace.hpp
ENTER, LEAVE, SEND, RECEIVE, COLLECTIVE, START_SEND, START_RECEIVE, START_COLLECTIVE = range(8)
END_SEND, END_RECEIVE, END_COLLECTIVE, PART, BEGIN_REGION, END_REGION, BEGIN_PROGRAM, END_PROGRAM = range(8, 16)
PROCESSORS = "processors"  # the name of a property of a node
SITE, PARTS = "call site", "bytes to each rank"  # names of attributes: of Enter, and of the end of a collective
# Of Enter and ProgramEnd: since the last Leave, in nanoseconds.
PROCESSOR_TIME, RECORDER_TIME = "processor time", "recorder time"
DEBIAN = Path("/usr/lib/python3/dist-packages")
AT_ONCE = 4096  # rows read together
NO_ROOT = 0xFFFFFFFF
LEAST_CHUNK = 1 << 18  # of OTF2, which takes time for a whole chunk of each location; a record lies within one
BYTES_OF_MEMBER = 9  # of a group, at most


def prepared(folder: Path) -> Path:
    """A new folder for the trace, with one in it for the ranks' events."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise wrong_value("--trace must name a new or empty folder", folder)
    raw = real(folder) / RAW
    check_folder(raw, "--trace must name a folder that can be made")
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
    raw = real(folder) / RAW
    files = {int(p.stem.removeprefix("rank")): p for p in raw.glob("rank*.events")}
    if not files:
        return "no trace was written: no rank called MPI_Finalize"
    otf2 = library()
    job = job_of(profile, max(files) + 1)
    archive = real(folder) / "otf2"
    chunks = {
        "chunk_size_definitions": LEAST_CHUNK + BYTES_OF_MEMBER * len(job.hosts),
        "chunk_size_events": LEAST_CHUNK,
    }
    with replacement_folder(archive) as new, otf2.writer.open(str(new), timer_resolution=10**9, **chunks) as trace:
        writing = Writing(otf2, trace, job)
        written = sum(writing.rank(rank, path) for rank, path in sorted(files.items()))
    shutil.rmtree(raw)
    return f"the trace is {archive / 'traces.otf2'}, {written} events"


@dataclass
class TraceJob:
    """What the trace takes from the profile, which is read line by line."""

    names: dict[int, str]  # of calls, by their numbers in the events
    hosts: list[str]  # by rank
    processors: dict[str, set[int]] = field(default_factory=dict)  # by host: those that any of its ranks could run on
    members: dict[tuple, dict[int, int]] = field(default_factory=dict)  # of a communicator: ranks in the world, by own
    communicators: dict[tuple[int, int], tuple] = field(default_factory=dict)  # by rank and number in its line
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
        for place, c in enumerate(rank["communicators"]):
            site = None if c["site"] is None else str(rank["sites"][c["site"]])
            key = (c["name"], site, c["size"], c["leader"], c["inter"])
            self.communicators[number, place] = key
            known = (own := c.get("rank")) is not None and not c["inter"]
            if known and self.members.setdefault(key, {}).setdefault(own, number) != number:
                self.unsure.add(key)

    def whole(self) -> dict[tuple, list[int]]:
        """Communicators of which each rank in them is known, by the ranks in the world in their own order. Of others
        (made again and again with other members, or with ranks that wrote nothing) no more than the name is known."""
        return {
            key: [found[own] for own in range(key[2])]
            for key, found in self.members.items()
            if key not in self.unsure and len(set(found.values())) == key[2] == len(found)
        }


def numbers_in(text: str) -> Iterator[int]:
    """Of "0-3,8"."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def site_text(site: dict) -> str:
    """`solver.py:12 (step)`, `lmp+0x1a2b (run)`."""
    function = f" ({site['function']})" if site.get("function") else ""
    if "file" in site:
        return f"{Path(site['file']).name}:{site['line']}{function}"
    return f"{Path(site['object']).name}+{site['offset']:#x}{function}"


def job_of(profile: Path, least: int) -> TraceJob:
    """Of all ranks of the program, whether they wrote a line or not."""
    lines = reading.lines(profile)
    header = next(lines)
    names = (header.get("trace") or {}).get("calls", {})
    job = TraceJob({int(number): name for number, name in names.items()}, ["node"] * max(header.get("ranks", 0), least))
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
    open: list[tuple] = field(default_factory=list)  # name and paradigm of calls and regions, the innermost last
    last: int = 0  # its latest time
    parts: list[int] = field(default_factory=list)  # of the collective that comes next


def ended(writer: object) -> None:
    """Now, not when all are: each has buffers and two files. The archive closes all that it knows at its end, and opens
    those anew that it does not know: it must find this one, and leave it."""
    writer.close()
    writer.close = lambda: None


class Writing:
    """Definitions and events of one trace. What goes by a communicator whose members are not all known is told on a
    duplicate of the world that stands for all made by the same line: never by that of other messages."""

    def __init__(self, otf2: ModuleType, trace: object, job: TraceJob) -> None:
        self.otf2, self.trace, self.job = otf2, trace, job
        self.definitions = trace.definitions
        self.locations, self.regions, self.parts = {}, {}, {}
        self.site = self.definitions.attribute(SITE, "Where the program calls.", type=otf2.Type.STRING)
        self.bytes_to = self.definitions.attribute(PARTS, "By rank of the communicator.", type=otf2.Type.STRING)
        self.processor_time = self.definitions.attribute(
            PROCESSOR_TIME, "Of the program since the call before, in nanoseconds.", type=otf2.Type.UINT64
        )
        self.recorder_time = self.definitions.attribute(
            RECORDER_TIME, "Of the recorder itself since the call before, in nanoseconds.", type=otf2.Type.UINT64
        )
        nodes = {host: self.definitions.system_tree_node(host, class_name="node") for host in dict.fromkeys(job.hosts)}
        for host, found in job.processors.items():
            self.definitions.system_tree_node_property(nodes[host], PROCESSORS, value=len(found))
        self.groups = [
            self.definitions.location_group(f"MPI Rank {rank}", system_tree_parent=nodes[host])
            for rank, host in enumerate(job.hosts)
        ]
        self.masters = Members(self.definitions.location("Master thread", group=group) for group in self.groups)
        self.group("", otf2.GroupType.COMM_LOCATIONS, self.masters)
        self.world = self.communicator("MPI_COMM_WORLD", range(len(job.hosts)))
        whole = job.whole()
        made = {key: self.communicator(key[0], of) for key, of in whole.items() if key[0] != "MPI_COMM_WORLD"}
        self.own = {key: {rank: own for own, rank in enumerate(whole[key])} for key in made}  # by rank in the world
        for key in job.communicators.values():
            if key[0] != "MPI_COMM_WORLD" and key not in made and key[:2] not in made:
                made[key[:2]] = self.communicator(key[0], range(len(job.hosts)))
        self.communicators = made

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
                location.writer.leave(location.last, self.region(*location.open.pop()))
            ended(location.writer)
        return written

    def event(self, rank: int, location: Location, row: tuple) -> None:
        at, size, what, call, _, partner, communicator, _, more = row
        name = self.job.names.get(call, f"call {call}")
        at = max(at, location.last)  # OTF2 takes no time that goes back
        writer = location.writer
        if what == ENTER:
            sites = self.job.sites.get(rank, [])
            site = sites[partner] if 0 <= partner < len(sites) else ""
            known = {self.site: site} if site else {}
            self.enter(location, at, name, self.otf2.Paradigm.MPI, known | self.times(row))
        elif what == LEAVE:
            self.leave(location, at, name, self.otf2.Paradigm.MPI)
        elif what in (BEGIN_REGION, END_REGION):
            region = self.job.regions[rank][partner]
            if what == BEGIN_REGION:
                self.enter(location, at, region, self.otf2.Paradigm.USER, {})
            else:
                self.leave(location, at, region, self.otf2.Paradigm.USER)
        elif what == PART:
            location.parts.append(size)
        elif what in (COLLECTIVE, END_COLLECTIVE) and (operation := self.collective(name)) is not None:
            key, on = self.where(rank, communicator)
            root = partner if key is not None and partner >= 0 else NO_ROOT
            given = {self.bytes_to: ",".join(map(str, location.parts))} if what == COLLECTIVE and location.parts else {}
            if what == COLLECTIVE:
                writer.mpi_collective_begin(max(more, location.last))
                writer.mpi_collective_end(at, operation, on, root, size, size, attributes=given)
            else:
                given = {self.bytes_to: parts} if (parts := self.parts.pop(more, "")) else {}
                writer.non_blocking_collective_complete(at, operation, on, root, size, size, more, attributes=given)
            location.parts = []
        elif what == START_COLLECTIVE:
            writer.non_blocking_collective_request(at, more)
            self.parts[more], location.parts = ",".join(map(str, location.parts)), []
        else:
            self.message(writer, rank, at, row)
        location.last = at

    def times(self, row: tuple) -> dict:
        known = {self.recorder_time: row[1], self.processor_time: row[-1]}
        return {attribute: ns for attribute, ns in known.items() if ns > 0}

    def message(self, writer: object, rank: int, at: int, row: tuple) -> None:
        _, size, what, _, _, partner, communicator, tag, request = row
        if what == END_SEND:
            writer.mpi_isend_complete(at, request)
        elif what == START_RECEIVE:
            writer.mpi_irecv_request(at, request)
        elif what == BEGIN_PROGRAM:
            writer.program_begin(at, "program", [])
        elif what == END_PROGRAM:
            writer.program_end(at, 0, attributes=self.times(row))
        elif 0 <= partner < len(self.groups):
            key, on = self.where(rank, communicator)
            partner = self.own[key][partner] if key in self.own else partner
            if what == SEND:
                writer.mpi_send(at, partner, on, tag, size)
            elif what == RECEIVE:
                writer.mpi_recv(at, partner, on, tag, size)
            elif what == START_SEND:
                writer.mpi_isend(at, partner, on, tag, size, request)
            elif what == END_RECEIVE:
                writer.mpi_irecv(at, partner, on, tag, size, request)

    def enter(self, location: Location, at: int, name: str, paradigm: object, attributes: dict) -> None:
        location.open.append((name, paradigm))
        location.writer.enter(at, self.region(name, paradigm), attributes=attributes)

    def leave(self, location: Location, at: int, name: str, paradigm: object) -> None:
        if (name, paradigm) not in location.open:
            return
        while location.open[-1] != (name, paradigm):
            location.writer.leave(at, self.region(*location.open.pop()))
        location.writer.leave(at, self.region(*location.open.pop()))

    def collective(self, name: str) -> object | None:
        """As OTF2 knows it: MPI_Iallreduce and MPI_Allreduce_init are an allreduce."""
        upper = name.removeprefix("MPI_").removesuffix("_init").upper()
        operations = self.otf2.CollectiveOp
        return getattr(operations, upper, None) or getattr(operations, upper.removeprefix("I"), None)

    def where(self, rank: int, number: int) -> tuple[tuple | None, object]:
        """The communicator of an event and its key; None: its members are not all known, so that a rank in it would be
        another's."""
        key = self.job.communicators.get((rank, number - 1))
        if key is None or key[0] == "MPI_COMM_WORLD":
            return (), self.world
        return (key, self.communicators[key]) if key in self.own else (None, self.communicators[key[:2]])

    def location(self, rank: int, thread: int) -> Location:
        if thread not in self.locations:
            group = self.groups[rank]
            found = self.definitions.location(f"Thread {thread}", group=group) if thread else self.masters[rank]
            self.locations[thread] = Location(found, self.trace.event_writer_from_location(found))
        return self.locations[thread]

    def region(self, name: str, paradigm: object) -> object:
        """A program may name a region as a call of MPI is named."""
        if (name, paradigm) not in self.regions:
            self.regions[name, paradigm] = self.definitions.region(name, paradigm=paradigm)
        return self.regions[name, paradigm]
