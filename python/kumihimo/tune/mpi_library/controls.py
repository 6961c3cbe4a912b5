"""The control variables of an MPI library, as it describes them itself.

Read through MPI_T (MPI 4.0, section 15.3), which every library has and which may be asked before MPI_Init, in a process
of its own: a library that is opened stays. Names, values and descriptions are those of the version that is there.
"""

from __future__ import annotations

import ctypes
import json
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from kumihimo.processes import child_output
from kumihimo.text.errors import failed

SECONDS = 60
NUMBERS = ("_fanout",)  # ends of the names of variables whose values are asked for
LONGEST_NAME, LONGEST_TEXT = 512, 16384


@dataclass(frozen=True)
class Control:
    """`values`: name by number, where the library enumerates them. `number`: its own value, of those that are asked
    for."""

    name: str
    description: str
    values: dict[int, str] = field(default_factory=dict, hash=False)
    number: int | None = None


@lru_cache(maxsize=8)
def controls(library: Path) -> dict[str, Control]:
    """All of them by name. Raises Failed with one sentence."""
    command = [sys.executable, "-m", "kumihimo.library.controls", str(library)]
    try:
        done = child_output.run(command, seconds=SECONDS)
        found = json.loads(done.stdout.strip().rpartition("\n")[2])
    except child_output.TimedOut:
        raise failed(f"{library} did not list its control variables (MPI_T) within {SECONDS} s") from None
    except (OSError, ValueError) as error:
        raise failed(f"{library} did not list its control variables (MPI_T)", str(error)) from None
    return {
        name: Control(name, text, {int(number): value for number, value in values.items()}, own)
        for name, (text, values, own) in found.items()
    }


# --- in the process of its own


Description = tuple[str, dict[int, str], "int | None"]


def descriptions(library: str) -> dict[str, Description]:
    mpi = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    number = ctypes.c_int()
    if mpi.MPI_T_init_thread(0, ctypes.byref(number)) or mpi.MPI_T_cvar_get_num(ctypes.byref(number)):
        return {}
    found = {}
    for index in range(number.value):
        named = description_of(mpi, index)
        if named:
            found[named[0]] = named[1:]
    return found


def description_of(mpi: ctypes.CDLL, index: int) -> tuple[str, str, dict[int, str], int | None] | None:
    name, text = ctypes.create_string_buffer(LONGEST_NAME), ctypes.create_string_buffer(LONGEST_TEXT)
    name_length, text_length = ctypes.c_int(LONGEST_NAME), ctypes.c_int(LONGEST_TEXT)
    verbosity, binding, scope = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    kind, enumeration = ctypes.c_void_p(), ctypes.c_void_p()
    places = (name, name_length, verbosity, kind, enumeration, text, text_length, binding, scope)
    if mpi.MPI_T_cvar_get_info(index, *(p if isinstance(p, ctypes.Array) else ctypes.byref(p) for p in places)):
        return None
    own = number_of(mpi, index) if decoded(name).endswith(NUMBERS) else None
    return decoded(name), decoded(text), values_of(mpi, enumeration), own


def number_of(mpi: ctypes.CDLL, index: int) -> int | None:
    """The value of a variable that is an int."""
    handle, count, value = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
    if mpi.MPI_T_cvar_handle_alloc(index, None, ctypes.byref(handle), ctypes.byref(count)) or count.value != 1:
        return None
    return None if mpi.MPI_T_cvar_read(handle, ctypes.byref(value)) else value.value


def values_of(mpi: ctypes.CDLL, enumeration: ctypes.c_void_p) -> dict[int, str]:
    number, length = ctypes.c_int(), ctypes.c_int(LONGEST_NAME)
    name = ctypes.create_string_buffer(LONGEST_NAME)
    if not enumeration.value or mpi.MPI_T_enum_get_info(enumeration, ctypes.byref(number), name, ctypes.byref(length)):
        return {}
    values = {}
    for index in range(number.value):
        value, length = ctypes.c_int(), ctypes.c_int(LONGEST_NAME)
        if not mpi.MPI_T_enum_get_item(enumeration, index, ctypes.byref(value), name, ctypes.byref(length)):
            values[value.value] = decoded(name)
    return values


def decoded(text: ctypes.Array) -> str:
    return text.value.decode("utf-8", "replace")


if __name__ == "__main__":
    print("\n" + json.dumps(descriptions(sys.argv[1])))
