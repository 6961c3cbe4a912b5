"""Programs into which no object can be loaded, found before they run: statically linked, setuid or setgid.

The loader puts our object into a program, so there must be one that does, and it does not for a program with the rights
of another. Of a line of several programs all must have the object or none.
"""

from __future__ import annotations

import contextlib
import shutil
import stat
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from kumihimo.processes import launch_lines

# Of ELF, as elf.h names them.
ET_EXEC, ET_DYN, PT_DYNAMIC, PT_INTERP, DT_FLAGS_1, DF_1_PIE = 2, 3, 2, 3, 0x6FFFFFFB, 0x08000000
SETUID, STATIC = "is setuid or setgid", "is statically linked"
LONGEST = 1 << 20  # bytes of a dynamic section, which has some hundreds


def obstacles(command: Sequence[str]) -> list[str]:
    """Programs of a command line into which nothing can be loaded, each with the reason."""
    started = list(programs(command))
    found = [(command[0], of_command(command[0], alone=not started)), *((word, reason(path)) for word, path in started)]
    return list(dict.fromkeys(f"{word} {why}" for word, why in found if why))


def of_command(word: str, alone: bool) -> str:
    """Obstacle of the command itself, which may be the program. A launcher of MPI's sets our object for its programs
    alone. Another one hands on its environment, also if it is static; not with the rights of another, since the loader
    clears it.
    """
    path = shutil.which(word)
    if path is None or Path(path).name.startswith(launch_lines.MPI_LAUNCHERS):
        return ""
    why = reason(Path(path))
    return why if alone or why != STATIC else ""


def reason(path: Path) -> str:
    """Why nothing can be loaded into it; empty if that can be done."""
    with contextlib.suppress(OSError, ValueError):  # a file that only looks like a program
        if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
            return SETUID
        if is_static(path):
            return STATIC
    return ""


def sentence(found: Sequence[str]) -> str:
    return f"the program runs without Kumihimo, because the preload library cannot be loaded: {'; '.join(found)}"


def programs(command: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The words that may name programs that the command starts: what the launcher starts, and all paths after it, since
    a program may be started by another (`env ./program`). Names without a folder are more likely words of the program,
    as `mount` may be."""
    line = launch_lines.read(command)
    for program in line.programs:
        for place, word in enumerate(program.words):
            is_command = not line.launcher and place == 0
            if not is_command and (place == 0 or "/" in word) and (path := shutil.which(word)):
                yield word, Path(path)


def is_static(path: Path) -> bool:
    """A 64-bit ELF program that asks for no loader. A shared library asks for none either, but is not a program."""
    with path.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            return False
        kind, offset, size, number = (
            struct.unpack_from(f, head, at)[0] for f, at in (("<H", 16), ("<Q", 32), ("<H", 54), ("<H", 56))
        )
        file.seek(offset)
        table = file.read(size * number)
        parts = [struct.unpack_from("<IIQQQQ", table, at) for at in range(0, len(table) - 39, max(size, 40))]
        if any(part[0] == PT_INTERP for part in parts):
            return False
        noted = any(says_program(file, part[2], part[5]) for part in parts if part[0] == PT_DYNAMIC)
        return kind == ET_EXEC or (kind == ET_DYN and noted)


def says_program(file: BinaryIO, offset: int, size: int) -> bool:
    """Whether the linker noted, in the dynamic section, that it made a program that may lie anywhere."""
    file.seek(offset)
    section = file.read(min(size, LONGEST))
    entries = (struct.unpack_from("<QQ", section, at) for at in range(0, len(section) - 15, 16))
    return any(tag == DT_FLAGS_1 and value & DF_1_PIE for tag, value in entries)
