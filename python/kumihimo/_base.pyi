"""The native base of kumihimo."""

from collections.abc import Sequence
from typing import overload


def version() -> str:
    """Version of the native libraries."""

@overload
def fail(kind: str, problem: str, advice: str = '') -> None:
    """
    Raise kumihimo.text.errors.<kind> through the border, as every failed native call does.
    """

@overload
def fail(kind: str, problem: bytes) -> None:
    """The same with a problem of any bytes."""

def this_machine() -> dict:
    """By what wisdom knows a machine."""

class UnitDeal:
    """
    The rule by which units of work are dealt to ranks (base/unit_deal.hpp).
    """

    def __init__(self, costs: Sequence[float], ranks: int, static_share: float) -> None: ...

    @property
    def beforehand(self) -> int: ...

    @property
    def all_dealt(self) -> bool: ...

    def rank_of(self, unit_beforehand: int) -> int: ...

    def cut(self) -> tuple:
        """Begin and end of the next chunk; equal when no unit is left."""

    @staticmethod
    def asks(left: int, threads: int) -> bool: ...

def machine_of(cpuinfo: str) -> tuple:
    """Processor and instruction sets by the text of /proc/cpuinfo."""
