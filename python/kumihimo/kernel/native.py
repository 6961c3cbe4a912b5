"""A C function, of a library or compiled from a generated source, called with arrays that have a buffer
(array.array, NumPy, bytearray, ctypes)."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from typing import Any

from kumihimo.kernel.guards import Guarding, GuardZone
from kumihimo.kernel.prototypes import CParameter, Prototype, parse
from kumihimo.text.errors import failed, wrong_value

TYPES: dict[str, type | None] = {
    "void": None,
    "double": ctypes.c_double,
    "float": ctypes.c_float,
    "char": ctypes.c_byte,
    "signed char": ctypes.c_byte,
    "unsigned char": ctypes.c_ubyte,
    "short": ctypes.c_short,
    "unsigned short": ctypes.c_ushort,
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "unsigned int": ctypes.c_uint,
    "long": ctypes.c_long,
    "long int": ctypes.c_long,
    "unsigned long": ctypes.c_ulong,
    "long long": ctypes.c_longlong,
    "unsigned long long": ctypes.c_ulonglong,
    "size_t": ctypes.c_size_t,
    "ptrdiff_t": ctypes.c_ssize_t,
    **{f"int{bits}_t": getattr(ctypes, f"c_int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": getattr(ctypes, f"c_uint{bits}") for bits in (8, 16, 32, 64)},
}


def ctype_of(name: str, prototype: Prototype) -> type | None:
    if name not in TYPES:
        raise wrong_value("a prototype must have types of C that are known here", f"'{name}' in '{prototype.text}'")
    return TYPES[name]


def load(library: str) -> ctypes.CDLL:
    """Loads a library by its file name, its path, or the name that the linker knows ("m")."""
    try:
        return ctypes.CDLL(library)
    except OSError as error:
        found = ctypes.util.find_library(library)
        if found:
            return ctypes.CDLL(found)
        raise failed(f"the library {library} cannot be loaded", str(error)) from None


def function_of(library: str, prototype_text: str) -> Callable:
    """The symbol of the prototype's name, as a Python function. Failed: no such library or symbol."""
    prototype = parse(prototype_text)
    symbol = getattr(load(library), prototype.name, None)
    if symbol is None:
        raise failed(f"the library {library} has no function {prototype.name}")
    symbol.restype = ctype_of(prototype.result, prototype)
    kinds = [ctype_of(each.type, prototype) for each in prototype.parameters]
    symbol.argtypes = [ctypes.c_void_p if p.is_pointer else kind for p, kind in zip(prototype.parameters, kinds)]
    sizes = [ctypes.sizeof(kind) if kind else 1 for kind in kinds]

    def call(*arguments: object) -> object:
        if len(arguments) != len(kinds):
            raise TypeError(f"{prototype.name} takes {len(kinds)} arguments (got {len(arguments)})")
        zones: list[tuple[CParameter, GuardZone, memoryview]] = []
        passed = [
            pointer(p, size, value, zones) if p.is_pointer else value
            for p, size, value in zip(prototype.parameters, sizes, arguments)
        ]
        result = symbol(*passed)
        for parameter, zone, view in zones:
            zone.check(parameter.name, parameter.is_const)
            if not parameter.is_const:
                view[:] = zone.bytes()
        return result

    return call


def pointer(parameter: CParameter, element: int, value: Any, zones: list) -> object:
    """The address of the bytes; in a check that of a copy between guard zones."""
    try:
        view = memoryview(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{parameter.name} must have a buffer, such as array.array or NumPy (got {kind})") from None
    if not view.c_contiguous:
        raise TypeError(f"{parameter.name} must be contiguous")
    if view.itemsize != element and parameter.type != "void":
        raise TypeError(f"{parameter.name} must have elements of {element} bytes (got {view.itemsize})")
    if Guarding.active:
        zone = GuardZone(view.tobytes(), element)
        zones.append((parameter, zone, view if view.readonly or not view.nbytes else view.cast("B")))
        return zone.address
    if view.readonly:
        if not parameter.is_const:
            raise TypeError(f"{parameter.name} must be writable")
        return ctypes.cast(ctypes.create_string_buffer(view.tobytes(), view.nbytes or 1), ctypes.c_void_p)
    if not view.nbytes:
        return None
    return ctypes.byref(ctypes.c_char.from_buffer(view.cast("B")))
