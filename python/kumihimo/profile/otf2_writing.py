"""Traces as OTF2, by Debian's Python package of that name (python3-otf2), where it is installed."""

from __future__ import annotations

import importlib
import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from kumihimo.errors import BadInput, NotApplicable
from kumihimo.profile import reading

RAW = "events"  # the folder of the ranks' own files, within the trace's
ROW = struct.Struct("<qqBBHiIiq")  # an Event of record/trace.hpp
ENTER, LEAVE, SEND, RECEIVE, COLLECTIVE = range(5)
DEBIAN = Path("/usr/lib/python3/dist-packages")
AT_ONCE = 4096  # rows read together


def prepared(folder: Path) -> Path:
    """A new folder for the trace, with one in it for the ranks' events."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput("--trace names a folder that is empty or not there yet", str(folder))
    raw = folder.resolve() / RAW
    try:
        raw.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("--trace names a folder that can be made", f"{folder}: {error.strerror}") from None
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
        raise NotApplicable(
            "OTF2's Python package (python3-otf2 on Debian)", "none", "install it; the events are kept as they are"
        ) from None
    finally:
        sys.path.remove(str(DEBIAN))


def write(folder: Path, profile: Path) -> str:
    """The trace from the ranks' files; a sentence about it. The profile names the communicators."""
    raw = folder.resolve() / RAW
    files = sorted(raw.glob("rank*.events"), key=lambda p: int(p.stem.removeprefix("rank")))
    if not files:
        return "no trace was written: no rank ended MPI"
    otf2 = library()
    ranks = list(reading.lines(profile))[1:]
    archive = folder.resolve() / "otf2"
    names = call_names(ranks)
    with otf2.writer.open(str(archive), timer_resolution=10**9) as trace:
        written = Writing(otf2, trace, ranks).write(files, names)
    shutil.rmtree(raw)
    return f"the trace is {archive / 'traces.otf2'}, {written} events"


def call_names(ranks: list[dict]) -> dict[int, str]:
    """Of the numbers in the events, as the ranks' profiles list them."""
    return {int(number): name for rank in ranks for number, name in (rank["trace"] or {}).get("calls", {}).items()}


def rows(path: Path) -> Iterator[tuple]:
    with path.open("rb") as file:
        while block := file.read(AT_ONCE * ROW.size):
            yield from ROW.iter_unpack(block)


class Writing:
    """Definitions and events of one trace. Messages are told between ranks of the world, whatever communicator they
    went by; collectives on their own."""

    def __init__(self, otf2: ModuleType, trace: object, ranks: list[dict]) -> None:
        self.otf2, self.trace = otf2, trace
        self.definitions = trace.definitions
        self.groups, self.locations, self.regions = {}, {}, {}
        nodes = {}
        for rank in sorted(ranks, key=lambda r: r["rank"]):
            host = rank.get("host", "node")
            if host not in nodes:
                nodes[host] = self.definitions.system_tree_node(host, class_name="node")
            number = rank["rank"]
            self.groups[number] = self.definitions.location_group(f"MPI Rank {number}", system_tree_parent=nodes[host])
            self.locations[number, 0] = self.definitions.location("Master thread", group=self.groups[number])
        masters = [self.locations[number, 0] for number in sorted(self.groups)]
        self.definitions.group(
            "", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=otf2.Paradigm.MPI, members=masters
        )
        self.world = self.communicator("MPI_COMM_WORLD", sorted(self.groups))
        self.communicators = self.of_ranks(ranks)

    def communicator(self, name: str, members: list[int]) -> object:
        """By the ranks in the world."""
        order = sorted(self.groups)
        group = self.definitions.group(
            name,
            group_type=self.otf2.GroupType.COMM_GROUP,
            paradigm=self.otf2.Paradigm.MPI,
            members=[order.index(member) for member in members],
        )
        return self.definitions.comm(name, group=group)

    def of_ranks(self, ranks: list[dict]) -> dict[tuple[int, int], object]:
        """For each rank and number of a communicator in its profile. Those whose members are not all known (made again
        and again, or with ranks that wrote nothing) count as the world."""
        members: dict[tuple, list[int]] = {}
        keys = {}
        for rank in ranks:
            for number, c in enumerate(rank["communicators"]):
                site = None if c["site"] is None else str(rank["sites"][c["site"]])
                key = (c["name"], site, c["size"], c["leader"], c["inter"])
                members.setdefault(key, []).append(rank["rank"])
                keys[(rank["rank"], number)] = key
        made = {
            key: self.communicator(key[0], sorted(found))
            for key, found in members.items()
            if key[0] != "MPI_COMM_WORLD" and len(found) == key[2] and not key[4]
        }
        return {place: made.get(key, self.world) for place, key in keys.items()}

    def write(self, files: list[Path], names: dict[int, str]) -> int:
        written = 0
        for path in files:
            rank = int(path.stem.removeprefix("rank"))
            for row in rows(path):  # of one thread, in order of time
                self.event(rank, row, names)
                written += 1
        return written

    def event(self, rank: int, row: tuple, names: dict[int, str]) -> None:
        at, size, what, call, thread, partner, communicator, tag, _ = row
        writer = self.trace.event_writer_from_location(self.location(rank, thread))
        name = names.get(call, f"call {call}")
        if what == ENTER:
            writer.enter(at, self.region(name))
            if is_collective(name, self.otf2):
                writer.mpi_collective_begin(at)
        elif what == LEAVE:
            writer.leave(at, self.region(name))
        elif what == SEND:
            writer.mpi_send(at, partner, self.world, tag, size)
        elif what == RECEIVE:
            writer.mpi_recv(at, partner, self.world, tag, size)
        elif what == COLLECTIVE and is_collective(name, self.otf2):
            on = self.communicators.get((rank, communicator - 1), self.world)
            root = partner if partner >= 0 else 0xFFFFFFFF
            writer.mpi_collective_end(at, getattr(self.otf2.CollectiveOp, upper(name)), on, root, size, size)

    def location(self, rank: int, thread: int) -> object:
        if (rank, thread) not in self.locations:
            self.locations[rank, thread] = self.definitions.location(f"Thread {thread}", group=self.groups[rank])
        return self.locations[rank, thread]

    def region(self, name: str) -> object:
        if name not in self.regions:
            self.regions[name] = self.definitions.region(name, paradigm=self.otf2.Paradigm.MPI)
        return self.regions[name]


def upper(name: str) -> str:
    return name.removeprefix("MPI_").upper()


def is_collective(name: str, otf2: ModuleType) -> bool:
    """Blocking, as OTF2 knows them."""
    return hasattr(otf2.CollectiveOp, upper(name))
