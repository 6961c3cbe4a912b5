"""An OTF2 archive: its definitions, and the events of one location after another.

Debian's Python package refuses definitions that other tools write (members of a COMM_SELF group, names that are not
UTF-8, paradigms newer than the package), and makes an object of each event, which takes most of the time. So its module
_otf2 gets callbacks of our own.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMM_LOCATIONS, COMM_GROUP, COMM_SELF = 4, 5, 6  # types of groups
GLOBAL_MEMBERS = 1  # a flag of a group: ranks in events are those in the group of locations
MPI = 4  # the paradigm
SUCCESS, INTERRUPT = 0, 1  # what callbacks return


class Contradiction(ValueError):
    """The trace refers to what is not there, or has a value that cannot be."""


class NoEvents(Exception):
    """A location without a file of events."""


@dataclass
class Group:
    kind: int
    paradigm: int
    flags: int
    members: list[int]


@dataclass
class Otf2Communicator:
    name: str
    groups: tuple[int, ...]  # two: an inter-communicator


@dataclass
class Definitions:
    """Definitions that a replay needs, by their numbers in the archive."""

    ticks: int = 0  # of the clock in a second; 0: not stated
    strings: dict[int, str] = field(default_factory=dict)
    attributes: dict[int, str] = field(default_factory=dict)
    nodes: dict[int, str] = field(default_factory=dict)
    node_values: dict[tuple[int, str], int] = field(default_factory=dict)  # by node and name of the property
    location_groups: dict[int, int] = field(default_factory=dict)  # their nodes
    locations: dict[int, tuple[str, int]] = field(default_factory=dict)  # name and location group
    regions: dict[int, tuple[str, int]] = field(default_factory=dict)  # name and paradigm
    groups: dict[int, Group] = field(default_factory=dict)
    communicators: dict[int, Otf2Communicator] = field(default_factory=dict)

    def node_of(self, location: int) -> int:
        """-1: not stated."""
        return self.location_groups.get(self.locations.get(location, ("", -1))[1], -1)


class Archive:
    def __init__(self, anchor: Path) -> None:
        self.library = importlib.import_module("_otf2")
        self.broken: Exception | None = None  # of a callback
        self.kept: list[object] = []  # callbacks, as long as the library may call them
        self.handle = self.library.Reader_Open(str(anchor))
        self.library.Reader_SetSerialCollectiveCallbacks(self.handle)
        self.creator = self.library.Reader_GetCreator(self.handle) or ""

    def guarded(self, callback: Callable) -> Callable:
        def called(*arguments: object) -> int:
            try:
                callback(*arguments)
            except Exception as error:  # it would be lost within the library
                self.broken = self.broken or error
                return INTERRUPT
            return SUCCESS

        return called

    def callbacks(self, kind: str, wanted: Mapping[str, Callable]) -> object:
        """For the library: `kind` is GlobalDefReader or EvtReader. An older library lacks some."""
        module = importlib.import_module(f"_otf2.{kind}Callbacks")
        made = getattr(module, f"{kind}Callbacks_New")()
        for name, callback in wanted.items():
            prototype = getattr(module, f"_{kind}Callback_FP_{name}", None)
            if prototype is not None:
                pointer = prototype(self.guarded(callback))
                self.kept.append(pointer)
                getattr(module.conf.lib, f"OTF2_{kind}Callbacks_Set{name}Callback")(made, pointer)
        return made

    def whole(self, read: Callable[[], object]) -> None:
        """Reads something to its end; an error within a callback comes before what the library makes of it."""
        try:
            read()
        except self.library.Error as error:
            raise self.broken or error from None
        if self.broken:
            raise self.broken

    def definitions(self) -> Definitions:
        d = Definitions()
        names: dict[str, dict[int, tuple]] = {}  # definitions with names, which may be defined after them

        def named(kind: str) -> Callable:
            return lambda _, ref, name, *more: names.setdefault(kind, {}).update({ref: (name, *map(number, more))})

        def group(
            _: object, ref: int, __: int, kind: object, paradigm: object, flags: object, n: int, of: Sequence[int]
        ) -> None:
            d.groups[ref] = Group(number(kind), number(paradigm), number(flags), list(of[:n]))

        properties = []
        wanted: dict[str, Callable] = {
            "ClockProperties": lambda _, ticks, *__: setattr(d, "ticks", ticks),
            "String": lambda _, ref, text: d.strings.update({ref: (text or b"").decode("utf-8", "backslashreplace")}),
            "SystemTreeNodeProperty": lambda _, *of: properties.append(of),
            "Group": group,
        }
        kinds = ("Attribute", "SystemTreeNode", "LocationGroup", "Location", "Region", "Comm", "InterComm")
        wanted |= {kind: named(kind) for kind in kinds}
        reader = self.library.Reader_GetGlobalDefReader(self.handle)
        self.library.Reader_RegisterGlobalDefCallbacks(
            self.handle, reader, self.callbacks("GlobalDefReader", wanted), None
        )
        self.whole(lambda: self.library.Reader_ReadAllGlobalDefinitions(self.handle, reader))
        self.library.Reader_CloseGlobalDefReader(self.handle, reader)

        def each(kind: str) -> list[tuple[int, str, tuple]]:
            found = names.get(kind, {}).items()
            return [(ref, d.strings.get(name, ""), tuple(more)) for ref, (name, *more) in found]

        d.attributes = {ref: name for ref, name, _ in each("Attribute")}
        d.nodes = {ref: name for ref, name, _ in each("SystemTreeNode")}
        d.node_values = {(node, d.strings.get(name, "")): value for node, name, _, value in properties}
        d.location_groups = {ref: node for ref, _, (_, node, *_) in each("LocationGroup")}
        d.locations = {ref: (name, group) for ref, name, (_, _, group) in each("Location")}
        d.regions = {ref: (name, more[3]) for ref, name, more in each("Region")}
        d.communicators = {ref: Otf2Communicator(name, (of,)) for ref, name, (of, *_) in each("Comm")}
        d.communicators |= {ref: Otf2Communicator(name, (a, b)) for ref, name, (a, b, *_) in each("InterComm")}
        return d

    def open_events(self, locations: list[int]) -> None:
        for location in locations:
            self.library.Reader_SelectLocation(self.handle, location)
        self.library.Reader_OpenEvtFiles(self.handle)
        with contextlib.suppress(self.library.Error):  # without them, numbers in events are those of the definitions
            self.library.Reader_OpenDefFiles(self.handle)

    def read_events(self, location: int, callbacks: object) -> None:
        """With the numbers of the global definitions, and times corrected by the offsets of the location's clock."""
        library, handle = self.library, self.handle
        if mappings := library.Reader_GetDefReader(handle, location):
            library.Reader_ReadAllLocalDefinitions(handle, mappings)
            library.Reader_CloseDefReader(handle, mappings)
        events = library.Reader_GetEvtReader(handle, location)
        if not events:
            raise NoEvents(location)
        for applied in (library.EvtReader_ApplyMappingTables, library.EvtReader_ApplyClockOffsets):
            applied(events, True)
        library.Reader_RegisterEvtCallbacks(handle, events, callbacks, None)
        self.whole(lambda: library.Reader_ReadAllLocalEvents(handle, events))
        library.Reader_CloseEvtReader(handle, events)


def number(value: Any) -> int:
    """Number of a value, also of the library's enumerations."""
    return int(getattr(value, "value", value))
