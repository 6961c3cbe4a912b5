"""OTF2 traces of `kumihimo record --trace` as recordings, by Debian's Python package of that name."""

from __future__ import annotations

import contextlib
import importlib
import os
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from kumihimo import _goal, _replay
from kumihimo.errors import BadInput, failed, missing, not_applicable, wrong_value
from kumihimo.profile.otf2_writing import PARTS, PROCESSOR_TIME, PROCESSORS, RECORDER_TIME, SITE, library

ROW = struct.Struct("<qqiiIIIBB2x")  # an Event of replay/recording.hpp
COMPUTE, ENTER, LEAVE, SEND, RECEIVE, COLLECTIVE, START_SEND, START_RECEIVE, START_COLLECTIVE = range(9)
END_SEND, END_RECEIVE, END_COLLECTIVE = range(9, 12)
NO_ROOT = 0xFFFFFFFF
OUTSIDE = "outside regions"  # the region of computing in no region of the program
AGAIN = "record the program again"
AT_ONCE = 1 << 16  # events read together
CONTRADICTIONS = (LookupError, ValueError, struct.error, ZeroDivisionError)  # what the trace refers to is not there


@dataclass
class Trace:
    """A recorded program, and the names of its places."""

    recording: _replay.Recording | None  # None: a GOAL file
    sites: list[str]  # "MPI_Send at solver.c:12"
    regions: list[str]
    seconds: float  # of the recording, from the end of MPI_Init to the beginning of MPI_Finalize
    computing: list[float]  # by rank: the time of the recording outside MPI
    silent: dict[str, int]  # calls that move no data here, which the replay leaves out
    events: int = 0
    crowded: tuple[str, int, int] | None = None  # the host with most ranks a processor: their numbers, if above one
    graphs: _goal.Graphs | None = None  # of a GOAL file
    shared: bool = False  # computing is the time that ranks had a processor, which they shared


def read(path: Path) -> Trace:
    """Of the file traces.otf2, or a folder with it: of `record --trace`, otf2/traces.otf2 in it."""
    anchor = anchor_of(path)
    otf2 = library()
    reader, event_reader = (importlib.import_module(f"otf2.{name}") for name in ("reader", "event_reader"))
    errors = (otf2.error.Error, importlib.import_module("_otf2").Error, *CONTRADICTIONS)
    reading = None
    try:
        with without_stderr(), reader.open(str(anchor)) as trace:
            reading = Reading(otf2, trace.definitions)
            trace._event_reader = reading.callbacks(event_reader.BufferedEventReader)(trace, AT_ONCE)
            for _ in trace.events:
                pass
            if reading.broken:
                raise reading.broken
    except errors as error:
        if reading is not None and (rank := unreadable(anchor, reading)) is not None:
            raise wrong_value(
                f"the events of each rank must be whole in {anchor}", f"those of rank {rank}", AGAIN
            ) from None
        if isinstance(error, CONTRADICTIONS):
            file, reason = anchor, f"it contradicts itself ({error!r})"
        else:
            file = damaged(anchor, reading)
            reason = "it is not whole, or no trace" if file.exists() else "no such file"
        raise BadInput(f"OTF2 could not read {file}: {reason}", f"{AGAIN}, or copy the whole folder") from None
    return reading.trace()


def damaged(anchor: Path, reading: Reading | None) -> Path:
    """The file that OTF2 stumbled over: traces.otf2, the definitions beside it, or one of the folder."""
    otf2 = importlib.import_module("_otf2")
    with without_stderr():
        try:
            otf2.Reader_Close(otf2.Reader_Open(str(anchor)))
        except otf2.Error:
            return anchor
    return anchor.with_suffix(".def") if reading is None else anchor.with_suffix("")


def unreadable(anchor: Path, reading: Reading) -> int | None:
    """The lowest rank whose events OTF2 cannot read to their end, each by itself."""
    for location, rank in sorted(reading.rank_of.items(), key=lambda of: of[1]):
        with without_stderr():
            try:
                trace = reading.otf2.Reader_Open(str(anchor))
                try:
                    reading.otf2.Reader_SelectLocation(trace, location)
                    reading.otf2.Reader_OpenEvtFiles(trace)
                    events = reading.otf2.Reader_GetEvtReader(trace, location)
                    reading.otf2.Reader_ReadAllLocalEvents(trace, events)
                finally:
                    reading.otf2.Reader_Close(trace)
            except reading.otf2.Error:
                return rank
    return None


