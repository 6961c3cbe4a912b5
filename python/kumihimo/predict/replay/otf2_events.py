"""Events of each rank of an OTF2 trace, as rows of a recording (rows.py).

As a program, `python -m kumihimo.replay.otf2_events ANCHOR`, it writes what it finds to its standard output, pickled.
replay/otf2_reading.py runs it as a process of its own, since OTF2's library may crash on a damaged archive.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kumihimo import _goal
from kumihimo._trace import Kind
from kumihimo.predict.replay import otf2_archive, otf2_calls, rows
from kumihimo.predict.replay.otf2_archive import Archive, Contradiction, NoEvents
from kumihimo.run.profile.otf2_writing import PARTS, PROCESSOR_TIME, PROCESSORS, RECORDER_TIME, SITE, library
from kumihimo.text.errors import KumihimoError

STARTS = {
    Kind.end_send: Kind.start_send, Kind.end_receive: Kind.start_receive, Kind.end_collective: Kind.start_collective
}  # fmt: skip
# Where the trace has no start of the request.
AT_ONCE = {Kind.end_receive: Kind.receive, Kind.end_collective: Kind.collective}
NO_ROOT, SELF_IS_ROOT = 0xFFFFFFFF, 0xFFFFFFFE
OUTSIDE = "outside regions"  # the region of computing in no region of the program, as in recorded_ranks.cpp
UNRECORDED = "a call without a record"  # the site of messages outside recorded calls
FLUSH = "TRACE BUFFER FLUSH"  # Score-P's region in which it writes events
MOST_NANOSECONDS, MOST_BYTES = 1 << 50, _goal.most_message_bytes
MOST_TAG = (1 << 31) - 1
OFF, ON = 2, 1  # modes of measurement


@dataclass
class Rank:
    """Events of a rank, in its order."""

    number: int
    rows: bytearray = field(default_factory=bytearray)
    pieces: list[int] = field(default_factory=list)  # of computing since the last call: where they are in rows
    is_begun: bool = False  # an event was read
    last: int = 0  # the time up to which all is told
    seen: int = 0  # the time of the latest event
    begun: int = 0
    paused: int = 0  # ticks that are not the program's
    unrecorded: int = 0  # those of them in which recording was off
    off: int | None = None  # since when it is off
    must_end: bool = False  # the trace has the beginning of the program, so it has its end, too
    depth: int = 0  # calls of MPI in each other
    call: str = ""  # the outermost
    regions: list[int] = field(default_factory=lambda: [0])  # of the program, the innermost last
    # Started: what starts them, where in rows, and their number there.
    requests: dict[int, tuple[Kind, int, int]] = field(default_factory=dict)
    started: int = 0
    silent: Counter[str] = field(default_factory=Counter)
    places: dict[int, int] = field(default_factory=dict)  # its ranks in communicators
    ended: bool = False
    computing: int = 0


Name = TypeVar("Name")


class Numbers(dict[Name, int]):
    """Numbers for names, in the order met."""

    def __missing__(self, name: Name) -> int:
        self[name] = len(self)
        return self[name]


@dataclass
class RankSummary:
    """Summary after all ranks are read."""

    communicators: list[list[int]] = field(default_factory=list)  # from 1 on, by ranks of the world
    parts: list[list[int]] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    regions: list[str] = field(default_factory=list)
    seconds: float = 0.0  # of the recording
    computing: list[float] = field(default_factory=list)  # by rank
    silent: dict[str, int] = field(default_factory=dict)
    events: int = 0
    shared: bool = False
    off: float = 0.0  # the longest time that a rank was not recorded, in seconds
    crowded: tuple[str, int, int] | None = None


class Reading:
    """The events of a trace. All callbacks have as first arguments the rank, the time and the attributes."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.definitions = d = archive.definitions()
        self.world = world_of(d)
        self.rank_of = {location: rank for rank, location in enumerate(self.world)}
        if d.ticks == 0:
            raise Contradiction("its clock has no ticks")
        self.of_mpi = otf2_calls.calls_in(d.regions)
        self.names = {
            ref: otf2_calls.call_of(name) if ref in self.of_mpi else name for ref, (name, _) in d.regions.items()
        }
        self.counts_all_ranks = archive.creator.startswith("Score-P")
        self.kinds = otf2_calls.kinds_of(archive.library)
        self.summary = RankSummary()
        self.communicators: dict[object, tuple[int, list[int]]] = {}  # number and peers by their ranks in events
        self.members = [list(range(len(self.world)))]  # by number
        self.sites: Numbers[tuple[str, str]] = Numbers()
        self.regions: Numbers[str] = Numbers()
        self.parts: dict[str, int] = {"": 0}
        self.regions[OUTSIDE]  # its number is 0
        self.rank = Rank(0)

    def results(self) -> Iterator[object]:
        """The number of ranks; for each its rows; the summary."""
        yield len(self.world)
        archive, summary = self.archive, self.summary
        others = [location for location in self.definitions.locations if location not in self.rank_of]
        archive.open_events([*self.world, *others])
        callbacks = archive.callbacks(
            "EvtReader", {of_library(name): self.counted(getattr(self, name)) for name in CALLBACKS}
        )
        for number, location in enumerate(self.world):
            self.rank = rank = Rank(number)
            try:
                archive.read_events(location, callbacks)
            except (archive.library.Error, NoEvents):
                raise Incomplete(number) from None
            self.finish(rank)
            summary.computing.append(rank.computing * 1e-9)
            length = (rank.last - rank.begun - rank.paused) / self.definitions.ticks
            summary.seconds = max(summary.seconds, length)
            summary.off = max(summary.off, rank.unrecorded / self.definitions.ticks)
            for name, count in rank.silent.items():
                summary.silent[name] = summary.silent.get(name, 0) + count
            yield bytes(rank.rows)
        self.check_others(others)
        summary.communicators = self.members[1:]
        summary.sites = [f"{name} at {where}" if where else name for name, where in self.sites]
        summary.regions = list(self.regions)
        summary.crowded = self.crowded()
        yield summary

    def check_others(self, locations: list[int]) -> None:
        """Threads, accelerators and metrics are no ranks, and send nothing."""
        name = ""

        def refused(*_: object) -> None:
            raise ThreadCalls(name)

        callbacks = self.archive.callbacks("EvtReader", dict.fromkeys(map(of_library, MESSAGES), refused))
        for location in locations:
            name = self.definitions.locations[location][0]
            try:
                self.archive.read_events(location, callbacks)
            except (self.archive.library.Error, NoEvents):  # nothing of it is needed
                continue

    def counted(self, callback: Callable) -> Callable:
        def called(_: int, time: int, __: int, ___: object, attributes: object, *more: object) -> None:
            rank = self.rank
            self.summary.events += 1
            rank.seen = max(rank.seen, time)
            if not rank.is_begun:
                rank.last, rank.begun, rank.is_begun = time, time, True
            callback(rank, time, attributes, *more)

        return called

    # --- computing and calls ---

    def program_begin(self, rank: Rank, time: int, *_: object) -> None:
        rank.last = rank.begun = time
        rank.must_end = True

    def program_end(self, rank: Rank, time: int, attributes: object, *_: object) -> None:
        if not rank.ended:
            self.compute(rank, time)
            self.shorten_by(rank, attributes)
        rank.ended = True

    def finish(self, rank: Rank) -> None:
        """A trace without the program's beginning and end, as of some tools, ends with its last event. So does one in
        which recording is off at the end."""
        if rank.ended:
            return
        is_cut = rank.must_end and rank.off is None
        if not rank.is_begun or rank.depth > 0 or is_cut:
            raise NoEnd(rank.number)
        self.compute(rank, rank.seen)

    def compute(self, rank: Rank, time: int) -> None:
        if time > rank.last:
            ns = round((time - rank.last) * 1e9 / self.definitions.ticks)
            if ns > MOST_NANOSECONDS:
                raise Contradiction(f"rank {rank.number} computes for {ns / 1e9:.3g} s")
            rank.pieces.append(len(rank.rows))
            rank.rows += rows.compute(ns, rank.regions[-1])
            rank.computing += ns
        rank.last = max(time, rank.last)

    def computed(self, rank: Rank) -> int:
        return sum(rows.computed(rank.rows, at) for at in rank.pieces)

    def shorten(self, rank: Rank, ns: int) -> bool:
        """Computing since the last call took so long: without the recorder, or what ranks that share processors had of
        one. Whether it is shorter."""
        wall = self.computed(rank)
        if ns >= wall:
            return False
        for at in rank.pieces:
            whole = rows.computed(rank.rows, at)
            own = whole * ns // wall
            rows.set_computed(rank.rows, at, own)
            rank.computing -= whole - own
        return True

    def shorten_by(self, rank: Rank, attributes: object) -> None:
        """The recorder has no part in the processor time."""
        if not attributes:
            return
        if had := self.attribute(attributes, PROCESSOR_TIME):
            self.summary.shared |= self.shorten(rank, had.uint64)
        elif own := self.attribute(attributes, RECORDER_TIME):
            self.shorten(rank, max(0, self.computed(rank) - own.uint64))

    def skip(self, rank: Rank, since: int, until: int) -> int:
        """Time that is not the program's."""
        if rank.ended or rank.depth > 0 or until <= rank.last:
            return 0
        self.compute(rank, since)
        skipped, rank.last = until - rank.last, until
        rank.paused += skipped
        return skipped

    def buffer_flush(self, rank: Rank, time: int, _: object, until: int) -> None:
        self.skip(rank, time, until)

    def measurement_on_off(self, rank: Rank, time: int, _: object, mode: object) -> None:
        """Nothing is known of what comes between."""
        if otf2_archive.number(mode) == OFF:
            rank.off = time
        elif rank.off is not None:
            rank.unrecorded += self.skip(rank, rank.off, time)
            rank.off = None

    def enter(self, rank: Rank, time: int, attributes: object, region: int) -> None:
        name = self.name_of(region)
        if region not in self.of_mpi:
            if not rank.ended and rank.depth == 0:
                self.compute(rank, time)
            return rank.regions.append(self.regions[name])
        rank.depth += 1
        if rank.depth > 1 or rank.ended:
            return None
        if name == "MPI_Finalize":
            return self.program_end(rank, time, attributes)
        where = self.attribute(attributes, SITE) if attributes else None
        site = self.definitions.strings.get(where.stringRef, "") if where else ""
        rank.call = name
        return self.begin_call(rank, time, (name, site), attributes)

    def begin_call(self, rank: Rank, time: int, site: tuple[str, str], attributes: object) -> None:
        self.compute(rank, time)
        self.shorten_by(rank, attributes)
        rank.pieces.clear()
        rank.rows += rows.enter(self.sites[site])

    def leave(self, rank: Rank, time: int, _: object, region: int) -> None:
        name = self.name_of(region)
        if region not in self.of_mpi:
            if name == FLUSH:
                self.skip(rank, rank.last, time)
            elif not rank.ended and rank.depth == 0:
                self.compute(rank, time)
            if len(rank.regions) > 1:
                rank.regions.pop()
            return
        if rank.depth == 0:  # it began before the trace
            return
        rank.depth -= 1
        if name in ("MPI_Init", "MPI_Init_thread"):
            rank.rows.clear()
            rank.pieces.clear()
            rank.silent.clear()
            rank.requests.clear()
            rank.last = rank.begun = time
            rank.depth = rank.paused = rank.unrecorded = rank.computing = 0
            rank.must_end = True
        elif rank.depth == 0 and not rank.ended:
            if rows.kind_of(rank.rows, len(rank.rows) - rows.BYTES) == Kind.enter.value:  # nothing was told of it
                del rank.rows[-rows.BYTES :]
                rank.silent[rank.call] += 1
            else:
                rank.rows += rows.LEAVE
            rank.last = max(time, rank.last)

    def name_of(self, region: int) -> str:
        try:
            return self.names[region]
        except KeyError:
            raise Contradiction(f"region {region} is not defined") from None

    # --- messages and collectives ---

    def told(self, rank: Rank, time: int, row: bytes) -> int:
        """Where it is in the rows."""
        if rank.ended:
            return -1
        inside = rank.depth > 0
        if not inside:
            self.begin_call(rank, time, (UNRECORDED, ""), None)
        at = len(rank.rows)
        rank.rows += row + (b"" if inside else rows.LEAVE)
        return at

    def start(self, rank: Rank, time: int, kind: Kind, request: int, pack: Callable, **values: int) -> None:
        """`pack`: of rows.py."""
        rank.started += 1
        at = self.told(rank, time, pack(kind, rank.started, **values))
        rank.requests[request] = kind, at, rank.started

    def cancel(self, rank: Rank, request: int, kind: Kind) -> None:
        """It becomes a receive that never ends, which a replay leaves out."""
        started, at, number = rank.requests.pop(request, (None, -1, 0))
        if started == kind and at >= 0:
            rank.rows[at : at + rows.BYTES] = rows.message(Kind.start_receive, number)

    def end(self, rank: Rank, time: int, kind: Kind, request: int, pack: Callable, **values: int) -> None:
        """Ends a request. If the trace lacks its start, the operation is taken to start and end here."""
        started, _, number = rank.requests.pop(request, (None, 0, 0))
        if started == STARTS[kind]:
            self.told(rank, time, pack(kind, number, **values))
        elif started is not None:
            raise Contradiction(f"request {request} of rank {rank.number} ends as what it did not begin as")
        elif kind in AT_ONCE:
            self.told(rank, time, pack(AT_ONCE[kind], **values))

    def message(self, rank: Rank, peer: int, comm: int, tag: int, size: int) -> dict[str, int]:
        number, ranks = self.communicator(rank, comm)
        if peer >= len(ranks):
            of = self.definitions.communicators[comm].name
            raise Contradiction(f"a message of rank {rank.number} is with rank {peer} of the {len(ranks)} of {of}")
        if tag > MOST_TAG:
            raise Contradiction(f"a message of rank {rank.number} has the tag {tag}")
        return {"size": bytes_in(rank, size), "peer": ranks[peer], "communicator": number, "tag": tag}

    def mpi_send(self, rank: Rank, time: int, _: object, to: int, comm: int, tag: int, size: int) -> None:
        """Nothing waits for one that ends before it is received. (TAU records MPI_Isend as one, without its end.)"""
        message = self.message(rank, to, comm, tag, size)
        local = rank.depth > 0 and rank.call in otf2_calls.LOCAL_SENDS
        self.told(rank, time, rows.message(Kind.start_send if local else Kind.send, **message))

    def mpi_recv(self, rank: Rank, time: int, _: object, source: int, comm: int, tag: int, size: int) -> None:
        self.told(rank, time, rows.message(Kind.receive, **self.message(rank, source, comm, tag, size)))

    def mpi_isend(
        self, rank: Rank, time: int, _: object, to: int, comm: int, tag: int, size: int, request: int
    ) -> None:
        self.start(rank, time, Kind.start_send, request, rows.message, **self.message(rank, to, comm, tag, size))

    def mpi_isend_complete(self, rank: Rank, time: int, _: object, request: int) -> None:
        self.end(rank, time, Kind.end_send, request, rows.message)

    def mpi_irecv_request(self, rank: Rank, time: int, _: object, request: int) -> None:
        self.start(rank, time, Kind.start_receive, request, rows.message)

    def mpi_irecv(
        self, rank: Rank, time: int, _: object, of: int, comm: int, tag: int, size: int, request: int
    ) -> None:
        self.end(rank, time, Kind.end_receive, request, rows.message, **self.message(rank, of, comm, tag, size))

    def mpi_request_cancelled(self, rank: Rank, _: int, __: object, request: int) -> None:
        self.cancel(rank, request, Kind.start_send)  # a receive never ends in any case

    def mpi_collective_end(
        self, rank: Rank, time: int, attributes: object, operation: object, comm: int, root: int, sent: int, got: int
    ) -> None:
        if known := self.collective(rank, attributes, operation, comm, root, sent, got):
            self.told(rank, time, rows.collective(Kind.collective, **known))

    def non_blocking_collective_request(self, rank: Rank, time: int, _: object, request: int) -> None:
        self.start(rank, time, Kind.start_collective, request, rows.collective)

    def non_blocking_collective_complete(
        self, rank: Rank, time: int, attributes: object, operation: object, comm: int, root: int, sent: int, got: int,
        request: int,
    ) -> None:  # fmt: skip
        if known := self.collective(rank, attributes, operation, comm, root, sent, got):
            self.end(rank, time, Kind.end_collective, request, rows.collective, **known)
        else:  # as of MPI_Comm_idup
            self.cancel(rank, request, Kind.start_collective)

    def collective(
        self, rank: Rank, attributes: object, operation: object, comm: int, root: int, sent: int, got: int
    ) -> dict[str, int]:
        """None of a collective that makes a communicator or the like."""
        name = self.kinds.get(otf2_archive.number(operation), "")
        if name not in otf2_calls.COLLECTIVES:
            return {}
        number, ranks = self.communicator(rank, comm)
        defined = self.definitions.communicators[comm]
        if len(defined.groups) > 1:
            raise BetweenGroups(f"a {name} of rank {rank.number} on {defined.name or 'a communicator without a name'}")
        members = self.members[number]
        if number not in rank.places:
            if rank.number not in members:
                raise Contradiction(f"rank {rank.number} calls {name} on {defined.name}, of which it is no member")
            rank.places[number] = members.index(rank.number)
        own = rank.places[number]
        row = otf2_calls.COLLECTIVES[name]
        if root == NO_ROOT and row in otf2_calls.ROOTED:  # told so of a communicator in an unknown order
            root = 0
        elif root == SELF_IS_ROOT:
            root = own
        elif root != NO_ROOT and ranks is not members:
            root = members.index(ranks[root]) if root < len(ranks) and ranks[root] in members else len(members)
        if root != NO_ROOT and root >= len(members):
            raise Contradiction(f"the root of a {name} of rank {rank.number} is rank {root} of {len(members)}")
        parts = self.attribute(attributes, PARTS) if attributes else None
        text = self.definitions.strings.get(parts.stringRef, "") if parts else ""
        if text not in self.parts:
            self.summary.parts.append([int(n) for n in text.split(",")])
            self.parts[text] = len(self.summary.parts)
        part = otf2_calls.own_part(name, sent, got, root == own)
        if self.counts_all_ranks:
            part = otf2_calls.part_of_all(name, sent, got, len(members), own, root == own)
        return {
            "size": bytes_in(rank, part), "root": -1 if root == NO_ROOT else root, "communicator": number,
            "parts": self.parts[text], "row": row,
        }  # fmt: skip

    # --- communicators ---

    def communicator(self, rank: Rank, comm: int) -> tuple[int, list[int]]:
        """Its number, and ranks of the world by the ranks that events of this rank name."""
        known = self.communicators.get(comm) or self.communicators.get((comm, rank.number))
        if known is None:
            key, members, peers = self.described(rank, comm)
            known = self.communicators[key] = self.numbered(comm, members), peers
        return known

    def described(self, rank: Rank, comm: int) -> tuple[object, list[int], list[int]]:
        """A communicator's key, its members, and the ranks that its numbers mean in events."""
        defined = self.definitions.communicators.get(comm)
        known = [self.definitions.groups.get(of) for of in defined.groups] if defined else []
        groups = [of for of in known if of is not None]
        if defined is None or len(groups) < len(known):
            raise Contradiction(f"communicator {comm} of rank {rank.number} is not defined")
        if groups[0].kind == otf2_archive.COMM_SELF or not groups[0].members:  # the rank itself, whoever it is
            return (comm, rank.number), [rank.number], [rank.number]
        members = [self.ranks_in(of) for of in groups]
        if len(groups) == 1:
            is_global = groups[0].flags & otf2_archive.GLOBAL_MEMBERS
            return comm, members[0], self.members[0] if is_global else members[0]
        if rank.number not in members[0] and rank.number not in members[1]:
            raise Contradiction(f"rank {rank.number} is in no group of {defined.name}")
        return (comm, rank.number), [*members[0], *members[1]], members[rank.number in members[0]]

    def ranks_in(self, group: otf2_archive.Group) -> list[int]:
        """Members are places among the processes, or locations of a group of locations."""
        listed = group.members
        if group.kind == otf2_archive.COMM_GROUP:
            listed = [self.world[of] if of < len(self.world) else -1 for of in listed]
        ranks = [self.rank_of.get(location, -1) for location in listed]
        if -1 in ranks or len(set(ranks)) != len(ranks):
            raise Contradiction("a communicator has members that are no ranks, or one twice")
        return ranks

    def numbered(self, comm: int, members: list[int]) -> int:
        """0 is MPI_COMM_WORLD, and a duplicate of it is another. All ranks of a communicator name the same number."""
        if self.is_world(comm, members):
            return 0
        key = (comm, tuple(members))
        if key not in self.communicators:
            self.communicators[key] = len(self.members), members
            self.members.append(members)
        return self.communicators[key][0]

    def is_world(self, comm: int, members: list[int]) -> bool:
        defined = self.definitions.communicators
        named = (ref for ref in sorted(defined) if defined[ref].name == "MPI_COMM_WORLD")
        return members == self.members[0] and comm == next(named, None)

    # --- definitions ---

    def attribute(self, attributes: object, name: str) -> Any | None:
        """The value of an attribute of this name, if there is one."""
        library = self.archive.library
        for i in range(library.AttributeList_GetNumberOfElements(attributes)):
            attribute, _, value = library.AttributeList_GetAttributeByIndex(attributes, i)
            if self.definitions.attributes.get(attribute) == name:
                return value
        return None

    def crowded(self) -> tuple[str, int, int] | None:
        """Other tools, and older recorders, tell no processors."""
        d = self.definitions
        ranks = Counter(d.node_of(location) for location in self.world)
        processors = {node: d.node_values.get((node, PROCESSORS), 0) for node in ranks}
        found = [(d.nodes.get(node, ""), ranks[node], n) for node, n in processors.items() if ranks[node] > n > 0]
        return max(found, key=lambda of: of[1] / of[2], default=None)


