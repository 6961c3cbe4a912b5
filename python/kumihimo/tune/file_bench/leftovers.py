"""The folder of a run, kumihimo-files-PID-START in the user's folder, which src/run/file_bench/work_folder.cpp makes.

A run that ends, also by Ctrl-C, removes its own. What a killed run left, the next one removes: its marker names the
process that owned it, which must be dead. Nothing else is ever removed: a folder without a marker of ours, of another
user or of another machine, and files in it whose names no run makes, stay."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path

from kumihimo.text.errors import failed
from kumihimo.text.json_types import JsonObject

FOLDER = re.compile(r"kumihimo-files-([0-9]+)-([0-9]+)")
MARKER = "owner.json"
UNFINISHED_MARKER = re.compile(r"\.kumihimo-[0-9a-f]{16}\.new")
DATA = re.compile(r"(?:data|state)-[\w.-]+")
ITEMS = re.compile(r"items-[\w.-]+")
IN_ITEMS = re.compile(r"rank-[0-9]+|(?:file|dir|renamed)\.[0-9]+\.[0-9]+")


def remove_left(parent: Path) -> list[str]:
    """Removes what dead runs of this user left. Notes on what stays."""
    notes = []
    for folder in folders_in(parent):
        owner = owner_of(folder)
        if owner is None:
            with contextlib.suppress(OSError):  # a run was killed before it wrote its marker
                if was_never_marked(folder):
                    folder.rmdir()
            continue
        if not is_here(owner):
            notes.append(f"{folder} is of a run on another machine, or before this one's restart, and stays")
        elif not is_alive(owner["pid"], owner["start"]) and not remove_own(folder):
            notes.append(f"{folder} has files that no run of kumihimo made, and stays")
    return notes


def removed_within(seconds: float, parent: Path) -> bool:
    """remove_left() by a process of its own, which goes on after this time and after the end of this one: a file system
    may take a minute for the files of a large run, and the user has pressed Ctrl-C. Whether it has ended by then."""
    process = os.fork()
    if process == 0:
        with contextlib.suppress(BaseException):  # the next run removes what this one cannot, and says why
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):  # whoever reads them waits for this command alone
                os.dup2(nowhere, stream)
            remove_left(parent)
        os._exit(0)
    deadline = time.monotonic() + seconds
    while os.waitpid(process, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def folders_in(parent: Path) -> list[Path]:
    """This user's folders, by name. Links are left out."""
    found = []
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            is_named = FOLDER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if is_named and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                found.append(Path(entry.path))
    return sorted(found)


def owner_of(folder: Path) -> JsonObject | None:
    """The owner that the marker names; None: there is no marker of ours."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        marker = folder / MARKER
        if marker.is_symlink() or marker.stat().st_size > 10_000:
            return None
        owner = json.loads(marker.read_text(encoding="utf-8"))
        name = FOLDER.fullmatch(folder.name)
        fits = name is not None and [owner["pid"], owner["start"]] == [int(name[1]), int(name[2])]
        if owner["kumihimo"] == "files" and owner["uid"] == os.geteuid() and fits:
            return {"boot": str(owner["boot"]), "pid_namespace": str(owner["pid_namespace"]), **owner}
    return None


def was_never_marked(folder: Path) -> bool:
    """Whether it is empty, and its process, by the name, is gone."""
    name = FOLDER.fullmatch(folder.name)
    return name is not None and not any(folder.iterdir()) and not is_alive(int(name[1]), int(name[2]))


def is_here(owner: JsonObject) -> bool:
    """Whether the owner's process would be seen from here: the system has not been started again, and its processes
    have the same numbers."""
    here = {"boot": Path("/proc/sys/kernel/random/boot_id"), "pid_namespace": Path("/proc/self/ns/pid")}
    try:
        return owner["boot"] == here["boot"].read_text(encoding="ascii").strip() and owner["pid_namespace"] == str(
            here["pid_namespace"].readlink()
        )
    except OSError:
        return False


def is_alive(pid: int, start: int) -> bool:
    """Whether this process is still the one that began then (ticks since the system's start)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return False
    return int(fields[19]) == start and fields[0] not in "ZX"


def remove_own(folder: Path) -> bool:
    """Removes the files that runs make, and the folder if nothing else is in it: whether it is gone. The marker goes
    last, so that a removal that is killed goes on later."""
    is_empty = True
    try:
        for entry in list(os.scandir(folder)):
            if entry.name == MARKER:
                continue
            if ITEMS.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                is_empty &= remove_items(Path(entry.path))
            elif is_file_of_ours(entry):
                Path(entry.path).unlink()
            else:
                is_empty = False
        if is_empty:
            (folder / MARKER).unlink(missing_ok=True)
            folder.rmdir()
    except FileNotFoundError:  # another run removes it, too
        return True
    except OSError as error:
        raise failed(f"{folder}, which a run left, cannot be removed", error.strerror or str(error)) from None
    return is_empty


def is_file_of_ours(entry: os.DirEntry) -> bool:
    is_named = DATA.fullmatch(entry.name) or UNFINISHED_MARKER.fullmatch(entry.name)
    return bool(is_named) and entry.is_file(follow_symlinks=False)


def remove_items(folder: Path) -> bool:
    """All below with names of ours; whether nothing else was there."""
    is_empty = True
    for entry in list(os.scandir(folder)):
        if not IN_ITEMS.fullmatch(entry.name):
            is_empty = False
        elif entry.is_dir(follow_symlinks=False):
            is_empty &= remove_items(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            Path(entry.path).unlink()
        else:
            is_empty = False
    if is_empty:
        folder.rmdir()
    return is_empty
