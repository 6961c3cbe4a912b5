"""Files that a user names: what kind of thing is there, reading them without waiting or running out of memory, and
writing them whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from kumihimo.text import odd_bytes
from kumihimo.text.errors import failed, wrong_value

LARGEST = 2**30  # bytes that are read of one file
PIECE = 2**24  # of a file that may be larger
COMPRESSED = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))
MOST_SHOWN = 150  # characters of a path in an error, so that its reason is seen
MOST_LINKS = 40  # from one to the next, as in Linux
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


OF_ITS_NAME = (  # another one mends it
    *(errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.ENXIO),
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY),
)
NOT_WRITTEN = {"a folder": errno.EISDIR, "a socket": errno.ENXIO}
ANOTHER_DISK = "make space, or name a file on another disk"
WRITABLE = "name a file that you can write, in a folder that you can write to"
ADVICE = {
    errno.ENOENT: "make its folder first, or name another file",
    errno.EISDIR: "name a file",
    errno.ENAMETOOLONG: "name a shorter one",
    errno.ENOSPC: ANOTHER_DISK,
    errno.EDQUOT: ANOTHER_DISK,
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.EIO: "check the disk, or name a file on another one",
    errno.EACCES: WRITABLE,
    errno.EPERM: WRITABLE,
    errno.EROFS: WRITABLE,
}
NO_SYNC = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)  # what file systems say that know none


@contextlib.contextmanager
def while_writing(path: Path) -> Iterator[None]:
    """After the work, whatever the system refuses is a failure: what was to be written is lost."""
    try:
        yield
    except OSError as error:
        advice = ADVICE.get(error.errno or 0, "name another file")
        raise failed(f"{path} was not written", error.strerror or str(error), advice) from None


@contextlib.contextmanager
def before_writing(rule: str, path: Path, advice: str = "") -> Iterator[None]:
    """Before the work: what another name mends is a wrong value, what is wrong with the system a failure."""
    try:
        yield
    except OSError as error:
        reason, advice = error.strerror or str(error), advice or ADVICE.get(error.errno or 0, "name another file")
        if error.errno in OF_ITS_NAME:
            shown = str(path) if len(str(path)) <= MOST_SHOWN else f"{str(path)[:MOST_SHOWN]}..."
            raise wrong_value(rule, f"{shown}: {reason}", advice) from None
        raise failed(f"{path} cannot be written", reason, advice) from None


def check_regular_or_new(path: Path, option: str) -> None:
    """For a file that is written as a whole, and read again: neither is possible with a device or a FIFO."""
    with before_writing(f"{option} must name a file", path):
        found = kind(path)
    if found not in ("", "a file"):
        raise wrong_value(f"{option} must name a file or a new one", f"{path}, {found}", "name another file")


def check_writable(path: Path, option: str, make: bool = False, advice: str = "") -> None:
    """Before the work: whether `replacement` can write there. Leaves what is there as it is, and nothing new but, with
    `make`, the folder. What waits for a reader, as a FIFO, is not opened yet."""
    with before_writing(f"{option} must name a file that can be written", path, advice):
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
        found = kind(path)
        if found in NOT_WRITTEN:
            raise OSError(NOT_WRITTEN[found], os.strerror(NOT_WRITTEN[found]))
        if _is_written_in_place(path, found):
            _check_access(path)
        else:
            _beside(real(path)).discard()


def check_folder(path: Path, rule: str, advice: str = "name another folder") -> None:
    """Before the work: whether files can be made in the folder, which is made where it is missing."""
    with before_writing(rule, path, advice):
        path.mkdir(parents=True, exist_ok=True)
        _beside(real(path) / "any").discard()


def write_whole(path: Path, content: str | bytes) -> None:
    """The whole file or, if that fails, none: whoever reads it meanwhile has the old one. Failed: it is not written."""
    with replacement(path) as file:
        file.write(content.encode(errors=odd_bytes.ESCAPES) if isinstance(content, str) else content)


@contextlib.contextmanager
def replacement(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of the one at `path` when all is written and on the disk: before that, and after any
    failure or a kill, the old one is there. Links stay, and so do permissions. What is no regular file, as a FIFO or
    /dev/stdout, is written as it comes. Failed: the system refuses to write."""
    with while_writing(path):
        if _is_written_in_place(path, kind(path)):
            with _opened_in_place(path) as file:
                yield file
            return
        new = _beside(real(path))
        try:
            yield new.file
            new.put_in_place()
        finally:
            new.discard()


