"""The processes that this user can see, by /proc."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def command_of(pid: int) -> str:
    """The name of the program, as far as the system keeps it."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def is_running(pid: int) -> bool:
    """Whether the process exists and is more than an entry that nobody has collected."""
    state, _ = state_of(pid)
    return state not in ("", "Z", "X")


def state_of(pid: int) -> tuple[str, int]:
    """The letter by which the system tells a process's state, empty where there is none, and its parent."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return "", 0
    return fields[0], int(fields[1])


def processes() -> Iterator[int]:
    """All that this user can see."""
    return (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))


def below(pid: int) -> set[int]:
    """The process, its children, theirs, and so on."""
    parents = {each: state_of(each)[1] for each in processes()}
    found, new = {pid}, {pid}
    while new:
        new = {each for each, parent in parents.items() if parent in new} - found
        found |= new
    return found
