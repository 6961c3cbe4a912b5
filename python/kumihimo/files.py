"""Files that a user names: what kind of thing is there, and reading them without waiting or running out of memory."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Iterator
from errno import EPIPE
from pathlib import Path

from kumihimo.errors import wrong_value

LARGEST = 2**30  # bytes that are read of one file
PIECE = 2**24  # of a file that may be larger
KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode), "a device"),
)


def kind(path: Path) -> str:
    """'a file', 'a folder', 'a device' ...; empty if nothing is there. Raises OSError, as for a loop of links."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return ""
    return next((name for test, name in KINDS if test(mode)), "something else")


@contextlib.contextmanager
def refused(rule: str, path: Path, advice: str = "") -> Iterator[None]:
    """Around what is done with a file or folder that the user named: what the system refuses is a wrong value."""
    try:
        yield
    except OSError as error:
        raise wrong_value(rule, f"{path}: {error.strerror or error}", advice) from None


def check_regular_or_new(path: Path, option: str) -> None:
    """For a file that is written as a whole, and read again: neither is possible with a device or a FIFO."""
    with refused(f"{option} must name a file", path):
        found = kind(path)
    if found not in ("", "a file"):
        raise wrong_value(f"{option} must name a file or a new one", f"{path}, {found}", "name another file")


def check_folder(path: Path, make: bool = True) -> None:
    """Tries to write in the folder: found before the work, not after. `make`: it is made where it is missing, as a
    folder that the user names or one of ours is, and not that of a file that the user names. Raises OSError."""
    import tempfile  # slow to load, and seldom asked for

    if make:
        path.mkdir(parents=True, exist_ok=True)
    tempfile.NamedTemporaryFile(dir=path).close()


def write_whole(path: Path, text: str) -> None:
    """The whole file or, if that fails, none: whoever reads it meanwhile has the old one. Raises OSError."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def check_readable(path: Path, what: str) -> None:
    """Not what has no end, as a device. `what` says in a few words what the file should be."""
    with refused(f"{what} must be readable", path):
        found = kind(path)
    if found not in ("", "a file", "a FIFO"):
        raise wrong_value(f"{what} must be a file", f"{path}, {found}")


class _Written(io.FileIO):
    """A pipe is read to its end if somebody writes to it, and refused if nobody does: that would wait for ever."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))
        self._begun = False

    def readinto(self, buffer: memoryview) -> int | None:
        size = super().readinto(buffer)
        if self._begun:
            return size
        self._begun = True
        if size == 0 and stat.S_ISFIFO(os.fstat(self.fileno()).st_mode):
            raise OSError(EPIPE, "a FIFO without a writer")
        os.set_blocking(self.fileno(), True)
        return super().readinto(buffer) if size is None else size


def opened(path: Path, what: str) -> io.BufferedReader:
    """The bytes of a file or of a pipe that is being written, without waiting for a writer. Raises OSError."""
    check_readable(path, what)
    return io.BufferedReader(_Written(path))


def read_bytes(path: Path, what: str, largest: int = LARGEST) -> bytes:
    """The bytes of a file or a pipe."""
    with refused(f"{what} must be readable", path), opened(path, what) as file:
        data = b"".join(iter(lambda: file.read(PIECE), b"")) if largest > LARGEST else file.read(largest + 1)
    if len(data) > largest:
        raise wrong_value(f"{what} must have at most {largest >> 20} MiB", f"more in {path}")
    return data


def read_text(path: Path, what: str, largest: int = LARGEST) -> str:
    """UTF-8 text of a file or a pipe."""
    return decoded(read_bytes(path, what, largest), path, what)


def decoded(data: bytes, path: Path, what: str) -> str:
    """UTF-8 text that was read from this file."""
    try:
        return data.decode("utf-8-sig")  # with or without a byte order mark
    except UnicodeDecodeError:
        raise wrong_value(f"{what} must be UTF-8 text", f"other bytes in {path}", "save it as UTF-8") from None
