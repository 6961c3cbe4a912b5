"""OTF2 archives as other tools write them, by the library's own functions: its Python package refuses some of them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.run.profile.otf2_writing import library

NOBODY = 0xFFFFFFFF  # an undefined reference, or no root
TICKS = 10**9


@dataclass
class Location:
    """Events at times in ticks. A call takes 10."""

    name: str
    of_rank: int
    kind: str = "CPU_THREAD"
    now: int = 1000
    events: list[tuple[str, int, tuple]] = field(default_factory=list)

    def at(self, kind: str, *values: object) -> Location:
        self.events.append((kind, self.now, values))
        return self

    def compute(self, ticks: int) -> Location:
        self.now += ticks
        return self

    def enter(self, region: str) -> Location:
        return self.at("Enter", region)

    def leave(self, region: str) -> Location:
        return self.at("Leave", region)

    def call(self, name: str, *events: tuple) -> Location:
        self.enter(name)
        for kind, *values in events:
            self.at(kind, *values)
        self.now += 10
        return self.leave(name)

    def begin(self) -> Location:
        return self.at("ProgramBegin", 0, [])

    def end(self) -> Location:
        return self.at("ProgramEnd", 0)


class Archive:
    """MPI_COMM_WORLD is communicator 0. Regions are defined as events name them."""

    def __init__(
        self, ranks: int = 2, creator: str = "", paradigm: str = "MPI", order: list[int] | None = None
    ) -> None:
        library()
        self.otf2 = importlib.import_module("_otf2")
        self.creator, self.paradigm = creator, paradigm
        self.locations = [Location("Master thread", rank) for rank in (order or range(ranks))]
        self.ranks = [next(each for each in self.locations if each.of_rank == rank) for rank in range(ranks)]
        self.strings: dict[str, int] = {"": 0}
        self.raw: dict[str, bytes] = {}  # how some of them are written
        self.groups: list[tuple[str, str, int, list[int]]] = []
        self.communicators: list[tuple[str, tuple[int, ...]]] = []
        self.regions: dict[str, int] = {}
        self.paradigms: dict[str, object] = {}
        self.offsets: dict[int, tuple[int, int]] = {}  # of a location's clock, at two times
        self.shifted = 0  # numbers of regions in events are so much more than in the definitions
        self.group("COMM_LOCATIONS", [self.locations.index(rank) for rank in self.ranks])
        self.communicator("MPI_COMM_WORLD", self.group("COMM_GROUP", list(range(ranks))))

    def location(self, name: str, of_rank: int, kind: str = "CPU_THREAD") -> Location:
        self.locations.append(Location(name, of_rank, kind))
        return self.locations[-1]

    def group(self, kind: str, members: list[int], flags: str = "NONE", paradigm: str = "MPI") -> int:
        self.groups.append((kind, flags, getattr(self.otf2, f"PARADIGM_{paradigm}"), members))
        return len(self.groups) - 1

    def communicator(self, name: str, *groups: int) -> int:
        self.communicators.append((name, groups))
        return len(self.communicators) - 1

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def region(self, name: str) -> int:
        return self.regions.setdefault(name, len(self.regions))

    def write(self, folder: Path, name: str = "traces") -> Path:
        o = self.otf2
        chunk = 1 << 18
        archive = o.Archive_Open(
            str(folder), name, o.FILEMODE_WRITE, chunk, chunk, o.SUBSTRATE_POSIX, o.COMPRESSION_NONE
        )
        flush = o.FlushCallbacks(pre_flush=lambda *_: o.FLUSH, post_flush=None)
        o.Archive_SetFlushCallbacks(archive, flush, None)
        o.Archive_SetSerialCollectiveCallbacks(archive)
        o.Archive_SetCreator(archive, self.creator)
        o.Archive_OpenDefFiles(archive)
        o.Archive_OpenEvtFiles(archive)
        for number, location in enumerate(self.locations):
            writer = o.Archive_GetEvtWriter(archive, number)
            for kind, at, (*values,) in location.events:
                if kind in ("Enter", "Leave"):
                    values[0] = self.region(values[0]) + self.shifted
                getattr(o, f"EvtWriter_{kind}")(writer, None, at, *values)
            o.Archive_CloseEvtWriter(archive, writer)
            local = o.Archive_GetDefWriter(archive, number)
            self.write_local(local, number)
            o.Archive_CloseDefWriter(archive, local)
        o.Archive_CloseEvtFiles(archive)
        self.write_definitions(o.Archive_GetGlobalDefWriter(archive))
        o.Archive_CloseDefFiles(archive)
        o.Archive_Close(archive)
        return folder / f"{name}.otf2"

    def write_local(self, writer: object, number: int) -> None:
        o = self.otf2
        if self.shifted:
            ids = [0] * self.shifted + list(range(len(self.regions)))
            made = o.IdMap_Create(o.ID_MAP_SPARSE, len(ids))
            for local in range(self.shifted, len(ids)):
                o.IdMap_AddIdPair(made, local, ids[local])
            o.DefWriter_WriteMappingTable(writer, o.MAPPING_REGION, made)
        for at, offset in zip((0, 10**6), self.offsets.get(number, ())):
            o.DefWriter_WriteClockOffset(writer, at, offset, 0.0)

    def write_definitions(self, writer: object) -> None:
        o = self.otf2

        def write(kind: str, *values: object) -> None:
            getattr(o, f"GlobalDefWriter_Write{kind}")(writer, *values)

        write("ClockProperties", TICKS, 0, 10**9, 0)
        texts = [self.creator, "node", "rank", *self.regions, *(each.name for each in self.locations)]
        for text in [*texts, *(name for name, _ in self.communicators)]:
            self.string(text)
        for text, ref in self.strings.items():
            if text in self.raw:
                self.write_bytes(writer, ref, self.raw[text])
            else:
                write("String", ref, text)
        write("SystemTreeNode", 0, self.string("node"), self.string("node"), NOBODY)
        for rank in range(len(self.ranks)):
            write("LocationGroup", rank, self.string("rank"), o.LOCATION_GROUP_TYPE_PROCESS, 0, NOBODY)
        for number, each in enumerate(self.locations):
            kind = getattr(o, f"LOCATION_TYPE_{each.kind}")
            write("Location", number, self.strings[each.name], kind, len(each.events), each.of_rank)
        for name, ref in self.regions.items():
            paradigm = self.paradigms.get(name, getattr(o, f"PARADIGM_{self.paradigm}"))
            text = self.strings[name]
            write("Region", ref, text, text, 0, o.REGION_ROLE_FUNCTION, paradigm, o.REGION_FLAG_NONE, 0, 0, 0)
        for ref, (kind, flags, paradigm, members) in enumerate(self.groups):
            of = getattr(o, f"GROUP_TYPE_{kind}"), paradigm, getattr(o, f"GROUP_FLAG_{flags}")
            write("Group", ref, 0, *of, members)
        for ref, (name, groups) in enumerate(self.communicators):
            kind = "Comm" if len(groups) == 1 else "InterComm"
            write(kind, ref, self.strings[name], *groups, NOBODY, o.COMM_FLAG_NONE)

    def write_bytes(self, writer: object, ref: int, text: bytes) -> None:
        """Not as UTF-8."""
        write = importlib.import_module("_otf2.GlobalDefWriter").conf.lib.OTF2_GlobalDefWriter_WriteString
        kept, write.argtypes = write.argtypes, None
        write(writer, ref, text)
        write.argtypes = kept