@contextlib.contextmanager
def replacement_folder(path: Path) -> Iterator[Path]:
    """The name of a folder to make, which becomes `path`, where nothing is yet, when all in it is on the disk. Failed:
    the system refuses to write."""
    new = path.with_name(_new_name())
    with while_writing(path):
        try:
            yield new
            for each in new.rglob("*"):
                if each.is_file():
                    with each.open("rb") as file:
                        sync(file.fileno())
            new.replace(path)
            sync_folder(path.parent)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _new_name() -> str:
    """A name that no other writer has. A process that is killed leaves it behind, which harms nobody."""
    return f".kumihimo-{os.urandom(8).hex()}.new"


class _New:
    """A file beside its place."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.path = place.with_name(_new_name())
        self.file = self.path.open("xb")

    def put_in_place(self) -> None:
        self.file.flush()
        with contextlib.suppress(FileNotFoundError):
            old = self.place.stat()
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):  # of another user, to whom only root can give it
                    os.fchown(self.file.fileno(), old.st_uid, old.st_gid)
            os.fchmod(self.file.fileno(), stat.S_IMODE(old.st_mode))
        sync(self.file.fileno())
        self.file.close()
        self.path.replace(self.place)
        sync_folder(self.place.parent)

    def discard(self) -> None:
        """Nothing if it is in its place."""
        with contextlib.suppress(OSError):  # of what is still in the buffer
            self.file.close()
        with contextlib.suppress(OSError):
            self.path.unlink()


def _beside(place: Path) -> _New:
    """Refuses a name that is too long for its folder, and a file that its owner has protected."""
    if place.exists():
        _check_access(place)
    return _New(place)


def _check_access(path: Path) -> None:
    if not os.access(path, os.W_OK):
        code = errno.EROFS if os.statvfs(path).f_flag & os.ST_RDONLY else errno.EACCES
        raise PermissionError(code, os.strerror(code))


def sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise


def sync_folder(path: Path) -> None:
    """So that a new name survives a power failure. The file is whole either way."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_written_in_place(path: Path, found: str) -> bool:
    return found not in ("", "a file") or _own_descriptor(path) is not None


def _own_descriptor(path: Path) -> int | None:
    """1 for /dev/stdout, N for /dev/fd/N. Its file may be a regular one, in which the shell goes on writing."""
    for _ in range(MOST_LINKS):
        folder = os.path.realpath(path.parent)
        if folder in (f"/proc/{os.getpid()}/fd", f"/proc/{os.getpid()}/task/{os.getpid()}/fd"):
            return int(path.name) if path.name.isdigit() else None
        if not path.is_symlink():
            return None
        path = Path(folder, path.readlink())
    return None


def _opened_in_place(path: Path) -> IO[bytes]:
    descriptor = _own_descriptor(path)
    if descriptor is None:
        return path.open("wb")
    sys.stdout.flush()
    return os.fdopen(os.dup(descriptor), "wb")


def real(path: Path) -> Path:
    """Absolute, without links. Unlike Path.resolve() of Python before 3.13 it raises nothing at a loop of links."""
    return Path(os.path.realpath(path))


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

    def readinto(self, buffer: Any, /) -> int | None:
        size = super().readinto(buffer)
        if self._begun:
            return size
        self._begun = True
        if size == 0 and stat.S_ISFIFO(os.fstat(self.fileno()).st_mode):
            raise OSError(errno.EPIPE, "a FIFO without a writer")
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
    """Text of a file or a pipe: UTF-8, or UTF-16 that begins with a byte order mark, as Windows programs write. All
    ends of lines, also CR and CRLF, become LF."""
    return decoded(read_bytes(path, what, largest), path, what)


def decoded(data: bytes, path: Path, what: str) -> str:
    """The text of bytes that were read from this file, as read_text() gives it."""
    packed = next((name for beginning, name in COMPRESSED if data.startswith(beginning)), None)
    if packed:
        raise wrong_value(f"{what} must not be compressed", f"{path}, {packed} data", "decompress it")
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise wrong_value(f"{what} must be UTF-8 text", f"other bytes in {path}", "save it as UTF-8") from None
