"""Events of a recording as they lie in memory (trace/event.hpp), for traces that other readers read."""

from __future__ import annotations

import struct

from kumihimo._trace import Kind

BYTES = 40
KIND_AT, NS_AT = 8, 16  # in a row; the nanoseconds of one that computes
COMPUTE = struct.Struct("<8xB7xqI12x")
ENTER = struct.Struct("<8xB7x16xI4x")
MESSAGE = struct.Struct("<8xB3xIqiiI4x")
COLLECTIVE = struct.Struct("<8xB3xIqiIIB3x")
NS = struct.Struct("<q")


def compute(ns: int, region: int) -> bytes:
    return COMPUTE.pack(Kind.compute.value, ns, region)


def enter(site: int) -> bytes:
    return ENTER.pack(Kind.enter.value, site)


def message(kind: Kind, request: int = 0, size: int = 0, peer: int = -1, tag: int = 0, communicator: int = 0) -> bytes:
    """`request`: from 1 on; 0: nothing waits for it."""
    return MESSAGE.pack(kind.value, request, size, peer, tag, communicator)


def collective(
    kind: Kind, request: int = 0, size: int = 0, root: int = -1, communicator: int = 0, parts: int = 0, row: int = 0
) -> bytes:
    return COLLECTIVE.pack(kind.value, request, size, root, communicator, parts, row)


LEAVE = bytes([0] * KIND_AT + [Kind.leave.value]).ljust(BYTES, b"\0")


def kind_of(rows: bytearray, at: int) -> int:
    return rows[at + KIND_AT]


def computed(rows: bytearray, at: int) -> int:
    return NS.unpack_from(rows, at + NS_AT)[0]


def set_computed(rows: bytearray, at: int, ns: int) -> None:
    NS.pack_into(rows, at + NS_AT, ns)
