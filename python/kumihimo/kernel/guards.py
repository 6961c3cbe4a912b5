"""Zones of known bytes before and behind the arrays of a native variant, so that a check sees what it writes outside
its output."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterator

ZONE = 4096  # bytes on each side
FILL = 0xA5
LINE = 64


class WroteOutside(Exception):
    """A variant wrote outside its output."""


class Guarding:
    active = False


@contextlib.contextmanager
def guarding() -> Iterator[None]:
    """While it lasts, native variants work on copies between zones."""
    Guarding.active = True
    try:
        yield
    finally:
        Guarding.active = False


class GuardZone:
    """A copy of `size` bytes between two zones. `shift` bytes beyond the boundary of a cache line: an array of a
    program need not be aligned."""

    def __init__(self, data: bytes, shift: int = 0) -> None:
        self.size = len(data)
        self.buffer = (ctypes.c_ubyte * (self.size + 2 * ZONE + 2 * LINE))()
        ctypes.memset(self.buffer, FILL, len(self.buffer))
        begin = ctypes.addressof(self.buffer)
        self.offset = ZONE + -(begin + ZONE) % LINE + shift
        self.address = begin + self.offset
        self.given = data
        ctypes.memmove(self.address, data, self.size)

    def bytes(self) -> bytes:
        return ctypes.string_at(self.address, self.size)

    def check(self, name: str, is_input: bool) -> None:
        whole = bytes(self.buffer)
        before, behind = whole[: self.offset], whole[self.offset + self.size :]
        for side, zone in (("before", before), ("behind", behind)):
            if zone.count(FILL) != len(zone):
                distance = changed(zone, side)
                raise WroteOutside(f"writes outside its output: byte {distance} {side} {name}")
        if is_input and self.bytes() != self.given:
            raise WroteOutside(f"writes to its input {name}")


def changed(zone: bytes, side: str) -> int:
    """How far from the array the nearest changed byte is."""
    places = [place for place, value in enumerate(zone) if value != FILL]
    return len(zone) - places[-1] if side == "before" else places[0] + 1


class GuardedArrays:
    """NumPy arrays of one call, each moved between zones: a variant in Python may hand them to native code."""

    def __init__(self, shift: bool) -> None:
        self.shift = shift
        self.zones: list[tuple[str, GuardZone]] = []

    def moved(self, name: str, value: object) -> object:
        numpy = sys.modules.get("numpy")
        if (
            numpy is None
            or not isinstance(value, numpy.ndarray)
            or not value.flags.c_contiguous
            or value.dtype.hasobject
        ):
            return value
        zone = GuardZone(value.tobytes(), value.itemsize if self.shift else 0)
        self.zones.append((name, zone))
        view = (ctypes.c_ubyte * max(zone.size, 1)).from_buffer(zone.buffer, zone.offset)
        return numpy.frombuffer(view, dtype=value.dtype, count=value.size).reshape(value.shape)

    def check(self) -> None:
        for name, zone in self.zones:
            zone.check(name, is_input=False)