@contextlib.contextmanager
def without_stderr() -> Iterator[None]:
    """The library writes of each error from which lines of its sources it comes."""
    sys.stderr.flush()
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def anchor_of(path: Path) -> Path:
    for found in (path, path / "traces.otf2", path / "otf2" / "traces.otf2"):
        if found.is_file():
            return found
    rule = "a trace must be a folder of kumihimo record --trace, or a file traces.otf2"
    if path.exists():
        raise wrong_value(rule, path, "record the program with --trace")
    raise missing(f"the trace {path}", "check the path")


@dataclass
class Rank:
    """What is read of a rank, in its order."""

    rows: bytearray = field(default_factory=bytearray)
    pieces: list[int] = field(default_factory=list)  # of computing since the last call: where they are in rows
    last: int | None = None  # the time up to which all is told; None: MPI_Init has not ended
    begun: int = 0
    depth: int = 0  # calls of MPI in each other
    call: int = 0  # the region of the outermost
    regions: list[int] = field(default_factory=lambda: [0])  # of the program, the innermost last
    ended: bool = False
    computing: int = 0


class Numbers(dict):
    """Numbers for names, in the order met."""

    def __missing__(self, name: object) -> int:
        self[name] = len(self)
        return self[name]


class Reading:
    """The events of a trace, by OTF2's callbacks: its package would make an object of each event, which takes most of
    the time. All callbacks have as first arguments the location, the time, a constant and the attributes."""

    def __init__(self, otf2: ModuleType, definitions: object) -> None:
        self.otf2 = importlib.import_module("_otf2")
        self.definitions = definitions
        self.world = world = world_of(otf2, definitions)
        self.rank_of = {location._ref: rank for rank, location in enumerate(world)}
        self.ranks = [Rank() for _ in world]
        self.recording = _replay.Recording(len(world))
        self.members = {
            comm._ref: tuple(self.rank_of.get(location._ref, -1) for location in comm.group.members)
            for comm in definitions.comms
        }
        self.communicators = self.numbered(tuple(range(len(world))))
        self.names = {r._ref: r.name for r in definitions.regions}
        self.of_mpi = {r._ref for r in definitions.regions if r.paradigm == otf2.Paradigm.MPI}
        self.second = definitions.clock_properties.timer_resolution
        self.kinds = kinds_of(otf2.CollectiveOp)
        self.sites, self.regions = Numbers(), Numbers()
        self.parts: dict[str, int] = {"": 0}
        self.silent: Counter[str] = Counter()
        self.events, self.wrong, self.shared = 0, "", False
        self.broken: Exception | None = None
        self.regions[OUTSIDE]  # its number is 0

    def numbered(self, world: tuple[int, ...]) -> dict[int, int]:
        """The numbers of communicators: 0 is MPI_COMM_WORLD, and a duplicate of it is another."""
        names = {comm._ref: comm.name for comm in self.definitions.comms}
        of_world = (r for r in sorted(names) if names[r] == "MPI_COMM_WORLD" and self.members[r] == world)
        numbers = {next(of_world, None): 0}
        for ref in sorted(names.keys() - numbers):
            numbers[ref] = self.recording.add_communicator(list(self.members[ref]))
        return numbers

    def callbacks(self, base: type) -> type:
        """Of the package's reader, which asks for one of each kind."""
        ours = {f"_{name}": self.counted(getattr(self, name)) for name in CALLBACKS}
        return type("Callbacks", (base,), {"_append": lambda *_: None, **ours})

    def counted(self, callback: Callable) -> Callable:
        def called(_: object, location: int, time: int, __: object, attributes: object, *more: object) -> None:
            rank = self.ranks[self.rank_of[location]] if location in self.rank_of else None
            if rank is None:
                self.wrong = self.wrong or f"location {self.definitions.locations[location].name} calls MPI"
            else:
                self.events += 1
                try:
                    callback(rank, time, attributes, *more)
                except CONTRADICTIONS as error:  # OTF2's package would print it
                    self.broken = self.broken or error

        called.__name__ = f"_{callback.__name__}"  # by which the package keeps what it makes of it
        return called

    # --- computing and calls ---

    def program_begin(self, rank: Rank, time: int, *_: object) -> None:
        rank.last = rank.begun = time

    def program_end(self, rank: Rank, time: int, attributes: object, *_: object) -> None:
        if not rank.ended:
            self.compute(rank, time)
            self.shorten_by(rank, attributes)
        rank.ended = True

    def compute(self, rank: Rank, time: int) -> None:
        if time > rank.last:
            ns = round((time - rank.last) * 1e9 / self.second)
            rank.pieces.append(len(rank.rows))
            rank.rows += ROW.pack(ns, 0, -1, 0, 0, rank.regions[-1], 0, COMPUTE, 0)
            rank.computing += ns
        rank.last = max(time, rank.last)

    def computed(self, rank: Rank) -> int:
        return sum(ROW.unpack_from(rank.rows, at)[0] for at in rank.pieces)

    def shorten(self, rank: Rank, ns: int) -> bool:
        """Computing since the last call took so long: without the recorder, or what ranks that share processors had of
        one. Whether it is shorter."""
        rows = [ROW.unpack_from(rank.rows, at) for at in rank.pieces]
        wall = sum(row[0] for row in rows)
        if ns >= wall:
            return False
        for at, (whole, *rest) in zip(rank.pieces, rows):
            own = whole * ns // wall
            ROW.pack_into(rank.rows, at, own, *rest)
            rank.computing -= whole - own
        return True

    def shorten_by(self, rank: Rank, attributes: object) -> None:
        """The recorder has no part in the processor time."""
        if not attributes:
            return
        if had := self.number(attributes, PROCESSOR_TIME):
            self.shared |= self.shorten(rank, had)
        elif own := self.number(attributes, RECORDER_TIME):
            self.shorten(rank, max(0, self.computed(rank) - own))

    def enter(self, rank: Rank, time: int, attributes: object, region: int) -> None:
        if region not in self.of_mpi:
            if rank.last is not None and not rank.ended and rank.depth == 0:
                self.compute(rank, time)
            return rank.regions.append(self.regions[self.names[region]])
        rank.depth += 1
        if rank.depth > 1 or rank.last is None or rank.ended:
            return None
        if self.names[region] == "MPI_Finalize":
            return self.program_end(rank, time, attributes)
        self.compute(rank, time)
        self.shorten_by(rank, attributes)
        rank.pieces.clear()
        rank.call = region
        where = self.text(attributes, SITE) if attributes else ""
        site = self.sites[self.names[region], where]
        rank.rows += ROW.pack(0, 0, -1, 0, 0, site, 0, ENTER, 0)
        return None

    def leave(self, rank: Rank, time: int, _: object, region: int) -> None:
        if region not in self.of_mpi:
            if rank.last is not None and not rank.ended and rank.depth == 0:
                self.compute(rank, time)
            if len(rank.regions) > 1:
                rank.regions.pop()
            return
        rank.depth -= 1
        if self.names[region] in ("MPI_Init", "MPI_Init_thread"):
            rank.rows.clear()
            rank.pieces.clear()
            rank.last = rank.begun = time
        elif rank.depth == 0 and rank.last is not None and not rank.ended:
            if rank.rows[KIND_AT - ROW.size] == ENTER:  # nothing was told of it
                del rank.rows[-ROW.size :]
                self.silent[self.names[region]] += 1
            else:
                rank.rows += LEFT
            rank.last = max(time, rank.last)

    # --- messages and collectives ---

    def told(self, rank: Rank, kind: int, **values: int) -> None:
        if rank.last is not None and not rank.ended:
            rank.rows += row(kind, **values)

    def message(self, rank: Rank, kind: int, size: int, peer: int, comm: int, tag: int, request: int = 0) -> None:
        self.told(
            rank, kind, amount=size, peer=self.members[comm][peer], communicator=self.communicators[comm], tag=tag,
            request=request,
        )  # fmt: skip

    def mpi_send(self, rank: Rank, _: int, __: object, to: int, comm: int, tag: int, size: int) -> None:
        """A buffered one ends at once, whether it is received or not: nothing waits for it."""
        buffered = self.names.get(rank.call) == "MPI_Bsend"
        self.message(rank, START_SEND if buffered else SEND, size, to, comm, tag)

    def mpi_recv(self, rank: Rank, _: int, __: object, source: int, comm: int, tag: int, size: int) -> None:
        self.message(rank, RECEIVE, size, source, comm, tag)

    def mpi_isend(self, rank: Rank, _: int, __: object, to: int, comm: int, tag: int, size: int, request: int) -> None:
        self.message(rank, START_SEND, size, to, comm, tag, request)

    def mpi_isend_complete(self, rank: Rank, _: int, __: object, request: int) -> None:
        self.told(rank, END_SEND, request=request)

    def mpi_irecv_request(self, rank: Rank, _: int, __: object, request: int) -> None:
        self.told(rank, START_RECEIVE, request=request)

    def mpi_irecv(self, rank: Rank, _: int, __: object, of: int, comm: int, tag: int, size: int, request: int) -> None:
        self.message(rank, END_RECEIVE, size, of, comm, tag, request)

    def mpi_collective_end(
        self, rank: Rank, _: int, attributes: object, operation: object, comm: int, root: int, sent: int, got: int
    ) -> None:
        self.collective(rank, COLLECTIVE, attributes, operation, comm, root, sent, 0)

    def non_blocking_collective_request(self, rank: Rank, _: int, __: object, request: int) -> None:
        self.told(rank, START_COLLECTIVE, request=request)

    def non_blocking_collective_complete(
        self, rank: Rank, _: int, attributes: object, operation: object, comm: int, root: int, sent: int, got: int,
        request: int,
    ) -> None:  # fmt: skip
        self.collective(rank, END_COLLECTIVE, attributes, operation, comm, root, sent, request)

    def collective(
        self, rank: Rank, kind: int, attributes: object, operation: object, comm: int, root: int, sent: int,
        request: int,
    ) -> None:  # fmt: skip
        which = self.kinds.get(int(getattr(operation, "value", operation)))
        if which is None:
            return
        text = self.text(attributes, PARTS) if attributes else ""
        if text not in self.parts:
            self.parts[text] = self.recording.add_parts([int(n) for n in text.split(",")])
        self.told(
            rank, kind, amount=sent, request=request, peer=-1 if root == NO_ROOT else root,
            communicator=self.communicators[comm], parts=self.parts[text], collective=which,
        )  # fmt: skip

    def text(self, attributes: object, name: str) -> str:
        """Of an attribute of this name, if there is one."""
        for i in range(self.otf2.AttributeList_GetNumberOfElements(attributes)):
            attribute, _, value = self.otf2.AttributeList_GetAttributeByIndex(attributes, i)
            if self.definitions.attributes[attribute].name == name:
                return str(self.definitions.strings[value.stringRef])
        return ""

    def number(self, attributes: object, name: str) -> int:
        for i in range(self.otf2.AttributeList_GetNumberOfElements(attributes)):
            attribute, _, value = self.otf2.AttributeList_GetAttributeByIndex(attributes, i)
            if self.definitions.attributes[attribute].name == name:
                return value.uint64
        return 0

    def trace(self) -> Trace:
        if self.wrong:
            raise not_applicable(
                "a replay takes one thread of each process that calls MPI", self.wrong, "record with one such thread"
            )
        for number, rank in enumerate(self.ranks):
            if not rank.ended:
                raise failed(f"the trace of rank {number} has no end", "it was cut off", AGAIN)
            self.recording.set(number, bytes(rank.rows))
        sites = [f"{name} at {where}" if where else name for name, where in self.sites]
        self.recording.name_places(sites)
        self.recording.complete()
        seconds = max(rank.last - rank.begun for rank in self.ranks) / self.second
        computing = [rank.computing * 1e-9 for rank in self.ranks]
        silent, crowded = dict(self.silent), self.crowded()
        return Trace(
            self.recording, sites, list(self.regions), seconds, computing, silent, self.events, crowded,
            shared=self.shared,
        )  # fmt: skip

    def crowded(self) -> tuple[str, int, int] | None:
        """Traces of older recorders tell no processors."""
        nodes = [location.group.system_tree_parent for location in self.world]
        hosts = {node._ref: node for node in nodes if node is not None and PROCESSORS in node._properties}
        ranks = Counter(node._ref for node in nodes if node is not None)
        found = [(node.name, ranks[ref], int(node[PROCESSORS])) for ref, node in hosts.items()]
        return max((each for each in found if each[1] > each[2] > 0), key=lambda of: of[1] / of[2], default=None)


