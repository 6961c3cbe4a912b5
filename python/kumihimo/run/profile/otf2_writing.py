"""Traces as OTF2, by Debian's Python package of that name (python3-otf2), where it is installed."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from kumihimo import _trace
from kumihimo._trace import Kind
from kumihimo.run.profile import trace_folder
from kumihimo.run.profile.trace_folder import WORLD
from kumihimo.text.errors import NotApplicable, not_applicable
from kumihimo.text.files import real, replacement_folder
from kumihimo.text.json_types import JsonObject

FOLDER, ANCHOR = "otf2", "traces.otf2"  # within the trace's
PROCESSORS = "processors"  # the name of a property of a node
SITE, PARTS = "call site", "bytes to each rank"  # names of attributes: of Enter, and of the end of a collective
# Of Enter and ProgramEnd: since the last Leave, in nanoseconds.
PROCESSOR_TIME, RECORDER_TIME = "processor time", "recorder time"
DEBIAN = Path("/usr/lib/python3/dist-packages")
NO_ROOT = 0xFFFFFFFF
LEAST_CHUNK = 1 << 18  # of OTF2, which takes time for a whole chunk of each location; a record lies within one
BYTES_OF_MEMBER = 9  # of a group, at most


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
        advice = "install python3-otf2 and python3-six"
        raise not_applicable("traces in OTF2 need its Python package", None, advice) from None
    finally:
        sys.path.remove(str(DEBIAN))


def is_possible() -> bool:
    try:
        library()
    except NotApplicable:
        return False
    return True


def write(folder: Path) -> Path:
    """The trace of this folder, there: its anchor."""
    otf2 = library()
    files = trace_folder.files_of(folder)
    job = trace_folder.job_of(folder, max(files) + 1)
    archive = real(folder) / FOLDER
    chunks = {
        "chunk_size_definitions": LEAST_CHUNK + BYTES_OF_MEMBER * len(job.hosts),
        "chunk_size_events": LEAST_CHUNK,
    }
    with replacement_folder(archive) as new, otf2.writer.open(str(new), timer_resolution=10**9, **chunks) as trace:
        writing = Writing(otf2, trace, job)
        for rank, path in sorted(files.items()):
            writing.rank(rank, _trace.File(str(path)))
    return archive / ANCHOR


class Members(tuple):
    """Members of a group for OTF2's package, which asks for the index of each member."""

    places: dict[int, int]

    def index(self, member: object, *_: object) -> int:
        if not hasattr(self, "places"):
            self.places = {id(found): place for place, found in enumerate(self)}
        return self.places[id(member)]


@dataclass
class Location:
    """A thread of a rank, as its events are written."""

    definition: Any  # of the package
    writer: Any
    open: list[tuple] = field(default_factory=list)  # name and paradigm of calls and regions, the innermost last
    last: int = 0  # its latest time


def ended(writer: Any) -> None:
    """Now, not when all are: each has buffers and two files. The archive closes all that it knows at its end, and opens
    those anew that it does not know: it must find this one, and leave it."""
    writer.close()
    writer.close = lambda: None


def known(event: _trace.Event) -> Any:
    """The fields of an event, as its kind has them."""
    return event.what


