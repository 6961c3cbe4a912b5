"""Whether the file system has room for a measurement: one that filled a shared disk would stop the work of others."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from kumihimo.text import files
from kumihimo.text.errors import errors_of_this_machine, wrong_value
from kumihimo.text.quantities import bytes_text

KEPT = 0.1  # share of the free space that a measurement leaves


@dataclass(frozen=True)
class FreeSpace:
    """Space on a file system for this user. `names`: files and folders; 0 where it does not count them."""

    bytes: int
    names: int
    all_bytes: int
    all_names: int


@errors_of_this_machine()
def check_folder(folder: Path) -> None:
    """Whether it is there and can be written to."""
    rule = "FOLDER must be a folder that can be written to"
    advice = "name a folder that you can write to" if folder.is_dir() else "make it first, or name another folder"
    with files.before_writing(rule, folder, advice):
        if not folder.is_dir():
            code = errno.ENOTDIR if folder.exists() else errno.ENOENT
            raise OSError(code, os.strerror(code))
        if not os.access(folder, os.W_OK | os.X_OK):
            code = errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
            raise PermissionError(code, os.strerror(code))


def free_space(folder: Path) -> FreeSpace:
    found = os.statvfs(folder)
    unit = found.f_frsize
    return FreeSpace(found.f_bavail * unit, found.f_favail, found.f_blocks * unit, found.f_files)


@errors_of_this_machine()
def check_room(folder: Path, size: int, names: int, advice: str) -> None:
    """Refuses to fill the file system: KEPT of what is free stays free."""
    free = free_space(folder)
    most = int((1 - KEPT) * free.bytes)
    if size > most:
        rule = f"the measurement must fit in {bytes_text(most)}, {1 - KEPT:.0%} of the free space of {folder}"
        raise wrong_value(rule, bytes_text(size), advice)
    if free.all_names and names > (1 - KEPT) * free.names:
        rule = f"the measurement must make at most {int((1 - KEPT) * free.names)} files in {folder} (free inodes)"
        raise wrong_value(rule, names, "give fewer --items or fewer --ranks")
