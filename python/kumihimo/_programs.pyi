"""Program sets that are no collective."""

from collections.abc import Sequence

import kumihimo._schedule


class NamedPrograms:
    """The programs of all ranks, and what they are for."""

    @property
    def name(self) -> str: ...

    @property
    def ranks(self) -> int: ...

    @property
    def buffer_bytes(self) -> int: ...

    def check_unchanged(self) -> None:
        """Raises Failed if the file of the programs changed after it was opened."""

    @property
    def segments(self) -> int: ...

def halo(text: str, lengths: Sequence[int], wraps: Sequence[bool]) -> NamedPrograms:
    """A halo exchange on ranks in a grid of up to three axes."""

def on_groups(schedule: kumihimo._schedule.Schedule, ranks: int, stride: int) -> NamedPrograms:
    """A schedule on all groups of ranks that are `stride` apart."""

def open_file(path: str) -> NamedPrograms:
    """Programs written as text (docs/programs.md)."""