class Incomplete(Exception):
    """The library could not read the events of this rank."""


class NoEnd(Exception):
    """The events of this rank end before the program."""


class ThreadCalls(Exception):
    """Another location than that of a rank sends."""


class BetweenGroups(Exception):
    """A collective on an inter-communicator."""


def of_library(name: str) -> str:
    """MpiSend for mpi_send."""
    return "".join(word.capitalize() for word in name.split("_"))


def world_of(definitions: otf2_archive.Definitions) -> list[int]:
    """The locations of MPI_COMM_WORLD, by rank."""
    for group in definitions.groups.values():
        if group.kind == otf2_archive.COMM_LOCATIONS and group.paradigm == otf2_archive.MPI and group.members:
            if not all(location in definitions.locations for location in group.members):
                raise Contradiction("a process of MPI has no location")
            return group.members
    raise NoProcesses


class NoProcesses(Exception):
    """The trace is not one of an MPI program."""


def bytes_in(rank: Rank, size: int) -> int:
    if size > MOST_BYTES:
        raise Contradiction(f"rank {rank.number} moves {size} bytes")
    return size


MESSAGES = (
    *("mpi_send", "mpi_recv", "mpi_isend", "mpi_isend_complete", "mpi_irecv_request", "mpi_irecv"),
    *("mpi_collective_end", "non_blocking_collective_request", "non_blocking_collective_complete"),
)
CALLBACKS = (
    *("program_begin", "program_end", "enter", "leave", "buffer_flush", "measurement_on_off", "mpi_request_cancelled"),
    *MESSAGES,
)


def results(anchor: Path) -> Iterator[object]:
    """As Reading.results; an error that stands for a sentence comes last."""
    part = ANCHOR
    try:
        library()
        archive = Archive(anchor)
        part = DEFINITIONS
        yield from Reading(archive).results()
    except (KumihimoError, Contradiction, Incomplete, NoEnd, ThreadCalls, BetweenGroups, NoProcesses) as error:
        yield error
    except (LookupError, ValueError, ArithmeticError, struct.error) as error:
        yield Contradiction(repr(error))
    except Exception as error:  # of the library, which has no name before it is there
        if type(error).__module__.partition(".")[0] not in ("_otf2", "otf2"):
            raise
        yield Unreadable(str(error), part)


class Unreadable(Exception):
    """The library could not read the archive: why, and which part."""


ANCHOR, DEFINITIONS = "anchor", "definitions"


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints
    for result in results(Path(sys.argv[1])):
        pickle.dump(result, out)
    out.flush()
    os._exit(0)  # without the library's own end, which a damaged archive may break


if __name__ == "__main__":
    from kumihimo.predict.replay import otf2_events  # whose classes the other process knows

    otf2_events.main()