def world_of(otf2: ModuleType, definitions: object) -> list:
    """The locations of MPI_COMM_WORLD, by rank."""
    for group in definitions.groups:
        if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI:
            return list(group.members)
    raise wrong_value("a trace must be one of an MPI program", "no group of MPI processes", AGAIN)


def kinds_of(operations: object) -> dict[int, int]:
    """Our number of each of OTF2's collectives: ALLTOALLV and ALLTOALLW are an alltoall."""
    ours = _replay.collectives()
    known = {f"{name}{form}": number for number, name in enumerate(ours) for form in ("", "v", "w", "_block")}
    named = {name: known.get(name.lower()) for name in dir(operations) if name.isupper()}
    return {int(getattr(operations, name).value): kind for name, kind in named.items() if kind is not None}


def row(
    kind: int, amount: int = 0, request: int = 0, peer: int = -1, tag: int = 0, communicator: int = 0, parts: int = 0,
    collective: int = 0,
) -> bytes:  # fmt: skip
    return ROW.pack(amount, request, peer, tag, communicator, 0, parts, kind, collective)


LEFT = row(LEAVE)
KIND_AT = 36  # in a row
CALLBACKS = (
    *("program_begin", "program_end", "enter", "leave"),
    *("mpi_send", "mpi_recv", "mpi_isend", "mpi_isend_complete", "mpi_irecv_request", "mpi_irecv"),
    *("mpi_collective_end", "non_blocking_collective_request", "non_blocking_collective_complete"),
)