class Writing:
    """Definitions and events of one trace. What goes by a communicator whose members are not all known is told on a
    duplicate of the world that stands for all made by the same line: never by that of other messages."""

    def __init__(self, otf2: ModuleType, trace: Any, job: trace_folder.TraceJob) -> None:
        self.otf2, self.trace, self.job = otf2, trace, job
        self.definitions = trace.definitions
        self.locations: dict[int, Location] = {}
        self.regions: dict[tuple, Any] = {}
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
        self.world = self.communicator(WORLD, range(len(job.hosts)))
        whole = job.whole()
        made = {key: self.communicator(key[0], of) for key, of in whole.items() if key[0] != WORLD}
        self.own = {key: {rank: own for own, rank in enumerate(whole[key])} for key in made}  # by rank in the world
        for key in itertools.chain.from_iterable(job.communicators.values()):
            if key[0] != WORLD and key not in made and key[:2] not in made:
                made[key[:2]] = self.communicator(key[0], range(len(job.hosts)))
        self.communicators = made

    def group(self, name: str, kind: object, members: Sequence) -> object:
        return self.definitions.group(name, group_type=kind, paradigm=self.otf2.Paradigm.MPI, members=members)

    def communicator(self, name: str, members: Sequence[int]) -> object:
        """Communicator by its ranks in the world."""
        group = self.group(name, self.otf2.GroupType.COMM_GROUP, tuple(self.masters[rank] for rank in members))
        return self.definitions.comm(name, group=group)

    def rank(self, rank: int, file: _trace.File) -> None:
        """A rank's events. Nothing of it stays open: a full buffer may have ended within a call."""
        self.locations = {}
        for event in trace_folder.events_of(file):  # of one thread, in order of time
            self.event(rank, self.location(rank, event.thread), file, event)
        for location in self.locations.values():
            while location.open:
                location.writer.leave(location.last, self.region(*location.open.pop()))
            ended(location.writer)

    def event(self, rank: int, location: Location, file: _trace.File, event: _trace.Event) -> None:
        kind, what = event.kind, known(event)
        at = max(event.at_ns, location.last)  # OTF2 takes no time that goes back
        mpi, user = self.otf2.Paradigm.MPI, self.otf2.Paradigm.USER
        if kind == Kind.enter:
            sites = self.job.sites.get(rank, [])
            site = sites[what.site] if what.site < len(sites) else ""
            place = {self.site: site} if site else {}
            self.enter(location, at, self.job.call(event), mpi, place | self.times(what.since_leave))
        elif kind == Kind.leave:
            self.leave(location, at, self.job.call(event), mpi)
        elif kind == Kind.begin_region:
            self.enter(location, at, self.job.regions[rank][what.number], user, {})
        elif kind == Kind.end_region:
            self.leave(location, at, self.job.regions[rank][what.number], user)
        elif kind == Kind.begin_program:
            location.writer.program_begin(at, "program", [])
        elif kind == Kind.end_program:
            location.writer.program_end(at, 0, attributes=self.times(what))
        elif isinstance(what, _trace.Collective):
            operation = self.operation(self.job.call(event))
            if operation is not None:
                self.collective(operation, location, rank, at, file, event)
        else:
            self.message(location.writer, rank, at, event)
        location.last = at

    def times(self, since_leave: _trace.Elapsed) -> JsonObject:
        known = {self.recorder_time: since_leave.recorder_ns, self.processor_time: since_leave.processor_ns}
        return {attribute: ns for attribute, ns in known.items() if ns > 0}

    def collective(
        self, operation: object, location: Location, rank: int, at: int, file: _trace.File, event: _trace.Event
    ) -> None:
        what, writer = known(event), location.writer
        key, on = self.where(rank, what.communicator)
        root = what.root if key is not None and what.root >= 0 else NO_ROOT
        parts = {self.bytes_to: ",".join(map(str, file.parts(what.parts)))} if what.parts else {}
        if event.kind == Kind.start_collective:
            writer.non_blocking_collective_request(at, event.request)
        elif event.kind == Kind.collective:
            writer.mpi_collective_begin(location.last)
            writer.mpi_collective_end(at, operation, on, root, what.bytes, what.bytes, attributes=parts)
        else:
            writer.non_blocking_collective_complete(
                at, operation, on, root, what.bytes, what.bytes, event.request, attributes=parts
            )

    def message(self, writer: Any, rank: int, at: int, event: _trace.Event) -> None:
        kind, what, request = event.kind, known(event), event.request
        if kind == Kind.end_send:
            writer.mpi_isend_complete(at, request)
        elif kind == Kind.start_receive:
            writer.mpi_irecv_request(at, request)
        elif 0 <= what.peer < len(self.groups):
            key, on = self.where(rank, what.communicator)
            peer = self.own[key][what.peer] if key in self.own else what.peer
            if kind == Kind.send:
                writer.mpi_send(at, peer, on, what.tag, what.bytes)
            elif kind == Kind.receive:
                writer.mpi_recv(at, peer, on, what.tag, what.bytes)
            elif kind == Kind.start_send:
                writer.mpi_isend(at, peer, on, what.tag, what.bytes, request)
            elif kind == Kind.end_receive:
                writer.mpi_irecv(at, peer, on, what.tag, what.bytes, request)

    def enter(self, location: Location, at: int, name: str, paradigm: object, attributes: JsonObject) -> None:
        location.open.append((name, paradigm))
        location.writer.enter(at, self.region(name, paradigm), attributes=attributes)

    def leave(self, location: Location, at: int, name: str, paradigm: object) -> None:
        if (name, paradigm) not in location.open:
            return
        while location.open[-1] != (name, paradigm):
            location.writer.leave(at, self.region(*location.open.pop()))
        location.writer.leave(at, self.region(*location.open.pop()))

    def operation(self, name: str) -> object | None:
        """A collective as OTF2 knows it: MPI_Iallreduce and MPI_Allreduce_init are an allreduce."""
        upper = name.removeprefix("MPI_").removesuffix("_init").upper()
        operations = self.otf2.CollectiveOp
        return getattr(operations, upper, None) or getattr(operations, upper.removeprefix("I"), None)

    def where(self, rank: int, number: int) -> tuple[tuple | None, object]:
        """The communicator of an event and its key; None: its members are not all known, so that a rank in it would be
        another's."""
        keys = self.job.communicators.get(rank, [])
        key = keys[number - 1] if 0 < number <= len(keys) else None
        if key is None or key[0] == WORLD:
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
